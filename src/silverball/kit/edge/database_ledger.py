"""The ledger of leases and connections in the site's own database."""

import asyncio
import threading
from collections.abc import Callable, Mapping, Sequence
from typing import Protocol, TypeVar

from silverball.kit.edge.allowance_leases import ANSWER_SECONDS, LeaseRequest, LedgerLost, NodeReport

T = TypeVar("T")


class StoredCounts(Protocol):
    """The counts in the database; each call may wait for it."""

    def lease(self, wanted: Sequence[tuple[str, int, int]]) -> list[tuple[int, int, float]]: ...
    def report(self, node: str, connections: Mapping[str, int]) -> tuple[int, dict[str, int]]: ...


class DatabaseLedger:
    """A ledger in the database of leases and counts of all nodes; the database is asked in a thread."""

    name = "The database of shared counts"

    def __init__(self, counts: StoredCounts) -> None:
        self._counts = counts
        self._thread: threading.Thread | None = None

    async def lease(self, wanted: Sequence[LeaseRequest]) -> list[tuple[int, int, float]]:
        """Lease portions; returns of each: size, what is left, seconds to the end. Raises LedgerLost."""
        rows = [(asked.name, asked.limit, asked.portion) for asked in wanted]
        return await self._run(lambda: self._counts.lease(rows))

    async def report(self, node: str, connections: Mapping[str, int]) -> NodeReport:
        """Report that this node is there, and its connections. Raises LedgerLost."""
        nodes, elsewhere = await self._run(lambda: self._counts.report(node, connections))
        return NodeReport(nodes, elsewhere)

    async def close(self) -> None:
        """Wait for the last call, if it ends soon; the database belongs to the program."""
        if self._thread is not None:
            await asyncio.to_thread(self._thread.join, ANSWER_SECONDS)

    async def _run(self, call: Callable[[], T]) -> T:
        """Return the call's result from a thread of its own; a stop of the program does not wait for it.

        A database that does not answer holds one thread, as nothing more is asked until that ends.
        """
        if self._thread is not None and self._thread.is_alive():
            raise LedgerLost("it has not answered yet")
        loop = asyncio.get_running_loop()
        result: asyncio.Future[T] = loop.create_future()

        def settle(value: T | None, error: Exception | None) -> None:
            if result.done():
                return
            if error is not None:
                result.set_exception(LedgerLost(f"{type(error).__name__}: {error}".splitlines()[0]))
            else:
                result.set_result(value)  # type: ignore[arg-type]  # there is a value where there is no error

        def run() -> None:
            try:
                value, error = call(), None
            except Exception as fault:  # noqa: BLE001  # the edge of a thread: it is raised by who waits
                value, error = None, fault
            try:
                loop.call_soon_threadsafe(settle, value, error)
            except RuntimeError:
                # The loop has ended meanwhile.
                return

        self._thread = threading.Thread(target=run, name="silverball-counts", daemon=True)
        self._thread.start()
        return await result
