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
KNOCKOUTS = ("bracket", "group_knockout")
# The game for the places 5 to 8 of a bracket.
FIFTH_PLACE = 9999


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


def left_out(night: Tournament, shown_places: Mapping[int, int]) -> dict[int, set[str]]:
    """Player -> why they are not in the file of the federation, apart from a number: docs/pages.md."""
    parts = {entrant.player_id: _parts_played(night, entrant.player_id) for entrant in night.entrants}
    whole = set().union(*parts.values())
    # Where people play when they like, all is what whoever played most has played.
    most = len(whole) if night.rounds else max(map(len, parts.values()))
    # Who is knocked out has played all that there was to play.
    measured = {
        entrant.player_id
        for entrant in night.entrants
        if night.type not in KNOCKOUTS or not entrant.is_active
    }
    reasons: dict[int, set[str]] = {}
    for player_id, played in parts.items():
        if player_id not in shown_places:
            reasons[player_id] = {"did not play"}
        elif player_id in measured and 2 * len(played) < most:
            reasons[player_id] = {"played fewer than half"}
    return reasons


def _parts_played(night: Tournament, player_id: int) -> set[tuple[int | None, int | None]]:
    """The rounds with a result of a player, or their machines where there are no rounds."""
    in_groups = {
        (game.round_id, None)
        for game in night.games
        if game.status == "completed" and not game.is_tiebreak and player_id in game.player_ids
    }
    alone = {
        (attempt.round_id, None if attempt.round_id else attempt.arena_id)
        for attempt in night.single_player_games
        if attempt.status == "completed" and attempt.player_id == player_id
    }
    return in_groups | alone


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


def _bracket(night: Tournament) -> Iterable[tuple[int, int]]:
    """The matches won in the bracket itself; whoever had no opponent in the first round has won it."""
    matches = [game for game in night.games if not game.is_tiebreak]
    winners = [(game.finishing_order or game.result_positions)[0] for game in matches]
    return [(winner, 1) for winner in winners if winner is not None]


def _best_game(night: Tournament) -> Iterable[tuple[int, int]]:
    """docs/formats/best_game.md, `bg_linear`: 100 for the best score on a machine, then 99 and so on."""
    best: dict[int, Counter[int]] = {}
    for attempt in night.single_player_games:
        if attempt.status == "completed" and attempt.arena_id is not None:
            scores = best.setdefault(attempt.arena_id, Counter())
            scores[attempt.player_id] = max(scores[attempt.player_id], attempt.score or 0)
    for scores in best.values():
        for player_id, score in scores.items():
            yield player_id, max(100 - sum(other > score for other in scores.values()), 0)


def bracket_places(night: Tournament) -> dict[int, int]:
    """Player -> place of a finished bracket, by docs/formats/bracket.md: who lost in which match."""
    shown: dict[int, int] = {}
    for game in sorted(night.games, key=lambda game: -(game.game_index or 0)):
        order = [each for each in game.finishing_order or game.result_positions if each is not None]
        if game.game_index == FIFTH_PLACE:
            continue
        if game.game_index == 1:
            shown |= {order[0]: 1, order[1]: 2}
        elif game.game_index and len(order) > 1:
            shown[order[1]] = 2 ** (game.game_index.bit_length() - 1) + 1
    for game in night.games:
        order = [each for each in game.finishing_order or game.result_positions if each is not None]
        first = {0: 3, FIFTH_PLACE: 5}.get(game.game_index if game.game_index is not None else 1)
        if first is not None:
            shown |= {player_id: first + below for below, player_id in enumerate(order)}
    return shown


COUNTS = {
    "bracket": _bracket,
    "best_game": _best_game,
    "matchplay": _matchplay,
    "group_matchplay": _group_matchplay,
    "group_knockout": _group_knockout,
    "golf": _golf,
}
