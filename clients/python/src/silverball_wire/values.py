"""The closed sets of words on the wire. Those of settings come from the rules. Source: interface 3."""

from typing import Annotated, Literal, get_args

from msgspec import Meta

from silverball_wire.generated.words import TOURNAMENT_TYPES

# Text: a service may have formats that are not known here.
TournamentType = Annotated[str, Meta(extra_json_schema={"enum": sorted(TOURNAMENT_TYPES)})]

Number = int | float
# Existing clients expect `[]` for an empty map, as PHP encodes it.
EmptyList = tuple[()]

Status = Literal["active", "inactive"]
SeriesStatus = Literal["active", "inactive", "completed"]
TournamentStatus = Literal["planned", "started", "completed"]
GameStatus = Literal["started", "completed"]
AttemptStatus = Literal["pending", "started", "completed"]
Role = Literal["player", "organizer"]
SearchType = Literal["users", "tournaments", "series"]

LinkType = Literal["playoff", "qualifying", "series", "arena", "queue", "entry"]
LinkStatus = Literal["completed", "started", "planned", "active"]
SubmissionStatus = Literal[
    "fetching",
    "invalid",
    "needs_players",
    "ready",
    "approved",
    "scheduled",
    "processed",
    "rejected",
    "withdrawn",
    "superseded",
]

STATUSES: tuple[Status, ...] = get_args(Status)
TOURNAMENT_STATUSES: tuple[TournamentStatus, ...] = get_args(TournamentStatus)
GAME_STATUSES: tuple[GameStatus, ...] = get_args(GameStatus)
ATTEMPT_STATUSES: tuple[AttemptStatus, ...] = get_args(AttemptStatus)
ROLES: tuple[Role, ...] = get_args(Role)
SEARCH_TYPES: tuple[SearchType, ...] = get_args(SearchType)
LINK_TYPES: tuple[LinkType, ...] = get_args(LinkType)
SUBMISSION_STATUSES: tuple[SubmissionStatus, ...] = get_args(SubmissionStatus)
