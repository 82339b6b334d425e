"""Chances of a running night from ratings, by playing what is left of it many times. Chance is an argument.

Who is ahead of whom in a game follows Plackett and Luce, with the logistic scale of the ratings; unrated
players count as the mean. Future rounds are drawn at random among those who play.
"""

from collections.abc import Mapping
from math import log

import numpy as np

from silverball.rules.families import drawn_rounds
from silverball.rules.format import Format
from silverball.rules.model import settings_protocols
from silverball.rules.model.tournament import Tournament
from silverball.rules.outlook.forecast import Chance, cut_of
from silverball.rules.planning import simulation
from silverball.rules.planning.answers import nights_for
from silverball.rules.planning.nights import CertainBy, SimulatedNight
from silverball.rules.planning.simulation import Dice, DrawnNights, Flags, Numbers
from silverball.rules.scoring import point_maps

NIGHTS_SIMULATED = 1000


# A rating that is 400 higher is ten times as strong.
SCALE = log(10) / 400


def chances(
    tournament: Tournament, form: Format, ratings: Mapping[int, float], dice: Dice
) -> list[Chance] | None:
    """The chances of all who can still be placed, best first; None where they are not computed.

    ratings: player id -> rating; players without one count as the mean.
    """
    ids = [entrant.player_id for entrant in tournament.entrants]
    if tournament.status != "started" or len(ids) < 2:
        return None
    known = [ratings[player_id] for player_id in ids if player_id in ratings]
    mean = sum(known) / len(known) if known else 0.0
    strength = np.array([(ratings.get(player_id, mean) - mean) * SCALE for player_id in ids])
    shape = form.planning.shape(tournament.settings, len(ids))
    if form.planning.certain_by in {CertainBy.ROUNDS, CertainBy.GAMES}:
        keys = _keys_of_points(tournament, form, ids, strength, dice)
    elif isinstance(shape, SimulatedNight) and shape.ends_by == "strikes":
        keys = _keys_of_strikes(tournament, form, shape, ids, strength, dice)
    else:
        keys = None
    return None if keys is None else _shares(ids, keys, cut_of(tournament), dice)


def _shares(ids: list[int], keys: Numbers, cut: int | None, dice: Dice) -> list[Chance]:
    """How often each player is placed so, by final keys (nights x players); ties are broken at random."""
    order = np.argsort(-(keys + dice.random(keys.shape) * 1e-6), axis=1)
    nights = len(keys)
    wins = np.bincount(order[:, 0], minlength=len(ids)) / nights
    within = None if cut is None else np.bincount(order[:, :cut].ravel(), minlength=len(ids)) / nights
    found = [
        Chance(player_id=each, win=float(wins[at]), cut=None if within is None else float(within[at]))
        for at, each in enumerate(ids)
    ]
    return sorted(found, key=lambda chance: (-chance.win, -(chance.cut or 0.0), chance.player_id))


def _keys_of_points(
    tournament: Tournament, form: Format, ids: list[int], strength: Numbers, dice: Dice
) -> Numbers | None:
    rows = tournament.points_map
    if not rows:
        return None
    sizes = range(1, point_maps.GROUP_SIZE_MAX + 1)
    awards = [[float(points) for points in point_maps.points_by_place(rows, size)] for size in sizes]
    points = drawn_rounds.points_by_player(tournament)
    nights = nights_for(len(ids), NIGHTS_SIMULATED)
    totals = np.tile(np.array([float(points[each]) for each in ids]), (nights, 1))
    totals += simulation.awards_of_open_games(tournament, ids, awards, dice, nights, strength)
    if form.planning.certain_by is CertainBy.GAMES:
        return totals
    planned = settings_protocols.rounds_planned(tournament.settings)
    if not planned:
        return None
    running = DrawnNights(
        totals,
        np.tile(_playing(ids, tournament.active_ids), (nights, 1)),
        group_size=form.players_per_game,
        awards=awards,
        games=settings_protocols.games_per_round(tournament.settings),
        dice=dice,
        strength=strength,
    )
    for _ in range(max(0, planned - len(tournament.rounds))):
        running.play_round()
    return running.totals


def _keys_of_strikes(
    tournament: Tournament,
    form: Format,
    shape: SimulatedNight,
    ids: list[int],
    strength: Numbers,
    dice: Dice,
) -> Numbers:
    """Later out is better, then fewer strikes; whoever is in at the end is first."""
    rows = {row.player_id: row for row in form.rank(tournament)}
    strikes = [float((rows[each].strike_count if each in rows else 0) or 0) for each in ids]
    nights = nights_for(len(ids), NIGHTS_SIMULATED)
    totals = np.tile(np.array(strikes), (nights, 1))
    totals += simulation.awards_of_open_games(tournament, ids, shape.awards, dice, nights, strength)
    running = DrawnNights(
        totals,
        np.tile(_playing(ids, form.playing_ids(tournament)), (nights, 1)),
        group_size=shape.group_size,
        awards=shape.awards,
        games=shape.games_per_round,
        dice=dice,
        strength=strength,
    )
    # Players who are out already keep their order behind all others.
    places = np.array([float(rows[each].position if each in rows else len(ids)) for each in ids])
    keys = np.where(running.is_in, 0.0, -1000.0 - places)
    has_open_games = any(game.status == "started" for game in tournament.games)
    for number in range(1, simulation.ROUNDS_MAX + 1):
        if number > 1 or not has_open_games:
            if not (running.counts > 1).any():
                break
            running.play_round()
        leaving = running.leaving(shape, number)
        keys = np.where(leaving, number - running.totals / 100, keys)
        running.is_in = running.is_in & ~leaving
    return np.where(running.is_in, 1000.0, keys)


def _playing(ids: list[int], playing_ids: tuple[int, ...]) -> Flags:
    chosen = set(playing_ids)
    return np.array([each in chosen for each in ids])
