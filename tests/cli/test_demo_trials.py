"""What /docs fills in on the demo succeeds: every read, and every write once, in the order of the page."""

import json
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlencode

import pytest

from cli.test_demo import running

WAIT_SECONDS = 60
FOR_ADMINISTRATORS = {
    "GET /api/audit": 403,
    "GET /api/federation-numbers": 403,
    "DELETE /api/users/{userId}/federation-number": 403,
    "PUT /api/users/{userId}/federation-number": 403,
    "DELETE /api/users/{userId}/suspension": 403,
    "PUT /api/users/{userId}/suspension": 403,
}


@dataclass
class Visitor:
    """Somebody who tries out the interface with the demo's token."""

    base_url: str
    token: str

    def send(self, method: str, path: str, body: Any = None) -> tuple[int, bytes]:
        """The status and the body of an answer."""
        headers = {"authorization": f"Bearer {self.token}", "content-type": "application/json"}
        sent = None if body is None else json.dumps(body).encode()
        request = urllib.request.Request(self.base_url + path, sent, headers, method=method)
        try:
            with urllib.request.urlopen(request, timeout=WAIT_SECONDS) as answer:
                # A stream has no end.
                is_stream = answer.headers["content-type"].startswith("text/event-stream")
                return answer.status, answer.read1() if is_stream else answer.read()
        except urllib.error.HTTPError as refused:
            return refused.code, refused.read()

    def ask(self, path: str) -> Any:
        return json.loads(self.send("GET", path)[1])

    def wait_for_players(self, path: str) -> None:
        """Wait until the server has fetched the results of a submission."""
        started = time.monotonic()
        while self.ask(path)["data"]["status"] != "needs_players":
            assert time.monotonic() - started < WAIT_SECONDS
            time.sleep(0.2)


@pytest.fixture(scope="module")
def visitor(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Visitor]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("SILVERBALL_RATE_LIMIT_PER_MINUTE", "0")
        with running(tmp_path_factory.mktemp("trials") / "data", "--json", "--no-robots") as lines:
            ready = json.loads(lines[0])
            yield Visitor(ready["baseUrl"], ready["token"])


def operations(document: Any) -> Iterator[tuple[str, str, Any]]:
    """Method, path and description of each operation, in the order of the page."""
    for tag in document["tags"]:
        for path, methods in document["paths"].items():
            for method, operation in methods.items():
                if operation["tags"][0] == tag["name"]:
                    yield method.upper(), path, operation


def filled_request(document: Any, path: str, operation: Any) -> tuple[str, Any]:
    """The address and the body that the page fills in."""
    query = {}
    for given in operation["parameters"]:
        reference = given.get("$ref", "").rpartition("/")[2]
        parameter = document["components"]["parameters"][reference] if reference else given
        if "example" not in parameter:
            assert not parameter.get("required"), f"{operation['operationId']} lacks {parameter['name']}"
        elif parameter["in"] == "path":
            path = path.replace(f"{{{parameter['name']}}}", str(parameter["example"]))
        else:
            query[parameter["name"]] = parameter["example"]
    body = operation.get("requestBody", {}).get("content", {}).get("application/json", {})
    if query:
        path += "?" + urlencode({name: str(value) for name, value in query.items()})
    return path, body.get("example")


def test_every_operation_succeeds_as_the_page_fills_it_in(visitor: Visitor) -> None:
    document = visitor.ask("/openapi.json")
    listed = {operation["operationId"]: (path, operation) for _, path, operation in operations(document)}

    # The server fetches results from itself.
    for name in ("settle_players_of_rating_submission", "withdraw_rating_submission"):
        address, _ = filled_request(document, *listed[name])
        visitor.wait_for_players(address.removesuffix("/ifpa"))
    refused = {}
    for method, path, operation in operations(document):
        filled, body = filled_request(document, path, operation)
        status, answer = visitor.send(method, filled, body)
        if status not in (200, 201):
            refused[f"{method} {path}"] = (status, answer[:300])
    # The demo's token is an organizer's.
    assert {name: status for name, (status, _) in refused.items()} == FOR_ADMINISTRATORS, refused
    assert visitor.send("GET", "/api/users/profile")[0] == 200
