"""A socket of the feed, blocking and awaited, over connections of httpx2: TLS and proxies are its own.

httpx2 hands out the bare stream of an upgraded connection; it comes from httpcore2, which is a part of it.
"""

import contextlib
import time
from typing import Any

import httpcore2
import httpx2

from silverball_client.exchange import Loss
from silverball_client.frames import BrokenFrame, Frames, accept_for, new_key, upgrade_headers

READ_BYTES = 65_536
OPEN_SECONDS = 15.0
SEND_SECONDS = 15.0
FAULTS = (
    httpx2.TransportError,
    httpx2.InvalidURL,
    httpcore2.NetworkError,
    httpcore2.ProtocolError,
    BrokenFrame,
    OSError,
)


def _http_url(url: str) -> str:
    """Return the address as HTTP has it: a socket begins as a GET."""
    scheme, separator, rest = url.partition("://")
    return {"ws": "http", "wss": "https"}.get(scheme, scheme) + separator + rest


def _loss(error: Exception) -> Loss:
    was_refused = isinstance(error, httpx2.ConnectError | httpx2.ConnectTimeout)
    return Loss(str(error) or type(error).__name__, was_refused)


def _stream_of(response: httpx2.Response, key: str) -> Any:
    """Return the network stream of an upgraded response, or None."""
    is_upgraded = response.status_code == 101
    if is_upgraded and response.headers.get("sec-websocket-accept") == accept_for(key):
        return response.extensions["network_stream"]
    return None


class FeedSocket:
    """A blocking websocket."""

    def __init__(self, http: httpx2.Client) -> None:
        self._http = http
        self._stack = contextlib.ExitStack()
        self._frames = Frames()
        self._stream: Any = None

    def open(self, url: str) -> Loss | None:
        """Connect in place of an earlier connection; None when it worked."""
        self.close()
        self._frames, key = Frames(), new_key()
        try:
            response = self._stack.enter_context(
                self._http.stream("GET", _http_url(url), headers=upgrade_headers(key), timeout=OPEN_SECONDS)
            )
        except FAULTS as error:
            return _loss(error)
        self._stream = _stream_of(response, key)
        return None if self._stream else Loss(f"no websocket, but status {response.status_code}", False)

    def close(self) -> None:
        """Close the connection."""
        self._stream = None
        self._stack.close()

    def say(self, text: str) -> Loss | None:
        """Send a text."""
        self._frames.say(text)
        try:
            self._flush()
        except FAULTS as error:
            return _loss(error)
        return None

    def listen(self, seconds: float) -> str | Loss | None:
        """Return the next text; None when there is none for so many seconds."""
        until = time.monotonic() + seconds
        while not self._frames.texts:
            if self._frames.closed:
                return Loss("closed with {} {}".format(*self._frames.closed), False)
            left = until - time.monotonic()
            if left <= 0:
                return None
            try:
                self._read(left)
            except httpcore2.ReadTimeout:
                return None
            except FAULTS as error:
                return _loss(error)
        return self._frames.texts.popleft()

    def _read(self, seconds: float) -> None:
        data = self._stream.read(READ_BYTES, timeout=seconds)
        if not data:
            raise BrokenFrame("the connection ended")
        self._frames.feed(data)
        self._flush()

    def _flush(self) -> None:
        data = self._frames.take_outgoing()
        if data:
            self._stream.write(data, timeout=SEND_SECONDS)


class AsyncFeedSocket:
    """The same, awaited."""

    def __init__(self, http: httpx2.AsyncClient) -> None:
        self._http = http
        self._stack = contextlib.AsyncExitStack()
        self._frames = Frames()
        self._stream: Any = None

    async def open(self, url: str) -> Loss | None:
        """Connect in place of an earlier connection; None when it worked."""
        await self.close()
        self._frames, key = Frames(), new_key()
        try:
            response = await self._stack.enter_async_context(
                self._http.stream("GET", _http_url(url), headers=upgrade_headers(key), timeout=OPEN_SECONDS)
            )
        except FAULTS as error:
            return _loss(error)
        self._stream = _stream_of(response, key)
        return None if self._stream else Loss(f"no websocket, but status {response.status_code}", False)

    async def close(self) -> None:
        """Close the connection."""
        self._stream = None
        await self._stack.aclose()

    async def say(self, text: str) -> Loss | None:
        """Send a text."""
        self._frames.say(text)
        try:
            await self._flush()
        except FAULTS as error:
            return _loss(error)
        return None

    async def listen(self, seconds: float) -> str | Loss | None:
        """Return the next text; None when there is none for so many seconds."""
        until = time.monotonic() + seconds
        while not self._frames.texts:
            if self._frames.closed:
                return Loss("closed with {} {}".format(*self._frames.closed), False)
            left = until - time.monotonic()
            if left <= 0:
                return None
            try:
                await self._read(left)
            except httpcore2.ReadTimeout:
                return None
            except FAULTS as error:
                return _loss(error)
        return self._frames.texts.popleft()

    async def _read(self, seconds: float) -> None:
        data = await self._stream.read(READ_BYTES, timeout=seconds)
        if not data:
            raise BrokenFrame("the connection ended")
        self._frames.feed(data)
        await self._flush()

    async def _flush(self) -> None:
        data = self._frames.take_outgoing()
        if data:
            await self._stream.write(data, timeout=SEND_SECONDS)
