"""A client that hangs up leaves nothing in the log. Source: issue 13, item 11."""

import asyncio
import logging
import socket
import struct

import pytest

import build
from feed.feed_server import run_scenario
from feed.running_program import RunningProgram, announce, running_program, wait_until
from silverball.store.database.engine import Store

# Closes with a reset, as the end of a killed program does.
RESET = struct.pack("ii", 1, 0)
HANDSHAKE = (
    "GET /app/silverball?protocol=7&client=js&version=8.5.0 HTTP/1.1\r\nHost: x\r\nUpgrade: websocket\r\n"
    "Connection: Upgrade\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Version: 13\r\n\r\n"
)
PATCH = "PATCH /api/tournaments/{id} HTTP/1.1\r\nHost: x\r\n{token}"
# What is sent before the client hangs up -> whether it waits for the first bytes of the answer.
REQUESTS: dict[str, tuple[str, bool]] = {
    "nothing": ("", False),
    "half a head": ("GET /api/tournaments/{id} HT", False),
    "no HTTP": ("\x16\x03\x01\x02\x00", False),
    "a read, unheard": ("GET /api/tournaments/{id} HTTP/1.1\r\nHost: x\r\n\r\n", False),
    "a page, unheard": ("GET /t/{id} HTTP/1.1\r\nHost: x\r\n\r\n", False),
    "many reads at once": ("GET /api/tournaments/{id}/games HTTP/1.1\r\nHost: x\r\n\r\n" * 40, False),
    "half a body": (PATCH + "Content-Length: 90\r\n\r\n{{", False),
    "a write, unheard": (PATCH + 'Content-Length: 16\r\n\r\n{{"name":"Night"}}', False),
    "half a chunk": (PATCH + "Transfer-Encoding: chunked\r\n\r\n9\r\n{{", False),
    "a stream": ("GET /api/tournaments/{id}/stream HTTP/1.1\r\nHost: x\r\n\r\n", True),
    "a stream, and reads after it": (
        "GET /api/tournaments/{id}/stream HTTP/1.1\r\nHost: x\r\n\r\n"
        + "GET /api/tournaments/{id} HTTP/1.1\r\nHost: x\r\n\r\n" * 2,
        True,
    ),
    "a long poll": ("GET /api/tournaments/{id}/events?after=0&wait=20 HTTP/1.1\r\nHost: x\r\n\r\n", False),
    "half a handshake": (HANDSHAKE[:90], False),
    "a handshake, unheard": (HANDSHAKE, False),
    "a socket": (HANDSHAKE, True),
}


async def hang_up(port: int, text: str, *, is_reader: bool, by_reset: bool) -> None:
    loop = asyncio.get_running_loop()
    with socket.create_connection(("127.0.0.1", port)) as client:
        client.setblocking(False)
        await loop.sock_sendall(client, text.encode("latin-1"))
        if is_reader:
            assert await loop.sock_recv(client, 1)
        # Time to begin with it.
        await asyncio.sleep(0.01)
        if by_reset:
            client.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, RESET)


async def hang_up_in_every_way(program: RunningProgram, tournament_id: int) -> None:
    token = f"Authorization: {program.http.headers['authorization']}\r\n"
    for text, is_reader in REQUESTS.values():
        written = text.format(id=tournament_id, token=token)
        for by_reset in (False, True):
            await hang_up(program.port, written, is_reader=is_reader, by_reset=by_reset)


@pytest.mark.parametrize("database_url", ["sqlite"], indirect=True)
def test_a_client_that_hangs_up_leaves_no_traceback_and_no_complaint(
    store: Store, caplog: pytest.LogCaptureFixture
) -> None:
    tournament_id = build.a_tournament(store).tournament_id
    caplog.set_level(logging.INFO)

    async def scenario() -> None:
        async with running_program(store) as program:
            await hang_up_in_every_way(program, tournament_id)
            # What the server sends to those who have gone.
            announce(store, tournament_id, 3)
            await asyncio.sleep(0.5)
            answer = await program.http.get(f"/api/tournaments/{tournament_id}")
            assert answer.status_code == 200
            # Nobody waits for them any more.
            await wait_until(lambda: program.broadcast.relay.waiting_count == 0)

    run_scenario(scenario())
    assert [record for record in caplog.records if record.exc_info] == []
    assert [record.getMessage() for record in caplog.records if record.levelno >= logging.WARNING] == []
