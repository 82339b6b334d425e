"""Standings of the bracket family: places decided by games. Source: formats, sections 13.1 and 13.2."""

from collections import Counter
from collections.abc import Mapping
from decimal import Decimal

from silverball.kit.values import replace
from silverball.rules.mechanics.bracket_matches import BracketMatch, Matches, is_over
from silverball.rules.model.tournament import Tournament
from silverball.rules.pairing.bracket_nodes import NodeKey
from silverball.rules.ranking import standing
from silverball.rules.ranking.standing import DisplayedPoints, Standing


def bracket_standing(
    player_id: int, position: int, points: Decimal | int, tiebreak: Decimal | int = 0
) -> Standing:
    """A row of the bracket family: numbers, and null for columns that do not apply. Source: formats, 13.1."""
    return Standing(
        player_id=player_id,
        position=position,
        points=points_number(points),
        points_with_tiebreaker=points_number(points + tiebreak),
        tiebreakers=None,
        games_played=None,
        entries_played=None,
        entries_available=None,
        strike_count=None,
        adjustment=None,
    )


def points_number(value: Decimal | int) -> DisplayedPoints:
    """Points as a number, without decimals if whole."""
    return int(value) if value == int(value) else Decimal(value)


def rank(tournament: Tournament, matches: Matches) -> list[Standing]:
    """Rows of players whose place is decided, by position, then by player id.

    Takes every match of the bracket. Losers of semifinals and quarterfinals wait for the optional game
    that separates them; if it has not been played when the bracket is over, they share the place. Points
    are matches won, byes included. Source: formats, sections 13.2, 14.10 and 14.11.
    """
    if tournament.status == "planned":
        return []
    won = _matches_won(matches)
    playing = standing.active_game_ids(tournament.games)
    is_closed = tournament.status == "completed" or is_over(matches)
    rows = [
        replace(
            bracket_standing(player_id, position, won[player_id]), active_games=playing.get(player_id, ())
        )
        for player_id, position in decided_places(matches, is_closed=is_closed).items()
    ]
    return sorted(rows, key=lambda row: (row.position, row.player_id))


def decided_places(matches: Matches, *, is_closed: bool) -> dict[int, int]:
    """Player id -> place, for decided places. With `is_closed`, optional games are no longer expected."""
    placed: dict[int, int] = {}
    for match in matches.values():
        placed.update(_match_places(match, matches, is_closed=is_closed))
    return placed


def _match_places(
    match: BracketMatch, matches: Mapping[NodeKey, BracketMatch], *, is_closed: bool
) -> dict[int, int]:
    node, order = match.node, match.finishing_order
    if order is None:
        return {}
    if node.winner_place is not None:
        # After an upset in the grand final the bracket reset decides.
        if match.is_upset and any(other.node.reset_of == node.key for other in matches.values()):
            return {}
        return {player_id: node.winner_place + at for at, player_id in enumerate(order)}
    if node.loser_place is None or len(order) < 2:
        return {}
    extra = matches[node.extra_node_key] if node.extra_node_key is not None else None
    is_decided = extra is None or (is_closed and extra.finishing_order is None)
    return {order[1]: node.loser_place} if is_decided else {}


def _matches_won(matches: Matches) -> Counter[int]:
    """Player id -> matches won, byes included."""
    return Counter(
        match.finishing_order[0]
        for match in matches.values()
        if match.finishing_order and (len(match.finishing_order) > 1 or match.is_bye)
    )
