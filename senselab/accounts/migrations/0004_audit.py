"""The audit trail: append-only, one chain for each account."""

import django.db.models.deletion
from django.db import migrations, models

WALL = """
ALTER TABLE accounts_auditrecord DROP CONSTRAINT accounts_auditrecord_pkey, ADD PRIMARY KEY (account_id, id);
CREATE FUNCTION accounts_refuse_change() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    -- Dropping a whole account takes its trail along; it says so for its own transaction.
    IF TG_OP = 'DELETE' THEN
        IF current_setting('senselab.dropping_account', true) = OLD.account_id::text THEN
            RETURN OLD;
        END IF;
    END IF;
    -- The one change there is: sealing what is not sealed, and nothing else about it.
    IF TG_OP = 'UPDATE' THEN
        IF OLD.seal IS NULL AND NEW.seal IS NOT NULL AND
           (to_jsonb(NEW) - '{number,digest,seal}'::text[]) = (to_jsonb(OLD) - '{number,digest,seal}'::text[]) THEN
            RETURN NEW;
        END IF;
    END IF;
    RAISE EXCEPTION 'the audit trail is append-only: % is refused', TG_OP USING ERRCODE = 'check_violation';
END $$;
CREATE TRIGGER the_trail_is_append_only BEFORE UPDATE OR DELETE ON accounts_auditrecord
    FOR EACH ROW EXECUTE FUNCTION accounts_refuse_change();
CREATE TRIGGER the_trail_is_not_truncated BEFORE TRUNCATE ON accounts_auditrecord
    FOR EACH STATEMENT EXECUTE FUNCTION accounts_refuse_change();
"""


class Migration(migrations.Migration):
    dependencies = [
        ("accounts", "0003_key_globs"),
    ]

    operations = [
        migrations.CreateModel(
            name="AuditRecord",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("at", models.DateTimeField()),
                ("action", models.CharField(max_length=40)),
                ("actor_kind", models.CharField(max_length=10)),
                ("actor", models.TextField(default="")),
                ("target", models.TextField(default="")),
                ("before", models.JSONField(null=True)),
                ("after", models.JSONField(null=True)),
                ("address", models.GenericIPAddressField(null=True)),
                ("request_id", models.CharField(default="", max_length=64)),
                ("count", models.PositiveIntegerField(default=1)),
                ("salt", models.BinaryField(max_length=16)),
                ("number", models.BigIntegerField(null=True)),
                ("digest", models.BinaryField(max_length=32, null=True)),
                ("seal", models.BinaryField(max_length=32, null=True)),
                (
                    "account",
                    models.ForeignKey(
                        db_index=False,
                        on_delete=django.db.models.deletion.DO_NOTHING,
                        related_name="+",
                        to="accounts.account",
                    ),
                ),
            ],
            options={
                "indexes": [
                    models.Index(
                        models.F("account"),
                        models.F("id"),
                        condition=models.Q(("seal__isnull", True)),
                        name="records_to_seal",
                    ),
                    models.Index(
                        models.F("account"),
                        models.F("action"),
                        models.OrderBy(models.F("id"), descending=True),
                        name="records_by_action",
                    ),
                    models.Index(
                        models.F("account"),
                        models.F("actor"),
                        models.OrderBy(models.F("id"), descending=True),
                        name="records_by_actor",
                    ),
                ],
                "constraints": [
                    models.UniqueConstraint(fields=("account", "number"), name="a_place_in_the_trail_is_taken_once"),
                    models.CheckConstraint(
                        condition=models.Q(
                            models.Q(("digest__isnull", True), ("number__isnull", True), ("seal__isnull", True)),
                            models.Q(("digest__isnull", False), ("number__isnull", False), ("seal__isnull", False)),
                            _connector="OR",
                        ),
                        name="a_record_is_sealed_whole_or_not",
                    ),
                ],
            },
        ),
        migrations.RunSQL(WALL, migrations.RunSQL.noop),
    ]
