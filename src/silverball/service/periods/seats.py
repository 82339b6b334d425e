"""Convert the seats of many tournaments to games with finishing places.

Nearly all games store their order as `resultPositions` and are converted in bulk; the others one at a
time, by the rules. NumPy is imported on first use.
"""

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from silverball.rules.ranking.regimes import StoredResult, WinLossRule
from silverball.rules.ratings import counting
from silverball.rules.ratings.counting import FinishedGame
from silverball.rules.ratings.events import GameSeats

if TYPE_CHECKING:
    from silverball.rules.ratings.kernel import Ints

# Tournament, game, slot, player, the player in this place of the order (0: nobody), points, full order.
SeatRow = Sequence[Any]
_ORDER_COLUMN = 6


def games_from_seats(seats: Sequence[SeatRow], regimes: Mapping[int, WinLossRule]) -> dict[int, GameSeats]:
    """Tournament id -> its games. Takes seats in any order, and the rule of each rated tournament."""
    import numpy as np

    if not seats:
        return {}
    table = np.array([seat[:5] for seat in seats], np.int64)
    order = np.lexsort((table[:, 2], table[:, 1], table[:, 0]))
    table = table[order]
    tournament_ids, game_ids = table[:, 0], table[:, 1]
    starts = np.flatnonzero(np.r_[True, game_ids[1:] != game_ids[:-1]])
    lengths = np.diff(np.r_[starts, len(table)])
    by_positions = [
        tournament_id for tournament_id, regime in regimes.items() if regime is WinLossRule.POSITIONS
    ]
    is_plain = np.isin(tournament_ids[starts], by_positions) & _is_order_complete(table, starts, lengths)
    has_order = np.array([seat[_ORDER_COLUMN] is not None for seat in seats])[order]
    is_plain &= ~has_order[starts] & (lengths >= counting.PLAYERS_MIN)
    games = _games_by_position(table, starts, lengths, is_plain)
    for game in np.flatnonzero(~is_plain).tolist():
        seat_numbers = order[starts[game] : starts[game] + lengths[game]].tolist()
        rows = [seats[seat] for seat in seat_numbers]
        regime = regimes.get(rows[0][0])
        places = {} if regime is None else _places_by_regime(regime, rows)
        if places:
            own = games.setdefault(rows[0][0], GameSeats())
            own.add(places, has_draws=regime is None or counting.has_draws(regime))
    return games


def _is_order_complete(table: "Ints", starts: "Ints", lengths: "Ints") -> Any:
    """For each game, whether its finishing order names all its players."""
    import numpy as np

    game = np.repeat(np.arange(len(starts)), lengths)
    players = table[np.lexsort((table[:, 3], game)), 3]
    positions = table[np.lexsort((table[:, 4], game)), 4]
    return np.logical_and.reduceat(players == positions, starts)


def _games_by_position(table: "Ints", starts: "Ints", lengths: "Ints", is_plain: Any) -> dict[int, GameSeats]:
    """Games by tournament, where the order's slot is the finishing place."""
    import numpy as np

    seated = np.repeat(is_plain, lengths)
    keys = table[seated, 4]
    place = np.arange(len(table)) - np.repeat(starts, lengths)
    places, sizes = place[seated], lengths[is_plain]
    tournament_ids = table[starts[is_plain], 0]
    if not len(tournament_ids):
        return {}
    first_games = np.flatnonzero(np.r_[True, tournament_ids[1:] != tournament_ids[:-1]])
    last_games = np.r_[first_games[1:], len(sizes)]
    ends = np.cumsum(sizes)
    games: dict[int, GameSeats] = {}
    for first, last in zip(first_games.tolist(), last_games.tolist(), strict=True):
        begin, end = (ends[first] - sizes[first]), ends[last - 1]
        lengths_of_games = sizes[first:last].tolist()
        games[int(tournament_ids[first])] = GameSeats(
            keys[begin:end].tolist(),
            places[begin:end].tolist(),
            lengths_of_games,
            list(lengths_of_games),
            [1] * len(lengths_of_games),
        )
    return games


def _places_by_regime(rule: WinLossRule, rows: Iterable[SeatRow]) -> dict[int, int]:
    """Player id -> finishing place in one game, by the rules."""
    _, _, _, player_ids, positions, points, orders = zip(*rows, strict=True)
    order = tuple(json.loads(orders[0])) if orders[0] is not None else ()
    known_positions = tuple(player_id or None for player_id in positions)
    return counting.counting_places(
        rule, FinishedGame(StoredResult(player_ids, known_positions, points), order)
    )
