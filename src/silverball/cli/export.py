"""silverball export: tournaments to files."""

import sys
from pathlib import Path

import click

from silverball.cli import database
from silverball.exchange import bundle as bundles

TOURNAMENT_ID = click.IntRange(1, 2**63 - 1)


@click.group()
def export() -> None:
    """Write tournaments to files."""


@export.command()
@click.argument("tournament_id", metavar="ID", type=TOURNAMENT_ID)
@click.option("-o", "--output", type=click.Path(path_type=Path, dir_okay=False), help="The file to write.")
def bundle(tournament_id: int, output: Path | None) -> None:
    """Write tournament ID as a bundle, which `import bundle` reads, to a file or to standard output.

    A bundle holds everything, also what its users do not show to others: mind who gets it.
    """
    nothing = f"There is no tournament {tournament_id}."
    with database.opened(nothing=nothing) as store, store.read() as db:
        content = bundles.written(db, tournament_id)
    if output is None:
        sys.stdout.buffer.write(content)
        return
    try:
        output.write_bytes(content)
    except OSError as error:
        raise click.ClickException(f"{output} cannot be written: {error.strerror}.") from error
