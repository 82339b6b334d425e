"""The snapshot that rules work on, loaded from rows. Only for formats that the registry knows.

Snapshots stay in memory by revision: they are loaded again only when the database has moved on. The
state that a writer left is put there after the commit, and only then.
"""

from collections import Counter
from collections.abc import Callable, Sequence
from datetime import datetime
from itertools import groupby
from operator import attrgetter
from typing import Any, TypeVar

import msgspec
from sqlalchemy import Connection, Select, Table, Text, select, type_coerce

from silverball.rules.model import settings
from silverball.rules.model.engine_state import EngineState
from silverball.rules.model.prizes import PrizePlan
from silverball.rules.model.sign_ups import SignUpTerms
from silverball.rules.model.tournament import Bank, Entrant, Game, LineupArena, Tournament
from silverball.rules.registry import FORMATS
from silverball.rules.scoring import point_maps
from silverball.store import rows, sign_up_rows, tables
from silverball.store.loaded import SNAPSHOTS, LoadedTournament, SnapshotCache
from silverball.store.stamps import Revision
from silverball.store.transaction import WRITES, Transaction
from silverball.store.types import Instant

T = TypeVar("T")
# Columns of the tournament that the rules do not read.
DETAIL_COLUMNS = (
    "name",
    "description",
    "start_utc",
    "start_local",
    "end_utc",
    "end_local",
    "timezone",
    "organizer_id",
    "location_id",
    "series_id",
    "test",
    "link",
    "linked_tournament_id",
    "estimated_tgp",
    "points_map_custom",
    "primary_config_settings",
    "prize_pool",
    "motd_text",
    "motd_color",
    "motd_expiration",
    "managers",
    "rsvp_configuration",
    "entry_configuration",
)
# Details that are stored as rows of other tables.
LINKS, SHORTCUT, EVENT = "links", "shortcut", "event_id"
# A detail that only the tournaments have that it is true of, as a column that is null elsewhere.
WOMENS = "womens"


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
    return LoadedTournament(revision, load(db, tournament_id))


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
    key = tables.tournament.c.tournament_id
    row = db.execute(select(tables.tournament).where(key == tournament_id)).one()

    def load_part(table: Table, order: str, from_row: Callable[[Any], T]) -> tuple[T, ...]:
        return tuple([from_row(part_row) for part_row in _load_rows(db, table, tournament_id, order)])

    return Tournament(
        tournament_id=tournament_id,
        type=row.type,
        status=row.status,
        settings=settings.read_settings(FORMATS[row.type].settings, row.settings),
        entrants=_load_entrants(db, tournament_id),
        lineup=_load_lineup(db, tournament_id),
        banks=_load_banks(db, tournament_id),
        rounds=load_part(tables.round_, "round_id", rows.to_round),
        games=_load_games(db, tournament_id),
        suggestions=load_part(tables.suggestion, "suggestion_id", rows.to_suggestion),
        single_player_games=load_part(
            tables.single_player_game, "single_player_game_id", rows.to_single_player_game
        ),
        cards=load_part(tables.card, "card_id", rows.to_card),
        queue=load_part(tables.queue_entry, "queue_id", rows.to_queue_spot),
        scorekeepers=load_part(tables.scorekeeper, "place", rows.to_scorekeeper),
        purchases=load_part(tables.entry, "entry_id", rows.to_purchase),
        points_map=_points_map(row),
        tiebreaker_points_map=row.tiebreaker_points_map,
        has_entry_limits=bool((row.entry_configuration or {}).get("limited")),
        completed_at=row.completed_at,
        prizes=msgspec.convert(row.prizes, PrizePlan | None),
        sign_ups=load_part(tables.sign_up, "player_id", sign_up_rows.to_sign_up),
        sign_up_terms=msgspec.convert(row.sign_up_terms, SignUpTerms | None),
        state=msgspec.convert(row.engine or {}, EngineState, strict=False),
        details=_load_details(db, row),
    )


def _points_map(row: Any) -> Any:
    """The rows of the points map; for the organizer's own points an import may store only a word."""
    if row.points_map == point_maps.MANUAL:
        return point_maps.parse_custom_map(row.points_map_custom or {})
    return row.points_map


def _load_rows(db: Connection, table: Table, tournament_id: int, order: str) -> Sequence[Any]:
    statement = select(table).where(table.c.tournament_id == tournament_id).order_by(table.c[order])
    return db.execute(statement).all()


def _load_entrants(db: Connection, tournament_id: int) -> tuple[Entrant, ...]:
    entrant, player = tables.entrant, tables.player
    statement = (
        select(entrant, player.c.claimed_by)
        .join(player, player.c.player_id == entrant.c.player_id)
        .where(entrant.c.tournament_id == tournament_id)
        .order_by(entrant.c.place, entrant.c.player_id)
    )
    bought: Counter[int] = Counter()
    for purchase in _load_rows(db, tables.entry, tournament_id, "entry_id"):
        bought[purchase.player_id] += purchase.quantity
    return tuple(
        rows.to_entrant(row, user_id=row.claimed_by, entries_bought=bought[row.player_id])
        for row in db.execute(statement)
    )


def _load_lineup(db: Connection, tournament_id: int) -> tuple[LineupArena, ...]:
    lineup = tables.lineup_arena
    statement = (
        select(lineup, tables.arena.c.category_id)
        .join(tables.arena, tables.arena.c.arena_id == lineup.c.arena_id)
        .where(lineup.c.tournament_id == tournament_id)
        .order_by(lineup.c.place, lineup.c.arena_id)
    )
    return tuple(rows.to_lineup_arena(row) for row in db.execute(statement))


def _load_banks(db: Connection, tournament_id: int) -> tuple[Bank, ...]:
    lineup, member = tables.lineup_bank, tables.bank_arena
    statement = (
        select(lineup.c.bank_id, lineup.c.place, member.c.arena_id)
        .outerjoin(member, member.c.bank_id == lineup.c.bank_id)
        .where(lineup.c.tournament_id == tournament_id)
        .order_by(lineup.c.place, lineup.c.bank_id, member.c.place)
    )
    banks = []
    for (bank_id, place), group in groupby(db.execute(statement), key=attrgetter("bank_id", "place")):
        arena_ids = tuple(row.arena_id for row in group if row.arena_id is not None)
        banks.append(Bank(bank_id=bank_id, place=place, arena_ids=arena_ids))
    return tuple(banks)


def _load_games(db: Connection, tournament_id: int) -> tuple[Game, ...]:
    seats = db.execute(_select_seats(tournament_id))
    seats_by_game = {game_id: list(group) for game_id, group in groupby(seats, key=attrgetter("game_id"))}
    games = _load_rows(db, tables.game, tournament_id, "game_id")
    return tuple(rows.to_game(row, seats_by_game.get(row.game_id, [])) for row in games)


def _select_seats(tournament_id: int) -> Select[Any]:
    seat = tables.game_player.c
    return (
        select(tables.game_player)
        .where(seat.tournament_id == tournament_id)
        .order_by(seat.game_id, seat.slot)
    )


def _load_details(db: Connection, row: Any) -> dict[str, Any]:
    details = {name: _json_value(getattr(row, name)) for name in DETAIL_COLUMNS}
    link, slug, event = tables.tournament_link.c, tables.shortcut.c, tables.occasion_tournament.c
    if row.womens:
        details[WOMENS] = True
    links = (
        select(link.linked_tournament_id, link.link_type, link.link_index, link.shown)
        .where(link.tournament_id == row.tournament_id)
        .order_by(link.place)
    )
    details[LINKS] = [dict(values) for values in db.execute(links).mappings()]
    shortcuts = select(slug.slug).where(slug.tournament_id == row.tournament_id).order_by(slug.shortcut_id)
    details[SHORTCUT] = db.execute(shortcuts.limit(1)).scalar_one_or_none()
    events = (
        select(event.occasion_id)
        .where(event.tournament_id == row.tournament_id)
        .order_by(event.event_tournament_id)
    )
    details[EVENT] = db.execute(events.limit(1)).scalar_one_or_none()
    return details


def _json_value(value: Any) -> Any:
    return value.isoformat() if isinstance(value, datetime) else value


def column_value(name: str, value: Any) -> Any:
    """A detail as a value of its column."""
    is_moment = isinstance(tables.tournament.c[name].type, Instant)
    return datetime.fromisoformat(value) if is_moment and value is not None else value
