"""The statements of an erasure: what there is to be erased, and what blanks it where no trigger guards history."""

# Values: account, ids (entries), claims, agent, at, sets, own (the erasure's change set), old and new (names).
CLAIMS_OF_ENTRIES = """
    SELECT c.id, c.entry_id FROM memories_claim c
     WHERE c.account_id = %(account)s AND c.entry_id = ANY(%(ids)s) AND c.content_hash <> ''
"""
CLAIMS_OF_AGENT = """
    SELECT c.id, c.entry_id FROM memories_claim c
     WHERE c.account_id = %(account)s AND c.agent_id = %(agent)s AND c.content_hash <> ''
"""
# Reasons given for what is erased, and those the agent gave itself.
SETS = """
    SELECT v.change_set_id FROM memories_entryversion v
     WHERE v.account_id = %(account)s AND v.entry_id = ANY(%(ids)s) AND v.claim_id = ANY(%(claims)s)
     UNION
    SELECT c.change_set_id FROM memories_comment c WHERE c.account_id = %(account)s AND c.entry_id = ANY(%(emptied)s)
     UNION
    SELECT s.id FROM memories_changeset s
     WHERE s.account_id = %(account)s AND s.actor_kind = 'agent' AND s.actor = %(agent)s AND %(agent)s <> ''
"""
EVIDENCE = """
    SELECT e.id FROM memories_evidence e
     WHERE e.account_id = %(account)s AND e.actor = %(agent)s AND %(agent)s <> ''
     UNION
    SELECT e.id FROM memories_evidence e
      JOIN memories_entryversion v ON v.account_id = %(account)s AND v.entry_id = e.entry_id
                                  AND v.number = e.version_made
     WHERE e.account_id = %(account)s AND e.entry_id = ANY(%(ids)s) AND v.claim_id = ANY(%(claims)s)
"""
COMMENTS = "SELECT c.id FROM memories_comment c WHERE c.account_id = %(account)s AND c.entry_id = ANY(%(emptied)s)"
HASHES = """
    SELECT v.entry_id, v.number, v.claim_id, c.content_hash FROM memories_entryversion v
      JOIN memories_claim c ON c.account_id = v.account_id AND c.id = v.claim_id
     WHERE v.account_id = %(account)s AND v.entry_id = ANY(%(ids)s) ORDER BY v.entry_id, v.number
"""
# Entries that say an agent's name: as author, actor, owner or validator.
NAMING_AGENT = """
    SELECT c.entry_id FROM memories_claim c WHERE c.account_id = %(account)s AND c.agent_id = %(agent)s
     UNION
    SELECT e.id FROM memories_entry e
     WHERE e.account_id = %(account)s AND (e.owner = %(agent)s OR e.was_owner = %(agent)s)
     UNION
    SELECT v.entry_id FROM memories_entryversion v
      JOIN memories_changeset s ON s.account_id = v.account_id AND s.id = v.change_set_id
     WHERE v.account_id = %(account)s AND (s.actor = %(agent)s OR %(agent)s = ANY(v.validators))
"""
# Entries that say another one's name: replaced by it, or referring to it.
NAMING_ENTRY = """
    SELECT v.entry_id FROM memories_entryversion v WHERE v.account_id = %(account)s AND v.superseded_by = %(old)s
     UNION
    SELECT c.entry_id FROM memories_claim c
     WHERE c.account_id = %(account)s AND c.pattern_refs @> ARRAY[%(old)s::text] AND c.pattern_refs <> '{}'
"""
TWINS = """
    SELECT 1 FROM memories_entry e
     WHERE e.account_id = %(account)s AND e.entity_path = %(path)s AND e.key = %(key)s AND e.id <> ALL(%(ids)s) LIMIT 1
"""
RUNS = """
    SELECT DISTINCT r.id, r.state FROM memories_bulkrun r
      JOIN memories_bulkitem i ON i.account_id = r.account_id AND i.run_id = r.id
     WHERE r.account_id = %(account)s AND i.entry_id = ANY(%(ids)s)
"""

BLANK = (
    """
    UPDATE memories_claim c
       SET value = 'null', is_artifact = false, pattern_refs = '{}', artifact_refs = '[]', embedding = NULL,
           digest = '', salt = '', content_hash = '', content = '', erased_at = %(at)s
     WHERE c.account_id = %(account)s AND c.id = ANY(%(claims)s)
    """,
    """
    UPDATE memories_changeset s SET reason = '', erased_at = %(at)s
     WHERE s.account_id = %(account)s AND s.id = ANY(%(sets)s) AND s.id <> %(own)s AND s.reason <> ''
    """,
    # What brought evidence about is the name its observer gave it.
    """
    UPDATE memories_changeset s SET cause = ''
     WHERE s.account_id = %(account)s AND s.id = ANY(%(sets)s) AND s.kind = 'evidence'
    """,
    """
    UPDATE memories_entry e SET importance_score = NULL, importance_dimensions = NULL
     WHERE e.account_id = %(account)s AND e.id = ANY(%(emptied)s)
    """,
    """
    DELETE FROM memories_alikepair p
     WHERE p.account_id = %(account)s AND (p.one_id = ANY(%(ids)s) OR p.other_id = ANY(%(ids)s))
    """,
    """
    UPDATE memories_bulkrun r SET terms = '{}', selected = '', reason = ''
     WHERE r.account_id = %(account)s AND r.id = ANY(%(runs)s)
    """,
    "UPDATE memories_bulkitem i SET why = '' WHERE i.account_id = %(account)s AND i.entry_id = ANY(%(ids)s)",
    # What failed may quote what it failed on; answers kept for repeats and files on their way in hold values.
    "UPDATE memories_jobrun r SET error = '' WHERE r.account_id = %(account)s AND r.error <> ''",
    "DELETE FROM accounts_keptanswer k WHERE k.account_id = %(account)s",
    "DELETE FROM memories_uploadpart u WHERE u.account_id = %(account)s",
)
BLANK_TASKS = "UPDATE django_q_task SET result = NULL WHERE NOT success"
VECTORS = "DELETE FROM memories_entryvector t WHERE t.account_id = %(account)s AND t.entry_id = ANY(%(ids)s)"
COMMITS = """
    SELECT c.id FROM memories_commit c
     WHERE c.account_id = %(account)s AND c.change_set_id = ANY(%(sets)s) ORDER BY c.id
"""
# A commit's name and tree are hashes of what it wrote.
RENAME_COMMIT = (
    """
    UPDATE memories_commit c SET id = %(new)s, tree_hash = '' WHERE c.account_id = %(account)s AND c.id = %(old)s
    """,
    """
    UPDATE memories_commit c SET parent_ids = array_replace(c.parent_ids, %(old)s, %(new)s)
     WHERE c.account_id = %(account)s AND %(old)s = ANY(c.parent_ids)
    """,
)
ERASE = "SELECT memories_erase(%(account)s, %(at)s, %(what)s::jsonb)"

# Names: each entry that says one has another salt from now on, so that nothing sealed before tells it.
RESALT = """
    UPDATE memories_entry e SET salt = g.salt, renamed_at = %(at)s
      FROM unnest(%(touched)s::bigint[], %(salts)s::bytea[]) AS g(id, salt)
     WHERE e.account_id = %(account)s AND e.id = g.id
"""
RENAME_ENTRY = """
    UPDATE memories_entry e SET entity_path = %(new_path)s, key = %(new_key)s
     WHERE e.account_id = %(account)s AND e.id = %(id)s
"""
UNNAMED = """
    UPDATE memories_entrytext t SET words = '', name = '' WHERE t.account_id = %(account)s AND t.entry_id = %(id)s
"""
ELSEWHERE = (
    """
    UPDATE memories_entry e SET superseded_by = %(new)s
     WHERE e.account_id = %(account)s AND e.superseded_by = %(old)s
    """,
    """
    UPDATE memories_claim c SET pattern_refs = array_replace(c.pattern_refs, %(old)s, %(new)s), erased_at = %(at)s
     WHERE c.account_id = %(account)s AND c.pattern_refs @> ARRAY[%(old)s::text] AND c.pattern_refs <> '{}'
    """,
    "UPDATE memories_changeset s SET cause = %(new)s WHERE s.account_id = %(account)s AND s.cause = %(old)s",
)
PLACE_LEFT = """
    SELECT 1 FROM memories_entry e WHERE e.account_id = %(account)s AND e.entity_path = %(path)s LIMIT 1
"""
COUNTED_ELSEWHERE = tuple(
    f"UPDATE memories_{table} c SET entity_path = %(new_path)s"
    " WHERE c.account_id = %(account)s AND c.entity_path = %(path)s"
    for table in ("counter", "counterdelta")
)
RENAME_AGENT = (
    *(
        f"UPDATE memories_entry e SET {column} = %(new)s WHERE e.account_id = %(account)s AND e.{column} = %(old)s"
        for column in ("agent_id", "owner", "was_owner")
    ),
    """
    UPDATE memories_entry e SET validators = array_replace(e.validators, %(old)s, %(new)s)
     WHERE e.account_id = %(account)s AND %(old)s = ANY(e.validators)
    """,
    """
    UPDATE memories_claim c SET agent_id = %(new)s, session_id = ''
     WHERE c.account_id = %(account)s AND c.agent_id = %(old)s
    """,
    """
    UPDATE memories_changeset s SET actor = %(new)s, session_id = '', cause = ''
     WHERE s.account_id = %(account)s AND s.actor_kind = 'agent' AND s.actor = %(old)s
    """,
    "DELETE FROM memories_reading r WHERE r.account_id = %(account)s AND r.agent_id = %(old)s",
    *(
        f"UPDATE memories_{table} c SET {column} = %(new)s WHERE c.account_id = %(account)s AND c.{column} = %(old)s"
        for table in ("counter", "counterdelta")
        for column in ("agent_id", "owner")
    ),
    "UPDATE accounts_agent a SET agent_id = %(new)s WHERE a.account_id = %(account)s AND a.agent_id = %(old)s",
    "UPDATE accounts_apikey k SET agent_id = %(new)s WHERE k.account_id = %(account)s AND k.agent_id = %(old)s",
)
SAID_OF_AGENT = """
    UPDATE accounts_agent a SET display_name = '', profile = '{}', capabilities = '[]', contracts = '[]'
     WHERE a.account_id = %(account)s AND a.agent_id = %(agent)s
"""
LIVING_KEYS = """
    SELECT 1 FROM accounts_apikey k
     WHERE k.account_id = %(account)s AND k.agent_id = %(agent)s AND k.revoked_at IS NULL LIMIT 1
"""
