"""Ten times the load that the threads bear: how fast visitors are refused, and results recorded.

Visitors without a token ask for lists of games, no two alike, at a fixed rate, whether they are answered
or not. Meanwhile eight scorekeepers record results. The load generator shares the machine.
"""

import asyncio
import itertools
import json
import sys
import tempfile
import time
from collections import defaultdict
from pathlib import Path

import engine
import run
from run import Row

PLAYERS = 200
CONNECTIONS = 400
# Connections that keep the threads busy without making anybody wait for long.
FEW = 8
# Less than a connection may be idle.
SECONDS = 3.0
TIMES = 10
TICK_SECONDS = 0.002
_numbers = itertools.count()


class Visitors:
    """Connections that ask at a rate of their own, and the seconds of their answers by status."""

    def __init__(self, port: int, path: str) -> None:
        self._port = port
        self._path = path
        self._due: asyncio.Queue[float] = asyncio.Queue()
        self.seconds: dict[int, list[float]] = defaultdict(list)

    async def ask(self, connections: int, per_second: float) -> None:
        """Ask so many times a second on so many connections, until `SECONDS` are over."""
        tasks = [asyncio.create_task(self._ask_when_due()) for _ in range(connections)]
        began, asked = time.perf_counter(), 0
        while (passed := time.perf_counter() - began) < SECONDS:
            while asked < passed * per_second:
                self._due.put_nowait(time.perf_counter())
                asked += 1
            await asyncio.sleep(TICK_SECONDS)
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    async def _ask_when_due(self) -> None:
        reader, writer = await asyncio.open_connection("127.0.0.1", self._port)
        while True:
            began = await self._due.get()
            writer.write(b"GET %s?n=%d HTTP/1.1\r\nHost: x\r\n\r\n" % (self._path.encode(), next(_numbers)))
            head = (await reader.readuntil(b"\r\n\r\n")).lower()
            await reader.readexactly(int(head.partition(b"content-length: ")[2].split(b"\r\n")[0]))
            self.seconds[int(head[9:12])].append(time.perf_counter() - began)


async def _measure(port: int, hall: engine.BenchTournament) -> list[Row]:
    games = f"/api{hall.path}/games"
    calm = Visitors(port, games)
    await calm.ask(FEW, 100_000)
    capacity = len(calm.seconds[200]) / SECONDS
    alone = await asyncio.to_thread(hall.play_round)
    visitors = Visitors(port, games)
    _, during = await asyncio.gather(
        visitors.ask(CONNECTIONS, TIMES * capacity), asyncio.to_thread(hall.play_round)
    )
    refused = sorted(visitors.seconds[503])
    median, late = refused[len(refused) // 2], refused[len(refused) * 99 // 100]
    answered = len(visitors.seconds[200]) / SECONDS
    return [
        Row("reads that the threads bear", f"{capacity:.0f}/s", "", is_met=True),
        Row("answered, at ten times as many", f"{answered:.0f}/s", "", is_met=True),
        Row("refused: median", f"{median * 1000:.0f} ms", "< 50 ms", median < 0.05),
        Row("refused: slowest of a hundred", f"{late * 1000:.0f} ms", "", is_met=True),
        Row("slowest result, before", f"{max(alone) * 1000:.0f} ms", "", is_met=True),
        Row("slowest result, meanwhile", f"{max(during) * 1000:.0f} ms", "< 1 s", max(during) < 1),
    ]


def main() -> int:
    """Measure, print the table, and say by the exit code whether every bound is met."""
    with tempfile.TemporaryDirectory(prefix="silverball-bench-") as name:
        folder = Path(name)
        run.silverball("migrate", folder=folder)
        account = ("--name", "Olga Ramp", "--email", "olga@example.org", "--role", "organizer", "--json")
        user_id = str(json.loads(run.silverball("user", "create", *account, folder=folder))["userId"])
        token = run.silverball(
            "token", "create", "--user", user_id, "--name", "bench", "--ability", "manage", folder=folder
        )
        port = run.free_port()
        serve = [str(run.BIN / "silverball"), "serve", "--create", "--host", "127.0.0.1", "--port", str(port)]
        environment = {
            "SILVERBALL_DATABASE_URL": f"sqlite:///{folder / 'bench.db'}",
            "SILVERBALL_QUOTAS": "open",
            "SILVERBALL_PUBLIC_READ": "true",
        }
        with run.running_server(serve, port, "/up", **environment):
            hall = engine.BenchTournament(port, token, "matchplay", PLAYERS, arenaAssignment="disabled")
            hall.play_round()
            rows = asyncio.run(_measure(port, hall))
    print(run.table(rows))
    return 0 if all(row.is_met for row in rows) else 1


if __name__ == "__main__":
    sys.exit(main())
