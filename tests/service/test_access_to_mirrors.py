"""A mirror is changed by nobody: who might hears that it is run elsewhere, others what they always hear."""

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from sqlalchemy import insert, select

from service.access_world import STATES, AccessWorld, Operation
from service.test_access_of_everybody import OPERATIONS, RUN_PATH, allowed
from silverball.store import tables

# What belongs to this site and not to the night, so that a mirror has its own.
OWN_HERE = ("/webhooks",)
IDENTITIES = ("owner", "stranger", "keeper", "player", "reader")
WRITES = [
    operation
    for operation in OPERATIONS
    if operation.endpoint.is_write
    and operation.endpoint.path.startswith(RUN_PATH)
    and not any(part in operation.endpoint.path for part in OWN_HERE)
]


@pytest.fixture(scope="module")
def mirrors(empty_sqlite: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[AccessWorld]:
    """The world of the access tests, in which another service runs every tournament."""
    file = tmp_path_factory.mktemp("mirrors") / "silverball.db"
    shutil.copy(empty_sqlite, file)
    world = AccessWorld(file)
    with world.store.write() as transaction:
        ids = transaction.connection.execute(select(tables.tournament.c.tournament_id)).scalars().all()
        rows = [{"tournament_id": number, "host": "results.example", "remote_id": number} for number in ids]
        transaction.connection.execute(insert(tables.mirror), rows)
    world.keep()
    yield world
    world.close()


@pytest.mark.sample(15)
@pytest.mark.parametrize("operation", WRITES, ids=lambda operation: operation.name)
def test_who_may_change_it_hears_where_it_is_run(mirrors: AccessWorld, operation: Operation) -> None:
    unexpected = {}
    for state in STATES:
        may = allowed(operation, state)
        for identity in IDENTITIES:
            status = mirrors.status(operation, identity, state)
            is_right = status in (409, 422) if identity in may else status in (403, 404)
            if not is_right:
                unexpected[identity, state] = status
    assert unexpected == {}
