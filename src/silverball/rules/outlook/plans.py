"""A planned night: each format with each number of rounds, and when it would end."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from datetime import datetime, timedelta
from typing import Any

import numpy as np
from msgspec import Struct

from silverball.kit.errors import Invalid
from silverball.kit.values import replace
from silverball.rules.format import Format
from silverball.rules.mechanics import results
from silverball.rules.model.settings import TournamentSettings, read_settings
from silverball.rules.model.tournament import Game, Tournament
from silverball.rules.planning import simulation
from silverball.rules.planning.answers import PLAIN, Circumstances, MeaningfulGames, nights_for
from silverball.rules.planning.nights import (
    HUNDREDTHS,
    ClockNight,
    DoesNotFit,
    FreeTurns,
    OpenEnd,
    SetRounds,
    SimulatedNight,
)
from silverball.rules.planning.pace import Pace
from silverball.rules.planning.simulation import Dice, GameClock, Numbers, simulate_minutes

# For up to a hundred players.
NIGHTS_SIMULATED = 200
# The share of the simulated nights that end by the line.
LINE = 0.9
TOO_FEW = "It needs at least {count} players."


class PlannedNight(Struct, frozen=True, kw_only=True):
    """One format with one choice of its settings."""

    form: Format
    # The settings in which the choices differ, by wire key.
    choice: Mapping[str, Any]
    settings: TournamentSettings
    # Minutes from the first game to the last result: the mean, and the line that nine of ten nights keep.
    expected: float | None = None
    line: float | None = None
    # Why there are no minutes, as a sentence.
    note: str | None = None
    # None where so many players cannot play it.
    meaningful_games: MeaningfulGames | None = None

    @property
    def label(self) -> str:
        """The choice in words: 7 rounds."""
        value = next(iter(self.choice.values()), None)
        if value is None:
            return "As it comes"
        if isinstance(value, str):
            return f"{value.capitalize()} {self.form.planning.unit}"
        if value == 0:
            return "Everybody in one group"
        return f"{value} {self.form.planning.unit}"


def plan_nights(
    forms: Iterable[Format],
    *,
    players: int,
    machines: int,
    pace_of: Callable[[Format], Pace],
    dice: Dice,
    circumstances: Circumstances = PLAIN,
) -> Iterator[PlannedNight]:
    """Every format with every choice of its settings, in the order of the registry.

    players: at least 2. machines: at least 1. pace_of: the pace of a format. circumstances: those of the
    night, for its meaningful games.
    """
    for form in forms:
        pace = pace_of(form)
        for each in form.planning.choices:
            choice = {**each, **form.planning.fitted(players)}
            settings = read_settings(form.settings, choice)
            yield plan_night(
                form,
                settings,
                choice,
                players=players,
                machines=machines,
                pace=pace,
                dice=dice,
                circumstances=circumstances,
            )


def plan_night(
    form: Format,
    settings: TournamentSettings,
    choice: Mapping[str, Any],
    *,
    players: int,
    machines: int,
    pace: Pace,
    dice: Dice,
    circumstances: Circumstances = PLAIN,
) -> PlannedNight:
    """One format with these settings; a note in place of minutes where it has no end or does not fit."""
    if players < form.players_min:
        note = TOO_FEW.format(count=form.players_min)
        return PlannedNight(form=form, choice=choice, settings=settings, note=note)
    try:
        shape = form.planning.shape(settings, players)
    except DoesNotFit as refusal:
        return PlannedNight(form=form, choice=choice, settings=settings, note=str(refusal))
    except Invalid as refusal:
        return PlannedNight(form=form, choice=choice, settings=settings, note=refusal.text())
    games = form.meaningful_games(settings, players, replace(circumstances, pace=pace))
    nights = nights_for(players, NIGHTS_SIMULATED)
    minutes = simulate_minutes(shape, players=players, machines=machines, pace=pace, dice=dice, nights=nights)
    if minutes is None:
        assert isinstance(shape, OpenEnd)
        return PlannedNight(
            form=form, choice=choice, settings=settings, note=shape.reason, meaningful_games=games
        )
    return PlannedNight(
        form=form,
        choice=choice,
        settings=settings,
        expected=float(minutes.mean()),
        line=float(np.quantile(minutes, LINE)),
        meaningful_games=games,
    )


# When a running night ends: what is left of its shape, from how it stands. Chance is an argument.


NOT_STARTED = "It has not begun."


class Projection(Struct, frozen=True, kw_only=True):
    """The end of a running night: on average, and the line that nine of ten simulated nights keep."""

    expected: datetime | None = None
    line: datetime | None = None
    # Why there is no end, as a sentence.
    note: str | None = None


def project_end(tournament: Tournament, form: Format, pace: Pace, dice: Dice, now: datetime) -> Projection:
    """The end of a tournament as it stands, seen from now; a note where it has no end of its own."""
    if tournament.status != "started":
        return Projection(note=NOT_STARTED)
    players = len(tournament.active_ids)
    machines = max(1, sum(arena.is_active for arena in tournament.lineup) or players // 2)
    try:
        shape = form.planning.shape(tournament.settings, players)
    except (DoesNotFit, Invalid, ValueError) as refusal:
        return Projection(note=refusal.text() if isinstance(refusal, Invalid) else str(refusal))
    clock = GameClock(pace, dice, nights_for(players, NIGHTS_SIMULATED))
    if isinstance(shape, OpenEnd):
        return Projection(note=shape.reason)
    if isinstance(shape, ClockNight):
        left = _minutes_of_clock(tournament, shape, machines, clock, now)
    elif isinstance(shape, FreeTurns):
        left = _minutes_of_turns(tournament, shape, machines, clock)
    else:
        left = _minutes_of_rounds(tournament, form, shape, machines, clock, dice, now)
    return Projection(
        expected=now + timedelta(minutes=float(left.mean())),
        line=now + timedelta(minutes=float(np.quantile(left, LINE))),
    )


def _minutes_of_clock(
    tournament: Tournament, shape: ClockNight, machines: int, clock: GameClock, now: datetime
) -> Numbers:
    ends_at = tournament.state.clock_ends_at
    # A paused clock goes on with what the whole one had.
    rest = shape.minutes if ends_at is None else max((ends_at - now).total_seconds() / 60, 0.0)
    lanes = max(1, min(machines, len(tournament.active_ids) // shape.size))
    return np.asarray(rest + clock.running_minutes(shape.size, lanes).max(axis=1))


def _minutes_of_turns(tournament: Tournament, shape: FreeTurns, machines: int, clock: GameClock) -> Numbers:
    """Games left of those that everybody plays; each running game counts as half."""
    players = len(tournament.active_ids)
    games = [game for game in tournament.games if not game.is_bye and not game.is_tiebreak]
    attempts = [attempt for attempt in tournament.single_player_games if not attempt.is_voided]
    done = sum(game.status == "completed" for game in games)
    done += sum(attempt.status == "completed" for attempt in attempts)
    left = max(0, -(-players * shape.turns // shape.size) - done)
    return simulation.minutes_of_turns(shape, left, players, machines, clock)


def _minutes_of_rounds(
    tournament: Tournament,
    form: Format,
    shape: SetRounds | SimulatedNight,
    machines: int,
    clock: GameClock,
    dice: Dice,
    now: datetime,
) -> Numbers:
    """The open games of the round, then the rounds that follow."""
    newest = tournament.newest_round
    # Formats that open all rounds at once are as far as their first open one.
    open_rounds = [round_ for round_ in tournament.rounds_in_order if round_.status != "completed"]
    current = open_rounds[0] if open_rounds else None
    began = len(tournament.rounds) if newest is not None else 0
    begun = current.round_index + 1 if current is not None else began
    running = _minutes_of_open_games(
        tournament, None if current is None else current.round_id, machines, clock, now
    )
    if isinstance(shape, SetRounds):
        rest = simulation.minutes_of_rounds(replace(shape, rounds=shape.rounds[begun:]), machines, clock)
        return np.asarray(running + rest + clock.gap * (rest > 0))
    playing_ids = form.playing_ids(tournament)
    totals = np.tile(_totals(tournament, form, shape, playing_ids), (clock.nights, 1))
    totals += simulation.awards_of_open_games(tournament, playing_ids, shape.awards, dice, clock.nights)
    is_in = np.ones(totals.shape, dtype=bool)
    if current is not None:
        is_in &= ~simulation.leaving(shape, totals, is_in, begun)
    rest = simulation.minutes_until_out(shape, totals, is_in, machines, clock, dice, rounds_completed=begun)
    return np.asarray(running + rest + clock.gap * (rest > 0))


def _minutes_of_open_games(
    tournament: Tournament, round_id: int | None, machines: int, clock: GameClock, now: datetime
) -> Numbers:
    """Until the last open game of the round ends; a game that runs already has less left."""
    games = [
        game
        for game in tournament.games
        if game.status == "started" and not game.is_bye and (round_id is None or game.round_id == round_id)
    ]
    if not games:
        return np.zeros(clock.nights)
    sizes = np.array([min(max(len(game.player_ids), 2), 4) for game in games], dtype=np.int64)
    passed = np.array([_minutes_played(game, now) for game in games])
    lengths = clock.minutes(sizes)
    # However long it has lasted already, a game that is not over needs a part of its length yet.
    left = np.maximum(lengths - passed, lengths * 0.15)
    return simulation.last_result(left, machines, 0.0)


def _minutes_played(game: Game, now: datetime) -> float:
    """The minutes that a game has lasted, without those in which it waits for its machine."""
    if game.started_at is None:
        return 0.0
    return (results.clock_of(game, now) - game.started_at).total_seconds() / 60


def _totals(
    tournament: Tournament, form: Format, shape: SimulatedNight, playing_ids: tuple[int, ...]
) -> Numbers:
    """Strikes or hundredths of points of those who play on, as the standings have them."""
    rows = {row.player_id: row for row in form.rank(tournament)}
    is_struck = shape.ends_by == "strikes"
    found = [rows[player_id] for player_id in playing_ids if player_id in rows]
    counted = {row.player_id: row.strike_count if is_struck else row.points for row in found}
    unit = 1 if is_struck else HUNDREDTHS
    return np.array([float(counted.get(player_id) or 0) * unit for player_id in playing_ids])
