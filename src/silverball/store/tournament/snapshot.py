"""The snapshot that rules work on, loaded from rows. Only for formats that the registry knows.

Snapshots stay in memory by revision: they are loaded again only when the database has moved on. The
state that a writer left is put there after the commit, and only then.
"""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from functools import cache
from itertools import groupby
from operator import attrgetter
from typing import Any, TypeVar

from sqlalchemy import BindParameter, Column, Connection, Table, Text, bindparam, select, type_coerce

from silverball.kit.values import compile_builder, convert
from silverball.rules.model import fields, settings
from silverball.rules.model.fields import PartField
from silverball.rules.model.tournament import (
    Bank,
    EngineState,
    Entrant,
    Game,
    PrizePlan,
    Reopening,
    SignUpTerms,
    Tournament,
)
from silverball.rules.registry import FORMATS
from silverball.rules.scoring import point_maps
from silverball.store import tables
from silverball.store.database.statements import NamedRow, Statement, rows_of_all
from silverball.store.database.transaction import WRITES, Transaction
from silverball.store.revisions.stamps import Revision
from silverball.store.tournament import rows as tournament_rows
from silverball.store.tournament.loaded import SNAPSHOTS, LoadedTournament, SnapshotCache

T = TypeVar("T")
# Details that are stored as rows of other tables.
LINKS, SHORTCUT, EVENT = "links", "shortcut", "event_id"


def _json_moment(moment: datetime | None) -> str | None:
    return None if moment is None else moment.isoformat()


# The row of a tournament -> the details that it always has.
_read_stored_details = compile_builder(
    dict,
    {
        field.name: (field.stored_in, _json_moment if field.kind == "moment" else None)
        for field in fields.STORED_DETAILS
        if not field.is_left_out
    },
)
_LEFT_OUT = tuple(field.name for field in fields.STORED_DETAILS if field.is_left_out)
_OWN_ID: BindParameter[int] = bindparam("tournament_id")


def _own_rows(table: Table, *order: str) -> Statement:
    """The rows of a tournament in a table."""
    rows_of_table = select(table).where(table.c.tournament_id == _OWN_ID)
    return Statement(rows_of_table.order_by(*[table.c[name] for name in order]))


def _joined_rows(table: Table, other: Table, column: Column[Any], *order: str) -> Statement:
    """The rows of a tournament in a table, with a column of the rows that they belong to."""
    (key,) = other.primary_key
    joined = (
        select(table, column).join(other, key == table.c[key.name]).where(table.c.tournament_id == _OWN_ID)
    )
    return Statement(joined.order_by(*[table.c[name] for name in order]))


@cache
def _statements() -> Mapping[str, Statement]:
    """Part of a snapshot -> the statement of its rows. A start would build them for nothing."""
    lineup_bank, member, link = tables.lineup_bank.c, tables.bank_arena.c, tables.tournament_link.c
    shortcut, event = tables.shortcut.c, tables.occasion_tournament.c
    banks = (
        select(lineup_bank.bank_id, lineup_bank.place, member.arena_id)
        .outerjoin(tables.bank_arena, member.bank_id == lineup_bank.bank_id)
        .where(lineup_bank.tournament_id == _OWN_ID)
        .order_by(lineup_bank.place, lineup_bank.bank_id, member.place)
    )
    links = (
        select(link.linked_tournament_id, link.link_type, link.link_index, link.shown)
        .where(link.tournament_id == _OWN_ID)
        .order_by(link.place)
    )
    shortcuts = select(shortcut.slug).where(shortcut.tournament_id == _OWN_ID)
    events = select(event.occasion_id).where(event.tournament_id == _OWN_ID)
    return {
        "tournament": Statement(
            select(tables.tournament).where(tables.tournament.c.tournament_id == _OWN_ID)
        ),
        "entrants": _joined_rows(
            tables.entrant, tables.player, tables.player.c.claimed_by, "place", "player_id"
        ),
        "purchases": _own_rows(tables.entry, "entry_id"),
        "lineup": _joined_rows(
            tables.lineup_arena, tables.arena, tables.arena.c.category_id, "place", "arena_id"
        ),
        "banks": Statement(banks),
        "rounds": _own_rows(tables.round_, "round_id"),
        "games": _own_rows(tables.game, "game_id"),
        "seats": _own_rows(tables.game_player, "game_id", "slot"),
        "suggestions": _own_rows(tables.suggestion, "suggestion_id"),
        "attempts": _own_rows(tables.single_player_game, "single_player_game_id"),
        "cards": _own_rows(tables.card, "card_id"),
        "queue": _own_rows(tables.queue_entry, "queue_id"),
        "scorekeepers": _own_rows(tables.scorekeeper, "place"),
        "sign_ups": _own_rows(tables.sign_up, "player_id"),
        LINKS: Statement(links),
        # The first of each.
        SHORTCUT: Statement(shortcuts.order_by(shortcut.shortcut_id).limit(1)),
        EVENT: Statement(events.order_by(event.event_tournament_id).limit(1)),
    }


def load_at_revision(db: Connection, tournament_id: int, revision: Revision) -> LoadedTournament:
    """The tournament as a reader sees it, which is at this revision."""
    cache = _cache(db)
    cached = cache.get(tournament_id, revision)
    if cached is not None:
        return cached
    loaded = _load_from_rows(db, tournament_id, revision)
    # What a writer reads may still be rolled back.
    return loaded if db.get_execution_options().get(WRITES, False) else cache.add(loaded)


def load_for_change(transaction: Transaction, tournament_id: int, revision: Revision) -> LoadedTournament:
    """The tournament as this writer sees it, which is at this revision."""
    uncommitted = transaction.uncommitted
    for tournaments in (transaction.loaded, uncommitted or {}):
        loaded = tournaments.get(tournament_id)
        if loaded is not None and loaded.revision == revision:
            return loaded
    cache = _cache(transaction.connection)
    cached = cache.get(tournament_id, revision)
    if cached is not None:
        return cached
    loaded = _load_from_rows(transaction.connection, tournament_id, revision)
    if tournament_id in transaction.raised_revisions:
        # What this writer has done so far may still be rolled back.
        return loaded
    if uncommitted is None:
        return cache.add(loaded)
    uncommitted[tournament_id] = loaded
    return loaded


def _cache(db: Connection) -> SnapshotCache:
    cache: SnapshotCache = db.get_execution_options()[SNAPSHOTS]
    return cache


def _load_from_rows(db: Connection, tournament_id: int, revision: Revision) -> LoadedTournament:
    found = rows_of_all(db, _statements(), tournament_id=tournament_id)
    imported = frozenset(row.game_id for row in found["games"] if _has_imported_facts(row))
    return LoadedTournament(revision, _read_tournament(found), imported_fact_ids=imported)


def _has_imported_facts(game_row: NamedRow) -> bool:
    columns = (game_row.challenge_id, game_row.scorbit_id, game_row.scorbit_log)
    has_length_only = game_row.started_at is None and game_row.duration_seconds is not None
    return any(value is not None for value in columns) or bool(game_row.scorbit_verified) or has_length_only


def load_standings(db: Connection, tournament_id: int) -> dict[int, str]:
    """Player id -> the stored row of the standings, as text; none of a running tournament."""
    columns = tables.standing.c
    rows_as_text = select(columns.player_id, type_coerce(columns.row, Text))
    found = db.execute(rows_as_text.where(columns.tournament_id == tournament_id))
    return {player_id: text for player_id, text in found}  # noqa: C416  # rows are no pairs to mypy


def stored_type_and_status(db: Connection, tournament_id: int) -> tuple[str, str]:
    """The type and the status of a tournament that exists."""
    own = tables.tournament.c
    row = db.execute(select(own.type, own.status).where(own.tournament_id == tournament_id)).one()
    return row.type, row.status


def stored_type(db: Connection, tournament_id: int) -> str | None:
    """The type of a tournament; None when there is no such tournament."""
    own = tables.tournament.c
    return db.execute(select(own.type).where(own.tournament_id == tournament_id)).scalar_one_or_none()


def load(db: Connection, tournament_id: int) -> Tournament:
    """The whole tournament; it must exist and have a known format."""
    return _read_tournament(rows_of_all(db, _statements(), tournament_id=tournament_id))


def _read_tournament(found: Mapping[str, Sequence[NamedRow]]) -> Tournament:
    (row,) = found["tournament"]
    return Tournament(
        tournament_id=row.tournament_id,
        type=row.type,
        status=row.status,
        settings=settings.read_settings(FORMATS[row.type].settings, row.settings),
        entrants=_read_entrants(found["entrants"], found["purchases"]),
        lineup=_read_all(tournament_rows.to_lineup_arena, found["lineup"]),
        banks=_read_banks(found["banks"]),
        rounds=_read_all(tournament_rows.to_round, found["rounds"]),
        games=_read_games(found["games"], found["seats"]),
        suggestions=_read_all(tournament_rows.to_suggestion, found["suggestions"]),
        single_player_games=_read_all(tournament_rows.to_single_player_game, found["attempts"]),
        cards=_read_all(tournament_rows.to_card, found["cards"]),
        queue=_read_all(tournament_rows.to_queue_spot, found["queue"]),
        scorekeepers=_read_all(tournament_rows.to_scorekeeper, found["scorekeepers"]),
        purchases=_read_all(tournament_rows.to_purchase, found["purchases"]),
        points_map=_points_map(row),
        tiebreaker_points_map=row.tiebreaker_points_map,
        has_entry_limits=bool((row.entry_configuration or {}).get("limited")),
        completed_at=row.completed_at,
        rated_until=row.rated_until,
        reopening=convert(row.reopening, Reopening | None, strict=False),
        prizes=convert(row.prizes, PrizePlan | None),
        sign_ups=_read_all(tournament_rows.to_sign_up, found["sign_ups"]),
        sign_up_terms=convert(row.sign_up_terms, SignUpTerms | None),
        state=convert(row.engine or {}, EngineState, strict=False),
        details=_read_details(row, found),
    )


def _read_all(from_row: Callable[[NamedRow], T], part_rows: Sequence[NamedRow]) -> tuple[T, ...]:
    return tuple([from_row(row) for row in part_rows])


def _points_map(row: Any) -> Any:
    """The rows of the points map; for the organizer's own points an import may store only a word."""
    if row.points_map == point_maps.MANUAL:
        return point_maps.parse_custom_map(row.points_map_custom or {})
    return row.points_map


def _read_entrants(entrants: Sequence[NamedRow], purchases: Sequence[NamedRow]) -> tuple[Entrant, ...]:
    bought: Counter[int] = Counter()
    for purchase in purchases:
        bought[purchase.player_id] += purchase.quantity
    return tuple(
        tournament_rows.to_entrant(row, user_id=row.claimed_by, entries_bought=bought[row.player_id])
        for row in entrants
    )


def _read_banks(members: Sequence[NamedRow]) -> tuple[Bank, ...]:
    banks = []
    for (bank_id, place), group in groupby(members, key=attrgetter("bank_id", "place")):
        arena_ids = tuple(row.arena_id for row in group if row.arena_id is not None)
        banks.append(Bank(bank_id=bank_id, place=place, arena_ids=arena_ids))
    return tuple(banks)


def _read_games(games: Sequence[NamedRow], seats: Sequence[NamedRow]) -> tuple[Game, ...]:
    seats_by_game = {game_id: list(group) for game_id, group in groupby(seats, key=attrgetter("game_id"))}
    return tuple([tournament_rows.to_game(row, seats_by_game.get(row.game_id, [])) for row in games])


def _read_details(row: NamedRow, found: Mapping[str, Sequence[NamedRow]]) -> dict[str, Any]:
    details: dict[str, Any] = _read_stored_details(row)
    details |= {name: value for name in _LEFT_OUT if (value := getattr(row, name)) not in (None, False)}
    details[LINKS] = [link._asdict() for link in found[LINKS]]
    details[SHORTCUT] = next((shortcut.slug for shortcut in found[SHORTCUT]), None)
    details[EVENT] = next((event.occasion_id for event in found[EVENT]), None)
    return details


def detail_values(details: Mapping[str, Any], before: Mapping[str, Any] | None = None) -> dict[str, Any]:
    """Column -> value, for the details that are columns: all, or those that differ from the ones before."""
    return {
        field.stored_in: _column_value(field, details.get(field.name))
        for field in fields.STORED_DETAILS
        if (field.is_left_out or field.name in details)
        and (before is None or details.get(field.name) != before.get(field.name))
    }


def _column_value(field: PartField, value: Any) -> Any:
    return datetime.fromisoformat(value) if field.kind == "moment" and value is not None else value
