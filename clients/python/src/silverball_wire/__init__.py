"""The published shapes: what the world sees, field by field."""
