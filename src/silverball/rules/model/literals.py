"""The closed sets of words that settings of a format are made of. Source: formats, sections 4 to 24."""

from typing import Literal

Seeding = Literal["random", "manual", "ifpa", "ifpa_womens", "mp_rating", "mp_rating_rating", "series_seed"]
# A bracket is not drawn by lot.
BracketSeeding = Literal["manual", "ifpa", "ifpa_womens", "mp_rating", "mp_rating_rating", "series_seed"]
FirstRoundPairing = Literal["random", "slaughter", "adjacent", "cross", "best_game"]
Pairing = Literal["balanced", "swiss", "balanced_series", "strictswiss", "random", "tiers"]
PlayerOrder = Literal[
    "balanced", "rotating", "seed", "seed_reverse", "position", "loser", "random", "disabled"
]
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
Tiebreaker = Literal[
    "disabled", "standard", "placement", "placement_last", "wins", "losses", "seed", "head_to_head", "none"
]
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
