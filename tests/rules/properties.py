"""How properties of the rules are checked: the same examples each time, few enough to be quick."""

from hypothesis import settings

quick = settings(max_examples=50, deadline=None, derandomize=True)
