"""From what a body says of a tournament to the details that are kept of it, checked against the book."""

from collections.abc import Mapping
from typing import Any

import msgspec
from msgspec import UNSET
from sqlalchemy import Connection

from silverball.service.tournaments import timing
from silverball.service.tournaments.bodies import Registration, TournamentFields
from silverball.service.tournaments.reads import belongings
from silverball.wire import times
from silverball.wire.parts import RsvpConfiguration

# Fields of a body that are details as they are.
PLAIN_FIELDS = (
    "name",
    "description",
    "location_id",
    "series_id",
    "event_id",
    "test",
    "points_map_custom",
    "shortcut",
    "motd_text",
    "motd_color",
    "motd_expiration",
)


def merge_details(
    db: Connection, body: TournamentFields, before: Mapping[str, Any], tournament_id: int | None
) -> dict[str, Any]:
    """The details after this was said. Takes those before; `tournament_id` is None for a new one.

    Raises Invalid for what is not there or not the organizer's, and for a shortcut that is taken.
    """
    after = dict(before)
    for name in PLAIN_FIELDS:
        value = getattr(body, name)
        if value is not UNSET:
            after[name] = value
    if any(getattr(body, name) is not UNSET for name in timing.TIME_FIELDS):
        after |= timing.changed_times(body, before)
    for name in belongings.OWNED_FIELDS:
        if after[name] is not None and after[name] != before[name]:
            belongings.require_owned(db, name, after[name], after["organizer_id"])
    if after["shortcut"] is not None and after["shortcut"] != before["shortcut"]:
        belongings.require_free_slug(db, after["shortcut"], tournament_id)
    if body.links is not UNSET:
        wanted = [_link_fields(one) for one in body.links]
        after["links"] = _changed_links(before["links"], belongings.link_details(db, wanted, tournament_id))
    if body.entry_configuration is not UNSET:
        after["entry_configuration"] = msgspec.to_builtins(body.entry_configuration)
    if body.rsvp_configuration is not UNSET:
        after["rsvp_configuration"] = _registration_details(body.rsvp_configuration, after, tournament_id)
    return after


def _link_fields(one: Any) -> dict[str, Any]:
    return {
        "linked_tournament_id": one.tournament_id,
        "link_type": one.link_type,
        "link_index": one.link_index,
    }


def _changed_links(before: list[dict[str, Any]], after: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The links before when these lead to the same: what was said of a link stays."""
    pairs = zip(before, after, strict=False)
    is_same = len(before) == len(after) and all(
        one[name] == other[name]
        for one, other in pairs
        for name in ("linked_tournament_id", "link_type", "link_index")
    )
    return before if is_same else after


def _registration_details(
    said: Registration | None, after: Mapping[str, Any], tournament_id: int | None
) -> dict[str, Any] | None:
    if said is None:
        return None
    zone = after["timezone"]
    opens, closes = (
        timing.in_utc(f"rsvpConfiguration.{name}", moment)
        for name, moment in (("openAt", said.open_at_utc), ("closeAt", said.close_at_utc))
    )
    assert opens is not UNSET
    assert closes is not UNSET
    shown = RsvpConfiguration(
        tournament_id=tournament_id,
        series_id=None,
        user_id=after["organizer_id"],
        status=said.status,
        type=said.type,
        self_checkin_status=said.self_checkin_status,
        has_self_checkin=said.has_self_checkin,
        request_email=said.request_email,
        request_phone=said.request_phone,
        player_limit=said.player_limit,
        has_waitlist=said.has_waitlist,
        public_list=said.public_list,
        show_description=said.show_description,
        custom1=said.custom1,
        custom2=said.custom2,
        custom3=said.custom3,
        open_at_utc=times.iso_or_none(opens),
        open_at_local=None if opens is None else times.local(opens, zone),
        close_at_utc=times.iso_or_none(closes),
        close_at_local=None if closes is None else times.local(closes, zone),
        timezone=zone,
    )
    built: dict[str, Any] = msgspec.to_builtins(shown)
    return built
