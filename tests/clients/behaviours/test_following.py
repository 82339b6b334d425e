"""How clients follow what happens: sockets, names of events, follow-ups, polling."""

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import pytest
from websockets.asyncio.client import ClientConnection, connect

from clients.behaviours.site import Site
from silverball.feed import messages

SECONDS_MAX = 60
PREFIX = "App\\Events\\"


@asynccontextmanager
async def socket(site: Site, key: str = "silverball") -> AsyncIterator[ClientConnection]:
    """A socket after its greeting."""
    address = f"{site.ws_url}/app/{key}?protocol=7&client=js&version=8.4.0&flash=false"
    async with connect(address, proxy=None, max_size=None) as client:
        greeting = json.loads(await client.recv())
        assert greeting["event"] == "pusher:connection_established"
        assert json.loads(greeting["data"])["activity_timeout"] > 0
        yield client


async def subscribe(client: ClientConnection, *tournament_ids: int) -> None:
    for tournament_id in tournament_ids:
        data = {"channel": f"tournaments.{tournament_id}"}
        await client.send(json.dumps({"event": "pusher:subscribe", "data": data}))
    for _ in tournament_ids:
        assert (await next_message(client))["event"] == "pusher_internal:subscription_succeeded"


async def next_message(client: ClientConnection) -> Any:
    return json.loads(await asyncio.wait_for(client.recv(), SECONDS_MAX))


async def rename(site: Site, tournament_id: int, name: str) -> None:
    """Change a tournament, so that it has something to announce."""
    path = f"/api/tournaments/{tournament_id}"
    answer = await asyncio.to_thread(site.http.patch, path, json={"name": name})
    assert answer.status_code == 200


def test_a_raw_client_compares_the_text_of_a_pong(site: Site) -> None:
    # Observed: a C# client compares whole texts. Source: feed.md, decision 2.
    async def run() -> None:
        async with socket(site) as client:
            await client.send('{"event":"pusher:ping","data":{}}')
            assert await asyncio.wait_for(client.recv(), SECONDS_MAX) == '{"event":"pusher:pong","data":"{}"}'

    asyncio.run(run())


def test_the_ping_of_the_server_is_the_text_that_raw_clients_compare() -> None:
    # Observed: a C# client answers exactly this text, and no other spelling. Source: feed.md, decision 2.
    assert messages.PING == b'{"event":"pusher:ping"}'


def test_a_league_page_follows_fifty_tournaments_on_one_socket(site: Site) -> None:
    # Observed: a league page opens one socket for all nights of a season.
    followed = site.listed_ids[:50]

    async def run() -> None:
        async with socket(site) as client:
            await subscribe(client, *followed)
            for tournament_id in (followed[0], followed[49]):
                await rename(site, tournament_id, f"Renamed {tournament_id}")
                message = await next_message(client)
                assert (message["event"], message["channel"]) == (
                    "TournamentUpdated",
                    f"tournaments.{tournament_id}",
                )
                assert json.loads(message["data"])["name"] == f"Renamed {tournament_id}"

    asyncio.run(run())


@pytest.mark.parametrize(("key", "prefix"), [("silverball", ""), ("silverball-laravel", PREFIX)])
def test_a_client_maps_events_by_the_last_part_of_their_names(site: Site, key: str, prefix: str) -> None:
    # Observed: clients split the name at backslashes, or bind "App\Events\..." whole. Source: feed.md, 1.
    tournament_id = site.listed_ids[5]

    async def run() -> None:
        async with socket(site, key) as client:
            await subscribe(client, tournament_id)
            await rename(site, tournament_id, f"For {key}")
            message = await next_message(client)
            assert message["event"] == f"{prefix}TournamentUpdated"
            assert message["event"].split("\\")[-1] == "TournamentUpdated"
            assert isinstance(message["data"], str)

    asyncio.run(run())


def test_a_client_resolves_the_ids_of_an_event_without_models(site: Site) -> None:
    # Observed: PlayersAdded carries ids only; clients ask resolve-unknown, 25 at a time. Source: feed.md 3.0.
    tournament_id = site.listed_ids[6]
    names = [f"Newcomer {number}" for number in range(30)]

    async def run() -> list[int]:
        async with socket(site) as client:
            await subscribe(client, tournament_id)
            body = {"players": [{"name": name} for name in names]}
            path = f"/api/tournaments/{tournament_id}/players"
            assert (await asyncio.to_thread(site.http.post, path, json=body)).status_code == 201
            message = await next_message(client)
            assert message["event"] == "PlayersAdded"
            player_ids: list[int] = json.loads(message["data"])["playerIds"]
            return player_ids

    player_ids = asyncio.run(run())
    resolved = []
    for at in range(0, len(player_ids), 25):
        chunk = ",".join(str(player_id) for player_id in player_ids[at : at + 25])
        resolved += site.data(f"/api/tournaments/{tournament_id}/players/resolve-unknown?players={chunk}")
    assert sorted(player["name"] for player in resolved) == sorted(names)


def test_ids_that_do_not_exist_are_left_out_of_what_is_resolved(site: Site) -> None:
    # Source: interface.md 2, row 7.
    player_id = site.data(site.path("live", "?includePlayers=1"))["players"][0]["playerId"]
    path = site.path("live", f"/players/resolve-unknown?players={player_id},99999999")
    assert [player["playerId"] for player in site.data(path)] == [player_id]


def test_a_client_reads_the_games_of_the_round_that_an_event_names(site: Site) -> None:
    # Observed: after RoundCreatedOrUpdated clients ask /games with `tournaments` and `round`, by pages.
    round_id = site.data(site.path("live", "/rounds"))[0]["roundId"]
    tournament_id = site.tournament_ids["live"]
    body = site.get(f"/api/games?tournaments={tournament_id}&round={round_id}").json()
    assert {game["roundId"] for game in body["data"]} == {round_id}
    assert body["links"]["next"] is None
    assert site.get("/api/games").status_code == 422


def test_a_wall_polls_running_standings_with_its_etag(new_site: Site) -> None:
    # Observed: a wall display polls every few seconds. Source: interface.md 2, rows 12 to 14.
    own = {"User-Agent": "wall"}
    path = new_site.path("bracket", "/standings")
    first = new_site.get(path, headers=own)
    assert first.status_code == 200
    for _ in range(3):
        again = new_site.get(path, headers={**own, "If-None-Match": first.headers["etag"]})
        assert (again.status_code, again.content) == (304, b"")
    hasty = new_site.get(path, headers=own)
    assert (hasty.status_code, hasty.content) == (200, first.content)
    assert 0 <= int(hasty.headers["age"]) < 15


def test_two_tools_on_one_token_poll_standings_without_hindering_each_other(new_site: Site) -> None:
    # Observed: a club's overlay and its bot share a token. Source: interface.md 2, row 13.
    path = new_site.path("best_game", "/standings")
    answers = [new_site.get(path, headers={"User-Agent": tool}) for tool in ("overlay", "bot", "overlay")]
    assert [answer.status_code for answer in answers] == [200, 200, 200]
    assert ["age" in answer.headers for answer in answers] == [False, False, True]


def test_a_page_of_another_origin_reads_answers_and_refusals(site: Site) -> None:
    # Observed: overlays are static pages on other hosts. Source: interface.md 2, row 15.
    origin = {"Origin": "https://overlay.example.org"}
    for path in (site.path("knockout"), "/api/tournaments/99999999", "/api/search"):
        answer = site.get(path, headers=origin)
        assert answer.headers["access-control-allow-origin"] == "*"
        exposed = answer.headers["access-control-expose-headers"].lower()
        assert {"etag", "retry-after", "x-ignored-parameters"} <= {
            name.strip() for name in exposed.split(",")
        }
