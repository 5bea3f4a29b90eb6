"""Settings, for people: keys, people, the audit trail, and one's own account."""
