"""The job that writes the bulk files, once a day in the small hours."""

import logging
from datetime import datetime, timedelta
from functools import partial
from pathlib import Path

from silverball.exchange import bulk, files, nightly
from silverball.jobs.clock import Job
from silverball.settings import Settings
from silverball.store.database.engine import Store
from silverball_wire import base

LOG = logging.getLogger("silverball.jobs")
# In UTC: after the night's ratings.
HOUR = 6


def create_job(settings: Settings) -> Job:
    """The job for the operator's folder."""
    return Job("nightly_exports", partial(run, Path(settings.exports_folder)))


def run(folder: Path, store: Store, now: datetime) -> None:
    """Write each file that is missing or was due since it was written, unless another node writes them."""
    folder.mkdir(parents=True, exist_ok=True)
    with files.try_lock(folder) as is_locked:
        if is_locked:
            _write_files(folder, store, now)


def _write_files(folder: Path, store: Store, now: datetime) -> None:
    for export in nightly.BULK_FILES:
        written_at = nightly.written_at(export, folder)
        if written_at is None or written_at < _last_due_at(now):
            manifest = nightly.write_bulk_file(store, export, folder, now)
            if manifest is not None:
                LOG.info("%s was written with %s rows", export.name, manifest.rows)

    _write_tables(folder, store, now)


def _write_tables(folder: Path, store: Store, now: datetime) -> None:
    """Write each part of the bulk tables that is missing or was due; a stopped run goes on with the next."""
    with store.read() as db:
        current = bulk.parts_to_write(db, now)
    due = base.iso(_last_due_at(now))
    for part in current:
        record = bulk.read_record(folder, part)
        if record is None or record.written_at < due:
            written = bulk.write_part(store, part, folder, now)
            LOG.info("tables of %s were written, %s files", part, len(written.files))
    for part in set(bulk.written_parts(folder)).difference(current):
        bulk.remove_part(folder, part)
    bulk.write_manifest(folder)


def _last_due_at(now: datetime) -> datetime:
    """The last time at which the files were due."""
    due = now.replace(hour=HOUR, minute=0, second=0, microsecond=0)
    return due if due <= now else due - timedelta(days=1)
