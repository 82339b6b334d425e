"""Answers to forms that hid something, sent when no node answers from before any more."""

import asyncio

from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from silverball.store import known_revisions
from silverball.store.engine import Store


class HeldResponse(Response):
    """A response that is sent later, without a thread that waits."""

    def __init__(self, response: Response, seconds: float) -> None:
        super().__init__()
        self._response = response
        self._seconds = seconds

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        await asyncio.sleep(self._seconds)
        await self._response(scope, receive, send)


def hold_until_hidden(store: Store, response: Response) -> Response:
    """Return the response to a form that hid something."""
    return HeldResponse(response, known_revisions.hiding_seconds(store))
