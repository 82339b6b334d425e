"""silverball export: tournaments and bulk files."""

import sys
from datetime import UTC, datetime
from pathlib import Path

import click

from silverball.cli import database
from silverball.exchange import bulk
from silverball.exchange import nightly as bulk_files
from silverball.exchange.bulk import PartRecord
from silverball.exchange.bundle import file as bundles
from silverball.exchange.nightly import Manifest
from silverball.service.moving import writes as moving_writes
from silverball.store.database.engine import Store

TOURNAMENT_ID = click.IntRange(1, 2**63 - 1)


@click.group()
def export() -> None:
    """Write tournaments and bulk files."""


@export.command()
@click.argument("tournament_id", metavar="ID", type=TOURNAMENT_ID)
@click.option("-o", "--output", type=click.Path(path_type=Path, dir_okay=False), help="The file to write.")
@click.option("--with-journal", is_flag=True, help="With all that was done, so that undo reaches back.")
@click.option("--with-seed", is_flag=True, help="With the seed of draws to come; its page tells so.")
def bundle(tournament_id: int, output: Path | None, *, with_journal: bool, with_seed: bool) -> None:
    """Write tournament ID as a bundle, which `import bundle` reads, to a file or to standard output.

    A bundle holds everything, including details that users hide from others: share it with care. Before
    completion it leaves the seed of the draws out; with it, the journal and the page of draws say so.
    """
    nothing = f"There is no tournament {tournament_id}."
    with database.open_database(not_found=nothing) as store:
        if with_seed:
            moving_writes.note_seed_export(store, tournament_id, datetime.now(UTC).replace(microsecond=0))
        with store.read() as db:
            content = bundles.export_bundle(db, tournament_id, with_journal=with_journal, with_seed=with_seed)
    if output is None:
        sys.stdout.buffer.write(content)
        return
    try:
        output.write_bytes(content)
    except OSError as error:
        raise click.ClickException(f"{output} cannot be written: {error.strerror}.") from error


@export.command()
@click.argument("folder", metavar="DIR", type=click.Path(path_type=Path, file_okay=False))
def nightly(folder: Path) -> None:
    """Write the bulk files into DIR, each with its manifest, as the server does once a day.

    The tables of a month are read at one moment, so that their ids join. An existing file keeps its
    content until the new one is complete.
    """
    now = datetime.now(UTC).replace(microsecond=0)
    with database.open_database() as store:
        for bulk_file in bulk_files.BULK_FILES:
            try:
                manifest = bulk_files.write_bulk_file(store, bulk_file, folder, now)
            except OSError as error:
                sentence = f"{folder / bulk_file.name} cannot be written: {error.strerror}."
                raise click.ClickException(sentence) from error
            click.echo(f"{folder / bulk_file.name}: {_manifest_text(manifest)}")
        _write_tables(store, folder, now)


def _write_tables(store: Store, folder: Path, now: datetime) -> None:
    with store.read() as db:
        current = bulk.parts_to_write(db, now)
    try:
        for part in current:
            record = bulk.write_part(store, part, folder, now)
            click.echo(f"{folder}: tables of {part}: {_record_text(record)}")
        for part in set(bulk.written_parts(folder)).difference(current):
            bulk.remove_part(folder, part)
        bulk.write_manifest(folder)
    except OSError as error:
        raise click.ClickException(f"{folder} cannot be written: {error.strerror}.") from error
    click.echo(f"{folder / bulk.MANIFEST}: the list of these files")


@export.command()
@click.argument("file", type=click.Path(path_type=Path, dir_okay=False))
def sqlite(file: Path) -> None:
    """Write FILE, an SQLite database of what is public, for Datasette, DuckDB and notebooks.

    It has completed tournaments with players, games, results, standings and arenas, and all ratings; no
    accounts, no secrets, and nobody who opted out. An existing FILE is replaced.
    """
    with database.open_database() as store:
        try:
            counts = bulk.write_database(store, file)
        except OSError as error:
            raise click.ClickException(f"{file} cannot be written: {error.strerror or error}.") from error
    click.echo(f"{file}: " + ", ".join(f"{count} {name}" for name, count in counts.items()))


def _record_text(record: PartRecord) -> str:
    rows = sum(file.rows for file in record.files if file.format == bulk.CSV)
    size = sum(file.bytes for file in record.files)
    return f"{rows} row{'' if rows == 1 else 's'}, {len(record.files)} files, {size} bytes"


def _manifest_text(manifest: Manifest | None) -> str:
    if manifest is None:
        return "nothing to write yet"
    return f"{manifest.rows} row{'' if manifest.rows == 1 else 's'}, {manifest.bytes} bytes"
