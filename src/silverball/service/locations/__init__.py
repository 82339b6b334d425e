"""Places of an organizer."""
