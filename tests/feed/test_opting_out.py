"""A user opts out while a tournament is followed: earlier events about them are withdrawn everywhere."""

import asyncio
import json
from typing import Any

import pytest

import build
from feed.feed_server import next_message, run_scenario
from feed.running_program import running_program, wait_until
from feed.test_replay import EventBlocks
from silverball.store import tables
from silverball.store.database.engine import Store
from silverball.store.tournament import announcements

ACKED = "pusher_internal:subscription_succeeded"
CANARY = "canary-pronouns"


def _organizer_of(store: Store, night: build.Night) -> None:
    with store.write() as transaction:
        own = tables.user.c.user_id == night.organizer_id
        transaction.connection.execute(
            tables.user.update().where(own).values(pronouns=CANARY, ratings_opt_out=False)
        )


def _hide(store: Store, user_id: int) -> None:
    by = build.caller(user_id, role="organizer", ability="manage")
    body = {"profileOptOut": True}
    assert build.do(store, "PATCH", "/api/users/profile", body, by=by)[0] == 200


@pytest.mark.both_databases
def test_earlier_events_are_gone_and_all_clients_read_again(store: Store) -> None:
    first_epoch = build.public_epoch(store)
    night = build.a_tournament(store)
    tournament_id = night.tournament_id
    _organizer_of(store, night)
    path = f"/api/tournaments/{tournament_id}"

    async def scenario() -> None:
        async with running_program(store) as program, EventBlocks(program, tournament_id) as blocks:
            await program.write("PATCH", path, {"name": "Before"})
            assert [(await blocks.next())["id"] for _ in range(2)] == [
                f"{first_epoch}:0",
                f"{first_epoch}:1",
            ]
            page = (await program.http.get(f"{path}/events", params={"after": 0})).text
            assert CANARY in page
            params: Any = {"after": 1, "epoch": first_epoch, "wait": 25}
            waiting = asyncio.ensure_future(program.http.get(f"{path}/events", params=params))
            async with (
                program.follower(tournament_id, epoch=first_epoch, seq=1) as counting,
                program.follower(tournament_id) as plain,
            ):
                assert json.loads((await next_message(counting))["data"])["recovered"] is True
                assert (await next_message(plain))["data"] == "{}"
                await wait_until(lambda: program.broadcast.relay.waiting_count == 2)
                await asyncio.to_thread(_hide, store, night.organizer_id)
                # The long-poll, the stream and the resuming socket are each told to start anew.
                gone = await waiting
                assert (gone.status_code, "Read the tournament again." in gone.text) == (410, True)
                reset = await blocks.next()
                anew = await next_message(counting)
                where = json.loads(anew["data"])
                assert (anew["event"], where["recovered"], reset["event"]) == (ACKED, False, "reset")
                epoch = json.loads(reset["data"])["epoch"]
                assert epoch == where["epoch"] != first_epoch
                # A client that does not resume gets the present state of the tournament only.
                for client in (counting, plain):
                    now = await next_message(client)
                    assert (now["event"], now["seq"], now["epoch"]) == ("TournamentUpdated", 1, epoch)
                    assert CANARY not in now["data"]
            await _assert_nothing_of_before(program, tournament_id, epoch)

    run_scenario(scenario())


async def _assert_nothing_of_before(program: Any, tournament_id: int, epoch: str) -> None:
    async with program.follower(tournament_id, epoch=build.public_epoch(program.store), seq=0) as late:
        where = json.loads((await next_message(late))["data"])
        assert (where["recovered"], where["epoch"]) == (False, epoch)
    page = await program.http.get(f"/api/tournaments/{tournament_id}/events", params={"after": 0})
    assert (page.status_code, page.json()["epoch"], CANARY in page.text) == (200, epoch, False)
    last = {"Last-Event-ID": f"{build.public_epoch(program.store)}:1"}
    stream = await program.http.get(f"/api/tournaments/{tournament_id}/stream", headers=last)
    assert stream.status_code == 410


def test_a_completed_tournament_drops_its_events_too(store: Store) -> None:
    night = build.a_tournament(store, status="completed")
    _organizer_of(store, night)
    with store.write(night.tournament_id) as transaction:
        announcements.append(transaction, night.tournament_id, [("TournamentUpdated", json.dumps(CANARY))])
    _hide(store, night.organizer_id)
    with store.read() as db:
        head = announcements.channel_head(db, night.tournament_id)
        rows = db.execute(tables.announcement.select()).all()
    assert head is not None
    assert (head.epoch != "k3f9", head.seq, rows) == (True, 0, [])
