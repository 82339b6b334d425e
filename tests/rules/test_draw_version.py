"""Draws change only together with their version, by which old ones are made again."""

import json

from golden import draws as golden_draws
from silverball.rules.commands.draws import DRAW_VERSION
from silverball.rules.registry import FORMATS


def test_draws_are_those_of_their_version() -> None:
    stored = json.loads(golden_draws.FILE.read_text(encoding="utf-8"))
    found = golden_draws.digests()
    changed = [label for label in found if stored["draws"].get(label) != found[label]]
    hint = "then write the file again: python tests/golden/draws.py"
    if stored["version"] == DRAW_VERSION:
        assert not changed, f"Draws changed: raise DRAW_VERSION ({DRAW_VERSION}), {hint}. {changed}"
    assert (stored["version"], stored["draws"]) == (DRAW_VERSION, found), f"Another version: {hint}"


def test_every_format_and_more_than_one_way_to_pair_is_guarded() -> None:
    kinds = {kind for kind, _given in golden_draws.NIGHTS.values()}
    assert kinds == set(FORMATS)
    # Ways to pair give draws of their own, so that a change of any of them is noticed.
    found = golden_draws.digests()
    for kind in ("matchplay", "group_matchplay"):
        ways = [found[f"{kind}, {pairing}"] for pairing in golden_draws.PAIRINGS]
        assert len(set(ways)) >= 3, kind
