"""A second, deliberately simple opinion on everything a tournament shows.

It reads the journal backwards, looks at each draw, and counts results, standings and summaries again with
code of its own: nothing here calls what the engine ranks and scores with. Tables (point maps, curves, who
meets whom in a bracket) are data that both share.
"""
