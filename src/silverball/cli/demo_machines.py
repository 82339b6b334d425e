"""Machines, tips and bulk files of the demo."""

from datetime import UTC, datetime
from pathlib import Path

from silverball.exchange import pintips
from silverball.exchange.opdb import file as opdb_file
from silverball.jobs import nightly_exports
from silverball.service.machines import reads
from silverball.store.engine import Store

FILES = Path(__file__).parent / "demo_data" / "machines"


def load_machines(store: Store) -> None:
    """Load the machines of the demo's tournaments and some tips, unless machines are stored already."""
    with store.read() as db:
        if reads.entry_ids(db):
            return
    machines, tips = opdb_file.read(FILES / "opdb.json"), pintips.read(FILES / "pintips.json")
    with store.write() as transaction:
        opdb_file.import_machines(transaction, machines)
        pintips.import_tips(transaction, tips)


def write_bulk_files(store: Store, folder: Path) -> None:
    """Write the bulk files at once, which the server would otherwise write in the morning."""
    nightly_exports.run(folder, store, datetime.now(UTC).replace(microsecond=0))
