"""Statistics of a tournament, computed for each request, while it runs too."""

from collections import Counter
from collections.abc import Iterable
from typing import Any

from msgspec import Struct
from sqlalchemy import ColumnElement, Connection, Select, SelectBase, Table, false, func, select, union_all

from silverball.kit.http.query import PageNumber, Query
from silverball.kit.values import compile_copy
from silverball.rules.ranking import summaries
from silverball.rules.ranking.standing import finishing_places
from silverball.service.core.access import AuthenticatedCaller
from silverball.service.core.calls import PageRows, count_rows_before
from silverball.service.games.reads import games
from silverball.service.games.reads.games import CompletedGame
from silverball.service.players import reads as players
from silverball.service.rounds import reads as rounds
from silverball.service.tournaments.reads import tournaments
from silverball.service.tournaments.reads.tournaments import TournamentFacts
from silverball.store.database.conditions import is_among
from silverball.store.tables import (
    arena,
    arena_summary,
    card,
    game,
    game_player,
    match_summary,
    player,
    player_arena_summary,
    single_player_game,
    user,
)
from silverball_wire import standings

# Summaries of completed tournaments; they are stored when a tournament completes.


_build_match_stats = compile_copy(standings.MatchStats)
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


def arena_summaries_page(
    db: Connection, tournament_id: int, query: SummaryQuery
) -> PageRows[standings.ArenaSummary]:
    """One page of arenas, by id; empty before completion. Raises NotFound."""
    tournament = tournaments.tournament_facts(db, tournament_id)
    columns = (arena_summary.c.arena_id,)
    rows, total = _summary_page(db, tournament, arena_summary, columns, query)
    return PageRows([standings.ArenaSummary(**_play_fields(tournament, row)) for row in rows], total)


def player_arena_summaries_page(
    db: Connection, tournament_id: int, query: SummaryQuery, viewer: AuthenticatedCaller | None
) -> PageRows[standings.PlayerArenaSummary]:
    """One page of players on arenas, by arena, then by player; empty before completion."""
    tournament = tournaments.tournament_facts(db, tournament_id)
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
        standings.PlayerArenaSummary(
            **_play_fields(tournament, row), player_id=row.player_id, wins=row.wins, losses=row.losses
        )
        for row in rows
    ]
    return PageRows(items, total)


def match_summaries_page(
    db: Connection, tournament_id: int, query: SummaryQuery, viewer: AuthenticatedCaller | None
) -> PageRows[standings.MatchSummary]:
    """One page of players, opponents and arenas, from both sides; empty before completion."""
    tournament = tournaments.tournament_facts(db, tournament_id)
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
        standings.MatchSummary(
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


_SINGLE_PLAYER_GAME = single_player_game.c


def match_play_stats(db: Connection, tournament_id: int) -> standings.MatchplayStats:
    """Number of games, byes included. Raises WrongFormat for formats without opponents."""
    tournaments.require_match_play(db, tournament_id)
    played = games.completed_games(db, tournament_id)
    seats = [player_id for game in played for player_id in game.result.player_ids]
    mean = len(seats) / len(set(seats)) if seats else 0.0
    return standings.MatchplayStats(
        avg_games_per_player=int(mean) if mean.is_integer() else mean, total_games=len(played)
    )


def round_stats(db: Connection, tournament_id: int) -> tuple[standings.RoundStats, ...]:
    """Each round with its length and its number of games of either kind, oldest first."""
    newest_first = rounds.rounds_in_tournament(db, tournament_id)
    played = union_all(
        select(game.c.round_id).where(game.c.tournament_id == tournament_id),
        select(_SINGLE_PLAYER_GAME.round_id).where(
            _SINGLE_PLAYER_GAME.tournament_id == tournament_id, _SINGLE_PLAYER_GAME.voided.is_(false())
        ),
    ).subquery()
    counted = select(played.c.round_id, func.count()).group_by(played.c.round_id)
    counts: dict[int | None, int] = dict(db.execute(counted).all())
    return tuple(
        standings.RoundStats(
            round_id=round_.round_id,
            tournament_id=tournament_id,
            index=round_.index,
            name=round_.name,
            duration=round_.duration,
            created_at=round_.created_at,
            completed_at=round_.completed_at,
            game_count=counts.get(round_.round_id, 0),
        )
        for round_ in reversed(newest_first)
    )


def arena_stats(db: Connection, tournament_id: int) -> tuple[standings.ArenaStats, ...]:
    """Each arena with games, and how long games of either kind took, by arena id."""
    tournaments.require_tournament(db, tournament_id)
    played = union_all(
        select(game.c.arena_id, game.c.duration_seconds).where(
            game.c.tournament_id == tournament_id, game.c.status == "completed", game.c.bye.is_(false())
        ),
        select(_SINGLE_PLAYER_GAME.arena_id, _SINGLE_PLAYER_GAME.duration_seconds).where(
            _SINGLE_PLAYER_GAME.tournament_id == tournament_id,
            _SINGLE_PLAYER_GAME.status == "completed",
            _SINGLE_PLAYER_GAME.voided.is_(false()),
        ),
    ).subquery()
    length = played.c.duration_seconds
    rows = (
        select(
            arena.c.arena_id,
            arena.c.name,
            func.count().label("games"),
            func.sum(length).label("total"),
            func.count(length).label("timed"),
            func.min(length).label("shortest"),
            func.max(length).label("longest"),
        )
        .join(played, played.c.arena_id == arena.c.arena_id)
        .group_by(arena.c.arena_id, arena.c.name)
        .order_by(arena.c.arena_id)
    )
    return tuple(
        standings.ArenaStats(
            arena_id=row.arena_id,
            name=row.name,
            game_count=row.games,
            avg_duration=games.mean_from_total(row.total, row.timed),
            min_duration=row.shortest,
            max_duration=row.longest,
        )
        for row in db.execute(rows).all()
    )


def player_stats(
    db: Connection, tournament_id: int, viewer: AuthenticatedCaller | None
) -> standings.PlayerStats:
    """Frequencies of places, arenas and opponents of each player, by player id."""
    tournaments.require_tournament(db, tournament_id)
    hidden = _hidden_in_stats(db, tournament_id, viewer)
    place_counts: dict[int, Counter[int]] = {}
    arena_counts: dict[int, Counter[int]] = {}
    opponent_counts: dict[int, Counter[int]] = {}
    for completed_game in _without_byes(games.completed_games(db, tournament_id)):
        place_of = finishing_places(completed_game.result)
        for player_id in completed_game.result.player_ids:
            others = [other for other in completed_game.result.player_ids if other != player_id]
            place_counts.setdefault(player_id, Counter()).update(_as_tuple(place_of.get(player_id)))
            arena_counts.setdefault(player_id, Counter()).update(_as_tuple(completed_game.arena_id))
            opponent_counts.setdefault(player_id, Counter()).update(set(others) - hidden)
    for player_id, arena_id, count in _single_player_game_counts(db, tournament_id):
        arena_counts.setdefault(player_id, Counter())[arena_id] += count
    return standings.PlayerStats(
        position_counts=_count_rows(place_counts, hidden),
        arena_counts=_count_rows(arena_counts, hidden),
        opponent_counts=_count_rows(opponent_counts, hidden),
    )


def opponent_stats(
    db: Connection, tournament_id: int, viewer: AuthenticatedCaller | None
) -> tuple[standings.MatchStats, ...]:
    """Games, wins and losses of each player against each opponent. Raises WrongFormat."""
    rule = tournaments.require_match_play(db, tournament_id).win_loss_rule
    hidden = _hidden_in_stats(db, tournament_id, viewer)
    records = (
        completed_game.record for completed_game in _without_byes(games.completed_games(db, tournament_id))
    )
    return tuple(
        _build_match_stats(met)
        for met in summaries.opponent_summaries(rule, records)
        if met.player_id not in hidden and met.opponent_id not in hidden
    )


def best_game_stats(db: Connection, tournament_id: int) -> standings.BestGameStats:
    """Numbers of single player games and cards, valid and voided. Raises WrongFormat."""
    tournaments.require_best_game(db, tournament_id)
    game_count, voided_count = _valid_and_voided_counts(
        db, _SINGLE_PLAYER_GAME.tournament_id == tournament_id, _SINGLE_PLAYER_GAME.voided
    )
    card_count, voided_card_count = _valid_and_voided_counts(
        db, card.c.tournament_id == tournament_id, card.c.voided
    )
    return standings.BestGameStats(
        game_count=game_count,
        voided_count=voided_count,
        card_count=card_count,
        voided_card_count=voided_card_count,
    )


def _valid_and_voided_counts(
    db: Connection, condition: ColumnElement[bool], voided: ColumnElement[bool]
) -> tuple[int, int]:
    """The number of valid rows and the number of voided ones."""
    rows = select(voided, func.count()).where(condition).group_by(voided)
    counts = dict(db.execute(rows).all())
    return counts.get(False, 0), counts.get(True, 0)


def _without_byes(played: Iterable[CompletedGame]) -> list[CompletedGame]:
    return [completed_game for completed_game in played if not completed_game.is_bye]


def _as_tuple(value: int | None) -> tuple[int, ...]:
    return () if value is None else (value,)


def _hidden_in_stats(db: Connection, tournament_id: int, viewer: AuthenticatedCaller | None) -> set[int]:
    """The players of the tournament whose statistics are hidden from this viewer."""
    seated = select(game_player.c.player_id).where(game_player.c.tournament_id == tournament_id)
    tried = select(_SINGLE_PLAYER_GAME.player_id).where(_SINGLE_PLAYER_GAME.tournament_id == tournament_id)
    return set(db.execute(opted_out_player_ids(viewer, seated.union(tried))).scalars())


def _single_player_game_counts(db: Connection, tournament_id: int) -> list[tuple[int, int, int]]:
    """Player, arena, number of single player games."""
    rows = (
        select(_SINGLE_PLAYER_GAME.player_id, _SINGLE_PLAYER_GAME.arena_id, func.count())
        .where(
            _SINGLE_PLAYER_GAME.tournament_id == tournament_id,
            _SINGLE_PLAYER_GAME.status == "completed",
            _SINGLE_PLAYER_GAME.voided.is_(false()),
            _SINGLE_PLAYER_GAME.arena_id.is_not(None),
        )
        .group_by(_SINGLE_PLAYER_GAME.player_id, _SINGLE_PLAYER_GAME.arena_id)
    )
    return [(player_id, arena_id, count) for player_id, arena_id, count in db.execute(rows).all()]


def _count_rows(counts: dict[int, Counter[int]], hidden: set[int]) -> tuple[standings.CountRow, ...]:
    return tuple(
        {**{str(key): count for key, count in sorted(counts[player_id].items())}, "playerId": player_id}
        for player_id in sorted(counts.keys() - hidden)
    )
