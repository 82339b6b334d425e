"""The resources by which the published interface groups its routes, in the order of its page."""

import json
from pathlib import Path
from typing import Any

from silverball_wire.series import SeriesListItem
from silverball_wire.tournaments import Tournament
from silverball_wire.users import User

TAGS = {
    "tournaments": "Tournaments: settings, start, completion, undo, playoffs and ties.",
    "roster": "The players of a tournament, the accounts that may record its results, and its entries.",
    "lineup": "The arenas of a tournament, and the banks that they are drawn from.",
    "rounds": "Rounds of a tournament: drawn, completed, deleted; their timer.",
    "games": "Games of two to four players and their results, also as reported by players.",
    "single-player-games": "Scores of one player on one arena, in best game, pingolf and their relatives.",
    "cards": "Cards: a fixed number of single player games that are scored as one.",
    "queues": "Queues of players at the arenas of a best game.",
    "frenzy": "The clock, the queue and the games of a frenzy.",
    "max-matchplay": "The live state and the next games of a max match play.",
    "amazing-race": "The live state of an amazing race, and players who advance in it.",
    "standings": "Standings of a tournament, at any time.",
    "stats": "Statistics of a running or completed tournament.",
    "summary": "Results by player, opponent and arena, once a tournament is completed.",
    "feed": "The events of a tournament over plain HTTP, for clients without a websocket.",
    "webhooks": "Addresses that receive the events of a tournament.",
    "journal": "Every action in a tournament: its actor, its time, its changes.",
    "players": "The players of the caller's book.",
    "arenas": "The arenas of the caller's book.",
    "book": "The caller's book as a whole: what was done to it and can be undone.",
    "banks": "Banks of the caller's book: arenas that are drawn together.",
    "locations": "The locations of the caller's book.",
    "series": "Series: tournaments scored together.",
    "events": "Occasions that bring several tournaments together. The interface calls them events.",
    "clubs": "Clubs of players.",
    "users": "Accounts and their profiles.",
    "dashboard": "The tournaments and series of the caller that are under way.",
    "tokens": "The caller's API tokens.",
    "federation-numbers": "Federation numbers that accounts gave, for administrators to confirm.",
    "audit": "What concerns security, for administrators.",
    "search": "Search for users, tournaments and series.",
    "ratings": "Ratings of players, now and in the past.",
    "rating-periods": "The days of which the results have been rated.",
    "rating-submissions": "Results of other software, submitted to be rated.",
    "ifpa": "Player records of the pinball federation (IFPA), and the value of a tournament to it.",
    "opdb": "The machine database (OPDB).",
    "plan": "Plans of nights to come: each format and number of rounds, and when it would end.",
    "pintips": "Playing tips for machines.",
}
# The part of a path after a tournament's id, where its name is not the tag.
PARTS = {
    "players": "roster",
    "scorekeepers": "roster",
    "directors": "roster",
    "entries": "roster",
    "arenas": "lineup",
    "banks": "lineup",
    "suggestions": "games",
    "events": "feed",
    "stream": "feed",
    "timer": "rounds",
}
# Paths whose first word is not the tag.
FIRST_WORDS = {"activity-logs": "journal"}


def tag_of(path: str) -> str:
    """The tag of a route, by its path."""
    words = path.split("/")[2:]
    if words[0] != "tournaments" or len(words) < 3:
        return FIRST_WORDS.get(words[0], words[0])
    part = PARTS.get(words[2], words[2])
    return part if part in TAGS else "tournaments"


FILE = Path(__file__).with_name("examples.json")


def shape_examples() -> dict[str, Any]:
    """Return an example of each shape that has one, by the shape's name."""
    examples: dict[str, Any] = json.loads(FILE.read_text(encoding="utf-8"))["shapes"]
    return examples


def event_examples() -> dict[str, Any]:
    """Return an example of each feed event as it is sent, by the event's name."""
    examples: dict[str, Any] = json.loads(FILE.read_text(encoding="utf-8"))["events"]
    return examples


# Served in pages. All results of one search are of one kind, which the JSON does not name.
SearchResult = User | Tournament | SeriesListItem
