"""The socket as clients see it: on the real server class, over real connections."""

import asyncio
import gc
import json

import pytest
from websockets.exceptions import ConnectionClosed, InvalidStatus
from websockets.http11 import Request

from feed.feed_server import (
    FeedServer,
    ManualClock,
    next_message,
    read_close,
    run_scenario,
    running_feed,
    subscribe,
    wait_until,
)
from feed.raw_connection import RawConnection
from silverball.feed import feed
from silverball.feed.feed import ConnectionLimits, HandshakeRules
from silverball.kit.edge.blocked_networks import BlockedNetworks
from silverball.kit.edge.proxies import TrustedProxies

# The library ends them with an empty fragment.
PIECES = ['{"event', '":"p', "ush", "er", ":p", "ing", '"}']


async def _close_code(server: FeedServer, path: str, **options: object) -> int:
    """The code that a client gets inside the socket, both in a text and in the close."""
    async with server.client(path, **options) as client:
        first = await next_message(client)
        assert first["event"] == "pusher:error"
        assert isinstance(first["data"]["message"], str)
        code, reason = await read_close(client)
        assert (code, reason) == (first["data"]["code"], first["data"]["message"])
        assert code is not None
        return code


def test_a_client_connects_subscribes_and_gets_events() -> None:
    async def scenario() -> None:
        async with running_feed(42) as server, server.client() as client:
            first = await client.recv()
            data = json.loads(json.loads(first)["data"])
            assert first == (
                '{"event":"pusher:connection_established","data":"{\\"socket_id\\":\\"'
                + data["socket_id"]
                + '\\",\\"activity_timeout\\":30}"}'
            )
            await subscribe(client, 42)
            assert await client.recv() == (
                '{"event":"pusher_internal:subscription_succeeded","channel":"tournaments.42","data":"{}"}'
            )
            server.events.publish(42, "GameCreatedOrUpdated", '{"gameId":1,"name":"Zürich/\\"x\\""}')
            assert await client.recv() == (
                '{"event":"GameCreatedOrUpdated",'
                '"data":"{\\"gameId\\":1,\\"name\\":\\"Zürich/\\\\\\"x\\\\\\"\\"}",'
                '"channel":"tournaments.42","id":"k3f9:1","seq":1,"epoch":"k3f9"}'
            )

    run_scenario(scenario())


def test_the_key_decides_how_events_are_named() -> None:
    async def scenario() -> None:
        async with running_feed(42) as server:
            plain = server.follower(42)
            laravel = server.follower(42, path="/app/silverball-laravel?protocol=7")
            async with plain as plain_client, laravel as laravel_client:
                server.events.publish(42, "PlayersAdded", '{"playerIds":[1]}')
                first, second = await next_message(plain_client), await next_message(laravel_client)
        assert first.pop("event") == "PlayersAdded"
        assert second.pop("event") == "App\\Events\\PlayersAdded"
        assert first == second

    run_scenario(scenario())


@pytest.mark.parametrize(
    ("path", "code"),
    [
        ("/app/nobody?protocol=7", 4001),
        ("/app/old?protocol=7", 4003),
        ("/elsewhere", 4005),
        ("/app/silverball?protocol=x", 4006),
        ("/app/silverball?protocol=3", 4007),
    ],
)
def test_a_client_is_refused_inside_the_socket(path: str, code: int) -> None:
    async def scenario() -> None:
        async with running_feed(42) as server:
            assert await _close_code(server, path) == code
            await wait_until(lambda: server.hub.metrics.connections == 0)
            assert server.hub.metrics.refused_total == 1
            assert server.hub.metrics.closes_total == {code: 1}

    run_scenario(scenario())


def test_tls_and_origins_are_required_where_they_are_set() -> None:
    async def scenario() -> None:
        apps = feed.parse_apps("silverball=plain", "silverball=https://a.example")
        rules = HandshakeRules(apps, requires_tls=True)
        limits = ConnectionLimits(100, proxies=TrustedProxies.parse("127.0.0.1"))
        async with running_feed(42, rules=rules, limits=limits) as server:
            path = "/app/silverball"
            assert await _close_code(server, path) == 4000
            secure = {"X-Forwarded-Proto": "https"}
            assert await _close_code(server, path, additional_headers=secure) == 4009
            options = {"additional_headers": secure, "origin": "https://a.example"}
            async with server.client(path, **options) as client:
                assert (await next_message(client))["event"] == "pusher:connection_established"

    run_scenario(scenario())


def test_nobody_but_a_trusted_proxy_says_that_a_connection_has_tls() -> None:
    async def scenario() -> None:
        rules = HandshakeRules(feed.parse_apps("silverball=plain", ""), requires_tls=True)
        limits = ConnectionLimits(100, proxies=TrustedProxies.parse("192.0.2.0/24"))
        async with running_feed(42, rules=rules, limits=limits) as server:
            secure = {"X-Forwarded-Proto": "https"}
            assert await _close_code(server, "/app/silverball", additional_headers=secure) == 4000

    run_scenario(scenario())


def test_connections_are_limited_and_a_place_becomes_free_again() -> None:
    async def scenario() -> None:
        async with running_feed(42, limits=ConnectionLimits(2)) as server:
            first, second = server.follower(42), server.follower(42)
            async with first, second as other:
                assert await _close_code(server, server.path) == 4100
                await other.close()
                await wait_until(lambda: server.hub.metrics.connections == 1)
                async with server.follower(42):
                    assert server.hub.metrics.subscriptions == 2

    run_scenario(scenario())


def test_one_address_may_be_limited() -> None:
    async def scenario() -> None:
        async with (
            running_feed(42, limits=ConnectionLimits(100, per_address_max=1)) as server,
            server.follower(42),
        ):
            elsewhere = {"X-Forwarded-For": "198.51.100.7"}
            assert await _close_code(server, server.path) == 4004
            assert await _close_code(server, server.path, additional_headers=elsewhere) == 4004
            async with server.client(local_addr=("127.0.0.2", 0)) as client:
                assert (await next_message(client))["event"] == "pusher:connection_established"

    run_scenario(scenario())


def test_behind_a_trusted_proxy_the_address_that_it_names_is_limited() -> None:
    async def scenario() -> None:
        limits = ConnectionLimits(100, per_address_max=1, proxies=TrustedProxies.parse("127.0.0.1"))
        first, second = {"X-Forwarded-For": "2001:db8::1"}, {"X-Forwarded-For": "2001:db8::2"}
        elsewhere = {"X-Forwarded-For": "2001:db8:0:1::1"}
        async with (
            running_feed(42, limits=limits) as server,
            server.client(additional_headers=first) as client,
        ):
            assert (await next_message(client))["event"] == "pusher:connection_established"
            assert await _close_code(server, server.path, additional_headers=second) == 4004
            for headers in (elsewhere, None, None):
                async with server.client(additional_headers=headers) as another:
                    assert (await next_message(another))["event"] == "pusher:connection_established"

    run_scenario(scenario())


def test_a_blocked_network_is_refused_and_its_open_sockets_are_closed() -> None:
    async def scenario() -> None:
        async with running_feed(42) as server, server.client() as client:
            assert (await next_message(client))["event"] == "pusher:connection_established"
            server.feed.blocked = BlockedNetworks(lambda: ["127.0.0.1/32"])
            assert await _close_code(server, server.path) == 4009
            assert "network" in (await next_message(client))["data"]["message"]
            async with server.client(local_addr=("127.0.0.2", 0)) as another:
                assert (await next_message(another))["event"] == "pusher:connection_established"

    run_scenario(scenario())


def test_every_connection_has_an_unguessable_id() -> None:
    async def scenario() -> None:
        names = set()
        async with running_feed(42) as server:
            for _ in range(20):
                async with server.client() as client:
                    names.add(json.loads((await next_message(client))["data"])["socket_id"])
        assert len(names) == 20
        assert all(left.isdigit() and right.isdigit() for left, right in (name.split(".") for name in names))

    run_scenario(scenario())


def test_subscribing_twice_is_confirmed_twice_and_delivers_once() -> None:
    async def scenario() -> None:
        async with running_feed(42) as server, server.follower(42) as client:
            await subscribe(client, 42)
            assert (await next_message(client))["event"] == "pusher_internal:subscription_succeeded"
            server.events.publish(42)
            server.events.publish(42)
            assert [(await next_message(client))["seq"] for _ in range(2)] == [1, 2]

    run_scenario(scenario())


def test_a_client_that_left_a_channel_gets_no_events_of_it() -> None:
    async def scenario() -> None:
        async with running_feed(42, 43) as server, server.follower(42, 43) as client:
            await client.send('{"event":"pusher:unsubscribe","data":{"channel":"tournaments.42"}}')
            await wait_until(lambda: server.hub.metrics.subscriptions == 1)
            server.events.publish(42)
            server.events.publish(43)
            assert (await next_message(client))["channel"] == "tournaments.43"
            assert server.hub.watched_ids == {43}

    run_scenario(scenario())


def test_subscribing_leaving_and_subscribing_at_once_ends_subscribed() -> None:
    async def scenario() -> None:
        async with running_feed(42) as server, server.client() as client:
            await next_message(client)
            server.events.gate = asyncio.Event()
            await subscribe(client, 42)
            await client.send('{"event":"pusher:unsubscribe","data":{"channel":"tournaments.42"}}')
            await subscribe(client, 42)
            await client.send('{"event":"pusher:ping"}')
            # The connection answers pings while it waits for the database.
            assert await next_message(client) == {"event": "pusher:pong", "data": "{}"}
            server.events.gate.set()
            for _ in range(2):
                assert (await next_message(client))["event"] == "pusher_internal:subscription_succeeded"
            server.events.publish(42)
            assert (await next_message(client))["seq"] == 1

    run_scenario(scenario())


def test_a_tournament_that_does_not_exist_cannot_be_followed() -> None:
    async def scenario() -> None:
        async with running_feed(42) as server, server.client() as client:
            await next_message(client)
            await subscribe(client, 99)
            assert await client.recv() == (
                '{"event":"pusher:subscription_error","channel":"tournaments.99",'
                '"data":{"type":"NotFound","error":"There is no such tournament.","status":404}}'
            )
            await subscribe(client, 42)
            assert (await next_message(client))["event"] == "pusher_internal:subscription_succeeded"
            assert server.hub.watched_ids == {42}
            assert server.events.watched == [42]

    run_scenario(scenario())


def test_an_unavailable_database_is_reported_and_the_next_subscription_works() -> None:
    async def scenario() -> None:
        async with running_feed(42) as server, server.client() as client:
            await next_message(client)
            server.events.is_broken = True
            await subscribe(client, 42)
            message = await next_message(client)
            assert (message["event"], message["data"]["status"]) == ("pusher:subscription_error", 503)
            assert server.hub.watched_ids == set()
            server.events.is_broken = False
            await subscribe(client, 42)
            assert (await next_message(client))["event"] == "pusher_internal:subscription_succeeded"

    run_scenario(scenario())


def test_an_internal_error_ends_the_connection_and_is_logged(caplog: pytest.LogCaptureFixture) -> None:
    async def scenario() -> None:
        async with running_feed(42) as server, server.client() as client:
            await next_message(client)
            # An error that the log interface does not allow.
            server.events.heads[42] = "nonsense"  # type: ignore[assignment]  # on purpose
            await subscribe(client, 42)
            assert (await read_close(client))[0] == 1011
            async with server.client() as other:
                assert (await next_message(other))["event"] == "pusher:connection_established"

    run_scenario(scenario())
    assert "a subscription failed" in caplog.text


def test_a_connection_follows_256_channels_and_not_one_more() -> None:
    async def scenario() -> None:
        many = range(1, 300)
        clock = ManualClock()
        async with running_feed(*many, clock=clock) as server, server.client() as client:
            await next_message(client)
            for tournament_id in many:
                await subscribe(client, tournament_id)
            answers = [await next_message(client) for _ in range(60)]
            # Beyond the burst, twenty a second are read.
            while len(answers) < len(many):
                clock.now += 1
                answers += [await next_message(client) for _ in range(min(20, len(many) - len(answers)))]
            ok = [answer for answer in answers if answer["event"] == "pusher_internal:subscription_succeeded"]
            refused = [answer for answer in answers if answer["event"] == "pusher:subscription_error"]
            assert len(ok) == 256
            assert {(answer["data"]["type"], answer["data"]["status"]) for answer in refused} == {
                ("LimitReached", 429)
            }
            assert server.hub.metrics.subscriptions == 256

    run_scenario(scenario())


def test_a_deleted_tournament_ends_its_subscriptions() -> None:
    async def scenario() -> None:
        async with running_feed(42) as server, server.follower(42) as client:
            server.events.publish(42, "TournamentUpdated")
            server.hub.remove_tournament(42)
            assert (await next_message(client))["event"] == "TournamentUpdated"
            message = await next_message(client)
            assert (message["event"], message["data"]["status"]) == ("pusher:subscription_error", 404)
            assert server.hub.watched_ids == set()
            del server.events.heads[42]
            await subscribe(client, 42)
            assert (await next_message(client))["data"]["status"] == 404

    run_scenario(scenario())


def test_client_events_and_sign_ins_are_refused() -> None:
    async def scenario() -> None:
        async with (
            running_feed(42) as server,
            server.follower(42) as client,
            server.follower(42) as other,
        ):
            await client.send('{"event":"client-x","channel":"tournaments.42","data":{}}')
            assert (await next_message(client))["data"]["code"] == 4301
            await client.send('{"event":"pusher:signin","data":{}}')
            assert (await next_message(client))["event"] == "pusher:signin_error"
            server.events.publish(42)
            assert (await next_message(other))["seq"] == 1

    run_scenario(scenario())


def test_a_binary_message_ends_the_connection() -> None:
    async def scenario() -> None:
        async with running_feed(42) as server, server.follower(42) as client:
            await client.send(b"\x00\x01")
            assert (await read_close(client))[0] == 1003

    run_scenario(scenario())


def test_a_message_of_16_kilobytes_is_read_and_a_longer_one_ends_the_connection() -> None:
    async def scenario() -> None:
        async with running_feed(42) as server, server.client() as client:
            await next_message(client)
            ping = '{"event":"pusher:ping","data":"'
            await client.send(ping + "x" * (16_384 - len(ping) - 2) + '"}')
            assert await next_message(client) == {"event": "pusher:pong", "data": "{}"}
            await client.send(ping + "x" * (16_385 - len(ping) - 2) + '"}')
            assert (await read_close(client))[0] == 1009

    run_scenario(scenario())


def test_a_message_may_come_in_eight_pieces() -> None:
    async def scenario() -> None:
        async with running_feed(42) as server, server.client() as client:
            await next_message(client)
            await client.send(PIECES)
            assert await next_message(client) == {"event": "pusher:pong", "data": "{}"}

    run_scenario(scenario())


def test_a_message_in_nine_pieces_ends_the_connection() -> None:
    async def scenario() -> None:
        async with running_feed(42) as server, server.client() as client:
            await next_message(client)
            with pytest.raises(ConnectionClosed):  # the close may come while it is sent
                await client.send(["", *PIECES])
                await read_close(client)
                raise client.protocol.close_exc
            assert client.close_code == 1008

    run_scenario(scenario())


def test_a_server_that_shuts_down_admits_no_client() -> None:
    async def scenario() -> None:
        async with running_feed(42) as server:
            server.feed.is_draining = True
            with pytest.raises(InvalidStatus) as caught:
                async with server.client():
                    pass
            assert caught.value.response.status_code == 503

    run_scenario(scenario())


def test_an_open_connection_keeps_no_headers_of_its_handshake() -> None:
    async def scenario() -> None:
        async with running_feed(42) as server:
            raw = await RawConnection.open(server)
            handshakes = [found for found in gc.get_objects() if isinstance(found, Request)]
            assert [request.path for request in handshakes] == [server.path]
            assert not any(request.headers for request in handshakes)
            raw.writer.close()

    run_scenario(scenario())
