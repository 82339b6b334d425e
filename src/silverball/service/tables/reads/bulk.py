"""Games, their results and single player games of published tournaments, for the bulk files."""

import hashlib
from collections.abc import Callable, Collection, Container, Iterable, Iterator, Mapping
from datetime import UTC, datetime
from itertools import groupby, islice
from operator import itemgetter
from typing import Any, Literal

import msgspec
from msgspec import Struct
from sqlalchemy import ColumnElement, Connection, Select, and_, false, func, or_, select, true, type_coerce

from silverball.rules.model import fields
from silverball.rules.model.fields import PartField
from silverball.rules.ranking.standing import StoredResult, finishing_places
from silverball.rules.ratings import formulas
from silverball.store import tables
from silverball.store.people import names, rating_days
from silverball.store.people.book import PUBLISHED
from silverball.store.types import Id

# `points` are whole hundredths here, and numbers with two decimals in the files.
Kind = Literal["integer", "number", "points", "text", "flag", "moment"]
Row = tuple[Any, ...]


class SheetColumn(Struct, frozen=True):
    """A column of a bulk table."""

    name: str
    kind: Kind
    meaning: str
    # The table whose key the column holds.
    refers_to: str | None = None


# What the tables of games have in front.
_IDS = ("game_id", "single_player_game_id", "player_id")
# Kind of a field -> kind of its column here; other kinds are integers.
_KINDS: Mapping[str | None, Kind] = {"text": "text", "moment": "moment", "flag": "flag", "points": "points"}


def column_of(field: PartField) -> SheetColumn:
    """The column of a field of a tournament or of one of its parts."""
    return SheetColumn(field.stored_in.removeprefix("is_"), _KINDS.get(field.kind, "integer"), field.bulk)


def bulk_fields(part_fields: Iterable[PartField], *first: str) -> tuple[PartField, ...]:
    """The fields of a part that are in the bulk files, these first, and without its ids."""
    places = {name: place for place, name in enumerate(first)}
    found = [field for field in part_fields if field.bulk and field.name not in _IDS]
    return tuple(sorted(found, key=lambda field: places.get(field.name, len(places))))


class Period(Struct, frozen=True):
    """A time in which tournaments start: from its beginning, up to its end."""

    begin: datetime
    end: datetime


class BulkTable(Struct, frozen=True):
    """A table of the bulk files: its columns, and its rows in a period."""

    name: str
    columns: tuple[SheetColumn, ...]
    key: tuple[str, ...]
    rows: Callable[[Connection, Period], Iterator[Row]]


ALWAYS = Period(datetime(1, 1, 1, tzinfo=UTC), datetime(9999, 12, 31, tzinfo=UTC))
# Nothing that this program can hold is older, and every month is a set of files.
YEAR_MIN = 1990


def month_period(month: str) -> Period:
    """The period of a month such as `2026-03`. Raises ValueError."""
    begin = datetime.strptime(month, "%Y-%m").replace(tzinfo=UTC)
    is_last = begin.month == 12
    end = begin.replace(year=begin.year + 1, month=1) if is_last else begin.replace(month=begin.month + 1)
    return Period(begin, end)


def month_of(moment: datetime) -> str:
    """The month of a moment, in UTC."""
    return moment.astimezone(UTC).strftime("%Y-%m")


# Published tournaments and their standings, for the bulk files.
#
# Published are completed tournaments that are no tests.


ROWS_AT_ONCE = 2_000
# One step for each month since 1990, and more than enough of them.
MONTHS_MAX = 2_400
_TOURNAMENT, _ENTRANT, _STANDING, _PLAYER, _USER = (
    tables.tournament.c,
    tables.entrant.c,
    tables.standing.c,
    tables.player.c,
    tables.user.c,
)
_IS_PUBLISHED = and_(_TOURNAMENT.status == "completed", _TOURNAMENT.test == false())

_IN_BULK = tuple(field for field in fields.TOURNAMENT if field.bulk)
TOURNAMENT_COLUMNS = (
    *map(column_of, _IN_BULK),
    SheetColumn("player_count", "integer", "Number of players, those who are in no file included."),
)
STANDING_COLUMNS = (
    SheetColumn("tournament_id", "integer", "Id of the tournament.", "tournaments"),
    SheetColumn("player_id", "integer", "Id of the player.", "players"),
    SheetColumn("position", "integer", "Final place; equals share one."),
    SheetColumn("points", "points", "Points in the standings; strikes or strokes in some formats."),
)


def is_published_in(period: Period) -> ColumnElement[bool]:
    """Whether a tournament is published and starts in the period."""
    return and_(_IS_PUBLISHED, _TOURNAMENT.start_utc >= period.begin, _TOURNAMENT.start_utc < period.end)


def is_published_before(moment: datetime) -> ColumnElement[bool]:
    """Whether a tournament is published and started before a moment, in a month that has files."""
    return and_(_IS_PUBLISHED, _TOURNAMENT.start_utc >= _first_moment(), _TOURNAMENT.start_utc < moment)


def published_months(db: Connection, now: datetime) -> list[str]:
    """The months with published tournaments up to that of `now`, oldest first."""
    months: list[str] = []
    begin, end = _first_moment(), month_period(month_of(now)).end
    for _ in range(MONTHS_MAX):
        first = select(func.min(_TOURNAMENT.start_utc)).where(is_published_in(Period(begin, end)))
        start = db.execute(first).scalar_one_or_none()
        if start is None:
            break
        months.append(month_of(start))
        begin = month_period(months[-1]).end
    return months


def hidden_player_ids(db: Connection) -> set[int]:
    """The players of people who opted out of statistics, or of the list of what they played."""
    hides = or_(_USER.stats_opt_out == true(), _USER.history_opt_out == true())
    rows = select(_PLAYER.player_id).join(tables.user, _USER.user_id == _PLAYER.claimed_by).where(hides)
    return set(db.execute(rows).scalars())


def stream(db: Connection, rows: Select[Any]) -> Iterator[Any]:
    """The rows of a statement, a few thousand of them in memory."""
    return iter(db.execute(rows, execution_options={"yield_per": ROWS_AT_ONCE}))


def tournament_rows(db: Connection, period: Period) -> Iterator[Row]:
    """The published tournaments of a period, by id."""
    entrants = (
        select(func.count()).where(_ENTRANT.tournament_id == _TOURNAMENT.tournament_id).scalar_subquery()
    )
    columns = [_TOURNAMENT[field.stored_in] for field in _IN_BULK]
    rows = select(*columns, entrants).where(is_published_in(period))
    return map(tuple, stream(db, rows.order_by(_TOURNAMENT.tournament_id)))


def standing_rows(db: Connection, period: Period) -> Iterator[Row]:
    """The final standings of a period, by tournament, place and player."""
    hidden = hidden_player_ids(db)
    rows = (
        select(
            _STANDING.tournament_id,
            _STANDING.player_id,
            _STANDING.position,
            type_coerce(_STANDING.points, Id),
        )
        .join(tables.tournament, _TOURNAMENT.tournament_id == _STANDING.tournament_id)
        .where(is_published_in(period))
        .order_by(_STANDING.tournament_id, _STANDING.position, _STANDING.player_id)
    )
    return (tuple(row) for row in stream(db, rows) if row.player_id not in hidden)


TOURNAMENTS = BulkTable("tournaments", TOURNAMENT_COLUMNS, ("tournament_id",), tournament_rows)
STANDINGS = BulkTable("standings", STANDING_COLUMNS, ("tournament_id", "player_id"), standing_rows)


def _first_moment() -> datetime:
    return datetime(YEAR_MIN, 1, 1, tzinfo=UTC)


_GAME = tables.game.c
_SEAT = tables.game_player.c
_ARENA = tables.arena.c
_ROUND_ = tables.round_.c
_SINGLE_PLAYER_GAME = tables.single_player_game.c
# Where a game was played: its arena, with the name and the machine that it has now.
_ARENA_COLUMNS = (
    SheetColumn("arena_id", "integer", "Id of the arena; empty without one.", "arenas"),
    SheetColumn("arena_name", "text", "Name of the arena."),
    SheetColumn("opdb_id", "text", "Id of the machine; the same title in all places."),
)
# In the order in which the files have had them; new ones follow.
_GAME_FIELDS = bulk_fields(fields.GAME, "set_number", "is_bye", "is_tiebreak")
_ATTEMPT_FIELDS = bulk_fields(
    fields.SINGLE_PLAYER_GAME, "card_id", "points", "score", "is_best", "created_at"
)
GAME_COLUMNS = (
    SheetColumn("game_id", "integer", "Id of the game."),
    SheetColumn("tournament_id", "integer", "Id of the tournament.", "tournaments"),
    SheetColumn("round_number", "integer", "Number of the round, from 1; empty outside of rounds."),
    *_ARENA_COLUMNS,
    *map(column_of, _GAME_FIELDS),
    SheetColumn("player_count", "integer", "Number of players, those who are in no file included."),
)
RESULT_COLUMNS = (
    SheetColumn("game_id", "integer", "Id of the game.", "games"),
    SheetColumn("tournament_id", "integer", "Id of the tournament.", "tournaments"),
    SheetColumn("player_id", "integer", "Id of the player.", "players"),
    SheetColumn("playing_order", "integer", "1 for who played first."),
    SheetColumn("place", "integer", "Finishing place, 1 for the winner; equals share one."),
    SheetColumn("points", "points", "Points that the result is worth; strikes in knockouts."),
    SheetColumn("score", "integer", "Score on the machine, where it was recorded."),
)
SINGLE_PLAYER_GAME_COLUMNS = (
    SheetColumn("single_player_game_id", "integer", "Id of the single player game."),
    SheetColumn("tournament_id", "integer", "Id of the tournament.", "tournaments"),
    SheetColumn("player_id", "integer", "Id of the player.", "players"),
    SheetColumn("round_number", "integer", "Number of the round or hole, from 1; empty outside of rounds."),
    *_ARENA_COLUMNS,
    *map(column_of, _ATTEMPT_FIELDS),
)
ARENA_COLUMNS = (
    SheetColumn("arena_id", "integer", "Id of the arena."),
    SheetColumn("name", "text", "Name of the arena."),
    SheetColumn("opdb_id", "text", "Id of the machine; the same title in all places."),
    SheetColumn("organizer_id", "integer", "User id of the organizer who has the arena."),
)


def game_rows(db: Connection, period: Period) -> Iterator[Row]:
    """The completed games of a period, by tournament and game."""
    seats = select(func.count()).where(_SEAT.game_id == _GAME.game_id).scalar_subquery()
    rows: Select[Any] = select(
        _GAME.game_id,
        _GAME.tournament_id,
        _ROUND_.round_index + 1,
        *(_GAME.arena_id, _ARENA.name, _ARENA.opdb_id),
        *(_bulk_column(_GAME, field) for field in _GAME_FIELDS),
        seats,
    )
    rows = _with_places(rows.select_from(tables.game), _GAME, period)
    rows = rows.where(_GAME.status == "completed").order_by(_GAME.tournament_id, _GAME.game_id)
    return map(tuple, stream(db, rows))


def _bulk_column(played: Any, field: PartField) -> ColumnElement[Any]:
    """The column as the files take it: points in hundredths, and no flag that is null."""
    column = played[field.stored_in]
    if field.kind == "points":
        return type_coerce(column, Id)
    return func.coalesce(column, false()) if field.kind == "flag" and field.null else column


def result_rows(db: Connection, period: Period) -> Iterator[Row]:
    """The results of a period, by tournament, game and playing order."""
    hidden = hidden_player_ids(db)
    rows = (
        select(
            _SEAT.game_id,
            _SEAT.tournament_id,
            _SEAT.player_id,
            _SEAT.result_position,
            type_coerce(_SEAT.points, Id).label("points"),
            _SEAT.score,
        )
        .join(tables.tournament, _TOURNAMENT.tournament_id == _SEAT.tournament_id)
        .join(tables.game, _GAME.game_id == _SEAT.game_id)
        .where(is_published_in(period), _GAME.status == "completed")
        .order_by(_SEAT.tournament_id, _SEAT.game_id, _SEAT.slot)
    )
    for _, seats in groupby(stream(db, rows), itemgetter(0)):
        yield from _results_of_game(list(seats), hidden)


def _results_of_game(seats: list[Any], hidden: Container[int]) -> Iterator[Row]:
    """The results of a game, without those of hidden players; their places are left empty."""
    player_ids = tuple([seat.player_id for seat in seats])
    positions, points_by_seat = [seat.result_position for seat in seats], [seat.points for seat in seats]
    places = finishing_places(StoredResult(player_ids, tuple(positions), tuple(points_by_seat)))
    for slot, (game_id, tournament_id, player_id, _, points, score) in enumerate(seats):
        if player_id in hidden:
            continue
        place = places.get(player_id)
        yield (
            *(game_id, tournament_id, player_id, slot + 1),
            *(None if place is None else place + 1, points, score),
        )


def single_player_game_rows(db: Connection, period: Period) -> Iterator[Row]:
    """The completed single player games of a period, without voided ones, by tournament and id."""
    hidden = hidden_player_ids(db)
    rows: Select[Any] = select(
        _SINGLE_PLAYER_GAME.single_player_game_id,
        _SINGLE_PLAYER_GAME.tournament_id,
        _SINGLE_PLAYER_GAME.player_id,
        _ROUND_.round_index + 1,
        *(_SINGLE_PLAYER_GAME.arena_id, _ARENA.name, _ARENA.opdb_id),
        *(_bulk_column(_SINGLE_PLAYER_GAME, field) for field in _ATTEMPT_FIELDS),
    )
    rows = _with_places(rows.select_from(tables.single_player_game), _SINGLE_PLAYER_GAME, period)
    rows = rows.where(_SINGLE_PLAYER_GAME.status == "completed", _SINGLE_PLAYER_GAME.voided == false())
    rows = rows.order_by(_SINGLE_PLAYER_GAME.tournament_id, _SINGLE_PLAYER_GAME.single_player_game_id)
    return (tuple(row) for row in stream(db, rows) if row.player_id not in hidden)


def _with_places(rows: Select[Any], played: Any, period: Period) -> Select[Any]:
    """The statement joined with arena, round and tournament of a game, for the games of the period."""
    return (
        rows.join(tables.tournament, _TOURNAMENT.tournament_id == played.tournament_id)
        .outerjoin(tables.arena, _ARENA.arena_id == played.arena_id)
        .outerjoin(tables.round_, _ROUND_.round_id == played.round_id)
        .where(is_published_in(period))
    )


def arena_rows(db: Connection, period: Period) -> Iterator[Row]:
    """The arenas that the published tournaments of a period have or had games on, by id."""
    was_played = [
        select(played.arena_id).join(
            tables.tournament,
            and_(_TOURNAMENT.tournament_id == played.tournament_id, is_published_in(period)),
        )
        for played in (_GAME, _SINGLE_PLAYER_GAME)
    ]
    rows = select(_ARENA.arena_id, _ARENA.name, _ARENA.opdb_id, _ARENA.organizer_id)
    rows = rows.where(_ARENA.arena_id.in_(was_played[0].union(was_played[1]))).order_by(_ARENA.arena_id)
    return map(tuple, stream(db, rows))


GAMES = BulkTable("games", GAME_COLUMNS, ("game_id",), game_rows)
RESULTS = BulkTable("results", RESULT_COLUMNS, ("game_id", "player_id"), result_rows)
SINGLE_PLAYER_GAMES = BulkTable(
    "single_player_games",
    SINGLE_PLAYER_GAME_COLUMNS,
    ("single_player_game_id",),
    single_player_game_rows,
)
ARENAS = BulkTable("arenas", ARENA_COLUMNS, ("arena_id",), arena_rows)


# Players of published tournaments and ratings, for the bulk files, as people allow.


PLAYERS_AT_ONCE = 1_000
_PUBLISHED = PUBLISHED.c

PLAYER_COLUMNS = (
    SheetColumn("player_id", "integer", "Id of the player in the organizer's book."),
    SheetColumn("name", "text", "Name of the player."),
    SheetColumn("ifpa_id", "integer", "Federation number, unless the person hides it."),
    SheetColumn("user_id", "integer", "User who claimed the player: the same person in several books."),
    SheetColumn("organizer_id", "integer", "User id of the organizer who has the player."),
    SheetColumn("rating_id", "integer", "Rating of the person, also over several books.", "ratings"),
)
RATING_COLUMNS = (
    SheetColumn("rating_id", "integer", "Id of the rating, as in `latest-rating-revisions.csv`."),
    SheetColumn("name", "text", "Name of the person."),
    SheetColumn("user_id", "integer", "User id of the person; empty without an account."),
    SheetColumn("ifpa_id", "integer", "Federation number, unless the person hides it."),
    SheetColumn("rating", "number", "Glicko rating."),
    SheetColumn("rd", "number", "Rating deviation."),
    SheetColumn("lower_bound", "number", "Rating minus twice its deviation, by which people are ranked."),
    SheetColumn("rating_class", "integer", "Class, 0 to 7."),
    SheetColumn("last_period", "text", "Last day with a result, such as `2026-03-05`."),
)


def player_rows(db: Connection, period: Period) -> Iterator[Row]:
    """The players whose first published tournament starts in the period, by id."""
    before = (
        select(_ENTRANT.tournament_id)
        .join(tables.tournament, _TOURNAMENT.tournament_id == _ENTRANT.tournament_id)
        .where(_ENTRANT.player_id == _PLAYER.player_id, is_published_before(period.begin))
    )
    hidden = hidden_player_ids(db)
    rows = _players(period).where(~before.exists())
    for batch in _batches(stream(db, rows)):
        yield from _player_items(db, [row for row in batch if row.player_id not in hidden])


def people_digest(db: Connection, period: Period) -> str:
    """A digest of what the files of a period may say of their players now."""
    hidden = hidden_player_ids(db)
    digest = hashlib.sha256()
    for batch in _batches(stream(db, _players(period))):
        for row in _player_items(db, batch):
            player_id, *_ = row
            digest.update(msgspec.json.encode((row, player_id in hidden)))
    return digest.hexdigest()


def _batches(rows: Iterator[Any]) -> Iterator[list[Any]]:
    while batch := list(islice(rows, PLAYERS_AT_ONCE)):
        yield batch


def _players(period: Period) -> Any:
    """A statement for the players of the period's tournaments, by id."""
    entrants = select(_ENTRANT.player_id).join(
        tables.tournament, _TOURNAMENT.tournament_id == _ENTRANT.tournament_id
    )
    columns = (
        _PLAYER.player_id,
        _PLAYER.name,
        _PLAYER.ifpa_id,
        _PLAYER.claimed_by,
        _PLAYER.organizer_id,
        _USER.profile_opt_out,
    )
    return (
        select(*columns)
        .outerjoin(tables.user, _USER.user_id == _PLAYER.claimed_by)
        .where(_PLAYER.player_id.in_(entrants.where(is_published_in(period))))
        .order_by(_PLAYER.player_id)
    )


def _player_items(db: Connection, players: Collection[Any]) -> Iterator[Row]:
    ratings = _ratings_by_holder(db, players)
    for player in players:
        yield (
            player.player_id,
            player.name,
            None if player.profile_opt_out else player.ifpa_id,
            player.claimed_by,
            player.organizer_id,
            ratings.get(_holder(player)),
        )


def _holder(player: Any) -> tuple[Any, Any]:
    """The identity that the rating of a player has. Source: ratings, section A.5."""
    if player.claimed_by is not None:
        return "user", player.claimed_by
    if player.ifpa_id is not None:
        return "ifpa", player.ifpa_id
    return player.organizer_id, names.name_key(player.name)


def _ratings_by_holder(db: Connection, players: Collection[Any]) -> dict[tuple[Any, Any], int]:
    """Holder -> id of the rating, of those that are listed."""
    holders = {_holder(player) for player in players}
    user_ids = [number for kind, number in holders if kind == "user"]
    ifpa_ids = [number for kind, number in holders if kind == "ifpa"]
    in_books = [holder for holder in holders if holder[0] not in ("user", "ifpa")]
    wanted = or_(
        _PUBLISHED.user_id.in_(user_ids),
        _PUBLISHED.ifpa_id.in_(ifpa_ids),
        and_(
            _PUBLISHED.organizer_id.in_({book for book, _ in in_books}),
            _PUBLISHED.name_key.in_({key for _, key in in_books}),
        ),
    )
    rows = select(
        _PUBLISHED.rating_id,
        _PUBLISHED.user_id,
        _PUBLISHED.ifpa_id,
        _PUBLISHED.organizer_id,
        _PUBLISHED.name_key,
    )
    return dict(_holders(db.execute(rows.where(rating_days.IS_LISTED, wanted))))


def _holders(ratings: Iterable[Any]) -> Iterator[tuple[tuple[Any, Any], int]]:
    for rating in ratings:
        for holder in (
            ("user", rating.user_id),
            ("ifpa", rating.ifpa_id),
            (rating.organizer_id, rating.name_key),
        ):
            if holder[1] is not None:
                yield holder, rating.rating_id


def rating_rows(db: Connection, _period: Period) -> Iterator[Row]:
    """All listed ratings, by id."""
    columns = (
        _PUBLISHED.rating_id,
        _PUBLISHED.name,
        _PUBLISHED.user_id,
        _PUBLISHED.ifpa_id,
        _PUBLISHED.rating,
        _PUBLISHED.rd,
        _PUBLISHED.last_period,
    )
    rows = select(*columns, _USER.profile_opt_out).select_from(PUBLISHED)
    rows = rows.outerjoin(tables.user, _USER.user_id == _PUBLISHED.user_id).where(rating_days.IS_LISTED)
    for row in stream(db, rows.order_by(_PUBLISHED.rating_id)):
        yield (
            *(row.rating_id, row.name, row.user_id),
            None if row.profile_opt_out else row.ifpa_id,
            *(round(row.rating, 2), round(row.rd, 2)),
            round(formulas.lower_bound(row.rating, row.rd), 2),
            formulas.rating_class(row.rating),
            row.last_period,
        )


PLAYERS = BulkTable("players", PLAYER_COLUMNS, ("player_id",), player_rows)
RATINGS = BulkTable("ratings", RATING_COLUMNS, ("rating_id",), rating_rows)
