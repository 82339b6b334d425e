"""Background jobs, one per file."""
