"""silverball secret: the file of the keys that encrypt secrets in the database."""

from datetime import UTC, datetime
from pathlib import Path
from secrets import SystemRandom
from urllib.parse import urlsplit

import click

from silverball import settings
from silverball.cli import database
from silverball.kit.errors import Refusal
from silverball.kit.security.encryption import KeyFile
from silverball.service.accounts import key_loss
from silverball.store.people import encryption, site_details


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


@secret.command()
@click.option("--yes", "is_sure", is_flag=True, help="Do not ask for the name of the site.")
def forget(*, is_sure: bool) -> None:
    """Give up the secrets of a lost key, and make a new key.

    Lists first what is lost. Webhooks are switched off and get new secrets, printed codes end, moves that
    have a stored token fail. Accounts with two-step sign-in keep it: a recovery code lets them in.
    """
    with database.open_database() as store:
        with store.read() as db:
            lost = key_loss.find_lost(db)
            name = site_details.find_site_details(db).name or urlsplit(settings.load().base_url).hostname
        click.echo(
            f"Lost with the key: the secrets of {lost.webhooks} webhooks, {lost.printed_codes} sets of"
            f" printed codes, {lost.two_step} two-step sign-ins and {lost.pulls} moves. If there is a copy of"
            " the key anywhere, put it back instead."
        )
        name = name or "silverball"
        if not is_sure and click.prompt(f"Type the site's name ({name}) to give them up") != name:
            raise click.ClickException("That is another name. Nothing was changed.")
        fingerprint = key_loss.forget_key(store, datetime.now(UTC), SystemRandom())
        click.echo(f"The new key {fingerprint} is in {store.key_file.path}. Keep a copy of it.")


@secret.command("drop-old")
def drop_old() -> None:
    """Remove the keys from the file that no secret is encrypted with any more."""
    with database.open_database() as store:
        count = encryption.drop_old_keys(store)
    click.echo(f"Removed {count} old keys.")
