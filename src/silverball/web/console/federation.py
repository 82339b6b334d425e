"""Results for the federation in the console: who is in the file, text to paste, and the file."""

from collections.abc import Mapping, Sequence
from typing import Any

from starlette.responses import Response

from silverball.kit.http.endpoints import TOURNAMENT
from silverball.service.core import access, loaded
from silverball.service.tables import sheet
from silverball.service.tables.reads import event_checks, event_results
from silverball.service.tables.reads.event_results import (
    EventNotFinished,
    FederationNumberTwice,
    FinishedEvent,
)
from silverball.service.tables.sheet import Cell
from silverball.web import exports, site
from silverball.web.forms import FormData, parse_numbers
from silverball.web.page_request import PageRequest, page, redirect
from silverball.web.tournament_night import TournamentNight
from silverball_wire.standings import EventResult, LeftOutReason

ADDRESS = "/t/{tournament_id}/run/federation"
# The choice in an address: player ids with commas between, or the word for nobody.
PLAYERS, NOBODY = "players", "none"
# The name of a player's checkbox is this and their id.
TICK = "tick-"
REASONS: Mapping[LeftOutReason, str] = {
    "no-number": "no federation number",
    "below-half": "played fewer than half",
    "did-not-play": "did not play",
}


def load_context(request: PageRequest, night: TournamentNight) -> dict[str, Any]:
    """All players of the event with their ticks, and the text of those who are ticked."""
    try:
        with request.site.store.read() as db:
            sent = event_results.sent_results(db, night.id, request.caller)
            event = event_results.finished_event(db, night.id, request.caller)
    except EventNotFinished as refusal:
        return {"event": None, "event_fault": refusal.text(), "sent": sent}
    ticked = _chosen_players(request, event)
    results = event_results.result_rows(event)
    checks = event_checks.checks_of(results, ticked)
    return {
        "event": event,
        "sent": sent,
        "checks": checks,
        "is_kept_back": any(check.kind == "number-twice" for check in checks),
        "rows_in_order": [row for row in results if row.ticked],
        "rows_apart": [row for row in results if not row.ticked],
        "ticked": ticked,
        "tick": TICK,
        "reasons_text": _reasons_text,
        "pasted_text": event_results.text_to_paste(_rows_in_file(request, event)),
        "file_choice": _choice_text(ticked),
    }


def sent_body(form: FormData) -> Mapping[str, Any]:
    """The body that notes what was sent, or takes the note back."""
    if form.value("sent") != "on":
        return {"sent": False}
    return {"sent": True, "players": parse_numbers(form.value("players").split(","))}


def _reasons_text(row: EventResult) -> str:
    return ", ".join(REASONS[reason] for reason in row.reasons)


def _chosen_players(request: PageRequest, event: FinishedEvent) -> list[int]:
    """Ids of the players in the address who have a place; without a choice, of those who are ticked."""
    results = event_results.result_rows(event)
    chosen = request.query.get(PLAYERS)
    if chosen is None:
        return [row.player_id for row in results if row.ticked]
    words = set(chosen.split(","))
    return [row.player_id for row in results if row.position is not None and str(row.player_id) in words]


def _rows_in_file(request: PageRequest, event: FinishedEvent) -> Sequence[tuple[Cell, ...]]:
    return event_results.rows_among(event_results.result_rows(event), _chosen_players(request, event))


def _choice_text(player_ids: Sequence[int]) -> str:
    return ",".join(map(str, player_ids)) or NOBODY


@page("GET", ADDRESS + "/choice")
def federation_choice(request: PageRequest) -> Response:
    """The page for the players whose boxes are ticked."""
    tournament_id = request.path_id(TOURNAMENT)
    words = [name.removeprefix(TICK) for name in request.query if name.startswith(TICK)]
    chosen = sorted({int(word) for word in words if word.isascii() and word.isdigit() and len(word) < 16})
    return redirect(f"{ADDRESS.format(tournament_id=tournament_id)}?{PLAYERS}={_choice_text(chosen)}")


@page("GET", ADDRESS + "/csv")
def federation_file(request: PageRequest) -> Response:
    """The chosen players as CSV, for the organizer. Raises NotFound."""
    tournament_id = request.path_id(TOURNAMENT)
    try:
        with request.site.store.read() as db:
            tournament = loaded.load_tournament(db, tournament_id)
            if not access.may_manage(request.caller, tournament):
                sentence = "Only the organizer can see this file."
                return site.message_page(403, "This page is the organizer's", sentence)
            event = event_results.finished_event(db, tournament_id, request.caller)
    except EventNotFinished:
        # The page says what is missing.
        return redirect(ADDRESS.format(tournament_id=tournament_id))
    if any(
        check.kind == "number-twice"
        for check in event_checks.checks_of(event_results.result_rows(event), _chosen_players(request, event))
    ):
        # The page says whose number it is.
        return redirect(ADDRESS.format(tournament_id=tournament_id))
    rows = _rows_in_file(request, event)
    return exports.file_response(sheet.csv_file(event.file_name, event_results.HEADER, rows))


@page("GET", "/s/{series_id}/federation.csv")
def federation_series_file(request: PageRequest) -> Response:
    """The results of a completed series as CSV, for accounts. Raises NotFound."""
    series_id = request.path_id("series_id")
    try:
        with request.site.store.read() as db:
            event = event_results.finished_series(db, series_id, request.caller)
    except EventNotFinished as refusal:
        return site.message_page(409, "The series is not completed", refusal.text())
    try:
        rows = event_results.file_rows(event, ())
    except FederationNumberTwice as refusal:
        return site.message_page(409, "A federation number stands there twice", refusal.text())
    return exports.file_response(sheet.csv_file(event.file_name, event_results.HEADER, rows))
