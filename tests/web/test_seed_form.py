"""The seed of a player in the console counts from 1, whatever the wire does."""

import pytest

from silverball.web.console import form_bodies
from silverball.web.forms import FormData

# What is typed, whether the wire counts from 0, and the seed of the body; "absent" where there is none.
CASES = (
    ("1", True, 0),
    ("24", True, 23),
    ("0", True, None),
    ("", True, "absent"),
    ("first", True, "first"),
    ("1", False, 1),
    ("0", False, 0),
)


@pytest.mark.parametrize(("typed", "counts_from_zero", "seed"), CASES)
def test_the_form_says_how_the_wire_counts(
    typed: str, counts_from_zero: bool, seed: int | str | None
) -> None:
    pairs = (("seed", typed), *((("countsFromZero", "1"),) if counts_from_zero else ()))
    assert form_bodies.player(FormData(pairs)).get("seed", "absent") == seed
