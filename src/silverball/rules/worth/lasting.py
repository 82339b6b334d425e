"""Meaningful games of planned nights that last until somebody has won: by simulation.

Source: ratings, B.3.
"""

from collections.abc import Callable
from fractions import Fraction

from silverball.rules.drawing.groups import GROUP_SIZE, PAIR_SIZE
from silverball.rules.model.play_settings import games_per_round, rounds_planned
from silverball.rules.model.settings import TournamentSettings
from silverball.rules.model.settings_protocols import (
    HasPace,
    HasScoring,
    HasStrikeCount,
    HasTargetPoints,
    has,
)
from silverball.rules.scoring import point_maps, strikes
from silverball.rules.scoring.point_maps import WireRows
from silverball.rules.scoring.strikes import StrikeSettings
from silverball.rules.worth.answers import (
    PLAIN,
    PLAYERS_MAX,
    Awards,
    Circumstances,
    MeaningfulGames,
    MeaningfulGamesRule,
    SimulatedNight,
    SimulatedOutcome,
    awaiting,
    no_number,
    shown_number,
)
from silverball.rules.worth.planned import TOO_FEW

NO_POINTS = "The points of each place are not entered. With them, the meaningful games can be simulated."
TOO_MANY = f"Nights of more than {PLAYERS_MAX} players are not simulated, so there is no number."
HUNDREDTHS = 100


def strikes_rule(
    group_size: int, strike_settings: Callable[[TournamentSettings], StrikeSettings]
) -> MeaningfulGamesRule:
    """Return the rule of a strike format: the mean number of rounds times the mean weight of all games."""

    def meaningful_games(
        settings: TournamentSettings, players: int, circumstances: Circumstances = PLAIN, /
    ) -> MeaningfulGames:
        """Return the simulated games until one player is left."""
        assert has(settings, HasStrikeCount)
        chosen = strike_settings(settings)
        given = tuple(
            strikes.strikes_by_place(chosen, size) if size <= group_size else ()
            for size in range(1, GROUP_SIZE + 1)
        )
        night = SimulatedNight(
            ends_by="strikes",
            players=players,
            group_size=group_size,
            awards=given,
            limit=settings.knockout_strike_count,
        )
        return _simulated(night, circumstances, "until one player is left")

    return meaningful_games


def target_rule(
    settings: TournamentSettings, players: int, circumstances: Circumstances = PLAIN, /
) -> MeaningfulGames:
    """Return the simulated games of a target match play.

    As qualifying, the mean over those who reach the target; elsewhere the games of the first who does.
    """
    assert has(settings, HasTargetPoints)
    awards = _point_awards(settings, circumstances)
    if awards is None:
        return no_number(NO_POINTS)
    night = SimulatedNight(
        ends_by="reaching",
        players=players,
        group_size=GROUP_SIZE,
        awards=awards,
        limit=settings.target_points * HUNDREDTHS,
        games_per_round=games_per_round(settings),
        rounds=rounds_planned(settings),
    )
    who = "of all who reach the target" if circumstances.part == "qualifying" else "until the first is there"
    return _simulated(night, circumstances, who)


def pace_rule(
    settings: TournamentSettings, players: int, circumstances: Circumstances = PLAIN, /
) -> MeaningfulGames:
    """Return the simulated games of a pace match play, counted as strikes are."""
    assert has(settings, HasPace)
    awards = _point_awards(settings, circumstances)
    if awards is None:
        return no_number(NO_POINTS)
    night = SimulatedNight(
        ends_by="pace",
        players=players,
        group_size=GROUP_SIZE,
        awards=awards,
        limit=settings.pace_initial_target * HUNDREDTHS,
        games_per_round=games_per_round(settings),
        bar_from_round=settings.pace_initial_rounds,
        bar_increment=settings.pace_increment * HUNDREDTHS,
    )
    return _simulated(night, circumstances, "until one player is left, counted as strikes are")


def _point_awards(settings: TournamentSettings, circumstances: Circumstances) -> Awards | None:
    """The points by group size and place in hundredths; None where the organizer's own are not given."""
    assert has(settings, HasScoring)
    rows: WireRows | None = circumstances.points_map
    if rows is None:
        if settings.scoring == point_maps.CUSTOM or settings.scoring in point_maps.IMPORT_ONLY:
            return None
        rows = point_maps.map_of_scoring(settings.scoring)
    return tuple(
        tuple(int(points * HUNDREDTHS) for points in point_maps.points_by_place(rows, size))
        for size in range(1, GROUP_SIZE + 1)
    )


def _simulated(night: SimulatedNight, circumstances: Circumstances, until: str) -> MeaningfulGames:
    if night.players < PAIR_SIZE:
        return no_number(TOO_FEW)
    if night.players > PLAYERS_MAX:
        return no_number(TOO_MANY)
    outcome = circumstances.find_outcome(night)
    if outcome is None:
        return awaiting(night)
    games = _games_of_part(outcome, circumstances)
    origin = (
        f"By {outcome.nights:,} simulated nights of equal players, {until}: "
        f"{shown_number(outcome.rounds)} rounds in the mean, {shown_number(games)} meaningful games."
    )
    last = 1 if night.ends_by != "reaching" else None
    return MeaningfulGames(
        games=games,
        origin="simulation",
        notes=(origin,),
        last_players=last,
        simulated_nights=outcome.nights,
    )


def _games_of_part(outcome: SimulatedOutcome, circumstances: Circumstances) -> Fraction:
    is_qualifying = circumstances.part == "qualifying"
    mean = outcome.meaningful_games if is_qualifying else outcome.meaningful_games_of_first
    return Fraction(mean).limit_denominator(10_000)
