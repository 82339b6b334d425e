"""Open the database for a command, and turn refusals into one sentence on stderr."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path

import click
import msgspec

from silverball import settings
from silverball.kit.errors import Invalid, NotFound, Refusal
from silverball.settings import SettingError, Settings
from silverball.store.database import backups, faults, health, migrate
from silverball.store.database.backups import Encryption, Source
from silverball.store.database.deadlines import COMMANDS, StoreLimits, TransactionTookTooLong
from silverball.store.database.engine import SECRET_FILE_ENDING, Store
from silverball.store.database.faults import DatabaseFault
from silverball.store.database.files import CopyFailed
from silverball.store.database.health import ForeignLog
from silverball.store.database.migrate import BeforeChange, UnusableSchema
from silverball.store.database.postgresql import SessionNotKept

TOOK_TOO_LONG = "The database took too long, and nothing was changed. Give the command again."
# A migration that begins again within this time has its backup already.
BACKUP_LASTS = timedelta(days=1)
URL_SCHEMES = ("sqlite:", "postgresql+psycopg:")


@contextmanager
def open_database(
    *,
    not_found: str = "It does not exist.",
    may_migrate: bool = False,
    may_create: bool = False,
    url: str | None = None,
    limits: StoreLimits = COMMANDS,
    is_backed_up: bool = True,
) -> Iterator[Store]:
    """Open the database of `url`, or of SILVERBALL_DATABASE_URL, and bring its tables up to date.

    `not_found` replaces the sentence of NotFound. `may_migrate` also allows migrations of PostgreSQL,
    which several programs may share. A SQLite file that is missing is made with `may_create` only.
    Before tables change, a backup is made, unless it is a database of another `url` or not `is_backed_up`.
    Every refusal becomes a sentence on stderr and exit code 1.
    """
    try:
        address = url or database_url()
        if not may_create:
            require_file(address)
        file = sqlite_file(address)
        if file is not None:
            health.require_own_log(file)
            health.forget_ended_log(file)
        store = Store(address, None if url else secret_file(), limits=limits)
        try:
            store.require_session()
            before = _back_up_before if is_backed_up and url is None else _go_on
            _bring_up_to_date(store, before, may_migrate=may_migrate)
            yield store
        finally:
            store.close()
    except NotFound as error:
        raise click.ClickException(not_found) from error
    except Invalid as error:
        sentences = [sentence for listed in error.errors.values() for sentence in listed]
        raise click.ClickException(" ".join(sentences)) from error
    except TransactionTookTooLong as error:
        raise click.ClickException(TOOK_TOO_LONG) from error
    except CopyFailed as error:
        hint = "Nothing was changed. Without a backup: silverball migrate --no-backup"
        raise click.ClickException(
            f"No backup can be made before the tables change. {error} {hint}"
        ) from error
    except (ForeignLog, Refusal, SessionNotKept, SettingError, UnusableSchema) as error:
        raise click.ClickException(str(error)) from error
    except DatabaseFault as error:
        if faults.is_damage(error):
            sentence = f"The database is damaged: {faults.short_message(error)}. {health.HOW_TO_MEND}."
            raise click.ClickException(sentence) from error
        if faults.is_lock_timeout(error):
            raise click.ClickException(TOOK_TOO_LONG) from error
        raise click.ClickException(f"The database cannot be used: {faults.short_message(error)}") from error


def backup_source() -> Source:
    """The database and key file that a backup copies. Raises SettingError and CopyFailed."""
    url = database_url()
    require_file(url)
    file = sqlite_file(url)
    if file is None and url.startswith("sqlite:"):
        raise CopyFailed("A database in memory cannot be copied.")
    return Source(url=url, file=file, key_file=key_file(file))


def backup_encryption(loaded: Settings) -> Encryption | None:
    """How backups are encrypted by the settings. Raises CopyFailed for a short passphrase."""
    if not loaded.backup_passphrase:
        return None
    return Encryption(
        passphrase=backups.usable_passphrase(loaded.backup_passphrase, "SILVERBALL_BACKUP_PASSPHRASE")
    )


def key_file(file: Path | None) -> Path | None:
    """The key file: that of the settings, or the one beside an SQLite file."""
    named = secret_file()
    if named is None and file is not None:
        return file.with_name(f"{file.name}{SECRET_FILE_ENDING}")
    return named


def secret_file() -> Path | None:
    """The key file of the settings, where they name one."""
    file = settings.load().secret_file
    return Path(file) if file else None


def database_url() -> str:
    """The address of the database in the settings. Raises SettingError for one of another kind."""
    url = settings.load().database_url
    if not url.startswith(URL_SCHEMES):
        raise SettingError("SILVERBALL_DATABASE_URL must begin with sqlite:/// or postgresql+psycopg://.")
    return url


def require_file(url: str) -> None:
    """Raise SettingError without the SQLite file: the wrong folder, or a disk that is not mounted.

    Both would look like a new site.
    """
    file = sqlite_file(url)
    if file is not None and not file.exists():
        raise SettingError(
            f"There is no database at {file.absolute()}. SILVERBALL_DATABASE_URL names the database. If this"
            " is a new site, make it with `silverball migrate` or `silverball serve --create`; otherwise see"
            " whether its disk is mounted."
        )


def sqlite_file(url: str) -> Path | None:
    """The file of an SQLite database; None for other databases, and for one in memory."""
    file = url.removeprefix("sqlite:///").partition("?")[0]
    is_file = url.startswith("sqlite:///") and file and not file.startswith((":memory:", "file:"))
    return Path(file) if is_file else None


def _go_on(_schema: str) -> None:
    """Let tables change without a backup."""


def _back_up_before(schema: str) -> None:
    """Make the backup `before-0043` in the folder of backups, once. Raises CopyFailed."""
    loaded, now = settings.load(), datetime.now(UTC)
    folder, encrypted = Path(loaded.backup_folder), backup_encryption(loaded)
    backups.make_folder(folder)
    backups.remove_expired(folder, now)
    target = folder / backups.before_migration_name(schema, encrypted)
    # A migration that was cut off, or waits for a table, begins again.
    if target.exists() and now.timestamp() - target.stat().st_mtime < BACKUP_LASTS.total_seconds():
        return
    click.echo(f"Before its tables change, the database is copied to {target}.", err=True)
    backups.write_backup(backup_source(), target, encrypted, with_key=True, verify=None)


def _bring_up_to_date(store: Store, before: BeforeChange, *, may_migrate: bool) -> None:
    if store.is_sqlite:
        # Only one program uses the file, and none of the version before.
        migrate.contract(store, before=before)
        return
    if migrate.is_current(store):
        return
    if not may_migrate:
        # A shared database is migrated only on request.
        raise SettingError("The database does not have the tables of this version. Run: silverball migrate")
    migrate.migrate(store, before=before)


# Lists in a terminal, as tables for people or as JSON for programs.


# Commands that bring the tables up to date take this option.
no_backup_option = click.option(
    "--no-backup", is_flag=True, help="Make no backup before the tables of the database change."
)
# Every command that lists something takes this option.
json_option = click.option("--json", "as_json", is_flag=True, help="Print a list of JSON for programs.")


def print_json(items: object) -> None:
    """Print what was listed as indented JSON, with the names of the interface."""
    click.echo(msgspec.json.format(msgspec.json.encode(items), indent=2).decode())


def print_table(rows: Sequence[Sequence[str]]) -> None:
    """Print rows of equal length as aligned columns."""
    widths = [max(len(cells[column]) for cells in rows) for column in range(len(rows[0]) - 1)]
    for *cells, last in rows:
        padded = [cell.ljust(width) for cell, width in zip(cells, widths, strict=True)]
        click.echo("  ".join([*padded, last]))
