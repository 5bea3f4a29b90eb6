"""What an agent should know before it begins: computed when asked for, of what it may see (contract.md 3.11)."""
