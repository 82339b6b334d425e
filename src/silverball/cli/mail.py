"""silverball mail: whether mails leave this server."""

import click

from silverball import settings
from silverball.kit.mail import MailFailed
from silverball.service.accounts import mails


@click.group()
def mail() -> None:
    """Try the mail server of the settings."""


@mail.command("test")
@click.argument("address")
def send_test(address: str) -> None:
    """Send a mail to ADDRESS, and name the step that fails."""
    loaded = settings.load()
    if loaded.mail is None:
        raise click.ClickException("SILVERBALL_MAIL_SERVER is not set: this server sends no mails.")
    try:
        mails.try_mail(loaded, address)
    except ValueError as error:
        raise click.ClickException(f"{address!r} is no e-mail address.") from error
    except MailFailed as error:
        raise click.ClickException(f"{error.step}: {error}") from error
    click.echo(f"{loaded.mail.host} took the mail to {address}.")
