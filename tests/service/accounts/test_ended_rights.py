"""What somebody handed out dies with their right to hand it out, and does not come back with it.

A table: who gave, what they gave, how their right ended, and how it came back.
"""

from collections.abc import Callable
from datetime import timedelta
from random import Random
from typing import Any

import pytest
from msgspec import Struct
from sqlalchemy import select, update

import build
from service.desk import Desk, a_desk
from service.devices.device_steps import a_call, a_link, codes
from silverball.service.accounts import erasing
from silverball.service.accounts import reads as accounts_reads
from silverball.service.accounts.writes import accounts, links, sessions
from silverball.service.money import reads as money_reads
from silverball.service.users import reads, writes
from silverball.store import tables
from silverball.store.database.engine import Store
from silverball.store.tables import user
from silverball.store.tournament import snapshot
from trials.figures import count_attempts

NOW = build.NOW


class World(Struct):
    """A desk with a director and a second administrator."""

    desk: Desk
    admin: int
    director: int
    chief: int

    @property
    def store(self) -> Store:
        return self.desk.store

    def act(self, user_id: int) -> links.AdminAct:
        return links.AdminAct(user_id=user_id, source="203.0.113.7", now=NOW)


@pytest.fixture
def world(store: Store) -> World:
    desk = a_desk(store, suggestions="restricted")
    sign_in = {"password_hash": "x"}
    admin = build.a_user(store, name="Ada", role="admin", email="ada@silverball.test", **sign_in)
    chief = build.a_user(store, name="Chief", role="admin", email="chief@silverball.test", **sign_in)
    director = build.a_user(store, name="Di", role="organizer", email="di@silverball.test", **sign_in)
    desk.callers["director"] = build.caller(director, role="organizer", ability="manage")
    desk.callers["ada"] = build.caller(admin, role="admin", ability="admin")
    desk.ok("PUT", f"/directors/{director}")
    return World(desk, admin, director, chief)


# Things: each is made, and returns whether it works.

Works = Callable[[], bool]


def a_session(world: World, giver: str) -> Works:
    user_id = world.desk.callers[giver].user_id
    with world.store.write() as transaction:
        secret = sessions.start_session(
            transaction.connection, user_id, now=NOW, lifetime=timedelta(days=1), dice=Random(1)
        ).secret

    def works() -> bool:
        with world.store.read() as db:
            found = accounts_reads.find_signed_in_user(db, secret, NOW, timedelta(days=1))
        # The role of now: a lower one that came later shows nothing of the higher.
        return found is not None

    return works


def a_token(world: World, giver: str) -> Works:
    caller = world.desk.callers[giver]
    with world.store.write() as transaction:
        made = writes.create_token(
            transaction.connection, caller.user_id, "a", abilities=[caller.ability], now=NOW, dice=Random(2)
        )

    def works() -> bool:
        with world.store.read() as db:
            found = reads.find_caller(db, f"Bearer {made.text}".encode(), NOW)
        return found is not None and found.may(caller.ability)

    return works


def an_invitation(world: World, giver: str) -> Works:
    with world.store.write() as transaction:
        act = world.act(world.desk.callers[giver].user_id)
        made = links.invite(transaction.connection, "admin", act, Random(3))
    return lambda: opens(world, made.secret)


def a_recovery(world: World, giver: str) -> Works:
    with world.store.write() as transaction:
        act = world.act(world.desk.callers[giver].user_id)
        made = links.make_recovery(transaction.connection, world.chief, act, Random(4))
    return lambda: opens(world, made.secret)


def opens(world: World, secret: str) -> bool:
    with world.store.read() as db:
        return accounts_reads.find_link(db, secret, NOW) is not None


def a_director_link(world: World, giver: str) -> Works:
    with a_call(world.desk, giver) as call:
        secret = writes.create_director_link(call, Random(5)).secret

    def works() -> bool:
        with world.store.read() as db:
            is_shown = reads.find_link(db, secret, NOW) is not None
        try:
            with a_call(world.desk, "other", writes.AcceptedLink(link=secret)) as call:
                writes.accept_link(call)
                # Not used up: it is tried again later.
                raise Undone
        except Undone:
            return is_shown
        except writes.DirectorLinkUsedUp:
            assert not is_shown
            return False

    return works


class Undone(Exception):
    pass


def a_device(world: World, giver: str) -> Works:
    with a_call(world.desk, giver, writes.NewDevice(name="Bar")) as call:
        secret = writes.create_device_link(call, Random(6)).secret

    def works() -> bool:
        with world.store.read() as db:
            known = reads.find_device(db, secret)
        return known is not None and known.is_usable

    return works


def a_reply(world: World, giver: str) -> Works:
    body = {"name": "Renamed"}
    world.desk.ok("PATCH", "", body, by=giver, key="key")

    def works() -> bool:
        with world.store.read() as db:
            row = db.execute(
                select(user.c.role, user.c.suspended_at).where(
                    user.c.user_id == world.desk.callers[giver].user_id
                )
            ).one()
        if row.suspended_at is not None or row.role == "player":
            # Their tokens are refused before.
            return False
        role = row.role
        ability = {"organizer": "manage", "admin": "admin"}[role]
        by = build.caller(world.desk.callers[giver].user_id, role=role, ability=ability)
        status, answer, headers = build.do(world.store, "PATCH", world.desk.path, body, by=by, key="key")
        assert status in (200, 403), answer
        assert status == 403 or headers["idempotency-replayed"] == "true"
        return status == 200

    return works


# How a right ends, and comes back.

End = Callable[[World, str], None]


def suspended(world: World, giver: str) -> None:
    with world.store.write() as transaction:
        accounts.suspend(transaction, world.desk.callers[giver].user_id, now=NOW, by_user_id=world.chief)


def demoted(world: World, giver: str) -> None:
    with world.store.write() as transaction:
        user_id = world.desk.callers[giver].user_id
        links.change_role(transaction, user_id, "player", world.act(world.chief))


def erased(world: World, giver: str) -> None:
    erasing.erase_account(world.store, world.desk.callers[giver].user_id, NOW)


def taken_out(world: World, giver: str) -> None:
    world.desk.ok("DELETE", f"/directors/{world.desk.callers[giver].user_id}")


def resigned(world: World, giver: str) -> None:
    world.desk.ok("DELETE", f"/directors/{world.desk.callers[giver].user_id}", by=giver)


def restore(world: World, giver: str, role: str) -> None:
    """Give everything back: suspension, role, place among the directors."""
    user_id = world.desk.callers[giver].user_id
    with world.store.write() as transaction:
        accounts.unsuspend(transaction, user_id, now=NOW, by_user_id=world.chief)
        links.change_role(transaction, user_id, role, world.act(world.chief))
    if giver == "director":
        world.desk.ok("PUT", f"/directors/{user_id}")


ROLES = {"ada": "admin", "owner": "organizer", "director": "organizer"}
ACCOUNT_ENDS = (suspended, demoted, erased)
DIRECTOR_ENDS = (suspended, demoted, erased, taken_out, resigned)
SIGN_INS = (a_session, a_token)
LINKS = (an_invitation, a_recovery, a_director_link, a_device)
TABLE = [
    *((giver, gift, end) for giver in ("ada", "director") for gift in SIGN_INS for end in ACCOUNT_ENDS),
    *(("owner", gift, end) for gift in (*SIGN_INS, a_director_link) for end in (suspended, demoted)),
    *(("ada", gift, end) for gift in LINKS for end in ACCOUNT_ENDS),
    *(("director", a_device, end) for end in DIRECTOR_ENDS),
]


def row_name(value: Any) -> str:
    return value if isinstance(value, str) else value.__name__


@pytest.mark.both_databases
@pytest.mark.sample(8)
@pytest.mark.parametrize(("giver", "hand_out", "end"), TABLE, ids=row_name)
def test_what_was_handed_out_dies_with_the_right_for_good(
    world: World, giver: str, hand_out: Callable[[World, str], Works], end: End
) -> None:
    works = hand_out(world, giver)
    assert works()
    end(world, giver)
    assert not works()
    if end is not erased:
        restore(world, giver, ROLES[giver])
        assert not works()
    count_attempts("things handed out by somebody whose right ended", 1)


@pytest.mark.parametrize("end", [suspended, demoted, taken_out, resigned])
def test_a_former_director_gets_no_stored_reply(world: World, end: End) -> None:
    works = a_reply(world, "director")
    assert works()
    end(world, "director")
    assert not works()


def test_a_completed_tournament_still_replays_to_those_who_have_a_part_in_it(world: World) -> None:
    desk = world.desk
    game = desk.open_round()[0]
    result, path = {"resultPositions": game["playerIds"]}, f"/games/{game['gameId']}/result"
    desk.ok("PUT", path, result, by="keeper", key="k")
    desk.ok("POST", "/complete", {"openRound": "drop"})
    assert desk.do("PUT", path, result, by="keeper", key="k")[0] == 200
    desk.ok("POST", "/reopen")
    desk.ok("DELETE", f"/scorekeepers/{desk.callers['keeper'].user_id}")
    status, answer = desk.do("PUT", path, result, by="keeper", key="k")
    assert (status, answer["code"]) == (403, "not-allowed")


@pytest.mark.both_databases
def test_the_organizer_keeps_devices_of_a_director_under_their_own_name(world: World) -> None:
    desk = world.desk
    kept, ended = (
        device_of(world, name, seed) for name, seed in (("Tablet at the bar", 11), ("Phone of Di", 12))
    )
    with world.store.read() as db:
        made = reads.devices_by_giver(db, desk.night.tournament_id)
    assert [device.name for device in made[world.director]] == ["Tablet at the bar", "Phone of Di"]
    body = writes.KeptDevices(device_ids=(made[world.director][0].device_id,))
    with a_call(desk, "owner", body, user_id=world.director) as call:
        writes.remove_director_and_keep(call)
    assert (kept(), ended()) == (True, False)
    # It is the organizer's now, whatever becomes of the director.
    demoted(world, "director")
    assert kept()
    with world.store.read() as db:
        assert reads.devices_by_giver(db, desk.night.tournament_id) == {}


def device_of(world: World, name: str, seed: int) -> Works:
    with a_call(world.desk, "director", writes.NewDevice(name=name)) as call:
        secret = writes.create_device_link(call, Random(seed)).secret

    def works() -> bool:
        with world.store.read() as db:
            known = reads.find_device(db, secret)
        return known is not None and known.is_usable

    return works


def test_a_device_whose_giver_is_unknown_counts_as_the_organizers(world: World) -> None:
    secret = a_link(world.desk)
    with world.store.write() as transaction:
        transaction.connection.execute(update(tables.device).values(created_by=None))
    for end in (demoted, taken_out):
        if end is taken_out:
            restore(world, "director", "organizer")
        end(world, "director")
    with world.store.read() as db:
        known = reads.find_device(db, secret)
    assert known is not None
    assert known.is_usable


def test_codes_of_door_and_players_belong_to_the_tournament(world: World) -> None:
    desk = world.desk
    player_id = desk.night.player_ids[0]
    status, answer, _ = build.do(
        world.store,
        "POST",
        "/api/tournaments",
        {"name": "Night", "type": "matchplay"},
        by=desk.night.organizer_id,
    )
    assert status == 201
    tournament_id = answer["data"]["tournamentId"]
    made = codes(desk)

    def door() -> tuple[str, str]:
        with world.store.read() as db:
            tournament = snapshot.load(db, tournament_id)
            return (
                money_reads.sign_up_code(db, tournament),
                money_reads.personal_code(db, tournament, player_id),
            )

    before = door()
    with world.store.write() as transaction:
        engine = {"dice_seed": "another seed"}
        own = tables.tournament.c.tournament_id == tournament_id
        transaction.connection.execute(tables.tournament.update().where(own).values(engine=engine))
    assert door() == before
    # Whoever made them may go.
    demoted(world, "director")
    with world.store.read() as db:
        known = reads.find_code(
            db, desk.night.tournament_id, made.player_code(player_id), player_id=player_id
        )
    assert known is not None
    assert known.is_usable


def test_a_reopened_tournament_of_an_older_version_gets_a_code_that_stays(
    world: World,
) -> None:
    desk = world.desk

    def code() -> str:
        with world.store.read() as db:
            return money_reads.sign_up_code(db, snapshot.load(db, desk.night.tournament_id))

    old = code()
    for _ in range(2):
        desk.ok("POST", "/complete")
        desk.ok("POST", "/reopen")
        old, older = code(), old
    assert older == old
