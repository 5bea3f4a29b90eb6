"""How what is known hangs together: neighbours, what an entry is connected with, and what relied on it."""
