"""A small SMTP server on loopback, which keeps the mails that it gets."""

import asyncio
import base64
import ssl
import threading
from dataclasses import dataclass, field
from email import message_from_bytes
from email.message import EmailMessage
from email.policy import SMTP
from typing import Self

START_SECONDS_MAX = 60


@dataclass(frozen=True)
class ReceivedMail:
    """A mail with its envelope."""

    sender: str
    recipients: tuple[str, ...]
    raw: bytes
    # Name and password of the client; empty without.
    login: tuple[str, ...]
    is_encrypted: bool

    @property
    def message(self) -> EmailMessage:
        parsed = message_from_bytes(self.raw, policy=SMTP)
        assert isinstance(parsed, EmailMessage)
        return parsed

    @property
    def text(self) -> str:
        return str(self.message.get_content())


@dataclass
class _Talk:
    """What a client has said so far."""

    sender: str = ""
    recipients: list[str] = field(default_factory=list)
    login: tuple[str, ...] = ()
    is_encrypted: bool = False


class SmtpServer:
    """An SMTP server in a thread; with `tls` it takes mails only after STARTTLS and a login."""

    def __init__(self, tls: ssl.SSLContext | None = None) -> None:
        self.mails: list[ReceivedMail] = []
        self.port = 0
        # Answer this many mails with a temporary refusal.
        self.refuse_next = 0
        # Verb -> what is answered in place of the usual.
        self.answers: dict[str, str] = {}
        self._tls = tls
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, name="smtp-server", daemon=True)
        self._talks: set[asyncio.Task[None]] = set()

    def __enter__(self) -> Self:
        self._thread.start()
        starting = asyncio.start_server(self._join, "127.0.0.1", 0)
        self._server = asyncio.run_coroutine_threadsafe(starting, self._loop).result(START_SECONDS_MAX)
        self.port = self._server.sockets[0].getsockname()[1]
        return self

    def __exit__(self, *_: object) -> None:
        asyncio.run_coroutine_threadsafe(self._stop(), self._loop).result(START_SECONDS_MAX)
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join(START_SECONDS_MAX)
        self._loop.close()

    async def _stop(self) -> None:
        self._server.close()
        for talk in self._talks:
            talk.cancel()
        await asyncio.gather(*self._talks, return_exceptions=True)

    async def _join(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._talks.add(task)
        try:
            await self._converse(reader, writer)
        except (OSError, asyncio.CancelledError):
            # The client has left, or the test is over.
            pass
        finally:
            self._talks.discard(task)
            writer.transport.abort()

    async def _converse(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        talk = _Talk()
        writer.write(b"220 smtp.silverball.test\r\n")
        while line := await reader.readline():
            verb, _, rest = line.decode().strip().partition(" ")
            if verb.upper() == "DATA":
                writer.write(b"354 go on\r\n")
                answer = self._take(talk, await _read_mail(reader))
            else:
                answer = self._answer(talk, verb.upper(), rest)
            writer.write(answer.encode() + b"\r\n")
            await writer.drain()
            if verb.upper() == "QUIT":
                return
            if verb.upper() == "STARTTLS" and self._tls is not None:
                await writer.start_tls(self._tls)
                talk = _Talk(is_encrypted=True)

    def _answer(self, talk: _Talk, verb: str, rest: str) -> str:
        if verb in self.answers:
            return self.answers[verb]
        is_closed = self._tls is not None and not (talk.is_encrypted and talk.login)
        if verb == "EHLO":
            offer = "AUTH PLAIN" if talk.is_encrypted else "STARTTLS"
            return f"250-smtp.silverball.test\r\n250 {offer if self._tls else '8BITMIME'}"
        if verb == "STARTTLS":
            return "220 go on" if self._tls else "502 not here"
        if verb == "AUTH":
            _, name, password = base64.b64decode(rest.removeprefix("PLAIN ")).decode().split("\0")
            talk.login = (name, password)
            return "235 welcome"
        if verb == "MAIL" and is_closed:
            return "530 sign in first"
        if verb == "MAIL":
            talk.sender = rest.partition("<")[2].partition(">")[0]
        if verb == "RCPT":
            talk.recipients.append(rest.partition("<")[2].partition(">")[0])
        return "250 ok"

    def _take(self, talk: _Talk, raw: bytes) -> str:
        if self.refuse_next:
            self.refuse_next -= 1
            return "451 later"
        recipients = tuple(talk.recipients)
        self.mails.append(ReceivedMail(talk.sender, recipients, raw, talk.login, talk.is_encrypted))
        return "250 taken"


async def _read_mail(reader: asyncio.StreamReader) -> bytes:
    """The lines up to the one with a single dot."""
    raw = b""
    while (line := await reader.readline()) not in (b".\r\n", b""):
        raw += line.removeprefix(b".") if line.startswith(b"..") else line
    return raw
