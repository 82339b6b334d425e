"""Settings and points of a tournament: what its format and its status allow.

Source: formats, sections 2, 11 and 24. Nothing here speaks SQL.
"""

from collections.abc import Iterable, Mapping, Sequence
from decimal import Decimal, InvalidOperation
from functools import cache
from typing import Any

import msgspec

from silverball.kit.errors import Conflict, Invalid
from silverball.kit.http.body import BodyParser
from silverball.kit.http.query import humanize_name
from silverball.kit.values import replace
from silverball.rules.commands import finals
from silverball.rules.model.apply import apply_changes
from silverball.rules.model.finals import FinalStep
from silverball.rules.model.settings import Band, TournamentSettings, format_settings
from silverball.rules.model.settings_protocols import playoff_bands_of
from silverball.rules.model.tournament import Tournament
from silverball.rules.registry import FORMATS
from silverball.rules.scoring import point_maps

# Fields of a body that can still change after completion.
CHANGEABLE_WHEN_COMPLETED = frozenset({"series_id", "event_id", "links", "shortcut"})
# Wire keys of the settings that decide the points by place.
SCORING_KEYS = ("scoring", "bestGameScoring", "knockoutFair", "knockoutProgressive")
TIEBREAK_SIZES = (1, 2, 3, 4)


class SettingsOfCompletedTournament(Conflict):
    sentence = "The tournament is completed. Reopen it before you change its settings."


class CompletedTournamentChanged(Conflict):
    sentence = "The tournament is completed. Reopen it before you change it."


class FixedAfterStart(Conflict):
    sentence = "The {fields} can be changed only before the start. Undo the start first."


@cache
def _settings_parser(settings_type: type[TournamentSettings]) -> BodyParser:
    return BodyParser(settings_type)


def build_settings(
    type_: str, sent: Mapping[str, Any], *, before: Mapping[str, Any] | None = None, prefix: str = ""
) -> TournamentSettings:
    """Build the settings of a format from wire keys and values; null and absent mean the default.

    `before` holds the values of keys that are not given. `prefix` is the path of the keys in the body
    (`settings.`). Raises Invalid with a sentence for each faulty key.
    """
    own_keys = FORMATS[type_].settings.__struct_encode_fields__
    faults = {
        f"{prefix}{key}": [f"A {type_} tournament has no {humanize_name(key)}."]
        for key in sent
        if key not in own_keys
    }
    if faults:
        raise Invalid(faults)
    # What follows from other facts is ignored when it is sent.
    derived = {setting.key for setting in format_settings(FORMATS[type_].settings) if setting.is_derived}
    chosen = {key: value for key, value in sent.items() if key not in derived}
    # The number of rounds that was chosen for one size says nothing of another.
    forgotten = {"roundCount"} if "bracketSize" in sent else set()
    kept = {key: value for key, value in (before or {}).items() if key not in forgotten}
    merged = {key: value for key, value in ({**kept, **chosen}).items() if value is not None}
    encoded = msgspec.json.encode({**FORMATS[type_].defaults_beside(merged), **merged})
    try:
        settings: TournamentSettings = _settings_parser(FORMATS[type_].settings).parse(encoded)
    except Invalid as error:
        raise Invalid({f"{prefix}{key}": sentences for key, sentences in error.errors.items()}) from error
    except ValueError as error:
        # The format refuses a combination of settings.
        raise Invalid({f"{prefix}settings": [f"{str(error)[:1].upper()}{str(error)[1:]}."]}) from error
    _check_bands(playoff_bands_of(settings), prefix)
    # What was not sent is an import's or an earlier version's, and stands in the way of the start only.
    impossible = FORMATS[type_].setting_faults(settings).items()
    refused = {f"{prefix}{key}": [sentence] for key, sentence in impossible if key in sent}
    if refused:
        raise Invalid(refused)
    return settings.with_derived()


def _check_bands(bands: Iterable[Band], prefix: str) -> None:
    """Raise Invalid unless the bands follow each other from the first place on."""
    reached = 0
    for place, band in enumerate(bands):
        reached += band.value
        if band.value < 1 or band.cumulative != reached:
            sentence = (
                f"Band {place + 1} must hold players, and its cumulative is the sum up to it: {reached}."
            )
            raise Invalid({f"{prefix}playoffsCutoffs": [sentence]})


def changed_settings(tournament: Tournament, sent: Mapping[str, Any]) -> TournamentSettings:
    """The settings after a change. Raises Invalid, and Conflict for settings that are fixed by now."""
    if not sent:
        return tournament.settings
    before: dict[str, Any] = msgspec.to_builtins(tournament.settings)
    settings = build_settings(tournament.type, sent, before=before)
    after: dict[str, Any] = msgspec.to_builtins(settings)
    differing = [key for key in {**before, **after} if after.get(key) != before.get(key)]
    if differing and tournament.status == "completed":
        raise SettingsOfCompletedTournament
    if tournament.status == "planned":
        planned = replace(tournament, settings=settings)
        return apply_changes(planned, FORMATS[tournament.type].fit_to_players(planned)).settings
    if tournament.status == "started":
        own = format_settings(type(settings))
        changeable = {setting.key for setting in own if setting.changes_when_started}
        _refuse_fixed([key for key in differing if key not in changeable])
    return settings


def _refuse_fixed(fixed: list[str]) -> None:
    if fixed:
        fields = " and ".join(humanize_name(key) for key in fixed)
        raise FixedAfterStart(fields=fields)


def refuse_when_completed(tournament: Tournament, names: Iterable[str]) -> None:
    """Raise Conflict when the tournament is completed and these fields of a body are fixed by then."""
    if tournament.status == "completed" and not CHANGEABLE_WHEN_COMPLETED.issuperset(names):
        raise CompletedTournamentChanged


def points_map(
    type_: str, settings: TournamentSettings, custom: Mapping[str, Any] | None
) -> point_maps.WireRows | None:
    """The points by place that follow from the settings. Raises Invalid for a faulty custom map."""
    return FORMATS[type_].points_map(settings, custom)


def changed_points_map(
    tournament: Tournament, after: TournamentSettings, custom: Mapping[str, Any] | None
) -> Any:
    """The points by place after a change; an imported map stays unless its settings change."""
    before_keys, after_keys = msgspec.to_builtins(tournament.settings), msgspec.to_builtins(after)
    is_same = all(before_keys.get(key) == after_keys.get(key) for key in SCORING_KEYS)
    if is_same and custom == tournament.details["points_map_custom"]:
        return tournament.points_map
    if tournament.status != "planned":
        _refuse_fixed(["pointsMapCustom"])
    return points_map(tournament.type, after, custom)


def tiebreaker_map(rows: tuple[tuple[str, ...], ...] | None) -> point_maps.WireRows:
    """The points of tiebreak games, or the default for None. Raises Invalid for faulty rows."""
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
    """The points of tiebreak games after a change. Raises Conflict after the start."""
    after = tiebreaker_map(rows)
    before = [list(row) for row in tournament.tiebreaker_points_map or ()]
    if tournament.status != "planned" and [list(row) for row in after] != before:
        _refuse_fixed(["tiebreakerPointsMap"])
    return after


def check_finals(steps: Sequence[FinalStep], path: str) -> None:
    """Raise Invalid for a step to a final, or a setting of one, that its format cannot have."""
    for number, step in enumerate(steps):
        if step.type not in FORMATS:
            raise Invalid({f"{path}.{number}.type": [f"There is no format {step.type}."]})
        finals.check_step(step, f"{path}.{number}")
        build_settings(step.type, step.settings, prefix=f"{path}.{number}.settings.")
