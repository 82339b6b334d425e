"""The URL paths of tournaments, as the front door needs them."""

import re

ID_MAX = 2**63 - 1
TOURNAMENT_PATH = re.compile(r"/(?:api/tournaments|t)/([0-9]{1,19})(?:/|\Z)", re.ASCII)
# Clients resolve each new name in the feed with such a request, so it is free.
UNCOUNTED_SUFFIX = "/resolve-unknown"


def tournament_in(path: str) -> int:
    """The id of the tournament that a path belongs to; 0 when there is none."""
    match = TOURNAMENT_PATH.match(path)
    tournament_id = int(match[1]) if match else 0
    return tournament_id if tournament_id <= ID_MAX else 0


def is_uncounted(path: str) -> bool:
    """Whether requests for this path are not counted against the rate limit."""
    return path.endswith(UNCOUNTED_SUFFIX)
