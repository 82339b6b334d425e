"""Printed codes of players and games, which suggest results without an account."""

import pytest
from sqlalchemy import update

import build
from service.desk import a_desk
from service.devices.device_steps import a_code, codes, complete_tournament, positions
from silverball.service.accounts.writes import accounts
from silverball.service.users import reads as users_reads
from silverball.store import tables
from silverball.store.database.engine import Store


@pytest.mark.parametrize("kind", ["player", "game"])
def test_a_code_reports_for_its_player_or_its_game_only(store: Store, kind: str) -> None:
    desk = a_desk(store, suggestions="restricted")
    mine, others = desk.open_round()
    whose = {"player_id": mine["playerIds"][1]} if kind == "player" else {"game_id": mine["gameId"]}
    desk.callers["code"] = a_code(desk, **whose)
    path = "/games/{}/suggestions"
    answer = desk.do_and_undo("POST", path.format(mine["gameId"]), positions(mine), by="code")["data"]
    (suggestion,) = answer["suggestions"]
    assert (suggestion["playerId"], suggestion["userId"]) == (whose.get("player_id"), None)
    desk.expect_refusal(403, "POST", path.format(others["gameId"]), positions(others), by="code")
    # All other actions of players and scorekeepers are refused.
    for game in (mine, others):
        desk.expect_refusal(403, "PUT", f"/games/{game['gameId']}/result", positions(game), by="code")
        desk.expect_refusal(
            403, "PATCH", f"/games/{game['gameId']}", {"playerIds": game["playerIds"]}, by="code"
        )
    desk.ok("POST", path.format(mine["gameId"]), positions(mine), by="code")
    suggestion_id = desk.ok("GET", f"/games/{mine['gameId']}")["data"]["suggestions"][0]["suggestionId"]
    desk.expect_refusal(403, "POST", f"/suggestions/{suggestion_id}/approve", by="code")
    desk.expect_refusal(403, "DELETE", f"/suggestions/{suggestion_id}", by="code")
    newest = desk.ok("GET", "/journal")["data"][0]
    name = f"code of Player {desk.night.player_ids.index(mine['playerIds'][1]) + 1}"
    assert (newest["actorId"], newest["actorName"]) == (None, name if kind == "player" else "code of a game")


@pytest.mark.parametrize(("way", "status"), [("restricted", "started"), ("automatic", "completed")])
def test_the_setting_decides_what_a_report_is_worth(store: Store, way: str, status: str) -> None:
    desk = a_desk(store, suggestions=way)
    game, _ = desk.open_round()
    desk.callers["code"] = a_code(desk, player_id=game["playerIds"][0])
    done = desk.ok("POST", f"/games/{game['gameId']}/suggestions", positions(game), by="code")["data"]
    assert done["status"] == status


def test_where_suggestions_are_off_a_code_reports_nothing(store: Store) -> None:
    desk = a_desk(store, suggestions="disabled")
    game, _ = desk.open_round()
    desk.callers["code"] = a_code(desk, player_id=game["playerIds"][0])
    path = f"/games/{game['gameId']}/suggestions"
    assert (
        "takes no suggested results"
        in desk.expect_refusal(409, "POST", path, positions(game), by="code")["message"]
    )


def test_a_code_reports_nothing_elsewhere_and_nothing_after_the_end(store: Store) -> None:
    desk, elsewhere = a_desk(store, suggestions="restricted"), a_desk(store, suggestions="restricted")
    game, _ = desk.open_round()
    path = f"/games/{game['gameId']}/suggestions"
    desk.callers["foreign"] = a_code(elsewhere, player_id=game["playerIds"][0])
    desk.expect_refusal(403, "POST", path, positions(game), by="foreign")
    desk.callers["code"] = a_code(desk, player_id=game["playerIds"][0])
    complete_tournament(desk)
    desk.expect_refusal(403, "POST", path, positions(game), by="code")


def test_each_code_belongs_to_one_player_or_game_and_new_codes_replace_all(store: Store) -> None:
    desk, elsewhere = a_desk(store), a_desk(store)
    old, foreign_codes = codes(desk, 5), codes(elsewhere, 6)
    night, player_id = desk.night.tournament_id, desk.night.player_ids[0]
    with store.read() as db:
        known = users_reads.find_code(db, night, old.player_code(player_id), player_id=player_id)
        assert known is not None
        assert (known.device.player_id, known.is_usable) == (player_id, True)
        for wrong in (
            old.player_code(player_id + 1),
            old.game_code(player_id),
            foreign_codes.player_code(player_id),
        ):
            assert users_reads.find_code(db, night, wrong, player_id=player_id) is None
    new = codes(desk, 7)
    with store.read() as db:
        replaced = users_reads.find_code(db, night, old.player_code(player_id), player_id=player_id)
        assert replaced is not None
        assert replaced.is_revoked
        assert users_reads.find_code(db, night, new.game_code(3), game_id=3) is not None
    assert new.secret not in repr(new)


def test_a_deleted_account_leaves_no_address_where_its_code_was_used(store: Store) -> None:
    desk = a_desk(store, suggestions="restricted")
    game = next(
        open_game for open_game in desk.open_round() if desk.night.player_ids[0] in open_game["playerIds"]
    )
    for player_id in game["playerIds"]:
        desk.callers["code"] = a_code(desk, player_id=player_id)
        desk.ok("POST", f"/games/{game['gameId']}/suggestions", positions(game), by="code")
    with store.write() as transaction:
        accounts.erase_account(transaction, desk.callers["player"].user_id)
    sources = {action["actorName"]: action["source"] for action in desk.ok("GET", "/journal")["data"][:2]}
    assert sorted(sources.values()) == ["", "203.0.113.7"]
    assert sources[f"code of Player {desk.night.player_ids[0]}"] == ""


@pytest.mark.both_databases
def test_merged_players_keep_the_actions_of_their_code(store: Store) -> None:
    desk = a_desk(store, suggestions="restricted")
    game, _ = desk.open_round()
    wrong_id = game["playerIds"][0]
    with store.write() as transaction:
        unclaimed = tables.player.c.player_id == wrong_id
        transaction.connection.execute(update(tables.player).where(unclaimed).values(claimed_by=None))
    desk.callers["code"] = a_code(desk, player_id=wrong_id)
    desk.ok("POST", f"/games/{game['gameId']}/suggestions", positions(game), by="code")
    right_id = build.a_player(store, desk.night.organizer_id, name="Ada Quill")
    status, answer, _ = build.do(
        store,
        "POST",
        f"/api/players/{wrong_id}/merge",
        {"playerId": right_id},
        by=desk.callers["owner"],
    )
    assert status == 200, answer
    # The merge is a line of its own, which the organizer wrote.
    merge, report, *_ = desk.ok("GET", "/journal")["data"]
    assert merge["actorName"] == "Olga Ramp"
    assert report["actorName"] == "code of Ada Quill"
