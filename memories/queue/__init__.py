"""What waits for a person, and everything the review pages show of it."""
