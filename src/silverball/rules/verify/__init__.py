"""An independent, deliberately simple check of a tournament's stored data.

It replays the journal backwards, checks each draw, and computes results, standings and summaries again with
separate code: nothing here calls the ranking and scoring of the engine. Only data is shared: point maps,
curves, bracket structures.
"""
