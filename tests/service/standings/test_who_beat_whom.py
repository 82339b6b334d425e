"""Who beat whom decides between equals: over HTTP, undone, and verified."""

from service.desk import a_desk
from silverball.service.journal.reads import verification
from silverball.store.database.engine import Store


def test_the_winner_of_the_game_between_equals_is_first_until_it_is_undone(store: Store) -> None:
    desk = a_desk(store, "manual_matchplay", players=4, tiebreaker="head_to_head")
    ann, ben, cleo, dora = desk.night.player_ids

    def play(winner: int, loser: int) -> None:
        game = desk.ok("POST", "/games", {"playerIds": [loser, winner]})["data"]
        desk.do_and_undo("PUT", f"/games/{game['gameId']}/result", {"resultPositions": [winner, loser]})
        desk.ok("PUT", f"/games/{game['gameId']}/result", {"resultPositions": [winner, loser]})

    def places() -> list[tuple[int, int, list[object]]]:
        rows = desk.ok("GET", "/standings")
        return [(row["playerId"], row["position"], row["tiebreakers"]) for row in rows]

    play(ben, ann)
    play(ann, cleo)
    play(dora, ben)
    # By hand: 1 + 7 points for one, 7 + 1 for two, who won the game between them.
    assert places() == [
        (ben, 1, ["8.00", 1]),
        (ann, 2, ["8.00", 0]),
        (dora, 3, ["7.00", 0]),
        (cleo, 4, ["1.00", 0]),
    ]
    with store.read() as db:
        assert list(verification.verify_tournament(db, desk.night.tournament_id).faults) == []


def test_a_format_in_which_nobody_meets_refuses_it(store: Store) -> None:
    desk = a_desk(store, "golf", starts=False)
    answer = desk.expect_refusal(422, "PATCH", "", {"tiebreaker": "head_to_head"})
    assert list(answer["errors"]) == ["tiebreaker"]
