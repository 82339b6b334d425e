"""Finishing places of the players of a game."""

from silverball.rules.ranking.regimes import StoredResult


def finishing_places(result: StoredResult) -> dict[int, int]:
    """Player id -> place, from 0 for the winner, in slot order.

    A complete finishing order gives the places. Where a format leaves it incomplete (strikes in
    groups), the place is the number of players with more points, so equals share the better place;
    a player without points has none. Source: samples/stats-players.json; sharing is our choice.
    """
    if result.is_ordered:
        return {player_id: result.result_positions.index(player_id) for player_id in result.player_ids}
    points = dict(zip(result.player_ids, result.result_points, strict=True))
    known = {player_id: own for player_id, own in points.items() if own is not None}
    return {player_id: sum(other > own for other in known.values()) for player_id, own in known.items()}
