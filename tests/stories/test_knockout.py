"""Two knockouts with two strikes, checked by hand.

The first: four players, seeded as they came, neighbours first (`adjacent`), then equals (`strictswiss`).

    round 1   Ann beats Bea, Cid beats Dot      Bea 1, Dot 1
    round 2   Ann beats Cid, Bea beats Dot      Cid 1, Dot 2: out in round 2
              Eve comes late, with one strike
    round 3   Ann beats Eve, Bea beats Cid      Eve 2, Cid 2: both out in round 3
    round 4   Bea beats Ann                     Ann 1
    round 5   Ann beats Bea                     Bea 2: out in round 5

In round 3 Ann has met Bea and Cid, so Ann meets Eve. Cid and Eve went out in the same round with two strikes
each and share the third place, whatever they had won before. Points are the games won.

The second is the example of docs/formats/knockout.md, with three players and a bye in each of three rounds.
"""

from typing import Any

from silverball.store.database.engine import Store
from stories.hall import Hall

SETTINGS: dict[str, Any] = {
    "knockoutStrikeCount": 2,
    "seeding": "manual",
    "firstRoundPairing": "adjacent",
    "pairing": "strictswiss",
}


def test_the_last_one_standing_wins_and_those_out_in_the_same_round_share_a_place(store: Store) -> None:
    hall = Hall(store, "knockout", "Ann Bea Cid Dot", **SETTINGS)
    hall.start()
    hall.open_round()
    assert hall.groups() == ["Ann Bea", "Cid Dot"]
    numbers = ", ".join(str(game["gameId"]) for game in hall.open_games())
    sentence = f"Round 1 still has open games: {numbers}. Record their results first."
    assert hall.refused("POST", "/rounds", {}) == (409, sentence)
    hall.finish_all("Ann Bea Cid Dot")
    hall.open_round()
    assert hall.groups() == ["Ann Cid", "Bea Dot"]
    hall.finish_all("Ann Bea Cid Dot")
    hall.join("Eve", strikes=1)

    hall.open_round()
    assert hall.groups() == ["Ann Eve", "Bea Cid"]
    hall.finish(hall.game_of("Ann", "Eve"), "Ann", "Eve")
    wrong = hall.game_of("Bea", "Cid")
    hall.finish(wrong, "Cid", "Bea")
    before = hall.standings()
    hall.finish(wrong, "Bea", "Cid")
    corrected = hall.standings()
    hall.undo()
    assert hall.standings() == before != corrected
    hall.finish(wrong, "Bea", "Cid")
    assert hall.standings() == corrected

    (last_two,) = hall.open_round()
    assert hall.groups() == ["Ann Bea"]
    hall.finish(last_two, "Bea", "Ann")
    (decider,) = hall.open_round()
    hall.finish(decider, "Ann", "Bea")
    hall.complete()
    assert hall.table("strikeCount", "points", "gamesPlayed") == [
        (1, "Ann", 1, "4.00", 5),
        (2, "Bea", 2, "3.00", 5),
        (3, "Cid", 2, "1.00", 3),
        (3, "Eve", 2, "0.00", 1),
        (5, "Dot", 2, "0.00", 2),
    ]
    assert hall.get()["data"]["status"] == "completed"


def test_a_bye_is_worth_a_point_and_never_a_strike(store: Store) -> None:
    hall = Hall(store, "knockout", "Ann Bea Cid", **SETTINGS)
    hall.start()
    for pair in ("Ann Bea", "Ann Cid", "Bea Cid", "Ann Bea"):
        hall.open_round()
        assert hall.groups() == [pair]
        hall.finish_all("Ann Bea Cid")
    hall.complete()
    assert hall.table("strikeCount", "points", "gamesPlayed") == [
        (1, "Ann", 0, "4.00", 3),
        (2, "Bea", 2, "2.00", 3),
        (3, "Cid", 2, "1.00", 2),
    ]
