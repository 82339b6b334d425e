"""A target match play to ten points, of four and a late player, checked by hand.

There is one group in every round, so there is nothing to draw. `ifpa`: 7 5 3 1, 7 4 1 of three, 7 1 of two.

    round 1   Ann 7, Bea 5, Cid 3, Dot 1
    round 2   Ann 7, Bea 5, Cid 3, Dot 1        Ann 14, Bea 10: there in round 2; Cid 6, Dot 2
              Eve comes
    round 3   Eve 7, Cid 4, Dot 1               Cid 10: there in round 3; Eve 7, Dot 3
    round 4   Dot 7, Eve 1                      Dot 10: there in round 4; Eve 8

Bea, Cid and Dot have ten points each, and rank by the round in which they got there. Ann and Bea were there
in the same round, and Ann had more. Only Eve is left, so it is over.
"""

from silverball.store.database.engine import Store
from stories.hall import Hall


def test_who_reaches_the_target_first_is_ahead_and_plays_no_more(store: Store) -> None:
    hall = Hall(store, "target", "Ann Bea Cid Dot", targetPoints=10)
    hall.start()
    hall.play_rounds(2, "Ann Bea Cid Dot")
    hall.join("Eve")

    (third,) = hall.open_round()
    assert hall.groups() == ["Cid Dot Eve"]
    sentence = f"Round 3 still has open games: {third['gameId']}. Record their results first."
    assert hall.refused("POST", "/rounds", {}) == (409, sentence)
    hall.finish(third, "Cid", "Eve", "Dot")
    before = hall.standings()
    hall.finish(third, "Eve", "Cid", "Dot")
    corrected = hall.standings()
    hall.undo()
    assert hall.standings() == before != corrected
    hall.finish(third, "Eve", "Cid", "Dot")
    assert hall.standings() == corrected

    (fourth,) = hall.open_round()
    assert hall.groups() == ["Dot Eve"]
    hall.finish(fourth, "Dot", "Eve")
    over = "The tournament is over: no round is left to play. Complete it."
    assert hall.refused("POST", "/rounds", {}) == (409, over)
    hall.complete()
    assert hall.table("points", "tiebreakers", "gamesPlayed") == [
        (1, "Ann", "14.00", ["14.00"], 2),
        (2, "Bea", "10.00", ["10.00"], 2),
        (3, "Cid", "10.00", ["10.00"], 3),
        (4, "Dot", "10.00", ["10.00"], 4),
        (5, "Eve", "8.00", ["8.00"], 2),
    ]
