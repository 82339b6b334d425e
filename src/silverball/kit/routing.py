"""Finding the endpoint of a request: a tree of paths, and what stands in them."""

import re
from collections.abc import Iterable
from dataclasses import dataclass

from silverball.kit.errors import NotFound
from silverball.kit.http import ID_MAX, VERBS, WORD_LETTERS_MAX, Endpoint


class UnknownPath(Exception):
    """No route has this path."""


class WrongVerb(Exception):
    """The path exists, but not for this verb."""

    def __init__(self, method: str, path: str, allowed: list[str]) -> None:
        super().__init__(method, path)
        self.method, self.path, self.allowed = method, path, allowed


@dataclass(frozen=True)
class Matched:
    """A route that was found, and the words of the path that stand where its ids are."""

    endpoint: Endpoint
    words: dict[str, str]


class _Node:
    """A place in the tree of paths."""

    def __init__(self) -> None:
        self.fixed: dict[str, _Node] = {}
        self.any: _Node | None = None
        self.here: dict[str, Endpoint] = {}


class Routes:
    """Finds an endpoint by verb and path. A fixed word wins over an id at the same place."""

    def __init__(self, endpoints: Iterable[Endpoint]) -> None:
        self.endpoints = list(endpoints)
        self._root = _Node()
        for one in self.endpoints:
            self._place(one)

    def _place(self, endpoint: Endpoint) -> None:
        node = self._root
        for part in endpoint.path.split("/")[1:]:
            if part.startswith("{"):
                node.any = node.any or _Node()
                node = node.any
            else:
                node = node.fixed.setdefault(part, _Node())
        if endpoint.method in node.here:
            raise ValueError(f"{endpoint.method} {endpoint.path} is declared twice")
        node.here[endpoint.method] = endpoint

    def match(self, method: str, path: str) -> Matched:
        """The endpoint of this request. Raises UnknownPath or WrongVerb."""
        parts = path.split("/")[1:]
        found = _descend(self._root, parts)
        if found is None:
            raise UnknownPath(path)
        node, words = found
        endpoint = node.here.get("GET" if method == "HEAD" else method)
        if endpoint is None:
            raise WrongVerb(method, path, _allowed(node))
        return Matched(endpoint, dict(zip(endpoint.parameters, words, strict=True)))

    def verbs(self, path: str) -> list[str]:
        """What this path can be asked with; nothing when there is no such path."""
        found = _descend(self._root, path.split("/")[1:])
        return [] if found is None else _allowed(found[0])


def _allowed(node: _Node) -> list[str]:
    return [verb for verb in VERBS if ("GET" if verb == "HEAD" else verb) in node.here]


def _descend(node: _Node, parts: list[str]) -> tuple[_Node, list[str]] | None:
    words = []
    for part in parts:
        fixed = node.fixed.get(part)
        if fixed is None and part and node.any is not None:
            words.append(part)
            fixed = node.any
        if fixed is None:
            return None
        node = fixed
    return (node, words) if node.here else None


def path_id(name: str, word: str) -> int:
    """The id in a path. Raises NotFound, worded after the id's name, when it cannot be one."""
    if word.isascii() and word.isdigit() and 1 <= len(word) <= 19 and 1 <= int(word) <= ID_MAX:
        return int(word)
    raise NotFound(_model(name), word)


def path_word(name: str, word: str, pattern: str) -> str:
    """The word in a path. Raises NotFound, worded after its name, when it does not look like one."""
    if len(word) <= WORD_LETTERS_MAX and re.fullmatch(pattern, word, re.ASCII):
        return word
    raise NotFound(_model(name), word)


def _model(name: str) -> str:
    return "".join(part.capitalize() for part in name.removesuffix("_id").split("_"))
