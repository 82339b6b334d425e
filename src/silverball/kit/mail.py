"""Mail to the operator's SMTP server: one message, or only the way to it; what fails is named by its step."""

import socket
import ssl
import threading
from collections.abc import Callable
from contextlib import suppress
from email.message import EmailMessage
from typing import Literal

from msgspec import Struct

Step = Literal["resolve", "connect", "TLS", "login", "recipient"]
# Of each answer of the server.
ANSWER_SECONDS = 10.0


class MailServer(Struct, frozen=True, kw_only=True):
    """The server that takes mails, and how to talk to it."""

    host: str
    port: int
    user: str = ""
    password: str = ""
    starttls: bool = True
    # Whom to believe that they are the server: by default the authorities of this machine.
    open_tls: Callable[[], ssl.SSLContext] = ssl.create_default_context


class MailFailed(Exception):
    """A step of the talk with the server did not end well. The sentence names no address of a person."""

    def __init__(self, step: Step, sentence: str) -> None:
        super().__init__(sentence)
        self.step = step


class MailTalk:
    """A talk with the server, step by step; with a message, it is handed over at the end."""

    def __init__(self, server: MailServer, message: EmailMessage | None = None) -> None:
        self._server = server
        self._message = message
        self._step: Step = "resolve"
        self._failure: Exception | None = None

    def run_within(self, seconds: float) -> None:
        """Talk for at most so long. Raises MailFailed."""
        # Looking a name up takes as long as the system likes.
        talking = threading.Thread(target=self._note_failure, name="silverball-mail", daemon=True)
        talking.start()
        talking.join(seconds)
        if talking.is_alive():
            raise MailFailed(self._step, f"It took longer than {seconds:.0f} seconds.")
        if self._failure is not None:
            raise self._failure

    def run(self) -> None:
        """Talk as long as the server answers each step in time. Raises MailFailed."""
        import smtplib

        server = self._server
        try:
            socket.getaddrinfo(server.host, server.port, type=socket.SOCK_STREAM)
            self._step = "connect"
            talk = smtplib.SMTP(server.host, server.port, timeout=ANSWER_SECONDS)
            try:
                self._step = "TLS"
                if server.starttls:
                    talk.starttls(context=server.open_tls())
                self._step = "login"
                if server.user:
                    talk.login(server.user, server.password)
                self._step = "recipient"
                if self._message is not None:
                    talk.send_message(self._message)
            finally:
                # A mail that was taken is not sent again because of how the server says goodbye.
                with suppress(OSError, smtplib.SMTPException):
                    talk.quit()
        except (OSError, smtplib.SMTPException, UnicodeError) as error:
            raise MailFailed(self._step, self._sentence(error)) from error

    def _note_failure(self) -> None:
        try:
            self.run()
        except MailFailed as error:
            self._failure = error

    def _sentence(self, error: Exception) -> str:
        import smtplib

        server = self._server
        if isinstance(error, smtplib.SMTPAuthenticationError):
            return f"The server refuses the name or the password ({error.smtp_code})."
        if isinstance(error, ssl.SSLCertVerificationError):
            return f"The certificate of {server.host} is not trusted: {error.verify_message}."
        if isinstance(error, smtplib.SMTPRecipientsRefused):
            code = next(iter(error.recipients.values()))[0]
            return f"The server does not take mail for this address ({code})."
        if isinstance(error, smtplib.SMTPSenderRefused):
            return f"The server does not take mail from SILVERBALL_MAIL_SENDER ({error.smtp_code})."
        if isinstance(error, smtplib.SMTPNotSupportedError):
            return f"The server cannot do this: {error}"
        if isinstance(error, smtplib.SMTPResponseException):
            return f"The server answers {error.smtp_code}."
        if self._step == "resolve":
            return f"{server.host} has no address: is the name right, and does this machine reach its DNS?"
        return f"{server.host} port {server.port} does not answer as a mail server: {type(error).__name__}."
