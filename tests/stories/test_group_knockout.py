"""A group knockout of four and a late player with fair strikes, three and out, checked by hand.

Fair strikes are 0 1 1 2 in a game of four, 0 1 2 of three, 0 2 of two. Groups of equals (`swiss`).

    round 1   Ann, Bea, Cid, Dot                Bea 1, Cid 1, Dot 2
              Eve comes late, with two strikes
    round 2   Ann, Bea, Cid and Dot, Eve        Bea 2, Cid 3: out; Eve 4: out
    round 3   Ann, Bea, Dot                     Bea 3: out; Dot 4: out

Ann never gets a strike. Bea and Dot are out in the same round, and Bea with fewer strikes is ahead, although
Dot has more points for a won game (1.02 against three second places, 0.06). Cid is ahead of Eve likewise.
"""

from silverball.store.database.engine import Store
from stories.hall import Hall


def test_of_those_out_in_the_same_round_the_one_with_fewer_strikes_is_ahead(store: Store) -> None:
    hall = Hall(
        store,
        "group_knockout",
        "Ann Bea Cid Dot",
        knockoutFourPlayerStrikes=101,
        knockoutFair=True,
        knockoutStrikeCount=3,
        seeding="manual",
        firstRoundPairing="adjacent",
        pairing="swiss",
    )
    hall.start()
    (first,) = hall.open_round()
    hall.finish(first, "Ann", "Dot", "Cid", "Bea")
    before = hall.standings()
    hall.finish(first, "Ann", "Bea", "Cid", "Dot")
    corrected = hall.standings()
    hall.undo()
    assert hall.standings() == before != corrected
    hall.finish(first, "Ann", "Bea", "Cid", "Dot")
    assert hall.table("strikeCount") == [(1, "Ann", 0), (2, "Bea", 1), (2, "Cid", 1), (4, "Dot", 2)]
    hall.join("Eve", strikes=2)

    hall.open_round()
    assert hall.groups() == ["Ann Bea Cid", "Dot Eve"]
    numbers = ", ".join(str(game["gameId"]) for game in hall.open_games())
    sentence = f"Round 2 still has open games: {numbers}. Record their results first."
    assert hall.refused("POST", "/rounds", {}) == (409, sentence)
    hall.finish_all("Ann Bea Cid Dot Eve")
    (third,) = hall.open_round()
    hall.finish(third, "Ann", "Bea", "Dot")
    hall.complete()
    assert hall.table("strikeCount", "points", "tiebreakers", "gamesPlayed") == [
        (1, "Ann", 0, "3.00", [3, 0], 3),
        (2, "Bea", 3, "0.06", [3, 3], 3),
        (3, "Dot", 4, "1.02", [3, 4], 3),
        (4, "Cid", 3, "0.03", [2, 3], 2),
        (5, "Eve", 4, "0.01", [2, 4], 1),
    ]
