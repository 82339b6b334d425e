"""HTTP connections as uvicorn has them, but nobody may take for ever, or any amount, to say what he wants."""

import asyncio
from typing import Any, ClassVar

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

HEAD_BYTES_MAX = 65_536


class BoundedConnection(HttpToolsProtocol):
    """One connection. Later requests on it are bounded by the keep-alive timeout between them."""

    head_seconds: ClassVar[float] = 10.0

    def __init__(self, *words: Any, **options: Any) -> None:
        super().__init__(*words, **options)
        self._head_timer: asyncio.TimerHandle | None = None
        self._head_bytes = 0
        # Only until the first head is complete: the loop then takes uvicorn's own method, without a detour.
        self.data_received = self._receive_head  # type: ignore[method-assign]  # as said above

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]  # uvicorn's own type
        """Somebody is there."""
        super().connection_made(transport)
        self._head_timer = self.loop.call_later(self.head_seconds, transport.abort)

    def connection_lost(self, exc: Exception | None) -> None:
        """The connection is gone."""
        self._cancel_timer()
        super().connection_lost(exc)

    def _receive_head(self, data: bytes) -> None:
        super().data_received(data)
        is_here = self.transport.get_protocol() is self
        # None before the first head is complete, whatever uvicorn's annotation says.
        cycle: object = self.cycle
        if cycle is None and is_here:
            self._head_bytes += len(data)
            if self._head_bytes > HEAD_BYTES_MAX:
                self.transport.abort()
            return
        # It is known what is wanted, or the connection is a socket from now on.
        self._cancel_timer()
        del self.data_received
        if is_here:
            self.transport.set_protocol(self)

    def _cancel_timer(self) -> None:
        if self._head_timer is not None:
            self._head_timer.cancel()
            self._head_timer = None
