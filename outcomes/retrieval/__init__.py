"""What an agent gets for a task: candidates, past tasks like it, a ranking, and what must not be relied on."""
