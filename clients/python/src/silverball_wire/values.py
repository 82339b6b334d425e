"""The closed sets of words on the wire. Those of settings come from the rules. Source: interface 3."""

from typing import Annotated, Literal, get_args

from silverball.kit.http.fields import one_of
from silverball.rules.model.literals import (
    ArenaAssignment,
    BestGameScoring,
    Byes,
    FirstRoundPairing,
    LadderType,
    Pairing,
    PlayerOrder,
    PlayerOrderOpen,
    Scorekeeping,
    Scoring,
    Seeding,
    SuggestionMode,
    Tiebreaker,
)
from silverball.rules.registry import FORMATS

__all__ = [
    "ARENA_ASSIGNMENTS",
    "ATTEMPT_STATUSES",
    "BEST_GAME_SCORINGS",
    "BYES",
    "FIRST_ROUND_PAIRINGS",
    "GAME_STATUSES",
    "LADDER_TYPES",
    "LINK_STATUSES",
    "LINK_TYPES",
    "PAIRINGS",
    "PLAYER_ORDERS",
    "PLAYER_ORDERS_OPEN",
    "ROLES",
    "SCOREKEEPINGS",
    "SCORINGS",
    "SEARCH_TYPES",
    "SEEDINGS",
    "SERIES_STATUSES",
    "STATUSES",
    "SUBMISSION_STATUSES",
    "SUGGESTION_MODES",
    "TIEBREAKERS",
    "TOURNAMENT_STATUSES",
    "TOURNAMENT_TYPES",
    "ArenaAssignment",
    "AttemptStatus",
    "BestGameScoring",
    "Byes",
    "EmptyList",
    "FirstRoundPairing",
    "GameStatus",
    "LadderType",
    "LinkStatus",
    "LinkType",
    "Number",
    "Pairing",
    "PlayerOrder",
    "PlayerOrderOpen",
    "Role",
    "Scorekeeping",
    "Scoring",
    "SearchType",
    "Seeding",
    "SeriesStatus",
    "Status",
    "SubmissionStatus",
    "SuggestionMode",
    "Tiebreaker",
    "TournamentStatus",
    "TournamentType",
]

# Text, so that a format added to the registry needs no change here.
TournamentType = Annotated[str, one_of(lambda: FORMATS)]

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
SERIES_STATUSES: tuple[SeriesStatus, ...] = get_args(SeriesStatus)
TOURNAMENT_STATUSES: tuple[TournamentStatus, ...] = get_args(TournamentStatus)
GAME_STATUSES: tuple[GameStatus, ...] = get_args(GameStatus)
ATTEMPT_STATUSES: tuple[AttemptStatus, ...] = get_args(AttemptStatus)
ROLES: tuple[Role, ...] = get_args(Role)
SEARCH_TYPES: tuple[SearchType, ...] = get_args(SearchType)
TOURNAMENT_TYPES: tuple[TournamentType, ...] = tuple(FORMATS)
SEEDINGS: tuple[Seeding, ...] = get_args(Seeding)
FIRST_ROUND_PAIRINGS: tuple[FirstRoundPairing, ...] = get_args(FirstRoundPairing)
PAIRINGS: tuple[Pairing, ...] = get_args(Pairing)
PLAYER_ORDERS: tuple[PlayerOrder, ...] = get_args(PlayerOrder)
PLAYER_ORDERS_OPEN: tuple[PlayerOrderOpen, ...] = get_args(PlayerOrderOpen)
ARENA_ASSIGNMENTS: tuple[ArenaAssignment, ...] = get_args(ArenaAssignment)
SCOREKEEPINGS: tuple[Scorekeeping, ...] = get_args(Scorekeeping)
SUGGESTION_MODES: tuple[SuggestionMode, ...] = get_args(SuggestionMode)
BYES: tuple[Byes, ...] = get_args(Byes)
TIEBREAKERS: tuple[Tiebreaker, ...] = get_args(Tiebreaker)
LADDER_TYPES: tuple[LadderType, ...] = get_args(LadderType)
SCORINGS: tuple[Scoring, ...] = get_args(Scoring)
BEST_GAME_SCORINGS: tuple[BestGameScoring, ...] = get_args(BestGameScoring)
LINK_TYPES: tuple[LinkType, ...] = get_args(LinkType)
LINK_STATUSES: tuple[LinkStatus, ...] = get_args(LinkStatus)
SUBMISSION_STATUSES: tuple[SubmissionStatus, ...] = get_args(SubmissionStatus)
