"""Answers that are computed once for everybody who asks the same: at hand, on their way, compressed.

An answer belongs to a scope and is worth something as long as that scope's revision stands.
"""

import asyncio
from collections.abc import Callable
from concurrent.futures import Executor

from silverball.kit.finished import Common, Finished, Key, Shelf, accepts_gzip, interface
from silverball.kit.http import Answer


class Answers:
    """The finished answers of one process. Touched by the event loop only."""

    def __init__(
        self,
        shelf: Shelf,
        workers: Executor,
        *,
        revision_of: Callable[[int], int],
        refresh: Callable[[int], int],
    ) -> None:
        self._shelf = shelf
        self._workers = workers
        self._revision_of = revision_of
        self._refresh = refresh
        self._flights: dict[tuple[Key, int], asyncio.Future[Finished | Answer]] = {}

    def at_hand(self, key: Key) -> Finished | None:
        """The answer, if it is kept and its revision stands."""
        finished = self._shelf.get(key)
        if finished is None or finished.revision != self._revision_of(finished.scope_id):
            return None
        self._shelf.touch(key)
        return finished

    async def computed(
        self,
        key: Key,
        scope_id: int,
        compute: Callable[[], Answer],
        *,
        wanted: int = 0,
        common: Common = interface,
    ) -> Finished | Answer:
        """Compute it, or wait for an equal question that is being computed at the same revision.

        `compute` runs in a worker thread; `wanted` is the least revision that will do.
        """
        loop = asyncio.get_running_loop()
        revision = self._revision_of(scope_id)
        if revision == 0 or wanted > revision:
            revision = await loop.run_in_executor(self._workers, self._refresh, scope_id)
        flight = self._flights.get((key, revision))
        if flight is None:

            def finish() -> Finished | Answer:
                answer = compute()
                if answer.status != 200:
                    return answer
                # Without a revision nobody could tell when the answer becomes worthless.
                known = revision if answer.is_kept else 0
                return Finished(answer, scope_id=scope_id, revision=known, common=common)

            flight = loop.run_in_executor(self._workers, finish)
            self._flights[key, revision] = flight
            flight.add_done_callback(lambda done: self._land(key, revision, done))
        # One caller who hangs up must not take the answer from the others.
        return await asyncio.shield(flight)

    async def pack(self, key: Key, finished: Finished, headers: dict[bytes, bytes]) -> None:
        """Compress it once, the first time that somebody takes it so."""
        if not is_to_be_packed(finished, headers):
            return
        packed = await asyncio.get_running_loop().run_in_executor(self._workers, finished.packed)
        if finished.gzip_body is not None:
            return
        is_kept = self._shelf.get(key) is finished
        if is_kept:
            self._shelf.drop(key)
        finished.attach(packed)
        if is_kept:
            self._shelf.put(key, finished)

    def _land(self, key: Key, revision: int, flight: "asyncio.Future[Finished | Answer]") -> None:
        del self._flights[key, revision]
        if flight.cancelled() or flight.exception() is not None:
            return
        outcome = flight.result()
        if isinstance(outcome, Finished) and outcome.revision:
            self._shelf.put(key, outcome)


def is_to_be_packed(finished: Finished, headers: dict[bytes, bytes]) -> bool:
    """Whether this caller takes it compressed, and nobody did before."""
    return (
        finished.gzip_body is None
        and accepts_gzip(headers.get(b"accept-encoding"))
        and headers.get(b"if-none-match") != finished.etag
    )
