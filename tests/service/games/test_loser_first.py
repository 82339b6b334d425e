"""The loser of a game starts the next one of the round: over HTTP, undone, and verified."""

import build
from service.desk import Desk, a_desk
from silverball.service.journal.reads import verification
from silverball.store.database.engine import Store


def faults(desk: Desk) -> list[str]:
    """What the verifier finds, with the draws made again."""
    with desk.store.read() as db:
        stored = verification.verify_tournament(db, desk.night.tournament_id)
    with desk.store.read() as db:
        return [*stored.faults, *verification.verify_draws(db, desk.night.tournament_id).faults]


def starter(desk: Desk, game: dict[str, object]) -> int:
    answer = build.ask(desk.store, f"{desk.path}/games/{game['gameId']}", by=desk.callers["owner"])
    first: int = answer[1]["data"]["playerIds"][0]
    return first


def test_who_was_last_starts_the_next_game_until_the_result_is_undone(store: Store) -> None:
    desk = a_desk(store, "group_matchplay", gamesPerRound=3, playerOrder="loser")
    first, second, _third = desk.open_round()
    ann, ben, cleo, dora = first["playerIds"]
    desk.do_and_undo("PUT", f"/games/{first['gameId']}/result", {"resultPositions": [ann, ben, dora, cleo]})
    assert starter(desk, second) == ann
    desk.ok("PUT", f"/games/{first['gameId']}/result", {"resultPositions": [ann, ben, dora, cleo]})
    assert starter(desk, second) == cleo
    assert faults(desk) == []
    # The order can still be changed by hand.
    desk.ok("PATCH", f"/games/{second['gameId']}", {"playerIds": [dora, cleo, ben, ann]})
    assert (starter(desk, second), faults(desk)) == (dora, [])


def test_a_play_order_that_there_is_not_is_refused_by_name(store: Store) -> None:
    desk = a_desk(store, "group_matchplay", starts=False)
    answer = desk.expect_refusal(422, "PATCH", "", {"playerOrder": "winner"})
    assert list(answer["errors"]) == ["playerOrder"]
