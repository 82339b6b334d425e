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

from silverball.rules.model.part_index import kept_value, kept_while_equal
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
    marks: dict[int, GameMark] = {}
    for arena_id in tournament.attempts_by_arena:
        marks.update(_marks_on_arena(tournament, arena_id))
    return marks


def _marks_on_arena(tournament: Tournament, arena_id: int | None) -> Mapping[int, GameMark]:
    """The marks of the completed games on one arena: the same object until one of them may differ."""
    if has(tournament.settings, HasCardScoring):
        return _card_marks_on_arena(tournament, arena_id)
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


def card_values(tournament: Tournament) -> Sequence[CardValue]:
    """The ranked cards with the points of their games, each player's best first. Source: formats, 14.19."""
    if tournament.status != "completed":
        return _running_card_values(tournament)
    points: dict[int | None, list[Decimal]] = {}
    for game in _counting_games(tournament.single_player_games):
        points.setdefault(game.card_id, []).append(game.points or ZERO)
    return _compute_card_values(tournament, points)


def is_best_by_card(tournament: Tournament) -> Mapping[int, bool]:
    """Card id -> whether it counts for its player: stored once completed, computed before."""
    if tournament.status == "completed":
        return {card.card_id: card.is_best for card in tournament.cards}
    if not tournament.cards:
        return {}
    counted = _counted_card_ids(tournament)
    return {card.card_id: card.card_id in counted for card in tournament.cards}


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
    """The marks after a change, of the arenas whose marks were computed again."""
    if "completed" in {before.status, after.status}:
        return [game_marks(after)]
    marks = {arena_id: _marks_on_arena(after, arena_id) for arena_id in after.attempts_by_arena}
    return [own for arena_id, own in marks.items() if own is not _marks_on_arena(before, arena_id)]


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


# Cards: the marks on an arena change with the games on it, and with those on others only where a card's
# place among the cards of its player does.


def _card_marks_on_arena(tournament: Tournament, arena_id: int | None) -> Mapping[int, GameMark]:
    games = tournament.attempts_by_arena.get(arena_id, ())
    ranked = _ranked_on_cards(tournament, arena_id)
    points = _points_on_cards(tournament, arena_id)
    counted, closed = _counted_card_ids(tournament), _closed_card_ids(tournament)

    def compute() -> Mapping[int, GameMark]:
        marks = dict.fromkeys([game.single_player_game_id for game in _completed_games(games)], NO_MARK)
        for game in ranked:
            game_id = game.single_player_game_id
            marks[game_id] = GameMark(points[game_id], game.card_id in counted)
        in_progress = [game for game in _counting_games(games) if game.card_id not in closed]
        for game, earned in _expected_points(tournament, in_progress, ranked):
            marks[game.single_player_game_id] = GameMark(earned)
        return marks

    return kept_value(tournament, ("marks on arena", arena_id), (games, points, counted, closed), compute)


def _ranked_card_ids(tournament: Tournament) -> frozenset[int]:
    sources = (tournament.cards, tournament.settings)
    return kept_while_equal(
        tournament,
        "ranked cards",
        sources,
        lambda: frozenset(card.card_id for card in ranked_cards(tournament)),
    )


def _closed_card_ids(tournament: Tournament) -> frozenset[int | None]:
    """The cards that get no more games, and None: a game without a card is in progress on none."""
    return kept_while_equal(
        tournament,
        "closed cards",
        (tournament.cards,),
        lambda: frozenset(
            [
                None,
                *(card.card_id for card in tournament.cards if card.status == "completed" or card.is_voided),
            ]
        ),
    )


def _ranked_on_cards(tournament: Tournament, arena_id: int | None) -> Sequence[SinglePlayerGame]:
    """The games of ranked cards on an arena."""
    games, card_ids = tournament.attempts_by_arena.get(arena_id, ()), _ranked_card_ids(tournament)
    return kept_while_equal(
        tournament,
        ("ranked on cards", arena_id),
        (games, card_ids),
        lambda: [game for game in _counting_games(games) if game.card_id in card_ids],
    )


def _points_on_cards(tournament: Tournament, arena_id: int | None) -> Mapping[int, Decimal]:
    """Game id -> points, for the games of ranked cards on an arena."""
    ranked = _ranked_on_cards(tournament, arena_id)

    def compute() -> Mapping[int, Decimal]:
        points_of = _points_of_rank(tournament)
        return {game.single_player_game_id: points_of(rank) for game, rank in _ranks_on_arena(ranked)}

    sources = (ranked, tournament.settings, tournament.points_map)
    return kept_value(tournament, ("points on cards", arena_id), sources, compute)


def _running_card_values(tournament: Tournament) -> Sequence[CardValue]:
    """The values of a tournament that runs, kept until a ranked card changes."""
    arena_ids = list(tournament.attempts_by_arena)
    ranked = [_ranked_on_cards(tournament, arena_id) for arena_id in arena_ids]
    points = [_points_on_cards(tournament, arena_id) for arena_id in arena_ids]

    def compute() -> Sequence[CardValue]:
        by_card: dict[int | None, list[Decimal]] = {}
        for games, earned in zip(ranked, points, strict=True):
            for game in games:
                by_card.setdefault(game.card_id, []).append(earned[game.single_player_game_id])
        return _compute_card_values(tournament, by_card)

    sources = (_ranked_card_ids(tournament), tournament.settings, *ranked, *points)
    return kept_value(tournament, "card values", sources, compute)


def _counted_card_ids(tournament: Tournament) -> frozenset[int]:
    return kept_while_equal(
        tournament,
        "counted cards",
        # Not the values, which look at every arena: each arena asks for this.
        _sources(tournament),
        lambda: frozenset(value.card_id for value in _running_card_values(tournament) if value.is_counted),
    )


def _expected_points(
    tournament: Tournament, in_progress: Sequence[SinglePlayerGame], ranked: Sequence[SinglePlayerGame]
) -> Iterable[tuple[SinglePlayerGame, Decimal]]:
    """Games of cards in progress on one arena with the points they would get; they affect no other.

    Source: formats, 14.19.
    """
    is_newest_only = _ranks_newest_card_only(tournament)
    points_of = _points_of_rank(tournament)
    scores = sorted(map(_score, ranked))
    own: dict[int, list[int]] = {}
    for game in ranked if is_newest_only else ():
        own.setdefault(game.player_id, []).append(_score(game))
    for game in in_progress:
        score = _score(game)
        # The new card would replace the player's old card where only the newest is ranked.
        replaced = sum(other > score for other in own.get(game.player_id, ()))
        yield game, points_of(_count_above(scores, score) - replaced + 1)


def _count_above(ascending: Sequence[int], score: int) -> int:
    return len(ascending) - bisect_right(ascending, score)


def _compute_card_values(
    tournament: Tournament, points: Mapping[int | None, Sequence[Decimal]]
) -> list[CardValue]:
    """The values of the ranked cards; `points` by card id, of its games."""
    assert has(tournament.settings, HasCardScoring)
    games_counted = tournament.settings.card_best_game_games_counted
    cards_counted = max(1, tournament.settings.card_best_game_cards_counted)
    by_player: dict[int, list[tuple[Decimal, Card]]] = {}
    for total_and_card in ranked_cards(tournament):
        best_first = sorted(points.get(total_and_card.card_id, ()), reverse=True)
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
                    game_count=len(points.get(total_and_card.card_id, ())),
                    is_counted=place < cards_counted,
                )
            )
    return values


def _ranks_on_arena(games: Iterable[SinglePlayerGame]) -> Iterable[tuple[SinglePlayerGame, int]]:
    """The games of one arena with their ranks, best first; equal scores share the better rank.

    Source: formats, 14.18.
    """
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
