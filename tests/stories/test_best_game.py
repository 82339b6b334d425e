"""An open qualifying on two machines, two attempts on each, checked by hand.

A machine gives 100 points to the best score, then 99, 98, 97; equal scores share the better rank.

            machine 1            machine 2            total
    Ann     500,000   1st 100    300,000   3rd  98     198     1
    Bea     400,000   3rd  98    400,000   2nd  99     197     2 (the second attempt on 1; the first: 350,000)
    Cid     500,000   1st 100    100,000   4th  97     197     2 (typed as 50,000 first on machine 1)
    Dot           -         -    600,000   1st 100     100     4

Dot comes late. A score of 900,000 on machine 1, which would take the first rank there, is voided (the machine
was open), and the attempt stays used up. Then Dot goes home; the other score stays.
"""

import pytest

from silverball.store.database.engine import Store
from stories.hall import Hall


def test_each_players_best_score_on_a_machine_is_ranked_and_the_points_add_up(store: Store) -> None:
    hall = Hall(store, "best_game", "Ann Bea Cid", arenas=2, bestGameAttemptsOnArena=2)
    hall.start()
    first_arena, second_arena = hall.arenas
    hall.score("Ann", arenaId=first_arena, score=500_000)
    hall.score("Ann", arenaId=second_arena, score=300_000)
    hall.score("Bea", arenaId=first_arena, score=350_000)
    hall.score("Bea", arenaId=first_arena, score=400_000)
    hall.score("Bea", arenaId=second_arena, score=400_000)
    typed = hall.score("Cid", arenaId=first_arena, score=50_000)
    hall.score("Cid", arenaId=second_arena, score=100_000)
    # Machine 1: Ann, Bea, Cid. Machine 2: Bea, Ann, Cid.
    assert hall.table() == [(1, "Ann", "199.00"), (1, "Bea", "199.00"), (3, "Cid", "196.00")]

    before = hall.standings()
    hall.correct(typed, score=500_000)
    hall.undo()
    assert hall.standings() == before
    hall.correct(typed, score=500_000)

    third = {"playerId": hall.ids["Bea"], "arenaId": first_arena, "score": 900_000}
    assert hall.refused("POST", "/single-player-games", third) == (
        409,
        f"Player 2 has used all 2 attempts on arena {first_arena}. Choose another arena.",
    )

    hall.join("Dot")
    hall.score("Dot", arenaId=second_arena, score=600_000)
    lucky = hall.score("Dot", arenaId=first_arena, score=900_000)
    assert hall.table()[0] == (1, "Dot", "200.00")
    hall.post(f"/single-player-games/{lucky['singlePlayerGameId']}/void")
    hall.leave("Dot")

    hall.complete()
    assert hall.table("points", "pointsList", "gamesPlayed", "entriesPlayed") == [
        (1, "Ann", "198.00", ["100.00", "98.00"], 2, 2),
        (2, "Bea", "197.00", ["99.00", "98.00"], 3, 3),
        (2, "Cid", "197.00", ["100.00", "97.00"], 2, 2),
        (4, "Dot", "100.00", ["100.00"], 1, 2),
    ]


@pytest.mark.both_databases
def test_who_comes_late_has_the_automatic_entries_too(store: Store) -> None:
    limited: dict[str, object] = {
        "limited": True,
        "automaticEntries": 1,
        "price": None,
        "currency": None,
        "bundles": [],
    }
    hall = Hall(store, "best_game", "Ann Bea", arenas=1)
    hall.patch("", {"entryConfiguration": limited})
    hall.start()
    hall.join("Cid")
    (machine,) = hall.arenas
    hall.score("Cid", arenaId=machine, score=1000)
    again = {"playerId": hall.ids["Cid"], "arenaId": machine, "score": 2000}
    status, sentence = hall.refused("POST", "/single-player-games", again)
    assert (status, "used all 1 entries" in sentence) == (409, True)
