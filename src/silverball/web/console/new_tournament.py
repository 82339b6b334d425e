"""The tournaments of an account, and the form of a new one, which may begin like a past one."""

from collections.abc import Mapping, Sequence
from typing import Any

from msgspec import Struct
from starlette.responses import Response

from silverball.kit.errors import NotFound
from silverball.rules.format import FormatGroup
from silverball.rules.model.tournament import Tournament
from silverball.rules.registry import FORMATS
from silverball.service.core import loaded
from silverball.service.players import reads as player_reads
from silverball.service.series import reads as series_reads
from silverball.service.tournaments import writes as tournament_writes
from silverball.service.tournaments.reads import listing
from silverball.service.venues import reads as venues_reads
from silverball.store.people import site_details
from silverball.web.console import draw_preview, settings
from silverball.web.console.finals import NEW_NIGHT_FINALS
from silverball.web.console.settings import SettingField
from silverball.web.final_fields import HOW_MANY, USUAL
from silverball.web.forms import FormState, format_title, format_titles
from silverball.web.page_request import PageRequest
from silverball_wire.finals import Final
from silverball_wire.tournaments import Tournament as ListedTournament

NEW_FORM = "new"
MODULES = ("console.js",)
LISTED_MAX = 50
ID_DIGITS_MAX = 18
# The details of the form without a past tournament; the browser enters its time zone.
NO_DETAILS: Mapping[str, Any] = {"timezone": "", "location_id": None, "series_id": None, "description": None}


class OfferedRow(Struct, frozen=True, kw_only=True):
    """A player or a machine of a past tournament, ticked or not."""

    row_id: int
    name: str
    is_ticked: bool


class CopiedNight(Struct, frozen=True, kw_only=True):
    """A tournament of the account that a new one begins like."""

    tournament: Tournament
    players: Sequence[OfferedRow]
    arenas: Sequence[OfferedRow]

    @property
    def details(self) -> Mapping[str, Any]:
        return self.tournament.details

    @property
    def name(self) -> str:
        return str(self.details["name"])


def render_own_tournaments(request: PageRequest) -> Response:
    """The tournaments that the account organizes, directs or keeps the scores of."""
    query = listing.TournamentQuery(owner=request.account.user_id, limit=LISTED_MAX)
    with request.site.store.read() as db:
        own = listing.tournaments_page(db, query, request.caller)
        directed = listing.directed_tournaments(db, request.account.user_id, request.caller)
        scorekeeping = listing.scorekeeping_tournaments(db, request.account.user_id, request.caller)
    may_create = request.caller.role in tournament_writes.CREATOR_ROLES
    return request.render(
        "run.html",
        own=own.rows,
        total=own.total,
        directed=directed,
        scorekeeping=scorekeeping,
        may_create=may_create,
        latest=next(iter(_begun(own.rows)), None) if may_create else None,
        format_title=format_title,
    )


def render_formats(request: PageRequest) -> Response:
    """The past tournaments to begin like, and the formats in their groups."""
    query = listing.TournamentQuery(owner=request.account.user_id, limit=LISTED_MAX)
    with request.site.store.read() as db:
        own = listing.tournaments_page(db, query, request.caller).rows
    groups = [
        (group.value, [format_ for format_ in FORMATS.values() if format_.group is group])
        for group in FormatGroup
    ]
    return request.render("formats.html", groups=groups, past=_begun(own), format_title=format_title)


def _begun(own: Sequence[ListedTournament]) -> list[ListedTournament]:
    """The tournaments that have been played, at least in part, the latest first."""
    return [tournament for tournament in own if tournament.status != "planned"]


def load_past_night(request: PageRequest, text: str) -> CopiedNight | None:
    """The account's tournament with this id; None when it organizes no such tournament."""
    if not (text.isascii() and text.isdigit() and len(text) <= ID_DIGITS_MAX):
        return None
    with request.site.store.read() as db:
        try:
            tournament = loaded.load_tournament(db, int(text))
        except NotFound:
            return None
        if tournament.details["organizer_id"] != request.account.user_id:
            return None
        players = player_reads.entrants(db, tournament.tournament_id, request.caller)
        arenas = venues_reads.lineup_arenas(db, tournament.tournament_id)
    in_play = {arena.arena_id for arena in tournament.lineup if arena.is_active}
    return CopiedNight(
        tournament=tournament,
        players=[
            OfferedRow(row_id=player.player_id, name=player.name, is_ticked=player.status == "active")
            for player in players
            if player.organizer_id == request.account.user_id
        ],
        arenas=[
            OfferedRow(row_id=arena.arena_id, name=arena.name, is_ticked=arena.arena_id in in_play)
            for arena in arenas
            if arena.organizer_id == request.account.user_id
        ],
    )


def _site_zone(request: PageRequest) -> str:
    """The time zone of the site; empty leaves it to the browser."""
    with request.site.store.read() as db:
        return site_details.find_site_details(db).zone


def render_new_form(
    request: PageRequest,
    type_: str,
    form: FormState,
    status: int = 200,
    *,
    past: CopiedNight | None = None,
    preview: draw_preview.DrawPreview | None = None,
    finals: Sequence[Final] = (),
    players: int = draw_preview.PLAYERS_DEFAULT,
) -> Response:
    """The form of a new tournament, like a past one if there is one, with a preview of its first draw."""
    format_ = FORMATS[type_]
    fields = settings.possible_fields(type_, _fields(type_, past))
    shown_first = [field for field in fields if _is_shown_first(field, format_.form_settings)]
    with request.site.store.read() as db:
        locations = venues_reads.location_names(db, request.account.user_id)
        series = series_reads.series_names(db, request.account.user_id)
    return request.render(
        "new.html",
        status,
        modules=MODULES,
        type=type_,
        title=format_.title,
        summary=format_.summary,
        fields=shown_first,
        more_fields=[field for field in fields if field not in shown_first],
        impossible=settings.as_data(type_),
        past=past,
        details=past.details if past else {**NO_DETAILS, "timezone": _site_zone(request)},
        locations=locations,
        series=series,
        form_state=form,
        form=NEW_FORM,
        page_path="",
        preview=preview,
        finals=finals,
        new_finals=NEW_NIGHT_FINALS,
        formats=format_titles(),
        usual_format=USUAL,
        how_many=HOW_MANY,
        players=players,
        limits=draw_preview,
    )


def _fields(type_: str, past: CopiedNight | None) -> list[SettingField]:
    if past is None:
        return settings.setting_fields(type_)
    return settings.setting_fields(type_, past.tournament.settings, past.details["points_map_custom"])


def _is_shown_first(field: SettingField, keys: Sequence[str]) -> bool:
    """Whether the field, or the setting whose points it holds, is one of those that matter most nights."""
    tables = settings.CUSTOM_POINTS_KEYS.items()
    return field.key in keys or any(field.key in table and key in keys for key, table in tables)
