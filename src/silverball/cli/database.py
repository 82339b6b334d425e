"""Open the database for a command, and turn refusals into one sentence on stderr."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import click

from silverball import settings
from silverball.kit.errors import Invalid, NotFound, Refusal
from silverball.settings import SettingError
from silverball.store import faults, migrate
from silverball.store.engine import Store
from silverball.store.faults import DatabaseFault
from silverball.store.migrate import NewerSchema

URL_SCHEMES = ("sqlite:", "postgresql+psycopg:")


@contextmanager
def open_database(
    *,
    not_found: str = "It does not exist.",
    may_migrate: bool = False,
    may_create: bool = True,
    url: str | None = None,
) -> Iterator[Store]:
    """Open the database of `url`, or of SILVERBALL_DATABASE_URL, and bring its tables up to date.

    `not_found` replaces the sentence of NotFound. `may_migrate` also allows migrations of PostgreSQL,
    which several programs may share. Without `may_create` a SQLite file that is missing is a fault.
    Every refusal becomes a sentence on stderr and exit code 1.
    """
    try:
        address = url or _database_url()
        if not may_create:
            _require_file(address)
        store = Store(address, None if url else _secret_file())
        try:
            _bring_up_to_date(store, may_migrate=may_migrate)
            yield store
        finally:
            store.close()
    except NotFound as error:
        raise click.ClickException(not_found) from error
    except Invalid as error:
        sentences = [sentence for listed in error.errors.values() for sentence in listed]
        raise click.ClickException(" ".join(sentences)) from error
    except (Refusal, SettingError, NewerSchema) as error:
        raise click.ClickException(str(error)) from error
    except DatabaseFault as error:
        raise click.ClickException(f"The database cannot be used: {faults.short_message(error)}") from error


def _secret_file() -> Path | None:
    file = settings.load().secret_file
    return Path(file) if file else None


def _database_url() -> str:
    url = settings.load().database_url
    if not url.startswith(URL_SCHEMES):
        raise SettingError("SILVERBALL_DATABASE_URL must begin with sqlite:/// or postgresql+psycopg://.")
    return url


def _require_file(url: str) -> None:
    """Raise SettingError without the SQLite file: a disk that is not mounted looks like a new site."""
    file = url.removeprefix("sqlite:///").partition("?")[0]
    if url.startswith("sqlite:") and not Path(file).exists():
        raise SettingError(
            f"There is no database at {file}. If this is a new site, make it with `silverball migrate` or"
            " `silverball serve --create`; otherwise see whether its disk is mounted."
        )


def _bring_up_to_date(store: Store, *, may_migrate: bool) -> None:
    if migrate.is_current(store):
        return
    if not store.is_sqlite and not may_migrate:
        # A shared database is migrated only on request.
        raise SettingError("The database does not have the tables of this version. Run: silverball migrate")
    migrate.migrate(store)
