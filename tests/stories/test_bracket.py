"""A bracket of six in the frame of eight, checked by hand.

The seeds are the alphabet. The frame is 1-8, 4-5, 3-6, 2-7; without seeds 7 and 8 Ann and Bea go through
their first match.

    quarterfinals   Ann bye    Dot-Eve: Dot (first recorded for Eve)    Cid-Fay: Cid    Bea bye
    semifinals      Ann-Dot: Dot       Cid-Bea: Bea
    final           Dot-Bea: Dot       third place  Ann-Cid: Cid        fifth place  Eve-Fay: Fay

So 1 Dot, 2 Bea, 3 Cid, 4 Ann, 5 Fay, 6 Eve. The points are matches won: Dot 3, Bea 1 and a bye,
Cid 1 and the match for third place, Ann a bye, Fay the match for fifth place, Eve none.
"""

from silverball.store.database.engine import Store
from stories.hall import Hall


def test_who_wins_goes_on_and_the_losers_play_for_the_third_and_the_fifth_place(store: Store) -> None:
    hall = Hall(store, "bracket", "Ann Bea Cid Dot Eve Fay")
    hall.start()
    dot_eve, cid_fay = hall.open_games()
    assert (hall.players_of(dot_eve), hall.players_of(cid_fay)) == (["Dot", "Eve"], ["Cid", "Fay"])
    assert hall.refused("POST", "/players", {"name": "Gus"}) == (
        409,
        "Nobody can join this tournament any more: its schedule is made at the start.",
    )

    hall.finish(dot_eve, "Eve", "Dot")
    assert [hall.players_of(game) for game in hall.open_games()] == [["Cid", "Fay"], ["Ann", "Eve"]]
    # The correction takes Ann's game against the wrong opponent away.
    hall.finish(dot_eve, "Dot", "Eve")
    assert [hall.players_of(game) for game in hall.open_games()] == [["Cid", "Fay"], ["Ann", "Dot"]]
    hall.finish(cid_fay, "Cid", "Fay")

    before = hall.standings()
    hall.finish(hall.game_of("Ann", "Dot"), "Dot", "Ann")
    hall.undo()
    assert hall.standings() == before
    hall.finish(hall.game_of("Ann", "Dot"), "Dot", "Ann")
    hall.finish(hall.game_of("Bea", "Cid"), "Bea", "Cid")
    hall.finish(hall.game_of("Eve", "Fay"), "Fay", "Eve")
    hall.finish(hall.game_of("Bea", "Dot"), "Dot", "Bea")
    hall.finish(hall.game_of("Ann", "Cid"), "Cid", "Ann")

    hall.complete()
    assert hall.table() == [
        (1, "Dot", 3),
        (2, "Bea", 2),
        (3, "Cid", 2),
        (4, "Ann", 1),
        (5, "Fay", 1),
        (6, "Eve", 0),
    ]
