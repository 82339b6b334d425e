"""Tournaments: a row in its published shape, and the check that one exists."""

from collections.abc import Callable, Mapping
from typing import Any

import msgspec
from msgspec import UNSET, Struct
from sqlalchemy import Column, ColumnElement, Connection, Select, bindparam, literal, select, type_coerce

from silverball.kit.errors import Invalid, NotFound, WrongFormat
from silverball.kit.values import compile_builder
from silverball.rules.format import Format, PlayKind
from silverball.rules.model import fields
from silverball.rules.model.fields import PartField
from silverball.rules.model.refusals import (
    NotABestGame,
    NotAFrenzy,
    NotAMatchPlay,
    NotAMaxMatchPlay,
    NotAnAmazingRace,
)
from silverball.rules.ranking.standing import WinLossRule
from silverball.rules.registry import FORMATS
from silverball.service.core.access import AuthenticatedCaller
from silverball.service.tournaments import bodies as tournaments_bodies
from silverball.service.tournaments.bodies import Registration, TournamentFields
from silverball.service.users import reads as users
from silverball.service.venues import reads as venues_reads
from silverball.store import tables
from silverball.store.database.statements import NamedRow, RowMapper
from silverball.store.tables import tournament
from silverball.store.types import IsoText
from silverball_wire import base
from silverball_wire.generated.format_settings import FormatSettings
from silverball_wire.parts import RsvpConfiguration
from silverball_wire.tournaments import Tournament

_TOURNAMENT = tables.tournament.c
# Written as older clients read them, without a zone.
_PLAIN_TIMES = ("created_at", "updated_at")
_SHOWN = fields.shown_columns(fields.TOURNAMENT)


def _shown_column(field: PartField) -> ColumnElement[Any]:
    column = _TOURNAMENT[field.stored_in]
    is_iso = field.kind == "moment" and field.name not in _PLAIN_TIMES
    return type_coerce(column, IsoText) if is_iso else column


ROW = RowMapper(
    *map(_shown_column, _SHOWN),
    _TOURNAMENT.settings,
    organizer=users.ROW,
    location=venues_reads.LOCATIONS_ROW,
)
_build_item = compile_builder(
    Tournament,
    fields.published_sources(
        [field for field in _SHOWN if field.name != "points_map"], dict.fromkeys(_PLAIN_TIMES, base.plain)
    ),
    takes_more=True,
)


def tournament_rows(mapper: RowMapper = ROW) -> Select[Any]:
    """A query for tournaments with organizer and location, without filter, order or limit."""
    return (
        select(*mapper.columns)
        .select_from(tables.tournament)
        .join(tables.user, tables.user.c.user_id == _TOURNAMENT.organizer_id)
        .outerjoin(tables.location, tables.location.c.location_id == _TOURNAMENT.location_id)
    )


# Settings are stored under their wire names.
_FIELD_BY_KEY = dict(
    zip(FormatSettings.__struct_encode_fields__, FormatSettings.__struct_fields__, strict=True)
)
_EXISTS = (
    select(literal(1))
    .select_from(tables.tournament)
    .where(_TOURNAMENT.tournament_id == bindparam("tournament_id"))
)


def require_tournament(db: Connection, tournament_id: int) -> None:
    """Raise NotFound when there is no such tournament."""
    if db.execute(_EXISTS, {"tournament_id": tournament_id}).first() is None:
        raise NotFound("Tournament", tournament_id)


def tournament_item(row: NamedRow, viewer: AuthenticatedCaller | None, **parts: Any) -> Tournament:
    """The tournament in a row of ROW, with its organizer and these parts."""
    settings = row.settings
    parts["scorekeeping"] = None
    for key, value in settings.items():
        if key in _FIELD_BY_KEY:
            parts[_FIELD_BY_KEY[key]] = value
    if settings.get("scoring") == "custom":
        # The organizer's own points are in pointsMapCustom; existing clients expect "manual" here.
        parts["points_map"] = "manual"
    else:
        parts["points_map"] = row.points_map
    item: Tournament = _build_item(row, organizer=users.user_item(row.organizer, viewer), **parts)
    return item


def tournament_items(
    db: Connection, statement: Select[Any], viewer: AuthenticatedCaller | None
) -> list[Tournament]:
    """The list items in the result of a statement made of `tournament_rows`."""
    items = []
    for row in ROW.rows(db.execute(statement)):
        location = venues_reads.location_or_none(row.location)
        parts = {} if location is None else {"location": location}
        items.append(tournament_item(row, viewer, **parts))
    return items


# Field of a body -> the column of its id, and the noun for it.
OWNED_FIELDS: dict[str, tuple[Column[int], str]] = {
    "location_id": (tables.location.c.location_id, "location"),
    "series_id": (tables.series.c.series_id, "series"),
    "event_id": (tables.occasion.c.occasion_id, "event"),
}
WIRE_FIELDS = {"location_id": "locationId", "series_id": "seriesId", "event_id": "eventId"}


def require_owned(db: Connection, field: str, owned_id: int, organizer_id: int) -> None:
    """Raise Invalid unless the organizer has this location, series or occasion."""
    key, noun = OWNED_FIELDS[field]
    owner = select(key.table.c.organizer_id).where(key == owned_id)
    if db.execute(owner).scalar_one_or_none() != organizer_id:
        raise Invalid(
            {WIRE_FIELDS[field]: [f"There is no {noun} {owned_id} of this tournament's organizer."]}
        )


def require_free_slug(db: Connection, slug: str, tournament_id: int | None) -> None:
    """Raise Invalid when the shortcut leads elsewhere already."""
    column = tables.shortcut.c
    row = db.execute(select(column.shortcut_id, column.tournament_id).where(column.slug == slug)).first()
    if row is not None and (tournament_id is None or row.tournament_id != tournament_id):
        raise Invalid({"shortcut": [f"The shortcut {slug} is taken. Choose another one."]})


def link_details(
    db: Connection, links: list[dict[str, Any]], tournament_id: int | None
) -> list[dict[str, Any]]:
    """Links as the details store them, each with a copy of the linked tournament. Raises Invalid."""
    ids = [link["linked_tournament_id"] for link in links]
    if len(set(ids)) != len(ids) or tournament_id in ids:
        raise Invalid({"links": ["A tournament is linked once, and never to itself."]})
    column = tables.tournament.c
    statement = select(
        column.tournament_id, column.name, column.type, column.organizer_id, column.status, column.test
    )
    linked = {row.tournament_id: row for row in db.execute(statement.where(column.tournament_id.in_(ids)))}
    missing = [str(linked_id) for linked_id in ids if linked_id not in linked]
    if missing:
        raise Invalid({"links": [f"There is no tournament {', '.join(missing)}."]})
    return [{**link, "shown": _link_snapshot(link, linked[link["linked_tournament_id"]])} for link in links]


def _link_snapshot(link: dict[str, Any], row: Any) -> dict[str, Any]:
    return {
        "tournamentId": row.tournament_id,
        "name": row.name,
        "type": row.type,
        "organizerId": row.organizer_id,
        "status": row.status,
        "linkType": link["link_type"],
        "linkIndex": link["link_index"],
        "test": row.test,
    }


def linking_tournaments(db: Connection, tournament_id: int) -> list[int]:
    """Ids of the tournaments that link to this one, ascending."""
    link = tables.tournament_link.c
    statement = select(link.tournament_id).where(link.linked_tournament_id == tournament_id)
    return list(db.execute(statement.distinct().order_by(link.tournament_id)).scalars())


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
    if any(getattr(body, name) is not UNSET for name in tournaments_bodies.TIME_FIELDS):
        after |= tournaments_bodies.changed_times(body, before)
    for name in OWNED_FIELDS:
        if after[name] is not None and after[name] != before[name]:
            require_owned(db, name, after[name], after["organizer_id"])
    if after["shortcut"] is not None and after["shortcut"] != before["shortcut"]:
        require_free_slug(db, after["shortcut"], tournament_id)
    if body.links is not UNSET:
        links = [_link_fields(link) for link in body.links]
        after["links"] = _changed_links(before["links"], link_details(db, links, tournament_id))
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
        tournaments_bodies.in_utc(f"rsvpConfiguration.{name}", moment)
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
        open_at_utc=base.iso_or_none(opens),
        open_at_local=None if opens is None else base.local(opens, zone),
        close_at_utc=base.iso_or_none(closes),
        close_at_local=None if closes is None else base.local(closes, zone),
        timezone=zone,
    )
    built: dict[str, Any] = msgspec.to_builtins(published)
    return built


class TournamentFacts(Struct, frozen=True):
    """The fields of a tournament that decide how its results are read."""

    tournament_id: int
    type: str
    status: str
    organizer_id: int
    start_local: str
    # Wire name -> value, for the settings of the format.
    settings: dict[str, Any]

    @property
    def format(self) -> Format | None:
        """The format; None for a type that this version does not know."""
        return FORMATS.get(self.type)

    @property
    def is_best_game(self) -> bool:
        return is_best_game(self.type)

    @property
    def win_loss_rule(self) -> WinLossRule:
        """The rule by which games of this tournament are won and lost."""
        return WinLossRule.POSITIONS if self.format is None else self.format.win_loss_rule(self.settings)


def is_best_game(type_: str) -> bool:
    """Whether players of this type of tournament choose an arena and play it for a score."""
    return type_ in FORMATS and FORMATS[type_].play is PlayKind.SCORES


def tournament_facts(db: Connection, tournament_id: int) -> TournamentFacts:
    """The tournament. Raises NotFound."""
    columns = (
        tournament.c.type,
        tournament.c.status,
        tournament.c.organizer_id,
        tournament.c.start_local,
        tournament.c.settings,
    )
    row = db.execute(select(*columns).where(tournament.c.tournament_id == tournament_id)).one_or_none()
    if row is None:
        raise NotFound("Tournament", tournament_id)
    return TournamentFacts(tournament_id, *row)


def require_clock(db: Connection, tournament_id: int) -> TournamentFacts:
    """The tournament, if a clock decides how long it goes on. Raises NotFound and WrongFormat."""
    return _require_format(db, tournament_id, lambda format_: format_.has_clock, NotAFrenzy)


def require_match_requests(db: Connection, tournament_id: int) -> TournamentFacts:
    """The tournament, if its matches are drawn on request. Raises NotFound and WrongFormat."""
    return _require_format(db, tournament_id, lambda format_: format_.has_match_requests, NotAMaxMatchPlay)


def require_race(db: Connection, tournament_id: int) -> TournamentFacts:
    """The tournament, if it is a race. Raises NotFound and WrongFormat."""
    return _require_format(db, tournament_id, lambda format_: format_.play is PlayKind.RACE, NotAnAmazingRace)


def require_best_game(db: Connection, tournament_id: int) -> TournamentFacts:
    """The tournament, if scores are ranked on each arena. Raises NotFound and WrongFormat."""
    return _require_format(db, tournament_id, lambda format_: format_.play is PlayKind.SCORES, NotABestGame)


def _require_format(
    db: Connection, tournament_id: int, is_suitable: Callable[[Format], bool], refusal: type[WrongFormat]
) -> TournamentFacts:
    facts = tournament_facts(db, tournament_id)
    if facts.format is None or not is_suitable(facts.format):
        raise refusal
    return facts


def require_match_play(db: Connection, tournament_id: int) -> TournamentFacts:
    """The tournament, if its games have winners and losers. Raises NotFound and WrongFormat."""
    facts = tournament_facts(db, tournament_id)
    if facts.win_loss_rule is WinLossRule.NONE:
        raise NotAMatchPlay
    return facts
