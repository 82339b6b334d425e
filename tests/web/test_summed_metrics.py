"""The metrics of several workers as those of one server."""

from prometheus_client.parser import text_string_to_metric_families

from silverball.web.summed_metrics import SummedMetrics


def a_text(requests: int, *, ready: int = 1, threads: int = 5, backlog: int = 0) -> str:
    """The metrics of one worker."""
    return f"""# HELP silverball_http_requests_total Answered requests.
# TYPE silverball_http_requests_total counter
silverball_http_requests_total{{method="GET",route="/a b",status="2xx"}} {requests}.0
# HELP silverball_seconds Time.
# TYPE silverball_seconds histogram
silverball_seconds_bucket{{le="0.1"}} {requests}.0
silverball_seconds_bucket{{le="+Inf"}} {requests}.0
silverball_seconds_count {requests}.0
silverball_seconds_sum {requests / 4}
# HELP silverball_ready 1 if the database answers and can be written to.
# TYPE silverball_ready gauge
silverball_ready {ready}.0
# HELP silverball_threads Threads of the process.
# TYPE silverball_threads gauge
silverball_threads {threads}.0
# HELP silverball_webhook_backlog Messages of the site that are due.
# TYPE silverball_webhook_backlog gauge
silverball_webhook_backlog {backlog}.0
"""


def samples(metrics: SummedMetrics, workers: int = 2) -> dict[str, float]:
    text = metrics.exposition(workers).decode()
    families = text_string_to_metric_families(text)
    return {sample.name: sample.value for family in families for sample in family.samples}


def test_counters_and_sizes_are_summed_and_what_is_about_the_site_is_not() -> None:
    metrics = SummedMetrics()
    metrics.update(1, a_text(10, backlog=3))
    metrics.update(2, a_text(5, ready=0, threads=7, backlog=4))
    found = samples(metrics)
    assert found["silverball_http_requests_total"] == 15
    assert found["silverball_seconds_count"] == 15
    assert found["silverball_seconds_sum"] == 3.75
    assert found["silverball_threads"] == 12
    assert found["silverball_ready"] == 0
    assert found["silverball_webhook_backlog"] == 4
    assert found["silverball_workers"] == 2


def test_counters_of_a_worker_that_has_ended_stay_and_its_sizes_go() -> None:
    metrics = SummedMetrics()
    metrics.update(1, a_text(10))
    metrics.update(2, a_text(5))
    metrics.end(1)
    assert samples(metrics)["silverball_http_requests_total"] == 15
    assert samples(metrics)["silverball_threads"] == 5
    # Another worker in the same place begins at nothing.
    metrics.update(1, a_text(2))
    metrics.end(1)
    metrics.end(1)
    found = samples(metrics)
    assert found["silverball_http_requests_total"] == 17
    assert found["silverball_seconds_count"] == 17
