"""A double round robin of four: each pair plays twice, and two ties are broken; checked by hand.

Earlier in the alphabet beats later, but Bea wins the second game against Ann, and Dot the second against
Cid (which is first recorded the other way round). A row has the wins of a player:

            Ann   Bea   Cid   Dot   points
    Ann      -     1     2     2      5      shares the first place with Bea, loses the tiebreak game: 2
    Bea      1     -     2     2      5      5 and 0.50 for the tiebreak game: 1
    Cid      0     0     -     1      1      shares the third place with Dot; a coin says Dot: 4
    Dot      0     0     1     -      1      3
"""

from silverball.store.database.engine import Store
from stories.hall import Hall

RANKING = "Ann Bea Cid Dot"


def test_each_pair_meets_twice_with_turned_seats_and_ties_are_broken_by_a_game_or_a_coin(
    store: Store,
) -> None:
    hall = Hall(store, "double_round_robin", RANKING, seeding="manual")
    hall.start()
    games = hall.open_games()
    assert [hall.players_of(game) for game in games] == [
        ["Dot", "Ann"],
        ["Ann", "Dot"],
        ["Bea", "Cid"],
        ["Cid", "Bea"],
        ["Ann", "Cid"],
        ["Cid", "Ann"],
        ["Dot", "Bea"],
        ["Bea", "Dot"],
        ["Bea", "Ann"],
        ["Ann", "Bea"],
        ["Cid", "Dot"],
        ["Dot", "Cid"],
    ]
    for game in games:
        hall.finish(game, *sorted(hall.players_of(game)))
    assert hall.table() == [(1, "Ann", "6.00"), (2, "Bea", "4.00"), (3, "Cid", "2.00"), (4, "Dot", "0.00")]

    before = hall.standings()
    hall.finish(games[11], "Dot", "Cid")
    hall.undo()
    assert hall.standings() == before
    hall.finish(games[11], "Dot", "Cid")
    hall.finish(games[9], "Bea", "Ann")
    assert hall.table() == [(1, "Ann", "5.00"), (1, "Bea", "5.00"), (3, "Cid", "1.00"), (3, "Dot", "1.00")]

    ids = hall.ids
    assert hall.refused("POST", "/players", {"name": "Eve"})[0] == 409
    (tiebreak,) = hall.post("/tiebreaks", {"playerIds": [ids["Ann"], ids["Bea"]]})["data"]
    hall.finish(tiebreak, "Bea", "Ann")
    assert hall.refused("POST", "/tiebreaks", {"order": [ids["Dot"], ids["Bea"]]}) == (
        409,
        "Name all players who share one place of the standings, and nobody else.",
    )
    hall.post("/tiebreaks", {"order": [ids["Dot"], ids["Cid"]]})

    hall.complete()
    assert hall.table("points", "pointsWithTiebreaker", "gamesPlayed") == [
        (1, "Bea", "5.00", "5.50", 6),
        (2, "Ann", "5.00", "5.00", 6),
        (3, "Dot", "1.00", None, 6),
        (4, "Cid", "1.00", None, 6),
    ]
