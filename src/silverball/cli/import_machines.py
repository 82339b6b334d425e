"""silverball import opdb, opdb-changelog, videos, pintips: what is known of machines, from files."""

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

FILE = click.argument("file", type=click.Path(path_type=Path), metavar="FILE")
FORCE = click.option("--force", is_flag=True, help="Even if more than a fifth of what is stored would go.")


@click.command()
@FILE
@FORCE
def opdb(file: Path, *, force: bool) -> None:
    """Read the machine database: FILE takes the place of what is stored.

    Any of its four shapes will do; what the file does not say of an entry is kept, and so are entries whose
    id begins with H. Arenas follow the known changes of ids.
    """
    with _open_database(file) as store:
        read = machine_files.read(file)
        with store.write() as transaction:
            done, moves = machine_files.import_machines(transaction, read, is_forced=force)
    click.echo(
        f"{file}: {_count_text(done.entries, 'entry', 'entries')},"
        f" {done.new} new, {done.changed} changed, {done.removed} gone"
    )
    _print_moves(moves)


@click.command()
@FILE
def opdb_changelog(file: Path) -> None:
    """Read the list of ids that were replaced or deleted, and let everything that has one follow.

    Arenas, summaries, tips and films get the id that the machine has now, all at once.
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
    """Read films about titles: FILE takes the place of those that are stored."""
    with _open_database(file) as store:
        read = video_files.read(file)
        with store.write() as transaction:
            video_files.import_videos(transaction, read)
    click.echo(f"{file}: {_count_text(len(read), 'film')}")


@click.command()
@FILE
@FORCE
def pintips(file: Path, *, force: bool) -> None:
    """Read playing tips: FILE takes the place of those that are stored."""
    with _open_database(file) as store:
        read = tip_files.read(file)
        with store.write() as transaction:
            done, moves = tip_files.import_tips(transaction, read, is_forced=force)
    click.echo(f"{file}: {_count_text(done.now, 'tip')}, {done.before} before")
    _print_moves(moves)


@contextmanager
def _open_database(file: Path) -> Iterator[Store]:
    """The database, and the file's name before whatever is wrong with it."""
    with database.open_database() as store:
        try:
            yield store
        except Refusal as error:
            raise click.ClickException(f"{file}: {error.message}") from error
        except OSError as error:
            raise click.ClickException(f"{file}: It cannot be read: {error.strerror}.") from error


def _print_moves(moves: MachineMoves) -> None:
    if moves.moved:
        click.echo(
            f"  {_count_text(len(moves.moved), 'id')} followed, {_count_text(moves.arenas, 'arena')} changed:"
        )
    for old, new in moves.moved.items():
        click.echo(f"    {old} -> {new or 'deleted'}")
    for one in moves.lost:
        click.echo(f"  {one} was replaced by something that is not known here; kept.", err=True)


def _count_text(number: int, one: str, many: str = "") -> str:
    return f"{number} {one if number == 1 else many or one + 's'}"
