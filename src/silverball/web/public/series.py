"""A series as everybody sees it: its nights, its standings."""

from typing import Any

from starlette.responses import Response

from silverball.kit.http.router import parse_path_id
from silverball.service.series.reads import results
from silverball.service.tournaments.reads import tournaments
from silverball.store.engine import Db
from silverball.web.console import settings_form
from silverball.web.page_request import PageRequest, page
from silverball.wire.tournaments import Tournament

NIGHTS_MAX = 100
SCORINGS = {
    "points": "The points of each night are added up.",
    "pingolf": "The strokes of each night are added up.",
}
BY_CURVE = "Each night gives points for the place in it."


@page("GET", "/s/{series_id}", for_guests=True)
def series_page(visit: PageRequest) -> Response:
    series_id = parse_path_id("series_id", visit.ids["series_id"])
    with visit.site.store.read() as db:
        shown = results.series_details(db, series_id, None)
        nights = _load_nights(db, series_id)
    return visit.render(
        "people/series.html",
        series=shown,
        # Oldest first, as the columns of the table.
        nights=nights,
        players={one.player_id: one for one in shown.players},
        points=_points_by_tournament(shown.tournament_points),
        counted=_counted_text(shown),
        scoring=SCORINGS.get(shown.scoring or "points", BY_CURVE),
        title_of=settings_form.format_title,
    )


def _load_nights(db: Db, series_id: int) -> list[Tournament]:
    query = tournaments.TournamentQuery(series=series_id, limit=NIGHTS_MAX)
    return sorted(
        tournaments.tournaments_page(db, query, None).rows, key=lambda one: (one.start_utc, one.tournament_id)
    )


def _points_by_tournament(told: Any) -> dict[int, dict[int, Any]]:
    """Tournament id -> player id -> points; the interface writes an empty map as a list."""
    return {night: dict(points) if points else {} for night, points in (told or {}).items()}


def _counted_text(shown: Any) -> str:
    removed = shown.removed_results or 0
    if removed == 0:
        return "Every night counts."
    is_one = abs(removed) == 1
    nights = "night" if is_one else f"{abs(removed)} nights"
    if removed < 0:
        return f"The best {nights} of each player {'counts' if is_one else 'count'}."
    return (
        f"The worst {nights} of each player {'does' if is_one else 'do'} not count; a missed one is worth 0."
    )
