"""Ratings: lists, profiles, comparisons, and the files of all of them."""
