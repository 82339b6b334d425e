"""Tournaments over HTTP."""

from secrets import SystemRandom
from typing import Any

from silverball.kit.http.body import Body
from silverball.kit.http.endpoints import TOURNAMENT, Access, Call, delete, get, patch, post
from silverball.service.core import calls
from silverball.service.core.calls import Write
from silverball.service.finals.bodies import NewSeriesFinal
from silverball.service.journal.reads import journal
from silverball.service.tournaments import bodies, writes
from silverball.service.tournaments.reads import listing, parts
from silverball_wire.pages import Data, Page, SimplePage
from silverball_wire.tournaments import ActivityLog, JournalPage, Tournament

ITEM = "/api/tournaments/{tournament_id}"


@get("/api/tournaments", query=listing.TournamentQuery, access=Access.OPENABLE)
def list_tournaments(call: Call[listing.TournamentQuery]) -> SimplePage[Tournament]:
    """Tournaments by start, the furthest future first."""
    query = call.query
    with call.read() as db:
        rows = listing.tournaments_page(db, query, call.caller)
    return calls.simple_page(call, rows, per_page=query.per_page, per_page_value=query.per_page_shown)


@get(ITEM, query=parts.PartsQuery, access=Access.OPENABLE)
def show_tournament(call: Call[parts.PartsQuery]) -> Data[Tournament]:
    """A tournament with the parts that the include flags ask for."""
    with call.read() as db:
        return Data(data=parts.find_tournament(db, call.ids[TOURNAMENT], call.query, call.caller))


@post("/api/tournaments", body=bodies.NewTournament, query=parts.PartsQuery, ability="manage", status=201)
def create_tournament(call: Write[bodies.NewTournamentFields]) -> Data[Tournament]:
    """Create a tournament with the settings of its format; omitted fields get their defaults."""
    return _tournament_data(call, writes.create_tournament(call, SystemRandom()).tournament_id)


@patch(ITEM, body=bodies.ChangedTournament, query=parts.PartsQuery, ability="manage")
def change_tournament(call: Write[bodies.ChangedTournamentFields]) -> Data[Tournament]:
    """Change settings, texts, times or ties; some are fixed after the start."""
    return _tournament_data(call, writes.edit_tournament(call).tournament_id)


@post(ITEM + "/start", query=parts.PartsQuery, ability="manage", prepare=writes.prepare_start)
def start_tournament(call: Write[Body]) -> Data[Tournament]:
    """Start a tournament: freeze the seeds, and draw the schedule if it is a full one."""
    return _tournament_data(call, writes.start_tournament(call).tournament_id)


@post(ITEM + "/complete", body=bodies.Completion, query=parts.PartsQuery, ability="manage")
def complete_tournament(call: Write[bodies.Completion]) -> Data[Tournament]:
    """Complete a tournament; unfinished games are removed, and on request the round that is open."""
    return _tournament_data(call, writes.complete_tournament(call).tournament_id)


@post(ITEM + "/reopen", query=parts.PartsQuery, ability="manage")
def reopen_tournament(call: Write[Body]) -> Data[Tournament]:
    """Reopen a completed tournament."""
    return _tournament_data(call, writes.reopen_tournament(call, SystemRandom()).tournament_id)


@post(ITEM + "/undo", body=bodies.UndoRequest, query=parts.PartsQuery, ability="manage")
def undo_action(call: Write[bodies.UndoRequest]) -> Data[Tournament]:
    """Undo the newest action with everything that followed from it."""
    return _tournament_data(call, writes.undo_action(call).tournament_id)


@get(ITEM + "/journal", query=journal.JournalQuery, access=Access.OWN)
def show_journal(call: Call[journal.JournalQuery]) -> JournalPage:
    """The actions in the caller's tournament with actor, time and source, newest first."""
    with call.read() as db:
        rows = journal.journal_page(db, call.ids[TOURNAMENT], call.query, call.caller)
    return journal.envelope(calls.full_page(call, rows, per_page=journal.PER_PAGE), rows)


@get("/api/activity-logs", query=journal.ActivityQuery, access=Access.OWN)
def list_activity_logs(call: Call[journal.ActivityQuery]) -> Page[ActivityLog]:
    """Changes in one tournament of the caller, or in all of them, newest first."""
    with call.read() as db:
        rows = journal.activity_page(db, call.query, call.caller)
    return calls.full_page(call, rows, per_page=journal.ACTIVITIES_PER_PAGE)


@post(
    ITEM + "/playoffs",
    body=bodies.NewPlayoffs,
    query=parts.PartsQuery,
    ability="manage",
    status=201,
    prepare=writes.prepare_playoffs,
)
def create_playoffs(call: Write[bodies.NewPlayoffs]) -> Data[Tournament]:
    """Create a tournament for the best of this one, seeded by place and linked."""
    return _tournament_data(call, writes.create_playoffs(call, SystemRandom()).tournament_id)


@post(
    "/api/series/{series_id}/playoffs",
    body=NewSeriesFinal,
    query=parts.PartsQuery,
    ability="manage",
    status=201,
)
def create_series_playoffs(call: Write[NewSeriesFinal]) -> Data[Tournament]:
    """Create a final for the best of a series, seeded by their places in its table."""
    return _tournament_data(call, writes.create_series_final(call, SystemRandom()).tournament_id)


@delete(ITEM, query=parts.PartsQuery, ability="manage")
def delete_tournament(call: Write[Body]) -> Data[Tournament]:
    """Delete a planned tournament; answers its last state."""
    deleted = _tournament_data(call, call.ids[TOURNAMENT])
    writes.delete_tournament(call)
    return deleted


def _tournament_data(call: Write[Any], tournament_id: int) -> Data[Tournament]:
    return Data(data=parts.find_tournament(call.db, tournament_id, call.query, call.caller))
