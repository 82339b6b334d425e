"""The whole program with its computing process: real processes over a real database."""

import asyncio
import http.client
import json
import os
import shutil
import signal
import threading
import time
from datetime import UTC, datetime, timedelta
from pathlib import Path
from random import Random
from typing import Any

import pytest
from sqlalchemy import select
from sqlalchemy.exc import SQLAlchemyError

import asgi
import build
from patience import PATIENCE_SECONDS
from servers import Servers
from service.desk import a_desk
from silverball.kit.edge.front import FrontDoor
from silverball.service.accounts.writes import sessions as account_sessions
from silverball.store import tables
from silverball.store.database.engine import DatabaseIsReadOnly, Store
from test_app import a_token, front_door, running_app

EVENING = {"players": 24, "machines": 12, "types": ["matchplay", "knockout"]}

__all__ = ["front_door"]


async def ask_for_plan(door: FrontDoor, token: str, **sent: Any) -> asgi.Reply:
    body = json.dumps({**EVENING, **sent}).encode()
    headers = {"content-type": "application/json", "content-length": str(len(body))}
    return await asgi.send(door, "/api/plan", method="POST", token=token, body=body, headers=headers)


def test_a_plan_is_the_same_from_the_computing_process(store: Store, front_door: FrontDoor) -> None:
    user_id = build.a_user(store)
    reply = asyncio.run(ask_for_plan(front_door, a_token(store, user_id)))
    assert reply.status == 200, reply.body
    _, here, _ = build.do(store, "POST", "/api/plan", EVENING, by=user_id)
    assert reply.json == here
    refused = asyncio.run(ask_for_plan(front_door, a_token(store, user_id, seed=8), players=501))
    assert (refused.status, list(refused.json["errors"])) == (422, ["players"])


def post_plan(port: int, token: str, statuses: list[int]) -> None:
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=PATIENCE_SECONDS)
    headers = {"authorization": f"Bearer {token}", "content-type": "application/json"}
    connection.request("POST", "/api/plan", json.dumps({"players": 500, "machines": 500}), headers)
    statuses.append(connection.getresponse().status)
    connection.close()


def children_of(process_id: int) -> list[int]:
    tasks = Path(f"/proc/{process_id}/task").glob("*/children")
    return [int(child) for task in tasks for child in task.read_text().split()]


def test_a_server_stops_while_plans_are_computed(tmp_path: Path, empty_sqlite: Path) -> None:
    path = tmp_path / "silverball.db"
    shutil.copy(empty_sqlite, path)
    url = f"sqlite:///{path}"
    store = Store(url)
    callers = [a_token(store, build.a_user(store), seed) for seed in range(4)]
    store.close()
    servers = Servers.without_limits(url)
    try:
        servers.start()
        statuses: list[int] = []
        asking = [
            threading.Thread(target=post_plan, args=(servers.port, token, statuses)) for token in callers
        ]
        for thread in asking:
            thread.start()
        while len(computing := children_of(servers.process_id)) < 2:
            time.sleep(0.01)
        servers.stop_and_wait(PATIENCE_SECONDS)
        for thread in asking:
            thread.join()
        # Those that were computed or waited are told to ask again; who was quick enough has the answer.
        assert set(statuses) <= {200, 503}
        assert 503 in statuses
        assert not any(Path(f"/proc/{child}").exists() for child in computing)
    finally:
        servers.close()


async def post(door: FrontDoor, path: str, token: str, sent: Any, **headers: str) -> asgi.Reply:
    body = json.dumps(sent).encode()
    described = {"content-type": "application/json", "content-length": str(len(body)), **headers}
    return await asgi.send(door, path, method="POST", token=token, body=body, headers=described)


def test_a_dry_run_is_drawn_elsewhere_and_the_look_is_counted(store: Store, front_door: FrontDoor) -> None:
    night = a_desk(store, players=8, arenas=4).night
    token = a_token(store, night.organizer_id, ability="manage")
    path = f"/api/tournaments/{night.tournament_id}/rounds"

    async def ask() -> list[asgi.Reply]:
        # One account has two of them computed, one after the other.
        looks = [await post(front_door, path, token, {"dryRun": True}) for _ in range(2)]
        stale = await post(front_door, path, token, {"dryRun": True}, **{"if-match": '"99"'})
        stranger = a_token(store, build.a_user(store, role="organizer"), seed=8, ability="manage")
        refused = await post(front_door, path, stranger, {"dryRun": True})
        opened = await post(front_door, path, token, {"dryRun": False})
        return [*looks, stale, refused, opened]

    *looks, stale, refused, opened = asyncio.run(ask())
    assert [reply.status for reply in (*looks, stale, refused, opened)] == [201, 201, 412, 403, 201]
    players = [[game["playerIds"] for game in reply.json["games"]] for reply in (*looks, opened)]
    assert players[0] == players[1] == players[2]
    assert int(opened.headers["x-tournament-revision"]) == int(looks[0].headers["x-tournament-revision"]) + 1
    explained = asyncio.run(
        asgi.send(front_door, f"/api/tournaments/{night.tournament_id}/draws", token=token)
    )
    assert [round_["dryRuns"] for round_ in explained.json["data"]["rounds"]] == [2]


def signed_in(store: Store, user_id: int) -> dict[str, str]:
    """The header of a browser in which this account has signed in."""
    with store.write() as transaction:
        started = account_sessions.start_session(
            transaction.connection,
            user_id,
            now=datetime.now(UTC),
            lifetime=timedelta(days=1),
            dice=Random(7),
        )
    return {"cookie": f"silverball_session={started.secret}"}


def test_a_page_of_an_account_is_made_elsewhere_and_its_download_is_counted(
    store: Store, front_door: FrontDoor
) -> None:
    user_id = build.a_user(store)
    browser = signed_in(store, user_id)

    async def ask() -> list[asgi.Reply]:
        return [
            await asgi.send(front_door, "/account/data.zip"),
            await asgi.send(front_door, "/account/data.zip", headers=browser),
        ]

    stranger, own = asyncio.run(ask())
    assert (stranger.status, stranger.headers["location"].partition("?")[0]) == (303, "/account/sign-in")
    assert (own.status, own.body[:2], own.headers["cache-control"]) == (200, b"PK", "no-store")
    with store.read() as db:
        entries = db.execute(select(tables.audit_entry.c.event, tables.audit_entry.c.user_id)).all()
    assert ("data-exported", user_id) in entries


def test_a_sheet_is_the_same_for_everybody_and_kept_until_something_changes(
    store: Store, front_door: FrontDoor
) -> None:
    night = a_desk(store, players=3).night
    path = f"/t/{night.tournament_id}/print/names"
    browser = signed_in(store, night.organizer_id)

    async def ask() -> list[asgi.Reply]:
        first = await asgi.send(front_door, path)
        processes = front_door.computing_process_ids
        for process_id in processes:
            os.kill(process_id, signal.SIGKILL)
        kept = await asgi.send(front_door, path, headers=browser)
        known = await asgi.send(front_door, path, headers={"if-none-match": first.headers["etag"]})
        build.do(
            store, "PATCH", f"/api/players/{night.player_ids[0]}", {"name": "Ada Ramp"}, by=night.organizer_id
        )
        changed = await asgi.send(front_door, path)
        if changed.status == 503:
            # The question that found the process dead.
            changed = await asgi.send(front_door, path)
        return [first, kept, known, changed]

    first, kept, known, changed = asyncio.run(ask())
    assert (first.status, kept.status, known.status, changed.status) == (200, 200, 304, 200)
    assert kept.body == first.body
    assert b"set-cookie" not in str(first.headers).encode()
    assert (b"Ada Ramp" in first.body, b"Ada Ramp" in changed.body) == (False, True)


def test_the_computing_process_writes_nothing(store: Store) -> None:
    reading = Store(store.url.render_as_string(hide_password=False), is_read_only=True)
    with pytest.raises(DatabaseIsReadOnly), reading.write():
        pytest.fail("a transaction was opened")
    with pytest.raises(SQLAlchemyError), reading.read() as db:
        db.execute(tables.site_value.insert().values(name="x", value="y"))
    reading.close()


def test_nights_that_a_plan_asks_for_are_simulated_and_shown_by_a_later_one(store: Store) -> None:
    token = a_token(store, build.a_user(store))

    async def ask_until_simulated(door: FrontDoor) -> list[str]:
        sources: list[str] = []
        while not sources or "computing" in sources[-1]:
            reply = await ask_for_plan(door, token, players=8, types=["knockout"])
            options = reply.json["data"]["options"]
            sources.append(" ".join(option["worth"]["source"] for option in options))
        return sources

    with running_app(store, rate_limit_per_minute=0) as door:
        first, *_, last = asyncio.run(ask_until_simulated(door))
    assert (set(first.split()), set(last.split())) == ({"computing"}, {"simulation"})
