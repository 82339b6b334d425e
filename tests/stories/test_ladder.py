"""A ladder of five, climbed from the bottom, checked by hand.

The seeds are the alphabet. The last four begin; who comes last is out and the next seed joins; with all
on the ladder it shrinks to three and to two.

    game 1   Bea Cid Dot Eve   Eve is last (first recorded: Dot)    out: Eve, 5
    game 2   Ann Bea Cid Dot   Ann is last                          out: Ann, 4
    game 3   Bea Cid Dot       Dot is last                          out: Dot, 3
    game 4   Bea Cid           Cid is last                          out: Cid, 2

The points are the players left behind: 4, 3, 2, 1, 0.
"""

from silverball.store.database.engine import Store
from stories.hall import Hall


def test_the_last_of_each_game_leaves_the_ladder_and_the_next_seed_joins(store: Store) -> None:
    hall = Hall(store, "ladder", "Ann Bea Cid Dot Eve")
    hall.start()
    (first,) = hall.open_games()
    assert sorted(hall.players_of(first)) == ["Bea", "Cid", "Dot", "Eve"]
    assert hall.refused("POST", "/rounds", {}) == (
        409,
        "The next game of a ladder comes up by itself when the open one has its result.",
    )
    hall.finish(first, "Bea", "Cid", "Eve", "Dot")
    assert hall.table() == [(5, "Dot", 0)]
    hall.finish(first, "Bea", "Cid", "Dot", "Eve")
    assert hall.table() == [(5, "Eve", 0)]

    before = hall.standings()
    hall.finish(hall.game_of("Ann", "Bea", "Cid", "Dot"), "Dot", "Cid", "Bea", "Ann")
    hall.undo()
    assert hall.standings() == before
    hall.finish(hall.game_of("Ann", "Bea", "Cid", "Dot"), "Dot", "Cid", "Bea", "Ann")
    hall.finish(hall.game_of("Bea", "Cid", "Dot"), "Bea", "Cid", "Dot")
    hall.finish(hall.game_of("Bea", "Cid"), "Bea", "Cid")
    assert hall.open_games() == []

    hall.complete()
    assert hall.table() == [
        (1, "Bea", 4),
        (2, "Cid", 3),
        (3, "Dot", 2),
        (4, "Ann", 1),
        (5, "Eve", 0),
    ]
