"""silverball secret: the file of the keys that encrypt secrets in the database."""

from datetime import UTC, datetime
from pathlib import Path

import click

from silverball import settings
from silverball.cli import database
from silverball.kit.errors import Refusal
from silverball.kit.security.encryption import KeyFile
from silverball.store.people import encryption


@click.group(invoke_without_command=True)
@click.pass_context
def secret(context: click.Context) -> None:
    """Make the file of SILVERBALL_SECRET_FILE with a new key, readable by its owner only.

    Secrets of webhooks, printed codes and two-step sign-ins are encrypted with it in the database. Every
    node needs the same file. To replace the key: add, give the file to every node, rotate, drop-old.
    """
    if context.invoked_subcommand is not None:
        return
    file = settings.load().secret_file
    if not file:
        raise click.ClickException("Set SILVERBALL_SECRET_FILE to the file that is to be made.")
    try:
        KeyFile(Path(file)).make()
    except Refusal as error:
        raise click.ClickException(str(error)) from error
    click.echo(f"Made a key in {file}. Keep a copy apart from the copies of the database.")


@secret.command()
def add() -> None:
    """Add a new key to the file. It is used from `silverball secret rotate` on."""
    with database.open_database() as store:
        fingerprint = encryption.add_key(store)
        click.echo(f"Added the key {fingerprint} to {store.key_file.path}.")


@secret.command()
def rotate() -> None:
    """Encrypt all secrets with the newest key. Servers may run; each needs the newest file."""
    with database.open_database() as store:
        count = encryption.rotate(store, datetime.now(UTC))
    click.echo(f"Encrypted {count} secrets with the newest key.")


@secret.command("drop-old")
def drop_old() -> None:
    """Remove the keys from the file that no secret is encrypted with any more."""
    with database.open_database() as store:
        count = encryption.drop_old_keys(store)
    click.echo(f"Removed {count} old keys.")
