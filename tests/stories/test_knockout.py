"""A knockout of five with two strikes, from creation to completion, checked by hand.

    round 1   Ann-Eve, Bea-Dot, bye Cid    Eve 1, Dot 1
    ...
The draw is the service's own; who wins is fixed: earlier in the alphabet beats later. So Eve, who loses
every game she plays, is out first, and Ann never gets a strike.
"""

from silverball.store.engine import Store
from stories.hall import Hall

RANKING = "Ann Bea Cid Dot Eve"


def test_the_better_player_always_wins_and_the_last_one_standing_is_ann(store: Store) -> None:
    hall = Hall(store, "knockout", RANKING, knockoutStrikeCount=2)
    assert hall.standings() == []
    hall.start()
    rounds = 0
    while hall.get()["data"]["status"] == "started" and rounds < 12:
        status, _said = _open(hall)
        if status:
            break
        hall.finish_all(RANKING)
        rounds += 1
    hall.complete()
    rows = hall.table("strikeCount")
    assert rows[0] == (1, "Ann", 0)
    assert [row[1] for row in rows[1:]] == sorted((row[1] for row in rows[1:]), key=RANKING.split().index)
    assert all(strikes == 2 for _, _, strikes in rows[1:])


def _open(hall: Hall) -> tuple[int, str]:
    newest = hall.get("/rounds")["data"]
    if newest and all(row["strikeCount"] >= 2 for row in hall.standings()[1:]):
        hall.post(f"/rounds/{newest[0]['roundId']}/complete") if newest[0]["status"] == "started" else None
        return hall.refused("POST", "/rounds", {})
    hall.open_round()
    return 0, ""
