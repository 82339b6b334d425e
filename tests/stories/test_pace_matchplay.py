"""A pace match play of four and two late players, checked by hand: 8 points after round 2, then 7 a round.

Groups of equals (`swiss`); `ifpa`: 7 5 3 1 in a game of four, 7 4 1 of three, 7 1 of two.

    round 1   Ann 7, Bea 5, Cid 3, Dot 1        no bar yet; Eve comes with nothing
              for 8: Ann needs 1, a last place; Bea 3, Cid 5, Dot 7, Eve 8
    round 2   Bea 7, Ann 4, Cid 1 and Dot 7, Eve 1
              Bea 12, Ann 11, Dot 8: in, and Dot just so; Cid 4, Eve 1: out in round 2
              Fay comes, is refused below the bar, and is given 8 points
              for 15: Bea needs 3, Ann 4, Dot and Fay 7
    round 3   Ann 7, Bea 5, Dot 3, Fay 1
              Ann 18, Bea 17: in; Dot 11, Fay 9: out in round 3; the next bar is 22
    round 4   Ann 7, Bea 1
              Ann 25: in; Bea 18: out in round 4

Ann is left. Who went out later is ahead, then who has more points.
"""

from typing import Any

from silverball.store.database.engine import Store
from stories.hall import Hall


def test_who_falls_below_the_rising_bar_is_out_and_who_is_on_it_stays(store: Store) -> None:
    hall = Hall(
        store,
        "pace_matchplay",
        "Ann Bea Cid Dot",
        paceInitialRounds=2,
        paceInitialTarget=8,
        paceIncrement=7,
        seeding="manual",
        firstRoundPairing="adjacent",
        pairing="swiss",
    )
    hall.start()
    hall.play_rounds(1, "Ann Bea Cid Dot")
    assert set(_needed(hall).values()) == {None}
    hall.post(f"/rounds/{hall.get('/rounds')['data'][0]['roundId']}/complete")
    hall.join("Eve")
    assert _needed(hall) == {"Ann": None, "Bea": 3, "Cid": 5, "Dot": 7, "Eve": 8}

    hall.open_round()
    assert hall.groups() == ["Ann Bea Cid", "Dot Eve"]
    hall.finish(hall.game_of("Ann", "Bea", "Cid"), "Bea", "Ann", "Cid")
    wrong = hall.game_of("Dot", "Eve")
    hall.finish(wrong, "Eve", "Dot")
    before = hall.standings()
    hall.finish(wrong, "Dot", "Eve")
    corrected = hall.standings()
    hall.undo()
    assert hall.standings() == before != corrected
    hall.finish(wrong, "Dot", "Eve")
    assert hall.standings() == corrected

    hall.post(f"/rounds/{hall.get('/rounds')['data'][0]['roundId']}/complete")
    fay = hall.send("POST", "/api/players", {"name": "Fay"})["data"]["playerId"]
    sentence = f"Player {fay} has 0 points, below the bar of 8: it is too late to come in."
    assert hall.refused("POST", "/players", {"playerId": fay}) == (
        409,
        f"{sentence} Give a pointsAdjustment with it if that is wrong.",
    )
    hall.join("Fay", pointsAdjustment=8)
    assert _needed(hall) == {"Ann": 4, "Bea": 3, "Cid": None, "Dot": 7, "Eve": None, "Fay": 7}
    hall.play_rounds(2, "Ann Bea Dot Fay")
    hall.complete()
    assert hall.table("points", "tiebreakers", "gamesPlayed") == [
        (1, "Ann", "25.00", ["25.00"], 4),
        (2, "Bea", "18.00", ["18.00"], 4),
        (3, "Dot", "11.00", ["11.00"], 3),
        (4, "Fay", "9.00", ["9.00"], 1),
        (5, "Cid", "4.00", ["4.00"], 2),
        (6, "Eve", "1.00", ["1.00"], 1),
    ]


def _needed(hall: Hall) -> dict[str, Any]:
    bubbles = {hall.name(row["playerId"]): row["onPaceBubble"] for row in hall.standings()}
    return {name: bubble and bubble["needed"] for name, bubble in sorted(bubbles.items())}
