"""Machines of an organizer, and the lineup of a tournament."""
