"""Chances of a running night from ratings, by playing what is left of it many times. Chance is an argument.

Who is ahead of whom in a game follows Plackett and Luce, with the logistic scale of the ratings; unrated
players count as the mean. Future rounds are drawn at random among those who play.
"""

from collections.abc import Mapping
from math import log

import numpy as np

from silverball.rules.families import drawn_rounds
from silverball.rules.format import CountedIn, Format
from silverball.rules.model import play_settings
from silverball.rules.model.tournament import Tournament
from silverball.rules.outlook.certainty import cut_of
from silverball.rules.outlook.forecast import Chance
from silverball.rules.planning import simulation
from silverball.rules.planning.nights import points_by_size
from silverball.rules.planning.shapes import CertainBy, RoundsUntilOut
from silverball.rules.planning.simulation import Dice, Flags, GroupTables, Numbers

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
    elif isinstance(shape, RoundsUntilOut) and form.counted_in is CountedIn.STRIKES:
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
    awards = points_by_size(rows)
    points = drawn_rounds.points_by_player(tournament)
    totals = np.tile(np.array([float(points[each]) for each in ids]), (NIGHTS_SIMULATED, 1))
    totals += _open_games(tournament, ids, awards, strength, dice)
    if form.planning.certain_by is CertainBy.GAMES:
        return totals
    planned = play_settings.rounds_planned(tournament.settings)
    if not planned:
        return None
    playing: Flags = np.tile(_playing(ids, tournament.active_ids), (NIGHTS_SIMULATED, 1))
    tables = GroupTables.for_players(len(ids), form.players_per_game == 2)
    table = tables.award_table(awards)
    games = play_settings.games_per_round(tournament.settings)
    for _ in range(max(0, planned - len(tournament.rounds)) * games):
        totals += simulation.play_round(playing, tables, table, dice, strength)
    return totals


def _keys_of_strikes(
    tournament: Tournament,
    form: Format,
    shape: RoundsUntilOut,
    ids: list[int],
    strength: Numbers,
    dice: Dice,
) -> Numbers:
    """Later out is better, then fewer strikes; whoever is in at the end is first."""
    rows = {row.player_id: row for row in form.rank(tournament)}
    strikes = [float((rows[each].strike_count if each in rows else 0) or 0) for each in ids]
    totals = np.tile(np.array(strikes), (NIGHTS_SIMULATED, 1))
    totals += _open_games(tournament, ids, shape.awards, strength, dice)
    playing: Flags = np.tile(_playing(ids, form.playing_ids(tournament)), (NIGHTS_SIMULATED, 1))
    # Players who are out already keep their order behind all others.
    places = np.array([float(rows[each].position if each in rows else len(ids)) for each in ids])
    keys = np.where(playing, 0.0, -1000.0 - places)
    tables = GroupTables.for_players(len(ids), shape.is_in_pairs)
    table = tables.award_table(shape.awards)
    for number in range(1, simulation.ROUNDS_MAX):
        if number > 1 or not any(game.status == "started" for game in tournament.games):
            is_on = playing.sum(axis=1) > 1
            if not is_on.any():
                break
            totals = totals + np.where(
                is_on[:, None], simulation.play_round(playing, tables, table, dice, strength), 0.0
            )
        leaving = playing & shape.leaves(totals, number) & (playing.sum(axis=1) > 1)[:, None]
        keys = np.where(leaving, number - totals / 100, keys)
        playing = playing & ~leaving
    return np.where(playing, 1000.0, keys)


def _playing(ids: list[int], playing_ids: tuple[int, ...]) -> Flags:
    chosen = set(playing_ids)
    return np.array([each in chosen for each in ids])


def _open_games(
    tournament: Tournament,
    ids: list[int],
    awards: Mapping[int, object],
    strength: Numbers,
    dice: Dice,
) -> Numbers:
    """Awards of the open games (nights x players)."""
    column = {player_id: at for at, player_id in enumerate(ids)}
    given = np.zeros((NIGHTS_SIMULATED, len(ids)))
    for game in tournament.games:
        row = awards.get(len(game.player_ids))
        if game.status != "started" or game.is_tiebreak or row is None:
            continue
        seats = [column[player_id] for player_id in game.player_ids]
        form = strength[seats] + dice.gumbel(size=(NIGHTS_SIMULATED, len(seats)))
        places = np.argsort(np.argsort(-form, axis=1), axis=1)
        given[:, seats] += np.array(row, dtype=np.float64)[places]
    return given
