"""`/metrics` counts every request by its declared route, and has what the dashboard and the alerts name."""

import json
import re
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest
import yaml
from prometheus_client.parser import text_string_to_metric_families
from starlette.testclient import TestClient

import asgi
import build
from feed.running_program import admin_token
from house.doc_blocks import ROOT
from silverball import app
from silverball.cli.server import connection_table
from silverball.feed.feed import FeedService
from silverball.kit.edge.front import FrontDoor
from silverball.kit.measures import OTHER
from silverball.settings import Settings
from silverball.store.database.engine import Store
from silverball.web import operations
from silverball.web.operations import SiteMetrics

MONITORING = ROOT / "deploy" / "monitoring"
SETTINGS = Settings(base_url=build.BASE_URL, standings_interval_seconds=0)
NAME = re.compile(r"\b(?:silverball|process)_[a-z_]+")
LABELS = {"method", "route", "status", "le", "queue", "job", "result", "code", "version", "host"}


class Site:
    """A running program and its metrics."""

    def __init__(self, store: Store) -> None:
        broadcast = FeedService(store, SETTINGS)
        self.front_door: FrontDoor = app.build(store, SETTINGS, broadcast=broadcast)
        self._metrics = operations.metrics_app(
            SiteMetrics(self.front_door, broadcast, store, connection_table(SETTINGS)).expose
        )

    def text(self) -> str:
        reply = asgi.get(self._metrics, "/metrics")
        assert reply.status == 200
        assert reply.headers["content-type"].startswith("text/plain")
        return reply.body.decode()

    def value(self, name: str, **labels: str) -> float:
        """The sum of the samples of this name that have these labels."""
        return sum(
            sample.value
            for family in text_string_to_metric_families(self.text())
            for sample in family.samples
            if sample.name == name and labels.items() <= sample.labels.items()
        )


@pytest.fixture
def site(store: Store) -> Iterator[Site]:
    with _running(store) as running:
        yield running


@contextmanager
def _running(store: Store) -> Iterator[Site]:
    built = Site(store)
    with TestClient(built.front_door):
        yield built


def test_every_request_is_counted_by_route_also_from_memory(store: Store, site: Site) -> None:
    token, night = admin_token(store), build.a_tournament(store)
    path, route = f"/api/tournaments/{night.tournament_id}", "/api/tournaments/{tournament_id}"
    first, *_ = [asgi.get(site.front_door, path, token=token) for _ in range(5)]
    headers = {"if-none-match": first.headers["etag"]}
    assert asgi.get(site.front_door, path, token=token, headers=headers).status == 304
    assert asgi.get(site.front_door, path, token="1|slv_wrong").status == 401

    def answered(status: str) -> float:
        return site.value("silverball_http_requests_total", method="GET", route=route, status=status)

    assert (answered("2xx"), answered("3xx"), answered("4xx")) == (5, 1, 1)
    assert site.value("silverball_http_answers_from_memory_total", route=route) == 5
    assert site.value("silverball_http_request_seconds_count", route=route) == 7
    assert site.value("silverball_http_request_seconds_bucket", route=route, le="+Inf") == 7
    assert site.value("silverball_http_request_seconds_bucket", route=route, le="0.001") >= 5


def test_pages_are_counted_too(store: Store, site: Site) -> None:
    night = build.a_tournament(store)
    for _ in range(3):
        asgi.get(site.front_door, f"/t/{night.tournament_id}")
    asgi.get(site.front_door, "/account/sign-in")
    asgi.get(site.front_door, "/static/site.css")
    asgi.get(site.front_door, "/ready")
    assert site.value("silverball_http_requests_total", route="/t/{tournament_id}", status="2xx") == 3
    assert site.value("silverball_http_requests_total", route="/account/sign-in", status="2xx") == 1
    assert site.value("silverball_http_requests_total", route="/static/*") == 1
    assert site.value("silverball_http_requests_total", route="/ready", status="2xx") == 1


def test_nobody_can_make_up_a_label(site: Site) -> None:
    for n in range(200):
        asgi.get(site.front_door, f"/api/none-{n}")
        asgi.get(site.front_door, f"/none-{n}")
    asgi.get(site.front_door, "/api/tournaments/0/none/" + "x" * 200)
    routes = {
        sample.labels["route"]
        for family in text_string_to_metric_families(site.text())
        for sample in family.samples
        if "route" in sample.labels
    }
    assert routes == {OTHER}
    found = {
        label
        for family in text_string_to_metric_families(site.text())
        for sample in family.samples
        for label in sample.labels
    }
    assert found <= LABELS


def test_the_database_jobs_webhooks_feed_and_process_are_shown(store: Store, site: Site) -> None:
    with store.write():
        pass
    for name in (
        "silverball_database_commits_total",
        "silverball_database_lock_wait_seconds_count",
        "silverball_database_connection_wait_seconds_count",
        "silverball_database_connections",
        "silverball_threads",
        "process_resident_memory_bytes",
        "process_open_fds",
        "process_start_time_seconds",
    ):
        assert site.value(name) > 0, name
    assert site.value("silverball_ready") == 1
    text = site.text()
    for wanted in (
        'silverball_job_runs_total{job="close_idle"} 0.0',
        'silverball_job_runs_total{job="webhooks"}',
        "silverball_webhook_backlog 0.0",
        "silverball_feed_connections 0.0",
        "silverball_feed_deliveries_total 0.0",
        "silverball_feed_unsent_bytes 0.0",
        'silverball_feed_delivery_seconds_bucket{le="+Inf"} 0.0',
        'silverball_build_info{version="',
    ):
        assert wanted in text


def _expressions() -> list[str]:
    rules = yaml.safe_load((MONITORING / "alerts.yaml").read_text(encoding="utf-8"))
    alerts = [rule["expr"] for group in rules["groups"] for rule in group["rules"]]
    board: dict[str, Any] = json.loads((MONITORING / "dashboard.json").read_text(encoding="utf-8"))
    variables = [variable["query"] for variable in board["templating"]["list"]]
    return [*alerts, *variables, *(row["expr"] for panel in board["panels"] for row in panel["targets"])]


def test_every_metric_of_the_dashboard_and_the_alerts_exists(store: Store, site: Site) -> None:
    asgi.get(site.front_door, "/api/tournaments", token=admin_token(store))
    names = {
        sample.name for family in text_string_to_metric_families(site.text()) for sample in family.samples
    }
    named = {name for expression in _expressions() for name in NAME.findall(expression)}
    assert named - names == set()
    assert len(named) > 30
    # Each metric is shown somewhere or explained in the guide.
    guide = (ROOT / "docs" / "monitoring.md").read_text(encoding="utf-8")
    families = {family.name for family in text_string_to_metric_families(site.text())}
    assert {name for name in families if name.startswith("silverball_") and f"`{name}" not in guide} == set()


def test_prometheus_understands_the_alerts_and_the_metrics(site: Site) -> None:
    promtool = shutil.which("promtool")
    if promtool is None:
        pytest.skip("Prometheus is not installed here (no promtool)")
    subprocess.run([promtool, "check", "rules", MONITORING / "alerts.yaml"], check=True, capture_output=True)
    done = subprocess.run(
        [promtool, "check", "metrics"], input=site.text(), capture_output=True, text=True, check=False
    )
    assert done.returncode in {0, 3}, done.stderr
    assert "error" not in done.stderr.lower()
