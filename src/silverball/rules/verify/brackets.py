"""Expected standings of elimination brackets and ladders. Source: formats, 14.10, 14.11 and 14.13."""

from collections import Counter
from collections.abc import Sequence
from typing import Any

from silverball.rules.drawing import bracket_nodes
from silverball.rules.drawing.bracket_nodes import BracketNode, LoserSource, NodeKey, SeedSource, WinnerSource
from silverball.rules.model.settings_protocols import HasBracketSize, HasLadderType, has
from silverball.rules.model.tournament import Game, Tournament
from silverball.rules.verify import checks, results
from silverball.rules.verify.checks import Row

NO_PLAYER = 0
# The finishing order of a match; None while it is open.
MatchOrder = tuple[int, ...] | None


def bracket_row(tournament: Tournament, player_id: int, position: int, points: Any, extra: Any = 0) -> Row:
    """A row of a player whose place is decided; points are numbers."""
    return {
        "playerId": player_id,
        "position": position,
        "points": points,
        "pointsWithTiebreaker": points + extra,
        "tiebreakers": None,
        "gamesPlayed": None,
        "strikeCount": None,
        "activeGames": checks.open_game_ids(tournament, player_id),
    }


def single_bracket_table(tournament: Tournament) -> list[Row]:
    """Rows of a single elimination bracket."""
    return _table(tournament, bracket_nodes.single_elimination_nodes(_bracket_size(tournament)))


def double_bracket_table(tournament: Tournament) -> list[Row]:
    """Rows of a double elimination bracket."""
    return _table(tournament, bracket_nodes.double_elimination_nodes(_bracket_size(tournament)))


def _bracket_size(tournament: Tournament) -> int:
    assert has(tournament.settings, HasBracketSize)
    return tournament.settings.bracket_size


def _table(tournament: Tournament, nodes: Sequence[BracketNode]) -> list[Row]:
    """Rows of players who are out or have won; points are matches won, byes included."""
    order_by_node: dict[NodeKey, MatchOrder] = {}
    seats_by_node: dict[NodeKey, list[int | None]] = {}
    spared: set[NodeKey] = set()
    for node in nodes:
        if node.reset_of is not None and _first_seat_won(
            order_by_node[node.reset_of], seats_by_node[node.reset_of]
        ):
            spared.add(node.key)
            order_by_node[node.key], seats_by_node[node.key] = (), []
            continue
        seats_by_node[node.key] = [_player_from(tournament, source, order_by_node) for source in node.sources]
        order_by_node[node.key] = _match_order(tournament, node, seats_by_node[node.key])
    placed = _places(tournament, nodes, order_by_node, seats_by_node, spared)
    won = Counter(
        order[0]
        for node in nodes
        if (order := order_by_node[node.key]) and _is_won(node, order, seats_by_node[node.key])
    )
    return [bracket_row(tournament, player_id, place, won[player_id]) for player_id, place in placed.items()]


def _first_seat_won(order: MatchOrder, seated: list[int | None]) -> bool:
    return order is not None and not (order and order[0] == seated[1])


def _player_from(tournament: Tournament, source: Any, out: dict[NodeKey, MatchOrder]) -> int | None:
    if isinstance(source, SeedSource):
        listed = checks.active_ids_by_seed(tournament)
        return listed[source.seed - 1] if source.seed <= len(listed) else NO_PLAYER
    order = out[source.node]
    if order is None:
        return None
    at = 0 if isinstance(source, WinnerSource) else 1
    return order[at] if at < len(order) else NO_PLAYER


def _match_order(tournament: Tournament, node: BracketNode, seated: list[int | None]) -> MatchOrder:
    if None in seated:
        return None
    present_ids = tuple(player_id for player_id in seated if player_id)
    if len(present_ids) < 2:
        return present_ids
    game = next(
        (game for game in _games_of_node(tournament, node) if set(game.player_ids) == set(present_ids)), None
    )
    if game is None or game.status != "completed":
        return None
    order = tuple(player_id for player_id in game.result_positions if player_id is not None)
    if len(game.gave_up_ids) > 1:
        return order
    winner = results.match_winner(tournament, game)
    # A match that was counted has no places; its winner has won enough of its games.
    return order or tuple(sorted(game.player_ids, key=lambda player_id: player_id != winner))


def _games_of_node(tournament: Tournament, node: BracketNode) -> list[Game]:
    return [
        game
        for game in tournament.games
        if game.round_id is not None
        and not game.is_bye
        and not game.is_tiebreak
        and game.game_index == node.number
    ]


def _is_won(node: BracketNode, order: tuple[int, ...], seated: list[int | None]) -> bool:
    return len(order) > 1 or (bool(seated) and not node.is_extra)


def _places(
    tournament: Tournament,
    nodes: Sequence[BracketNode],
    out: dict[NodeKey, MatchOrder],
    seats: dict[NodeKey, list[int | None]],
    spared: set[NodeKey],
) -> dict[int, int]:
    finals = [out[node.key] for node in nodes if node.winner_place == 1]
    is_closed = tournament.status == "completed" or None not in finals
    repeated = {node.reset_of for node in nodes if node.reset_of is not None and node.key not in spared}
    placed: dict[int, int] = {}
    for node in nodes:
        order = out[node.key]
        if order is None or node.key in spared:
            continue
        gone = _gave_up(tournament, node, seats[node.key])
        if len(gone) > 1:
            first = node.winner_place
            if first is not None:
                placed.update({player_id: first + at for at, player_id in enumerate(order)})
            placed.update(dict.fromkeys(gone, _shared_place(node, nodes, len(order))))
            continue
        if node.winner_place is not None:
            if node.key in repeated and not _first_seat_won(order, seats[node.key]):
                continue
            placed.update({player_id: node.winner_place + at for at, player_id in enumerate(order)})
        elif node.loser_place is not None and len(order) > 1:
            waits = node.extra_node_key is not None and not (is_closed and out[node.extra_node_key] is None)
            if not waits:
                placed[order[1]] = node.loser_place
    return placed


def _gave_up(tournament: Tournament, node: BracketNode, seated: list[int | None]) -> tuple[int, ...]:
    """Those who gave up the match of a node."""
    there = {player_id for player_id in seated if player_id}
    games = [game for game in _games_of_node(tournament, node) if set(game.player_ids) == there]
    return next((game.gave_up_ids for game in games if game.status == "completed"), ())


def _shared_place(node: BracketNode, nodes: Sequence[BracketNode], others: int) -> int:
    """The place that several share who gave up a match: that of its loser, wherever the loser goes."""
    if node.winner_place is not None:
        return node.winner_place + max(1, others)
    if node.loser_place is not None:
        return node.loser_place
    drops = [
        after.loser_place
        for after in nodes
        for source in after.sources
        if isinstance(source, LoserSource) and source.node == node.key
    ]
    assert drops[0] is not None
    return drops[0]


def ladder_table(tournament: Tournament) -> list[Row]:
    """Rows of a ladder: the last of each game is out; points are the players below. Source: 14.13."""
    alive = checks.active_ids_by_seed(tournament)
    players = len(alive)
    assert has(tournament.settings, HasLadderType)
    is_fast = tournament.settings.ladder_type == "fast"
    placed: dict[int, int] = {}
    for round_ in tournament.rounds_in_order:
        size, leaving = _ladder_step(len(alive), is_fast)
        games = [
            game for game in tournament.games if game.round_id == round_.round_id and not game.is_tiebreak
        ]
        if len(alive) < 2 or not games or set(games[0].player_ids) != set(alive[-size:]):
            break
        if games[0].status != "completed":
            break
        gone = games[0].gave_up_ids
        for player_id in gone:
            placed[player_id] = len(alive) - len(gone) + 1
        alive = [player_id for player_id in alive if player_id not in gone]
        others = [each for each in games[0].result_positions if each and each not in gone]
        for player_id in reversed(others[len(others) - max(0, leaving - len(gone)) :]):
            placed[player_id] = len(alive)
            alive.remove(player_id)
    if len(alive) == 1:
        placed[alive[0]] = 1
    return [bracket_row(tournament, player_id, place, players - place) for player_id, place in placed.items()]


def _ladder_step(alive: int, is_fast: bool) -> tuple[int, int]:
    """The size of the next game for a number of players alive, and how many of them it eliminates."""
    if not is_fast:
        return min(4, alive), 1
    if alive <= 4:
        return alive, alive - 1
    return (3, 1) if alive % 2 else (4, 2)
