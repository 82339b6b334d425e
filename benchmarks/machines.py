"""`make bench`: the duration of importing the machine database, applying its changes and exporting it.

Whole commands, including start-up, on an SQLite file. The machines are invented: as many as the machine
database has, with manufacturers, features and images, about five megabytes of JSON.
"""

import json
import time
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from random import Random
from typing import Any

from sqlalchemy import insert

import run
from run import Row
from silverball.service.users import writes as users
from silverball.store import tables
from silverball.store.database.engine import Store

MACHINES, ALIASES, GROUPS, MOVES, ARENAS = 2100, 200, 1650, 300, 20_000
LETTERS = "0123456789BDEJKLNOPQRVWXYZbdejklnopqrvwxyz"
IMPORT_SECONDS_MAX = 3.0


def main() -> int:
    """Measure, print the table, and say by the exit code whether every bound is met."""
    return run.measure(_rows)


def _rows(folder: Path) -> Iterator[Row]:
    dice = Random(2300)
    machines = _machines(dice)
    file = folder / "opdb.json"
    file.write_text(json.dumps(machines))
    run.silverball("migrate", folder=folder)
    size = f"{len(machines):,} entries, {file.stat().st_size / 1e6:.1f} MB"
    for label in (f"import of {size}", "the same again, nothing new"):
        seconds = _command_seconds(folder, "import", "opdb", str(file))
        yield Row(label, f"{seconds:.2f} s", f"< {IMPORT_SECONDS_MAX:.0f} s", seconds < IMPORT_SECONDS_MAX)
    changes = folder / "changes.json"
    changes.write_text(json.dumps(_arenas_that_move(folder, machines, dice)))
    seconds = _command_seconds(folder, "import", "opdb-changelog", str(changes))
    yield Row(f"{MOVES} changed ids, {ARENAS:,} arenas", f"{seconds:.2f} s", "reported", is_met=True)
    seconds = _command_seconds(folder, "export", "nightly", str(folder / "exports"))
    yield Row("bulk files of all machines", f"{seconds:.2f} s", "reported", is_met=True)


def _command_seconds(folder: Path, *words: str) -> float:
    began = time.perf_counter()
    run.silverball(*words, folder=folder)
    return time.perf_counter() - began


def _random_id_part(dice: Random) -> str:
    return "".join(dice.choices(LETTERS, k=4))


def _machines(dice: Random) -> list[dict[str, Any]]:
    """The export of an invented machine database."""
    groups = [f"G{_random_id_part(dice)}" for _ in range(GROUPS)]
    ids = {f"{dice.choice(groups)}-M{_random_id_part(dice)}" for _ in range(MACHINES)}
    machines = [_machine(opdb_id, dice) | {"is_machine": True} for opdb_id in sorted(ids)]
    aliases = {f"{machine['opdb_id']}-A{_random_id_part(dice)}" for machine in dice.sample(machines, ALIASES)}
    return machines + [_machine(opdb_id, dice) | {"is_alias": True} for opdb_id in sorted(aliases)]


def _machine(opdb_id: str, dice: Random) -> dict[str, Any]:
    name = " ".join(dice.choices(("Comet", "Harbour", "Silver", "Night", "Rider", "Lantern"), k=3))
    return {
        "opdb_id": opdb_id,
        "name": name,
        "common_name": name,
        "shortname": None,
        "physical_machine": 1,
        "ipdb_id": dice.randrange(1, 7000),
        "manufacture_date": f"{dice.randrange(1950, 2026)}-06-01",
        "manufacturer": {"manufacturer_id": 7, "name": "Nebula", "full_name": "Nebula Amusements, Inc."},
        "type": "ss",
        "display": "dmd",
        "player_count": 4,
        "features": ["Widebody", "Replay"],
        "keywords": dice.sample(("sea", "space", "night", "road", "circus"), 3),
        "description": None,
        "created_at": "2018-01-20",
        "updated_at": "2021-06-14",
        "images": [_image(dice) for _ in range(3)],
    }


def _image(dice: Random) -> dict[str, Any]:
    stem = f"https://img.example/{dice.getrandbits(128):032x}"
    sizes = {"small": (160, 120), "medium": (640, 480), "large": (1200, 900)}
    return {
        "title": "Backglass",
        "primary": True,
        "type": "backglass",
        "urls": {name: f"{stem}-{name}.jpg" for name in sizes},
        "sizes": {name: {"width": width, "height": height} for name, (width, height) in sizes.items()},
    }


def _arenas_that_move(folder: Path, machines: list[dict[str, Any]], dice: Random) -> list[dict[str, Any]]:
    """Add arenas, a third of which have a replaced id, and return the list of changes."""
    ids = [machine["opdb_id"] for machine in machines]
    moves = {f"G{_random_id_part(dice)}x-M{_random_id_part(dice)}": dice.choice(ids) for _ in range(MOVES)}
    old = sorted(moves)
    store = Store(f"sqlite:///{folder / 'bench.db'}")
    with store.write() as transaction:
        now = datetime.now(UTC)
        owner = users.create_user(
            transaction.connection, name="Olga Ramp", email="olga@example.org", role="organizer", now=now
        )
        rows = [
            {
                "organizer_id": owner,
                "name": f"Machine {n}",
                "status": "active",
                "labels": [],
                "opdb_id": dice.choice(old if n % 3 == 0 else ids),
            }
            for n in range(ARENAS)
        ]
        transaction.connection.execute(insert(tables.arena), rows)
    store.close()
    return [
        {
            "changelog_id": n,
            "action": "move",
            "opdb_id_deleted": old_id,
            "opdb_id_replacement": moves[old_id],
            "created_at": "2024-01-04T06:16:55.000000Z",
        }
        for n, old_id in enumerate(old, start=1)
    ]


if __name__ == "__main__":
    raise SystemExit(main())
