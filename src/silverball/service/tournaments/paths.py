"""The URL paths of tournaments, as the front door needs them."""

import re

from silverball.kit.http.query import parse_query

ID_MAX = 2**63 - 1
TOURNAMENT_PATH = re.compile(r"/(?:api/tournaments|t)/([0-9]{1,19})(?:/|\Z)", re.ASCII)
# Clients resolve each new name in the feed with such a request, so a number of them is free.
RESOLVE_UNKNOWN = re.compile(
    r"/api/(?:(?:players|arenas|users)|tournaments/[0-9]{1,19}/(?:players|arenas))/resolve-unknown", re.ASCII
)

# What can be shown as it stood after an earlier action, which is rebuilt from the journal.
PAST = re.compile(r"/api/tournaments/[0-9]{1,19}/(?:standings|games|rounds)", re.ASCII)


def tournament_in(path: str) -> int:
    """The id of the tournament that a path belongs to; 0 when there is none."""
    match = TOURNAMENT_PATH.match(path)
    tournament_id = int(match[1]) if match else 0
    return tournament_id if tournament_id <= ID_MAX else 0


def is_uncounted(path: str) -> bool:
    """Whether this is a route whose requests are not counted against the rate limit, up to a number."""
    return path.endswith("/resolve-unknown") and RESOLVE_UNKNOWN.fullmatch(path) is not None


def costs_a_page(path: str, query: bytes) -> bool:
    """Whether this is a question for an earlier state of a tournament, which is dear to rebuild."""
    return PAST.fullmatch(path) is not None and any(name == "at" for name, _ in parse_query(query))
