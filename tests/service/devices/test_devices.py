"""Links for scorekeepers' devices, which work without an account in one tournament."""

from collections.abc import Callable
from random import Random

import pytest
from sqlalchemy import select

import build
from service.desk import Desk, a_desk
from service.devices.device_steps import (
    a_call,
    a_device,
    a_link,
    codes,
    complete_tournament,
    find_device,
    positions,
    set_status,
)
from silverball.kit.errors import Conflict, NotAllowed, NotFound
from silverball.service.journal.reads import verification
from silverball.service.users import reads as users_reads
from silverball.service.users import writes as users_writes
from silverball.service.users.writes import SecretLink
from silverball.store import tables
from silverball.store.database.engine import Store

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
    assert secret not in repr(SecretLink(secret))


@pytest.mark.parametrize("guess", ["", "guess", "x" * 40, "\x00", "é" * 500])
def test_a_guessed_secret_finds_no_device(store: Store, guess: str) -> None:
    desk = a_desk(store)
    a_link(desk)
    assert find_device(store, guess) is None
    with store.read() as db:
        assert users_reads.find_code(db, desk.night.tournament_id, guess, player_id=1) is None


@pytest.mark.parametrize("who", ["keeper", "player", "reader", "other", "kiosk"])
def test_only_the_organizer_creates_and_revokes(store: Store, who: str) -> None:
    desk = a_desk(store)
    device = a_device(desk)
    with pytest.raises(NotAllowed), a_call(desk, who, users_writes.NewDevice(name="Mine")) as call:
        users_writes.create_device_link(call, Random(3))
    with pytest.raises(NotAllowed), a_call(desk, who) as call:
        users_writes.replace_codes(call, Random(3))
    with pytest.raises(NotAllowed), a_call(desk, who, device_id=device.device_id) as call:
        users_writes.revoke_device(call)


def test_a_device_cannot_create_devices(store: Store) -> None:
    desk = a_desk(store)
    a_device(desk)
    with pytest.raises(NotAllowed), a_call(desk, "device", users_writes.NewDevice(name="Mine")) as call:
        users_writes.create_device_link(call, Random(3))


@pytest.mark.both_databases
def test_a_revoked_link_is_known_as_revoked_and_revoking_again_finds_nothing(store: Store) -> None:
    desk = a_desk(store)
    secret = a_link(desk)
    known = find_device(store, secret)
    assert known is not None
    with a_call(desk, device_id=known.device.device_id) as call:
        users_writes.revoke_device(call)
    after = find_device(store, secret)
    assert after is not None
    assert (after.is_revoked, after.is_usable) == (True, False)
    with store.read() as db:
        assert users_reads.active_devices(db, desk.night.tournament_id) == []
    with pytest.raises(NotFound), a_call(desk, device_id=known.device.device_id) as call:
        users_writes.revoke_device(call)


def test_a_device_of_another_tournament_cannot_be_revoked_from_this_one(store: Store) -> None:
    here, there = a_desk(store), a_desk(store)
    device = a_device(there)
    with pytest.raises(NotFound), a_call(here, device_id=device.device_id) as call:
        users_writes.revoke_device(call)


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


def test_a_link_works_where_scorekeepers_with_an_account_are_off(store: Store) -> None:
    desk = a_desk(store, scorekeeping="disabled")
    known = find_device(store, a_link(desk))
    assert known is not None
    assert known.is_usable


def test_the_number_of_devices_is_limited(store: Store) -> None:
    desk = a_desk(store)
    for n in range(users_reads.DEVICES_MAX):
        a_link(desk, f"Tablet {n}", seed=n)
    with pytest.raises(Conflict, match="Revoke those"):
        a_link(desk, "One more", seed=10_000)


@pytest.mark.both_databases
def test_the_last_use_is_stored_to_the_minute(store: Store) -> None:
    desk = a_desk(store)
    device = a_device(desk)
    for seconds in (0, 59, 60):
        with store.write() as transaction:
            users_writes.record_device_use(
                transaction.connection,
                device.device_id,
                build.NOW.replace(minute=seconds // 60, second=seconds % 60),
            )
    with store.read() as db:
        (item,) = users_reads.active_devices(db, desk.night.tournament_id)
    assert item.last_used_at == build.NOW.replace(minute=1, second=0)


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
        assert list(verification.verify_tournament(db, desk.night.tournament_id).faults) == []
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
        users_writes.revoke_device(call)
    assert desk.ok("GET", "/journal")["data"][0]["actorName"] == "device: Tablet at the bar"


@pytest.mark.both_databases
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


def disable_scorekeepers(desk: Desk) -> None:
    desk.ok("PATCH", "", {"scorekeeping": "disabled"})


@pytest.mark.parametrize(
    ("become", "records"),
    [
        (keep_device, 200),
        (use_device_of_another_tournament, 403),
        (complete_tournament, 403),
        (disable_scorekeepers, 200),
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
