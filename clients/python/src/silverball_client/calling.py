"""Descriptions of calls, which the blocking and the awaited client share.

    class Tournaments(Resource[M]):
        @operation
        def standings(self, tournament_id: int) -> Request[tuple[Standing, ...]]:
            return Request("GET", ("tournaments", tournament_id, "standings"), tuple[Standing, ...])

A method describes a request and sends nothing. `client.tournaments.standings(42)` sends it: a resource of
`Client` returns the answer, one of `AsyncClient` a coroutine. `@paged` does the same for lists in pages.
"""

import functools
from collections.abc import AsyncIterator, Callable, Coroutine, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Concatenate, Generic, Literal, ParamSpec, Protocol, TypeVar, overload
from urllib.parse import quote, urlencode

import msgspec
from msgspec import UNSET

T = TypeVar("T")
P = ParamSpec("P")


class Blocking:
    """Marks resources whose methods return answers."""


class Awaited:
    """Marks resources whose methods return coroutines."""


M = TypeVar("M", Blocking, Awaited)


@dataclass(frozen=True)
class Alternatives:
    """Types of an answer, of which the first that fits is taken."""

    types: tuple[Any, ...]


@dataclass(frozen=True)
class Request(Generic[T]):
    """One request, and the type of its answer.

    `answer` is the type of the JSON, `Alternatives`, `str` for text that is not JSON. With `in_data` the
    value stands in the answer's member `data`.
    """

    method: Literal["GET", "POST", "PUT", "PATCH", "DELETE"]
    path: tuple[int | str, ...]
    answer: Any
    in_data: bool = False
    query: Mapping[str, Any] = field(default_factory=dict)
    # None for a request without a body.
    body: Mapping[str, Any] | None = None
    is_write: bool = False
    # Of a write: a key of the caller's own, so that it takes effect once even over several runs.
    idempotency_key: str | None = None

    @property
    def tournament_id(self) -> int | None:
        """The tournament whose path this is."""
        is_below = len(self.path) > 1 and self.path[0] == "tournaments"
        return int(self.path[1]) if is_below else None

    @property
    def target(self) -> str:
        """The path and the query, below the address of the service."""
        path = "/api/" + "/".join(quote(str(part), safe="") for part in self.path)
        pairs = list(_query_pairs(self.query))
        return f"{path}?{urlencode(pairs)}" if pairs else path

    @property
    def content(self) -> bytes | None:
        """The body as JSON, without the fields that were left out."""
        if self.body is None:
            return None
        return msgspec.json.encode({name: value for name, value in self.body.items() if value is not UNSET})

    def at_page(self, page: int) -> "Request[T]":
        """Return the same request for another page."""
        return replace(self, query={**self.query, "page": page})


def _query_pairs(query: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    for name, value in query.items():
        if value is None or value is False:
            continue
        if value is True:
            yield name, "1"
        elif isinstance(value, str | int):
            yield name, str(value)
        else:
            yield from _list_pairs(name, value)


def _list_pairs(name: str, values: Iterable[int | str]) -> Iterator[tuple[str, str]]:
    """Ids in one parameter with commas; texts, which may contain commas, in a repeated one."""
    items = list(values)
    if any(isinstance(item, str) for item in items):
        yield from ((name, str(item)) for item in items)
    else:
        yield name, ",".join(map(str, items))


def chosen(options: Mapping[str, Any], kind: Any, known: Any) -> dict[str, Any]:
    """Return the options that `kind`, a TypedDict, has, by their names on the wire.

    Raises TypeError when an option is not in `known`, the TypedDict of all options.
    """
    for name in options:
        if name not in known.__optional_keys__:
            raise TypeError(f"There is no argument {name!r}.")
    return {camel_case(name): value for name, value in options.items() if name in kind.__optional_keys__}


def camel_case(name: str) -> str:
    """Return the name as the wire has it: `player_id` as playerId."""
    first, *others = name.split("_")
    return first + "".join(word.capitalize() for word in others)


class Caller(Protocol):
    """A client, as far as its resources use it."""

    def send(self, request: Request[Any]) -> Any:
        """Send the request; the answer, or a coroutine of it."""

    def iterate(self, request: Request[Any]) -> Any:
        """Iterate over the items of all pages."""


class Resource(Generic[M]):
    """A group of operations, such as `client.tournaments`."""

    def __init__(self, caller: Caller) -> None:
        self._caller = caller


class Operation(Generic[P, T]):
    """A method that sends the request which `describe` builds."""

    def __init__(self, describe: Callable[Concatenate[Any, P], Request[T]]) -> None:
        self.describe = describe
        functools.update_wrapper(self, describe)  # type: ignore[arg-type]  # for help() and editors

    @overload
    def __get__(self, resource: None, kind: Any) -> "Operation[P, T]": ...
    @overload
    def __get__(self, resource: Resource[Blocking], kind: Any) -> Callable[P, T]: ...
    @overload
    def __get__(self, resource: Resource[Awaited], kind: Any) -> Callable[P, Coroutine[Any, Any, T]]: ...
    def __get__(self, resource: Resource[Any] | None, kind: Any) -> Any:
        """Return a function that describes the request and has the resource's client send it."""
        if resource is None:
            return self
        caller, describe = resource._caller, self.describe

        @functools.wraps(describe)
        def send(*args: P.args, **kwargs: P.kwargs) -> Any:
            return caller.send(describe(resource, *args, **kwargs))

        return send


class PagedOperation(Generic[P, T]):
    """A method that iterates over the items of all pages."""

    def __init__(self, describe: Callable[Concatenate[Any, P], Request[T]]) -> None:
        self.describe = describe
        functools.update_wrapper(self, describe)  # type: ignore[arg-type]  # for help() and editors

    @overload
    def __get__(self, resource: None, kind: Any) -> "PagedOperation[P, T]": ...
    @overload
    def __get__(self, resource: Resource[Blocking], kind: Any) -> Callable[P, Iterator[T]]: ...
    @overload
    def __get__(self, resource: Resource[Awaited], kind: Any) -> Callable[P, AsyncIterator[T]]: ...
    def __get__(self, resource: Resource[Any] | None, kind: Any) -> Any:
        """Return a function that describes the first request and has the resource's client iterate."""
        if resource is None:
            return self
        caller, describe = resource._caller, self.describe

        @functools.wraps(describe)
        def iterate(*args: P.args, **kwargs: P.kwargs) -> Any:
            return caller.iterate(describe(resource, *args, **kwargs))

        return iterate


def operation(describe: Callable[Concatenate[Any, P], Request[T]]) -> Operation[P, T]:
    """Make a method that sends the request which the function describes."""
    return Operation(describe)


def paged(describe: Callable[Concatenate[Any, P], Request[T]]) -> PagedOperation[P, T]:
    """Make a method that iterates over the pages which the function describes; `Request[T]` names an item."""
    return PagedOperation(describe)
