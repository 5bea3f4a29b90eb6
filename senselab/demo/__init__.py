"""Six weeks of plausible agent life in an account of its own: what was written, what came of it, and who looked."""
