"""uvicorn's HTTP connections, with limits on the time and size of a request's head."""

import asyncio
from typing import Any, ClassVar

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

HEAD_BYTES_MAX = 65_536


class BoundedConnection(HttpToolsProtocol):
    """A connection whose first request head is limited; the keep-alive timeout limits later ones."""

    head_seconds: ClassVar[float] = 10.0

    def __init__(self, *words: Any, **options: Any) -> None:
        super().__init__(*words, **options)
        self._head_timer: asyncio.TimerHandle | None = None
        self._head_bytes = 0
        # Only until the first head is complete; then the event loop calls uvicorn's own method directly.
        self.data_received = self._receive_head  # type: ignore[method-assign]  # see the comment above

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]  # uvicorn's own type
        """Start the timer for the first head."""
        super().connection_made(transport)
        self._head_timer = self.loop.call_later(self.head_seconds, transport.abort)

    def connection_lost(self, exc: Exception | None) -> None:
        """Stop the timer."""
        self._cancel_timer()
        super().connection_lost(exc)

    def _receive_head(self, data: bytes) -> None:
        super().data_received(data)
        is_here = self.transport.get_protocol() is self
        # None until the first head is complete, although uvicorn's annotation does not say so.
        cycle: object = self.cycle
        if cycle is None and is_here:
            self._head_bytes += len(data)
            if self._head_bytes > HEAD_BYTES_MAX:
                self.transport.abort()
            return
        # The head is complete, or the connection has become a websocket.
        self._cancel_timer()
        del self.data_received
        if is_here:
            self.transport.set_protocol(self)

    def _cancel_timer(self) -> None:
        if self._head_timer is not None:
            self._head_timer.cancel()
            self._head_timer = None
