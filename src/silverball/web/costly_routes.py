"""The routes whose answers take over 100 ms of the processor at the largest size that their limits allow.

They are computed in the computing process, so that nobody else waits for them. The figures are seconds of the
processor on the machine of docs/performance.md, as `make bench` measures them.
"""

import re
from collections.abc import Mapping
from functools import cache

from msgspec import Struct

from silverball.kit.edge.computing_line import Cost
from silverball.kit.http.query import parse_query

OURS = Cost()
# One request each, whatever it takes: tools rely on it.
OF_THE_SPECIFICATION = Cost(is_by_second=False)
FOR_EVERYBODY = Cost(is_for_everybody=True)


class CostlyRoute(Struct, frozen=True, kw_only=True):
    """A route whose answers are computed in the computing process."""

    method: str = "GET"
    # As it is declared.
    path: str
    cost: Cost = OURS
    # A parameter without which its answers are cheap; empty where they are dear in any case.
    parameter: str = ""


COSTLY_ROUTES = (CostlyRoute(method="POST", path="/api/plan"),)


@cache
def _patterns() -> Mapping[str, re.Pattern[str]]:
    """Method -> a pattern of its paths, with a group for each of its routes."""
    by_method: dict[str, list[str]] = {}
    for number, route in enumerate(COSTLY_ROUTES):
        pattern = re.sub(r"\\\{\w+\\\}", "[^/]+", re.escape(route.path))
        by_method.setdefault(route.method, []).append(f"(?P<route_{number}>{pattern})")
    return {method: re.compile("|".join(patterns)) for method, patterns in by_method.items()}


def cost_of(method: str, path: str, query: bytes) -> Cost | None:
    """What answering this request costs; None for what is cheap."""
    pattern = _patterns().get(method)
    match = None if pattern is None else pattern.fullmatch(path)
    if match is None:
        return None
    assert match.lastgroup is not None
    route = COSTLY_ROUTES[int(match.lastgroup.removeprefix("route_"))]
    if route.parameter and all(name != route.parameter for name, _ in parse_query(query)):
        return None
    return route.cost
