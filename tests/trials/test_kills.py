"""T1: servers killed while clients write. What was acknowledged is stored once, and nothing is torn.

Eight clients record scores and results, each request with its own idempotency key. The server is killed
with SIGKILL and started again, and unacknowledged requests are sent again with the same key.
"""

import time
from collections.abc import Sequence
from contextlib import ExitStack
from random import Random

from selection import IS_SOAK, LARGE_IN_SOAK
from servers import Servers
from silverball.store.database.engine import Store
from trials.figures import Figures, kind_of
from trials.ledger import Clients, Ledger, Work, compare

pytestmark = LARGE_IN_SOAK

# Each part has tournaments of its own, so that none grows as no tournament does.
KILLS_IN_PART = 20 if IS_SOAK else 15
PARTS = {"sqlite": 50 if IS_SOAK else 1, "postgresql": 15 if IS_SOAK else 1}
# On PostgreSQL clients go to the other node while one is down.
NODES = {"sqlite": 1, "postgresql": 2}
LIFE_SECONDS_MAX = 0.3


def test_what_was_acknowledged_before_a_kill_is_there_once(store: Store, database_url: str) -> None:
    where = kind_of(store)
    dice = Random(17)
    with ExitStack() as stack:
        nodes = [Servers.without_limits(database_url) for _ in range(NODES[where])]
        for node in nodes:
            stack.callback(node.close)
            node.start()
        for _ in range(PARTS[where]):
            # Each part has its own line, so that a run that is broken off has found something.
            figures = kill_nodes(store, nodes, dice)
            figures.publish()
            figures.assert_nothing_wrong()


def kill_nodes(store: Store, nodes: Sequence[Servers], dice: Random) -> Figures:
    """Kill nodes while clients write; returns what was found."""
    work, ledger = Work(store, rounds=3, dice=dice), Ledger()
    faults = []

    def a_port(client: int) -> int:
        open_ports = [node.port for node in nodes if node.port]
        return open_ports[client % len(open_ports)] if open_ports else 0

    clients = Clients(work, ledger, a_port)
    with clients:
        for _ in range(KILLS_IN_PART):
            # Some are killed before their first answer, most of them while they write.
            if dice.random() < 0.8:
                ledger.await_recovery(time.monotonic())
            time.sleep(dice.uniform(0.0, LIFE_SECONDS_MAX))
            node = dice.choice(nodes)
            node.kill()
            faults.append(time.monotonic())
            node.start()
        ledger.await_recovery(time.monotonic())
    clients.resend(nodes[0].port)
    assert ledger.unknown == []
    assert any(write.tries > 1 for write in ledger.writes), "no kill came between a request and its answer"
    figures = compare("T1 kills", kind_of(store), KILLS_IN_PART, work, ledger, store)
    figures.add_recoveries(ledger.recoveries(faults))
    return figures
