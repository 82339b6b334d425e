"""silverball import opdb, opdb-changelog, videos, pintips: the machine database from files."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import click

from silverball.cli import database
from silverball.exchange import pintips as tip_files
from silverball.exchange import videos as video_files
from silverball.exchange.opdb import changelog as changelogs
from silverball.exchange.opdb import file as machine_files
from silverball.kit.errors import Refusal
from silverball.service.machines.writes.moves import MachineMoves
from silverball.store.engine import Store
from silverball.store.time_limits import LONG_COMMANDS

FILE = click.argument("file", type=click.Path(path_type=Path), metavar="FILE")
FORCE = click.option(
    "--force", is_flag=True, help="Even if this removes more than a fifth of the stored data."
)


@click.command()
@FILE
@FORCE
def opdb(file: Path, *, force: bool) -> None:
    """Read the machine database: FILE replaces the stored entries.

    All four file formats are accepted. Fields that the file does not have are kept, and so are entries
    whose id begins with H. Arenas follow the known changes of ids.
    """
    with _open_database(file) as store:
        entries = machine_files.read(file)
        with store.write() as transaction:
            counts, moves = machine_files.import_machines(transaction, entries, is_forced=force)
    click.echo(
        f"{file}: {_count_text(counts.entries, 'entry', 'entries')},"
        f" {counts.new} new, {counts.changed} changed, {counts.removed} removed"
    )
    _print_moves(moves)


@click.command()
@FILE
def opdb_changelog(file: Path) -> None:
    """Read the list of replaced and deleted ids, and update all data that uses them.

    Arenas, summaries, tips and videos get the machine's current id in one transaction.
    """
    with _open_database(file) as store:
        changes = changelogs.read(file)
        with store.write() as transaction:
            new, moves = changelogs.import_changes(transaction, changes)
    click.echo(f"{file}: {_count_text(len(changes), 'change')}, {new} new")
    _print_moves(moves)


@click.command()
@FILE
def videos(file: Path) -> None:
    """Read videos about titles: FILE replaces the stored ones."""
    with _open_database(file) as store:
        video_list = video_files.read(file)
        with store.write() as transaction:
            video_files.import_videos(transaction, video_list)
    click.echo(f"{file}: {_count_text(len(video_list), 'video')}")


@click.command()
@FILE
@FORCE
def pintips(file: Path, *, force: bool) -> None:
    """Read playing tips: FILE replaces the stored ones."""
    with _open_database(file) as store:
        tips = tip_files.read(file)
        with store.write() as transaction:
            counts, moves = tip_files.import_tips(transaction, tips, is_forced=force)
    click.echo(f"{file}: {_count_text(counts.now, 'tip')}, {counts.before} before")
    _print_moves(moves)


@contextmanager
def _open_database(file: Path) -> Iterator[Store]:
    """Open the database, and name the file in every fault."""
    with database.open_database(limits=LONG_COMMANDS) as store:
        try:
            yield store
        except Refusal as error:
            raise click.ClickException(f"{file}: {error.message}") from error
        except OSError as error:
            raise click.ClickException(f"{file}: The file cannot be read: {error.strerror}.") from error


def _print_moves(moves: MachineMoves) -> None:
    if moves.moved:
        click.echo(
            f"  {_count_text(len(moves.moved), 'id')} followed, {_count_text(moves.arenas, 'arena')} changed:"
        )
    for old, new in moves.moved.items():
        click.echo(f"    {old} -> {new or 'deleted'}")
    for opdb_id in moves.lost:
        click.echo(f"  {opdb_id} was replaced by an unknown entry and is kept.", err=True)


def _count_text(number: int, singular: str, plural: str = "") -> str:
    return f"{number} {singular if number == 1 else plural or singular + 's'}"
