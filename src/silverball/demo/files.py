"""The folder of a demo, and the files that ship with it: bundles, machines, tips, results from elsewhere."""

import os
import shutil
from datetime import UTC, datetime
from pathlib import Path

import click

from silverball.exchange import nightly, pintips
from silverball.exchange.opdb import file as opdb_file
from silverball.jobs import nightly_exports
from silverball.service.machines import reads as machines
from silverball.service.users import reads as users
from silverball.store.engine import Store
from silverball.store.faults import DatabaseFault

DATA = Path(__file__).parent / "data"
# Invented federation records of all players with a federation number.
FEDERATION = DATA / "federation.csv"
MACHINES = DATA / "machines"
# The results of an invented night that was run with other software, and the evening before.
ELSEWHERE = DATA / "elsewhere" / "thursday.json"
EVENING_BEFORE = ("Wednesday", "2026-03-04")
# The layout of the data that this version makes; a folder with another one is made anew.
LAYOUT = "3"
LAYOUT_FILE = "layout"
DATABASE = "silverball.db"
TOKEN = "token"  # noqa: S105  # the name of a file
PASSWORD = "password"  # noqa: S105  # the name of a file
EXPORTS = "exports"
TRIALS = "trials.json"
OLDER = "older"
DATABASE_FILES = (
    *(f"{DATABASE}{ending}" for ending in ("", "-wal", "-shm", ".secret")),
    *(f"{DATABASE}-counts{ending}" for ending in ("", "-wal", "-shm")),
)
MADE = (*DATABASE_FILES, TOKEN, PASSWORD, EXPORTS, TRIALS, LAYOUT_FILE)


def prepare_folder(data: Path, organizer_email: str) -> Path:
    """Return the folder, ready to be filled or filled by this version.

    The files of an older version's demo are moved to `older` inside it. Raises ClickException for a folder
    that cannot be made, or with a database that no demo made.
    """
    try:
        data.mkdir(parents=True, exist_ok=True)
        folder = data.resolve()
        if (folder / DATABASE).exists() and _layout(folder) != LAYOUT:
            if not _is_demo(folder / DATABASE, organizer_email):
                raise click.ClickException(f"The database in {data} is not a demo's. Choose another folder.")
            _set_aside(folder)
            sentence = f"{data} is from another version and is made anew; its files are in {data / OLDER}."
            click.echo(sentence, err=True)
        (folder / LAYOUT_FILE).write_text(LAYOUT + "\n")
    except OSError as error:
        raise click.ClickException(f"{data} cannot be created: {error.strerror}.") from error
    return folder


def write_secret(file: Path, text: str) -> None:
    """Write a file that from its creation on no other user of this machine can read."""
    file.unlink(missing_ok=True)
    with os.fdopen(os.open(file, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w") as stream:
        stream.write(text + "\n")


def load_machines(store: Store) -> None:
    """Load the machines of the demo's tournaments and some tips, unless machines are stored already."""
    with store.read() as db:
        if machines.entry_ids(db):
            return
    entries, tips = (
        opdb_file.read(DATA / "machines" / "opdb.json"),
        pintips.read(DATA / "machines" / "pintips.json"),
    )
    with store.write() as transaction:
        opdb_file.import_machines(transaction, entries)
        pintips.import_tips(transaction, tips)


def write_public_files(store: Store, folder: Path) -> None:
    """Write the bulk files, for which the server would wait until the morning, and the sample results."""
    nightly_exports.run(folder, store, datetime.now(UTC).replace(microsecond=0))
    shutil.copyfile(ELSEWHERE, folder / nightly.SAMPLE_RESULTS)
    weekday, day = EVENING_BEFORE
    text = ELSEWHERE.read_text("utf-8").replace("Thursday", weekday).replace("2026-03-05", day)
    (folder / nightly.SANDBOX_RESULTS).write_text(text, "utf-8")


def _layout(folder: Path) -> str:
    file = folder / LAYOUT_FILE
    return file.read_text().strip() if file.exists() else ""


def _is_demo(database: Path, organizer_email: str) -> bool:
    """Whether the database, of any version, has the demo's organizer."""
    store = Store(f"sqlite:///{database}")
    try:
        with store.read() as db:
            return users.user_id_by_email(db, organizer_email) is not None
    except DatabaseFault:
        return False
    finally:
        store.close()


def _set_aside(folder: Path) -> None:
    older = folder / OLDER
    shutil.rmtree(older, ignore_errors=True)
    older.mkdir()
    for name in MADE:
        if (folder / name).exists():
            (folder / name).rename(older / name)
