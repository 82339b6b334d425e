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
LINKED = re.compile(r"(?<=\w)([.:])(?=[\w/])")
UNLINKED = "\\1\u200b"
# The strictest chat service takes 2,000 characters.
CHARACTERS_MAX = 1_900
PLACES_MAX = 3
NAMED_MAX = 8

# The events that a sentence may follow from.
TOLD_OF = frozenset({"TournamentUpdated", "RoundCreatedOrUpdated", "GameCreatedOrUpdated"})
# How points say whether somebody got a strike, and how a result says that it is about strikes.
STRIKE, NO_STRIKE, STRUCK = "0.00", "1.00", "strikes "
Data = Mapping[str, Any]


@dataclass(frozen=True)
class Told:
    """What a chat knows of the tournament already."""

    status: str = "planned"
    motd: str | None = None
    # Rounds up to this one.
    round_id: int = 0


@dataclass(frozen=True)
class News:
    """Something that is worth a sentence: what it is about, and what it says, in ids."""

    about: str
    said: str


@dataclass(frozen=True, kw_only=True)
class Facts:
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


def news(event: str, data: Data, told: Told) -> tuple[News | None, Told]:
    """What is new in an event to whom this was told, and what has been told then."""
    if event == "TournamentUpdated":
        return _news_of_tournament(data, told)
    if event == "RoundCreatedOrUpdated" and data["status"] == "started" and data["roundId"] > told.round_id:
        found = News(f"round {data['roundId']}", "started")
        return found, Told(told.status, told.motd, data["roundId"])
    if event == "GameCreatedOrUpdated" and data["status"] == "completed" and not data["bye"]:
        said = _result_of(data)
        return (News(f"game {data['gameId']}", said) if said else None), told
    return None, told


def _result_of(game: Data) -> str:
    """`12,14`: from first to last; `strikes 14`: who got one. Nothing when neither is known."""
    order, players = game["resultPositions"], game["playerIds"]
    if len(players) > 1 and sorted(players) == sorted(one or 0 for one in order):
        return ",".join(map(str, order))
    # Groups that play for strikes keep no order, only who got one.
    points = game["resultPoints"]
    struck = [str(one) for one, had in zip(players, points, strict=False) if had == STRIKE]
    return STRUCK + ",".join(struck) if struck and set(points) <= {STRIKE, NO_STRIKE} else ""


def _news_of_tournament(data: Data, told: Told) -> tuple[News | None, Told]:
    status, motd = data["status"], data["motdText"]
    now = Told(status, motd, told.round_id)
    if status != told.status:
        # Taking a start back is nothing to be told, and the start will be told again.
        return (None if status == "planned" else News("status", f"{told.status} {status}")), now
    if motd and motd != told.motd:
        return News("motd", ""), now
    return None, now


def sentence(event: str, data: Data, about: News, facts: Facts) -> str:
    """The sentence, in plain text that no chat service takes for anything else."""
    said = _said(event, data, about, facts)
    text = f"{plain(facts.tournament)} \u00b7 {said}"
    return text if len(text) <= CHARACTERS_MAX else text[: CHARACTERS_MAX - 1] + "\u2026"


def plain(text: str) -> str:
    """Somebody's text on one line, without anything that a chat service acts on."""
    return LINKED.sub(UNLINKED, " ".join(text.split()).translate(LOOK_ALIKES))


def _said(event: str, data: Data, about: News, facts: Facts) -> str:
    if event == "RoundCreatedOrUpdated":
        return _round_said(data, facts)
    if event == "GameCreatedOrUpdated":
        return _game_said(data, about, facts)
    if about.about == "motd":
        return plain(data["motdText"] or "")
    if about.said == "completed started":
        return f"Goes on: it was reopened.{_link(facts)}"
    if about.said.endswith("completed"):
        return f"Completed. {_places_said(facts)}".rstrip() + _link(facts)
    return f"Started with {_counted(facts.player_count, 'player')}.{_link(facts)}"


def _round_said(data: Data, facts: Facts) -> str:
    name = plain(data["name"])
    if not facts.game_count:
        return f"{name} is open."
    return f"{name} is drawn: {_counted(facts.game_count, 'game')}."


def _game_said(data: Data, about: News, facts: Facts) -> str:
    arena = data.get("arena")
    order = [_name(int(one), facts) for one in about.said.removeprefix(STRUCK).split(",")]
    on = f" on {plain(arena['name'])}" if arena else ""
    if about.said.startswith(STRUCK):
        said = f"{'A strike' if len(order) == 1 else 'Strikes'}{on}: {', '.join(order)}."
    elif len(order) == 2:
        said = f"{order[0]} beat {order[1]}{on}."
    else:
        ranks = ", ".join(f"{place}. {name}" for place, name in enumerate(order, start=1))
        said = f"Result{on}: {ranks}."
    return f"Corrected: {said}" if facts.is_corrected else said


def _places_said(facts: Facts) -> str:
    """`1. Pat, 2. Sam, 2. Kim`: the first three places, equals together."""
    best = [one for one in facts.places if one[0] <= PLACES_MAX]
    said = ", ".join(f"{position}. {_name(player_id, facts)}" for position, player_id in best[:NAMED_MAX])
    more = len(best) - NAMED_MAX
    return f"{said} and {more} more" if more > 0 else said


def _name(player_id: int, facts: Facts) -> str:
    return plain(facts.players.get(player_id, f"Player {player_id}"))


def _link(facts: Facts) -> str:
    return f" {facts.url}" if facts.url else ""


def _counted(count: int, what: str) -> str:
    return f"{count} {what}" if count == 1 else f"{count} {what}s"
