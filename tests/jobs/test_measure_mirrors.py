"""What `/metrics` says of mirrors, by the host that runs them."""

from datetime import UTC, datetime

import pytest

import build
from silverball.jobs import background
from silverball.kit.measures import Measures, MirrorMeasures
from silverball.service.moving import writes as moving_writes
from silverball.store.database.engine import Store
from web.test_site_metrics import Site

LOST_AT = datetime(2026, 3, 5, 22, 41, tzinfo=UTC)


def a_mirror(store: Store, host: str, median: int, p99: int, *, status: str = "started") -> int:
    tournament_id = build.a_tournament(store, status=status).tournament_id
    with store.write(tournament_id) as transaction:
        moving_writes.begin_mirror(transaction, tournament_id, host, 4711)
        moving_writes.note_lag(transaction, tournament_id, median, p99)
    return tournament_id


def measured(store: Store) -> Measures:
    measures = Measures()
    assert background.measure_mirrors(store, measures) is False
    return measures


@pytest.mark.both_databases
def test_the_slowest_mirror_of_a_host_counts_and_completed_ones_do_not(store: Store) -> None:
    assert measured(store).mirrors == {}
    a_mirror(store, "one.example", 40, 90)
    lost = a_mirror(store, "one.example", 30, 250)
    a_mirror(store, "two.example", 10, 20)
    a_mirror(store, "two.example", 9_000, 9_000, status="completed")
    with store.write(lost) as transaction:
        moving_writes.note_loss(transaction, lost, LOST_AT)
        moving_writes.note_standings(transaction, lost, 2)
    assert measured(store).mirrors == {
        "one.example": MirrorMeasures(mirrors=2, lost=1, different=1, median_seconds=0.04, p99_seconds=0.25),
        "two.example": MirrorMeasures(mirrors=1, lost=0, median_seconds=0.01, p99_seconds=0.02),
    }


def test_mirrors_are_shown_by_host(store: Store) -> None:
    site = Site(store)
    a_mirror(store, "one.example", 40, 90)
    site.front_door.measures.mirrors = measured(store).mirrors
    assert 'silverball_mirrors{host="one.example"} 1.0' in site.text()
    assert site.value("silverball_mirror_lag_median_seconds", host="one.example") == 0.04
    assert site.value("silverball_mirror_lag_p99_seconds", host="one.example") == 0.09
    assert site.value("silverball_mirrors_lost") == 0
