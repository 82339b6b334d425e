"""`client.follow` of a service whose events have no numbers, and of one that misbehaves."""

import json
import socket
from typing import Any

import pytest

from silverball_client import Connected, Disconnected, Event, NotAllowed, NotFound
from silverball_client.events import payload
from silverball_wire.games import Game
from typed_client.both_clients import KINDS
from typed_client.foreign_night import (
    ForeignNight,
    a_game,
    a_player,
    a_round,
    an_arena,
    an_attempt,
    follow_until,
)
from typed_client.scripted_service import ReceivedRequest, ScriptedService, json_answer
from typed_client.server_socket import ServerSocket

CHANNEL = "tournaments.1"


@pytest.fixture
def night() -> ForeignNight:
    own = ForeignNight(
        players=[a_player(1), a_player(2), a_player(3)],
        arenas=[an_arena(11), an_arena(12)],
        rounds=[a_round(21), a_round(22)],
        games=[a_game(31), a_game(32)],
        attempts=[an_attempt(41, 1_000), an_attempt(42, 2_000)],
    )
    own.publish()
    return own


def names_of(items: list[Any]) -> list[str]:
    return [item.name if isinstance(item, Event) else type(item).__name__ for item in items]


def connections(items: list[Any]) -> int:
    return sum(isinstance(item, Connected) for item in items)


@pytest.mark.parametrize("kind", KINDS)
def test_what_changed_during_a_cut_comes_as_events(kind: str, night: ForeignNight) -> None:
    def talk(connection: socket.socket, request: ReceivedRequest) -> None:
        own = ServerSocket(connection, request)
        own.accept_subscription()
        if not night.name.startswith("Thu"):
            own.receive()
            return
        # The client answers a ping when it has read everything, so the cut comes after that.
        own.send("pusher:ping", {})
        assert own.receive() == {"event": "pusher:pong", "data": {}}
        night.name = "Friday"
        night.players = [a_player(1), a_player(2, name="Bo"), a_player(4)]
        night.arenas = [an_arena(11, name="Dragon Alley"), an_arena(13)]
        night.rounds = [a_round(21, "completed")]
        night.games = [a_game(31, "completed"), a_game(33)]
        night.attempts = [an_attempt(42, 3_000)]
        night.publish()

    with ScriptedService(night.answers, talk) as service:
        items = follow_until(kind, service.base_url, lambda items: connections(items) == 2)
    assert names_of(items) == [
        "Connected",
        "Disconnected",
        "TournamentUpdated",
        "PlayersAdded",
        "PlayersChanged",
        "ArenasAdded",
        "ArenasChanged",
        "GamesDeleted",
        "GameCreatedOrUpdated",
        "GameCreatedOrUpdated",
        "SinglePlayerGamesDeleted",
        "SinglePlayerGameCreatedOrUpdated",
        "RoundsDeleted",
        "RoundCreatedOrUpdated",
        "Connected",
    ]
    events = [item for item in items if isinstance(item, Event)]
    assert {(event.epoch, event.seq) for event in events} == {("", 0)}
    data: list[Any] = [event.data for event in events]
    assert data[0].name == "Friday"
    assert (data[1].player_ids, data[2].player_ids) == ((4,), (2, 3))
    assert (data[3].arena_ids, data[4].arena_ids) == ((13,), (11, 12))
    assert data[5].game_ids == (32,)
    assert [(game.game_id, game.status) for game in data[6:8]] == [(31, "completed"), (33, "started")]
    assert data[8].single_player_game_ids == (41,)
    assert (data[9].single_player_game_id, data[9].score) == (42, 3_000)
    assert (data[10].round_ids, data[11].status) == ((22,), "completed")
    assert json.loads(events[6].json)["gameId"] == 31


@pytest.mark.parametrize("kind", KINDS)
def test_what_an_event_has_said_is_not_said_again(kind: str, night: ForeignNight) -> None:
    def talk(connection: socket.socket, request: ReceivedRequest) -> None:
        own = ServerSocket(connection, request)
        wanted = own.accept_subscription()
        # Only a service with numbers is asked to resume.
        assert wanted == {"auth": "", "channel": CHANNEL}
        if len(night.games) == 3:
            own.receive()
            return
        night.games = [a_game(31, "completed"), a_game(33), a_game(34)]
        night.rounds = [a_round(21)]
        night.attempts = [an_attempt(41, 5_000)]
        night.players = [a_player(1, name="Ann"), a_player(2), a_player(4)]
        night.arenas = [an_arena(11), an_arena(13)]
        night.name = "Friday"
        tournament_id = {"tournamentId": 1}
        # Read before the subscription is confirmed to the caller, so that the events come after it.
        own.send("pusher:ping", {})
        own.receive()
        night.publish()
        tournament = json.loads(
            (night.answers["/api/tournaments/1"][0].content or b"").partition(b"\r\n\r\n")[2]
        )
        own.send("App\\Events\\TournamentUpdated", tournament["data"], channel=CHANNEL)
        own.send("GameCreatedOrUpdated", a_game(31, "completed"), channel=CHANNEL)
        own.send("App\\Events\\GameCreatedOrUpdated", a_game(33), channel=CHANNEL)
        own.send("GamesDeleted", {**tournament_id, "gameIds": [32]}, channel=CHANNEL)
        own.send("RoundsDeleted", {**tournament_id, "roundIds": [22]}, channel=CHANNEL)
        own.send("SinglePlayerGameCreatedOrUpdated", an_attempt(41, 5_000), channel=CHANNEL)
        own.send("SinglePlayerGamesDeleted", {**tournament_id, "singlePlayerGameIds": [42]}, channel=CHANNEL)
        own.send("PlayersAdded", {**tournament_id, "playerIds": [4]}, channel=CHANNEL)
        own.send("PlayersChanged", {**tournament_id, "playerIds": [1, 3]}, channel=CHANNEL)
        own.send("ArenasAdded", {**tournament_id, "arenaIds": [13]}, channel=CHANNEL)
        own.send("ArenasChanged", {**tournament_id, "arenaIds": [12]}, channel=CHANNEL)

    with ScriptedService(night.answers, talk) as service:
        items = follow_until(kind, service.base_url, lambda items: connections(items) == 2)
    told = names_of(items)
    assert told.index("Disconnected") == 12
    assert told[1:3] == ["TournamentUpdated", "GameCreatedOrUpdated"]
    # Only the game without an event is news.
    assert told[13:] == ["GameCreatedOrUpdated", "Connected"]
    assert items[13].data.game_id == 34


@pytest.mark.parametrize("kind", KINDS)
def test_a_claim_is_said_of_the_player_and_not_of_each_game(kind: str, night: ForeignNight) -> None:
    def talk(connection: socket.socket, request: ReceivedRequest) -> None:
        own = ServerSocket(connection, request)
        own.accept_subscription()
        if night.players[0]["claimedBy"] is None:
            own.receive()
            return
        own.send("pusher:ping", {})
        own.receive()
        night.players[0] |= {"claimedBy": None}
        night.games = [{**game, "userIds": [None, None]} for game in night.games]
        night.publish()

    with ScriptedService(night.answers, talk) as service:
        items = follow_until(kind, service.base_url, lambda items: connections(items) == 2)
    assert names_of(items) == ["Connected", "Disconnected", "PlayersChanged", "Connected"]


@pytest.mark.parametrize("kind", KINDS)
def test_messages_of_an_unknown_form_do_no_harm(kind: str, night: ForeignNight) -> None:
    def talk(connection: socket.socket, request: ReceivedRequest) -> None:
        own = ServerSocket(connection, request)
        own.accept_subscription()
        own.send("pusher:cache_miss", {}, channel=CHANNEL)
        own.send("App\\Events\\BallLocked", {"ball": 2}, channel=CHANNEL)
        own.send("GameCreatedOrUpdated", {"gameId": "seven"}, channel=CHANNEL)
        own.send_text(json.dumps({"event": "Note", "data": "no JSON", "channel": CHANNEL}))
        own.send_text(json.dumps({"event": "Bare", "data": {"ball": 3}, "channel": CHANNEL}))
        own.send_text(json.dumps({"event": "Empty", "channel": CHANNEL}))
        own.send("GameCreatedOrUpdated", a_game(31), channel=CHANNEL)
        own.receive()

    with ScriptedService(night.answers, talk) as service:
        items = follow_until(kind, service.base_url, lambda items: len(items) == 7)
    assert [(item.name, item.data) for item in items[1:6]] == [
        ("BallLocked", {"ball": 2}),
        ("GameCreatedOrUpdated", {"gameId": "seven"}),
        ("Note", {"value": "no JSON"}),
        ("Bare", {"ball": 3}),
        ("Empty", {"value": None}),
    ]
    assert isinstance(items[6].data, Game)


@pytest.mark.parametrize(
    ("text", "data"),
    [("[1]", {"value": [1]}), ('"a"', {"value": "a"}), ("", {"value": ""}), ("{}", {})],
)
def test_a_payload_that_is_no_object_is_a_value(text: str, data: dict[str, Any]) -> None:
    assert payload("Unknown", text) == data


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(
    "text",
    [
        "no JSON",
        "[]",
        '{"data": 1}',
        '{"event": "pusher:error", "data": "busy"}',
        '{"event": "pusher:error", "data": [1]}',
    ],
)
def test_a_connection_of_no_use_is_opened_again(kind: str, night: ForeignNight, text: str) -> None:
    def talk(connection: socket.socket, request: ReceivedRequest) -> None:
        own = ServerSocket(connection, request)
        own.accept_subscription()
        own.send_text(text)
        # The client hangs up first.
        while connection.recv(4096):
            pass

    with ScriptedService(night.answers, talk) as service:
        items = follow_until(kind, service.base_url, lambda items: connections(items) == 2)
    assert names_of(items) == ["Connected", "Disconnected", "Connected"]
    assert items[1].reason


@pytest.mark.parametrize("kind", KINDS)
def test_a_closed_connection_says_its_code(kind: str, night: ForeignNight) -> None:
    def talk(connection: socket.socket, request: ReceivedRequest) -> None:
        own = ServerSocket(connection, request)
        own.accept_subscription()
        own.close(4200)

    with ScriptedService(night.answers, talk) as service:
        items = follow_until(kind, service.base_url, lambda items: connections(items) == 2)
    assert items[1] == Disconnected("closed with 4200 ")


@pytest.mark.parametrize("kind", KINDS)
def test_what_is_no_websocket_is_tried_again(kind: str, night: ForeignNight) -> None:
    refused = json_answer({"message": "Not here."}, 403).content or b""
    tries: list[int] = []

    def talk(connection: socket.socket, request: ReceivedRequest) -> None:
        tries.append(1)
        if len(tries) == 1:
            connection.sendall(refused)
        elif len(tries) == 2:
            connection.sendall(b"HTTP/1.1 101 Switching Protocols\r\nsec-websocket-accept: wrong\r\n\r\n")
        else:
            own = ServerSocket(connection, request)
            own.accept_subscription()
            own.receive()

    with ScriptedService(night.answers, talk) as service:
        items = follow_until(kind, service.base_url, lambda items: connections(items) == 1)
    assert items == [
        Disconnected("no websocket, but status 403"),
        Disconnected("no websocket, but status 101"),
        Connected(),
    ]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(
    ("event", "data", "refusal"),
    [
        ("pusher:error", {"code": 4001, "message": "No such app."}, NotAllowed),
        ("pusher:subscription_error", {"status": 404, "error": "No such channel."}, NotFound),
        ("pusher:subscription_error", {"status": 403, "error": "Not yours."}, NotAllowed),
    ],
)
def test_a_refusal_for_good_ends_it(
    kind: str, night: ForeignNight, event: str, data: dict[str, Any], refusal: type[Exception]
) -> None:
    def talk(connection: socket.socket, request: ReceivedRequest) -> None:
        own = ServerSocket(connection, request)
        own.receive()
        own.send(event, data)
        own.receive()

    with ScriptedService(night.answers, talk) as service, pytest.raises(refusal, match=r"No such|Not yours"):
        follow_until(kind, service.base_url, lambda _items: False)


@pytest.mark.parametrize("kind", KINDS)
def test_the_feed_may_be_elsewhere(kind: str, night: ForeignNight) -> None:
    def talk(connection: socket.socket, request: ReceivedRequest) -> None:
        own = ServerSocket(connection, request)
        own.accept_subscription()
        own.receive()

    with ScriptedService(night.answers) as service, ScriptedService({}, talk) as feed:
        address = feed.base_url.replace("http://", "ws://") + "/app/key"
        items = follow_until(kind, service.base_url, lambda items: connections(items) == 1, feed_url=address)
    assert items == [Connected()]
    assert feed.requests[0].path == "/app/key"
    assert "protocol=7&client=silverball-client" in feed.requests[0].target


@pytest.mark.parametrize("kind", KINDS)
def test_a_tournament_that_is_not_there_either_is_named(kind: str) -> None:
    with ScriptedService({}) as service, pytest.raises(NotFound):
        follow_until(kind, service.base_url, lambda _items: False)
