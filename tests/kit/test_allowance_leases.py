"""The task that shares allowances with other nodes ends when the server stops, whatever it is doing then."""

import asyncio
from collections.abc import Mapping, Sequence

import pytest

from silverball.kit.edge.allowance_leases import AllowanceLeases, LeaseRequest, NodeReport

SECONDS_MAX = 60


class SlowLedger:
    """A ledger that answers when it is told to."""

    name = "The slow ledger"

    def __init__(self) -> None:
        self.is_asked, self.may_answer = asyncio.Event(), asyncio.Event()
        self.is_closed = False

    async def lease(self, wanted: Sequence[LeaseRequest]) -> list[tuple[int, int, float]]:
        return [(request.portion, request.limit, 1.0) for request in wanted]

    async def report(self, _node: str, _connections: Mapping[str, int]) -> NodeReport:
        self.is_asked.set()
        await self.may_answer.wait()
        return NodeReport(1, {})

    async def close(self) -> None:
        self.is_closed = True


@pytest.mark.parametrize("turns", range(6))
def test_a_stop_is_heard_however_soon_it_comes_after_an_answer(turns: int) -> None:
    async def scenario() -> None:
        ledger = SlowLedger()
        leases = AllowanceLeases(ledger)
        leases.start()
        await ledger.is_asked.wait()
        ledger.may_answer.set()
        # One of these turns of the loop is that in which the answer is there and not yet taken.
        for _ in range(turns):
            await asyncio.sleep(0)
        async with asyncio.timeout(SECONDS_MAX):
            await leases.close()
        assert ledger.is_closed

    asyncio.run(scenario())
