"""A limit holds when many writers reach it at once: each kind of row that is counted before it is added."""

from collections.abc import Callable
from random import Random
from threading import Barrier, Thread
from typing import Any

import pytest
from msgspec import Struct
from sqlalchemy import Connection, Table, func, insert, select

import build
from service.desk import Desk, a_desk
from service.devices.device_steps import a_call
from service.devices.device_steps import a_link as a_device_link
from silverball import app
from silverball.kit.errors import Conflict
from silverball.kit.http.api import Api
from silverball.service.accounts.writes import links
from silverball.service.players import writes as players
from silverball.service.submissions import writes as submissions
from silverball.service.users import reads, writes
from silverball.service.webhooks import writes as webhooks
from silverball.settings import Settings
from silverball.store import tables
from silverball.store.database.engine import Store
from silverball.store.people import audit

WRITERS = 8
ROOM = 2
PER_ACCOUNT = 20
SETTINGS = Settings(
    base_url=build.BASE_URL,
    tournaments_per_account=PER_ACCOUNT,
    players_per_account=PER_ACCOUNT,
    webhooks_per_account=PER_ACCOUNT,
    submission_hosts="*",
)


class Kind(Struct, frozen=True):
    """A kind of row: how many there may be, a row that is there already, and how the next is added."""

    table: Table
    limit: int
    row: Callable[[Desk, int], dict[str, Any]]
    add: Callable[[Desk, Api, int], bool]


def post(path: str, body: Callable[[int], Any]) -> Callable[[Desk, Api, int], bool]:
    def add(desk: Desk, api: Api, number: int) -> bool:
        address = path.format(tournament=desk.path, number=number)
        status, answer, _ = build.send(api, "POST", address, body(number), by=desk.callers["owner"])
        assert status in (200, 201, 202, 409), answer
        return status != 409

    return add


def directly(act: Callable[[Connection, Desk, int], object]) -> Callable[[Desk, Api, int], bool]:
    def add(desk: Desk, _api: Api, number: int) -> bool:
        try:
            with desk.store.write() as transaction:
                return act(transaction.connection, desk, number) is not None
        except Conflict:
            return False

    return add


def an_invitation(db: Connection, desk: Desk, number: int) -> object:
    admin = links.AdminAct(user_id=desk.callers["admin"].user_id, source="", now=build.NOW)
    return links.invite(db, "player", admin, Random(number))


def a_mailed_link(db: Connection, _desk: Desk, number: int) -> object:
    return links.make_mailed_recovery(db, "owner@silverball.test", "", build.NOW, Random(number))


def a_link(desk: Desk, number: int) -> dict[str, Any]:
    row = {"hash": f"{number}", "created_at": build.NOW, "expires_at": build.NOW + links.MAILED_LIFETIME}
    return {**row, "created_by": desk.callers["owner"].user_id}


def owned(desk: Desk, number: int) -> dict[str, Any]:
    return {"organizer_id": desk.night.organizer_id, "name": f"{number}"}


def a_claim(desk: Desk, number: int) -> dict[str, Any]:
    owner = desk.callers["other"].user_id
    player_id = build.a_player(desk.store, owner, player_id=1_000 + number)
    return {"player_id": player_id, "user_id": desk.night.organizer_id, "at": build.NOW}


def called(act: Callable[[Desk, int], object]) -> Callable[[Desk, Api, int], bool]:
    def add(desk: Desk, _api: Api, number: int) -> bool:
        try:
            act(desk, number)
        except Conflict:
            return False
        return True

    return add


def a_director_link(desk: Desk, number: int) -> None:
    with a_call(desk) as call:
        writes.create_director_link(call, Random(number))


HOOK = {"url": "https://hooks.example.org/in"}
KINDS = {
    "tokens": Kind(
        tables.token,
        writes.TOKENS_MAX,
        lambda desk, number: {
            "user_id": desk.night.organizer_id,
            "name": "a",
            "hash": f"{number}",
            "abilities": ["read"],
            "created_at": build.NOW,
        },
        post("/api/tokens", lambda _: {"name": "Board"}),
    ),
    "invitations": Kind(
        tables.account_link,
        links.LINKS_MAX,
        lambda desk, number: {**a_link(desk, number), "role": "player"},
        directly(an_invitation),
    ),
    "mailed links": Kind(
        tables.account_link,
        links.MAILED_PER_ACCOUNT_MAX,
        lambda desk, number: {**a_link(desk, number), "user_id": desk.night.organizer_id},
        directly(a_mailed_link),
    ),
    "networks": Kind(
        tables.blocked_network,
        audit.NETWORKS_MAX,
        lambda _, number: {"network": f"{number}", "created_at": build.NOW},
        directly(lambda db, _, number: audit.block(db, f"203.0.113.{number}", now=build.NOW)),
    ),
    "claims": Kind(
        tables.claim,
        players.CLAIMS_MAX,
        a_claim,
        post("/api/players/{number}/claim", lambda _: {}),
    ),
    "submissions": Kind(
        tables.rating_submission,
        submissions.WAITING_MAX,
        lambda desk, number: {
            **build.DEFAULTS["rating_submission"],
            "submitter_id": desk.night.organizer_id,
            "url": f"https://results.example.org/{number}.json",
        },
        post("/api/rating-submissions", lambda number: {"url": f"https://a.example.org/{number}.json"}),
    ),
    "devices": Kind(
        tables.device,
        reads.DEVICES_MAX,
        lambda desk, number: {
            "tournament_id": desk.night.tournament_id,
            "kind": reads.SCOREKEEPER,
            "name": "Bar",
            "hash": f"{number}",
            "created_at": build.NOW,
        },
        called(lambda desk, number: a_device_link(desk, seed=number + 1)),
    ),
    "links of directors": Kind(
        tables.director_link,
        writes.LINKS_MAX,
        lambda desk, number: {
            "tournament_id": desk.night.tournament_id,
            "created_by": desk.night.organizer_id,
            "hash": f"{number}",
            "expires_at": build.NOW + writes.LINK_LIFETIME,
        },
        called(a_director_link),
    ),
    "webhooks of a tournament": Kind(
        tables.webhook,
        webhooks.WEBHOOKS_MAX,
        lambda desk, _: {**build.DEFAULTS["webhook"], "tournament_id": desk.night.tournament_id},
        post("{tournament}/webhooks", lambda _: HOOK),
    ),
    "webhooks of an account": Kind(
        tables.webhook,
        PER_ACCOUNT,
        lambda desk, number: {
            **build.DEFAULTS["webhook"],
            "tournament_id": tournament_of(desk, number // 5 + 2),
        },
        lambda desk, api, number: post(
            f"/api/tournaments/{tournament_of(desk, number)}/webhooks", lambda _: HOOK
        )(desk, api, number),
    ),
    "tournaments": Kind(
        tables.tournament,
        PER_ACCOUNT,
        lambda desk, number: {**build.DEFAULTS["tournament"], **owned(desk, number)},
        post("/api/tournaments", lambda _: {"name": "Night", "type": "matchplay"}),
    ),
    "players": Kind(
        tables.player,
        PER_ACCOUNT,
        lambda desk, number: {**build.DEFAULTS["player"], **owned(desk, number)},
        post("/api/players", lambda number: {"name": f"Player {number}"}),
    ),
}


def tournament_of(desk: Desk, number: int) -> int:
    return desk.night.tournament_id + number


def fill(desk: Desk, kind: Kind) -> None:
    """Add rows until there is room for ROOM more."""
    with desk.store.read() as db:
        there = db.execute(select(func.count()).select_from(kind.table)).scalar_one()
    rows = [kind.row(desk, number) for number in range(kind.limit - ROOM - there)]
    with desk.store.write() as transaction:
        for row in rows if len(rows) < 200 else ():
            transaction.connection.execute(insert(kind.table).values(**row))
        if len(rows) >= 200:
            transaction.connection.execute(insert(kind.table), rows)


@pytest.fixture
def desk(store: Store) -> Desk:
    desk = a_desk(store, players=4)
    with store.write() as transaction:
        own = tables.user.c.user_id == desk.night.organizer_id
        values = {"email": "owner@silverball.test", "password_hash": "x"}
        transaction.connection.execute(tables.user.update().where(own).values(**values))
    return desk


@pytest.mark.both_databases
@pytest.mark.sample(4)
@pytest.mark.parametrize("name", KINDS)
def test_a_limit_holds_when_many_reach_it_at_once(desk: Desk, name: str) -> None:
    kind = KINDS[name]
    if name == "webhooks of an account":
        for _ in range(WRITERS + 2):
            build.a_tournament(desk.store, players=0, arenas=0, organizer_id=desk.night.organizer_id)
    fill(desk, kind)
    if name == "claims":
        for number in range(WRITERS):
            build.a_player(desk.store, desk.callers["other"].user_id, player_id=500 + number)
    api = app.build_api(desk.store, SETTINGS, now=lambda: build.NOW)
    start, outcomes = Barrier(WRITERS), []

    def write(number: int) -> None:
        start.wait()
        outcomes.append(kind.add(desk, api, number + (500 if name == "claims" else 0)))

    threads = [Thread(target=write, args=(number,)) for number in range(WRITERS)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(outcomes) == [False] * (WRITERS - ROOM) + [True] * ROOM
