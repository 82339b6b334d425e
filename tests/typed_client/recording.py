"""A client that compares each typed answer with the bytes it came from, and remembers what was called."""

import json
import re
from collections.abc import Iterator
from dataclasses import replace
from typing import Any, TypeVar

import msgspec

from silverball.demo.robots import RequestRefused
from silverball_client import Client, Refused
from silverball_client.calling import Operation, PagedOperation, Request
from silverball_client.exchange import Loss, PageOfItems, Reply, Send, Steps

T = TypeVar("T")
ROUTE = re.compile(r"`(GET|POST|PUT|PATCH|DELETE) /api(/\S*)`")
PARAMETER = re.compile(r"\{\w+\}")


def operations() -> dict[str, tuple[str, str]]:
    """`GET /tournaments/{}` -> resource and method, for every method of the client."""
    found = {}
    with Client("http://127.0.0.1") as client:
        for resource, value in vars(client).items():
            for kind in type(value).__mro__:
                for name, member in vars(kind).items():
                    if isinstance(member, Operation | PagedOperation):
                        route = ROUTE.search(member.describe.__doc__ or "")
                        assert route is not None, name
                        found[f"{route[1]} {PARAMETER.sub('{}', route[2])}"] = (resource, name)
    return found


OPERATIONS = operations()


def snake_case(name: str) -> str:
    return re.sub(r"[A-Z]", lambda letter: f"_{letter[0].lower()}", name)


class ComparingClient(Client):
    """Each answer, encoded again, must be what was sent: nothing lost, nothing made up."""

    def __init__(self, base_url: str, token: str) -> None:
        super().__init__(base_url, token)
        # Route keys of the requests that were answered.
        self.answered: set[str] = set()
        self._reply = Reply(0, {}, b"")
        self._asked: Request[Any] | None = None

    def send(self, request: Request[T]) -> T:
        answer = super().send(request)
        self._remember(request)
        if request.answer is str:
            assert answer == self._reply.body.decode()
            return answer
        raw = json.loads(self._reply.body)
        assert json.loads(msgspec.json.encode(answer)) == (raw["data"] if request.in_data else raw), request
        return answer

    def iterate(self, request: Request[T]) -> Iterator[T]:
        self._asked = request
        yield from super().iterate(request)

    def _run(self, steps: Steps[T]) -> T:
        outcome = super()._run(steps)
        if isinstance(outcome, PageOfItems):
            assert self._asked is not None
            self._remember(self._asked)
            raw = json.loads(self._reply.body)
            assert json.loads(msgspec.json.encode(outcome.items)) == raw["data"], self._asked
        return outcome

    def _exchange(self, step: Send) -> Reply | Loss:
        reply = super()._exchange(step)
        if isinstance(reply, Reply) and reply.status <= 304:
            stored = self._session.answers.find(step.target)
            self._reply = replace(reply, body=stored.body) if reply.status == 304 and stored else reply
        return reply

    def _remember(self, request: Request[Any]) -> None:
        matching = [route for route in OPERATIONS if _fits(route, request)]
        # `/players/resolve-unknown` rather than `/players/{}`.
        self.answered.add(min(matching, key=lambda route: route.count("{}")))


def _fits(route: str, request: Request[Any]) -> bool:
    method, _, path = route.partition(" ")
    parts = path.strip("/").split("/")
    return (
        method == request.method
        and len(parts) == len(request.path)
        and all(part in ("{}", str(own)) for part, own in zip(parts, request.path, strict=True))
    )


class TypedRobotClient:
    """A robot's connection: its requests become calls of methods of the typed client."""

    def __init__(self, client: ComparingClient) -> None:
        self._client = client

    def send(self, method: str, path: str, body: Any = None) -> Any:
        """The decoded answer. Raises RequestRefused."""
        route, _, query = path.removeprefix("/api").partition("?")
        parts = route.strip("/").split("/")
        asked: Request[Any] = Request(method, tuple(parts), None)  # type: ignore[arg-type]  # a robot's
        key = min((known for known in OPERATIONS if _fits(known, asked)), key=lambda known: known.count("{}"))
        resource, name = OPERATIONS[key]
        pattern = key.partition(" ")[2].strip("/").split("/")
        ids = [int(part) for part, known in zip(parts, pattern, strict=True) if known == "{}"]
        arguments = {snake_case(field): value for field, value in (body or {}).items()}
        for pair in filter(None, query.split("&")):
            field, _, value = pair.partition("=")
            arguments[snake_case(field)] = int(value) if value.isdigit() else value == "true"
        try:
            answer = getattr(getattr(self._client, resource), name)(*ids, **arguments)
            if isinstance(answer, Iterator):
                list(answer)
        except Refused as refused:
            reason = refused.fields or refused.message
            raise RequestRefused(refused.status, str(reason), f"{method} {path}", refused.code) from refused
        return json.loads(self._client._reply.body)
