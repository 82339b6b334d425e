"""`silverball network`, and a running server that learns of it."""

import json
import time
import urllib.error
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from cli.test_serve import Serving, serving
from conftest import PostgreSQL
from silverball.cli.main import silverball_group


@pytest.fixture(params=["sqlite", "postgresql"])
def url(request: pytest.FixtureRequest) -> str:
    if request.param == "sqlite":
        return str(request.getfixturevalue("sqlite_url"))
    cluster: PostgreSQL = request.getfixturevalue("postgresql")
    return cluster.new_database()


def run(url: str, words: str) -> Result:
    environment = {"SILVERBALL_DATABASE_URL": url}
    return CliRunner(env=environment).invoke(silverball_group, ["network", *words.split()])


@pytest.mark.both_databases
def test_networks_are_blocked_listed_and_unblocked(url: str) -> None:
    for given in ("203.0.113.9/24", "203.0.113.0/24", "198.51.100.7", "2001:db8::/32"):
        assert run(url, f"block {given}").exit_code == 0
    assert run(url, "list").stdout.split() == ["198.51.100.7/32", "2001:db8::/32", "203.0.113.0/24"]
    assert json.loads(run(url, "list --json").stdout) == [
        "198.51.100.7/32",
        "2001:db8::/32",
        "203.0.113.0/24",
    ]
    assert run(url, "unblock 198.51.100.7").exit_code == 0
    done = run(url, "unblock 198.51.100.7")
    assert (done.exit_code, done.stdout) == (1, "")
    assert "198.51.100.7/32 is not blocked." in done.stderr


@pytest.mark.parametrize("wrong", ["everybody", "203.0.113.0/33", "0.0.0.0/0", "2001::/16", "''"])
def test_what_is_no_network_or_too_large_is_refused(sqlite_url: str, wrong: str) -> None:
    done = run(sqlite_url, f"block {wrong}")
    assert (done.exit_code, done.stdout) == (1, "")
    assert run(sqlite_url, "list").stdout == ""


def test_a_running_server_refuses_a_network_within_seconds(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path / 'site.db'}"
    with serving(url) as server:
        assert server.get("/up")[0] == 200
        run(url, "block 127.0.0.0/8")
        assert wait_for_status(server, 403) == 403
        run(url, "unblock 127.0.0.0/8")
        assert wait_for_status(server, 200) == 200


def wait_for_status(server: Serving, wanted: int) -> int:
    status = 0
    for _ in range(100):
        try:
            status = server.get("/up")[0]
        except urllib.error.HTTPError as error:
            status = error.code
        if status == wanted:
            break
        time.sleep(0.1)
    return status
