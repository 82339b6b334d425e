"""An open qualifying on cards of two games, two cards a player at most, checked by hand.

The games of all completed cards are ranked on each machine: 100, 99, 98, 97.

                   machine 1            machine 2            card
    Ann, card 1    500,000   1st 100    300,000   2nd  99     199     1
    Bea, card 1    400,000   2nd  99    200,000   3rd  98     197     (200,000 is first typed as 20,000)
    Bea, card 2    300,000   3rd  98    400,000   1st 100     198     2, the better card
    Cid, card 1    200,000   4th  97    100,000   4th  97     194     3
    Dot, card 1    900,000   voided with its card               0     4

Dot comes late and abandons a card, which never counts.
"""

from silverball.store.database.engine import Store
from stories.hall import Hall


def test_games_on_completed_cards_are_ranked_and_a_players_best_card_counts(store: Store) -> None:
    settings = {"cardBestGameGamesPerCard": 2, "bestGameOverallAttempts": 2}
    hall = Hall(store, "card_best_game", "Ann Bea Cid", arenas=3, **settings)
    hall.start()
    first_arena, second_arena, third_arena = hall.arenas
    hall.score("Ann", arenaId=first_arena, score=500_000)
    assert hall.table() == [(1, "Ann", "0.00"), (1, "Bea", "0.00"), (1, "Cid", "0.00")]
    again = {"playerId": hall.ids["Ann"], "arenaId": first_arena, "score": 600_000}
    assert hall.refused("POST", "/single-player-games", again) == (
        409,
        f"Arena {first_arena} is on card 1 already. Choose another arena.",
    )
    hall.score("Ann", arenaId=second_arena, score=300_000)
    hall.score("Bea", arenaId=first_arena, score=400_000)
    typed = hall.score("Bea", arenaId=second_arena, score=20_000)
    hall.score("Cid", arenaId=first_arena, score=200_000)
    hall.score("Cid", arenaId=second_arena, score=100_000)
    # Machine 1: Ann, Bea, Cid. Machine 2: Ann, Cid, Bea.
    assert hall.table() == [(1, "Ann", "200.00"), (2, "Bea", "197.00"), (2, "Cid", "197.00")]

    before = hall.standings()
    hall.correct(typed, score=200_000)
    hall.undo()
    assert hall.standings() == before
    hall.correct(typed, score=200_000)
    assert hall.table() == [(1, "Ann", "200.00"), (2, "Bea", "198.00"), (3, "Cid", "196.00")]

    hall.score("Bea", arenaId=first_arena, score=300_000)
    hall.score("Bea", arenaId=second_arena, score=400_000)
    more = {"playerId": hall.ids["Bea"], "arenaId": third_arena, "score": 1}
    assert hall.refused("POST", "/single-player-games", more) == (
        409,
        "Player 2 has used all 2 cards a player may have in this tournament.",
    )

    hall.join("Dot")
    card_id = hall.score("Dot", arenaId=first_arena, score=900_000)["cardId"]
    hall.post(f"/cards/{card_id}/void")
    hall.leave("Dot")

    hall.complete()
    assert hall.table("points", "cardsCounted", "gamesPlayed", "entriesPlayed") == [
        (1, "Ann", "199.00", [{"cardId": 1, "points": 199, "count": 2}], 2, 1),
        (2, "Bea", "198.00", [{"cardId": 4, "points": 198, "count": 2}], 4, 2),
        (3, "Cid", "194.00", [{"cardId": 3, "points": 194, "count": 2}], 2, 1),
        (4, "Dot", "0.00", [], 0, 1),
    ]
