"""Pingolf over three holes with a limit of eight strokes, checked by hand.

            hole 1  2  3   total   ones
    Ann          2  3  1      6      1     2 (6 strokes as Bea, but fewer holes in one)
    Bea          1  4  1      6      2     1 (the second hole is first recorded as 5)
    Cid          3  3  3      9      0     3
    Dot          8  7  8     23      0     4

Dot comes late and takes 10 balls on hole 1, where the limit is 8. On hole 2 Dot has 6,000,000 of a target of
10,000,000: three fifths are 7 strokes. Then Dot goes home, and hole 3 counts the limit in the end.
"""

from silverball.store.database.engine import Store
from stories.hall import Hall


def test_the_fewest_strokes_win_and_equal_totals_are_told_apart_by_holes_in_one(store: Store) -> None:
    hall = Hall(store, "golf", "Ann Bea Cid", golfDuration=3, golfStrokeLimit=8)
    hall.start()
    first, second, third = hall.round_ids()
    assert [round_["name"] for round_ in reversed(hall.get("/rounds")["data"])] == [
        "Hole #1",
        "Hole #2",
        "Hole #3",
    ]
    hall.patch(f"/rounds/{second}", {"arenaId": hall.arenas[1], "score": 10_000_000})

    for name, *strokes in (("Ann", 2, 3, 1), ("Cid", 3, 3, 3)):
        for hole, balls in zip((first, second, third), strokes, strict=True):
            hall.score(name, roundId=hole, strokes=balls)
    hall.score("Bea", roundId=first, strokes=1)
    long_hole = hall.score("Bea", roundId=second, strokes=5)
    hall.score("Bea", roundId=third, strokes=1)
    assert hall.table() == [(1, "Ann", "6.00"), (2, "Bea", "7.00"), (3, "Cid", "9.00")]

    before = hall.standings()
    hall.correct(long_hole, strokes=4)
    hall.undo()
    assert hall.standings() == before
    hall.correct(long_hole, strokes=4)

    hall.join("Dot")
    assert hall.score("Dot", roundId=first, strokes=10)["points"] == "8.00"
    reached = {"playerId": hall.ids["Dot"], "roundId": second, "score": 10_000_000}
    assert hall.refused("POST", "/single-player-games", reached) == (
        422,
        "The target was reached. Enter the number of the ball as the strokes.",
    )
    assert hall.score("Dot", roundId=second, score=6_000_000)["points"] == "7.00"
    hall.leave("Dot")

    hall.complete()
    assert hall.table("points", "tiebreakers", "gamesPlayed") == [
        (1, "Bea", "6.00", ["6.00", 2, 0, 0], 3),
        (2, "Ann", "6.00", ["6.00", 1, 1, 1], 3),
        (3, "Cid", "9.00", ["9.00", 0, 0, 3], 3),
        (4, "Dot", "23.00", ["23.00", 0, 0, 0], 2),
    ]
