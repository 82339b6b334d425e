"""The demo's nights, pulled as a whole: how much is asked for, how long it takes, and what differs."""

from collections.abc import Callable
from pathlib import Path
from random import Random

import build
from exchange import bundles, pull_world
from exchange.pull_world import NAME, StoppedClock, published
from silverball.exchange.pull.reading import Wanted
from silverball.exchange.pull.source import PullSource, RequestPace
from silverball.exchange.pull.taking import Pull, PullOptions

REQUESTS_OF_TOURNAMENT_MAX = 6


def test_all_nights_of_the_demo_are_pulled_without_a_difference(
    tmp_path: Path, empty_sqlite: Path, record_property: Callable[[str, object], None]
) -> None:
    file = tmp_path / "source.db"
    file.write_bytes(empty_sqlite.read_bytes())
    nights = (*bundles.INVENTED, *bundles.NIGHTS)
    clock = StoppedClock()
    with pull_world.site(file, *nights) as site:
        local = pull_world.new_store(empty_sqlite, tmp_path / "local.db")
        source = PullSource(NAME, site.ask, RequestPace(now=clock.now, sleep=clock.sleep))
        options = PullOptions(Wanted(owners=[site.owner_id]), {}, sample_share=0.0)
        run = Pull(local, source, options, lambda: build.NOW, Random(7))
        began = clock.now()
        reports = list(run.reports(run.tournaments()))
        losses = [
            loss
            for report in reports
            for loss in bundles.find_losses(
                *(published(store, report.remote_id) for store in (site.store, local))
            )
        ]
        local.close()
    seconds = clock.now() - began
    # Shown by `pytest --junitxml`, and in docs/performance.md.
    for name, figure in (
        ("requests", source.pace.requests),
        ("seconds", seconds),
        ("bytes", source.bytes_read),
    ):
        record_property(name, figure)
    assert {report.outcome for report in reports} == {"new"}
    assert (losses, [report.differences for report in reports if report.differences]) == ([], [])
    assert source.pace.requests <= REQUESTS_OF_TOURNAMENT_MAX * len(nights)
    # One a second, the first at once.
    assert seconds == source.pace.requests - 1
