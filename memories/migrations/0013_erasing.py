"""The one function that gets past the append-only trigger: it blanks what an erasure may, and only with a tombstone.

It belongs to the owner of the tables and runs as them, so a role that may only add to history can erase through it and
not otherwise. No column that a seal covers as it is can be changed.
"""

from django.db import migrations

CHECKED = "ALTER TABLE memories_entryversion VALIDATE CONSTRAINT a_change_is_one_we_know;"
REFUSE = """
CREATE OR REPLACE FUNCTION memories_refuse_change() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
    erasable text[] := CASE TG_TABLE_NAME
        WHEN 'memories_entryversion' THEN '{integrity_chain,validators,superseded_by}'::text[]
        WHEN 'memories_effect' THEN '{agent_id,outcome_ref}'::text[]
        WHEN 'memories_evidence' THEN '{description,observation_id,actor}'::text[]
        WHEN 'memories_comment' THEN '{text}'::text[]
        WHEN 'outcomes_outcome' THEN '{digest,outcome_ref,agent_id,session_id,causal_entry_keys,causal_entry_versions,'
            'attempts,final_action_index,actions_taken,entity_paths,situation,covariates,task_input,response_text,'
            'tool_calls,session_metadata}'::text[]
        ELSE '{}'::text[] END;
BEGIN
    -- Dropping a whole account is the one thing that takes history along; it says so for its own transaction.
    IF TG_OP = 'DELETE' THEN
        IF current_setting('senselab.dropping_account', true) = OLD.account_id::text THEN
            RETURN OLD;
        END IF;
    END IF;
    -- An erasure blanks words and names, as the owner, from within memories_erase or outcomes_erase.
    IF TG_OP = 'UPDATE' THEN
        IF current_setting('senselab.erasing', true) = OLD.account_id::text
           AND current_user = (SELECT pg_get_userbyid(c.relowner) FROM pg_class c WHERE c.oid = TG_RELID)
           AND (to_jsonb(NEW) - erasable) = (to_jsonb(OLD) - erasable) THEN
            RETURN NEW;
        END IF;
    END IF;
    RAISE EXCEPTION 'history is append-only: % of % is refused', TG_OP, TG_TABLE_NAME USING ERRCODE = 'check_violation';
END $$;
"""
# `what`: chains [{entry, number, chain}], evidence and comments [id], names [{kind, old, new}], refs [ref].
ERASE = """
CREATE FUNCTION memories_erase(account bigint, erased timestamptz, what jsonb) RETURNS void
LANGUAGE plpgsql SECURITY DEFINER SET search_path FROM CURRENT AS $$
DECLARE
    name record;
BEGIN
    IF NOT EXISTS (
        SELECT 1 FROM memories_changeset s WHERE s.account_id = account AND s.kind = 'erasure' AND s.at = erased
    ) THEN
        RAISE EXCEPTION 'nothing is erased without a tombstone' USING ERRCODE = 'check_violation';
    END IF;
    PERFORM set_config('senselab.erasing', account::text, true);
    UPDATE memories_entryversion v SET integrity_chain = g.chain
      FROM jsonb_to_recordset(what->'chains') AS g(entry bigint, number int, chain text)
     WHERE v.account_id = account AND v.entry_id = g.entry AND v.number = g.number;
    UPDATE memories_evidence e SET description = '', observation_id = ''
     WHERE e.account_id = account
       AND e.id IN (SELECT g.id::bigint FROM jsonb_array_elements_text(what->'evidence') AS g(id));
    UPDATE memories_comment c SET text = ''
     WHERE c.account_id = account
       AND c.id IN (SELECT g.id::bigint FROM jsonb_array_elements_text(what->'comments') AS g(id));
    FOR name IN SELECT * FROM jsonb_to_recordset(what->'names') AS g(kind text, old text, new text) LOOP
        IF name.kind = 'agent' THEN
            UPDATE memories_entryversion v SET validators = array_replace(v.validators, name.old, name.new)
             WHERE v.account_id = account AND name.old = ANY(v.validators);
            UPDATE memories_effect f SET agent_id = name.new WHERE f.account_id = account AND f.agent_id = name.old;
            UPDATE memories_evidence e SET actor = name.new WHERE e.account_id = account AND e.actor = name.old;
        ELSE
            UPDATE memories_entryversion v SET superseded_by = name.new
             WHERE v.account_id = account AND v.superseded_by = name.old;
        END IF;
    END LOOP;
    UPDATE memories_effect f SET outcome_ref = ''
     WHERE f.account_id = account
       AND f.outcome_ref IN (SELECT g.ref FROM jsonb_array_elements_text(what->'refs') AS g(ref));
    PERFORM set_config('senselab.erasing', '', true);
END $$;
"""


class Migration(migrations.Migration):
    dependencies = [("memories", "0012_erasure")]

    operations = [
        migrations.RunSQL(CHECKED, migrations.RunSQL.noop),
        migrations.RunSQL(REFUSE, migrations.RunSQL.noop),
        migrations.RunSQL(ERASE, "DROP FUNCTION memories_erase(bigint, timestamptz, jsonb)"),
    ]
