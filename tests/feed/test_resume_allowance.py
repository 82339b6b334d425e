"""Resumes over sockets count against the allowance of the address, as reading the events over HTTP does."""

import json

import httpx2

import build
from feed.feed_server import next_message, run_scenario
from feed.running_program import RunningProgram, announce, running_program
from silverball.store.database.engine import Store

LIMIT = 3


async def _is_recovered(program: RunningProgram, tournament_id: int, epoch: str, seq: int) -> bool:
    async with program.follower(tournament_id, epoch=epoch, seq=seq) as client:
        confirmation = json.loads((await next_message(client))["data"])
    assert confirmation["seq"] == 5
    return bool(confirmation["recovered"])


def test_a_resume_that_looks_for_events_counts_and_one_that_missed_nothing_is_free(store: Store) -> None:
    tournament_id = build.a_tournament(store).tournament_id

    async def scenario() -> None:
        async with running_program(store, rate_limit_per_minute=LIMIT) as program:
            announce(store, tournament_id, 5)
            path = f"http://127.0.0.1:{program.port}/api/tournaments/{tournament_id}/events"
            async with httpx2.AsyncClient(trust_env=False) as visitor:
                first = await visitor.get(path)
                epoch = first.json()["epoch"]
                assert first.headers["x-ratelimit-remaining"] == str(LIMIT - 1)
                for _ in range(LIMIT + 2):
                    assert await _is_recovered(program, tournament_id, epoch, 5)
                for _ in range(LIMIT - 1):
                    assert await _is_recovered(program, tournament_id, epoch, 2)
                assert not await _is_recovered(program, tournament_id, epoch, 2)
                assert (await visitor.get(path)).status_code == 429
            assert await _is_recovered(program, tournament_id, epoch, 5)

    run_scenario(scenario())
