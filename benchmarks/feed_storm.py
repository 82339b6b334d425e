"""A storm: 5,000 readers come back to one tournament at once, through sockets of the whole server.

The readers missed 46 events; or 4,000 of them missed 1,000 and ask for the newest of each thing only, as
phones do. Measured are the time until the last of them has the last event, and how late a timer of five
milliseconds comes on the server's event loop meanwhile. Readers and server share the machine.
Prints a table with the medians of nine storms; exit code 1 when a bound is missed.
"""

import json
import statistics
import sys
import tempfile
import time
import urllib.request
from collections.abc import Sequence
from pathlib import Path

import feed
import load
import run
from run import Row

READERS = 5_000
MISSED = 46
STORMS = 9
SECONDS_MAX = 6.0
PHONES = 4_000
PHONES_MISSED = 1_000
PHONES_SECONDS_MAX = 10.0
TIMER_MS_MAX = 50.0
# Between two storms, so that the sockets of the one before are gone.
SETTLING_SECONDS = 3.0


def rows(folder: Path) -> list[Row]:
    """Serve, let the storms come, and measure."""
    token = feed.create_organizer(folder)
    port = run.free_port()
    with feed.line_process("feed_storm_server.py", port, **_settings(folder)) as server:
        feed.await_port(port)
        created = feed.send(port, token, "POST", "/api/tournaments", {"name": "Storm", "type": "matchplay"})
        path = f"/api/tournaments/{created['tournamentId']}"
        epoch, seq = _position(port, path)
        _change(port, token, path, MISSED)
        words = (created["tournamentId"], epoch, seq)
        storms = [_storm(server, port, READERS, MISSED, words) for _ in range(STORMS)]
        _change(port, token, path, PHONES_MISSED - MISSED)
        phones = [_storm(server, port, PHONES, PHONES_MISSED, (*words, "compact")) for _ in range(STORMS)]
    return [*_reader_rows(storms), _phone_row(phones)]


def _change(port: int, token: str, path: str, count: int) -> None:
    """Make so many events."""
    for number in range(count):
        feed.send(port, token, "PATCH", path, {"name": f"Storm {number}"})


def _phone_row(storms: Sequence[tuple[float, ...]]) -> Row:
    seconds, _, _, _, sizes = (sorted(measured) for measured in zip(*storms, strict=True))
    return Row(
        f"{PHONES:,} phones back after {PHONES_MISSED:,} events, {sizes[0] / 1000:.1f} KB each",
        f"{statistics.median(seconds):.1f} s ({seconds[0]:.1f} to {seconds[-1]:.1f})",
        f"<= {PHONES_SECONDS_MAX:g} s",
        statistics.median(seconds) <= PHONES_SECONDS_MAX,
    )


def _reader_rows(storms: Sequence[tuple[float, ...]]) -> list[Row]:
    seconds, p99s, most, cpu, size = (sorted(measured) for measured in zip(*storms, strict=True))
    second, p99 = statistics.median(seconds), statistics.median(p99s)
    return [
        Row(
            f"{READERS:,} back after {MISSED} events of {size[0] / MISSED / 1000:.1f} KB",
            f"{second:.1f} s ({seconds[0]:.1f} to {seconds[-1]:.1f})",
            f"<= {SECONDS_MAX:g} s",
            second <= SECONDS_MAX,
        ),
        Row(
            "a timer of 5 ms in the server meanwhile, p99",
            f"{p99:.0f} ms ({p99s[0]:.0f} to {p99s[-1]:.0f})",
            f"<= {TIMER_MS_MAX:g} ms",
            p99 <= TIMER_MS_MAX,
        ),
        Row("its longest delay", f"{statistics.median(most):.0f} ms", "reported", True),
        Row("CPU of the server", f"{statistics.median(cpu):.2f} s", "reported", True),
    ]


def _settings(folder: Path) -> dict[str, str]:
    """The settings of the server; all readers have the address of this machine."""
    return {
        "SILVERBALL_DATABASE_URL": f"sqlite:///{folder / 'bench.db'}",
        "SILVERBALL_QUOTAS": "open",
    }


def _position(port: int, path: str) -> tuple[str, int]:
    """The epoch of a tournament's events, and the number of the newest."""
    with urllib.request.urlopen(f"http://127.0.0.1:{port}{path}/events", timeout=20) as answer:
        page = json.loads(answer.read())
    return page["epoch"], page["seq"]


def _storm(
    server: feed.LineProcess, port: int, readers: int, missed: int, words: tuple[object, ...]
) -> tuple[float, float, float, float, int]:
    """Seconds of a storm, the p99 and the greatest delay of the timer in ms, CPU seconds, bytes a reader."""
    server.request("begin")
    before = load.cpu_seconds(server.process.pid)
    tournament_id, epoch, seq, *more = words
    assert isinstance(seq, int)
    place = (port, readers, feed.PATH, f"tournaments.{tournament_id}", epoch, seq, seq + missed, *more)
    with feed.line_process("feed_storm_readers.py", *place) as storming:
        storm = storming.read_answer()
        cpu = load.cpu_seconds(server.process.pid) - before
        delays = server.request("delays")
    time.sleep(SETTLING_SECONDS)
    p99 = delays[len(delays) * 99 // 100]
    print(f"{storm['seconds']:.2f} s, p99 {p99:.0f} ms of {len(delays)} ticks", file=sys.stderr)
    return storm["seconds"], p99, delays[-1], cpu, storm["bytes"]


def main() -> int:
    """Measure and print; the exit code."""
    with tempfile.TemporaryDirectory(prefix="silverball-bench-") as folder:
        measured = rows(Path(folder))
    print(run.table(measured))
    return 0 if all(row.is_met for row in measured) else 1


if __name__ == "__main__":
    raise SystemExit(main())
