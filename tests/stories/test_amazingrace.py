"""An amazing race of five, checked by hand: on each machine the lowest score is out.

    round 1   Ann 50  Bea 40  Cid 30  Dot 20  Eve 10 (first recorded: 25)             Eve is out: 5
    round 2   Ann 50  Bea 40, Cid is advanced above the bar, Dot goes home            Dot is out: 4
    round 3   Ann 20  Bea 20  Cid 30; Ann and Bea replay: Ann 15  Bea 10              Bea is out: 3
    round 4   Ann 10  Cid 20                                                          Ann is out: 2

The points are rounds survived: Cid 4, Ann 3, Bea 2, Dot 1, Eve 0.
"""

import pytest

from silverball.store.database.engine import Store
from stories.hall import Hall


@pytest.mark.both_databases
def test_the_lowest_score_is_out_and_whoever_is_above_somebody_races_on_at_once(store: Store) -> None:
    hall = Hall(store, "amazingrace", "Ann Bea Cid Dot Eve", seeding="manual")
    hall.start()
    assert hall.refused("POST", f"/amazing-race/{hall.ids['Ann']}/advance") == (
        409,
        "Nobody else has a score in Round 1 yet: there is no bar to be above.",
    )
    for name, score in (("Ann", 50), ("Bea", 40), ("Cid", 30), ("Dot", 20)):
        hall.score(name, score=score)
    # Three have somebody below and are in the second round; Dot and Eve are still in the first.
    assert [len(hall.waiting(name)) for name in ("Ann", "Bea", "Cid", "Dot", "Eve")] == [1, 1, 1, 0, 1]
    typed = hall.score("Eve", score=25)
    assert hall.table()[-1] == (5, "Dot", "0.00")

    before = hall.standings()
    hall.correct(typed, score=10)
    hall.undo()
    assert hall.standings() == before
    hall.correct(typed, score=10)
    assert hall.table()[-1] == (5, "Eve", "0.00")
    assert hall.refused("POST", "/players", {"name": "Fay"})[0] == 409

    hall.score("Ann", score=50)
    hall.score("Bea", score=40)
    hall.post(f"/amazing-race/{hall.ids['Cid']}/advance")
    hall.leave("Dot")

    hall.score("Ann", score=20)
    hall.score("Bea", score=20)
    hall.score("Cid", score=30)
    # Cid is safe and waits in the last round; the two tied at the bottom play again.
    hall.score("Bea", score=10)
    hall.score("Ann", score=15)
    hall.score("Ann", score=10)
    hall.score("Cid", score=20)

    hall.complete()
    assert hall.table("points", "gamesPlayed") == [
        (1, "Cid", "4.00", 4),
        (2, "Ann", "3.00", 5),
        (3, "Bea", "2.00", 4),
        (4, "Dot", "1.00", 1),
        (5, "Eve", "0.00", 1),
    ]
