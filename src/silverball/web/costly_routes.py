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

# In the body of a dry run; whether it asks for one is seen in the computing process.
DRY_RUN = b"dryRun"
# In any body: a list of players is looked at unless it has a plan.
ANY_BODY = b'"'
OURS = Cost()
# One request each, whatever it takes: tools rely on it.
OF_THE_SPECIFICATION = Cost(is_by_second=False)
FOR_EVERYBODY = Cost(is_for_everybody=True)


class CostlyRoute(Struct, frozen=True, kw_only=True):
    """A route whose answers are computed in the computing process."""

    seconds: float
    method: str = "GET"
    # As it is declared.
    path: str
    cost: Cost = OURS
    # A parameter without which its answers are cheap; empty where they are dear in any case.
    parameter: str = ""
    # Whether only its dry runs are computed there, as all others change something; their bodies have `mark`.
    is_dry_run: bool = False
    mark: bytes = DRY_RUN


_TOURNAMENT, _PUBLIC = "/api/tournaments/{tournament_id}", "/t/{tournament_id}"
# Measured with 500 players on 500 machines, in 20 rounds of groups of four.
COSTLY_ROUTES = (
    CostlyRoute(seconds=2.1, method="POST", path="/api/plan"),
    CostlyRoute(seconds=2.1, path="/run/plan", parameter="players"),
    CostlyRoute(seconds=0.2, method="POST", path=_TOURNAMENT + "/rounds", is_dry_run=True),
    # A workbook of 5,000 rows and 50 columns, and 1,000 people beside a book of 20,000.
    CostlyRoute(seconds=4.0, method="POST", path="/api/players/import", is_dry_run=True, mark=ANY_BODY),
    CostlyRoute(seconds=4.0, method="POST", path="/api/arenas/import", is_dry_run=True, mark=ANY_BODY),
    CostlyRoute(seconds=0.39, path=_PUBLIC + "/print/names", cost=FOR_EVERYBODY),
    CostlyRoute(seconds=2.8, path=_PUBLIC + "/print/codes"),
    CostlyRoute(seconds=1.4, path=_PUBLIC + "/print/scores"),
    CostlyRoute(seconds=0.32, path=_PUBLIC + "/draws", cost=FOR_EVERYBODY),
    CostlyRoute(seconds=0.21, path=_TOURNAMENT + "/draws"),
    CostlyRoute(seconds=0.25, path=_TOURNAMENT + "/games", parameter="at", cost=OF_THE_SPECIFICATION),
    CostlyRoute(seconds=0.16, path=_TOURNAMENT + "/standings", parameter="at", cost=OF_THE_SPECIFICATION),
    CostlyRoute(seconds=0.16, path=_TOURNAMENT + "/rounds", parameter="at", cost=OF_THE_SPECIFICATION),
    CostlyRoute(seconds=0.16, path=_PUBLIC, parameter="at", cost=FOR_EVERYBODY),
    CostlyRoute(seconds=0.2, path=_TOURNAMENT + "/games/csv"),
    CostlyRoute(seconds=0.2, path=_TOURNAMENT + "/single-player-games/csv"),
    CostlyRoute(seconds=0.14, path=_TOURNAMENT + "/stats/matches"),
    CostlyRoute(seconds=0.1, path=_TOURNAMENT + "/stats/players"),
    CostlyRoute(seconds=0.1, path="/api/series/{series_id}/stats"),
    CostlyRoute(seconds=0.5, path="/account/data.zip"),
)


@cache
def _patterns() -> Mapping[str, re.Pattern[str]]:
    """Method -> a pattern of its paths, with a group for each of its routes."""
    by_method: dict[str, list[str]] = {}
    for number, route in enumerate(COSTLY_ROUTES):
        pattern = re.sub(r"\\\{\w+\\\}", "[^/]+", re.escape(route.path))
        by_method.setdefault(route.method, []).append(f"(?P<route_{number}>{pattern})")
    return {method: re.compile("|".join(patterns)) for method, patterns in by_method.items()}


def cost_of(method: str, path: str, query: bytes, body: bytes = b"") -> Cost | None:
    """The cost of answering this request; None for what is cheap, and for a dry run without its body."""
    pattern = _patterns().get(method)
    match = None if pattern is None else pattern.fullmatch(path)
    if match is None:
        return None
    assert match.lastgroup is not None
    route = COSTLY_ROUTES[int(match.lastgroup.removeprefix("route_"))]
    if route.parameter and all(name != route.parameter for name, _ in parse_query(query)):
        return None
    return None if route.is_dry_run and route.mark not in body else route.cost
