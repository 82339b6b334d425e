"""Matches of a max match play over HTTP. Source: formats, 14.5."""

import pytest

from service.desk import a_desk
from silverball.store.database.engine import Store


@pytest.mark.parametrize(("allowed", "status"), [(0, 403), (1, 201)])
def test_permission_to_create_matches(store: Store, allowed: int, status: int) -> None:
    desk = a_desk(store, "max_matchplay", maxMatchplayDuration=3, maxMatchplayScorekeeperCreate=allowed)
    assert len(desk.do_and_undo("POST", "/max-matchplay/games")["data"]) == 2
    for who, expected in [("nobody", 401), ("reader", 403), ("player", 403), ("other", 403)]:
        desk.expect_refusal(expected, "POST", "/max-matchplay/games", by=who)
    assert desk.do("POST", "/max-matchplay/games", by="keeper")[0] == status


def test_no_match_starts_without_free_players(store: Store) -> None:
    desk = a_desk(store, "max_matchplay", maxMatchplayDuration=3)
    games = desk.ok("POST", "/max-matchplay/games")["data"]
    desk.expect_refusal(409, "POST", "/max-matchplay/games")
    for game in games:
        result = {"resultPositions": game["playerIds"]}
        desk.do_and_undo("PUT", f"/games/{game['gameId']}/result", result, by="keeper")
        desk.ok("PUT", f"/games/{game['gameId']}/result", result, by="keeper")
    again = desk.ok("POST", "/max-matchplay/games")["data"]
    pairs = {frozenset(game["playerIds"]) for game in (*games, *again)}
    assert len(pairs) == 4
