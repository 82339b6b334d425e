"""Players of published tournaments and ratings, for the bulk files, as people allow."""

import hashlib
from collections.abc import Collection, Iterable, Iterator
from itertools import islice
from typing import Any

import msgspec
from sqlalchemy import Connection, and_, or_, select

from silverball.rules.ratings import formulas
from silverball.service.bulk.reads import tournaments
from silverball.service.bulk.reads.sheets import BulkTable, Period, Row, SheetColumn
from silverball.store import names, rating_days, tables
from silverball.store.published_ratings import PUBLISHED

PLAYERS_AT_ONCE = 1_000
_P, _U, _T, _E, _R = tables.player.c, tables.user.c, tables.tournament.c, tables.entrant.c, PUBLISHED.c

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
        select(_E.tournament_id)
        .join(tables.tournament, _T.tournament_id == _E.tournament_id)
        .where(_E.player_id == _P.player_id, tournaments.is_published_before(period.begin))
    )
    hidden = tournaments.hidden_player_ids(db)
    rows = _players(period).where(~before.exists())
    for batch in _batches(tournaments.stream(db, rows)):
        yield from _player_items(db, [row for row in batch if row.player_id not in hidden])


def people_digest(db: Connection, period: Period) -> str:
    """A digest of what the files of a period may say of their players now."""
    hidden = tournaments.hidden_player_ids(db)
    digest = hashlib.sha256()
    for batch in _batches(tournaments.stream(db, _players(period))):
        for row in _player_items(db, batch):
            player_id, *_ = row
            digest.update(msgspec.json.encode((row, player_id in hidden)))
    return digest.hexdigest()


def _batches(rows: Iterator[Any]) -> Iterator[list[Any]]:
    while batch := list(islice(rows, PLAYERS_AT_ONCE)):
        yield batch


def _players(period: Period) -> Any:
    """A statement for the players of the period's tournaments, by id."""
    entrants = select(_E.player_id).join(tables.tournament, _T.tournament_id == _E.tournament_id)
    columns = (_P.player_id, _P.name, _P.ifpa_id, _P.claimed_by, _P.organizer_id, _U.profile_opt_out)
    return (
        select(*columns)
        .outerjoin(tables.user, _U.user_id == _P.claimed_by)
        .where(_P.player_id.in_(entrants.where(tournaments.is_published_in(period))))
        .order_by(_P.player_id)
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
        _R.user_id.in_(user_ids),
        _R.ifpa_id.in_(ifpa_ids),
        and_(
            _R.organizer_id.in_({book for book, _ in in_books}),
            _R.name_key.in_({key for _, key in in_books}),
        ),
    )
    rows = select(_R.rating_id, _R.user_id, _R.ifpa_id, _R.organizer_id, _R.name_key)
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
    columns = (_R.rating_id, _R.name, _R.user_id, _R.ifpa_id, _R.rating, _R.rd, _R.last_period)
    rows = select(*columns, _U.profile_opt_out).select_from(PUBLISHED)
    rows = rows.outerjoin(tables.user, _U.user_id == _R.user_id).where(rating_days.IS_LISTED)
    for row in tournaments.stream(db, rows.order_by(_R.rating_id)):
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
