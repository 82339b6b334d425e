"""Nodes report that they are there and their connections, in the database that they share."""

import pytest
from sqlalchemy import select

from silverball.store.engine import Store
from silverball.store.tables import node_connection

pytestmark = pytest.mark.both_databases


def test_a_node_learns_how_many_there_are_and_the_connections_at_the_others(store: Store) -> None:
    assert store.counts.report("north", {"a": 3, "b": 1}) == (1, {})
    assert store.counts.report("south", {"a": 2}) == (2, {"a": 3, "b": 1})
    assert store.counts.report("east", {}) == (3, {"a": 5, "b": 1})
    assert store.counts.report("north", {"a": 4}) == (3, {"a": 2})


def test_what_a_node_reports_no_more_is_gone_at_once(store: Store) -> None:
    store.counts.report("north", {"a": 3, "b": 1})
    store.counts.report("north", {"b": 2})
    assert store.counts.report("south", {}) == (2, {"b": 2})


def test_a_node_that_has_not_been_heard_of_for_a_while_counts_no_more(store: Store) -> None:
    store.counts.report("north", {"a": 3})
    with store.counts.transaction() as db:
        db.execute(node_connection.update().values(counted_at=node_connection.c.counted_at - 11.0))
    assert store.counts.report("south", {}) == (1, {})
    with store.counts.transaction() as db:
        assert set(db.execute(select(node_connection.c.node)).scalars()) == {"north", "south"}
