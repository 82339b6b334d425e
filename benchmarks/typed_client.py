"""The typed client against bare httpx2 and msgspec: CPU of reading a list of 135 games.

    python benchmarks/typed_client.py

Both read the same list from one server of this machine, in turns within one run, over one kept connection;
both decode it into the same Structs. Counted is the CPU time of the reading process.
"""

import json
import statistics
import sys
import threading
import time
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import httpx2
import msgspec

from silverball_client import Client
from silverball_client.exchange import InData
from silverball_wire.games import Game

GAMES = 135
ROUNDS, READS = 30, 40
# The client may cost this much more than httpx2 and msgspec alone.
OVERHEAD_MAX = 1.30
SAMPLE = Path(__file__).parents[1] / "tests" / "golden" / "samples" / "game-single.json"
TOKEN = "1|benchmark"
BODY = json.dumps({"data": [json.loads(SAMPLE.read_text())["data"]] * GAMES}, separators=(",", ":")).encode()


class GamesHandler(BaseHTTPRequestHandler):
    """Answers every request with the list; no ETag, so that each read is a whole one."""

    protocol_version = "HTTP/1.1"

    def do_GET(self) -> None:
        """Send the list."""
        head = f"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: {len(BODY)}\r\n\r\n"
        self.wfile.write(head.encode() + BODY)

    def log_message(self, *_: object) -> None:
        """Write nothing."""


def cpu_seconds(read: Callable[[], int]) -> float:
    """The CPU time of this thread for READS reads."""
    begun = time.thread_time()
    for _ in range(READS):
        assert read() == GAMES
    return time.thread_time() - begun


def main() -> None:
    """Measure in turns and print the ratio; exit with status 1 above OVERHEAD_MAX."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), GamesHandler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    base_url = f"http://127.0.0.1:{server.server_port}"
    decoder = msgspec.json.Decoder(InData[tuple[Game, ...]])
    bare_http = httpx2.Client(headers={"authorization": f"Bearer {TOKEN}"})
    client = Client(base_url, TOKEN)

    def bare() -> int:
        return len(decoder.decode(bare_http.get(f"{base_url}/api/tournaments/42/games").content).data)

    def typed() -> int:
        return len(client.tournaments.games(42))

    cpu_seconds(bare), cpu_seconds(typed)
    pairs = [(cpu_seconds(bare), cpu_seconds(typed)) for _ in range(ROUNDS)]
    ratio = statistics.median(ours / theirs for theirs, ours in pairs)
    milliseconds = [statistics.median(side) / READS * 1000 for side in zip(*pairs, strict=True)]
    print(f"httpx2 and msgspec  {milliseconds[0]:.3f} ms of CPU a list of {GAMES} games")
    print(f"silverball_client   {milliseconds[1]:.3f} ms, {ratio:.2f} times that (at most {OVERHEAD_MAX})")
    server.shutdown()
    if ratio > OVERHEAD_MAX:
        sys.exit(1)


if __name__ == "__main__":
    main()
