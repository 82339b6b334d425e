"""Settings of the properties of the rules: the same examples each time, few enough to be quick."""

from hypothesis import settings

from selection import examples

quick = settings(max_examples=examples(50), deadline=None, derandomize=True)
