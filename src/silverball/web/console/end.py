"""The end of a night on Now: who won, the payouts, the file for the federation, and what comes after."""

from typing import Any

from silverball.service.tables.reads import event_results
from silverball.service.tables.reads.event_results import EventNotFinished
from silverball.web.console import prizes
from silverball.web.page_request import PageRequest
from silverball.web.tournament_night import TournamentNight

PODIUM_PLACES = 3
# Ties can put everybody on the podium; the standings have the rest.
PODIUM_ROWS_MAX = 8


def load_context(request: PageRequest, night: TournamentNight) -> dict[str, Any]:
    """The podium of a completed tournament; for its organizer also the payouts and what is left to do."""
    if night.tournament.status != "completed":
        return {}
    podium = [standing for standing in night.standings if standing.position <= PODIUM_PLACES]
    shown: dict[str, Any] = {
        "winners": [standing.player_id for standing in podium if standing.position == 1],
        "podium": podium[:PODIUM_ROWS_MAX],
    }
    if not night.is_organizer:
        return shown
    money = prizes.load_context(request, night)
    return {**shown, **money, "afterwards": _links(request, night, has_prizes=money["prizes"] is not None)}


def _links(request: PageRequest, night: TournamentNight, *, has_prizes: bool) -> list[tuple[str, str, str]]:
    """Address, title and line of each page that is of use after the end."""
    at = f"/t/{night.id}/run"
    links = [] if has_prizes else [(f"{at}/prizes", "Prize money", "none is set up")]
    return [
        *links,
        (f"{at}/federation", "Results for the federation", _federation_text(request, night)),
        (f"/run/new?like={night.id}", "Next night like this", "format, settings, machines and players"),
        (f"/t/{night.id}/print", "Print", "the results, for the wall"),
        (f"{at}/standings", "Standings, playoffs, reopen", "a final, or a result to correct"),
    ]


def _federation_text(request: PageRequest, night: TournamentNight) -> str:
    """The number of players in the file, and of those without a number."""
    try:
        with request.site.store.read() as db:
            rows = event_results.result_rows(event_results.finished_event(db, night.id, request.caller))
    except EventNotFinished as refusal:
        return refusal.text()
    listed = [row for row in rows if row.ticked]
    unnumbered = sum(row.ifpa_id is None for row in listed)
    players = f"{len(listed)} player{'' if len(listed) == 1 else 's'}"
    return f"{players}, {f'{unnumbered} without a number' if unnumbered else 'ready to send'}"
