"""silverball import: tournaments, ratings and other data from files."""

import sys
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from random import SystemRandom
from typing import Any

import click

from silverball import settings
from silverball.cli import database, federation, import_machines
from silverball.exchange import ratings_csv
from silverball.exchange.bundle import file as bundles
from silverball.exchange.bundle import id_map
from silverball.exchange.bundle.file import ImportedBundle
from silverball.jobs import rating_period
from silverball.kit.errors import NotFound, Refusal
from silverball.service.periods import seeding
from silverball.service.users import reads as users
from silverball.store import audit
from silverball.store.engine import Store
from silverball.store.time_limits import LONG_COMMANDS
from silverball_wire.bundle import SOURCE_LENGTH_MAX

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
    """Read tournaments, ratings, machines, tips or the federation's records from files."""


for _command in (
    federation.federation,
    import_machines.opdb,
    import_machines.opdb_changelog,
    import_machines.pintips,
    import_machines.videos,
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
        parameters = rating_period.rating_parameters(settings.load())
        click.echo(f"Storing {len(imported.seeds)} ratings ...", err=True)
        with store.write() as transaction:
            seeding.import_ratings(
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
    return is_good


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
