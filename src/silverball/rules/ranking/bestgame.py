"""Points of best games: ranks on each arena, points by a curve. Source: formats, sections 14.18 and 14.19.

Points and marks depend on all scores together, so they are computed on each read and stored only when the
tournament completes.
"""

from bisect import bisect_right
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from functools import cache
from typing import NamedTuple

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


@dataclass(frozen=True, kw_only=True)
class CardValue:
    """A ranked card: its points, its number of games, and whether it counts for its player."""

    card_id: int
    player_id: int
    points: Decimal
    game_count: int
    is_counted: bool


def game_marks(tournament: Tournament) -> dict[int, GameMark]:
    """Single player game id -> mark, for every completed game, voided ones included.

    Computed while the tournament runs, and as stored once it is completed.
    """
    if tournament.status == "completed":
        return {
            game.single_player_game_id: GameMark(game.points or ZERO, game.is_best)
            for game in _completed_games(tournament.single_player_games)
        }
    if has(tournament.settings, HasCardScoring):
        return _marks_of_card_games(tournament)
    ranked = ranked_games(tournament)
    marks = {game.single_player_game_id: NO_MARK for game in _completed_games(tournament.single_player_games)}
    for game, points in _points_of_games(ranked, _points_of_rank(tournament)):
        marks[game.single_player_game_id] = GameMark(points, True)
    return marks


def ranked_games(tournament: Tournament) -> list[SinglePlayerGame]:
    """The games that hold a rank: each player's best few on each arena. Source: formats, 14.18."""
    assert has(tournament.settings, HasBestGames)
    each = max(1, tournament.settings.best_game_number_of_best_games)
    by_player: dict[tuple[int, int], list[SinglePlayerGame]] = {}
    for game in _counting_games(tournament.single_player_games):
        by_player.setdefault((game.player_id, game.arena_id or 0), []).append(game)
    ranked: list[SinglePlayerGame] = []
    for games in by_player.values():
        # Games come in the order of their ids, so the earlier of two equal scores holds the rank.
        ranked += sorted(games, key=_score, reverse=True)[:each]
    return ranked


def card_values(tournament: Tournament, marked: Mapping[int, GameMark]) -> list[CardValue]:
    """The ranked cards with the points of their games, each player's best first. Source: formats, 14.19."""
    points = {game_id: mark.points for game_id, mark in marked.items()}
    return _compute_card_values(tournament, points)


def is_best_by_card(tournament: Tournament) -> dict[int, bool]:
    """Card id -> whether it counts for its player: stored once completed, computed before."""
    if tournament.status == "completed":
        return {card.card_id: card.is_best for card in tournament.cards}
    if not tournament.cards:
        return {}
    counted = {value.card_id for value in card_values(tournament, game_marks(tournament)) if value.is_counted}
    return {card.card_id: card.card_id in counted for card in tournament.cards}


def games_with_changed_marks(before: Tournament, after: Tournament) -> list[int]:
    """Ids of single player games whose points or mark differ between two states, ascending."""
    old = game_marks(before)
    return sorted(game_id for game_id, mark in game_marks(after).items() if old.get(game_id) != mark)


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
        listed.sort(key=_score, reverse=True)
        rank, last = 0, -1
        for place, game in enumerate(listed, start=1):
            if _score(game) != last:
                rank, last = place, _score(game)
            yield game, points_of(rank)


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
