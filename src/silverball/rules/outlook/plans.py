"""A planned night: each format with each number of rounds, and when it would end."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

import numpy as np
from msgspec import Struct

from silverball.kit.errors import Invalid
from silverball.kit.values import replace
from silverball.rules.format import Format
from silverball.rules.model.settings import TournamentSettings, read_settings
from silverball.rules.planning.pace import Pace
from silverball.rules.planning.shapes import DoesNotFit, OpenEnd
from silverball.rules.planning.simulation import Dice, simulate_minutes
from silverball.rules.worth.answers import PLAIN, Circumstances, MeaningfulGames

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
    minutes = simulate_minutes(
        shape, players=players, machines=machines, pace=pace, dice=dice, nights=NIGHTS_SIMULATED
    )
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
