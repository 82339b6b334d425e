"""A double bracket of four, in which two losses eliminate, checked by hand.

The seeds are the alphabet.

    winners 1   Ann-Dot: Ann    Bea-Cid: Bea
    losers 1    Dot-Cid: Cid                    Dot is out: 4
    winners 2   Ann-Bea: Ann
    losers 2    Cid-Bea: Bea                    Cid is out: 3
    final       Ann-Bea: Bea                    Ann's first defeat: they play again
    decider     Ann-Bea: Ann                    Bea is out: 2

The points are matches won: Ann 3, Bea 3 (Cid twice, Ann once), Cid 1, Dot 0.
"""

from silverball.store.database.engine import Store
from stories.hall import Hall


def test_the_second_defeat_ends_it_and_a_champion_without_one_plays_a_second_final(store: Store) -> None:
    hall = Hall(store, "double_bracket", "Ann Bea Cid Dot", bracketSize=4)
    hall.start()
    ann_dot, bea_cid = hall.open_games()
    assert (hall.players_of(ann_dot), hall.players_of(bea_cid)) == (["Ann", "Dot"], ["Bea", "Cid"])
    hall.finish(ann_dot, "Ann", "Dot")
    hall.finish(bea_cid, "Cid", "Bea")
    assert hall.game_of("Bea", "Dot")
    # The correction swaps winner and loser: Bea goes on among the winners, Cid among the losers.
    hall.finish(bea_cid, "Bea", "Cid")
    hall.finish(hall.game_of("Cid", "Dot"), "Cid", "Dot")
    hall.finish(hall.game_of("Ann", "Bea"), "Ann", "Bea")
    hall.finish(hall.game_of("Bea", "Cid"), "Bea", "Cid")
    assert hall.table() == [(3, "Cid", 1), (4, "Dot", 0)]

    # The bracket is over if Ann wins the final, and goes on if Ann loses it.
    final = hall.game_of("Ann", "Bea")
    before = hall.standings()
    hall.finish(final, "Ann", "Bea")
    assert hall.open_games() == []
    hall.undo()
    assert hall.standings() == before
    hall.finish(final, "Bea", "Ann")
    hall.finish(hall.game_of("Ann", "Bea"), "Ann", "Bea")

    hall.complete()
    assert hall.table() == [(1, "Ann", 3), (2, "Bea", 3), (3, "Cid", 1), (4, "Dot", 0)]
