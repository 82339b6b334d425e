"""The numbers of a night counted again from its results, by a plain reading of docs/formats."""

from collections import Counter
from collections.abc import Iterable, Mapping
from fractions import Fraction

from silverball.rules.model.tournament import Tournament

# docs/formats/group_matchplay.md, `ifpa`: points by the number of players and the place.
PLACE_POINTS = {4: (7, 5, 3, 1), 3: (7, 4, 1), 2: (7, 1)}
# docs/formats/group_knockout.md, two strikes in a group of four, one in a group of three.
PLACE_STRIKES = {4: (0, 0, 1, 1), 3: (0, 0, 1), 2: (0, 1), 1: (0,)}
STROKES_MAX = 6


def recounted(night: Tournament) -> dict[int, Fraction]:
    """Player -> the number that the standings show: points, strikes in knockouts, strokes in pingolf."""
    counted = COUNTS[night.type](night)
    numbers: dict[int, Fraction] = {
        entrant.player_id: Fraction(0) for entrant in night.entrants if entrant.is_active
    }
    # Who has left is listed if they have played.
    numbers |= dict.fromkeys((player_id for order in _orders(night) for player_id in order), Fraction(0))
    for player_id, number in counted:
        numbers[player_id] = numbers.get(player_id, Fraction(0)) + Fraction(number)
    for entrant in night.entrants:
        if entrant.points_adjustment:
            numbers.setdefault(entrant.player_id, Fraction(0))
        if entrant.player_id in numbers:
            numbers[entrant.player_id] += Fraction(entrant.points_adjustment)
    return numbers


def places(numbers: Mapping[int, Fraction], *, best_is_least: bool) -> dict[int, int]:
    """Player -> place by these numbers alone; equal numbers share it."""
    ordered = sorted(numbers.values(), reverse=not best_is_least)
    return {player_id: ordered.index(number) + 1 for player_id, number in numbers.items()}


def prizes(pot_cents: int, shares: Iterable[int], shown_places: Mapping[int, int]) -> dict[int, int]:
    """Player -> cents in whole units: tied places have their shares added and divided, rounded down."""
    by_place = Counter(shown_places.values())
    given = list(shares)
    won: dict[int, int] = {}
    for player_id, place in shown_places.items():
        tied = by_place[place]
        added = sum(given[place - 1 : place - 1 + tied])
        won[player_id] = pot_cents * added // (100 * tied) // 100 * 100
    return {player_id: cents for player_id, cents in won.items() if cents}


def _orders(night: Tournament) -> Iterable[tuple[int, ...]]:
    for game in night.games:
        if game.status == "completed" and not game.is_tiebreak:
            order = game.finishing_order or game.result_positions
            yield tuple(player_id for player_id in order if player_id is not None)


def _matchplay(night: Tournament) -> Iterable[tuple[int, int]]:
    # A bye is a win as well.
    return ((order[0], 1) for order in _orders(night))


def _group_matchplay(night: Tournament) -> Iterable[tuple[int, int]]:
    return (pair for order in _orders(night) for pair in zip(order, PLACE_POINTS[len(order)], strict=True))


def _group_knockout(night: Tournament) -> Iterable[tuple[int, int]]:
    return (pair for order in _orders(night) for pair in zip(order, PLACE_STRIKES[len(order)], strict=True))


def _golf(night: Tournament) -> Iterable[tuple[int, int]]:
    holes = len(night.rounds)
    played = {(game.round_id, game.player_id): game for game in night.single_player_games}
    for entrant in night.entrants:
        own = [game for (_, player_id), game in played.items() if player_id == entrant.player_id]
        strokes = [min(int(game.points or 0), STROKES_MAX) for game in own if game.status == "completed"]
        # Who finished has a number for each hole.
        missing = holes - len(strokes) if night.status == "completed" else 0
        yield entrant.player_id, sum(strokes) + STROKES_MAX * missing


COUNTS = {
    "matchplay": _matchplay,
    "group_matchplay": _group_matchplay,
    "group_knockout": _group_knockout,
    "golf": _golf,
}
