"""From a feed event to the sentence that a chat is told. Pure.

A chat wants to hear that a tournament began, that a round was drawn, who won a game, who won it all, and
what the organizer has to say. An event says how things are, not what is new about them; `news` finds
that out by what was told before.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

# No name and no message may be more in a chat than text: whatever a chat service reads as a mention, a
# link or a font is replaced by what looks like it.
LOOK_ALIKES = str.maketrans(
    {
        "<": "\u2039",
        ">": "\u203a",
        "@": "\uff20",
        "*": "\u2217",
        "_": "\uff3f",
        "~": "\u223c",
        "`": "\u02cb",
        "|": "\u2223",
        "\\": "\uff3c",
        "#": "\uff03",
        "[": "\uff3b",
        "]": "\uff3d",
    }
)
# `evil.example`, `http://localhost`: something without width keeps it from becoming a link.
LINK_PATTERN = re.compile(r"(?<=\w)([.:])(?=[\w/])")
LINK_REPLACEMENT = "\\1\u200b"
# The strictest chat service takes 2,000 characters.
CHARACTERS_MAX = 1_900
PLACES_MAX = 3
NAMES_MAX = 8

# The events that a sentence may follow from.
TOLD_EVENTS = frozenset({"TournamentUpdated", "RoundCreatedOrUpdated", "GameCreatedOrUpdated"})
# How points say whether somebody got a strike, and how a result says that it is about strikes.
STRIKE, NO_STRIKE, STRIKES_PREFIX = "0.00", "1.00", "strikes "
Data = Mapping[str, Any]


@dataclass(frozen=True)
class ChatState:
    """What a chat knows of the tournament already."""

    status: str = "planned"
    motd: str | None = None
    # Rounds up to this one.
    round_id: int = 0


@dataclass(frozen=True)
class NewsItem:
    """Something that is worth a sentence: what it is about, and what it says, in ids."""

    subject: str
    content: str


@dataclass(frozen=True, kw_only=True)
class SentenceFacts:
    """What a sentence needs beside the event."""

    tournament: str
    # Id -> name.
    players: Mapping[int, str] = field(default_factory=dict)
    # Position and player id, best first.
    places: Sequence[tuple[int, int]] = ()
    player_count: int = 0
    # Games of the round, byes left out.
    game_count: int = 0
    # Whether the same game was told with another result before.
    is_corrected: bool = False
    # Where everybody can follow it; empty when that is not known.
    url: str = ""


def find_news(event: str, data: Data, told: ChatState) -> tuple[NewsItem | None, ChatState]:
    """What is new in an event to whom this was told, and what has been told then."""
    if event == "TournamentUpdated":
        return _tournament_news(data, told)
    if event == "RoundCreatedOrUpdated" and data["status"] == "started" and data["roundId"] > told.round_id:
        found = NewsItem(f"round {data['roundId']}", "started")
        return found, ChatState(told.status, told.motd, data["roundId"])
    if event == "GameCreatedOrUpdated" and data["status"] == "completed" and not data["bye"]:
        said = _result_text(data)
        return (NewsItem(f"game {data['gameId']}", said) if said else None), told
    return None, told


def _result_text(game: Data) -> str:
    """`12,14`: from first to last; `strikes 14`: who got one. Nothing when neither is known."""
    order, players = game["resultPositions"], game["playerIds"]
    if len(players) > 1 and sorted(players) == sorted(one or 0 for one in order):
        return ",".join(map(str, order))
    # Groups that play for strikes keep no order, only who got one.
    points = game["resultPoints"]
    struck = [str(one) for one, had in zip(players, points, strict=False) if had == STRIKE]
    return STRIKES_PREFIX + ",".join(struck) if struck and set(points) <= {STRIKE, NO_STRIKE} else ""


def _tournament_news(data: Data, told: ChatState) -> tuple[NewsItem | None, ChatState]:
    status, motd = data["status"], data["motdText"]
    now = ChatState(status, motd, told.round_id)
    if status != told.status:
        # Taking a start back is nothing to be told, and the start will be told again.
        return (None if status == "planned" else NewsItem("status", f"{told.status} {status}")), now
    if motd and motd != told.motd:
        return NewsItem("motd", ""), now
    return None, now


def render_sentence(event: str, data: Data, about: NewsItem, facts: SentenceFacts) -> str:
    """The sentence, in plain text that no chat service takes for anything else."""
    said = _event_sentence(event, data, about, facts)
    text = f"{plain_text(facts.tournament)} \u00b7 {said}"
    return text if len(text) <= CHARACTERS_MAX else text[: CHARACTERS_MAX - 1] + "\u2026"


def plain_text(text: str) -> str:
    """Somebody's text on one line, without anything that a chat service acts on."""
    return LINK_PATTERN.sub(LINK_REPLACEMENT, " ".join(text.split()).translate(LOOK_ALIKES))


def _event_sentence(event: str, data: Data, about: NewsItem, facts: SentenceFacts) -> str:
    if event == "RoundCreatedOrUpdated":
        return _round_sentence(data, facts)
    if event == "GameCreatedOrUpdated":
        return _game_sentence(data, about, facts)
    if about.subject == "motd":
        return plain_text(data["motdText"] or "")
    if about.content == "completed started":
        return f"Goes on: it was reopened.{_link_suffix(facts)}"
    if about.content.endswith("completed"):
        return f"Completed. {_places_text(facts)}".rstrip() + _link_suffix(facts)
    return f"Started with {_count_text(facts.player_count, 'player')}.{_link_suffix(facts)}"


def _round_sentence(data: Data, facts: SentenceFacts) -> str:
    name = plain_text(data["name"])
    if not facts.game_count:
        return f"{name} is open."
    return f"{name} is drawn: {_count_text(facts.game_count, 'game')}."


def _game_sentence(data: Data, about: NewsItem, facts: SentenceFacts) -> str:
    arena = data.get("arena")
    order = [_player_name(int(one), facts) for one in about.content.removeprefix(STRIKES_PREFIX).split(",")]
    on = f" on {plain_text(arena['name'])}" if arena else ""
    if about.content.startswith(STRIKES_PREFIX):
        said = f"{'A strike' if len(order) == 1 else 'Strikes'}{on}: {', '.join(order)}."
    elif len(order) == 2:
        said = f"{order[0]} beat {order[1]}{on}."
    else:
        ranks = ", ".join(f"{place}. {name}" for place, name in enumerate(order, start=1))
        said = f"Result{on}: {ranks}."
    return f"Corrected: {said}" if facts.is_corrected else said


def _places_text(facts: SentenceFacts) -> str:
    """`1. Pat, 2. Sam, 2. Kim`: the first three places, equals together."""
    best = [one for one in facts.places if one[0] <= PLACES_MAX]
    said = ", ".join(
        f"{position}. {_player_name(player_id, facts)}" for position, player_id in best[:NAMES_MAX]
    )
    more = len(best) - NAMES_MAX
    return f"{said} and {more} more" if more > 0 else said


def _player_name(player_id: int, facts: SentenceFacts) -> str:
    return plain_text(facts.players.get(player_id, f"Player {player_id}"))


def _link_suffix(facts: SentenceFacts) -> str:
    return f" {facts.url}" if facts.url else ""


def _count_text(count: int, what: str) -> str:
    return f"{count} {what}" if count == 1 else f"{count} {what}s"
