"""T4: PostgreSQL crashes, ends connections and comes back, while clients write."""

import time
from typing import Any

from selection import LARGE_IN_SOAK, repetitions
from servers import Servers
from silverball.store.database.engine import Store
from trials.ledger import Clients, Ledger, Work, compare

pytestmark = LARGE_IN_SOAK

FAULTS = repetitions(8, in_soak=200)


def test_a_crashed_database_loses_nothing_that_was_acknowledged(own_postgresql: Any) -> None:
    url = own_postgresql.new_database()
    store = Store(url)
    work, ledger, servers = Work(store), Ledger(), Servers.without_limits(url)
    recoveries: list[float] = []
    try:
        servers.start()
        clients = Clients(work, ledger, lambda _client: servers.port, count=4, pause_seconds=0.05)
        with clients:
            ledger.await_recovery(0.0)
            for _ in range(FAULTS):
                time.sleep(work.dice.uniform(0.0, 0.3))
                if work.dice.random() < 0.5:
                    own_postgresql.end_connections()
                    began = time.monotonic()
                else:
                    own_postgresql.crash()
                    time.sleep(work.dice.uniform(0.0, 0.5))
                    own_postgresql.start()
                    began = time.monotonic()
                recoveries.append(ledger.await_recovery(began))
        clients.resend(servers.port)
    finally:
        servers.close()
    store.disconnect()
    assert ledger.unknown == []
    figures = compare("T4 database faults", "postgresql", FAULTS, work, ledger, store)
    store.close()
    figures.add_recoveries(recoveries)
    figures.publish()
    figures.assert_nothing_wrong()
