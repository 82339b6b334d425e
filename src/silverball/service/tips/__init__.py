"""Tips: short playing advice for a title."""
