"""Summaries of completed tournaments; they are stored when a tournament completes."""

from typing import Any

from msgspec import Struct
from sqlalchemy import ColumnElement, Connection, Select, SelectBase, Table, func, select

from silverball.kit.http.query import PageNumber, Query
from silverball.service.access import AuthenticatedCaller
from silverball.service.formats import reads as formats
from silverball.service.formats.reads import TournamentFacts
from silverball.service.pages import PageRows, count_rows_before
from silverball.service.players import reads as players
from silverball.store.among import is_among
from silverball.store.tables import arena_summary, match_summary, player, player_arena_summary, user
from silverball_wire.summaries import ArenaSummary, MatchSummary, PlayerArenaSummary

PAGE_SIZE = 5000
OPPONENTS_MAX = 100
OPPONENT_RECORD_COLUMNS = ("user_id", "name", "games", "wins", "losses")


class OpponentRecord(Struct, frozen=True, kw_only=True):
    """A user's games, wins and losses against another user in completed tournaments."""

    user_id: int
    name: str
    games: int
    wins: int
    losses: int

    @property
    def draws(self) -> int:
        return self.games - self.wins - self.losses


class SummaryQuery(Query, frozen=True, kw_only=True):
    """Parameters of the summaries."""

    page: PageNumber = 1


def arena_summaries_page(db: Connection, tournament_id: int, query: SummaryQuery) -> PageRows[ArenaSummary]:
    """One page of arenas, by id; empty before completion. Raises NotFound."""
    tournament = formats.tournament_facts(db, tournament_id)
    columns = (arena_summary.c.arena_id,)
    rows, total = _summary_page(db, tournament, arena_summary, columns, query)
    return PageRows([ArenaSummary(**_play_fields(tournament, row)) for row in rows], total)


def player_arena_summaries_page(
    db: Connection, tournament_id: int, query: SummaryQuery, viewer: AuthenticatedCaller | None
) -> PageRows[PlayerArenaSummary]:
    """One page of players on arenas, by arena, then by player; empty before completion."""
    tournament = formats.tournament_facts(db, tournament_id)
    summary = player_arena_summary.c
    rows, total = _summary_page(
        db,
        tournament,
        player_arena_summary,
        (summary.arena_id, summary.player_id),
        query,
        summary.player_id.not_in(_hidden_player_ids(player_arena_summary, tournament_id, viewer)),
    )
    items = [
        PlayerArenaSummary(
            **_play_fields(tournament, row), player_id=row.player_id, wins=row.wins, losses=row.losses
        )
        for row in rows
    ]
    return PageRows(items, total)


def match_summaries_page(
    db: Connection, tournament_id: int, query: SummaryQuery, viewer: AuthenticatedCaller | None
) -> PageRows[MatchSummary]:
    """One page of players, opponents and arenas, from both sides; empty before completion."""
    tournament = formats.tournament_facts(db, tournament_id)
    summary = match_summary.c
    hidden = _hidden_player_ids(match_summary, tournament_id, viewer)
    rows, total = _summary_page(
        db,
        tournament,
        match_summary,
        (summary.arena_id, summary.player_id, summary.opponent_id),
        query,
        summary.player_id.not_in(hidden),
        summary.opponent_id.not_in(hidden),
    )
    items = [
        MatchSummary(
            **_place_fields(tournament, row),
            player_id=row.player_id,
            opponent_id=row.opponent_id,
            games=row.games,
            wins=row.wins,
            losses=row.losses,
        )
        for row in rows
    ]
    return PageRows(items, total)


def opted_out_player_ids(viewer: AuthenticatedCaller | None, among: SelectBase) -> Select[Any]:
    """Those of the given player ids whose users hide their statistics from this viewer."""
    return (
        players.player_rows()
        .with_only_columns(player.c.player_id)
        .where(is_among(player.c.player_id, among), ~players.shows_stats_to(viewer))
    )


def frequent_opponents(
    db: Connection, user_id: int, viewer: AuthenticatedCaller | None
) -> list[OpponentRecord]:
    """Users whom the user met, most frequent first, without those who hide their statistics."""
    met = match_summary.c
    own = players.player_rows().with_only_columns(player.c.player_id)
    own = own.where(player.c.claimed_by == user_id, players.shows_stats_to(viewer))
    # Grouped in the index first: the regular's meetings are many, the players that they met are few.
    counted = (
        select(met.opponent_id, *(func.sum(met[name]).label(name) for name in ("games", "wins", "losses")))
        .where(met.player_id.in_(own))
        .group_by(met.opponent_id)
        .subquery()
    )
    games = func.sum(counted.c.games)
    columns = (user.c.user_id, user.c.name, games, func.sum(counted.c.wins), func.sum(counted.c.losses))
    rows = (
        select(*(column.label(name) for column, name in zip(columns, OPPONENT_RECORD_COLUMNS, strict=True)))
        .select_from(counted)
        .join(player, player.c.player_id == counted.c.opponent_id)
        .join(user, user.c.user_id == player.c.claimed_by)
        .where(player.c.claimed_by != user_id, players.shows_stats_to(viewer))
        .group_by(user.c.user_id, user.c.name)
        .order_by(games.desc(), user.c.user_id)
        .limit(OPPONENTS_MAX)
    )
    return [
        OpponentRecord(**{name: _whole_number(value) for name, value in row.items()})
        for row in db.execute(rows).mappings()
    ]


def _whole_number(value: Any) -> Any:
    # PostgreSQL sums 64-bit integers into numerics.
    return value if isinstance(value, str) else int(value)


def _hidden_player_ids(summary: Table, tournament_id: int, viewer: AuthenticatedCaller | None) -> Select[Any]:
    # Each opponent in a row is the player of another row.
    return opted_out_player_ids(
        viewer, select(summary.c.player_id).where(summary.c.tournament_id == tournament_id)
    )


def _summary_page(
    db: Connection,
    tournament: TournamentFacts,
    summary: Table,
    order: tuple[ColumnElement[Any], ...],
    query: SummaryQuery,
    *conditions: ColumnElement[bool],
) -> tuple[list[Any], int]:
    """The rows of one page, and the number of rows in all."""
    if tournament.status != "completed":
        return [], 0
    in_tournament = (summary.c.tournament_id == tournament.tournament_id, *conditions)
    total = db.execute(select(func.count()).select_from(summary).where(*in_tournament)).scalar_one()
    rows = select(summary).where(*in_tournament).order_by(*order)
    rows = rows.limit(PAGE_SIZE).offset(count_rows_before(query.page, PAGE_SIZE, total))
    return list(db.execute(rows).all()), total


def _play_fields(tournament: TournamentFacts, row: Any) -> dict[str, Any]:
    return {
        **_place_fields(tournament, row),
        "games": row.games,
        "single_player_games": row.single_player_games,
        "total_games": row.games + row.single_player_games,
    }


def _place_fields(tournament: TournamentFacts, row: Any) -> dict[str, Any]:
    """The tournament, date and machine of a summary."""
    return {
        "tournament_id": tournament.tournament_id,
        "user_id": tournament.organizer_id,
        "arena_id": row.arena_id,
        "tournament_date": tournament.start_local[:10],
        "opdb_group": None if row.opdb_id is None else row.opdb_id.partition("-")[0],
        "opdb_id": row.opdb_id,
    }
