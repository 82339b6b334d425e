"""The URL paths of tournaments, as the front door needs them."""

import re

ID_MAX = 2**63 - 1
TOURNAMENT_PATH = re.compile(r"/(?:api/tournaments|t)/([0-9]{1,19})(?:/|\Z)", re.ASCII)
# Clients resolve each new name in the feed with such a request, so a number of them is free.
RESOLVE_UNKNOWN = re.compile(
    r"/api/(?:(?:players|arenas|users)|tournaments/[0-9]{1,19}/(?:players|arenas))/resolve-unknown", re.ASCII
)


def tournament_in(path: str) -> int:
    """The id of the tournament that a path belongs to; 0 when there is none."""
    match = TOURNAMENT_PATH.match(path)
    tournament_id = int(match[1]) if match else 0
    return tournament_id if tournament_id <= ID_MAX else 0


def is_uncounted(path: str) -> bool:
    """Whether this is a route whose requests are not counted against the rate limit, up to a number."""
    return path.endswith("/resolve-unknown") and RESOLVE_UNKNOWN.fullmatch(path) is not None
