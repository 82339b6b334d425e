"""Checks of game results: points computed again from places and settings. Source: formats, 9 to 12."""

from collections import Counter
from collections.abc import Sequence
from decimal import Decimal
from typing import Any

from silverball.rules.model.settings_protocols import (
    HasByes,
    HasGamesPerRound,
    HasHoles,
    HasStrikesByPlace,
    HasStrokeLimit,
    has,
)
from silverball.rules.model.tournament import Game, SinglePlayerGame, Tournament
from silverball.rules.verify.checks import FormatChecks, StrikeKind, WinsBy

# Checks of matches that are counted by their single games. Source: formats, 14.10.


def games_needed(tournament: Tournament) -> int:
    """Single games that win a match: more than half of them."""
    settings = tournament.settings
    return settings.games_per_round // 2 + 1 if has(settings, HasGamesPerRound) else 1


def is_counted(tournament: Tournament, game: Game) -> bool:
    """Whether the result of this game is the number of single games won."""
    is_pair = len(game.player_ids) == 2 and not game.is_tiebreak
    has_points = any(points is not None for points in game.result_points)
    is_without_places = set(game.result_positions) == {None} and not game.gave_up
    return tournament.settings.has_matches and is_pair and has_points and is_without_places


def match_winner(tournament: Tournament, game: Game) -> int | None:
    """The player who has won a counted match; None while nobody has."""
    needed = games_needed(tournament)
    slots = zip(game.player_ids, game.result_points, strict=True)
    return next((player_id for player_id, points in slots if points == needed), None)


def count_faults(tournament: Tournament, game: Game) -> list[str]:
    """Counts that cannot be, a wrong winner, and single games that say otherwise."""
    needed, name = games_needed(tournament), f"Match {game.game_id}"
    won = [points or 0 for points in game.result_points]
    if any(points != int(points) or not 0 <= points <= needed for points in won) or sum(won) == 2 * needed:
        return [f"{name} cannot stand at {won[0]} to {won[1]}: {needed} games win it."]
    faults = []
    winner = match_winner(tournament, game)
    if (winner is not None) != (game.status == "completed"):
        faults.append(f"{name} is {game.status} at {won[0]} to {won[1]}; {needed} games win it.")
    elif winner is not None and game.finishing_order[:1] not in {(), (winner,)}:
        faults.append(f"{name} has the winner {game.finishing_order[0]}, its games were won by {winner}.")
    legs = Counter(leg.finishing_order[0] for leg in game.legs)
    if game.legs and [legs[player_id] for player_id in game.player_ids] != won:
        faults.append(f"{name} stands at {won[0]} to {won[1]}, its single games say otherwise.")
    return faults


# The points of a tiebreak game where the tournament has none of its own, by size and place.
TIEBREAKERS = (("0.50",), ("0.50", "0.00"), ("0.50", "0.25", "0.00"), ("0.50", "0.25", "0.12", "0.00"))
ZERO = Decimal(0)
ONE = Decimal("1.00")
STROKES_MAX = 10
PINS = 10
STRIKE_POINTS = {
    StrikeKind.FAIR: {2: ("1.00", "0.01"), 3: ("1.00", "0.02", "0.01"), 4: ("1.00", "0.02", "0.02", "0.01")},
    StrikeKind.PROGRESSIVE: {
        2: ("1.00", "0.01"),
        3: ("1.00", "0.02", "0.01"),
        4: ("1.00", "0.03", "0.02", "0.01"),
    },
}
STRIKES = {
    StrikeKind.FAIR: {2: (0, 2), 3: (0, 1, 2), 4: (0, 1, 1, 2)},
    StrikeKind.PROGRESSIVE: {2: (0, 1), 3: (0, 1, 2), 4: (0, 1, 2, 3)},
}


def result_faults(tournament: Tournament, checks: FormatChecks, recorded: set[int]) -> list[str]:
    """Faults of results. Takes the ids of the games whose results were recorded here."""
    faults = []
    for game in tournament.games:
        is_checked = game.status != "completed" or game.game_id in recorded
        if is_counted(tournament, game):
            faults += count_faults(tournament, game) if is_checked else []
        elif game.status != "completed":
            if any(value is not None for value in game.result_points) or not _has_last_places_only(game):
                faults.append(f"Game {game.game_id} is open, but has a result.")
        elif is_checked:
            faults += _game_faults(tournament, game, checks)
    return faults + checks.attempt_faults(tournament)


def _has_last_places_only(game: Game) -> bool:
    """Whether an open game has no places, or only the last ones, of players who left it."""
    gone = [player_id for player_id in game.result_positions if player_id is not None]
    empty = len(game.result_positions) - len(gone)
    is_at_the_end = all(player_id is None for player_id in game.result_positions[:empty])
    return is_at_the_end and (not gone or empty >= 2) and set(gone) <= set(game.player_ids)


def _game_faults(tournament: Tournament, game: Game, checks: FormatChecks) -> list[str]:
    kind = checks.strike_kind(tournament)
    if None in game.result_points:
        return [f"Game {game.game_id} is completed, but not every player has points."]
    shown = [points for points in game.result_points if points is not None]
    if game.is_bye:
        allowed = _bye_values(tournament, kind, checks.games_per_pairing)
        return (
            []
            if shown[0] in allowed
            else [f"The bye {game.game_id} is worth {shown[0]}, not {_joined_values(allowed)}."]
        )
    order = [player_id for player_id in game.result_positions if player_id is not None]
    if game.gave_up_ids:
        return _given_up_faults(tournament, game, kind, shown)
    if game.is_tiebreak:
        return _points_faults(
            game, shown, _points_from_map(tournament.tiebreaker_points_map or TIEBREAKERS, game, order)
        )
    if kind is StrikeKind.STANDARD:
        return _standard_faults(tournament, game, shown)
    if kind in STRIKE_POINTS:
        full = _full_order(game, order)
        wanted = _points_by_slot(STRIKE_POINTS[kind][len(game.player_ids)], game, full)
        return _points_faults(game, shown, wanted)
    if sorted(order) != sorted(game.player_ids):
        return [f"The places of game {game.game_id} do not name its players."]
    return _points_faults(game, shown, _points_from_map(tournament.points_map, game, order))


def _given_up_faults(
    tournament: Tournament, game: Game, kind: StrikeKind, shown: Sequence[Decimal]
) -> list[str]:
    """Faults of a game that was given up: others have its first places, those who gave up have nothing."""
    gone, size = set(game.gave_up_ids), len(game.player_ids)
    if not gone <= set(game.player_ids):
        return [f"Somebody gave up game {game.game_id} who is not in it."]
    rows = tournament.points_map
    if game.is_tiebreak:
        rows, kind = tournament.tiebreaker_points_map or TIEBREAKERS, StrikeKind.NONE
    if kind in STRIKE_POINTS:
        expected = [Decimal(value) for value in STRIKE_POINTS[kind][size]]
    elif kind is StrikeKind.NONE:
        expected = [Decimal(str(value)) for value in (rows or ())[size - 1]] + [ZERO] * size
    else:
        return _given_up_strikes(tournament, game, shown)
    last = ZERO if kind is StrikeKind.NONE else expected[size - 1]
    by_player = dict(zip(game.player_ids, shown, strict=True))
    others = [by_player[player_id] for player_id in game.player_ids if player_id not in gone]
    is_right = all(by_player[player_id] == last for player_id in gone)
    if not is_right or sorted(others) != sorted(expected[: size - len(gone)]):
        return [f"Game {game.game_id} was given up, and its points are not those of its places."]
    order = [each for each in game.finishing_order or game.result_positions if each and each not in gone]
    points = [by_player[player_id] for player_id in order]
    if len(order) == len(others) and points != sorted(others, reverse=True):
        return [f"Game {game.game_id} has points in another order than its places."]
    return []


def _given_up_strikes(tournament: Tournament, game: Game, shown: Sequence[Decimal]) -> list[str]:
    """Each who gave up has a strike, the others those of the first places."""
    settings, size, gone = tournament.settings, len(game.player_ids), set(game.gave_up_ids)
    given = 1
    if size > 2:
        assert has(settings, HasStrikesByPlace)
        three = 1 if settings.knockout_three_player_strikes == 1 else 2
        given = three if size == 3 else settings.knockout_four_player_strikes
    struck = {player_id for player_id, points in zip(game.player_ids, shown, strict=True) if points == ZERO}
    wanted = len(gone) + max(0, given - len(gone))
    if set(shown) - {ZERO, ONE} or not gone <= struck or len(struck) != wanted:
        return [f"Game {game.game_id} was given up, and gives {len(struck)} strikes, not {wanted}."]
    return []


def _bye_values(tournament: Tournament, kind: StrikeKind, games_per_pairing: int) -> set[Decimal]:
    """Valid points of a bye: by the setting, or full points for each game lost by a departure."""
    settings = tournament.settings
    has_strikes = kind is not StrikeKind.NONE
    full = ONE if has_strikes else Decimal(str((tournament.points_map or [[1]])[0][0]))
    byes = settings.byes if has(settings, HasByes) else "full"
    each = {"half": Decimal("0.50"), "zero": ZERO}.get(byes, full)
    games = settings.games_per_round if has(settings, HasGamesPerRound) else games_per_pairing
    return {each * games, *(full * count for count in range(1, games + 1))}


def pair_strikes(_tournament: Tournament) -> StrikeKind:
    """The kind of strikes in games of two."""
    return StrikeKind.PAIRS


def group_strikes(tournament: Tournament) -> StrikeKind:
    """The kind of strikes in groups, by the settings."""
    settings = tournament.settings
    assert has(settings, HasStrikesByPlace)
    if settings.knockout_fair or settings.knockout_progressive:
        return StrikeKind.FAIR if settings.knockout_fair else StrikeKind.PROGRESSIVE
    kinds = {100: StrikeKind.PROGRESSIVE, 101: StrikeKind.FAIR}
    return kinds.get(settings.knockout_four_player_strikes, StrikeKind.STANDARD)


def group_wins(tournament: Tournament) -> WinsBy:
    """The rule for wins in groups with strikes: places count with progressive strikes only."""
    settings = tournament.settings
    assert has(settings, HasStrikesByPlace)
    return WinsBy.FINISHING_ORDER if settings.knockout_progressive else WinsBy.POINTS


def strikes_by_slot(game: Game, kind: StrikeKind) -> tuple[int, ...]:
    """The strikes of a completed game, by slot."""
    size = len(game.player_ids)
    if size == 1:
        return (0,)
    if kind in STRIKE_POINTS:
        meaning = dict(zip(map(Decimal, STRIKE_POINTS[kind][size]), STRIKES[kind][size], strict=True))
        return tuple(meaning.get(points or ZERO, -1) for points in game.result_points)
    return tuple(int(points == ZERO) for points in game.result_points)


def _standard_faults(tournament: Tournament, game: Game, shown: Sequence[Decimal]) -> list[str]:
    settings = tournament.settings
    assert has(settings, HasStrikesByPlace)
    size = len(game.player_ids)
    wanted = {
        4: settings.knockout_four_player_strikes,
        3: 1 if settings.knockout_three_player_strikes == 1 else 2,
    }
    given = sum(points == ZERO for points in shown)
    if set(shown) - {ZERO, ONE} or given != wanted.get(size, 1):
        return [f"Game {game.game_id} gives {given} strikes, not {wanted.get(size, 1)}."]
    if game.finishing_order:
        last = game.finishing_order[size - given :]
        struck = {
            player_id for player_id, points in zip(game.player_ids, shown, strict=True) if points == ZERO
        }
        if set(last) != struck:
            return [f"The strikes of game {game.game_id} are not those of its finishing order."]
    return []


def _full_order(game: Game, order: Sequence[int]) -> list[int]:
    """The full order of a game of four with three known places: the other player is second."""
    if game.finishing_order:
        return list(game.finishing_order)
    missing = [player_id for player_id in game.player_ids if player_id not in order]
    return [order[0], *missing, *order[1:]] if order else list(missing)


def _points_from_map(rows: Any, game: Game, order: Sequence[int]) -> list[Decimal]:
    return _points_by_slot((rows or ())[len(game.player_ids) - 1], game, order)


def _points_by_slot(row: Sequence[Any], game: Game, order: Sequence[int]) -> list[Decimal]:
    values = [Decimal(str(value)) for value in row] + [ZERO] * len(game.player_ids)
    return [
        values[order.index(slot_player_id)] if slot_player_id in order else Decimal(-1)
        for slot_player_id in game.player_ids
    ]


def _points_faults(game: Game, shown: Sequence[Decimal], wanted: Sequence[Decimal]) -> list[str]:
    if list(shown) == list(wanted):
        return []
    given, expected = _joined_values(shown), _joined_values(wanted)
    return [f"Game {game.game_id} gives {given} points, by its places it gives {expected}."]


def _joined_values(values: Any) -> str:
    return ", ".join(str(value) for value in (sorted(values) if isinstance(values, set) else values))


def stroke_faults(tournament: Tournament) -> list[str]:
    """Holes with impossible strokes."""
    assert has(tournament.settings, HasStrokeLimit)
    limit = tournament.settings.golf_stroke_limit or STROKES_MAX
    return [
        f"Single player game {game.single_player_game_id} has {game.points} strokes, not 1 to {limit}."
        for game in tournament.single_player_games
        if game.status == "completed" and (game.points is None or not 1 <= game.points <= limit)
    ]


def frame_faults(tournament: Tournament) -> list[str]:
    """Frames whose stored value differs from their rolls, or is none that a frame can have without them."""
    assert has(tournament.settings, HasHoles)
    faults = []
    frames = tournament.settings.golf_duration
    for games in frames_by_player(tournament).values():
        values = frame_values([games[at].rolls if at in games else () for at in range(frames)])
        for at, game in games.items():
            wanted = values[at] if at < len(values) else None
            if not game.rolls:
                if game.points is not None and not 0 <= game.points <= 3 * PINS:
                    faults.append(f"Frame {game.single_player_game_id} is worth {game.points}, not 0 to 30.")
            elif game.points != wanted:
                faults.append(
                    f"Frame {game.single_player_game_id} is worth {game.points}, its rolls give {wanted}."
                )
    return faults


def frames_by_player(tournament: Tournament) -> dict[int, dict[int, SinglePlayerGame]]:
    """Player id -> round index -> the completed game in that round."""
    index = {round_.round_id: round_.round_index for round_ in tournament.rounds}
    frames: dict[int, dict[int, SinglePlayerGame]] = {}
    for game in tournament.single_player_games:
        if game.status == "completed" and game.round_id in index:
            frames.setdefault(game.player_id, {})[index[game.round_id]] = game
    return frames


def frame_values(frames: Sequence[Sequence[int]]) -> list[int | None]:
    """Ten-pin values: a strike adds the next two rolls, a spare the next one. Source: formats, 17."""
    values: list[int | None] = []
    for at, rolls in enumerate(frames):
        later: list[int] = []
        for following in frames[at + 1 :]:
            if not following:
                break
            later += following
        is_down = at < len(frames) - 1 and sum(rolls[:2]) == PINS and bool(rolls)
        bonus = (2 if len(rolls) == 1 else 1) if is_down else 0
        is_known = bool(rolls) and len(later) >= bonus
        values.append(sum(rolls) + sum(later[:bonus]) if is_known else None)
    return values
