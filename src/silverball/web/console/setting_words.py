"""The values of settings in people's words, each choice with what it does."""

from collections.abc import Mapping

from silverball.rules.scoring import curves, point_maps

_SEEDINGS: Mapping[str, str] = {
    "random": "By lot",
    "manual": "By hand: each player's seed is entered",
    "ifpa": "IFPA rank",
    "ifpa_womens": "IFPA women's rank",
    "mp_rating": "Rating, on the safe side",
    "mp_rating_rating": "Rating",
    "series_seed": "Standings of the series",
}
_TIEBREAKERS: Mapping[str, str] = {
    "disabled": "None: they share the place",
    "none": "None: they share the place",
    "standard": "Strength of the opponents",
    "placement": "More first places, then seconds",
    "placement_last": "Fewer last places",
    "wins": "More wins",
    "losses": "Fewer losses",
    "seed": "The better seed",
}
# Setting -> value -> label. A label says what the choice does where its name does not.
_LABELS: Mapping[str, Mapping[str, str]] = {
    "scorekeeping": {"user": "The accounts you name", "disabled": "Only you"},
    "seeding": _SEEDINGS,
    "firstRoundPairing": {
        "random": "By lot",
        "slaughter": "Best meets worst",
        "adjacent": "Neighbours by seed meet",
        "cross": "Upper half meets lower half",
    },
    "pairing": {
        "random": "Random: by lot",
        "balanced": "Balanced: opponents you have met least",
        "swiss": "Swiss: equals meet, never twice if possible",
        "strictswiss": "Strict Swiss: equals meet, even again",
        "balanced_series": "Balanced over the whole series",
        "tiers": "Tiers: blocks of equals, as at Pinburgh",
    },
    "playerOrder": {
        "balanced": "Balanced: everybody goes first equally often",
        "rotating": "Rotating from game to game",
        "seed": "Better seed first",
        "seed_reverse": "Worse seed first",
        "position": "Leader first",
        "random": "By lot",
        "disabled": "Off: by lot",
    },
    "playerOrderOpen": {"players": "The players too", "scorekeepers": "You and scorekeepers"},
    "arenaAssignment": {
        "balanced": "Balanced: machines you have played least",
        "random": "Random: by lot",
        "manual": "By hand",
        "disabled": "Off: players choose",
        "balanced_series": "Balanced over the whole series",
        "banks": "Banks: machines that belong together",
        "manual_banks": "Banks, chosen by hand",
        "category_banks": "One of each category",
    },
    "suggestions": {
        "automatic": "Yes: the first report counts",
        "restricted": "Yes: you accept each report",
        "disabled": "Off",
    },
    "byes": {"full": "A win", "half": "Half a win", "zero": "Nothing"},
    "tiebreaker": _TIEBREAKERS,
    "gamesPerRound": {"1": "1 game", **{str(most): f"Best of {most}" for most in (3, 5, 7, 9)}},
    "groupBracketDoubleByes": {"0": "Off", "1": "On: the best quarter starts in round 3"},
    "knockoutFourPlayerStrikes": {
        "1": "The last gets a strike",
        "2": "The last two get a strike",
        "3": "All but the first get a strike",
        "100": "Progressive: 0, 1, 2 and 3 strikes",
        "101": "Fair: 0, 1, 1 and 2 strikes",
    },
    "knockoutThreePlayerStrikes": {
        "1": "The last gets a strike",
        "0": "The last two get a strike",
        "2": "The last two get a strike (as imported)",
    },
    "ladderType": {"regular": "Regular: one is out per game", "fast": "Fast: two are out per game"},
    "frenzyStandings": {"0": "Shown while it runs", "1": "Hidden until the end"},
    "cardBestGameScoring": {"0": "Every completed card", "1": "The newest card of each player"},
    "maxMatchplayScorekeeperCreate": {"0": "You alone", "1": "Scorekeepers too"},
}
_SCORINGS: Mapping[str, str] = {
    "ifpa": "IFPA",
    "papa": "PAPA",
    "pinburgh": "Pinburgh",
    "bapa": "BAPA",
    "nepl": "NEPL",
    "dcleague": "DC League",
    "idaho": "Idaho",
    "aussierules": "Marburg",
    "winnerbonus": "Bonus for the winner",
    "winneronly": "Winner only",
    "winwinlossloss": "First and second",
    "progressive": "Progressive",
    "custom": "Your own points, below",
}
_CURVES: Mapping[str, str] = {
    "bg_linear": "Linear",
    "bg_linear_150": "Linear from 150",
    "bg_linear_200": "Linear from 200",
    "bg_linear_300": "Linear from 300",
    "bg_linear_500": "Linear from 500",
    "bg_papa": "PAPA",
    "bg_papa_150": "PAPA from 150",
    "bg_papa_200": "PAPA from 200",
    "bg_papa_qck_de": "PAPA in steps of two",
    "bg_circuit": "Circuit",
    "bg_indisc": "INDISC",
    "bg_indisc_200": "INDISC from 200",
    "bg_cax": "CAX",
    "bg_hella": "Hella",
    "bg_eurovision": "Eurovision",
    "bg_past_times": "Past Times",
    "bg_top_25": "Top 25",
    "bg_top_30": "Top 30",
    "bg_50_percent_de": "Half of the place before",
    "bg_90_percent_de": "90 percent of the place before",
    "bg_95_pct_mod_de": "95 percent of the place before, at least one less",
}
CURVE_RANKS_SHOWN = 4
GROUP_SIZE = 4


def choice_label(key: str, value: object) -> str:
    """The label of a setting's value; its wire value in words where there is none."""
    text = str(value)
    if text in _CURVES:
        points = ", ".join(map(str, curves.points_by_rank(text, CURVE_RANKS_SHOWN)))
        return f"{_CURVES[text]}: {points} ..."
    if text in _SCORINGS:
        return _scoring_label(text)
    return _LABELS.get(key, {}).get(text, text.replace("_", " "))


def _scoring_label(name: str) -> str:
    """A scoring with its points in a group of four, where they are fixed."""
    rows = point_maps.SCORINGS.get(name)
    return f"{_SCORINGS[name]}: {', '.join(map(str, rows[GROUP_SIZE - 1]))}" if rows else _SCORINGS[name]
