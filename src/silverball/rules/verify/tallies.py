"""Expected standings by points: match plays, round robins, flip frenzies. Source: formats, 13.4 and 14."""

from collections.abc import Callable, Mapping
from decimal import Decimal
from fractions import Fraction
from typing import Any, TypeAlias

from msgspec import Struct, structs

from silverball.rules.model.settings_protocols import (
    HasGamesPerRound,
    HasPace,
    HasTargetPoints,
    has,
    tiebreaker_of,
)
from silverball.rules.model.tournament import Game, Tournament
from silverball.rules.verify import checks
from silverball.rules.verify.checks import ZERO, Row, points_text

Keys = Mapping[int, Any]
# The tiebreakers as shown, and their sort key, higher is better.
Tiebreaks: TypeAlias = tuple[list[Any], tuple[Any, ...]]
# Takes the points of the opponents met, smallest first.
Strength: TypeAlias = Callable[[list[Decimal]], Tiebreaks]


class _NextBar(Struct, frozen=True, kw_only=True):
    """The column of a player whom the next bar may put out, by its names on the wire."""

    target: Decimal
    needed: Decimal


def opponent_sums(met: list[Decimal]) -> Tiebreaks:
    """Median-Buchholz and Solkoff: sums over the opponents. Takes their points, smallest first."""
    return _more_is_better([sum(met[1:-1], ZERO) if len(met) > 2 else ZERO, sum(met, ZERO)])


def opponent_means(met: list[Decimal]) -> Tiebreaks:
    """The same as means, exact for the order and with two decimals for the eye."""
    between = met[1:-1] if len(met) > 2 else []
    means = [Fraction(sum(listed, ZERO)) / max(len(listed), 1) for listed in (between, met)]
    # Halves are rounded away from zero.
    hundredths = [(abs(mean) * 200 + 1) // 2 * (1 if mean > 0 else -1) for mean in means]
    return [Decimal(number) / 100 for number in hundredths], tuple(means)


def group_points_table(tournament: Tournament) -> list[Row]:
    """Rows by points of groups of three and four."""
    return points_table(tournament, strength=opponent_means)


def points_table(
    tournament: Tournament, first: Keys | None = None, *, strength: Strength = opponent_sums
) -> list[Row]:
    """Rows by points, then by tiebreaker. `first` (player id -> key) sorts before the points."""
    games = checks.counted_games(tournament)
    listed = _listed_ids(tournament, games)
    totals = checks.points_of_games(games)
    points = {
        entrant: totals.get(entrant, ZERO) + checks.adjustment_total(tournament.entrant_by_id[entrant])
        for entrant in listed
    }
    played = [game for game in games if not game.is_bye]
    if tiebreaker_of(tournament.settings) == "head_to_head":
        broken = _head_to_head(points, first or {}, played)
    else:
        broken = _tiebreaks(tournament, points, played, strength)
    keys = {
        entrant: (
            (first or {}).get(entrant, 0),
            points[entrant],
            *broken[entrant][1],
            *checks.manual_order_key(tournament, entrant),
        )
        for entrant in listed
    }
    placed, added = checks.places_by_player(keys), checks.tiebreak_points(tournament)
    return [
        {
            "playerId": entrant,
            "position": placed[entrant],
            "points": points_text(points[entrant]),
            "tiebreakers": [points_text(points[entrant]), *broken[entrant][0]],
            "pointsWithTiebreaker": points_text(points[entrant] + added[entrant])
            if entrant in added
            else None,
            "gamesPlayed": sum(entrant in game.player_ids for game in games if not game.is_bye),
            "strikeCount": 0,
            "adjustment": checks.adjustment_total(tournament.entrant_by_id[entrant]),
            "activeGames": checks.open_game_ids(tournament, entrant),
        }
        for entrant in listed
    ]


def _listed_ids(tournament: Tournament, games: list[Game]) -> list[int]:
    present = {player_id for game in games for player_id in game.player_ids}
    return [
        entrant.player_id
        for entrant in tournament.entrants
        if entrant.is_active or entrant.player_id in present
    ]


def _tiebreaks(
    tournament: Tournament, points: Mapping[int, Decimal], games: list[Game], strength: Strength
) -> dict[int, Tiebreaks]:
    """Player id -> displayed tiebreakers and their sort key, higher is better."""
    way = tiebreaker_of(tournament.settings)
    ways: Mapping[str, Callable[[int], Tiebreaks]] = {
        "standard": lambda player_id: strength(_points_met(player_id, points, games)),
        "seed": lambda player_id: _fewer_is_better(
            tournament.entrant_by_id[player_id].seed_rank or len(tournament.entrants)
        ),
        "placement": lambda player_id: _more_is_better(
            [_count_places(player_id, games, 0), _count_places(player_id, games, 1)]
        ),
        "placement_last": lambda player_id: _fewer_is_better(_count_places(player_id, games, -1)),
        "wins": lambda player_id: _more_is_better([_count_places(player_id, games, 0)]),
    }
    if way not in ways:
        return {player_id: ([], ()) for player_id in points}
    return {player_id: ways[way](player_id) for player_id in points}


def _head_to_head(points: Mapping[int, Decimal], first: Keys, games: list[Game]) -> dict[int, Tiebreaks]:
    """How many of their equals each player comes before: those whom they beat, or who lost to one of these.

    Nobody comes before a player who comes before them too, and nobody where two equals have not met.
    """
    ties: dict[Any, list[int]] = {}
    for player_id, own in points.items():
        ties.setdefault((first.get(player_id), own), []).append(player_id)
    broken: dict[int, Tiebreaks] = {}
    for tied in ties.values():
        pairs = ((each, other) for each in tied for other in tied if each != other)
        has_gap = any(not _games_of_two(each, other, games) for each, other in pairs)
        ahead = {} if has_gap else {each: _not_beaten_by(each, tied, games) for each in tied}
        reached = {each: _reached_from(each, ahead) for each in ahead}
        for player_id in tied:
            broken[player_id] = _more_is_better([sum(player_id not in chain for chain in reached.values())])
    return broken


def _games_of_two(player_id: int, other_id: int, games: list[Game]) -> list[Game]:
    return [game for game in games if player_id in game.player_ids and other_id in game.player_ids]


def _not_beaten_by(player_id: int, tied: list[int], games: list[Game]) -> set[int]:
    """The tied players to whom this player has not lost more games than they won."""
    found = set()
    for other in tied:
        margin = 0
        for game in _games_of_two(player_id, other, games):
            order, points = game.result_positions, dict(zip(game.player_ids, game.result_points, strict=True))
            if set(order) == set(game.player_ids):
                margin += 1 if order.index(player_id) < order.index(other) else -1
            else:
                own, theirs = points[player_id] or ZERO, points[other] or ZERO
                margin += (own > theirs) - (own < theirs)
        if other != player_id and margin >= 0:
            found.add(other)
    return found


def _reached_from(player_id: int, ahead: Mapping[int, set[int]]) -> set[int]:
    """Those to whom a chain leads from this player, each of whom was not beaten by the next; with them."""
    found, new = {player_id}, [player_id]
    while new:
        more = ahead[new.pop()] - found
        found |= more
        new += more
    return found


def _more_is_better(values: list[Any]) -> Tiebreaks:
    return values, tuple(values)


def _fewer_is_better(value: int) -> Tiebreaks:
    return [value], (-value,)


def _points_met(player_id: int, points: Mapping[int, Decimal], games: list[Game]) -> list[Decimal]:
    """The final points of all opponents met, smallest first."""
    return sorted(
        points.get(other, ZERO)
        for game in games
        if player_id in game.player_ids
        for other in game.player_ids
        if other != player_id
    )


def _count_places(player_id: int, games: list[Game], place: int) -> int:
    """Number of games that a player finished in this place (0 is first, -1 last), byes left out."""
    orders = [game.result_positions for game in games if len(game.result_positions) > 1]
    return sum(len(order) > place and order[place] == player_id for order in orders)


def frenzy_table(tournament: Tournament) -> list[Row]:
    """Rows by net wins; points are numbers. Source: formats, section 14.14."""
    games = [game for game in checks.counted_games(tournament) if not game.is_bye]
    way = tiebreaker_of(tournament.settings)
    won = {
        entrant.player_id: sum(game.result_positions[0] == entrant.player_id for game in games)
        for entrant in tournament.entrants
    }
    lost = {
        entrant.player_id: sum(entrant.player_id in game.result_positions[1:] for game in games)
        for entrant in tournament.entrants
    }
    net = {
        entrant.player_id: won[entrant.player_id] - lost[entrant.player_id] + checks.adjustment_total(entrant)
        for entrant in tournament.entrants
    }
    second = {"wins": won, "losses": {player_id: -count for player_id, count in lost.items()}}.get(way)
    first = {player_id: (net[player_id], second[player_id] if second else 0) for player_id in net}
    listed = [standing["playerId"] for standing in points_table(tournament)]
    keys = {entrant: (*first[entrant], *checks.manual_order_key(tournament, entrant)) for entrant in listed}
    placed, added = checks.places_by_player(keys), checks.tiebreak_points(tournament)
    return [
        {
            "playerId": entrant,
            "position": placed[entrant],
            "points": net[entrant],
            "tiebreakers": [net[entrant], abs(second[entrant])] if second else [net[entrant]],
            "pointsWithTiebreaker": net[entrant] + added[entrant] if entrant in added else None,
            "gamesPlayed": won[entrant] + lost[entrant],
            "frenzyWins": won[entrant],
            "frenzyLosses": lost[entrant],
            "adjustment": checks.adjustment_total(tournament.entrant_by_id[entrant]),
            "activeGames": checks.open_game_ids(tournament, entrant),
        }
        for entrant in listed
    ]


def _points_by_round(tournament: Tournament, player_id: int) -> dict[int, Decimal]:
    """Round number (from 1) -> the player's points in it; rounds without a result are missing."""
    points_by_number: dict[int, Decimal] = {}
    number = {round_.round_id: round_.round_index + 1 for round_ in tournament.rounds}
    for game in checks.counted_games(tournament):
        if game.round_id in number and player_id in game.player_ids:
            points = game.result_points[game.player_ids.index(player_id)] or ZERO
            points_by_number[number[game.round_id]] = (
                points_by_number.get(number[game.round_id], ZERO) + points
            )
    return points_by_number


def target_table(tournament: Tournament) -> list[Row]:
    """Rows by the round in which the target was reached; players still short come last. Source: 14.15."""
    assert has(tournament.settings, HasTargetPoints)
    target = Decimal(tournament.settings.target_points)
    first: dict[int, Any] = {}
    for entrant in tournament.entrants:
        own = _points_by_round(tournament, entrant.player_id)
        reached = _round_reaching(own, target - checks.adjustment_total(entrant))
        if reached is not None and _round_reaching(own, target) != reached:
            # Adjustments count from when they were made.
            reached = max(reached, entrant.adjusted_after or 0)
        first[entrant.player_id] = (0, 0) if reached is None else (1, -reached)
    return points_table(tournament, first)


def _round_reaching(own: Mapping[int, Decimal], needed: Decimal) -> int | None:
    if needed <= 0:
        return 0
    for number in sorted(own):
        if sum((points for at, points in own.items() if at <= number), ZERO) >= needed:
            return number
    return None


def pace_table(tournament: Tournament, strength: Strength = opponent_means) -> list[Row]:
    """Rows by still in before out, then by latest out round. Source: formats, section 14.6."""
    settings = tournament.settings
    assert has(settings, HasPace)
    own = {
        entrant.player_id: _points_by_round(tournament, entrant.player_id) for entrant in tournament.entrants
    }

    def points_after(player_id: int, number: int) -> Decimal:
        won = sum((points for at, points in own[player_id].items() if at <= number), ZERO)
        return won + checks.adjustment_total(tournament.entrant_by_id[player_id])

    out: dict[int, int] = {}
    alive = {entrant.player_id for entrant in tournament.entrants if entrant.is_active}
    left_ids = [entrant.player_id for entrant in tournament.entrants if not entrant.is_active]
    for number in sorted(
        round_.round_index + 1 for round_ in tournament.rounds if round_.status == "completed"
    ):
        if number < settings.pace_initial_rounds:
            continue
        bar = settings.pace_initial_target + (number - settings.pace_initial_rounds) * settings.pace_increment
        staying = {player_id for player_id in alive if points_after(player_id, number) >= bar}
        if tournament.state.unfinished_round == number - 1:
            staying |= alive.intersection(tournament.state.unfinished_ids)
        if not staying and alive:
            best = max(points_after(player_id, number) for player_id in alive)
            staying = {player_id for player_id in alive if points_after(player_id, number) == best}
        for player_id in (
            *(alive - staying),
            *(player_id for player_id in left_ids if points_after(player_id, number) < bar),
        ):
            out.setdefault(player_id, number)
        alive = staying
    for player_id in left_ids:
        last = max(own[player_id], default=0)
        out[player_id] = min(out.get(player_id, last), last)
    first = {player_id: (0, out[player_id]) if player_id in out else (1, 0) for player_id in own}
    listed = points_table(tournament, first, strength=strength)
    return [
        {**row, "onPaceBubble": None if row["playerId"] in out else _pace_bubble(tournament, row)}
        for row in listed
    ]


def pace_table_by_sums(tournament: Tournament) -> list[Row]:
    """The rows of versions before means."""
    return pace_table(tournament, opponent_sums)


def _pace_bubble(tournament: Tournament, row: Row) -> Row | None:
    """The next bar and the points missing, for a player whom last place of four would leave below it."""
    settings = tournament.settings
    assert has(settings, HasPace)
    number = tournament.rounds_completed + 1
    if number < settings.pace_initial_rounds or tournament.status != "started":
        return None
    bar = settings.pace_initial_target + (number - settings.pace_initial_rounds) * settings.pace_increment
    games = settings.games_per_round if has(settings, HasGamesPerRound) else 1
    lowest = Decimal(str((tournament.points_map or ())[3][-1])) * games
    needed = bar - Decimal(row["points"])
    return structs.asdict(_NextBar(target=Decimal(bar), needed=needed)) if needed > lowest else None
