"""Decision traces as they are read: listed, one whole, and who learned from whom."""
