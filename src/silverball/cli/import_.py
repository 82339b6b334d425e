"""silverball import: tournaments, players, ratings and other data from files."""

import sys
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from random import SystemRandom
from typing import Any

import click

from silverball.cli import database
from silverball.cli.import_players import players
from silverball.exchange import federation as files
from silverball.exchange import machine_files, ratings_csv
from silverball.exchange import opdb as exchange_opdb
from silverball.exchange.bundle import file as bundles
from silverball.exchange.bundle import id_map
from silverball.exchange.bundle.file import ImportedBundle
from silverball.exchange.federation import BrokenRecordsFile, ImportedRecords
from silverball.kit.errors import NotFound, Refusal
from silverball.rules.ratings.formulas import DEFAULTS
from silverball.service.machines.writes import MachineMoves
from silverball.service.periods import rating_run
from silverball.service.users import reads as users
from silverball.store.database.deadlines import LONG_COMMANDS
from silverball.store.database.engine import Store
from silverball.store.people import audit, likely_doubles
from silverball_wire.bundle import SOURCE_LENGTH_MAX

# silverball import opdb, opdb-changelog, videos, pintips: the machine database from files.


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
        entries = exchange_opdb.read_machines(file)
        with store.write() as transaction:
            counts, moves = exchange_opdb.import_machines(transaction, entries, is_forced=force)
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
        changes = exchange_opdb.read_changelog(file)
        with store.write() as transaction:
            new, moves = exchange_opdb.import_changes(transaction, changes)
    click.echo(f"{file}: {_count_text(len(changes), 'change')}, {new} new")
    _print_moves(moves)


@click.command()
@FILE
def videos(file: Path) -> None:
    """Read videos about titles: FILE replaces the stored ones."""
    with _open_database(file) as store:
        video_list = machine_files.read_videos(file)
        with store.write() as transaction:
            machine_files.import_videos(transaction, video_list)
    click.echo(f"{file}: {_count_text(len(video_list), 'video')}")


@click.command()
@FILE
@FORCE
def pintips(file: Path, *, force: bool) -> None:
    """Read playing tips: FILE replaces the stored ones."""
    with _open_database(file) as store:
        tips = machine_files.read_pintips(file)
        with store.write() as transaction:
            counts, moves = machine_files.import_tips(transaction, tips, is_forced=force)
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


# silverball import federation: the federation's records of players, from a file.


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


USER_ID = click.IntRange(1, 2**63 - 1)
# From this many files on, progress is printed.
PROGRESS_FILES_MIN = 5
OUTCOMES = {
    "new": "imported",
    "replaced": "imported again, because it had changed",
    "unchanged": "exists already",
}


class SourceName(click.ParamType[str]):
    """The name of a service: an address, or what its people call it."""

    name = "name"

    def convert(self, value: Any, parameter: click.Parameter | None, context: click.Context | None) -> str:
        """The name without space around it."""
        text = str(value).strip()
        if not text.isprintable() or not 0 < len(text) <= SOURCE_LENGTH_MAX:
            self.fail(f"{value!r} is not a name of 1 to {SOURCE_LENGTH_MAX} characters.", parameter, context)
        return text


@click.group("import")
def import_() -> None:
    """Read tournaments, players, ratings, machines, tips or the federation's records from files."""


for _command in (
    federation,
    opdb,
    opdb_changelog,
    pintips,
    players,
    videos,
):
    import_.add_command(_command)


@import_.command()
@click.argument("file", type=click.Path(path_type=Path, dir_okay=False))
def ratings(file: Path) -> None:
    """Read all ratings from FILE, a ratings CSV as this program writes it.

    Ratings continue from there: the file is taken to include all results up to its day. It is stored
    completely or not at all, and only while no day was rated here; another file replaces an earlier one.
    """
    with database.open_database(limits=LONG_COMMANDS) as store:
        click.echo(f"Reading {file} ...", err=True)
        try:
            imported = ratings_csv.read(file)
        except OSError as error:
            raise click.ClickException(f"{file} cannot be read: {error.strerror}.") from error
        parameters = DEFAULTS
        click.echo(f"Storing {len(imported.seeds)} ratings ...", err=True)
        with store.write() as transaction:
            rating_run.import_ratings(
                transaction.connection, imported.seeds, imported.day, parameters, datetime.now(UTC)
            )
    click.echo(f"{len(imported.seeds)} ratings as of {imported.day}.")


@import_.command()
@click.argument("files", nargs=-1, required=True, type=click.Path(path_type=Path), metavar="FILE...")
@click.option("--owner", type=USER_ID, help="User id of the organizer who will own the tournaments.")
@click.option("--renumber", is_flag=True, help="Give everything new ids, and print them.")
@click.option(
    "--source",
    type=SourceName(),
    metavar="NAME",
    help="The service whose ids the files have. Files written by Silverball name it themselves.",
)
def bundle(files: tuple[Path, ...], owner: int | None, source: str | None, *, renumber: bool) -> None:
    """Read bundles: whole tournaments in the published shapes, one per FILE.

    The same player, arena or user in several files of one source is the same here, in later imports too.
    Each file is stored completely or not at all; an unchanged file changes nothing. A broken file is
    reported with the place of its fault, and the other files are still read.
    """
    with database.open_database(not_found=f"There is no user {owner}.", limits=LONG_COMMANDS) as store:
        if owner is not None:
            with store.read() as db:
                users.find_user(db, owner, None)
        is_good = import_bundles(store, files, owner_id=owner, source=source, new_ids=renumber)
    if not is_good:
        sys.exit(1)


def import_bundles(
    store: Store,
    files: Sequence[Path],
    *,
    owner_id: int | None,
    source: str | None = None,
    new_ids: bool = False,
) -> bool:
    """Import each file in its own transaction and print the outcome; False when one was refused."""
    is_good = True
    for number, file in enumerate(files, start=1):
        if len(files) >= PROGRESS_FILES_MIN:
            click.echo(f"[{number}/{len(files)}] {file}", err=True)
        try:
            imported = import_bundle(store, file, owner_id=owner_id, source=source, new_ids=new_ids)
        except NotFound as error:
            raise click.ClickException(error.message) from error
        except (Refusal, OSError) as error:
            is_good = False
            click.echo(f"{file}: {_error_sentence(error)}", err=True)
        else:
            _print_outcome(file, imported)
            if imported.outcome != "unchanged":
                _print_doubles(store, imported.tournament_id)
    return is_good


def _print_doubles(store: Store, tournament_id: int) -> None:
    """Name the players who are there twice: an import keeps what its source says."""
    with store.read() as db:
        doubles = likely_doubles.doubles_by_number(db, [tournament_id])
    for double in doubles:
        click.echo(f"  {likely_doubles.double_text(double)}")


def import_bundle(
    store: Store,
    file: Path,
    *,
    owner_id: int | None,
    source: str | None = None,
    new_ids: bool = False,
) -> ImportedBundle:
    """Import one file; without `source` it is from what it names itself. Raises a Refusal, or OSError."""
    contents = bundles.read(file)
    now = datetime.now(UTC)
    with store.write() as transaction:
        imported = bundles.import_bundle(
            transaction,
            contents,
            owner_id=owner_id,
            new_ids=new_ids,
            source=source or id_map.source_of(transaction.connection, contents.bundle, new_ids=new_ids),
            now=now,
            dice=SystemRandom(),
        )
        if imported.outcome != "unchanged":
            audit.record(
                transaction.connection,
                "tournament-restored",
                at=now,
                user_id=owner_id,
                source=audit.COMMAND_LINE,
                detail=str(imported.tournament_id),
            )
    return imported


def _error_sentence(error: Refusal | OSError) -> str:
    return error.message if isinstance(error, Refusal) else f"The file cannot be read: {error.strerror}."


def _print_outcome(file: Path, imported: ImportedBundle) -> None:
    click.echo(f"{file}: tournament {imported.tournament_id} {imported.name!r} {OUTCOMES[imported.outcome]}")
    if imported.is_journal_left:
        click.echo("  without its journal, which belongs to the ids and the organizer in the file")
    for name, ids in imported.ids.items() if imported.outcome != "unchanged" else ():
        for old, new in ids.items():
            if old != new:
                click.echo(f"  {name} {old} -> {new}")
