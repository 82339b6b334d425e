"""A group match play of eight over two rounds, checked by hand.

Seven players start, in groups of neighbours; Hal comes late and takes the empty seat of the group of three.
Then equals meet (`swiss`). `ifpa`: 7 5 3 1 in a game of four, 7 4 1 of three.

    round 1   Ann 7, Bea 5, Cid 3, Dot 1        Eve 7, Fay 5, Gus 3, Hal 1
    round 2   Eve 7, Ann 5, Fay 3, Bea 1        Hal 7, Cid 4, Gus 1; Dot goes home

              points     first, second places
    Eve       7 + 7 = 14     2, 0
    Ann       7 + 5 = 12     1, 1
    Hal       1 + 7 =  8     1, 0     ahead of Fay: a first place
    Fay       5 + 3 =  8     0, 1
    Cid       3 + 4 =  7     0, 1
    Bea       5 + 1 =  6     0, 1
    Gus       3 + 1 =  4     0, 0
    Dot       1              0, 0
"""

from silverball.store.database.engine import Store
from stories.hall import Hall


def test_a_late_player_takes_the_empty_seat_and_first_places_break_a_tie(store: Store) -> None:
    hall = Hall(
        store,
        "group_matchplay",
        "Ann Bea Cid Dot Eve Fay Gus",
        duration=2,
        tiebreaker="placement",
        seeding="manual",
        firstRoundPairing="adjacent",
        pairing="swiss",
    )
    hall.start()
    hall.open_round()
    assert hall.groups() == ["Ann Bea Cid Dot", "Eve Fay Gus"]
    four, three = hall.game_of("Ann", "Bea", "Cid", "Dot"), hall.game_of("Eve", "Fay", "Gus")
    hall.join("Hal")
    seat = {"playerId": hall.ids["Hal"]}
    sentence = f"Game {four['gameId']} has 4 players already. Choose a smaller group."
    assert hall.refused("POST", f"/games/{four['gameId']}/players", seat) == (409, sentence)
    hall.post(f"/games/{three['gameId']}/players", seat)
    hall.finish_all("Ann Bea Cid Dot Eve Fay Gus Hal")

    hall.open_round()
    assert hall.groups() == ["Ann Bea Eve Fay", "Cid Dot Gus Hal"]
    top, bottom = hall.game_of("Ann", "Bea", "Eve", "Fay"), hall.game_of("Cid", "Dot", "Gus", "Hal")
    hall.finish(top, "Ann", "Eve", "Fay", "Bea")
    before = hall.standings()
    hall.finish(top, "Eve", "Ann", "Fay", "Bea")
    corrected = hall.standings()
    hall.undo()
    assert hall.standings() == before != corrected
    hall.finish(top, "Eve", "Ann", "Fay", "Bea")
    assert hall.standings() == corrected
    hall.leave("Dot")
    hall.delete(f"/games/{bottom['gameId']}/players/{hall.ids['Dot']}")
    hall.finish(bottom, "Hal", "Cid", "Gus")
    hall.complete()
    assert hall.table("points", "tiebreakers", "gamesPlayed") == [
        (1, "Eve", "14.00", ["14.00", 2, 0], 2),
        (2, "Ann", "12.00", ["12.00", 1, 1], 2),
        (3, "Hal", "8.00", ["8.00", 1, 0], 2),
        (4, "Fay", "8.00", ["8.00", 0, 1], 2),
        (5, "Cid", "7.00", ["7.00", 0, 1], 2),
        (6, "Bea", "6.00", ["6.00", 0, 1], 2),
        (7, "Gus", "4.00", ["4.00", 0, 0], 2),
        (8, "Dot", "1.00", ["1.00", 0, 0], 1),
    ]
