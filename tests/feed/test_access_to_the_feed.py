"""Who may follow a tournament: everybody, over the socket, a stream and a poll.

The rest of the table is in tests/service/test_access_of_everybody.py.
"""

from datetime import UTC, datetime
from random import Random

import pytest
from websockets.asyncio.client import connect

import build
from feed.feed_server import next_message, run_scenario, subscribe
from feed.running_program import RunningProgram, running_program
from service.access_world import STATES, ended_tokens
from service.route_permissions import LIVE
from silverball.service.users import writes as users_writes
from silverball.store.database.engine import Store

# Role and ability of accounts that have nothing to do with the tournaments.
ACCOUNTS = (("player", "read"), ("player", "score"), ("organizer", "manage"), ("admin", "admin"))


def current_tokens(store: Store) -> dict[str, str]:
    """A token of each ability."""
    texts = {}
    for role, ability in ACCOUNTS:
        user_id = build.a_user(store, name=f"Ada {ability}", role=role)
        with store.write() as transaction:
            texts[ability] = users_writes.create_token(
                transaction.connection,
                user_id,
                ability,
                abilities=[ability],
                now=datetime.now(UTC),
                dice=Random(ability),
            ).text
    return texts


async def status_of(program: RunningProgram, path: str, token: str | None) -> int:
    headers = {"authorization": "" if token is None else f"Bearer {token}"}
    async with program.http.stream("GET", path, headers=headers) as answer:
        return answer.status_code


async def is_followed(program: RunningProgram, tournament_id: int, token: str | None) -> bool:
    headers = None if token is None else {"Authorization": f"Bearer {token}"}
    url = f"ws://127.0.0.1:{program.port}/app/silverball?protocol=7&client=js&version=8.5.0"
    async with connect(url, additional_headers=headers, proxy=None) as client:
        await next_message(client)
        await subscribe(client, tournament_id)
        answer = await next_message(client)
        return bool(answer["event"] == "pusher_internal:subscription_succeeded")


@pytest.mark.parametrize("database_url", ["sqlite"], indirect=True)
def test_everybody_may_follow_every_tournament_with_any_token_or_none(
    store: Store,
) -> None:
    nights = {state: build.a_tournament(store, status=state).tournament_id for state in STATES}
    current: dict[str, str | None] = {"nobody": None, **current_tokens(store)}
    ended: dict[str, str | None] = {**ended_tokens(store)}
    statuses, followed = {}, {}

    async def scenario() -> None:
        async with running_program(store) as program:
            for state, tournament_id in nights.items():
                for name, token in (current | ended).items():
                    for path in LIVE:
                        concrete = path.format(tournament_id=tournament_id)
                        statuses[name, state, path] = await status_of(program, concrete, token)
                    followed[name, state] = await is_followed(program, tournament_id, token)

    run_scenario(scenario())
    # All that is announced is public, so no token is read here; one that ends meanwhile ends what it opened.
    assert statuses == dict.fromkeys(statuses, 200)
    assert followed == dict.fromkeys(followed, True)
