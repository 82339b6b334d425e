"""What /docs fills in on the demo: ids of five sandboxes, and of finished tournaments."""

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
# What ends a tournament, and leaves nothing to try the others on.
ENDINGS = (
    "remove_absent_players",
    "forfeit_games_of_player",
    "complete_tournament",
    "reopen_tournament",
    "start_tournament",
    "delete_tournament",
)
RESULTS = {"record_result": 1, "approve_suggestion": 1, "add_player_to_game": 2}
# What needs an administrator, what the state of a sandbox refuses, and what an earlier trial has ended.
REFUSED = {
    "GET /api/audit": 403,
    "GET /api/federation-numbers": 403,
    "POST /api/federation-numbers/batches": 403,
    "DELETE /api/federation-numbers/batches/{batchId}": 403,
    "DELETE /api/users/{userId}/federation-number": 403,
    "PUT /api/users/{userId}/federation-number": 403,
    "DELETE /api/users/{userId}/suspension": 403,
    "PUT /api/users/{userId}/suspension": 403,
    "POST /api/series/{seriesId}/playoffs": 422,
    "POST T/finals/follow": 409,
    "PUT T/federation-results/sent": 409,
    "PATCH T/rounds/{roundId}": 400,
    "POST T/max-matchplay/games": 400,
    "POST T/amazing-race/{playerId}/advance": 400,
    "PUT T/prizes/players/{playerId}": 409,
    "POST T/sign-ups/absent": 409,
    "POST T/tiebreaks": 409,
    "POST T/rounds": 409,
    "POST T/rounds/{roundId}/complete": 409,
    "POST T/games": 409,
    "POST T/single-player-games/{singlePlayerGameId}/void": 409,
    "POST T/single-player-games/{singlePlayerGameId}/unvoid": 409,
    "POST T/frenzy/games": 409,
    "POST T/webhooks/{webhookId}/test": 409,
    "POST T/undo": 409,
    "POST T/games/{gameId}/players": 409,
    "DELETE T/games/{gameId}/players/{playerId}": 409,
    "DELETE T/games/{gameId}": 404,
    "DELETE T/suggestions/{suggestionId}": 404,
    "DELETE T": 409,
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
    folder = tmp_path_factory.mktemp("trials") / "data"
    with running(folder, "--json", "--no-robots", "--no-limits") as lines:
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


def when_tried(listed: tuple[str, str, Any]) -> tuple[int, int]:
    """Reads first, deletions of parts before those of their wholes, and what ends a tournament last."""
    method, path, operation = listed
    if operation["operationId"] in ENDINGS:
        return 3, ENDINGS.index(operation["operationId"])
    if method == "DELETE":
        return 2, -path.count("/")
    # A game with a result takes no ruling and no other players.
    return int(method != "GET"), RESULTS.get(operation["operationId"], 0)


def test_at_most_five_tournaments_are_sandboxes_and_they_come_last_in_every_list(visitor: Visitor) -> None:
    lists = {path: visitor.ask(path) for path in ("/api/tournaments?limit=100", "/api/series", "/api/events")}
    names = {path: [each["name"] for each in answer["data"]] for path, answer in lists.items()}
    names["dashboard"] = [each["name"] for each in visitor.ask("/api/dashboard")["tournamentsOrganizing"]]

    are_sandboxes = {path: [name.startswith("Sandbox") for name in listed] for path, listed in names.items()}
    assert {path: sum(listed) for path, listed in are_sandboxes.items()} == {
        "/api/tournaments?limit=100": 5,
        "/api/series": 1,
        "/api/events": 1,
        "dashboard": 5,
    }
    assert all(listed == sorted(listed) for listed in are_sandboxes.values())


def test_every_operation_is_filled_with_what_is_there(visitor: Visitor) -> None:
    document = visitor.ask("/openapi.json")
    listed = {operation["operationId"]: (path, operation) for _, path, operation in operations(document)}

    # The server fetches results from itself.
    address, _ = filled_request(document, *listed["settle_players_of_rating_submission"])
    visitor.wait_for_players(address.removesuffix("/ifpa"))
    refused = {}
    for method, path, operation in sorted(operations(document), key=when_tried):
        filled, body = filled_request(document, path, operation)
        status, answer = visitor.send(method, filled, body)
        if status not in (200, 201):
            name = path.replace("/api/tournaments/{tournamentId}", "T")
            refused[f"{method} {name}"] = (status, answer[:300])
    assert {name: status for name, (status, _) in refused.items()} == REFUSED, refused
    assert visitor.send("GET", "/api/users/profile")[0] == 200
