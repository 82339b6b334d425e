"""The site behind Caddy and behind nginx, with the files of deploy/: TLS, sockets, streams, addresses."""

import asyncio
import http.client
import json
import os
import re
import shutil
import subprocess
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from email.message import Message
from pathlib import Path
from random import Random
from typing import Any

import pytest
from websockets.asyncio.client import connect

import build
from cli.test_serve import free_port, serving
from deploy import deploy_files, proxies
from deploy.proxies import NAME, RunningProxy
from feed.feed_server import next_message, subscribe
from servers import START_SECONDS_MAX
from silverball.service.users import writes as users_writes
from silverball.store.database.engine import Store

# An event that a proxy keeps back comes with the next one, or at the end of the answer.
AT_ONCE_SECONDS = 60.0
COMPLAINT = re.compile(r"\[(warn|emerg)\]|\"level\":\"(warn|error)\"")
KINDS = ("caddy", "nginx")
PUBLIC = {"SILVERBALL_PUBLIC_READ": "true"}
# Of loopback only the proxy is one: the test's visitors come from other addresses of it.
TRUST = {"SILVERBALL_TRUSTED_PROXIES": "127.0.0.1", "SILVERBALL_BASE_URL": f"https://{NAME}"}


@dataclass(frozen=True)
class Site:
    """A server behind a proxy, with a tournament that is running."""

    proxy: RunningProxy
    token: str
    tournament_id: int

    def get(self, path: str, source: str = "127.0.0.9", **headers: str) -> tuple[int, bytes]:
        connection = self.proxy.connection(source)
        try:
            connection.request("GET", path, headers=headers)
            answer = connection.getresponse()
            return answer.status, answer.read()
        finally:
            connection.close()

    def rename(self, name: str) -> None:
        connection = self.proxy.connection("127.0.0.8")
        headers = {"Authorization": f"Bearer {self.token}", "Content-Type": "application/json"}
        body = json.dumps({"name": name})
        connection.request("PATCH", f"/api/tournaments/{self.tournament_id}", body=body, headers=headers)
        answer = connection.getresponse()
        assert answer.status == 200, answer.read()
        connection.close()


@pytest.fixture(scope="module", params=KINDS)
def site(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory, empty_sqlite: Path
) -> Iterator[Site]:
    kind: str = request.param
    if shutil.which(kind) is None or shutil.which("openssl") is None:
        pytest.skip(f"{kind} or openssl is not installed here")
    folder = tmp_path_factory.mktemp(kind)
    shutil.copy(empty_sqlite, folder / "site.db")
    url = f"sqlite:///{folder / 'site.db'}"
    store = Store(url)
    tournament_id = build.a_tournament(store).tournament_id
    owner_id = build.a_user(store, name="Ada Min", role="admin")
    with store.write() as transaction:
        token = users_writes.create_token(
            transaction.connection, owner_id, "x", abilities=["admin"], now=datetime.now(UTC), dice=Random(5)
        ).text
    store.close()
    port = free_port()
    with (
        serving(url, port=port, **PUBLIC, **TRUST),
        proxies.running_proxy(kind, folder, f"127.0.0.1:{port}") as proxy,
    ):
        yield Site(proxy, token, tournament_id)


@pytest.mark.sample(1)
@pytest.mark.parametrize("kind", KINDS)
def test_the_file_passes_the_proxys_own_check(kind: str, tmp_path: Path) -> None:
    file = proxies.write_file(kind, tmp_path, "127.0.0.1:8000", 8443, 8080)
    environment = {**os.environ, "HOME": str(tmp_path), "XDG_DATA_HOME": str(tmp_path)}
    command = proxies.check_command(kind, file)
    done = subprocess.run(command, capture_output=True, text=True, env=environment, check=False)
    assert done.returncode == 0, done.stderr
    complaints = [line for line in done.stderr.splitlines() if COMPLAINT.search(line)]
    # The test brings a certificate, which has no revocation to look up.
    expected = ("automatic HTTPS is completely disabled", "OCSP")
    assert [line for line in complaints if not any(words in line for words in expected)] == []


@pytest.mark.parametrize("name", ["Caddyfile", "Caddyfile.nodes"])
def test_caddy_accepts_both_of_its_files_as_they_are(name: str, tmp_path: Path) -> None:
    if shutil.which("caddy") is None:
        pytest.skip("caddy is not installed here")
    # The log's folder is the only place that it opens.
    text = deploy_files.read_file(name).replace("/var/log/caddy", str(tmp_path))
    (tmp_path / "Caddyfile").write_text(text)
    environment = {**os.environ, "SITE_NAME": NAME, "HOME": str(tmp_path), "XDG_DATA_HOME": str(tmp_path)}
    command = proxies.check_command("caddy", tmp_path / "Caddyfile")
    done = subprocess.run(command, capture_output=True, text=True, env=environment, check=False)
    assert done.returncode == 0, done.stderr
    assert "not formatted" not in done.stderr


def test_a_page_comes_over_tls_with_links_to_the_site(site: Site) -> None:
    status, page = site.get("/")
    assert (status, b"<html" in page) == (200, True)
    status, listed = site.get("/api/tournaments", Authorization=f"Bearer {site.token}")
    assert status == 200
    assert json.loads(listed)["links"]["first"].startswith(f"https://{NAME}/")
    # The server knows that the visitor has TLS: its cookies are for TLS only.
    connection = site.proxy.connection("127.0.0.9")
    connection.request("GET", "/account/sign-in")
    cookies = connection.getresponse().headers.get_all("set-cookie") or []
    connection.close()
    assert all("Secure" in cookie for cookie in cookies)


@pytest.mark.parametrize("path", ["/", "/t/1?round=2", "/account/sign-in"])
def test_pages_without_tls_lead_to_those_with_it(site: Site, path: str) -> None:
    status, headers = plain_answer(site, path)
    assert (status, headers["location"]) == (301, f"https://{NAME}{path}")


@pytest.mark.parametrize("path", ["/api/tournaments", "/api/tokens", "/app/silverball?protocol=7"])
def test_programs_without_tls_are_refused_and_not_led_on(site: Site, path: str) -> None:
    status, headers = plain_answer(site, path)
    assert (status, headers.get("location")) == (403, None)


def plain_answer(site: Site, path: str) -> tuple[int, Message]:
    """The status and the headers of an answer without TLS."""
    connection = http.client.HTTPConnection("127.0.0.1", site.proxy.plain_port, timeout=40)
    connection.request("GET", path, headers={"Host": NAME})
    answer = connection.getresponse()
    connection.close()
    return answer.status, answer.headers


def test_events_arrive_over_a_websocket_at_once(site: Site) -> None:
    async def follow() -> dict[str, Any]:
        url = f"wss://{NAME}:{site.proxy.port}/app/silverball?protocol=7&client=js&version=8.5.0&flash=false"
        async with connect(
            url, host="127.0.0.1", port=site.proxy.port, ssl=site.proxy.tls(), proxy=None
        ) as socket:
            await next_message(socket)
            await subscribe(socket, site.tournament_id)
            # The confirmation.
            await next_message(socket)
            await asyncio.to_thread(site.rename, "Told over a socket")
            async with asyncio.timeout(AT_ONCE_SECONDS):
                message: dict[str, Any] = await next_message(socket)
                return message

    message = asyncio.run(follow())
    assert "Told over a socket" in json.dumps(message)


def test_a_stream_is_not_buffered(site: Site) -> None:
    connection = site.proxy.connection("127.0.0.10")
    connection.request("GET", f"/api/tournaments/{site.tournament_id}/stream")
    answer = connection.getresponse()
    assert answer.headers["content-type"].startswith("text/event-stream")
    late = threading.Timer(0.3, site.rename, ["Told over a stream"])
    late.start()
    began, text = time.monotonic(), b""
    while b"Told over a stream" not in text:
        text += answer.read1(65_536)
        assert time.monotonic() - began < AT_ONCE_SECONDS, text
    late.join()
    connection.close()


def test_a_long_poll_is_answered_with_the_event(site: Site) -> None:
    path = f"/api/tournaments/{site.tournament_id}/events"
    status, newest = site.get(path)
    assert status == 200, newest
    at = json.loads(newest)
    late = threading.Timer(0.3, site.rename, ["Told to whoever waits"])
    late.start()
    status, page = site.get(f"{path}?after={at['seq']}&epoch={at['epoch']}&wait=25", "127.0.0.11")
    late.join()
    assert (status, b"Told to whoever waits" in page) == (200, True), page


def test_a_visitor_is_counted_by_the_address_that_the_proxy_sees(site: Site) -> None:
    def statuses(source: str, count: int, **headers: str) -> list[int]:
        path = f"/api/tournaments/{site.tournament_id}"
        return [site.get(f"{path}?include={at}", source, **headers)[0] for at in range(count)]

    # An address of their own choice with each request gives nobody more than one allowance.
    found = [
        *(statuses("127.0.0.20", 1, **{"X-Forwarded-For": f"203.0.113.{at}"})[0] for at in range(64)),
    ]
    assert found.count(429) >= 2, found
    # Another visitor has an allowance of their own.
    assert statuses("127.0.0.21", 3) == [200] * 3


def test_secrets_in_queries_are_not_in_the_proxys_log(site: Site) -> None:
    site.get("/d?link=a-secret-of-a-device", Referer=f"https://{NAME}/d?code=another-secret")
    for _ in range(START_SECONDS_MAX * 10):
        text = site.proxy.log.read_text() if site.proxy.log.exists() else ""
        if re.search(r"[\" ]/d\b", text):
            break
        time.sleep(0.1)
    assert re.search(r"[\" ]/d\b", text)
    assert "secret" not in text
