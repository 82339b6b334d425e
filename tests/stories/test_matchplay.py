"""Two match plays over three rounds, checked by hand; earlier in the alphabet always beats later.

The first: four players, neighbours first, then equals (`strictswiss`).

    round 1   Ann beats Bea, Cid beats Dot      Dot goes home, Eve comes
    round 2   Ann beats Cid, Bea beats Eve
    round 3   Ann beats Eve, Bea beats Cid      the only draw without a repeat

              points  opponents' points          without best and worst   all
    Ann       3       Bea 2, Cid 1, Eve 0        1                        3
    Bea       2       Ann 3, Eve 0, Cid 1        1                        4
    Cid       1       Dot 0, Ann 3, Bea 2        2                        5
    Eve       0       Bea 2, Ann 3               0                        5
    Dot       0       Cid 1                      0                        1

Eve and Dot have nothing; Eve's opponents were the better ones.

The second: three players, half a point for a bye. Round 1 Ann-Bea, bye Cid; round 2 Ann-Cid, bye Bea, who is
last; round 3 Bea-Cid, bye Ann. Ann 1 + 1 + 0.5, Bea 0 + 0.5 + 1, Cid 0.5. A bye brings no opponent: Ann's
have 1.5 + 0.5, Bea's 2.5 + 0.5, Cid's 2.5 + 1.5.
"""

from typing import Any

from silverball.store.database.engine import Store
from stories.hall import Hall

RANKING = "Ann Bea Cid Dot Eve"
SETTINGS: dict[str, Any] = {
    "duration": 3,
    "tiebreaker": "standard",
    "seeding": "manual",
    "firstRoundPairing": "adjacent",
    "pairing": "strictswiss",
}


def test_equal_points_go_by_the_strength_of_the_opponents(store: Store) -> None:
    hall = Hall(store, "matchplay", "Ann Bea Cid Dot", **SETTINGS)
    hall.start()
    hall.open_round()
    hall.finish(hall.game_of("Ann", "Bea"), "Ann", "Bea")
    wrong = hall.game_of("Cid", "Dot")
    hall.finish(wrong, "Dot", "Cid")
    before = hall.standings()
    hall.finish(wrong, "Cid", "Dot")
    corrected = hall.standings()
    hall.undo()
    assert hall.standings() == before != corrected
    hall.finish(wrong, "Cid", "Dot")
    assert hall.standings() == corrected
    hall.leave("Dot")
    hall.join("Eve")

    hall.open_round()
    assert hall.groups() == ["Ann Cid", "Bea Eve"]
    hall.finish_all(RANKING)
    hall.open_round()
    assert hall.groups() == ["Ann Eve", "Bea Cid"]
    hall.finish_all(RANKING)
    over = "The tournament is over: no round is left to play. Complete it."
    assert hall.refused("POST", "/rounds", {}) == (409, over)
    hall.complete()
    assert hall.table("points", "tiebreakers", "gamesPlayed") == [
        (1, "Ann", "3.00", ["3.00", 1, 3], 3),
        (2, "Bea", "2.00", ["2.00", 1, 4], 3),
        (3, "Cid", "1.00", ["1.00", 2, 5], 3),
        (4, "Eve", "0.00", ["0.00", 0, 5], 2),
        (5, "Dot", "0.00", ["0.00", 0, 1], 1),
    ]


def test_half_a_bye_is_half_a_point_and_no_opponent(store: Store) -> None:
    hall = Hall(store, "matchplay", "Ann Bea Cid", byes="half", **SETTINGS)
    hall.start()
    for pair in ("Ann Bea", "Ann Cid", "Bea Cid"):
        hall.open_round()
        assert hall.groups() == [pair]
        hall.finish_all(RANKING)
    hall.complete()
    assert hall.table("points", "tiebreakers", "gamesPlayed") == [
        (1, "Ann", "2.50", ["2.50", 0, 2], 2),
        (2, "Bea", "1.50", ["1.50", 0, 3], 2),
        (3, "Cid", "0.50", ["0.50", 0, 4], 2),
    ]
