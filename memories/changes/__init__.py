"""Change sets: what acts changed, and what an undo could still take back."""
