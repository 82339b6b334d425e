"""World pinball ranking (WPPR): value, points and grade (TGP) of a tournament. Source: ratings, B."""
