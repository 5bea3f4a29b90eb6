"""Who is on probation where the policy says so: agents that are new, or speak by a key that is not theirs alone."""

from datetime import datetime, timedelta

from django.db import connection

from memories.viewers import Viewer

SINCE = "SELECT a.created_at FROM accounts_agent a WHERE a.account_id = %s AND a.agent_id = %s"


def holds(viewer: Viewer, agent_id: str, *, is_bound: bool, now: datetime) -> bool:
    """Tell whether what an agent writes is on probation; asks for nothing where the policy knows no probation."""
    if not viewer.policy.probation:
        return False
    if not is_bound:
        return True
    with connection.cursor() as cursor:
        cursor.execute(SINCE, [viewer.account_id, agent_id])
        found = cursor.fetchone()
    return found is None or now - found[0] < timedelta(days=viewer.policy.probation_days)
