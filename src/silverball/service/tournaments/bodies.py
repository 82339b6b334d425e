"""Bodies of the requests that change a tournament. Source: interface.md 3; formats, sections 2 and 24."""

from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from functools import cache
from typing import Annotated, Any, Literal, TypeVar, get_type_hints
from zoneinfo import ZoneInfo, available_timezones

import msgspec
from msgspec import UNSET, Meta, UnsetType

from silverball.kit.errors import Invalid
from silverball.kit.http.body import Body
from silverball.kit.http.fields import Color, Id, Line, Name, Text
from silverball.rules.commands.finals import STEPS_MAX
from silverball.rules.model.fields import DETAILS
from silverball.service.finals.bodies import NewFinal, TournamentType
from silverball_wire import base
from silverball_wire.generated.format_settings import SETTING_FIELDS, FormatSettings
from silverball_wire.values import LinkType, Status

LINKS_MAX = 20
BUNDLES_MAX = 20
PRICE_MAX = 1_000_000
ENTRIES_MAX = 1000
PLAYERS_MAX = 1000
Whole = Annotated[int, Meta(ge=0, le=PRICE_MAX)]
Price = Whole | Annotated[float, Meta(ge=0, le=PRICE_MAX)]
Currency = Annotated[str, Meta(pattern="^[A-Z]{3}$")]
Moment = Annotated[datetime, Meta(tz=True)]
# `2026-03-05 20:30:00`, or with a T in the middle.
WallClock = Annotated[str, Meta(pattern=r"^\d{4}-\d\d-\d\d[ T]\d\d:\d\d(:\d\d)?$")]
Zone = Annotated[str, Meta(min_length=1, max_length=64)]
Slug = Annotated[str, Meta(min_length=3, max_length=50, pattern="^[a-z0-9]+(-[a-z0-9]+)*$")]
TiebreakerRows = Annotated[tuple[tuple[str, ...], ...], Meta(min_length=4, max_length=4)]
B = TypeVar("B", bound=Body)


class TournamentLink(Body, frozen=True, kw_only=True):
    """A link to a tournament that precedes or follows this one."""

    tournament_id: Id
    """Id of the linked tournament."""
    link_type: LinkType
    link_index: Annotated[int, Meta(ge=0, le=1000)] | None = None


class NewEntryBundle(Body, frozen=True, kw_only=True):
    """Several entries at one price."""

    entries: Annotated[int, Meta(ge=1, le=ENTRIES_MAX)]
    price: Price


class EntrySales(Body, frozen=True, kw_only=True):
    """The entries that players get free of charge, and the prices of more."""

    limited: bool = True
    automatic_entries: Annotated[int, Meta(ge=0, le=ENTRIES_MAX)] = 0
    price: Price | None = None
    currency: Currency | None = None
    bundles: Annotated[tuple[NewEntryBundle, ...], Meta(max_length=BUNDLES_MAX)] = ()
    """Several entries sold at one price, at most twenty."""


class Registration(Body, frozen=True, kw_only=True):
    """Registration of players: when it opens and closes, and what it asks for."""

    status: Status = "active"
    """Whether the registration is in use."""
    type: Line = "open"
    """Kind of registration, as its organizer chose it."""
    self_checkin_status: Line = "inactive"
    has_self_checkin: bool = False
    request_email: bool = False
    request_phone: bool = False
    player_limit: Annotated[int, Meta(ge=1, le=100_000)] | None = None
    has_waitlist: bool = False
    public_list: bool = True
    show_description: bool = False
    custom1: Line | None = None
    custom2: Line | None = None
    custom3: Line | None = None
    open_at_utc: Moment | None = None
    close_at_utc: Moment | None = None


class TournamentFields(Body, frozen=True, kw_only=True):
    """The fields of a tournament besides its name, its type and the settings of its format."""

    description: Text | UnsetType | None = UNSET
    start_utc: Moment | UnsetType = UNSET
    """Start, in UTC; or send `startLocal`, and if both, they must agree."""
    start_local: WallClock | UnsetType = UNSET
    """Start on the clock of the time zone."""
    end_utc: Moment | UnsetType | None = UNSET
    end_local: WallClock | UnsetType | None = UNSET
    timezone: Zone | UnsetType = UNSET
    location_id: Id | UnsetType | None = UNSET
    series_id: Id | UnsetType | None = UNSET
    """Id of the series that the tournament counts for; null for none."""
    event_id: Id | UnsetType | None = UNSET
    """Id of the occasion that the tournament is part of; null for none."""
    test: bool | UnsetType = UNSET
    womens: bool | UnsetType = UNSET
    """Whether it counts in the women's ranking of the federation."""
    points_map_custom: dict[str, Any] | UnsetType | None = UNSET
    tiebreaker_points_map: TiebreakerRows | UnsetType | None = UNSET
    links: Annotated[tuple[TournamentLink, ...], Meta(max_length=LINKS_MAX)] | UnsetType = UNSET
    """Links to other tournaments, which replace all that there are."""
    rsvp_configuration: Registration | UnsetType | None = UNSET
    entry_configuration: EntrySales | UnsetType | None = UNSET
    shortcut: Slug | UnsetType | None = UNSET
    """Word of a custom link in lower case, three letters or more; null to remove it."""
    motd_text: Annotated[str, Meta(max_length=1000)] | UnsetType | None = UNSET
    motd_color: Color | UnsetType | None = UNSET
    motd_expiration: Line | UnsetType | None = UNSET


class NewTournamentFields(TournamentFields, frozen=True, kw_only=True):
    """A new tournament, without the settings of its format."""

    name: Name
    """Name of the tournament."""
    type: TournamentType
    """Format of the tournament; it never changes."""
    finals: Annotated[tuple[NewFinal, ...], Meta(max_length=STEPS_MAX)] = ()
    """Finals that it leads to, best first; each begins where the one before ends."""


class NewNightFields(NewTournamentFields, frozen=True, kw_only=True):
    """A new tournament with players and arenas of the organizer's book, as the console takes it."""

    player_ids: Annotated[tuple[Id, ...], Meta(max_length=PLAYERS_MAX)] = ()
    arena_ids: Annotated[tuple[Id, ...], Meta(max_length=PLAYERS_MAX)] = ()


class ChangedTournamentFields(TournamentFields, frozen=True, kw_only=True):
    """Changes to a tournament, without the settings of its format."""

    name: Name | UnsetType = UNSET


class UndoRequest(Body, frozen=True, kw_only=True):
    """The action to undo, which must be the newest one."""

    action: Id
    """Number of the action to undo, which must be the newest one."""


class Completion(Body, frozen=True, kw_only=True):
    """The end of a tournament, and the fate of a round that is open then."""

    open_round: Literal["keep", "drop"] = "keep"
    """`keep` the finished games of an open round and take out the others, or `drop` the whole round."""


class NewPlayoffs(Body, frozen=True, kw_only=True):
    """A tournament for the best of another one, chosen by `players`, `half`, `within`, `band` or `final`."""

    type: TournamentType | UnsetType = UNSET
    """Format of the new tournament; with `final` that of the step."""
    players: (
        Annotated[int, Meta(ge=2, le=PLAYERS_MAX)]
        | Annotated[tuple[Id, ...], Meta(min_length=2, max_length=PLAYERS_MAX)]
        | UnsetType
    ) = UNSET
    """The number of players from the top of the standings, or the ids of the players."""
    band: Annotated[int, Meta(ge=0, le=1000)] | UnsetType = UNSET
    """The `index` of one of the tournament's `playoffsCutoffs`, of which the players are taken."""
    half: Literal[True] | UnsetType = UNSET
    """In place of `players`: the upper half of the standings, at most half of them."""
    within: Decimal | UnsetType = UNSET
    """In place of `players`: all within so many points, strikes or strokes of the best."""
    final: Annotated[int, Meta(ge=0, le=100)] | UnsetType = UNSET
    """The `index` of one of the tournament's finals, which says who goes on and into what."""
    name: Name | UnsetType = UNSET
    """Name of the new tournament; without it, one made from the name of this one."""
    settings: dict[str, Any] | UnsetType = UNSET
    """Settings of the new format, by their names here; others take their defaults."""


WireSettings = dict[str, Any]
_SETTING_TYPES: Mapping[str, Any] = {
    name: hint
    for name, hint in get_type_hints(FormatSettings, include_extras=True).items()
    if name in SETTING_FIELDS
}


def _with_settings(name: str, fields: type[B]) -> type[B]:
    """The same body with the details that it is not written with, and the settings of all formats.

    The parser of a format refuses the settings of others.
    """
    more = [(field.name, field.entered_type | UnsetType, UNSET) for field in DETAILS if field.entered_type]
    settings = [(setting, hint, UNSET) for setting, hint in _SETTING_TYPES.items()]
    body = msgspec.defstruct(
        name,
        [*more, *settings],
        bases=(fields,),
        frozen=True,
        kw_only=True,
        namespace={"__doc__": fields.__doc__},
    )
    assert issubclass(body, fields)
    return body


NewTournament = _with_settings("NewTournament", NewTournamentFields)
NewNight = _with_settings("NewNight", NewNightFields)
ChangedTournament = _with_settings("ChangedTournament", ChangedTournamentFields)


def sent_settings(body: TournamentFields) -> WireSettings:
    """The settings in the body, as wire key -> value."""
    wire_keys = dict(zip(SETTING_FIELDS, FormatSettings.__struct_encode_fields__, strict=True))
    sent = {wire_keys[name]: getattr(body, name) for name in _SETTING_TYPES}
    return {key: msgspec.to_builtins(value) for key, value in sent.items() if value is not UNSET}


# Start and end of a tournament, in UTC and on the local clock.


YEARS = range(1970, 2200)
TIME_FIELDS = frozenset({"start_utc", "start_local", "end_utc", "end_local", "timezone"})


@cache
def _zone_names() -> frozenset[str]:
    return frozenset(available_timezones())


def changed_times(body: TournamentFields, before: Mapping[str, Any]) -> dict[str, Any]:
    """The five time columns after the body is applied to the details before.

    Raises Invalid for an unknown time zone or an impossible time, for a UTC time and a local time that
    disagree, and for an end before the start.
    """
    zone = before["timezone"] if body.timezone is UNSET else body.timezone
    if zone not in _zone_names():
        raise Invalid({"timezone": ["There is no such time zone. Send one like Europe/Stockholm."]})
    start = _moment("start", body.start_utc, body.start_local, zone)
    end = _moment("end", body.end_utc, body.end_local, zone)
    begins = _stored_moment(before["start_utc"]) if start is UNSET else start
    ends = _stored_moment(before["end_utc"]) if end is UNSET else end
    if begins is None:
        raise Invalid({"startUtc": ["A tournament needs a start."]})
    if ends is not None and ends < begins and (start is not UNSET or end is not UNSET):
        raise Invalid({"endUtc": ["The end is before the start."]})
    return {
        "start_utc": begins.isoformat(),
        "start_local": base.local(begins, zone),
        "end_utc": None if ends is None else ends.isoformat(),
        "end_local": None if ends is None else base.local(ends, zone),
        "timezone": zone,
    }


def _stored_moment(text: str | None) -> datetime | None:
    return None if text is None else datetime.fromisoformat(text)


def _moment(
    which: str, utc: datetime | UnsetType | None, local: str | UnsetType | None, zone: str
) -> datetime | UnsetType | None:
    """The moment that the body sets; UNSET when it sets none."""
    if local is UNSET or local is None:
        return local if utc is UNSET else in_utc(which, utc)
    assert isinstance(local, str)
    try:
        local_time = datetime.fromisoformat(local)
    except ValueError as error:
        raise Invalid({f"{which}Local": ["There is no such day or time."]}) from error
    _check_year(f"{which}Local", local_time)
    moment = existing_moment(f"{which}Local", local_time, zone)
    if isinstance(utc, datetime) and abs(utc - moment) >= timedelta(seconds=1):
        raise Invalid({f"{which}Local": [f"It is not the same time as {which}Utc. Send one of the two."]})
    return moment


def existing_moment(field: str, local_time: datetime, zone: str) -> datetime:
    """The moment in UTC at which the clocks of the zone show this time, the first if they do so twice.

    Raises Invalid with the field for a time that is left out because the clocks go forward.
    """
    moment = local_time.replace(tzinfo=ZoneInfo(zone)).astimezone(UTC)
    shown = moment.astimezone(ZoneInfo(zone)).replace(tzinfo=None)
    if shown != local_time.replace(tzinfo=None):
        sentence = (
            f"There is no {local_time:%H:%M} on {local_time:%Y-%m-%d} in {zone}: the clocks go forward. "
            f"Write {shown:%H:%M}, or an earlier time."
        )
        raise Invalid({field: [sentence]})
    return moment


def in_utc(which: str, moment: datetime | UnsetType | None) -> datetime | UnsetType | None:
    """The moment sent as `<which>Utc`, to the second. Raises Invalid for a year out of range."""
    if not isinstance(moment, datetime):
        return moment
    _check_year(f"{which}Utc", moment)
    return moment.astimezone(UTC).replace(microsecond=0)


def _check_year(name: str, moment: datetime) -> None:
    if moment.year not in YEARS:
        raise Invalid({name: [f"The year must be between {YEARS[0]} and {YEARS[-1]}."]})
