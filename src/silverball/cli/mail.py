"""silverball mail: whether mails leave this server."""

from datetime import UTC, datetime

import click

from silverball import settings
from silverball.jobs import mail_recoveries
from silverball.kit.mail import MailFailed, MailTalk

TEST_SECONDS_MAX = 15.0


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
        message = mail_recoveries.test_mail(loaded, address, datetime.now(UTC))
    except ValueError as error:
        raise click.ClickException(f"{address!r} is no e-mail address.") from error
    try:
        MailTalk(mail_recoveries.mail_server(loaded), message).run_within(TEST_SECONDS_MAX)
    except MailFailed as error:
        raise click.ClickException(f"{error.step}: {error}") from error
    click.echo(f"{loaded.mail.host} took the mail to {address}.")
