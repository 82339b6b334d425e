"""A group bracket of eight with two games a round (4, 2, 1 and 0 points), checked by hand.

The seeds are the alphabet; the best two of each group go on.

    group 1        Ann 4+4 = 8   Dot 2+2 = 4   Eve 1+1 = 2   Hal 0+0 = 0     on: Ann, Dot
    group 2        Bea 4+4 = 8   Cid 2+1 = 3   Fay 1+2 = 3   Gus 0+0 = 0     on: Bea, and Cid or Fay
    tiebreak       Fay beats Cid: 3.50 and 3.00                              on: Fay
    final          Ann 4+2 = 6   Bea 2+4 = 6   Dot 1+1 = 2   Fay 0+0 = 0
    tiebreak       Bea beats Ann: 6.50 and 6.00

So 1 Bea, 2 Ann, 3 Dot, 4 Fay; those who are out by the points of the first round: 5 Cid with 3, 6 Eve
with 2, 7 Gus and Hal with 0. Points are those of a player's last round.
"""

from silverball.store.database.engine import Store
from stories.hall import Hall, Json


def test_the_best_two_of_each_group_go_on_and_a_tie_for_the_second_place_is_played_off(store: Store) -> None:
    hall = Hall(store, "group_bracket", "Ann Bea Cid Dot Eve Fay Gus Hal", bracketSize=8, gamesPerRound=2)
    hall.start()
    hall.open_round()
    first_game, second_game = _of(hall, "Ann Dot Eve Hal")
    hall.finish(first_game, "Ann", "Dot", "Eve", "Hal")
    hall.finish(second_game, "Ann", "Dot", "Eve", "Hal")
    first_game, second_game = _of(hall, "Bea Cid Fay Gus")
    hall.finish(first_game, "Bea", "Cid", "Fay", "Gus")
    before = hall.standings()
    hall.finish(second_game, "Bea", "Cid", "Fay", "Gus")
    hall.undo()
    assert hall.standings() == before
    hall.finish(second_game, "Bea", "Cid", "Fay", "Gus")
    # Corrected: the second game was closer.
    hall.finish(second_game, "Bea", "Fay", "Cid", "Gus")

    cid, fay = hall.ids["Cid"], hall.ids["Fay"]
    assert hall.refused("POST", "/rounds", {}) == (
        409,
        (
            f"Players {cid} and {fay} are tied for a place in the next round. "
            "Play a tiebreak between them first."
        ),
    )
    (tiebreak,) = hall.post("/tiebreaks", {"playerIds": [cid, fay]})["data"]
    hall.finish(tiebreak, "Fay", "Cid")

    hall.open_round()
    first_game, second_game = _of(hall, "Ann Bea Dot Fay")
    hall.finish(first_game, "Ann", "Bea", "Dot", "Fay")
    hall.finish(second_game, "Bea", "Ann", "Dot", "Fay")
    assert hall.table()[:2] == [(1, "Ann", 6), (1, "Bea", 6)]
    (tiebreak,) = hall.post("/tiebreaks", {"playerIds": [hall.ids["Ann"], hall.ids["Bea"]]})["data"]
    hall.finish(tiebreak, "Bea", "Ann")

    hall.complete()
    assert hall.table("points", "pointsWithTiebreaker") == [
        (1, "Bea", 6, 6.5),
        (2, "Ann", 6, 6),
        (3, "Dot", 2, 2),
        (4, "Fay", 0, 0),
        (5, "Cid", 3, 3),
        (6, "Eve", 2, 2),
        (7, "Gus", 0, 0),
        (7, "Hal", 0, 0),
    ]


def _of(hall: Hall, names: str) -> list[Json]:
    """The open games of this group."""
    return [game for game in hall.open_games() if sorted(hall.players_of(game)) == names.split()]
