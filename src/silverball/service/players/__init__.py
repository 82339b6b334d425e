"""Players of an organizer, and entrants of a tournament."""
