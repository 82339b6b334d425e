"""Finds the endpoint of a request in a tree of paths."""

import re
from collections.abc import Iterable

from msgspec import Struct

from silverball.kit.errors import NotFound, Refusal
from silverball.kit.http.endpoints import METHODS, WORD_LETTERS_MAX, Endpoint
from silverball.kit.http.fields import ID_MAX


class RouteNotFound(Refusal):
    """No route has this path."""

    sentence = "The route {route} could not be found."

    def __init__(self, path: str) -> None:
        super().__init__(route=path.lstrip("/"))


class MethodNotAllowed(Refusal):
    """The path exists, but not for this method."""

    sentence = "The {method} method is not supported for route {route}. Supported methods: {allowed}."

    def __init__(self, method: str, path: str, allowed: list[str]) -> None:
        super().__init__(method=method, route=path.lstrip("/"), allowed=", ".join(allowed))
        self.allowed = allowed


class RouteMatch(Struct, frozen=True):
    """The endpoint of a request, and the path's values for its ids and words."""

    endpoint: Endpoint
    words: dict[str, str]


class _Node:
    """A node in the tree of paths."""

    def __init__(self) -> None:
        self.fixed: dict[str, _Node] = {}
        self.wildcard: _Node | None = None
        self.endpoints: dict[str, Endpoint] = {}


class Router:
    """Finds an endpoint by method and path. A fixed word takes precedence over an id in its place."""

    def __init__(self, endpoints: Iterable[Endpoint]) -> None:
        self.endpoints = list(endpoints)
        self._root = _Node()
        for endpoint in self.endpoints:
            self._add(endpoint)

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
        """The endpoint of this request. Raises RouteNotFound or MethodNotAllowed."""
        match = _find_node(self._root, path.split("/")[1:])
        if match is None:
            raise RouteNotFound(path)
        node, words = match
        endpoint = node.endpoints.get("GET" if method == "HEAD" else method)
        if endpoint is None:
            raise MethodNotAllowed(method, path, _allowed_methods(node))
        return RouteMatch(endpoint, dict(zip(endpoint.parameters, words, strict=True)))

    def template_for(self, path: str) -> str | None:
        """The path as it is declared; None for an unknown one."""
        match = _find_node(self._root, path.split("/")[1:])
        return None if match is None else next(iter(match[0].endpoints.values())).path

    def methods_for(self, path: str) -> list[str]:
        """The methods that this path supports; empty for an unknown path."""
        match = _find_node(self._root, path.split("/")[1:])
        return [] if match is None else _allowed_methods(match[0])


def _allowed_methods(node: _Node) -> list[str]:
    return [method for method in METHODS if ("GET" if method == "HEAD" else method) in node.endpoints]


def _find_node(root: _Node, parts: list[str]) -> tuple[_Node, list[str]] | None:
    """The node of this path and the words at its wildcards."""
    node = root
    words = []
    for part in parts:
        child = node.fixed.get(part)
        if child is None and part and node.wildcard is not None:
            words.append(part)
            child = node.wildcard
        if child is None:
            return None
        node = child
    return (node, words) if node.endpoints else None


def parse_path_id(name: str, word: str) -> int:
    """The id in a path. Raises NotFound, worded after the id's name, when the word is no valid id."""
    if word.isascii() and word.isdigit() and 1 <= len(word) <= 19 and 1 <= int(word) <= ID_MAX:
        return int(word)
    raise NotFound(_model_name(name), word)


def parse_path_word(name: str, word: str, pattern: str) -> str:
    """The word in a path. Raises NotFound, worded after its name, when it does not match the pattern."""
    if len(word) <= WORD_LETTERS_MAX and re.fullmatch(pattern, word, re.ASCII):
        return word
    raise NotFound(_model_name(name), word)


def _model_name(name: str) -> str:
    return "".join(part.capitalize() for part in name.removesuffix("_id").split("_"))
