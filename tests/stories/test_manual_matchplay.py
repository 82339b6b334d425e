"""A manual match play, checked by hand: the organizer makes every game. `ifpa`, ties by first places.

    game 1    Bea, Cid, Ann       7 4 1, corrected to Cid, Bea, Ann
    game 2    Ann, Cid            7 1
              Dot comes
    game 3    Dot, Ann, Bea, Cid  7 5 3 1
              Cid goes home

              points         first places
    Ann       1 + 7 + 5 = 13     1
    Cid       7 + 1 + 1 =  9     1
    Dot       7            7     1     ahead of Bea
    Bea       4 + 3     =  7     0

With game 2 deleted for a moment: Cid 8, Dot 7, Bea 7, Ann 6.
"""

from typing import Any

from silverball.store.database.engine import Store
from stories.hall import Hall


def test_the_organizer_makes_every_game_and_may_take_any_away(store: Store) -> None:
    hall = Hall(store, "manual_matchplay", "Ann Bea Cid", arenas=2, tiebreaker="wins")
    hall.start()
    first = _game(hall, 0, "Ann", "Bea", "Cid")
    taken = {"playerIds": first["playerIds"][:2], "arenaId": hall.arenas[0]}
    assert hall.refused("POST", "/games", taken) == (
        409,
        f"Arena {hall.arenas[0]} is taken by game {first['gameId']}. Choose another one.",
    )
    second = _game(hall, 1, "Ann", "Cid")
    hall.finish(first, "Bea", "Cid", "Ann")
    hall.finish(second, "Ann", "Cid")
    assert hall.table() == [(1, "Ann", "8.00"), (2, "Bea", "7.00"), (3, "Cid", "5.00")]

    hall.join("Dot")
    third = _game(hall, 0, "Ann", "Bea", "Cid", "Dot")
    hall.finish(third, "Dot", "Ann", "Bea", "Cid")
    hall.leave("Cid")
    gone = {"playerIds": [hall.ids["Ann"], hall.ids["Cid"]], "arenaId": hall.arenas[1]}
    assert hall.refused("POST", "/games", gone) == (
        422,
        f"Player {hall.ids['Cid']} does not play in this tournament now.",
    )
    hall.finish(first, "Cid", "Bea", "Ann")
    before = hall.standings()
    hall.delete(f"/games/{second['gameId']}")
    assert hall.table() == [(1, "Cid", "8.00"), (2, "Dot", "7.00"), (3, "Bea", "7.00"), (4, "Ann", "6.00")]
    hall.undo()
    assert hall.standings() == before
    hall.complete()
    assert hall.table("points", "tiebreakers", "gamesPlayed") == [
        (1, "Ann", "13.00", ["13.00", 1], 3),
        (2, "Cid", "9.00", ["9.00", 1], 3),
        (3, "Dot", "7.00", ["7.00", 1], 1),
        (4, "Bea", "7.00", ["7.00", 0], 2),
    ]


def _game(hall: Hall, arena: int, *names: str) -> Any:
    body = {"playerIds": [hall.ids[name] for name in names], "arenaId": hall.arenas[arena]}
    return hall.post("/games", body)["data"]
