"""What agents have learned."""
