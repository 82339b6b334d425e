"""Statistics of a tournament, computed for each request, while it runs too."""

from collections import Counter
from collections.abc import Iterable

from sqlalchemy import ColumnElement, Connection, false, func, select, union_all

from silverball.rules.ranking import summaries
from silverball.rules.ranking.places import finishing_places
from silverball.service import durations
from silverball.service.access import AuthenticatedCaller
from silverball.service.formats import reads as formats
from silverball.service.games.reads import played as played_games
from silverball.service.games.reads.played import CompletedGame
from silverball.service.rounds import reads as rounds
from silverball.service.summaries.reads import opted_out_player_ids
from silverball.service.tournaments.reads import tournaments
from silverball.store.tables import arena, card, game, game_player, single_player_game
from silverball_wire.stats import (
    ArenaStats,
    BestGameStats,
    CountRow,
    MatchplayStats,
    MatchStats,
    PlayerStats,
    RoundStats,
)

_SINGLE_PLAYER_GAME = single_player_game.c


def match_play_stats(db: Connection, tournament_id: int) -> MatchplayStats:
    """Number of games, byes included. Raises WrongFormat for formats without opponents."""
    formats.require_match_play(db, tournament_id)
    played = played_games.completed_games(db, tournament_id)
    seats = [player_id for game in played for player_id in game.result.player_ids]
    mean = len(seats) / len(set(seats)) if seats else 0.0
    return MatchplayStats(
        avg_games_per_player=int(mean) if mean.is_integer() else mean, total_games=len(played)
    )


def round_stats(db: Connection, tournament_id: int) -> tuple[RoundStats, ...]:
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
        RoundStats(
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


def arena_stats(db: Connection, tournament_id: int) -> tuple[ArenaStats, ...]:
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
        ArenaStats(
            arena_id=row.arena_id,
            name=row.name,
            game_count=row.games,
            avg_duration=durations.mean_from_total(row.total, row.timed),
            min_duration=row.shortest,
            max_duration=row.longest,
        )
        for row in db.execute(rows).all()
    )


def player_stats(db: Connection, tournament_id: int, viewer: AuthenticatedCaller | None) -> PlayerStats:
    """Frequencies of places, arenas and opponents of each player, by player id."""
    tournaments.require_tournament(db, tournament_id)
    hidden = _hidden_player_ids(db, tournament_id, viewer)
    place_counts: dict[int, Counter[int]] = {}
    arena_counts: dict[int, Counter[int]] = {}
    opponent_counts: dict[int, Counter[int]] = {}
    for completed_game in _without_byes(played_games.completed_games(db, tournament_id)):
        place_of = finishing_places(completed_game.result)
        for player_id in completed_game.result.player_ids:
            others = [other for other in completed_game.result.player_ids if other != player_id]
            place_counts.setdefault(player_id, Counter()).update(_as_tuple(place_of.get(player_id)))
            arena_counts.setdefault(player_id, Counter()).update(_as_tuple(completed_game.arena_id))
            opponent_counts.setdefault(player_id, Counter()).update(set(others) - hidden)
    for player_id, arena_id, count in _single_player_game_counts(db, tournament_id):
        arena_counts.setdefault(player_id, Counter())[arena_id] += count
    return PlayerStats(
        position_counts=_count_rows(place_counts, hidden),
        arena_counts=_count_rows(arena_counts, hidden),
        opponent_counts=_count_rows(opponent_counts, hidden),
    )


def opponent_stats(
    db: Connection, tournament_id: int, viewer: AuthenticatedCaller | None
) -> tuple[MatchStats, ...]:
    """Games, wins and losses of each player against each opponent. Raises WrongFormat."""
    rule = formats.require_match_play(db, tournament_id).win_loss_rule
    hidden = _hidden_player_ids(db, tournament_id, viewer)
    records = (
        completed_game.record
        for completed_game in _without_byes(played_games.completed_games(db, tournament_id))
    )
    return tuple(
        MatchStats(
            player_id=met.player_id,
            opponent_id=met.opponent_id,
            games=met.games,
            wins=met.wins,
            losses=met.losses,
        )
        for met in summaries.opponent_summaries(rule, records)
        if met.player_id not in hidden and met.opponent_id not in hidden
    )


def best_game_stats(db: Connection, tournament_id: int) -> BestGameStats:
    """Numbers of single player games and cards, valid and voided. Raises WrongFormat."""
    formats.require_best_game(db, tournament_id)
    game_count, voided_count = _valid_and_voided_counts(
        db, _SINGLE_PLAYER_GAME.tournament_id == tournament_id, _SINGLE_PLAYER_GAME.voided
    )
    card_count, voided_card_count = _valid_and_voided_counts(
        db, card.c.tournament_id == tournament_id, card.c.voided
    )
    return BestGameStats(
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


def _hidden_player_ids(db: Connection, tournament_id: int, viewer: AuthenticatedCaller | None) -> set[int]:
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


def _count_rows(counts: dict[int, Counter[int]], hidden: set[int]) -> tuple[CountRow, ...]:
    return tuple(
        {**{str(key): count for key, count in sorted(counts[player_id].items())}, "playerId": player_id}
        for player_id in sorted(counts.keys() - hidden)
    )
