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


_TOURNAMENT, _PUBLIC = "/api/tournaments/{tournament_id}", "/t/{tournament_id}"
COSTLY_ROUTES = (
    CostlyRoute(method="POST", path="/api/plan"),
    CostlyRoute(path="/run/plan", parameter="players"),
    CostlyRoute(path="/api/ratings/compare", cost=OF_THE_SPECIFICATION),
    CostlyRoute(method="POST", path="/api/ratings/compare", cost=OF_THE_SPECIFICATION),
    CostlyRoute(method="POST", path="/api/ifpa/wppr-estimator", cost=OF_THE_SPECIFICATION),
    CostlyRoute(path="/api/ratings/{type}/{user_id}/chart.svg"),
    CostlyRoute(path="/users/{user_id}/rating.svg", cost=FOR_EVERYBODY),
    CostlyRoute(path=_PUBLIC + "/podium.png", cost=FOR_EVERYBODY),
    CostlyRoute(path=_TOURNAMENT + "/estimate"),
    CostlyRoute(path=_TOURNAMENT + "/stats/matches"),
    CostlyRoute(path=_TOURNAMENT + "/stats/players"),
    CostlyRoute(path="/api/series/{series_id}/stats"),
    CostlyRoute(path="/api/series/{series_id}/stats/attendance"),
    CostlyRoute(path="/api/series/{series_id}/federation-results"),
    CostlyRoute(path="/api/series/{series_id}/federation-results/csv"),
    CostlyRoute(path=_TOURNAMENT + "/games/csv"),
    CostlyRoute(path=_TOURNAMENT + "/single-player-games/csv"),
    CostlyRoute(path=_TOURNAMENT + "/draws"),
    CostlyRoute(path=_PUBLIC + "/draws", cost=FOR_EVERYBODY),
    CostlyRoute(path=_TOURNAMENT + "/standings", parameter="at", cost=OF_THE_SPECIFICATION),
    CostlyRoute(path=_TOURNAMENT + "/games", parameter="at", cost=OF_THE_SPECIFICATION),
    CostlyRoute(path=_TOURNAMENT + "/rounds", parameter="at", cost=OF_THE_SPECIFICATION),
    CostlyRoute(path=_PUBLIC, parameter="at", cost=FOR_EVERYBODY),
    CostlyRoute(path=_PUBLIC + "/print/round", cost=FOR_EVERYBODY),
    CostlyRoute(path=_PUBLIC + "/print/names", cost=FOR_EVERYBODY),
    CostlyRoute(path=_PUBLIC + "/print/scores"),
    CostlyRoute(path=_PUBLIC + "/print/codes"),
    CostlyRoute(path="/account/data.zip"),
)


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
