"""The blocking and the awaited client behind one function, for tests that hold for both."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Sequence
from typing import Any

from silverball_client import AsyncClient, Client

KINDS = ("blocking", "awaited")
Call = Callable[[Any], Any]


def results(kind: str, base_url: str, calls: Sequence[Call], **options: Any) -> list[Any]:
    """What each call of one client returns, in order; pages as the list of their items."""
    if kind == "awaited":
        return asyncio.run(_awaited_results(base_url, calls, options))
    returned = []
    with Client(base_url, **options) as client:
        for call in calls:
            result = call(client)
            returned.append(list(result) if isinstance(result, Iterator) else result)
    return returned


def result(kind: str, base_url: str, call: Call, **options: Any) -> Any:
    """What the call of a new client returns."""
    (only,) = results(kind, base_url, [call], **options)
    return only


async def _awaited_results(base_url: str, calls: Sequence[Call], options: dict[str, Any]) -> list[Any]:
    returned = []
    async with AsyncClient(base_url, **options) as client:
        for call in calls:
            pending: AsyncIterator[Any] | Awaitable[Any] = call(client)
            if isinstance(pending, AsyncIterator):
                returned.append([item async for item in pending])
            else:
                returned.append(await pending)
    return returned
