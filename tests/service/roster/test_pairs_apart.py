"""Pairs that should not meet: set and read by the organizer alone, drawn, undone and verified."""

from itertools import combinations

import pytest

import build
from service.desk import Desk, a_desk
from silverball.service.journal.reads import verification
from silverball.store.database.engine import Store

PATH = "/pairs-apart"


def meetings(games: list[dict[str, list[int]]]) -> set[tuple[int, int]]:
    """The pairs that meet in these games."""
    return {pair for game in games for pair in combinations(sorted(game["playerIds"]), 2)}


def faults(desk: Desk) -> list[str]:
    with desk.store.read() as db:
        found = list(verification.verify_tournament(db, desk.night.tournament_id).faults)
        return [*found, *verification.verify_draws(db, desk.night.tournament_id).faults]


@pytest.mark.parametrize("kind", ["matchplay", "group_matchplay"])
def test_the_draw_keeps_them_apart_until_it_is_undone(store: Store, kind: str) -> None:
    desk = a_desk(store, kind, players=8, arenas=4, gamesPerRound=1)
    ids = desk.night.player_ids
    apart = [[ids[0], ids[1]], [ids[2], ids[3]]]
    desk.do_and_undo("PUT", PATH, {"pairs": apart})
    shown = desk.ok("PUT", PATH, {"pairs": [apart[1], apart[0][::-1], apart[0]]})["data"]
    assert shown == {"pairs": apart} == desk.ok("GET", PATH)["data"]
    for _ in range(3):
        games = desk.open_round()
        assert meetings(games).isdisjoint(map(tuple, apart))
        for game in games:
            desk.ok("PUT", f"/games/{game['gameId']}/result", {"resultPositions": game["playerIds"]})
    assert faults(desk) == []
    assert desk.ok("PUT", PATH, {"pairs": []})["data"] == {"pairs": []}


def test_nobody_else_reads_who_they_are(store: Store) -> None:
    desk = a_desk(store, players=4)
    ann, ben, *_ = desk.night.player_ids
    desk.ok("PUT", PATH, {"pairs": [[ann, ben]]})
    for who in ("keeper", "player", "reader", "other", "kiosk"):
        assert desk.do("GET", PATH, by=who)[0] == 403
        desk.expect_refusal(403, "PUT", PATH, {"pairs": []}, by=who)
    assert build.ask(store, desk.path + PATH)[0] in (401, 403)
    text = str(desk.ok("GET", "/journal"))
    assert "The pairs that should not meet were changed." in text
    assert "pairs_apart" not in text
    assert "pairsApart" not in str(desk.ok("GET", ""))


@pytest.mark.parametrize("kind", ["round_robin", "bracket", "frenzy", "max_matchplay", "best_game"])
def test_a_format_that_draws_no_rounds_says_so(store: Store, kind: str) -> None:
    desk = a_desk(store, kind, players=4, starts=False)
    ann, ben, *_ = desk.night.player_ids
    answer = desk.expect_refusal(409, "PUT", PATH, {"pairs": [[ann, ben]]})
    assert answer["code"] == "pairs-not-kept-apart"


@pytest.mark.parametrize("pairs", [[[1, 1]], [[1, 999]], [[1, 2]] * 201, [[1]], "all"])
def test_impossible_pairs_are_refused_by_name(store: Store, pairs: object) -> None:
    desk = a_desk(store, players=4)
    answer = desk.expect_refusal(422, "PUT", PATH, {"pairs": pairs})
    assert all(field.startswith("pairs") for field in answer["errors"])
