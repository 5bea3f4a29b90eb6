"""What outlives a broken disk: copies of the whole database, each proven by restoring it."""
