"""How a tournament may be set up and changed: its settings and points by format and state.

Source: formats, sections 2, 11 and 24. Nothing here speaks SQL.
"""

from collections.abc import Iterable, Mapping
from decimal import Decimal, InvalidOperation
from typing import Any

import msgspec

from silverball.kit.errors import Conflict, Invalid
from silverball.kit.http.body import BodyParser
from silverball.kit.http.query import humanize_name
from silverball.rules.model.settings import TournamentSettings
from silverball.rules.model.tournament import Tournament
from silverball.rules.registry import FORMATS
from silverball.rules.scoring import point_maps

# What may still be set once it has begun. Source: formats, section 2.
CHANGEABLE_WHILE_STARTED = frozenset(
    {"scorekeeping", "suggestions", "playoffsCutoffs", "pairing", "duration"}
)
# Settings that follow from what is played: what is entered is ignored.
IGNORED_SETTINGS = frozenset({"frenzyPausedSecondsLeft"})
# Fields of a body: what a completed tournament may still be given.
CHANGEABLE_WHEN_COMPLETED = frozenset({"series_id", "event_id", "links", "shortcut"})
# What the points by place follow from.
SCORING_SETTINGS = ("scoring", "best_game_scoring", "knockout_fair", "knockout_progressive")
TIEBREAK_SIZES = (1, 2, 3, 4)
_PARSERS = {type_: BodyParser(form.settings) for type_, form in FORMATS.items()}


def build_settings(
    type_: str, given: Mapping[str, Any], *, before: Mapping[str, Any] | None = None, prefix: str = ""
) -> TournamentSettings:
    """The settings of a format from wire keys and values; null and absent mean the default.

    `before` are values that stand where nothing is given, `at` is where the keys stand in the body
    (`settings.`). Raises Invalid that names each faulty key.
    """
    known = FORMATS[type_].settings.__struct_encode_fields__
    faults = {
        f"{prefix}{key}": [f"A {type_} tournament has no {humanize_name(key)}."]
        for key in given
        if key not in known
    }
    if faults:
        raise Invalid(faults)
    chosen = {key: value for key, value in given.items() if key not in IGNORED_SETTINGS}
    wanted = {**(before or {}), **chosen}
    sent = msgspec.json.encode({key: value for key, value in wanted.items() if value is not None})
    try:
        read: TournamentSettings = _PARSERS[type_].parse(sent)
    except Invalid as error:
        raise Invalid({f"{prefix}{key}": sentences for key, sentences in error.errors.items()}) from error
    except ValueError as error:
        # What a format refuses of several settings together.
        raise Invalid({f"{prefix}settings": [f"{str(error)[:1].upper()}{str(error)[1:]}."]}) from error
    _check_bands(getattr(read, "playoffs_cutoffs", ()), prefix)
    return read.with_derived()


def _check_bands(bands: Iterable[Any], at: str) -> None:
    """Raises Invalid for bands that do not follow each other from the first place on."""
    reached = 0
    for place, band in enumerate(bands):
        reached += band.value
        if band.value < 1 or band.cumulative != reached:
            sentence = (
                f"Band {place + 1} must hold players, and its cumulative is the sum up to it: {reached}."
            )
            raise Invalid({f"{at}playoffsCutoffs": [sentence]})


def changed_settings(tournament: Tournament, given: Mapping[str, Any]) -> TournamentSettings:
    """The settings with these in their place. Raises Invalid, and Conflict for what is fixed by now."""
    if not given:
        return tournament.settings
    now: dict[str, Any] = msgspec.to_builtins(tournament.settings)
    after = build_settings(tournament.type, given, before=now)
    then: dict[str, Any] = msgspec.to_builtins(after)
    differing = [key for key in then if then[key] != now[key]]
    if differing and tournament.status == "completed":
        raise Conflict("The tournament is completed. Reopen it before you change its settings.")
    if tournament.status == "started":
        _refuse_fixed([key for key in differing if key not in CHANGEABLE_WHILE_STARTED])
    return after


def _refuse_fixed(fixed: list[str]) -> None:
    if fixed:
        named = " and ".join(humanize_name(key) for key in fixed)
        raise Conflict(f"The {named} can be changed only before the start. Undo the start first.")


def refuse_when_completed(tournament: Tournament, names: Iterable[str]) -> None:
    """Raises Conflict when these fields of a body may not be changed any more."""
    if tournament.status == "completed" and not CHANGEABLE_WHEN_COMPLETED.issuperset(names):
        raise Conflict("The tournament is completed. Reopen it before you change it.")


def points_map(
    type_: str, settings: TournamentSettings, custom: Mapping[str, Any] | None
) -> point_maps.WireRows | None:
    """The points by place that these settings begin with. Raises Invalid for a custom map that is none."""
    return FORMATS[type_].points_map(settings, custom)


def changed_points_map(
    tournament: Tournament, after: TournamentSettings, custom: Mapping[str, Any] | None
) -> Any:
    """The points by place after a change of settings; a map that came with an import stays otherwise."""
    differing = [
        name
        for name in SCORING_SETTINGS
        if getattr(after, name, None) != getattr(tournament.settings, name, None)
    ]
    if custom == tournament.details["points_map_custom"] and not differing:
        return tournament.points_map
    if tournament.status != "planned":
        _refuse_fixed(["pointsMapCustom"])
    return points_map(tournament.type, after, custom)


def tiebreaker_map(rows: tuple[tuple[str, ...], ...] | None) -> point_maps.WireRows:
    """The points of tiebreak games; the usual ones for None. Raises Invalid for rows that are none."""
    if rows is None:
        return point_maps.TIEBREAKER
    for size, row in zip(TIEBREAK_SIZES, rows, strict=True):
        values = [_hundredths(value) for value in row]
        if len(row) != size or None in values:
            sentence = f"Row {size} needs {size} values with at most two decimals, like 0.25."
            raise Invalid({"tiebreakerPointsMap": [sentence]})
    return tuple(tuple(str(_hundredths(value)) for value in row) for row in rows)


def _hundredths(value: str) -> Decimal | None:
    try:
        number = Decimal(value)
    except InvalidOperation:
        return None
    if not number.is_finite() or not 0 <= number < 1 or number != round(number, 2):
        return None
    return number.quantize(Decimal("0.01"))


def changed_tiebreakers(tournament: Tournament, rows: tuple[tuple[str, ...], ...] | None) -> Any:
    """The points of tiebreak games after a change. Raises Conflict once it has begun."""
    after = tiebreaker_map(rows)
    before = [list(row) for row in tournament.tiebreaker_points_map or ()]
    if tournament.status != "planned" and [list(row) for row in after] != before:
        _refuse_fixed(["tiebreakerPointsMap"])
    return after
