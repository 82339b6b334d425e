"""silverball export: tournaments and bulk files."""

import sys
from datetime import UTC, datetime
from pathlib import Path

import click

from silverball.cli import database
from silverball.exchange import nightly as bulk_files
from silverball.exchange.bundle import file as bundles
from silverball.exchange.nightly import Manifest

TOURNAMENT_ID = click.IntRange(1, 2**63 - 1)


@click.group()
def export() -> None:
    """Write tournaments and bulk files."""


@export.command()
@click.argument("tournament_id", metavar="ID", type=TOURNAMENT_ID)
@click.option("-o", "--output", type=click.Path(path_type=Path, dir_okay=False), help="The file to write.")
@click.option("--with-journal", is_flag=True, help="With all that was done, so that undo reaches back.")
def bundle(tournament_id: int, output: Path | None, *, with_journal: bool) -> None:
    """Write tournament ID as a bundle, which `import bundle` reads, to a file or to standard output.

    A bundle holds everything, including details that users hide from others: share it with care.
    """
    nothing = f"There is no tournament {tournament_id}."
    with database.open_database(not_found=nothing) as store, store.read() as db:
        content = bundles.export_bundle(db, tournament_id, with_journal=with_journal)
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

    An existing file keeps its content until the new one is complete.
    """
    with database.open_database() as store:
        for bulk_file in bulk_files.BULK_FILES:
            try:
                manifest = bulk_files.write_bulk_file(store, bulk_file, folder, datetime.now(UTC))
            except OSError as error:
                sentence = f"{folder / bulk_file.name} cannot be written: {error.strerror}."
                raise click.ClickException(sentence) from error
            click.echo(f"{folder / bulk_file.name}: {_manifest_text(manifest)}")


def _manifest_text(manifest: Manifest | None) -> str:
    if manifest is None:
        return "nothing to write yet"
    return f"{manifest.rows} row{'' if manifest.rows == 1 else 's'}, {manifest.bytes} bytes"
