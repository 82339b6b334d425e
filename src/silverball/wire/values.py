"""The closed sets of words on the wire. Source: interface 3, wire.yaml, formats 11 and 24."""

from typing import Literal, get_args

Number = int | float
# A map without entries is `[]` where existing clients expect what PHP printed.
EmptyList = tuple[()]

Status = Literal["active", "inactive"]
SeriesStatus = Literal["active", "inactive", "completed"]
TournamentStatus = Literal["planned", "started", "completed"]
GameStatus = Literal["started", "completed"]
AttemptStatus = Literal["pending", "started", "completed"]
Role = Literal["player", "organizer"]
SearchType = Literal["users", "tournaments", "series"]

TournamentType = Literal[
    "knockout",
    "group_knockout",
    "matchplay",
    "group_matchplay",
    "max_matchplay",
    "pace_matchplay",
    "manual_matchplay",
    "round_robin",
    "double_round_robin",
    "bracket",
    "double_bracket",
    "group_bracket",
    "ladder",
    "frenzy",
    "target",
    "golf",
    "golf_bracket",
    "best_game",
    "card_best_game",
    "bowling",
    "amazingrace",
]

Seeding = Literal["random", "manual", "ifpa", "ifpa_womens", "mp_rating", "mp_rating_rating", "series_seed"]
FirstRoundPairing = Literal["random", "slaughter", "adjacent", "cross", "best_game"]
Pairing = Literal["balanced", "swiss", "balanced_series", "strictswiss", "random", "tiers"]
PlayerOrder = Literal["balanced", "rotating", "seed", "seed_reverse", "position", "random", "disabled"]
PlayerOrderOpen = Literal["players", "scorekeepers"]
ArenaAssignment = Literal[
    "balanced",
    "manual",
    "random",
    "disabled",
    "balanced_series",
    "banks",
    "category_banks",
    "manual_banks",
]
Scorekeeping = Literal["user", "disabled"]
SuggestionMode = Literal["automatic", "restricted", "disabled"]
Byes = Literal["full", "half", "zero"]
Tiebreaker = Literal["disabled", "standard", "placement", "placement_last", "wins", "losses", "seed", "none"]
LadderType = Literal["regular", "fast"]
# The empty word is what a tournament without positional points carries.
Scoring = Literal[
    "ifpa",
    "papa",
    "pinburgh",
    "bapa",
    "nepl",
    "dcleague",
    "idaho",
    "aussierules",
    "winnerbonus",
    "winneronly",
    "winwinlossloss",
    "progressive",
    "custom",
    "",
]
BestGameScoring = Literal[
    "bg_linear",
    "bg_linear_150",
    "bg_linear_200",
    "bg_linear_300",
    "bg_linear_500",
    "bg_papa",
    "bg_papa_150",
    "bg_papa_200",
    "bg_papa_qck_de",
    "bg_circuit",
    "bg_indisc",
    "bg_indisc_200",
    "bg_cax",
    "bg_hella",
    "bg_eurovision",
    "bg_past_times",
    "bg_top_25",
    "bg_top_30",
    "bg_50_percent_de",
    "bg_90_percent_de",
    "bg_95_pct_mod_de",
    "custom",
]

LinkType = Literal["playoff", "qualifying", "series", "arena", "queue", "entry"]
LinkStatus = Literal["completed", "started", "planned", "active"]

STATUSES: tuple[Status, ...] = get_args(Status)
SERIES_STATUSES: tuple[SeriesStatus, ...] = get_args(SeriesStatus)
TOURNAMENT_STATUSES: tuple[TournamentStatus, ...] = get_args(TournamentStatus)
GAME_STATUSES: tuple[GameStatus, ...] = get_args(GameStatus)
ATTEMPT_STATUSES: tuple[AttemptStatus, ...] = get_args(AttemptStatus)
ROLES: tuple[Role, ...] = get_args(Role)
SEARCH_TYPES: tuple[SearchType, ...] = get_args(SearchType)
TOURNAMENT_TYPES: tuple[TournamentType, ...] = get_args(TournamentType)
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
