"""Who takes part in a tournament: players, arenas, banks, scorekeepers."""
