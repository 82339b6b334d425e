"""Machines, tips and public files of the demo."""

import shutil
from datetime import UTC, datetime
from pathlib import Path

from silverball.exchange import nightly, pintips
from silverball.exchange.opdb import file as opdb_file
from silverball.jobs import nightly_exports
from silverball.service.machines import reads
from silverball.store.engine import Store

DATA = Path(__file__).parent / "demo_data"
FILES = DATA / "machines"
# The results of an invented night that was run with other software.
ELSEWHERE = DATA / "elsewhere" / "thursday.json"
EVENINGS_BEFORE = (("Wednesday", "2026-03-04"), ("Tuesday", "2026-03-03"))


def load_machines(store: Store) -> None:
    """Load the machines of the demo's tournaments and some tips, unless machines are stored already."""
    with store.read() as db:
        if reads.entry_ids(db):
            return
    machines, tips = opdb_file.read(FILES / "opdb.json"), pintips.read(FILES / "pintips.json")
    with store.write() as transaction:
        opdb_file.import_machines(transaction, machines)
        pintips.import_tips(transaction, tips)


def write_public_files(store: Store, folder: Path) -> None:
    """Write the bulk files, for which the server would wait until the morning, and the sample results."""
    nightly_exports.run(folder, store, datetime.now(UTC).replace(microsecond=0))
    shutil.copyfile(ELSEWHERE, folder / nightly.SAMPLE_RESULTS)
    text = ELSEWHERE.read_text("utf-8")
    for name, (weekday, day) in zip(nightly.SANDBOX_RESULTS, EVENINGS_BEFORE, strict=True):
        evening = text.replace("Thursday", weekday).replace("2026-03-05", day)
        (folder / name).write_text(evening, "utf-8")
