"""The closed sets of words that the rules know."""

from typing import Literal

ArenaAssignment = Literal[
    "balanced", "manual", "random", "disabled", "balanced_series", "banks", "category_banks", "manual_banks"
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
BracketSeeding = Literal["manual", "ifpa", "ifpa_womens", "mp_rating", "mp_rating_rating", "series_seed"]
Byes = Literal["full", "half", "zero"]
EntryType = Literal["machineGroup", "machine", "alias"]
FirstRoundPairing = Literal["random", "slaughter", "adjacent", "cross", "best_game"]
LadderType = Literal["regular", "fast"]
Pairing = Literal["balanced", "swiss", "balanced_series", "strictswiss", "random", "tiers"]
PlayerOrder = Literal[
    "balanced", "rotating", "seed", "seed_reverse", "position", "loser", "random", "disabled"
]
PlayerOrderOpen = Literal["players", "scorekeepers"]
Scorekeeping = Literal["user", "disabled"]
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
SecurityEvent = Literal[
    "account-cleaned",
    "account-erased",
    "account-made",
    "account-suspended",
    "account-unsuspended",
    "backup-made",
    "data-exported",
    "encryption-key-changed",
    "encryption-key-forgotten",
    "first-code-refused",
    "invitation-made",
    "invitation-withdrawn",
    "password-refused",
    "network-blocked",
    "network-unblocked",
    "number-confirmed",
    "number-withdrawn",
    "password-set",
    "recovery-code-used",
    "recovery-link-made",
    "recovery-mail-refused",
    "recovery-mailed",
    "role-changed",
    "sign-in",
    "sign-in-code-refused",
    "sign-in-refused",
    "sign-ins-ended",
    "site-changed",
    "token-made",
    "token-revoked",
    "token-rotated",
    "too-many-sign-ins",
    "tournament-restored",
    "two-step-demanded",
    "two-step-off",
    "two-step-on",
]
Seeding = Literal["random", "manual", "ifpa", "ifpa_womens", "mp_rating", "mp_rating_rating", "series_seed"]
SuggestionMode = Literal["automatic", "restricted", "disabled"]
Tiebreaker = Literal[
    "disabled", "standard", "placement", "placement_last", "wins", "losses", "seed", "head_to_head", "none"
]
TOURNAMENT_TYPES: tuple[str, ...] = (
    "knockout",
    "group_knockout",
    "matchplay",
    "group_matchplay",
    "max_matchplay",
    "pace_matchplay",
    "manual_matchplay",
    "target",
    "frenzy",
    "round_robin",
    "double_round_robin",
    "bracket",
    "double_bracket",
    "group_bracket",
    "ladder",
    "best_game",
    "card_best_game",
    "golf",
    "golf_bracket",
    "bowling",
    "amazingrace",
)
