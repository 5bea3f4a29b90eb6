"""Verify: recompute every entry from its ledger and every seal."""
