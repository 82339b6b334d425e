"""A round robin of five, in which each pair plays once, checked by hand.

Four sign up and Eve comes before the first result, so the whole schedule is drawn again for five: five
rounds of two games and a bye. Earlier in the alphabet beats later, but Cid beats Ann (which is first
recorded the other way round). Then Eve goes home and forfeits two open games.

            Ann   Bea   Cid   Dot   Eve   wins   bye    points
    Ann      -     1     0     1     1     3     0.50    3.50    (of three with the same
    Bea      0     -     1     1     1     3     0.50    3.50     points none is ahead:
    Cid      1     0     -     1     1     3     0.50    3.50     they share the first place)
    Dot      0     0     0     -     1     1     0.50    1.50    4
    Eve      0     0     0     0     -     0     0.50    0.50    5
"""

from silverball.store.database.engine import Store
from stories.hall import Hall


def test_everybody_plays_everybody_and_three_who_beat_each_other_share_the_first_place(store: Store) -> None:
    hall = Hall(store, "round_robin", "Ann Bea Cid Dot", seeding="manual", byes="half")
    hall.start()
    # The circle of four: (Dot, Ann) (Bea, Cid), then (Ann, Cid) (Dot, Bea), then (Bea, Ann) (Cid, Dot).
    assert [hall.players_of(game) for game in hall.open_games()] == [
        ["Dot", "Ann"],
        ["Bea", "Cid"],
        ["Ann", "Cid"],
        ["Dot", "Bea"],
        ["Bea", "Ann"],
        ["Cid", "Dot"],
    ]

    hall.join("Eve")
    assert [hall.players_of(game) for game in hall.open_games()] == [
        ["Ann", "Dot"],
        ["Bea", "Cid"],
        ["Eve", "Cid"],
        ["Ann", "Bea"],
        ["Dot", "Bea"],
        ["Eve", "Ann"],
        ["Cid", "Ann"],
        ["Dot", "Eve"],
        ["Bea", "Eve"],
        ["Cid", "Dot"],
    ]

    ann_cid = hall.game_of("Ann", "Cid")
    hall.finish(ann_cid, "Ann", "Cid")
    assert hall.refused("POST", "/players", {"name": "Fay"}) == (
        409,
        "Player 6 comes too late: results exist, so the schedule stands.",
    )

    before = hall.standings()
    hall.finish(ann_cid, "Cid", "Ann")
    hall.undo()
    assert hall.standings() == before
    hall.finish(ann_cid, "Cid", "Ann")

    for pair in ("Ann Bea", "Ann Dot", "Ann Eve", "Bea Cid", "Bea Dot", "Cid Dot", "Cid Eve"):
        hall.finish(hall.game_of(*pair.split()), *pair.split())
    hall.post(f"/players/{hall.ids['Eve']}/forfeit")
    assert hall.open_games() == []
    assert all(round_["status"] == "completed" for round_ in hall.get("/rounds")["data"])

    hall.complete()
    assert hall.table("points", "gamesPlayed", "tiebreakers") == [
        (1, "Ann", "3.50", 4, ["3.50"]),
        (1, "Bea", "3.50", 4, ["3.50"]),
        (1, "Cid", "3.50", 4, ["3.50"]),
        (4, "Dot", "1.50", 4, ["1.50"]),
        (5, "Eve", "0.50", 4, ["0.50"]),
    ]
