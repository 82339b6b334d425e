"""Documents that other software offers: version 1, read strictly. Pure.

Whatever is wrong is said with the place where it is, and without a word of what stands there: an
address may have been sent in to find out what it answers.
"""

from collections import Counter
from collections.abc import Iterator
from datetime import UTC, date, datetime, timedelta
from typing import Annotated, Literal

import msgspec
from msgspec import Meta

from silverball.kit.body import Body, BodyParser, Malformed
from silverball.kit.errors import Invalid
from silverball.kit.fields import Id, Line, Name, Url
from silverball.kit.texts import ONE_LINE
from silverball.rules.ratings.counting import CountingFormat

PLAYERS_MAX = 500
GAMES_MAX = 3_000
PLAYERS_OF_GAME = range(2, 9)
FAULTS_MAX = 20
DAYS_MAX = 7
YEARS = range(2000, 9999)
# Clocks of other servers may be ahead of ours.
AHEAD_MAX = timedelta(minutes=5)
Word = Annotated[str, Meta(min_length=1, max_length=100, pattern=ONE_LINE)]
# What a player or a game is called in the document, and nowhere else.
Key = Id | Word
Moment = Annotated[datetime, Meta(tz=True)]


class BadDocument(Exception):
    """A document that cannot be taken, and why: a sentence for each fault."""

    def __init__(self, faults: list[str]) -> None:
        super().__init__(faults[0])
        self.faults = faults


class DocumentPlayer(Body, frozen=True, kw_only=True):
    """Somebody who played."""

    id: Key
    name: Name
    ifpa_id: Id | None = None
    matchplay_user_id: Id | None = None


class DocumentGame(Body, frozen=True, kw_only=True):
    """A game; `results` are players in groups, best first, those of one group equal."""

    results: tuple[tuple[Key, ...], ...]
    id: Key | None = None
    round: Key | None = None
    arena: Line | None = None
    opdb_id: (
        Annotated[str, Meta(max_length=40, pattern=r"^G[a-zA-Z0-9]+(-M[a-zA-Z0-9]+(-A[a-zA-Z0-9]+)?)?$")]
        | None
    ) = None
    completed_at: Moment | None = None

    @property
    def players(self) -> tuple[Key, ...]:
        return tuple(player for group in self.results for player in group)


class Document(Body, frozen=True, kw_only=True):
    """One event. Source: ratings.md A.8."""

    version: Literal[1]
    name: Name
    # The event's own page, for people.
    url: Url
    started_at: Moment
    completed_at: Moment
    format: CountingFormat
    software: Line
    players: Annotated[tuple[DocumentPlayer, ...], Meta(min_length=2, max_length=PLAYERS_MAX)]
    games: Annotated[tuple[DocumentGame, ...], Meta(min_length=1, max_length=GAMES_MAX)]

    @property
    def day(self) -> date:
        """The UTC day on which it was over: that of its rating period."""
        return self.completed_at.astimezone(UTC).date()

    @property
    def result_count(self) -> int:
        """Results of one player against another."""
        sizes = (len(game.players) for game in self.games)
        return sum(size * (size - 1) // 2 for size in sizes)

    def places(self) -> dict[Key, int]:
        """Where each player stands in `players`."""
        return {player.id: place for place, player in enumerate(self.players)}


_PARSER = BodyParser(Document)
_WORDS = frozenset(
    field.encode_name
    for shape in (Document, DocumentPlayer, DocumentGame)
    for field in msgspec.structs.fields(shape)
)


def read(body: bytes) -> Document:
    """The document, when its shape is right. Raises BadDocument."""
    try:
        # JSON and nothing else: other encodings are not guessed.
        body.decode()
        if not body.strip():
            raise Malformed
        read: Document = _PARSER.parse(body)
    except (Malformed, UnicodeDecodeError) as error:
        raise BadDocument(["The document is not JSON in UTF-8."]) from error
    except Invalid as error:
        raise BadDocument(list(dict.fromkeys(_said(error.errors)))) from error
    return read


def checked(body: bytes, now: datetime) -> Document:
    """The document, when all of it makes sense. Raises BadDocument."""
    found = read(body)
    faults = [*_time_faults(found, now), *_player_faults(found), *_game_faults(found)]
    if faults:
        raise BadDocument(faults[:FAULTS_MAX])
    return found


def _said(errors: dict[str, list[str]]) -> Iterator[str]:
    for path, sentences in errors.items():
        words = path.split(".")
        known = [word for word in words if word in _WORDS or word.isdecimal()]
        # Neither is what somebody else called his fields repeated here.
        is_unknown = sentences[0].endswith("is prohibited.")
        if path == "body" and not is_unknown:
            yield sentences[0].replace("The body", "The document")
        elif known == words and not is_unknown:
            yield f"{path}: {sentences[0]}"
        else:
            place = ".".join(known[: len(words) - 1]) or "document"
            yield f"{place}: There is a field that version 1 does not have."


def _time_faults(found: Document, now: datetime) -> Iterator[str]:
    for name, moment in (("startedAt", found.started_at), ("completedAt", found.completed_at)):
        if moment.year not in YEARS:
            yield f"{name}: The year must be between {YEARS[0]} and {YEARS[-1]}."
            return
    if found.completed_at > now + AHEAD_MAX:
        yield "completedAt: The event must be over."
    if found.started_at > found.completed_at:
        yield "completedAt: The event must not end before it starts."
    if found.completed_at - found.started_at > timedelta(days=DAYS_MAX):
        yield f"completedAt: An event of more than {DAYS_MAX} days does not count for ratings."


def _player_faults(found: Document) -> Iterator[str]:
    for name, title in (("id", "id"), ("ifpa_id", "ifpaId"), ("matchplay_user_id", "matchplayUserId")):
        values = [getattr(player, name) for player in found.players]
        counted = Counter(value for value in values if value is not None)
        for place, value in enumerate(values):
            if counted.get(value, 0) > 1:
                yield f"players.{place}.{title}: Another player has the same."


def _game_faults(found: Document) -> Iterator[str]:
    known = found.places()
    for number, game in enumerate(found.games):
        at = f"games.{number}.results"
        if not all(game.results):
            yield f"{at}: A group without players has no place."
        if len(game.players) not in PLAYERS_OF_GAME:
            yield f"{at}: A game has {PLAYERS_OF_GAME[0]} to {PLAYERS_OF_GAME[-1]} players."
        if len(set(game.players)) < len(game.players):
            yield f"{at}: A player is there twice."
        if any(player not in known for player in game.players):
            yield f"{at}: A player is not among the players of the document."
