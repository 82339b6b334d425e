"""State shared by the nodes of one site: allowances, leased in portions, and the connections of each address.

One task asks for all portions that are wanted at the moment at once, and exchanges the counts of
connections once a second. While there is one node, or nobody can be asked, each gives its own allowances.
"""

import asyncio
import contextlib
import hashlib
import logging
import secrets
import time
from collections.abc import Callable, Hashable, Mapping, Sequence
from typing import Protocol

from msgspec import Struct

from silverball.kit.edge.leased_rate_limit import LeaseAnswer, LeasedRateLimiter
from silverball.kit.edge.rate_limit import RateLimiter
from silverball.kit.tasks import end_tasks

LOG = logging.getLogger("silverball.front")
HEARTBEAT_SECONDS = 1.0
RECONNECT_SECONDS = 1.0
# A ledger that takes longer counts as lost.
ANSWER_SECONDS = 2.0
# Portions that are asked for at once, and that may wait; whoever comes then gets the node's own allowance.
BATCH_MAX = 500
WANTED_MAX = 20_000
# An address with fewer connections than this part of its limit is not reported to the other nodes.
REPORTED_PART = 16


class LedgerLost(Exception):
    """The ledger cannot be reached."""


class LeaseRequest(Struct, frozen=True):
    """A portion that a node asks for, of the limit of one caller."""

    name: str
    limit: int
    portion: int


class NodeReport(Struct, frozen=True):
    """The nodes, this one included, and the connections of each address at the others."""

    nodes: int
    elsewhere: Mapping[str, int]


class Ledger(Protocol):
    """Where all nodes write what they have leased, and the connections that they have. Raises LedgerLost."""

    name: str

    async def lease(self, wanted: Sequence[LeaseRequest]) -> list[tuple[int, int, float]]:
        """Lease portions, for different names; returns of each: size, what is left, seconds to the end."""

    async def report(self, node: str, connections: Mapping[str, int]) -> NodeReport:
        """Report that this node is there and its connections of the addresses with many."""

    async def close(self) -> None: ...


Wanted = tuple[LeaseRequest, LeaseAnswer]


class AllowanceLeases:
    """The allowances and counts that this node shares with others. Used by one event loop only."""

    def __init__(self, ledger: Ledger) -> None:
        self.is_reachable = False
        self.nodes = 1
        self._ledger = ledger
        self._node = secrets.token_hex(8)
        self._wanted: list[Wanted] = []
        self._is_wanted = asyncio.Event()
        self._task: asyncio.Task[None] | None = None
        self._limiters: list[LeasedRateLimiter] = []
        # Of each kind of connections: those of each address here, and how many an address may have.
        self._connections: dict[str, tuple[Mapping[str, int], int]] = {}
        self._elsewhere: Mapping[str, int] = {}

    def limiter(self, name: str, limit: int) -> RateLimiter:
        """A limiter whose allowances are shared under this name."""
        if not limit:
            return RateLimiter(limit)
        limiter = LeasedRateLimiter(name, limit, self)
        self._limiters.append(limiter)
        return limiter

    def share_connections(self, kind: str, counts: Mapping[str, int], limit: int) -> Callable[[str], int]:
        """Report these counts by address to the other nodes; returns a function that knows theirs."""
        self._connections[kind] = counts, max(1, limit // REPORTED_PART)

        def connections_elsewhere(address: str) -> int:
            return self._elsewhere.get(_digest(kind, address), 0) if self._elsewhere else 0

        return connections_elsewhere

    def ask(self, name: str, key: Hashable, limit: int, portion: int, answer: LeaseAnswer) -> None:
        """Ask for a portion, at most; the answer is called later, on the event loop."""
        if not self.is_reachable or len(self._wanted) >= WANTED_MAX:
            answer(None)
            return
        self._wanted.append((LeaseRequest(_digest(name, key), limit, min(portion, limit)), answer))
        self._is_wanted.set()

    def start(self) -> None:
        """Keep asking, and reporting. Called on the event loop."""
        self._task = asyncio.get_running_loop().create_task(self._run())

    async def close(self) -> None:
        """Undo `start`, and wait until the ledger is closed."""
        if self._task is not None:
            await end_tasks([self._task])

    async def _run(self) -> None:
        try:
            while True:
                try:
                    await self._serve()
                except (LedgerLost, TimeoutError) as error:
                    if self.is_reachable:
                        name = self._ledger.name
                        LOG.warning("%s is lost; each node gives its own allowances: %s", name, error)
                self.is_reachable = False
                self._elsewhere = {}
                for _, answer in self._take_wanted():
                    answer(None)
                await asyncio.sleep(RECONNECT_SECONDS)
        finally:
            await self._ledger.close()

    async def _serve(self) -> None:
        """Answer what is asked until the ledger is lost."""
        loop = asyncio.get_running_loop()
        reports_at = 0.0
        while True:
            if loop.time() >= reports_at:
                reports_at = loop.time() + HEARTBEAT_SECONDS
                await self._report()
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout_at(reports_at):
                    await self._is_wanted.wait()
            if self._wanted:
                await self._lease()

    async def _report(self) -> None:
        connections = {
            _digest(kind, address): number
            for kind, (counts, least) in self._connections.items()
            for address, number in counts.items()
            if number >= least
        }
        # `wait_for` of Python 3.11 forgets a cancellation that comes together with the answer.
        async with asyncio.timeout(ANSWER_SECONDS):
            report = await self._ledger.report(self._node, connections)
        self.is_reachable = True
        self._elsewhere = report.elsewhere
        is_joined = self.nodes <= 1 < report.nodes
        self.nodes = report.nodes
        if is_joined:
            for limiter in self._limiters:
                limiter.share_own_windows(time.monotonic())

    async def _lease(self) -> None:
        batch: dict[str, Wanted] = {}
        waiting: list[Wanted] = []
        for wanted in self._take_wanted():
            is_taken = len(batch) < BATCH_MAX and wanted[0].name not in batch
            if is_taken:
                batch[wanted[0].name] = wanted
            else:
                waiting.append(wanted)
        if waiting:
            self._wanted = waiting
            self._is_wanted.set()
        try:
            async with asyncio.timeout(ANSWER_SECONDS):
                leases = await self._ledger.lease([request for request, _ in batch.values()])
        except BaseException:
            for _, answer in batch.values():
                answer(None)
            raise
        for (_, answer), lease in zip(batch.values(), leases, strict=True):
            answer(lease)

    def _take_wanted(self) -> list[Wanted]:
        wanted, self._wanted = self._wanted, []
        self._is_wanted.clear()
        return wanted


def _digest(name: str, key: Hashable) -> str:
    # Keys are addresses of people.
    return f"{name}:{hashlib.blake2b(repr(key).encode(), digest_size=12).hexdigest()}"
