"""Results of other software that shall count for the ratings, sent in by address."""
