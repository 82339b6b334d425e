"""How far the mirrors of the site are behind, for `/metrics`; their own programs have noted it."""

from collections.abc import Callable, Sequence

from silverball.jobs.workers import Workers
from silverball.kit.measures import Measures, MirrorMeasures
from silverball.service.mirrors import reads
from silverball.service.mirrors.reads import Mirror
from silverball.store.engine import Store

MEASURE_SECONDS = 15.0


def mirror_workers(store: Store, measures: Measures) -> Workers:
    """The thread that measures."""
    return Workers("mirrors", [_measurement(store, measures)], poll_seconds=MEASURE_SECONDS)


def _measurement(store: Store, measures: Measures) -> Callable[[], bool]:
    def measure() -> bool:
        with store.read() as db:
            measures.mirrors = measures_by_host(reads.running_mirrors(db))
        return False

    return measure


def measures_by_host(mirrors: Sequence[Mirror]) -> dict[str, MirrorMeasures]:
    """Host -> its mirrors in numbers; the lag is that of the slowest."""
    by_host: dict[str, MirrorMeasures] = {}
    for mirror in mirrors:
        measured = by_host.setdefault(mirror.host, MirrorMeasures())
        measured.mirrors += 1
        measured.lost += mirror.lost_at is not None
        measured.different += bool(mirror.standings_differ)
        measured.median_seconds = max(measured.median_seconds, (mirror.lag_median or 0) / 1_000)
        measured.p99_seconds = max(measured.p99_seconds, (mirror.lag_p99 or 0) / 1_000)
    return by_host
