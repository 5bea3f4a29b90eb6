"""What an outcome told goes by one function of the owner's, as memories_erase does it; what its effects stand on stays."""

from django.db import migrations

# `what`: outcomes [id], names [{kind, old, new}].
ERASE = """
CREATE FUNCTION outcomes_erase(account bigint, erased timestamptz, what jsonb) RETURNS void
LANGUAGE plpgsql SECURITY DEFINER SET search_path FROM CURRENT AS $$
DECLARE
    ids bigint[] := ARRAY(SELECT g.id::bigint FROM jsonb_array_elements_text(what->'outcomes') AS g(id));
    name record;
BEGIN
    IF NOT EXISTS (
        SELECT 1 FROM memories_changeset s WHERE s.account_id = account AND s.kind = 'erasure' AND s.at = erased
    ) THEN
        RAISE EXCEPTION 'nothing is erased without a tombstone' USING ERRCODE = 'check_violation';
    END IF;
    PERFORM set_config('senselab.erasing', account::text, true);
    UPDATE outcomes_outcome o
       SET situation = NULL, task_input = NULL, response_text = NULL, actions_taken = '[]', tool_calls = '[]',
           covariates = '{}', session_metadata = NULL, final_action_index = NULL,
           attempts = coalesce((SELECT jsonb_agg(a.told || '{"summary": ""}')
                                  FROM jsonb_array_elements(o.attempts) AS a(told)), '[]')
     WHERE o.account_id = account AND o.id = ANY(ids);
    FOR name IN SELECT * FROM jsonb_to_recordset(what->'names') AS g(kind text, old text, new text) LOOP
        -- The digest is a hash of names: another one takes its place, so that it is found no more.
        UPDATE outcomes_outcome o SET digest = sha256(gen_random_uuid()::text::bytea)
         WHERE o.account_id = account AND o.id = ANY(ids);
        IF name.kind = 'agent' THEN
            UPDATE outcomes_outcome o SET agent_id = name.new, session_id = '', outcome_ref = ''
             WHERE o.account_id = account AND o.agent_id = name.old;
        ELSE
            UPDATE outcomes_outcome o
               SET causal_entry_keys = array_replace(o.causal_entry_keys, name.old, name.new),
                   causal_entry_versions = replace(
                       o.causal_entry_versions::text, to_jsonb(name.old)::text, to_jsonb(name.new)::text)::jsonb,
                   attempts = replace(o.attempts::text, to_jsonb(name.old)::text, to_jsonb(name.new)::text)::jsonb,
                   -- An entity's name stays where other entries have it.
                   entity_paths = ARRAY(SELECT p FROM unnest(o.entity_paths) AS p WHERE EXISTS (
                       SELECT 1 FROM memories_entry e WHERE e.account_id = account AND e.entity_path = p))
             WHERE o.account_id = account AND o.id = ANY(ids);
        END IF;
    END LOOP;
    PERFORM set_config('senselab.erasing', '', true);
END $$;
"""


class Migration(migrations.Migration):
    dependencies = [("memories", "0013_erasing"), ("outcomes", "0004_tasktext")]

    operations = [
        migrations.RunSQL(ERASE, "DROP FUNCTION outcomes_erase(bigint, timestamptz, jsonb)"),
    ]
