"""Ratings: Glicko with damped groups, day by day. Only modules that rate import NumPy."""
