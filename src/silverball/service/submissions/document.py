"""Result documents of other software, version 1, parsed strictly. Pure.

A fault names its place and never quotes the content: somebody may submit an address only to learn what
that address answers.
"""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, date, datetime, timedelta
from typing import Annotated, Literal

import msgspec
from msgspec import Meta, Struct

from silverball.kit.errors import Invalid
from silverball.kit.http.body import Body, BodyParser, MalformedBody
from silverball.kit.http.fields import Id, Line, Name, Url, one_of
from silverball.kit.values import ONE_LINE
from silverball.rules.registry import rated_types
from silverball.store.people import names

PLAYERS_MAX = 500
GAMES_MAX = 3_000
PLAYERS_OF_GAME = range(2, 9)
FAULTS_MAX = 20
DAYS_MAX = 7
NOT_JSON = "The document is not JSON in UTF-8."
YEARS = range(2000, 9999)
# Clocks of other servers may be ahead of this one.
CLOCK_SKEW_MAX = timedelta(minutes=5)
KeyText = Annotated[str, Meta(min_length=1, max_length=100, pattern=ONE_LINE)]
# The id of a player or game, valid only within its document.
DocumentKey = Id | KeyText
Moment = Annotated[datetime, Meta(tz=True)]


class InvalidDocument(Exception):
    """A document that is refused, with a sentence for each fault."""

    def __init__(self, faults: list[str]) -> None:
        super().__init__(faults[0])
        self.faults = faults


class DocumentPlayer(Body, frozen=True, kw_only=True):
    """A player of the event."""

    id: DocumentKey
    name: Name
    ifpa_id: Id | None = None
    matchplay_user_id: Id | None = None


class DocumentGame(Body, frozen=True, kw_only=True):
    """A game. `results` groups the players, best first; players of one group are tied."""

    results: tuple[tuple[DocumentKey, ...], ...]
    id: DocumentKey | None = None
    round: DocumentKey | None = None
    arena: Line | None = None
    opdb_id: (
        Annotated[str, Meta(max_length=40, pattern=r"^G[a-zA-Z0-9]+(-M[a-zA-Z0-9]+(-A[a-zA-Z0-9]+)?)?$")]
        | None
    ) = None
    completed_at: Moment | None = None

    @property
    def players(self) -> tuple[DocumentKey, ...]:
        return tuple(player for group in self.results for player in group)


class Document(Body, frozen=True, kw_only=True):
    """One event. Source: ratings.md A.8."""

    version: Literal[1]
    name: Name
    # The event's own page, for people.
    url: Url
    started_at: Moment
    completed_at: Moment
    # The wire name of a rated format.
    format: Annotated[str, one_of(rated_types)]
    software: Line
    players: Annotated[tuple[DocumentPlayer, ...], Meta(min_length=2, max_length=PLAYERS_MAX)]
    games: Annotated[tuple[DocumentGame, ...], Meta(min_length=1, max_length=GAMES_MAX)]

    @property
    def day(self) -> date:
        """The UTC day on which the event ended, which is its rating period."""
        return self.completed_at.astimezone(UTC).date()

    @property
    def result_count(self) -> int:
        """The number of results of one player against another."""
        sizes = (len(game.players) for game in self.games)
        return sum(size * (size - 1) // 2 for size in sizes)

    def place_by_id(self) -> dict[DocumentKey, int]:
        """Player id -> index in `players`."""
        return {player.id: place for place, player in enumerate(self.players)}


_PARSER = BodyParser(Document)
_FIELD_NAMES = frozenset(
    field.encode_name
    for shape in (Document, DocumentPlayer, DocumentGame)
    for field in msgspec.structs.fields(shape)
)


def parse_document(body: bytes) -> Document:
    """Parse a document and check its shape. Raises InvalidDocument."""
    try:
        # Only UTF-8 is accepted; other encodings are not guessed.
        body.decode()
        if not body.strip():
            raise InvalidDocument([NOT_JSON])
        read: Document = _PARSER.parse(body)
    except (MalformedBody, UnicodeDecodeError) as error:
        raise InvalidDocument([NOT_JSON]) from error
    except Invalid as error:
        raise InvalidDocument(list(dict.fromkeys(_fault_sentences(error.errors)))) from error
    return read


def validate_document(body: bytes, now: datetime) -> Document:
    """Parse a document and check that its content is consistent. Raises InvalidDocument."""
    document = parse_document(body)
    faults = [*_time_faults(document, now), *_player_faults(document), *_game_faults(document)]
    if faults:
        raise InvalidDocument(faults[:FAULTS_MAX])
    return document


def _fault_sentences(errors: dict[str, list[str]]) -> Iterator[str]:
    for path, sentences in errors.items():
        words = path.split(".")
        known = [word for word in words if word in _FIELD_NAMES or word.isdecimal()]
        # The names of unknown fields are not quoted either.
        is_unknown = sentences[0].endswith("is prohibited.")
        if path == "body" and not is_unknown:
            yield sentences[0].replace("The body", "The document")
        elif known == words and not is_unknown:
            yield f"{path}: {sentences[0]}"
        else:
            place = ".".join(known[: len(words) - 1]) or "document"
            yield f"{place}: There is a field that version 1 does not have."


def _time_faults(document: Document, now: datetime) -> Iterator[str]:
    for name, moment in (("startedAt", document.started_at), ("completedAt", document.completed_at)):
        if moment.year not in YEARS:
            yield f"{name}: The year must be between {YEARS[0]} and {YEARS[-1]}."
            return
    if document.completed_at > now + CLOCK_SKEW_MAX:
        yield "completedAt: The event must be over."
    if document.started_at > document.completed_at:
        yield "completedAt: The event must not end before it starts."
    if document.completed_at - document.started_at > timedelta(days=DAYS_MAX):
        yield f"completedAt: An event of more than {DAYS_MAX} days does not count for ratings."


def _player_faults(document: Document) -> Iterator[str]:
    for name, title in (("id", "id"), ("ifpa_id", "ifpaId"), ("matchplay_user_id", "matchplayUserId")):
        values = [getattr(player, name) for player in document.players]
        counted = Counter(value for value in values if value is not None)
        for place, value in enumerate(values):
            if counted.get(value, 0) > 1:
                yield f"players.{place}.{title}: Another player has the same."


def _game_faults(document: Document) -> Iterator[str]:
    known_ids = document.place_by_id()
    for number, game in enumerate(document.games):
        at = f"games.{number}.results"
        if not all(game.results):
            yield f"{at}: A group without players has no place."
        if len(game.players) not in PLAYERS_OF_GAME:
            yield f"{at}: A game has {PLAYERS_OF_GAME[0]} to {PLAYERS_OF_GAME[-1]} players."
        if len(set(game.players)) < len(game.players):
            yield f"{at}: A player is there twice."
        if any(player not in known_ids for player in game.players):
            yield f"{at}: A player is not among the players of the document."


# Match the players of a document with people known here. Pure: the known people are an argument.


class KnownPerson(Struct, frozen=True):
    """A person known here by account, by federation number or by both."""

    user_id: int | None
    ifpa_id: int | None


class KnownPeople(Struct, frozen=True):
    """The people that a document's players may be."""

    # User id -> that user.
    users: Mapping[int, KnownPerson] = msgspec.field(default_factory=dict)
    # Federation number -> the users with this number.
    by_ifpa: Mapping[int, Sequence[KnownPerson]] = msgspec.field(default_factory=dict)
    # Folded name (no case, no accents) -> the people of that name.
    by_name: Mapping[str, Sequence[KnownPerson]] = msgspec.field(default_factory=dict)

    def person_by_ifpa(self, ifpa_id: int) -> KnownPerson:
        """The holder of this federation number; with their account only if no other account has it."""
        users = self.by_ifpa.get(ifpa_id, ())
        return users[0] if len(users) == 1 else KnownPerson(None, ifpa_id)


class ResolvedPlayer(Struct, frozen=True):
    """A player of a document and the person behind them."""

    name: str
    ifpa_id: int | None
    user_id: int | None
    # Whether the match is final.
    settled: bool
    candidates: tuple[KnownPerson, ...] = ()

    def identifiers(self) -> list[tuple[str, int]]:
        """The identifiers that no two players can share."""
        listed = (("user", self.user_id), ("ifpa", self.ifpa_id))
        return [(kind, value) for kind, value in listed if value is not None]


def resolve_players(players: Sequence[DocumentPlayer], known: KnownPeople) -> tuple[ResolvedPlayer, ...]:
    """Match the players, in their order. Two matched to one person, one of them by name only, stay open."""
    resolved = [_resolve_player(player, known) for player in players]
    counted = Counter(key for match in resolved for key in match.identifiers())
    return tuple(
        _as_unsettled(match)
        if _is_known_by_name_only(player, known) and any(counted[key] > 1 for key in match.identifiers())
        else match
        for player, match in zip(players, resolved, strict=True)
    )


def duplicate_faults(players: Sequence[ResolvedPlayer]) -> list[str]:
    """Sentences for players who turned out to be one person, by account or by number."""
    faults: list[str] = []
    first_places: dict[tuple[str, int], int] = {}
    for place, player in enumerate(players):
        firsts = [first_places.setdefault(key, place) for key in player.identifiers()]
        if any(first != place for first in firsts):
            faults.append(f"players.{place}: This is the same person as players.{min(firsts)}.")
    return faults


def _is_known_by_name_only(player: DocumentPlayer, known: KnownPeople) -> bool:
    return player.ifpa_id is None and player.matchplay_user_id not in known.users


def _as_unsettled(player: ResolvedPlayer) -> ResolvedPlayer:
    person = KnownPerson(player.user_id, player.ifpa_id)
    return ResolvedPlayer(player.name, None, None, settled=False, candidates=(person,))


def _resolve_player(player: DocumentPlayer, known: KnownPeople) -> ResolvedPlayer:
    """Match a player by federation number, by user id, or by a name that only one person has."""
    if player.ifpa_id is not None:
        by_number = known.person_by_ifpa(player.ifpa_id)
        user = known.users.get(player.matchplay_user_id or 0, by_number)
        if user.ifpa_id in (None, player.ifpa_id):
            return ResolvedPlayer(player.name, player.ifpa_id, user.user_id, settled=True)
        return ResolvedPlayer(player.name, player.ifpa_id, None, settled=False, candidates=(by_number, user))
    account = None if player.matchplay_user_id is None else known.users.get(player.matchplay_user_id)
    if account is not None:
        return ResolvedPlayer(player.name, account.ifpa_id, account.user_id, settled=True)
    namesakes = tuple(known.by_name.get(names.fold(player.name) or "", ()))
    if len(namesakes) == 1:
        return ResolvedPlayer(player.name, namesakes[0].ifpa_id, namesakes[0].user_id, settled=True)
    return ResolvedPlayer(player.name, None, None, settled=False, candidates=namesakes)
