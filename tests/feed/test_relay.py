"""From the commit to the socket: in order and without gaps, whichever process committed."""

import asyncio
import json
from typing import Any

import build
from feed.feed_server import next_message, run_scenario
from feed.running_program import announce, running_program
from silverball.store.database.engine import Store
from silverball.store.tournament import announcements

ACKED = "pusher_internal:subscription_succeeded"


def test_a_change_reaches_the_followers_of_the_tournament(store: Store) -> None:
    tournament_id = build.a_tournament(store).tournament_id

    async def scenario() -> None:
        async with running_program(store) as program, program.follower(tournament_id) as client:
            assert (await next_message(client))["event"] == ACKED
            await program.write("PATCH", f"/api/tournaments/{tournament_id}", {"name": "Friday Strikes"})
            message = await next_message(client)
            assert (message["event"], message["channel"], message["seq"]) == (
                "TournamentUpdated",
                f"tournaments.{tournament_id}",
                1,
            )
            assert json.loads(message["data"])["name"] == "Friday Strikes"
            assert program.broadcast.hub.metrics.deliveries_total == 1
            assert 0 < program.broadcast.hub.metrics.delivery_seconds.sum < 5

    run_scenario(scenario())


def test_changes_of_many_writers_come_in_order_and_without_gaps(store: Store) -> None:
    tournament_ids = [build.a_tournament(store).tournament_id for _ in range(3)]

    async def scenario() -> None:
        async with running_program(store) as program:
            clients = [await _listening(program, tournament_id) for tournament_id in tournament_ids]

            def write_all(turn: int) -> None:
                for n in range(20):
                    announce(store, tournament_ids[(turn + n) % 3])

            await asyncio.gather(*(asyncio.to_thread(write_all, turn) for turn in range(4)))
            for tournament_id, (client, close) in zip(tournament_ids, clients, strict=True):
                with store.read() as db:
                    head = announcements.channel_head(db, tournament_id)
                assert head is not None
                numbers = [(await next_message(client))["seq"] for _ in range(head.seq)]
                assert numbers == list(range(1, head.seq + 1))
                await close()

    run_scenario(scenario())


async def _listening(program: Any, tournament_id: int) -> Any:
    context = program.follower(tournament_id)
    client = await context.__aenter__()
    await next_message(client)
    return client, lambda: context.__aexit__(None, None, None)


def test_a_commit_of_another_process_is_noticed(store: Store, database_url: str) -> None:
    tournament_id = build.a_tournament(store).tournament_id
    other = Store(database_url)

    async def scenario() -> None:
        async with running_program(store) as program, program.follower(tournament_id) as client:
            await next_message(client)
            await asyncio.to_thread(announce, other, tournament_id, 3)
            assert [(await next_message(client))["seq"] for _ in range(3)] == [1, 2, 3]

    run_scenario(scenario())
    other.close()


def test_a_resuming_client_gets_missed_events_from_the_database(store: Store) -> None:
    first_epoch = build.public_epoch(store)
    tournament_id = build.a_tournament(store).tournament_id
    announce(store, tournament_id, 7)

    async def scenario() -> None:
        async with (
            running_program(store) as program,
            program.follower(tournament_id, epoch=first_epoch, seq=4) as client,
        ):
            acked = await next_message(client)
            assert json.loads(acked["data"]) == {
                "epoch": first_epoch,
                "seq": 7,
                "recovered": True,
            }
            assert [(await next_message(client))["seq"] for _ in range(3)] == [5, 6, 7]
            await asyncio.to_thread(announce, store, tournament_id)
            assert (await next_message(client))["seq"] == 8

    run_scenario(scenario())


def test_resuming_clients_are_told_of_a_new_epoch_and_get_its_events(store: Store) -> None:
    first_epoch = build.public_epoch(store)
    tournament_id = build.a_tournament(store).tournament_id
    announce(store, tournament_id, 2)

    def begin_anew() -> None:
        with store.write(tournament_id) as transaction:
            announcements.restart_epochs(transaction, [tournament_id])
            announcements.append(transaction, tournament_id, [("TournamentUpdated", "{}")])

    async def scenario() -> None:
        async with (
            running_program(store) as program,
            program.follower(tournament_id, epoch=first_epoch, seq=2) as client,
        ):
            assert json.loads((await next_message(client))["data"])["recovered"] is True
            await asyncio.to_thread(begin_anew)
            anew = await next_message(client)
            assert anew["event"] == ACKED
            assert json.loads(anew["data"])["recovered"] is False
            message = await next_message(client)
            assert (message["seq"], message["epoch"] != first_epoch) == (1, True)

    run_scenario(scenario())


def test_a_deleted_tournament_ends_its_channel(store: Store) -> None:
    tournament_id = build.a_tournament(store, status="planned", players=0, arenas=0).tournament_id

    async def scenario() -> None:
        async with running_program(store) as program, program.follower(tournament_id) as client:
            await next_message(client)
            await program.http.delete(f"/api/tournaments/{tournament_id}")
            message = await next_message(client)
            assert message["event"] == "pusher:subscription_error"
            assert message["data"]["status"] == 404

    run_scenario(scenario())


def test_a_channel_without_a_tournament_is_refused(store: Store) -> None:
    async def scenario() -> None:
        async with running_program(store) as program, program.follower(404) as client:
            message = await next_message(client)
            assert (message["event"], message["data"]["status"]) == ("pusher:subscription_error", 404)

    run_scenario(scenario())


def test_a_failed_relay_starts_again_and_misses_nothing(store: Store) -> None:
    tournament_id = build.a_tournament(store).tournament_id

    async def scenario() -> None:
        async with running_program(store) as program, program.follower(tournament_id) as client:
            await next_message(client)
            task = program.broadcast.relay._task
            assert task is not None
            # Any error would do; here the table of the heads is gone for a moment.
            await asyncio.to_thread(_rename, store, "announcement", "elsewhere")
            await asyncio.sleep(1.2)
            await asyncio.to_thread(_rename, store, "elsewhere", "announcement")
            await asyncio.to_thread(announce, store, tournament_id, 2)
            assert [(await next_message(client))["seq"] for _ in range(2)] == [1, 2]

    run_scenario(scenario())


def _rename(store: Store, old: str, new: str) -> None:
    with store.engine.connect() as db, db.begin():
        db.exec_driver_sql(f"ALTER TABLE {old} RENAME TO {new}")
