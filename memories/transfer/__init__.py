"""Taking an account along: its whole history as lines of JSON, and back, by natural names only."""
