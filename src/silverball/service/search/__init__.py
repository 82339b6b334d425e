"""Finding users, tournaments and series by name."""
