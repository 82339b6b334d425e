"""Two tournaments in one room, played over HTTP by robots. Source: pages, section 2."""

from random import Random

import pytest

from silverball.store.database.engine import Store
from stories.room import Room

PAIRS = [
    ("group_matchplay", "matchplay"),
    ("matchplay", "group_knockout"),
    ("group_matchplay", "round_robin"),
    ("group_knockout", "bracket"),
]


@pytest.mark.sample(2)
@pytest.mark.parametrize(("kind", "other"), PAIRS)
def test_twelve_people_play_in_two_tournaments_and_never_in_two_games_at_once(
    store: Store, kind: str, other: str
) -> None:
    room = Room(store, kind, 20, other, 14, shared=12, machines=8)
    room.start()
    rounds = 0 if other in {"bracket", "round_robin"} else 2
    room.play(Random(7), rounds=rounds)
    assert room.waiting(room.main) == room.waiting(room.womens) == []
    room.require_clean()
