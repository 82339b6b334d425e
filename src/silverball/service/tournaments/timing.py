"""Start and end of a tournament, in UTC and on the local clock."""

from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from functools import cache
from typing import Any
from zoneinfo import ZoneInfo, available_timezones

from msgspec import UNSET, UnsetType

from silverball.kit.errors import Invalid
from silverball.service.tournaments.bodies import TournamentFields
from silverball_wire import times

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
        "start_local": times.local(begins, zone),
        "end_utc": None if ends is None else ends.isoformat(),
        "end_local": None if ends is None else times.local(ends, zone),
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
    moment = local_time.replace(tzinfo=ZoneInfo(zone)).astimezone(UTC)
    if isinstance(utc, datetime) and abs(utc - moment) >= timedelta(seconds=1):
        raise Invalid({f"{which}Local": [f"It is not the same time as {which}Utc. Send one of the two."]})
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
