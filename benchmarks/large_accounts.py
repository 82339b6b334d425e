"""How long the regular of the big database holds up everybody else, when their account changes.

The regular played 2,000 of 10,000 tournaments. They are renamed, hidden, shown again and erased; ratings
are rebuilt and the public database is exported. Each is done by a program of its own, and meanwhile this one
writes into one of the regular's tournaments every five milliseconds, on SQLite with a commit. Shown are the
longest wait of such a write for its turn, and the longest write as a whole, with the disk; and the same of a
minute in which nothing else is done, as a shared machine stands still now and then.
`--scale 0.1` builds a tenth, to try something out; `--database sqlite` measures one, `--only renamed` one
change.
"""

import argparse
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path

import msgspec
from sqlalchemy import select, update

import big
import big_world
import run
from run import Row
from silverball import app
from silverball.kit.http.endpoints import Request
from silverball.service.accounts import erasing
from silverball.service.core.access import AuthenticatedCaller
from silverball.settings import Settings
from silverball.store import tables
from silverball.store.database.engine import Store

HELD_UP_MS_MAX = 100
EVERY_SECONDS = 0.005
QUIET_SECONDS = 60
OPT_OUTS = ("ratingsOptOut", "statsOptOut", "profileOptOut", "historyOptOut")
_T = tables.tournament.c


def main() -> int:
    """Build, measure, print the table, and say by the exit code whether every bound is met."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--scale", type=float, default=1.0)
    parser.add_argument("--database", choices=("sqlite", "postgresql"))
    parser.add_argument("--only", help="a line of the table")
    # What the program that this one starts does.
    parser.add_argument("--act", choices=ACTS)
    parser.add_argument("--url")
    chosen = parser.parse_args()
    if chosen.act:
        store = Store(chosen.url)
        ACTS[chosen.act](store)
        # As the job of a server does.
        erasing.finish_changes(store)
        return 0
    rows: list[Row] = []
    with tempfile.TemporaryDirectory(prefix="silverball-accounts-") as folder:
        for name, url in big.databases(Path(folder), chosen.database):
            big_world.build(url, chosen.scale)
            rows += list(_rows(name, url, Path(folder), chosen.only))
    print(run.table(rows))
    return 0 if all(row.is_met for row in rows) else 1


def _rows(name: str, url: str, folder: Path, only: str | None) -> Iterator[Row]:
    commands = {act: [sys.executable, __file__, "--act", act, "--url", url] for act in ACTS}
    silverball = str(run.BIN / "silverball")
    commands["ratings rebuilt"] = [silverball, "rate", "--rebuild"]
    commands["public database exported"] = [silverball, "export", "sqlite", str(folder / f"{name}.public")]
    # As an upgrade does: the journals that were built are chained.
    subprocess.run([silverball, "migrate"], check=True, env={**os.environ, "SILVERBALL_DATABASE_URL": url})
    store = Store(url)
    tournament_id = _tournament_of_regular(store)
    deadline = time.perf_counter() + QUIET_SECONDS
    quiet = _Waits.measure(store, tournament_id, lambda: time.perf_counter() < deadline)
    yield Row(f"{name}, nothing else done", quiet.text(QUIET_SECONDS), "reported", is_met=True)
    for act, command in commands.items():
        if only is not None and act != only:
            continue
        began = time.perf_counter()
        environment = {**os.environ, "SILVERBALL_DATABASE_URL": url}
        with subprocess.Popen(command, stdout=subprocess.DEVNULL, env=environment) as program:
            waits = _Waits.measure(store, tournament_id, lambda: program.poll() is None)
        if program.returncode != 0:
            raise RuntimeError(f"{act} ended with {program.returncode}")
        text = waits.text(time.perf_counter() - began)
        is_met = max(waits.wholes) < HELD_UP_MS_MAX
        yield Row(f"{name}, {act}", text, f"write < {HELD_UP_MS_MAX} ms", is_met=is_met)
    store.close()


@dataclass
class _Waits:
    """Milliseconds of each write: until its turn, and as a whole."""

    turns: list[float] = field(default_factory=list)
    wholes: list[float] = field(default_factory=list)

    @classmethod
    def measure(cls, store: Store, tournament_id: int, goes_on: Callable[[], bool]) -> "_Waits":
        """Write every few milliseconds while something goes on."""
        waits = cls()
        row = update(tables.tournament).where(_T.tournament_id == tournament_id)
        while goes_on():
            began = time.perf_counter()
            with store.write(tournament_id) as transaction:
                waits.turns.append((time.perf_counter() - began) * 1000)
                transaction.connection.execute(row.values(description=str(len(waits.turns))))
            waits.wholes.append((time.perf_counter() - began) * 1000)
            time.sleep(EVERY_SECONDS)
        return waits

    def text(self, seconds: float) -> str:
        """The longest, as a line of the table shows them."""
        late = sum(whole >= HELD_UP_MS_MAX for whole in self.wholes)
        return (
            f"turn {max(self.turns):.0f} ms, write {max(self.wholes):.0f} ms,"
            f" {late} of {len(self.wholes)} over {HELD_UP_MS_MAX} in {seconds:.0f} s"
        )


def _tournament_of_regular(store: Store) -> int:
    players, entrants = tables.player.c, tables.entrant.c
    statement = (
        select(entrants.tournament_id)
        .join(tables.player, players.player_id == entrants.player_id)
        .where(players.claimed_by == big_world.REGULAR_ID)
        .order_by(entrants.tournament_id)
        .limit(1)
    )
    with store.read() as db:
        return int(db.execute(statement).scalar_one())


# What is done to the account


def _rename(store: Store) -> None:
    _change_profile(store, {"name": "Renamed Regular"})


def _hide(store: Store) -> None:
    _change_profile(store, dict.fromkeys(OPT_OUTS, True))


def _show(store: Store) -> None:
    _change_profile(store, dict.fromkeys(OPT_OUTS, False))


def _change_profile(store: Store, fields: Mapping[str, object]) -> None:
    """Send the fields to the interface, as the regular."""
    regular = AuthenticatedCaller(user_id=big_world.REGULAR_ID, role="player", ability="manage")
    request = Request(
        method="PATCH",
        path="/api/users/profile",
        caller=regular,
        body=msgspec.json.encode(fields),
        content_type=b"application/json",
    )
    answer = app.answer_request(app.build_api(store, Settings()), request)
    if answer.status != 200:
        raise RuntimeError(f"{answer.status}: {answer.body!r}")


def _erase(store: Store) -> None:
    erasing.erase_account(store, big_world.REGULAR_ID, datetime.now(UTC))


ACTS: Mapping[str, Callable[[Store], None]] = {
    "renamed": _rename,
    "hidden": _hide,
    "shown again": _show,
    "erased": _erase,
}

if __name__ == "__main__":
    raise SystemExit(main())
