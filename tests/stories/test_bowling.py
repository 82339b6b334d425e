"""Pinbowling over three frames, checked by hand.

            frame 1   2     3      worth               total   strikes
    Ann        X      X    X X X   30 + 30 + 30          90      5      1
    Bea       5 /    5 /   5 / 5   15 + 15 + 15          45      0      3 (spares count after strikes)
    Cid       9 -    9 -   9 -      9 +  9 +  9          27      0      4
    Dot        X      X    5 -     25 + 15 +  5          45      2      2 (45 as Bea, with strikes)
    Eve       4 -                   4                     4      0      5

Cid's last frame is first recorded as 8. Dot and Eve come late. Eve has 4,700,000 of a target of
10,000,000 on frame 1, which is four pins, and goes home after it.
"""

import pytest

from silverball.store.database.engine import Store
from stories.hall import Hall


@pytest.mark.both_databases
def test_strikes_and_spares_earn_what_is_rolled_after_them(store: Store) -> None:
    hall = Hall(store, "bowling", "Ann Bea Cid", golfDuration=3)
    hall.start()
    frames = hall.round_ids()
    hall.patch(f"/rounds/{frames[0]}", {"score": 10_000_000})

    # A strike is worth nothing until the next two rolls are known.
    first = hall.score("Ann", roundId=frames[0], rolls=[10])
    assert first["points"] is None
    hall.score("Ann", roundId=frames[1], rolls=[10])
    short = {"playerId": hall.ids["Ann"], "roundId": frames[2], "rolls": [10, 10]}
    assert hall.refused("POST", "/single-player-games", short) == (
        422,
        "A roll of this frame is missing. Enter the frame when it is over.",
    )
    hall.score("Ann", roundId=frames[2], rolls=[10, 10, 10])
    assert hall.get(f"/single-player-games/{first['singlePlayerGameId']}")["data"]["points"] == "30.00"

    for rolls, frame in zip(([5, 5], [5, 5], [5, 5, 5]), frames, strict=True):
        hall.score("Bea", roundId=frame, rolls=rolls)
    for rolls, frame in zip(([9, 0], [9, 0], [8, 0]), frames, strict=True):
        last = hall.score("Cid", roundId=frame, rolls=rolls)
    before = hall.standings()
    hall.correct(last, rolls=[9, 0])
    hall.undo()
    assert hall.standings() == before
    hall.correct(last, rolls=[9, 0])

    hall.join("Dot")
    for rolls, frame in zip(([10], [10], [5, 0]), frames, strict=True):
        hall.score("Dot", roundId=frame, rolls=rolls)
    hall.join("Eve")
    assert hall.score("Eve", roundId=frames[0], score=4_700_000)["points"] == "4.00"
    hall.leave("Eve")

    hall.complete()
    assert hall.table("points", "tiebreakers", "gamesPlayed") == [
        (1, "Ann", "90.00", ["90.00", 5, 0], 3),
        (2, "Dot", "45.00", ["45.00", 2, 0], 3),
        (3, "Bea", "45.00", ["45.00", 0, 3], 3),
        (4, "Cid", "27.00", ["27.00", 0, 0], 3),
        (5, "Eve", "4.00", ["4.00", 0, 0], 1),
    ]
