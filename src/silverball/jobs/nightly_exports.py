"""The job that writes the bulk files, once a day in the small hours."""

import logging
from datetime import datetime, timedelta
from functools import partial
from pathlib import Path

from silverball.exchange import nightly
from silverball.jobs.clock import Job
from silverball.settings import Settings
from silverball.store.engine import Store

LOG = logging.getLogger("silverball.jobs")
# In UTC: after the night's ratings.
HOUR = 6


def create_job(settings: Settings) -> Job:
    """The job for the operator's folder."""
    return Job("nightly_exports", partial(run, Path(settings.exports_folder)))


def run(folder: Path, store: Store, now: datetime) -> None:
    """Write each file that is missing or was due since it was written."""
    for export in nightly.BULK_FILES:
        written_at = nightly.written_at(export, folder)
        if written_at is None or written_at < _last_due_at(now):
            manifest = nightly.write_bulk_file(store, export, folder, now)
            if manifest is not None:
                LOG.info("%s was written with %s rows", export.name, manifest.rows)


def _last_due_at(now: datetime) -> datetime:
    """The last time at which the files were due."""
    due = now.replace(hour=HOUR, minute=0, second=0, microsecond=0)
    return due if due <= now else due - timedelta(days=1)
