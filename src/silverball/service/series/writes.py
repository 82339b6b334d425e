"""Series and occasions of an organizer, added and changed."""

import html
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Annotated, Any, Literal
from zoneinfo import ZoneInfo

from msgspec import UNSET, Meta, UnsetType
from sqlalchemy import delete, insert, select

from silverball.kit.errors import Invalid
from silverball.kit.http.body import Body
from silverball.kit.http.fields import Color, Id, Labels, Line, Name, Text, Url
from silverball.rules.model.literals import BestGameScoring
from silverball.service.core import access, feed_events
from silverball.service.core.calls import Write
from silverball.store import tables
from silverball.store.people import book
from silverball_wire import base
from silverball_wire.values import SeriesStatus, Status

SeriesScoring = Literal["points", "pingolf"] | BestGameScoring
RemovedResults = Annotated[int, Meta(ge=-1000, le=1000)]
PlannedTgp = Annotated[int, Meta(ge=0, le=1000)]
Count = Annotated[int, Meta(ge=0, le=10_000)]
# Rank, counted from 1 -> points.
CustomScoring = Annotated[
    dict[Annotated[str, Meta(pattern=r"^[1-9][0-9]{0,3}$")], Annotated[int, Meta(ge=0, le=1_000_000)]],
    Meta(max_length=1000),
]


class NewBand(Body, frozen=True, kw_only=True):
    """A band of the standings that reaches a playoff."""

    index: Count
    value: Count
    cumulative: Count
    text: Annotated[str, Meta(max_length=100)]
    color: Color | None = None


Bands = Annotated[tuple[NewBand, ...], Meta(max_length=100)]


class NewSeries(Body, frozen=True, kw_only=True):
    """A series of the caller."""

    name: Name
    status: SeriesStatus = "active"
    test: bool = False
    removed_results: RemovedResults = 0
    playoffs_cutoffs: Bands = ()
    scoring: SeriesScoring = "points"
    scoring_custom: CustomScoring | None = None
    estimated_tgp: PlannedTgp | None = None

    def __post_init__(self) -> None:
        if self.scoring == "custom" and not self.scoring_custom:
            raise Invalid({"scoringCustom": ['Give the points of each rank: {"1": 100, "2": 90}.']})


class ChangedSeries(Body, frozen=True, kw_only=True):
    """Changes to a series."""

    name: Name | UnsetType = UNSET
    status: SeriesStatus | UnsetType = UNSET
    test: bool | UnsetType = UNSET
    removed_results: RemovedResults | UnsetType = UNSET
    playoffs_cutoffs: Bands | UnsetType = UNSET
    scoring: SeriesScoring | UnsetType = UNSET
    scoring_custom: CustomScoring | UnsetType | None = UNSET
    estimated_tgp: PlannedTgp | UnsetType | None = UNSET


def add_series(call: Write[NewSeries]) -> int:
    """Add a series of the caller; returns its id."""
    return book.add(
        call.db, book.SERIES, call.user_id, {**access.sent_values(call.body), "placeholder": False}
    )


def change_series(call: Write[ChangedSeries]) -> int:
    """Change the series in the path; returns its id."""
    series_id = access.owned_id_in_path(call, book.SERIES)
    book.change(call.db, book.SERIES, series_id, access.sent_values(call.body))
    feed_events.announce_series(call.transaction, [series_id])
    return series_id


def require_removable_series(call: Write[Body]) -> int:
    """The id of the series in the path. Raises Conflict when a tournament belongs to it."""
    return access.removable_id_in_path(call, book.SERIES, "Take the tournaments out of it, or complete it.")


Moment = Annotated[datetime, Meta(tz=True)]
Zone = Annotated[str, Meta(min_length=1, max_length=60, pattern=r"^[A-Za-z0-9_+-]+(/[A-Za-z0-9_+-]+)*$")]
Email = Annotated[str, Meta(max_length=254, pattern=r"^[^@\s]+@[^@\s]+$")]
Layout = Annotated[str, Meta(max_length=100, pattern=r"^[a-z0-9,_-]*$")]
MOMENTS = ("start", "end", "registration")
YEARS = (1970, 2200)
OWN_TOURNAMENT = book.OwnedKind(tables.tournament, "Tournament", "tournament_id", "tournament_id")


class NewOccasionLink(Body, frozen=True, kw_only=True):
    """A link on the page of an occasion."""

    label: Name
    url: Url
    is_registration: bool = False
    embed: bool = False


class NewOccasionTournament(Body, frozen=True, kw_only=True):
    """A tournament of an occasion: one of this service, or the name of one on another site."""

    tournament_id: Id | None = None
    labels: Labels = ()
    label_color: Color | None = None
    player_limit: Annotated[int, Meta(ge=0, le=10_000)] | None = None
    tgp: Annotated[int, Meta(ge=0, le=1000)] | None = None
    external_name: Name | None = None
    external_link: Url | None = None
    external_location: Line | None = None
    external_start_utc: Moment | None = None
    external_end_utc: Moment | None = None

    def __post_init__(self) -> None:
        if (self.tournament_id is None) == (self.external_name is None):
            raise Invalid({"tournaments": ["Each has either a tournamentId or an externalName."]})


OccasionLinks = Annotated[tuple[NewOccasionLink, ...], Meta(max_length=100)]
OccasionTournaments = Annotated[tuple[NewOccasionTournament, ...], Meta(max_length=100)]


class NewOccasion(Body, frozen=True, kw_only=True):
    """An occasion of the caller; local times follow from the time zone."""

    name: Name
    status: Status = "active"
    start_utc: Moment
    end_utc: Moment | None = None
    registration_utc: Moment | None = None
    timezone: Zone = "UTC"
    location_id: Id | None = None
    contact_email: Email | None = None
    description: Text | None = None
    description_collapse: bool = True
    banner: Url | None = None
    layout: Layout = "default"
    layout_order: Layout = "description,tournaments,videos"
    links: OccasionLinks = ()
    """Links on the page of the occasion."""
    tournaments: OccasionTournaments = ()
    """Tournaments of the occasion, on this server or elsewhere."""


class ChangedOccasion(Body, frozen=True, kw_only=True):
    """Changes to an occasion; its links and its tournaments are replaced as a whole."""

    name: Name | UnsetType = UNSET
    status: Status | UnsetType = UNSET
    start_utc: Moment | UnsetType = UNSET
    end_utc: Moment | UnsetType | None = UNSET
    registration_utc: Moment | UnsetType | None = UNSET
    timezone: Zone | UnsetType = UNSET
    location_id: Id | UnsetType | None = UNSET
    contact_email: Email | UnsetType | None = UNSET
    description: Text | UnsetType | None = UNSET
    description_collapse: bool | UnsetType = UNSET
    banner: Url | UnsetType | None = UNSET
    layout: Layout | UnsetType = UNSET
    layout_order: Layout | UnsetType = UNSET
    links: OccasionLinks | UnsetType = UNSET
    """Links on the page of the occasion, which replace all that there are."""
    tournaments: OccasionTournaments | UnsetType = UNSET
    """Tournaments of the occasion, which replace all that there are."""


def add_occasion(call: Write[NewOccasion]) -> int:
    """Add an occasion of the caller; returns its id."""
    body = call.body
    values = _column_values(call, access.sent_values(body, "links", "tournaments"), {}, call.user_id)
    occasion_id = book.add(call.db, book.OCCASION, call.user_id, values)
    _replace_links(call, occasion_id, body.links)
    _replace_tournaments(call, occasion_id, body.tournaments, call.user_id, body.timezone)
    feed_events.announce_occasions(call.transaction, [occasion_id])
    return occasion_id


def change_occasion(call: Write[ChangedOccasion]) -> int:
    """Change the occasion in the path; returns its id."""
    occasion_id = access.owned_id_in_path(call, book.OCCASION)
    own = tables.occasion.c.occasion_id == occasion_id
    stored = dict(call.db.execute(select(tables.occasion).where(own)).mappings().one())
    body, owner_id = call.body, stored["organizer_id"]
    values = _column_values(call, access.sent_values(body, "links", "tournaments"), stored, owner_id)
    book.change(call.db, book.OCCASION, occasion_id, values)
    if body.links is not UNSET:
        _replace_links(call, occasion_id, body.links)
    # Tournaments that leave stop showing the occasion, those that join start to show it.
    touched = set(_tournament_ids(call, occasion_id))
    if body.tournaments is not UNSET:
        zone = values.get("timezone") or stored["timezone"] or "UTC"
        _replace_tournaments(call, occasion_id, body.tournaments, owner_id, zone)
    feed_events.announce_tournaments(call.transaction, touched | set(_tournament_ids(call, occasion_id)))
    return occasion_id


def _column_values(
    call: Write[Any], sent: dict[str, Any], stored: dict[str, Any], owner_id: int
) -> dict[str, Any]:
    """The stored columns of the sent fields, with those that derive from them."""
    location_id = sent.get("location_id")
    if location_id is not None:
        access.require_owned_ids(call, book.LOCATION, "locationId", [location_id], owner_id)
    values = {**sent, **_time_columns({**stored, **sent})}
    if "description_collapse" in sent:
        values["description_collapse"] = int(sent["description_collapse"])
    if "description" in sent:
        values["description_html"], values["description_preview_html"] = _description_html(
            sent["description"]
        )
    return values


def _time_columns(fields: dict[str, Any]) -> dict[str, Any]:
    """The moments in UTC and on the local clock. Raises Invalid."""
    zone = _checked_zone(fields.get("timezone") or "UTC")
    values: dict[str, Any] = {"timezone": zone}
    for name in MOMENTS:
        moment: datetime | None = fields.get(f"{name}_utc")
        if moment is not None:
            _refuse_odd_year(f"{name}Utc", moment)
        values[f"{name}_utc"] = None if moment is None else moment.astimezone(UTC)
        values[f"{name}_local"] = None if moment is None else base.local(moment, zone)
    if values["end_utc"] is not None and values["end_utc"] < values["start_utc"]:
        raise Invalid({"endUtc": ["The end cannot be before the start."]})
    return values


def _refuse_odd_year(field: str, moment: datetime) -> None:
    if not YEARS[0] < moment.year < YEARS[1]:
        raise Invalid({field: [f"The year must be between {YEARS[0]} and {YEARS[1]}."]})


def _checked_zone(name: str) -> str:
    try:
        ZoneInfo(name)
    except (OSError, ValueError, KeyError) as error:
        raise Invalid(
            {"timezone": [f"There is no time zone {name}. Write one like Europe/Stockholm."]}
        ) from error
    return name


def _description_html(description: str | None) -> tuple[str | None, str | None]:
    """The description as HTML, and its first paragraph; markup in the text is escaped."""
    if description is None:
        return None, None
    paragraphs = [
        "<p>" + html.escape(paragraph.strip()).replace("\n", "<br>") + "</p>\n"
        for paragraph in description.split("\n\n")
        if paragraph.strip()
    ]
    return "".join(paragraphs), paragraphs[0]


def _replace_links(call: Write[Any], occasion_id: int, links: Sequence[NewOccasionLink]) -> None:
    link = tables.occasion_link
    call.db.execute(delete(link).where(link.c.occasion_id == occasion_id))
    for place, new in enumerate(links):
        values = {
            "occasion_id": occasion_id,
            "user_id": call.user_id,
            "place": place,
            "label": new.label,
            "url": new.url,
            "is_registration": int(new.is_registration),
            "embed": int(new.embed),
        }
        call.db.execute(insert(link).values(**values))


def _replace_tournaments(
    call: Write[Any], occasion_id: int, entries: Sequence[NewOccasionTournament], owner_id: int, zone: str
) -> None:
    entry = tables.occasion_tournament
    _refuse_unusable_tournaments(
        call, occasion_id, [new.tournament_id for new in entries if new.tournament_id], owner_id
    )
    call.db.execute(delete(entry).where(entry.c.occasion_id == occasion_id))
    for place, new in enumerate(entries):
        values = {
            "occasion_id": occasion_id,
            "user_id": call.user_id,
            "tournament_id": new.tournament_id,
            "place": place,
            "labels": new.labels,
            "label_color": new.label_color,
            "player_limit": new.player_limit,
            "tgp": new.tgp,
            "external": _external_fields(new, zone),
        }
        call.db.execute(insert(entry).values(**values))


def _external_fields(entry: NewOccasionTournament, zone: str) -> dict[str, str]:
    """The fields of a tournament on another site, by wire names."""
    values = {
        "externalName": entry.external_name,
        "externalLink": entry.external_link,
        "externalLocation": entry.external_location,
    }
    for name, moment in (("Start", entry.external_start_utc), ("End", entry.external_end_utc)):
        if moment is not None:
            _refuse_odd_year("tournaments", moment)
            values[f"external{name}Utc"] = base.iso(moment.astimezone(UTC))
            values[f"external{name}Local"] = base.local(moment, zone)
    return {key: value for key, value in values.items() if value is not None}


def _refuse_unusable_tournaments(
    call: Write[Any], occasion_id: int, ids: Sequence[int], owner_id: int
) -> None:
    """Raise Invalid for tournaments of others, duplicates, and tournaments of another occasion."""
    twice = [tournament_id for tournament_id in ids if ids.count(tournament_id) > 1]
    if twice:
        raise Invalid({"tournaments": [f"Tournament {twice[0]} is named twice."]})
    access.require_owned_ids(call, OWN_TOURNAMENT, "tournaments", ids, owner_id)
    entry = tables.occasion_tournament.c
    elsewhere = select(entry.tournament_id, entry.occasion_id).where(
        entry.tournament_id.in_(ids), entry.occasion_id != occasion_id
    )
    for tournament_id, other_id in call.db.execute(elsewhere.order_by(entry.tournament_id)):
        raise Invalid(
            {"tournaments": [f"Tournament {tournament_id} is in event {other_id}. Remove it there first."]}
        )


def _tournament_ids(call: Write[Any], occasion_id: int) -> Sequence[int]:
    entry = tables.occasion_tournament.c
    rows = select(entry.tournament_id).where(
        entry.occasion_id == occasion_id, entry.tournament_id.is_not(None)
    )
    tournament_ids: Sequence[int] = call.db.execute(rows).scalars().all()
    return tournament_ids
