"""Meaningful games of planned nights that last until somebody has won: by simulation.

Source: ratings, B.3.
"""

from fractions import Fraction

from silverball.kit.values import replace
from silverball.rules.drawing.groups import PAIR_SIZE
from silverball.rules.model.settings import TournamentSettings
from silverball.rules.model.settings_protocols import HasScoring, has, rounds_planned
from silverball.rules.planning import nights
from silverball.rules.planning.answers import (
    PLAIN,
    PLAYERS_MAX,
    Circumstances,
    MeaningfulGames,
    MeaningfulGamesRule,
    SimulatedOutcome,
    awaiting,
    no_number,
    shown_number,
)
from silverball.rules.planning.nights import DrawnNight, SimulatedNight
from silverball.rules.planning.planned import TOO_FEW, round_weight
from silverball.rules.scoring import point_maps
from silverball.rules.scoring.point_maps import WireRows

NO_POINTS = "The points of each place are not entered. With them, the meaningful games can be simulated."
TOO_MANY = f"Nights of more than {PLAYERS_MAX} players are not simulated, so there is no number."


def strikes_rule(night: DrawnNight) -> MeaningfulGamesRule:
    """Return the rule of a strike format: the mean number of rounds times the mean weight of all games."""

    def meaningful_games(
        settings: TournamentSettings, players: int, circumstances: Circumstances = PLAIN, /
    ) -> MeaningfulGames:
        """Return the simulated games until one player is left."""
        return _simulated(night(settings, players), circumstances, "until one player is left")

    return meaningful_games


def target_rule(
    settings: TournamentSettings, players: int, circumstances: Circumstances = PLAIN, /
) -> MeaningfulGames:
    """Return the simulated games of a target match play.

    As qualifying, the mean over those who reach the target; elsewhere the games of the first who does.
    """
    points_map = _known_points(settings, circumstances)
    if points_map is None:
        return no_number(NO_POINTS)
    night = replace(nights.target_night(settings, players, points_map), rounds=rounds_planned(settings))
    return _simulated(night, circumstances, "until the first is there")


def pace_rule(
    settings: TournamentSettings, players: int, circumstances: Circumstances = PLAIN, /
) -> MeaningfulGames:
    """Return the simulated games of a pace match play, counted as strikes are."""
    points_map = _known_points(settings, circumstances)
    if points_map is None:
        return no_number(NO_POINTS)
    night = nights.pace_night(settings, players, points_map)
    return _simulated(night, circumstances, "until one player is left, counted as strikes are")


def _known_points(settings: TournamentSettings, circumstances: Circumstances) -> WireRows | None:
    """The points as on the wire; None where the organizer's own are not given."""
    assert has(settings, HasScoring)
    if circumstances.points_map is not None:
        return circumstances.points_map
    is_given = settings.scoring != point_maps.CUSTOM and settings.scoring not in point_maps.IMPORT_ONLY
    return point_maps.map_of_scoring(settings.scoring) if is_given else None


def _simulated(night: SimulatedNight, circumstances: Circumstances, until: str) -> MeaningfulGames:
    if night.players < PAIR_SIZE:
        return no_number(TOO_FEW)
    if night.players > PLAYERS_MAX:
        return no_number(TOO_MANY)
    outcome = circumstances.find_outcome(night)
    if outcome is None:
        return awaiting(night)
    games = _games_of_part(outcome, circumstances)
    simulated = f"By {outcome.nights:,} simulated nights of equal players"
    if night.ends_by == "reaching" and circumstances.part == "qualifying":
        origin = (
            f"{simulated}, of {shown_number(outcome.rounds)} rounds in the mean: "
            f"who reaches the target plays {shown_number(games)} meaningful games until then."
        )
    else:
        rounds = _rounds_to_first(night, outcome) if night.ends_by == "reaching" else outcome.rounds
        origin = (
            f"{simulated}, {until}: "
            f"{shown_number(rounds)} rounds in the mean, {shown_number(games)} meaningful games."
        )
    last = 1 if night.ends_by != "reaching" else None
    return MeaningfulGames(
        games=games,
        origin="simulation",
        notes=(origin,),
        last_players=last,
        simulated_nights=outcome.nights,
    )


def _rounds_to_first(night: SimulatedNight, outcome: SimulatedOutcome) -> float:
    """The rounds until the first reaches the target: all play in each of them, so all weigh the same."""
    weight = round_weight(nights.sizes_of_round(night.players, night.group_size)) * night.games_per_round
    # Of the games as they are shown, so that readers come to the same.
    return round(outcome.meaningful_games_of_first, 2) / float(weight)


def _games_of_part(outcome: SimulatedOutcome, circumstances: Circumstances) -> Fraction:
    is_qualifying = circumstances.part == "qualifying"
    mean = outcome.meaningful_games if is_qualifying else outcome.meaningful_games_of_first
    return Fraction(mean).limit_denominator(10_000)
