"""Finding the endpoint of a request: a tree of paths, and what stands in them."""

import re
from collections.abc import Iterable
from dataclasses import dataclass

from silverball.kit.errors import NotFound
from silverball.kit.http.endpoints import ID_MAX, METHODS, WORD_LETTERS_MAX, Endpoint


class UnknownPath(Exception):
    """No route has this path."""


class MethodNotAllowed(Exception):
    """The path exists, but not for this verb."""

    def __init__(self, method: str, path: str, allowed: list[str]) -> None:
        super().__init__(method, path)
        self.method, self.path, self.allowed = method, path, allowed


@dataclass(frozen=True)
class RouteMatch:
    """A route that was found, and the words of the path that stand where its ids are."""

    endpoint: Endpoint
    words: dict[str, str]


class _Node:
    """A place in the tree of paths."""

    def __init__(self) -> None:
        self.fixed: dict[str, _Node] = {}
        self.wildcard: _Node | None = None
        self.endpoints: dict[str, Endpoint] = {}


class Router:
    """Finds an endpoint by verb and path. A fixed word wins over an id at the same place."""

    def __init__(self, endpoints: Iterable[Endpoint]) -> None:
        self.endpoints = list(endpoints)
        self._root = _Node()
        for one in self.endpoints:
            self._add(one)

    def _add(self, endpoint: Endpoint) -> None:
        node = self._root
        for part in endpoint.path.split("/")[1:]:
            if part.startswith("{"):
                node.wildcard = node.wildcard or _Node()
                node = node.wildcard
            else:
                node = node.fixed.setdefault(part, _Node())
        if endpoint.method in node.endpoints:
            raise ValueError(f"{endpoint.method} {endpoint.path} is declared twice")
        node.endpoints[endpoint.method] = endpoint

    def match(self, method: str, path: str) -> RouteMatch:
        """The endpoint of this request. Raises UnknownPath or WrongVerb."""
        parts = path.split("/")[1:]
        found = _find_node(self._root, parts)
        if found is None:
            raise UnknownPath(path)
        node, words = found
        endpoint = node.endpoints.get("GET" if method == "HEAD" else method)
        if endpoint is None:
            raise MethodNotAllowed(method, path, _allowed_methods(node))
        return RouteMatch(endpoint, dict(zip(endpoint.parameters, words, strict=True)))

    def methods_for(self, path: str) -> list[str]:
        """What this path can be asked with; nothing when there is no such path."""
        found = _find_node(self._root, path.split("/")[1:])
        return [] if found is None else _allowed_methods(found[0])


def _allowed_methods(node: _Node) -> list[str]:
    return [verb for verb in METHODS if ("GET" if verb == "HEAD" else verb) in node.endpoints]


def _find_node(node: _Node, parts: list[str]) -> tuple[_Node, list[str]] | None:
    words = []
    for part in parts:
        fixed = node.fixed.get(part)
        if fixed is None and part and node.wildcard is not None:
            words.append(part)
            fixed = node.wildcard
        if fixed is None:
            return None
        node = fixed
    return (node, words) if node.endpoints else None


def parse_path_id(name: str, word: str) -> int:
    """The id in a path. Raises NotFound, worded after the id's name, when it cannot be one."""
    if word.isascii() and word.isdigit() and 1 <= len(word) <= 19 and 1 <= int(word) <= ID_MAX:
        return int(word)
    raise NotFound(_model_name(name), word)


def parse_path_word(name: str, word: str, pattern: str) -> str:
    """The word in a path. Raises NotFound, worded after its name, when it does not look like one."""
    if len(word) <= WORD_LETTERS_MAX and re.fullmatch(pattern, word, re.ASCII):
        return word
    raise NotFound(_model_name(name), word)


def _model_name(name: str) -> str:
    return "".join(part.capitalize() for part in name.removesuffix("_id").split("_"))
