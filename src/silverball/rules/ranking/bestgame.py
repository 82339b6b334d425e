"""Points of best games: ranks on each arena, points by a curve. Source: formats, sections 14.18 and 14.19.

Points and marks depend on all scores together, so they are computed on each read and stored only when the
tournament completes.
"""

from bisect import bisect_right
from collections.abc import Callable, Iterable, Mapping, Sequence
from decimal import Decimal
from functools import cache
from typing import Any, NamedTuple

from msgspec import Struct

from silverball.rules.model.part_index import kept_value
from silverball.rules.model.settings_protocols import HasBestGames, HasBestGameScoring, HasCardScoring, has
from silverball.rules.model.tournament import Card, SinglePlayerGame, Tournament
from silverball.rules.scoring import curves

ZERO = Decimal(0)
# `cardBestGameScoring`: all completed cards are ranked, or each player's newest one only.
NEWEST_CARD_ONLY = 1

PointsOfRank = Callable[[int], Decimal]


class GameMark(NamedTuple):
    """Points of a single player game, and whether it holds a rank (on cards: whether it counts)."""

    points: Decimal = ZERO
    is_best: bool = False


NO_MARK = GameMark()


class CardValue(Struct, frozen=True, kw_only=True):
    """A ranked card: its points, its number of games, and whether it counts for its player."""

    card_id: int
    player_id: int
    points: Decimal
    game_count: int
    is_counted: bool


def game_marks(tournament: Tournament) -> Mapping[int, GameMark]:
    """Single player game id -> mark, for every completed game, voided ones included.

    Computed while the tournament runs, again only for machines that were played since, and as stored once
    it is completed.
    """
    if tournament.status == "completed":
        return {
            game.single_player_game_id: GameMark(game.points or ZERO, game.is_best)
            for game in _completed_games(tournament.single_player_games)
        }
    return kept_value(tournament, "game marks", _sources(tournament), lambda: _compute_marks(tournament))


def _sources(tournament: Tournament) -> tuple[Any, ...]:
    """All that points and marks follow from while the tournament runs."""
    return (
        tournament.single_player_games,
        tournament.cards,
        tournament.settings,
        tournament.points_map,
        tournament.status,
    )


def _compute_marks(tournament: Tournament) -> Mapping[int, GameMark]:
    if has(tournament.settings, HasCardScoring):
        return _marks_of_card_games(tournament)
    marks: dict[int, GameMark] = {}
    for arena_id in tournament.attempts_by_arena:
        marks.update(_marks_on_arena(tournament, arena_id))
    return marks


def _marks_on_arena(tournament: Tournament, arena_id: int | None) -> Mapping[int, GameMark]:
    """The marks of the completed games on one arena; of a best game, where arenas are apart."""
    games = tournament.attempts_by_arena.get(arena_id, ())
    sources = (games, tournament.settings, tournament.points_map)
    return kept_value(
        tournament, ("marks on arena", arena_id), sources, lambda: _compute_arena_marks(tournament, games)
    )


def _compute_arena_marks(tournament: Tournament, games: Sequence[SinglePlayerGame]) -> Mapping[int, GameMark]:
    marks = dict.fromkeys([game.single_player_game_id for game in _completed_games(games)], NO_MARK)
    mark_of = _mark_of_rank(tournament)
    for game, rank in _ranks_on_arena(_ranked_games(tournament, games)):
        marks[game.single_player_game_id] = mark_of(rank)
    return marks


def _mark_of_rank(tournament: Tournament) -> Callable[[int], GameMark]:
    """The function rank -> mark of a game that holds this rank; kept, so that equal marks are one object."""

    def compute() -> Callable[[int], GameMark]:
        points_of = _points_of_rank(tournament)
        return cache(lambda rank: GameMark(points_of(rank), True))

    return kept_value(tournament, "mark of rank", (tournament.settings, tournament.points_map), compute)


def _ranked_games(tournament: Tournament, games: Sequence[SinglePlayerGame]) -> list[SinglePlayerGame]:
    """The games of one arena that hold a rank: each player's best few. Source: formats, 14.18."""
    assert has(tournament.settings, HasBestGames)
    each = max(1, tournament.settings.best_game_number_of_best_games)
    by_player: dict[int, list[SinglePlayerGame]] = {}
    for game in _counting_games(games):
        by_player.setdefault(game.player_id, []).append(game)
    ranked: list[SinglePlayerGame] = []
    for own in by_player.values():
        # Games come in the order of their ids, so the earlier of two equal scores holds the rank.
        ranked += sorted(own, key=_score, reverse=True)[:each] if len(own) > each else own
    return ranked


def card_values(tournament: Tournament, marked: Mapping[int, GameMark]) -> list[CardValue]:
    """The ranked cards with the points of their games, each player's best first. Source: formats, 14.19."""
    points = {game_id: mark.points for game_id, mark in marked.items()}
    return _compute_card_values(tournament, points)


def is_best_by_card(tournament: Tournament) -> Mapping[int, bool]:
    """Card id -> whether it counts for its player: stored once completed, computed before."""
    if tournament.status == "completed":
        return {card.card_id: card.is_best for card in tournament.cards}
    if not tournament.cards:
        return {}

    def compute() -> Mapping[int, bool]:
        values = card_values(tournament, game_marks(tournament))
        counted = {value.card_id for value in values if value.is_counted}
        return {card.card_id: card.card_id in counted for card in tournament.cards}

    return kept_value(tournament, "counted cards", _sources(tournament), compute)


def games_with_changed_marks(before: Tournament, after: Tournament) -> list[int]:
    """Ids of single player games whose points or mark differ between two states, ascending."""
    old = game_marks(before)
    return sorted(
        game_id
        for marks in _marks_that_may_differ(before, after)
        for game_id, mark in marks.items()
        if old.get(game_id) != mark
    )


def _marks_that_may_differ(before: Tournament, after: Tournament) -> Iterable[Mapping[int, GameMark]]:
    """The marks after a change: of the arenas that were played where arenas are apart, else all."""
    is_apart = "completed" not in {before.status, after.status} and not has(after.settings, HasCardScoring)
    if not is_apart or before.settings is not after.settings or before.points_map is not after.points_map:
        return [game_marks(after)]
    played = before.attempts_by_arena
    return [
        _marks_on_arena(after, arena_id)
        for arena_id, games in after.attempts_by_arena.items()
        if games is not played.get(arena_id)
    ]


def cards_with_changed_marks(before: Tournament, after: Tournament) -> list[int]:
    """Ids of cards whose points, or whether they count, differ between two states, ascending."""
    changed_game_ids = set(games_with_changed_marks(before, after))
    changed_ids = {
        game.card_id for game in after.single_player_games if game.single_player_game_id in changed_game_ids
    }
    old = is_best_by_card(before)
    changed_ids |= {
        card_id for card_id, is_best in is_best_by_card(after).items() if old.get(card_id) != is_best
    }
    return sorted(card_id for card_id in changed_ids if card_id is not None)


def ranked_cards(tournament: Tournament) -> list[Card]:
    """The ranked cards: completed and not voided, all or each player's newest. Source: formats, 14.19."""
    cards = [card for card in tournament.cards if card.status == "completed" and not card.is_voided]
    if not _ranks_newest_card_only(tournament):
        return cards
    newest = {card.player_id: card for card in cards}
    return list(newest.values())


def _ranks_newest_card_only(tournament: Tournament) -> bool:
    assert has(tournament.settings, HasCardScoring)
    return tournament.settings.card_best_game_scoring == NEWEST_CARD_ONLY


def _marks_of_card_games(tournament: Tournament) -> dict[int, GameMark]:
    card_ids = {card.card_id for card in ranked_cards(tournament)}
    scored = _counting_games(tournament.single_player_games)
    ranked = [game for game in scored if game.card_id in card_ids]
    points_of = _points_of_rank(tournament)
    points = {value.single_player_game_id: earned for value, earned in _points_of_games(ranked, points_of)}
    values = _compute_card_values(tournament, points)
    counted = {value.card_id for value in values if value.is_counted}
    marks = {game.single_player_game_id: NO_MARK for game in _completed_games(tournament.single_player_games)}
    for game in ranked:
        marks[game.single_player_game_id] = GameMark(
            points[game.single_player_game_id], game.card_id in counted
        )
    for game, earned in _expected_points(tournament, scored, ranked, points_of):
        marks[game.single_player_game_id] = GameMark(earned)
    return marks


def _expected_points(
    tournament: Tournament,
    scored: Sequence[SinglePlayerGame],
    ranked: Sequence[SinglePlayerGame],
    points_of: PointsOfRank,
) -> Iterable[tuple[SinglePlayerGame, Decimal]]:
    """Games of cards in progress with the points they would get; they affect no other. Source: 14.19."""
    is_newest_only = _ranks_newest_card_only(tournament)
    in_progress = {
        card.card_id for card in tournament.cards if card.status != "completed" and not card.is_voided
    }
    scores: dict[int, list[int]] = {}
    own: dict[tuple[int, int], list[int]] = {}
    for game in ranked:
        scores.setdefault(game.arena_id or 0, []).append(_score(game))
        own.setdefault((game.player_id, game.arena_id or 0), []).append(_score(game))
    for listed in scores.values():
        listed.sort()
    for game in scored:
        if game.card_id in in_progress:
            arena_id, score = game.arena_id or 0, _score(game)
            higher = _count_above(scores.get(arena_id, []), score)
            if is_newest_only:
                # The new card would replace the player's old card.
                higher -= sum(other > score for other in own.get((game.player_id, arena_id), []))
            yield game, points_of(higher + 1)


def _count_above(ascending: Sequence[int], score: int) -> int:
    return len(ascending) - bisect_right(ascending, score)


def _compute_card_values(tournament: Tournament, points: Mapping[int, Decimal]) -> list[CardValue]:
    assert has(tournament.settings, HasCardScoring)
    games_counted = tournament.settings.card_best_game_games_counted
    cards_counted = max(1, tournament.settings.card_best_game_cards_counted)
    games: dict[int, list[Decimal]] = {}
    for game in _counting_games(tournament.single_player_games):
        if game.card_id is not None:
            games.setdefault(game.card_id, []).append(points.get(game.single_player_game_id, ZERO))
    by_player: dict[int, list[tuple[Decimal, Card]]] = {}
    for total_and_card in ranked_cards(tournament):
        best_first = sorted(games.get(total_and_card.card_id, []), reverse=True)
        total = sum(best_first[: games_counted or None], ZERO)
        by_player.setdefault(total_and_card.player_id, []).append((total, total_and_card))
    values: list[CardValue] = []
    for cards in by_player.values():
        # Of two equal cards the earlier one counts.
        cards.sort(key=lambda total_and_card: (-total_and_card[0], total_and_card[1].card_id))
        for place, (total, total_and_card) in enumerate(cards):
            values.append(
                CardValue(
                    card_id=total_and_card.card_id,
                    player_id=total_and_card.player_id,
                    points=total,
                    game_count=len(games.get(total_and_card.card_id, [])),
                    is_counted=place < cards_counted,
                )
            )
    return values


def _points_of_games(
    games: Iterable[SinglePlayerGame], points_of: PointsOfRank
) -> Iterable[tuple[SinglePlayerGame, Decimal]]:
    """The games with the points of their ranks; equal scores share the better rank. Source: 14.18."""
    by_arena: dict[int, list[SinglePlayerGame]] = {}
    for game in games:
        by_arena.setdefault(game.arena_id or 0, []).append(game)
    for listed in by_arena.values():
        for game, rank in _ranks_on_arena(listed):
            yield game, points_of(rank)


def _ranks_on_arena(games: Iterable[SinglePlayerGame]) -> Iterable[tuple[SinglePlayerGame, int]]:
    """The games of one arena with their ranks, best first; equal scores share the better rank."""
    rank, last = 0, -1
    for place, game in enumerate(sorted(games, key=_score, reverse=True), start=1):
        score = game.score or 0
        if score != last:
            rank, last = place, score
        yield game, rank


def _points_of_rank(tournament: Tournament) -> PointsOfRank:
    """The function rank -> points of this tournament's curve, cached by rank."""
    assert has(tournament.settings, HasBestGameScoring)
    name = tournament.settings.best_game_scoring
    # The organizer's own curve is stored as the only row of the points map.
    custom = [int(str(points)) for points in tournament.points_map[0]] if tournament.points_map else []

    @cache
    def points(rank: int) -> Decimal:
        return Decimal(curves.points_of_rank(name, rank, custom))

    return points


def _score(game: SinglePlayerGame) -> int:
    return game.score or 0


def _completed_games(games: Iterable[SinglePlayerGame]) -> list[SinglePlayerGame]:
    return [game for game in games if game.status == "completed"]


def _counting_games(games: Iterable[SinglePlayerGame]) -> list[SinglePlayerGame]:
    """The games with a score that counts."""
    return [
        game
        for game in games
        if game.status == "completed"
        and not game.is_voided
        and game.score is not None
        and game.arena_id is not None
    ]
