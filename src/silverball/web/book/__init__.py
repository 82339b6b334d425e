"""The organizer's book on pages: players, arenas, locations, series."""
