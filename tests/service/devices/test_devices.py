"""Devices without an account: links for scorekeepers and codes for players, in one tournament only."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from random import Random
from typing import Any

import pytest
from sqlalchemy import select, update

import build
from service.nightly import Desk, a_desk
from silverball.kit.errors import Conflict, NotAllowed, NotFound
from silverball.kit.http.body import Body
from silverball.kit.http.endpoints import AnyWrite
from silverball.kit.http.query import Query
from silverball.service import access
from silverball.service.access import AuthenticatedCaller, Device
from silverball.service.accounts.writes import accounts
from silverball.service.calls import Write
from silverball.service.devices import reads, writes
from silverball.service.devices.reads import KnownDevice
from silverball.service.verify import reads as verifier
from silverball.settings import Settings
from silverball.store import tables
from silverball.store.engine import Store


@contextmanager
def a_call(desk: Desk, by: str = "owner", body: Body | None = None, **ids: int) -> Iterator[Write[Any]]:
    """A write of one of the desk's callers, committed at the end of the block."""
    with desk.store.write() as transaction:
        yield AnyWrite(
            ids={"tournament_id": desk.night.tournament_id, **ids},
            words={},
            query=Query(),
            pairs=[],
            path="/",
            base_url=build.BASE_URL,
            caller=desk.callers[by],
            read=desk.store.read,
            source="203.0.113.7",
            now=build.NOW,
            settings=Settings(),
            body=body or Body(),
            db=transaction.connection,
            transaction=transaction,
        )


def a_link(desk: Desk, name: str = "Tablet at the bar", seed: int = 1) -> str:
    with a_call(desk, body=writes.NewDevice(name=name)) as call:
        return writes.create_link(call, Random(seed)).secret


def find_device(store: Store, secret: str) -> KnownDevice | None:
    with store.read() as db:
        return reads.find_device(db, secret)


def a_device(desk: Desk, name: str = "Tablet at the bar", seed: int = 1) -> Device:
    """Create a scorekeeper's device and make it the desk's caller `device`."""
    known = find_device(desk.store, a_link(desk, name, seed))
    assert known is not None
    desk.callers["device"] = access.device_caller(known.device)
    return known.device


def codes(desk: Desk, seed: int = 2) -> reads.PrintedCodes:
    """New codes of the tournament."""
    with a_call(desk) as call:
        writes.replace_codes(call, Random(seed))
    with desk.store.read() as db:
        made = reads.current_codes(db, desk.night.tournament_id)
    assert made is not None
    return made


def a_code(desk: Desk, **whose: int) -> AuthenticatedCaller:
    """The caller with the code of this player or game."""
    made = codes(desk)
    device = Device(
        device_id=made.device_id,
        tournament_id=desk.night.tournament_id,
        organizer_id=desk.night.organizer_id,
        **whose,
    )
    return access.device_caller(device)


def positions(game: dict[str, Any], *, flip: bool = False) -> dict[str, Any]:
    return {"resultPositions": game["playerIds"][::-1] if flip else game["playerIds"]}


def set_status(desk: Desk, status: str) -> None:
    desk.ok("POST", "/complete" if status == "completed" else "/reopen")


# Links


def test_a_link_is_found_by_its_secret_and_its_secret_is_stored_nowhere(store: Store) -> None:
    desk = a_desk(store)
    secret = a_link(desk)
    known = find_device(store, secret)
    assert known is not None
    assert (len(secret), known.name, known.is_usable) == (40, "Tablet at the bar", True)
    assert known.device.tournament_id == desk.night.tournament_id
    with store.read() as db:
        for table in tables.metadata.sorted_tables:
            assert secret not in str(db.execute(select(table)).all())
    assert secret not in repr(writes.DeviceLink(secret))


@pytest.mark.parametrize("guess", ["", "guess", "x" * 40, "\x00", "é" * 500])
def test_a_guessed_secret_finds_no_device(store: Store, guess: str) -> None:
    desk = a_desk(store)
    a_link(desk)
    assert find_device(store, guess) is None
    with store.read() as db:
        assert reads.find_code(db, desk.night.tournament_id, guess, player_id=1) is None


@pytest.mark.parametrize("who", ["keeper", "player", "reader", "other", "kiosk"])
def test_only_the_organizer_creates_and_revokes(store: Store, who: str) -> None:
    desk = a_desk(store)
    device = a_device(desk)
    with pytest.raises(NotAllowed), a_call(desk, who, writes.NewDevice(name="Mine")) as call:
        writes.create_link(call, Random(3))
    with pytest.raises(NotAllowed), a_call(desk, who) as call:
        writes.replace_codes(call, Random(3))
    with pytest.raises(NotAllowed), a_call(desk, who, device_id=device.device_id) as call:
        writes.revoke_device(call)


def test_a_device_cannot_create_devices(store: Store) -> None:
    desk = a_desk(store)
    a_device(desk)
    with pytest.raises(NotAllowed), a_call(desk, "device", writes.NewDevice(name="Mine")) as call:
        writes.create_link(call, Random(3))


def test_a_revoked_link_is_known_as_revoked_and_revoking_again_finds_nothing(store: Store) -> None:
    desk = a_desk(store)
    secret = a_link(desk)
    known = find_device(store, secret)
    assert known is not None
    with a_call(desk, device_id=known.device.device_id) as call:
        writes.revoke_device(call)
    after = find_device(store, secret)
    assert after is not None
    assert (after.is_revoked, after.is_usable) == (True, False)
    with store.read() as db:
        assert reads.active_devices(db, desk.night.tournament_id) == []
    with pytest.raises(NotFound), a_call(desk, device_id=known.device.device_id) as call:
        writes.revoke_device(call)


def test_a_device_of_another_tournament_cannot_be_revoked_from_this_one(store: Store) -> None:
    here, there = a_desk(store), a_desk(store)
    device = a_device(there)
    with pytest.raises(NotFound), a_call(here, device_id=device.device_id) as call:
        writes.revoke_device(call)


def test_a_link_does_not_work_while_the_tournament_is_completed(store: Store) -> None:
    desk = a_desk(store)
    secret = a_link(desk)
    set_status(desk, "completed")
    over = find_device(store, secret)
    assert over is not None
    assert (over.is_over, over.is_usable) == (True, False)
    with pytest.raises(Conflict, match="Reopen it"):
        a_link(desk, seed=4)
    set_status(desk, "started")
    again = find_device(store, secret)
    assert again is not None
    assert again.is_usable


def test_where_scorekeepers_are_off_a_link_does_not_work(store: Store) -> None:
    desk = a_desk(store, scorekeeping="disabled")
    known = find_device(store, a_link(desk))
    assert known is not None
    assert not known.is_usable


def test_the_number_of_devices_is_limited(store: Store) -> None:
    desk = a_desk(store)
    for n in range(reads.DEVICES_MAX):
        a_link(desk, f"Tablet {n}", seed=n)
    with pytest.raises(Conflict, match="Revoke those"):
        a_link(desk, "One more", seed=10_000)


def test_the_last_use_is_stored_to_the_minute(store: Store) -> None:
    desk = a_desk(store)
    device = a_device(desk)
    for seconds in (0, 59, 60):
        with store.write() as transaction:
            writes.record_use(
                transaction.connection,
                device.device_id,
                build.NOW.replace(minute=seconds // 60, second=seconds % 60),
            )
    with store.read() as db:
        (device,) = reads.active_devices(db, desk.night.tournament_id)
    assert device.last_used_at == build.NOW.replace(minute=1, second=0)


def test_links_and_codes_are_not_journalled_and_do_not_block_undo(store: Store) -> None:
    desk = a_desk(store)
    desk.open_round()
    before = desk.ok("GET", "/journal")["data"]
    a_device(desk)
    codes(desk)
    assert desk.ok("GET", "/journal")["data"] == before
    desk.undo()


# What a scorekeeper's device may do


def test_a_device_records_results_and_the_journal_says_which(store: Store) -> None:
    desk = a_desk(store)
    a_device(desk)
    game, _ = desk.open_round()
    path = f"/games/{game['gameId']}/result"
    done = desk.do_and_undo("PUT", path, positions(game), by="device")["data"]
    assert (done["status"], done["scorekeeperId"]) == ("completed", None)
    desk.ok("PUT", path, positions(game), by="device")
    newest = desk.ok("GET", "/journal")["data"][0]
    assert (newest["actorId"], newest["actorName"]) == (None, "device: Tablet at the bar")
    assert newest["source"] == "203.0.113.7"
    with store.read() as db:
        assert list(verifier.verify_tournament(db, desk.night.tournament_id).faults) == []
    # Only the organizer replaces a result; the refusal names who recorded it.
    for who in ("device", "keeper"):
        message = desk.expect_refusal(409, "PUT", path, positions(game, flip=True), by=who)["message"]
        assert "device: Tablet at the bar entered" in message
    assert (
        "by device: Tablet at the bar" in desk.expect_refusal(409, "POST", "/undo", {"action": 99})["message"]
    )


def test_a_device_keeps_its_name_in_the_journal_after_it_was_revoked(store: Store) -> None:
    desk = a_desk(store)
    device = a_device(desk)
    game, _ = desk.open_round()
    desk.ok("PUT", f"/games/{game['gameId']}/result", positions(game), by="device")
    with a_call(desk, device_id=device.device_id) as call:
        writes.revoke_device(call)
    assert desk.ok("GET", "/journal")["data"][0]["actorName"] == "device: Tablet at the bar"


def test_a_device_approves_suggestions_of_players(store: Store) -> None:
    desk = a_desk(store, suggestions="restricted")
    a_device(desk)
    game = next(
        open_game for open_game in desk.open_round() if desk.night.player_ids[0] in open_game["playerIds"]
    )
    suggested = desk.ok("POST", f"/games/{game['gameId']}/suggestions", positions(game), by="player")["data"]
    approve = f"/suggestions/{suggested['suggestions'][0]['suggestionId']}/approve"
    assert desk.ok("POST", approve, by="device")["data"]["status"] == "completed"


# Caller -> the statuses of recording a result, of an organizer's action, of suggesting a result.
def keep_device(_desk: Desk) -> None:
    """The device as created."""


def use_device_of_another_tournament(desk: Desk) -> None:
    other = a_desk(desk.store)
    a_device(other, seed=8)
    desk.callers["device"] = other.callers["device"]


def complete_tournament(desk: Desk) -> None:
    """A completed tournament; games without a result would be removed."""
    for game in desk.ok("GET", "/games?status=started")["data"]:
        desk.ok("PUT", f"/games/{game['gameId']}/result", positions(game))
    set_status(desk, "completed")


def disable_scorekeepers(desk: Desk) -> None:
    desk.ok("PATCH", "", {"scorekeeping": "disabled"})


@pytest.mark.parametrize(
    ("become", "records"),
    [
        (keep_device, 200),
        (use_device_of_another_tournament, 403),
        (complete_tournament, 403),
        (disable_scorekeepers, 403),
    ],
)
def test_what_a_device_may_do(store: Store, become: Callable[[Desk], None], records: int) -> None:
    desk = a_desk(store, suggestions="restricted")
    a_device(desk)
    game, _ = desk.open_round()
    become(desk)
    path = f"/games/{game['gameId']}"
    for verb, managed in (
        ("POST", "/undo"),
        ("POST", "/complete"),
        ("POST", "/rounds"),
        ("PATCH", ""),
        ("DELETE", ""),
        ("DELETE", f"{path}/result"),
    ):
        desk.expect_refusal(403, verb, managed, {}, by="device")
    desk.expect_refusal(403, "GET", "/journal", by="device")
    desk.expect_refusal(403, "POST", f"{path}/suggestions", positions(game), by="device")
    assert desk.do("PUT", f"{path}/result", positions(game), by="device")[0] == records


def test_a_repeated_key_of_a_device_acts_once(store: Store) -> None:
    desk = a_desk(store)
    a_device(desk)
    game, _ = desk.open_round()
    path = f"/games/{game['gameId']}/result"
    first = desk.ok("PUT", path, positions(game), by="device", key="k-1")
    before = desk.stored_state()
    assert desk.ok("PUT", path, positions(game), by="device", key="k-1") == first
    assert desk.stored_state() == before


# Codes of players and of games


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
        known = reads.find_code(db, night, old.player_code(player_id), player_id=player_id)
        assert known is not None
        assert (known.device.player_id, known.is_usable) == (player_id, True)
        for wrong in (
            old.player_code(player_id + 1),
            old.game_code(player_id),
            foreign_codes.player_code(player_id),
        ):
            assert reads.find_code(db, night, wrong, player_id=player_id) is None
    new = codes(desk, 7)
    with store.read() as db:
        replaced = reads.find_code(db, night, old.player_code(player_id), player_id=player_id)
        assert replaced is not None
        assert replaced.is_revoked
        assert reads.find_code(db, night, new.game_code(3), game_id=3) is not None
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
    assert desk.ok("GET", "/journal")["data"][0]["actorName"] == "code of Ada Quill"
