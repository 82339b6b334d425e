"""Merge a body into the details of a tournament, checked against the organizer's data."""

from collections.abc import Mapping
from typing import Any

import msgspec
from msgspec import UNSET
from sqlalchemy import Connection

from silverball.rules.model import fields
from silverball.service.tournaments import timing
from silverball.service.tournaments.bodies import Registration, TournamentFields
from silverball.service.tournaments.reads import belongings
from silverball_wire import times
from silverball_wire.parts import RsvpConfiguration


def merge_details(
    db: Connection, body: TournamentFields, before: Mapping[str, Any], tournament_id: int | None
) -> dict[str, Any]:
    """The details after the body is applied to those before; `tournament_id` is None for a new tournament.

    Raises Invalid for a missing or foreign location, series, occasion or link, and for a taken shortcut.
    """
    after = dict(before)
    for field in fields.DETAILS_AS_SENT:
        value = getattr(body, field.name)
        if field.is_left_out and value in (None, False):
            after.pop(field.name, None)
        elif value is not UNSET:
            after[field.name] = value
    if any(getattr(body, name) is not UNSET for name in timing.TIME_FIELDS):
        after |= timing.changed_times(body, before)
    for name in belongings.OWNED_FIELDS:
        if after[name] is not None and after[name] != before[name]:
            belongings.require_owned(db, name, after[name], after["organizer_id"])
    if after["shortcut"] is not None and after["shortcut"] != before["shortcut"]:
        belongings.require_free_slug(db, after["shortcut"], tournament_id)
    if body.links is not UNSET:
        links = [_link_fields(link) for link in body.links]
        after["links"] = _changed_links(before["links"], belongings.link_details(db, links, tournament_id))
    if body.entry_configuration is not UNSET:
        after["entry_configuration"] = msgspec.to_builtins(body.entry_configuration)
    if body.rsvp_configuration is not UNSET:
        after["rsvp_configuration"] = _registration_details(body.rsvp_configuration, after, tournament_id)
    return after


def _link_fields(link: Any) -> dict[str, Any]:
    return {
        "linked_tournament_id": link.tournament_id,
        "link_type": link.link_type,
        "link_index": link.link_index,
    }


def _changed_links(before: list[dict[str, Any]], after: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The new links, or those before when both lead to the same tournaments, so that stored copies stay."""
    pairs = zip(before, after, strict=False)
    is_same = len(before) == len(after) and all(
        old[name] == new[name]
        for old, new in pairs
        for name in ("linked_tournament_id", "link_type", "link_index")
    )
    return before if is_same else after


def _registration_details(
    registration: Registration | None, after: Mapping[str, Any], tournament_id: int | None
) -> dict[str, Any] | None:
    if registration is None:
        return None
    zone = after["timezone"]
    opens, closes = (
        timing.in_utc(f"rsvpConfiguration.{name}", moment)
        for name, moment in (("openAt", registration.open_at_utc), ("closeAt", registration.close_at_utc))
    )
    assert opens is not UNSET
    assert closes is not UNSET
    published = RsvpConfiguration(
        tournament_id=tournament_id,
        series_id=None,
        user_id=after["organizer_id"],
        status=registration.status,
        type=registration.type,
        self_checkin_status=registration.self_checkin_status,
        has_self_checkin=registration.has_self_checkin,
        request_email=registration.request_email,
        request_phone=registration.request_phone,
        player_limit=registration.player_limit,
        has_waitlist=registration.has_waitlist,
        public_list=registration.public_list,
        show_description=registration.show_description,
        custom1=registration.custom1,
        custom2=registration.custom2,
        custom3=registration.custom3,
        open_at_utc=times.iso_or_none(opens),
        open_at_local=None if opens is None else times.local(opens, zone),
        close_at_utc=times.iso_or_none(closes),
        close_at_local=None if closes is None else times.local(closes, zone),
        timezone=zone,
    )
    built: dict[str, Any] = msgspec.to_builtins(published)
    return built
