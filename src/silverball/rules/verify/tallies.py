"""Tables by points: match plays, round robins, targets, paces, frenzies. Source: formats, 13.4 and 14."""

from collections.abc import Callable, Mapping
from decimal import Decimal
from typing import Any

from silverball.rules.model.tournament import Game, Tournament
from silverball.rules.verify import rows
from silverball.rules.verify.rows import ZERO, Row, points_text

Keys = Mapping[int, Any]


def points_table(tournament: Tournament, first: Keys | None = None) -> list[Row]:
    """Points, then the tiebreaker. `first` ranks before them: player id -> key."""
    games = rows.counted_games(tournament)
    listed = _listed_ids(tournament, games)
    totals = rows.points_of_games(games)
    points = {
        one: totals.get(one, ZERO) + rows.adjustment_total(tournament.entrant_by_id[one]) for one in listed
    }
    broken = _tiebreaks(tournament, points, [game for game in games if not game.is_bye])
    keys = {
        one: (
            (first or {}).get(one, 0),
            points[one],
            *broken[one][1],
            *rows.manual_order_key(tournament, one),
        )
        for one in listed
    }
    placed, added = rows.places_by_player(keys), rows.tiebreak_points(tournament)
    return [
        {
            "playerId": one,
            "position": placed[one],
            "points": points_text(points[one]),
            "tiebreakers": [points_text(points[one]), *broken[one][0]],
            "pointsWithTiebreaker": points_text(points[one] + added[one]) if one in added else None,
            "gamesPlayed": sum(one in game.player_ids for game in games if not game.is_bye),
            "strikeCount": 0,
            "adjustment": rows.adjustment_total(tournament.entrant_by_id[one]),
            "activeGames": rows.open_game_ids(tournament, one),
        }
        for one in listed
    ]


def _listed_ids(tournament: Tournament, games: list[Game]) -> list[int]:
    present = {player_id for game in games for player_id in game.player_ids}
    return [one.player_id for one in tournament.entrants if one.is_active or one.player_id in present]


def _tiebreaks(
    tournament: Tournament, points: Mapping[int, Decimal], games: list[Game]
) -> dict[int, tuple[list[Any], tuple[Any, ...]]]:
    """Player id -> what is shown beside the points, and what ranks (more is better)."""
    way = getattr(tournament.settings, "tiebreaker", "disabled")
    ways: Mapping[str, Callable[[int], tuple[list[Any], tuple[Any, ...]]]] = {
        "standard": lambda one: _more_is_better(_opponent_strength(one, points, games)),
        "seed": lambda one: _fewer_is_better(
            tournament.entrant_by_id[one].seed_rank or len(tournament.entrants)
        ),
        "placement": lambda one: _more_is_better(
            [_count_places(one, games, 0), _count_places(one, games, 1)]
        ),
        "placement_last": lambda one: _fewer_is_better(_count_places(one, games, -1)),
        "wins": lambda one: _more_is_better([_count_places(one, games, 0)]),
    }
    if way not in ways:
        return {one: ([], ()) for one in points}
    return {one: ways[way](one) for one in points}


def _more_is_better(values: list[Any]) -> tuple[list[Any], tuple[Any, ...]]:
    return values, tuple(values)


def _fewer_is_better(value: int) -> tuple[list[Any], tuple[Any, ...]]:
    return [value], (-value,)


def _opponent_strength(player_id: int, points: Mapping[int, Decimal], games: list[Game]) -> list[Decimal]:
    """Median-Buchholz and Solkoff: what the opponents of every game have in the end."""
    met = [
        points.get(other, ZERO)
        for game in games
        if player_id in game.player_ids
        for other in game.player_ids
        if other != player_id
    ]
    all_of_them = sum(met, ZERO)
    return [all_of_them - max(met) - min(met) if len(met) > 2 else ZERO, all_of_them]


def _count_places(player_id: int, games: list[Game], place: int) -> int:
    """How often a player finished in this place (0 is first, -1 last) of a game with others."""
    orders = [game.result_positions for game in games if len(game.result_positions) > 1]
    return sum(len(order) > place and order[place] == player_id for order in orders)


def frenzy_table(tournament: Tournament) -> list[Row]:
    """Wins against losses; points are numbers. Source: formats, 14.14."""
    games = [game for game in rows.counted_games(tournament) if not game.is_bye]
    way = getattr(tournament.settings, "tiebreaker", "disabled")
    won = {
        one.player_id: sum(game.result_positions[0] == one.player_id for game in games)
        for one in tournament.entrants
    }
    lost = {
        one.player_id: sum(one.player_id in game.result_positions[1:] for game in games)
        for one in tournament.entrants
    }
    net = {
        one.player_id: won[one.player_id] - lost[one.player_id] + rows.adjustment_total(one)
        for one in tournament.entrants
    }
    second = {"wins": won, "losses": {one: -count for one, count in lost.items()}}.get(way)
    first = {one: (net[one], second[one] if second else 0) for one in net}
    listed = [row["playerId"] for row in points_table(tournament)]
    keys = {one: (*first[one], *rows.manual_order_key(tournament, one)) for one in listed}
    placed, added = rows.places_by_player(keys), rows.tiebreak_points(tournament)
    return [
        {
            "playerId": one,
            "position": placed[one],
            "points": net[one],
            "tiebreakers": [net[one], abs(second[one])] if second else [net[one]],
            "pointsWithTiebreaker": net[one] + added[one] if one in added else None,
            "gamesPlayed": won[one] + lost[one],
            "frenzyWins": won[one],
            "frenzyLosses": lost[one],
            "adjustment": rows.adjustment_total(tournament.entrant_by_id[one]),
            "activeGames": rows.open_game_ids(tournament, one),
        }
        for one in listed
    ]


def _points_by_round(tournament: Tournament, player_id: int) -> dict[int, Decimal]:
    """Number of the round, from 1 -> points a player has won in it; only rounds with a result."""
    found: dict[int, Decimal] = {}
    number = {one.round_id: one.round_index + 1 for one in tournament.rounds}
    for game in rows.counted_games(tournament):
        if game.round_id in number and player_id in game.player_ids:
            points = game.result_points[game.player_ids.index(player_id)] or ZERO
            found[number[game.round_id]] = found.get(number[game.round_id], ZERO) + points
    return found


def target_table(tournament: Tournament) -> list[Row]:
    """Who reached the target earlier is before who did later, and before who did not. Source: 14.15."""
    target = Decimal(int(getattr(tournament.settings, "target_points", 0)))
    first: dict[int, Any] = {}
    for one in tournament.entrants:
        own = _points_by_round(tournament, one.player_id)
        reached = _round_reaching(own, target - rows.adjustment_total(one))
        if reached is not None and _round_reaching(own, target) != reached:
            # Points given by hand count from when they were given.
            reached = max(reached, one.adjusted_after or 0)
        first[one.player_id] = (0, 0) if reached is None else (1, -reached)
    return points_table(tournament, first)


def _round_reaching(own: Mapping[int, Decimal], needed: Decimal) -> int | None:
    if needed <= 0:
        return 0
    for number in sorted(own):
        if sum((points for at, points in own.items() if at <= number), ZERO) >= needed:
            return number
    return None


def pace_table(tournament: Tournament) -> list[Row]:
    """Who is in is before who is out, the later out the better. Source: formats, 14.6."""
    chosen: Any = tournament.settings
    own = {one.player_id: _points_by_round(tournament, one.player_id) for one in tournament.entrants}

    def has(player_id: int, number: int) -> Decimal:
        won = sum((points for at, points in own[player_id].items() if at <= number), ZERO)
        return won + rows.adjustment_total(tournament.entrant_by_id[player_id])

    out: dict[int, int] = {}
    alive = {one.player_id for one in tournament.entrants if one.is_active}
    gone = [one.player_id for one in tournament.entrants if not one.is_active]
    for done in sorted(one.round_index + 1 for one in tournament.rounds if one.status == "completed"):
        if done < chosen.pace_initial_rounds:
            continue
        bar = chosen.pace_initial_target + (done - chosen.pace_initial_rounds) * chosen.pace_increment
        stay = {one for one in alive if has(one, done) >= bar}
        if not stay and alive:
            best = max(has(one, done) for one in alive)
            stay = {one for one in alive if has(one, done) == best}
        for one in (*(alive - stay), *(one for one in gone if has(one, done) < bar)):
            out.setdefault(one, done)
        alive = stay
    for player_id in gone:
        last = max(own[player_id], default=0)
        out[player_id] = min(out.get(player_id, last), last)
    return points_table(tournament, {one: (0, out[one]) if one in out else (1, 0) for one in own})
