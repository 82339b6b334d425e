"""Head and body of an answer in one call of the system, and in one packet where they fit."""

import asyncio


class JoinedHead:
    """The way of an answer to its connection, on which the head leaves with the first part of the body.

    uvicorn writes them one after the other, and each write is a call of the system and a packet. Not for
    answers to HEAD, which have no body that a head could wait for, nor where `100 Continue` comes first.
    """

    __slots__ = ("_head", "_transport")

    def __init__(self, transport: asyncio.Transport) -> None:
        self._transport = transport
        # Empty when it has left.
        self._head: bytes | None = None

    def write(self, data: bytes) -> None:
        """Keep the head; send it with what comes next, and the rest as it comes."""
        if self._head is None:
            self._head = data
            return
        if self._head:
            self._transport.writelines((self._head, data))
            self._head = b""
        else:
            self._transport.write(data)

    def close(self) -> None:
        """Send what was kept, and close the connection."""
        if self._head:
            self._transport.write(self._head)
            self._head = b""
        self._transport.close()
