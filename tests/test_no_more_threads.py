"""A real server that the system gives no more threads: it answers within time, and recovers by itself."""

import http.client
import json
import os
import resource
import shutil
import subprocess
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime
from random import Random
from typing import Any

import pytest

import build
from servers import Servers
from silverball.kit.threads import is_refused_thread
from silverball.service.users import writes as users_writes
from silverball.store.database.engine import Store

# The limit counts for everybody but root. A server that root starts runs as somebody else, who may read and
# write what is root's: the program and the files of the test.
KEPT = "-all,+dac_override,+fowner"
UNPRIVILEGED = (
    *("setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"),
    *(f"--{kind}={KEPT}" for kind in ("bounding-set", "inh-caps", "ambient-caps")),
)
REQUESTS = 60
# Of an answer.
SECONDS_MAX = 60
RECOVERY_REQUESTS = 20


class LimitedServer:
    """A server that gets no thread beyond those it has, while it is limited."""

    def __init__(self, url: str, token: str, run_by: Sequence[str]) -> None:
        self._token = token
        self._servers = Servers.without_limits(url, run_by=run_by, SILVERBALL_PUBLIC_READ="true")
        self._run_by = run_by

    def start(self) -> None:
        self._servers.start()

    def limit_threads(self) -> None:
        self._set_limit("1:")

    def free_threads(self) -> None:
        # It began with the limit of this process.
        soft, _ = resource.getrlimit(resource.RLIMIT_NPROC)
        self._set_limit("unlimited:" if soft == resource.RLIM_INFINITY else f"{soft}:")

    def _set_limit(self, limits: str) -> None:
        # Only the same user may set it.
        command = [*self._run_by, "prlimit", f"--pid={self._servers.process_id}", f"--nproc={limits}"]
        subprocess.run(command, check=True)

    def ask(self, method: str, path: str, body: Any = None) -> tuple[int, str | None]:
        """The status and the Retry-After of an answer."""
        connection = http.client.HTTPConnection("127.0.0.1", self._servers.port, timeout=SECONDS_MAX)
        headers = {"Authorization": f"Bearer {self._token}", "Content-Type": "application/json"}
        try:
            connection.request(method, path, None if body is None else json.dumps(body), headers)
            answer = connection.getresponse()
            answer.read()
            return answer.status, answer.getheader("Retry-After")
        finally:
            connection.close()

    def close(self) -> None:
        self._servers.close()


@pytest.fixture
def limited(store: Store, database_url: str) -> Iterator[LimitedServer]:
    if shutil.which("prlimit") is None or shutil.which("setpriv") is None:
        pytest.skip("prlimit and setpriv are not installed here, and a limit of threads needs them")
    user_id = build.a_user(store, role="organizer")
    with store.write() as transaction:
        created = users_writes.create_token(
            transaction.connection,
            user_id,
            "threads",
            abilities=["manage"],
            now=datetime.now(UTC),
            dice=Random(1),
        )
    server = LimitedServer(database_url, created.text, UNPRIVILEGED if os.geteuid() == 0 else ())
    try:
        server.start()
        yield server
    finally:
        server.close()


def _paths() -> list[tuple[str, str, Any]]:
    """Reads that are not in memory, writes, pages, and the checks of an operator."""
    kinds = [
        ("GET", "/api/tournaments?name={}", None),
        ("POST", "/api/clubs?{}", {"name": "Club"}),
        ("GET", "/tournaments?name={}", None),
        ("GET", "/account/sign-in?next=%2F{}", None),
        ("GET", "/ready?{}", None),
        ("GET", "/up?{}", None),
    ]
    return [
        (method, path.format(number), body and {"name": f"Club {number}"})
        for number in range(REQUESTS // len(kinds))
        for method, path, body in kinds
    ]


def test_no_request_fails_or_hangs_without_threads_and_all_succeed_when_there_are_some(
    limited: LimitedServer,
) -> None:
    # From its first request on, so that nothing has been started for an earlier one.
    limited.limit_threads()
    requests = _paths()
    with ThreadPoolExecutor(20) as clients:
        answers = list(clients.map(lambda request: limited.ask(*request), requests))
    by_request = dict(zip([f"{method} {path}" for method, path, _ in requests], answers, strict=True))
    strange = {name: answer for name, answer in by_request.items() if answer[0] not in (200, 201, 404, 503)}
    assert strange == {}
    assert [name for name, answer in by_request.items() if answer[0] == 503 and answer[1] is None] == []
    # The threads that answer the interface run since the start.
    assert {answer[0] for name, answer in by_request.items() if "/api/" in name} <= {200, 201}
    limited.free_threads()
    for number in range(RECOVERY_REQUESTS):
        assert limited.ask("GET", f"/api/tournaments?name=again{number}")[0] == 200
        assert limited.ask("POST", "/api/clubs", {"name": f"Again {number}"})[0] == 201
    assert limited.ask("GET", "/ready")[0] == 200
    # No thread could load the pages before.
    assert limited.ask("GET", "/account/sign-in")[0] == 200


def test_only_the_sentence_about_threads_is_taken_for_it() -> None:
    assert is_refused_thread(RuntimeError("can't start new thread"))
    assert not is_refused_thread(RuntimeError("cannot schedule new futures after shutdown"))
    assert not is_refused_thread(ValueError("can't start new thread"))
