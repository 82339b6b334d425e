"""A golf bracket of six with two holes a round, checked by hand.

The seeds are the alphabet. Ann and Bea begin in the final; the other four play for two places beside them.

    round 1     Cid 2+2 = 4   Dot 2+3 = 5   Eve 3+2 = 5   Fay 6+3 = 9      on: Cid, and Dot or Eve
                (Fay took eight balls on the first hole; the limit is six)
    tiebreak    Dot 1, Eve 2: Dot's total counts 0.50 less                 on: Dot
    final       Ann 3+3 = 6   Bea 2+3 = 5   Cid 4+4 = 8   Dot 4+3 = 7

Fewest strokes win: 1 Bea, 2 Ann, 3 Dot, 4 Cid; then who is out in round 1: 5 Eve, 6 Fay.
"""

from collections.abc import Sequence

from silverball.store.database.engine import Store
from stories.hall import Hall


def test_the_fewest_strokes_of_the_four_go_on_and_a_tie_is_broken_on_one_more_hole(store: Store) -> None:
    hall = Hall(store, "golf_bracket", "Ann Bea Cid Dot Eve Fay", bracketSize=6, gamesPerRound=2)
    hall.start()
    hall.post("/rounds", {})
    assert hall.refused("POST", "/single-player-games", {"playerId": hall.ids["Cid"], "strokes": 2}) == (
        422,
        "Player 3 has several open games in this round. Say on which arena, or use its id.",
    )
    for name, *strokes in (("Cid", 2, 2), ("Dot", 2, 3), ("Eve", 3, 2), ("Fay", 8, 4)):
        _play(hall, name, strokes)
    first, last = hall.get(f"/single-player-games?player={hall.ids['Fay']}")["data"]
    assert (first["points"], last["points"]) == ("6.00", "4.00")

    before = hall.standings()
    hall.correct(last, strokes=3)
    hall.undo()
    assert hall.standings() == before
    hall.correct(last, strokes=3)

    dot, eve = hall.ids["Dot"], hall.ids["Eve"]
    assert hall.refused("POST", "/rounds", {}) == (
        409,
        (
            f"Players {dot} and {eve} are tied for a place in the next round. "
            "Play a tiebreak between them first."
        ),
    )
    assert hall.post("/tiebreaks", {"playerIds": [dot, eve]})["data"] == []
    hall.score("Dot", strokes=1)
    hall.score("Eve", strokes=2)

    hall.post("/rounds", {})
    for name, *strokes in (("Ann", 3, 3), ("Bea", 2, 3), ("Cid", 4, 4), ("Dot", 4, 3)):
        _play(hall, name, strokes)

    hall.complete()
    assert hall.table("points", "pointsWithTiebreaker") == [
        (1, "Bea", 5, 5),
        (2, "Ann", 6, 6),
        (3, "Dot", 7, 7),
        (4, "Cid", 8, 8),
        (5, "Eve", 5, 5),
        (6, "Fay", 9, 9),
    ]


def _play(hall: Hall, name: str, strokes: Sequence[int]) -> None:
    for hole, balls in zip(hall.waiting(name), strokes, strict=True):
        hall.correct(hole, strokes=balls)
