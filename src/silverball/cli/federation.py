"""silverball import federation: the federation's records of players, from a file."""

import sys
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import click

from silverball.cli import database
from silverball.exchange import federation as files
from silverball.exchange.federation import BrokenRecordsFile, ImportedRecords
from silverball.store.engine import Store
from silverball.store.time_limits import LONG_COMMANDS


@click.command()
@click.argument("file", type=click.Path(path_type=Path))
def federation(file: Path) -> None:
    """Read the pinball federation's records of players from FILE: a list in JSON, or CSV.

    A record replaces the stored one with its ifpaId; other records stay. Either the whole file is stored or
    nothing: each fault is reported with its row and field.
    """
    with database.open_database(limits=LONG_COMMANDS) as store:
        try:
            done = import_records(store, file, watch=_show_progress)
        except BrokenRecordsFile as error:
            for sentence in error.errors["file"]:
                click.echo(f"{file}: {sentence}", err=True)
            raise click.ClickException("Nothing was stored.") from error
        except OSError as error:
            raise click.ClickException(f"{file} cannot be read: {error.strerror}.") from error
    click.echo(f"{file}: {done.records} records, {done.new} of them new")


def import_records(
    store: Store, file: Path, *, watch: files.ProgressWatch = files.without_progress
) -> ImportedRecords:
    """Store the records of a file, all of them or none. Raises BrokenFile or OSError."""
    records = files.read(file, watch)
    with store.write() as transaction:
        return files.import_records(transaction.connection, records, now=datetime.now(UTC), watch=watch)


def _show_progress(items: Sequence[Any], what: str) -> Iterable[Any]:
    if not sys.stderr.isatty():
        return items
    from rich.console import Console
    from rich.progress import track

    return track(items, what, console=Console(stderr=True), transient=True)
