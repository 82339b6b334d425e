"""Ratings: Glicko with damped groups, day by day. NumPy is imported only by who rates."""
