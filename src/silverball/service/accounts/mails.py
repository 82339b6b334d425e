"""Mails of the site: to whom, from whom, and by which server of the settings."""

import ssl
from collections.abc import Callable
from datetime import UTC, datetime
from email.message import EmailMessage
from urllib.parse import urlsplit

from silverball.kit.mail import MailServer, MailTalk
from silverball.settings import Settings

TEST_SECONDS_MAX = 15.0


def mail_server(
    settings: Settings, open_tls: Callable[[], ssl.SSLContext] = ssl.create_default_context
) -> MailServer:
    """The server of the settings, which name one."""
    address = settings.mail
    assert address is not None
    return MailServer(
        host=address.host,
        port=address.port,
        user=address.user,
        password=settings.mail_password,
        starttls=address.is_encrypted,
        open_tls=open_tls,
    )


def try_mail(settings: Settings, address: str) -> None:
    """Send a mail that says where it comes from. Raises MailFailed, and ValueError for what is no address."""
    message = test_mail(settings, address, datetime.now(UTC))
    MailTalk(mail_server(settings), message).run_within(TEST_SECONDS_MAX)


def test_mail(settings: Settings, address: str, now: datetime) -> EmailMessage:
    """A mail that says where it comes from. Raises ValueError for what is no address."""
    if "@" not in address:
        raise ValueError(address)
    text = f"This mail was asked for at {settings.base_url or 'a server without a base URL'}. Mails arrive.\n"
    return compose(settings, address, "A test of the mail", text, now)


def compose(settings: Settings, address: str, subject: str, text: str, now: datetime) -> EmailMessage:
    """A mail of the site to one person. Raises ValueError for an address that is no line of a header."""
    # A parser of all headers, which only a mail needs.
    from email.policy import SMTP
    from email.utils import formataddr, make_msgid, parseaddr

    site = urlsplit(settings.base_url).hostname or "Silverball"
    name, sender = parseaddr(settings.mail_sender)
    message = EmailMessage(policy=SMTP)
    message["Subject"] = f"{subject} ({site})"
    message["From"] = formataddr((name or site, sender))
    message["To"] = address
    message["Date"] = now
    message["Message-ID"] = make_msgid(domain=sender.rpartition("@")[2] or site)
    message["Auto-Submitted"] = "auto-generated"
    message.set_content(text, cte="quoted-printable")
    return message
