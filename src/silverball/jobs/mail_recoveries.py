"""Mails links to new passwords, in a thread of its own, while the program serves.

A request for a mail waits in this process: pages answer at once, whether there is such an account or not.
What waits when the process ends is lost, and has to be asked for again; so no secret is stored anywhere.
"""

import logging
import ssl
import time
from collections import deque
from collections.abc import Callable
from datetime import UTC, datetime
from email.message import EmailMessage
from random import Random
from secrets import SystemRandom

from msgspec import Struct, field

from silverball.kit.mail import MailFailed, MailTalk
from silverball.service.accounts import mails
from silverball.service.accounts.writes import links as link_writes
from silverball.service.accounts.writes.links import LinkToMail
from silverball.settings import Settings
from silverball.store.database import faults
from silverball.store.database.engine import Store
from silverball.store.database.faults import DatabaseFault

LOG = logging.getLogger("silverball.jobs")
# More requests at once are a flood, and are dropped.
WAITING_MAX = 200
TRIES_MAX = 3
PAUSE_SECONDS = 20.0
SUBJECT = "A new password"
TEXT = """Somebody, probably you, asked for a new password at {site}

To set it, open this link:

{site}/account/link?link={secret}

It works once, until {until:%H:%M} UTC. If it was not you who asked, do nothing: your password stays
as it is.
"""


class MailOnItsWay(Struct):
    """A mail that is sent, again after a pause when the server cannot be reached."""

    message: EmailMessage
    tries: int = 0
    due_at: float = 0.0


class RecoveryMailer(Struct):
    """Makes and mails the links of one database that people ask for in this process."""

    store: Store
    settings: Settings
    now: Callable[[], datetime] = lambda: datetime.now(UTC)
    dice: Random = field(default_factory=SystemRandom)
    clock: Callable[[], float] = time.monotonic
    # Whom to believe that they are the server: by default the authorities of this machine.
    open_tls: Callable[[], ssl.SSLContext] = ssl.create_default_context
    pause_seconds: float = PAUSE_SECONDS
    # E-mail as typed, and address, of each request.
    _asked: deque[tuple[str, str]] = field(default_factory=lambda: deque(maxlen=WAITING_MAX))
    _mails: deque[MailOnItsWay] = field(default_factory=deque)

    def ask(self, email: str, source: str) -> None:
        """Have a link mailed to the account with this e-mail, if there is one."""
        if len(self._asked) < WAITING_MAX:
            self._asked.append((email, source))
        else:
            LOG.warning("too many people ask for new passwords at once: a request is dropped")

    def work(self) -> bool:
        """Make the mail of the oldest request, or send one that is due. Returns whether there was any."""
        if self._asked and len(self._mails) < WAITING_MAX:
            self._answer_next()
            return True
        mail = next((mail for mail in self._mails if mail.due_at <= self.clock()), None)
        if mail is None:
            return False
        self._mails.remove(mail)
        self._send(mail)
        return True

    def _answer_next(self) -> None:
        request = self._asked.popleft()
        try:
            self._answer(*request)
        except DatabaseFault as error:
            if faults.is_transient(error):
                # It is tried again after the pause of the thread.
                self._asked.appendleft(request)
            raise

    def _answer(self, email: str, source: str) -> None:
        with self.store.write(quiet=True) as transaction:
            found = link_writes.make_mailed_recovery(
                transaction.connection, email, source, self.now().replace(microsecond=0), self.dice
            )
        if found is None:
            return
        try:
            self._mails.append(MailOnItsWay(self._compose(found)))
        except ValueError:
            # The account was made before addresses were checked as they are now.
            LOG.warning("an account has an e-mail that nothing can be sent to")

    def _compose(self, found: LinkToMail) -> EmailMessage:
        """The mail with the link. Raises ValueError for an address that is no line of a header."""
        site = self.settings.base_url
        text = TEXT.format(site=site, secret=found.link.secret, until=found.link.expires_at)
        return mails.compose(self.settings, found.email, SUBJECT, text, self.now())

    def _send(self, mail: MailOnItsWay) -> None:
        try:
            MailTalk(mails.mail_server(self.settings, self.open_tls), mail.message).run()
        except MailFailed as error:
            mail.tries += 1
            # Neither the log nor the sentence names the address.
            LOG.warning("the SMTP server did not take a mail: %s: %s (try %d)", error.step, error, mail.tries)
            if mail.tries < TRIES_MAX:
                mail.due_at = self.clock() + self.pause_seconds * mail.tries
                self._mails.append(mail)
