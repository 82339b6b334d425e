"""Convert feed events to sentences for a chat. Pure.

A chat is interested in started tournaments, drawn rounds, results of games, final standings and messages
of the organizer. An event holds a state and not a difference; `find_news` compares it with the state
that the chat knows.
"""

import base64
import re
from collections.abc import Mapping, Sequence
from datetime import datetime
from random import Random
from typing import Any

import msgspec
from msgspec import Struct
from standardwebhooks import Webhook

# Names and messages must stay plain text in a chat: characters that a chat service reads as a mention, a
# link or formatting are replaced by look-alikes.
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
# A character without width keeps `evil.example` and `http://localhost` from becoming links.
LINK_PATTERN = re.compile(r"(?<=\w)([.:])(?=[\w/])")
LINK_REPLACEMENT = "\\1\u200b"
# The strictest chat service accepts 2,000 characters.
CHARACTERS_MAX = 1_900
PLACES_MAX = 3
NAMES_MAX = 8

# The events that can lead to a sentence.
TOLD_EVENTS = frozenset({"TournamentUpdated", "RoundCreatedOrUpdated", "GameCreatedOrUpdated"})
# Points with and without a strike, and the prefix of a result that lists strikes.
STRIKE, NO_STRIKE, STRIKES_PREFIX = "0.00", "1.00", "strikes "
Data = Mapping[str, Any]


class ChatState(Struct, frozen=True):
    """The state of the tournament as the chat knows it."""

    status: str = "planned"
    motd: str | None = None
    # The newest round that was announced.
    round_id: int = 0


class NewsItem(Struct, frozen=True):
    """News worth a sentence: its subject (`game 12`) and its content, in ids."""

    subject: str
    content: str


class SentenceFacts(Struct, frozen=True, kw_only=True):
    """The facts that a sentence needs besides the event."""

    tournament: str
    # Id -> name.
    players: Mapping[int, str] = msgspec.field(default_factory=dict)
    # Position and player id, best first.
    places: Sequence[tuple[int, int]] = ()
    player_count: int = 0
    # Games of the round, byes left out.
    game_count: int = 0
    # Whether another result of the same game was sent before.
    is_corrected: bool = False
    # The public page of the tournament; empty when the site's address is unknown.
    url: str = ""


def find_news(event: str, data: Data, known: ChatState) -> tuple[NewsItem | None, ChatState]:
    """The news in an event for a chat in this state, and the chat's new state."""
    if event == "TournamentUpdated":
        return _tournament_news(data, known)
    if event == "RoundCreatedOrUpdated" and data["status"] == "started" and data["roundId"] > known.round_id:
        news = NewsItem(f"round {data['roundId']}", "started")
        return news, ChatState(known.status, known.motd, data["roundId"])
    if event == "GameCreatedOrUpdated" and data["status"] == "completed" and not data["bye"]:
        result = _result_text(data)
        return (NewsItem(f"game {data['gameId']}", result) if result else None), known
    return None, known


def _result_text(game: Data) -> str:
    """`12,14` from first to last, or `strikes 14` for strikes only; empty when neither is known."""
    order, players = game["resultPositions"], game["playerIds"]
    if len(players) > 1 and sorted(players) == sorted(player_id or 0 for player_id in order):
        return ",".join(map(str, order))
    points = game["resultPoints"]
    if len(players) == 2 and order == [None, None] and len({*points} - {None}) == 2:
        # A match of a bracket that was counted by games: who has won more of them is first.
        is_first_ahead = float(points[0]) > float(points[1])
        return ",".join(map(str, players if is_first_ahead else players[::-1]))
    # Groups that play for strikes have no finishing order, only strikes.
    struck = [str(player_id) for player_id, value in zip(players, points, strict=False) if value == STRIKE]
    return STRIKES_PREFIX + ",".join(struck) if struck and set(points) <= {STRIKE, NO_STRIKE} else ""


def _tournament_news(data: Data, known: ChatState) -> tuple[NewsItem | None, ChatState]:
    status, motd = data["status"], data["motdText"]
    state = ChatState(status, motd, known.round_id)
    if status != known.status:
        # An undone start is no news; the next start is announced again.
        return (None if status == "planned" else NewsItem("status", f"{known.status} {status}")), state
    if motd and motd != known.motd:
        return NewsItem("motd", ""), state
    return None, state


def render_sentence(event: str, data: Data, news: NewsItem, facts: SentenceFacts) -> str:
    """The sentence in plain text, without anything that a chat service would interpret."""
    sentence = _event_sentence(event, data, news, facts)
    text = f"{plain_text(facts.tournament)} \u00b7 {sentence}"
    return text if len(text) <= CHARACTERS_MAX else text[: CHARACTERS_MAX - 1] + "\u2026"


def plain_text(text: str) -> str:
    """Untrusted text on one line, without anything that a chat service would interpret."""
    return LINK_PATTERN.sub(LINK_REPLACEMENT, " ".join(text.split()).translate(LOOK_ALIKES))


def _event_sentence(event: str, data: Data, news: NewsItem, facts: SentenceFacts) -> str:
    if event == "RoundCreatedOrUpdated":
        return _round_sentence(data, facts)
    if event == "GameCreatedOrUpdated":
        return _game_sentence(data, news, facts)
    if news.subject == "motd":
        return plain_text(data["motdText"] or "")
    if news.content == "completed started":
        return f"Reopened: play continues.{_link_suffix(facts)}"
    if news.content.endswith("completed"):
        return f"Completed. {_places_text(facts)}".rstrip() + _link_suffix(facts)
    return f"Started with {_count_text(facts.player_count, 'player')}.{_link_suffix(facts)}"


def _round_sentence(data: Data, facts: SentenceFacts) -> str:
    name = plain_text(data["name"])
    if not facts.game_count:
        return f"{name} is open."
    return f"{name} is drawn: {_count_text(facts.game_count, 'game')}."


def _game_sentence(data: Data, news: NewsItem, facts: SentenceFacts) -> str:
    arena = data.get("arena")
    order = [
        _player_name(int(player_id), facts)
        for player_id in news.content.removeprefix(STRIKES_PREFIX).split(",")
    ]
    on = f" on {plain_text(arena['name'])}" if arena else ""
    if news.content.startswith(STRIKES_PREFIX):
        sentence = f"{'A strike' if len(order) == 1 else 'Strikes'}{on}: {', '.join(order)}."
    elif len(order) == 2:
        sentence = f"{order[0]} beat {order[1]}{on}."
    else:
        ranks = ", ".join(f"{place}. {name}" for place, name in enumerate(order, start=1))
        sentence = f"Result{on}: {ranks}."
    return f"Corrected: {sentence}" if facts.is_corrected else sentence


def _places_text(facts: SentenceFacts) -> str:
    """`1. Pat, 2. Sam, 2. Kim`: the first three places, equals together."""
    best = [place for place in facts.places if place[0] <= PLACES_MAX]
    text = ", ".join(
        f"{position}. {_player_name(player_id, facts)}" for position, player_id in best[:NAMES_MAX]
    )
    more = len(best) - NAMES_MAX
    return f"{text} and {more} more" if more > 0 else text


def _player_name(player_id: int, facts: SentenceFacts) -> str:
    return plain_text(facts.players.get(player_id, f"Player {player_id}"))


def _link_suffix(facts: SentenceFacts) -> str:
    return f" {facts.url}" if facts.url else ""


def _count_text(count: int, noun: str) -> str:
    return f"{count} {noun}" if count == 1 else f"{count} {noun}s"


# Signatures after Standard Webhooks: they prove to holders of the secret that a message is ours and fresh.
#
# Source: standardwebhooks.com, Verifying webhook authenticity (symmetric, v1).


PREFIX = "whsec_"
# The source requires 24 to 64.
SECRET_BYTES = 32
ID_BYTES = 18
JSON = "application/json"


def new_secret(dice: Random) -> str:
    """A secret of `whsec_` and random bytes. Outside tests `dice` is a `secrets.SystemRandom`."""
    return PREFIX + base64.b64encode(dice.randbytes(SECRET_BYTES)).decode()


def new_message_id(dice: Random) -> str:
    """An id of `msg_` and random letters; without a dot, because dots delimit it in the signed text."""
    return "msg_" + base64.urlsafe_b64encode(dice.randbytes(ID_BYTES)).decode()


def signed_headers(secret: str, message_id: str, body: bytes, at: datetime) -> dict[str, str]:
    """The headers of a message sent at this moment, with its signature."""
    return {
        "Content-Type": JSON,
        "Webhook-Id": message_id,
        "Webhook-Timestamp": str(int(at.timestamp())),
        "Webhook-Signature": Webhook(secret).sign(message_id, at, body.decode()),
    }
