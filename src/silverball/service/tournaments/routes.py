"""Tournaments over HTTP."""

from secrets import SystemRandom
from typing import Any

from silverball.kit.http.body import Body
from silverball.kit.http.endpoints import TOURNAMENT, Access, Call, delete, get, patch, post
from silverball.service import pages
from silverball.service.calls import Write
from silverball.service.parts import reads as parts
from silverball.service.tournaments import bodies
from silverball.service.tournaments.reads import journal
from silverball.service.tournaments.reads import tournaments as reads
from silverball.service.tournaments.writes import playoffs
from silverball.service.tournaments.writes import tournaments as writes
from silverball.wire.journal import JournalAction
from silverball.wire.pages import Data, Page, SimplePage
from silverball.wire.tournaments import Tournament

ITEM = "/api/tournaments/{tournament_id}"


@get("/api/tournaments", query=reads.TournamentQuery, access=Access.OPENABLE)
def list_tournaments(call: Call[reads.TournamentQuery]) -> SimplePage[Tournament]:
    """Tournaments, newest first."""
    query = call.query
    with call.read() as db:
        found = reads.tournaments_page(db, query, call.caller)
    return pages.simple_page(call, found, per_page=query.per_page, per_page_value=query.per_page_shown)


@get(ITEM, query=parts.PartsQuery, access=Access.OPENABLE)
def one_tournament(call: Call[parts.PartsQuery]) -> Data[Tournament]:
    """A tournament with the parts that are asked for."""
    with call.read() as db:
        return Data(data=parts.find_tournament(db, call.ids[TOURNAMENT], call.query, call.caller))


@post("/api/tournaments", body=bodies.NewTournament, query=parts.PartsQuery, ability="manage", status=201)
def create_tournament(call: Write[bodies.NewTournamentFields]) -> Data[Tournament]:
    """A new tournament of the caller's, with the settings of its format; what is left out has its default."""
    return _tournament_data(call, writes.create_tournament(call, SystemRandom()).tournament_id)


@patch(ITEM, body=bodies.ChangedTournament, query=parts.PartsQuery, ability="manage")
def edit_tournament(call: Write[bodies.ChangedTournamentFields]) -> Data[Tournament]:
    """Other settings, texts, times or ties; after the start only what the night allows."""
    return _tournament_data(call, writes.edit_tournament(call).tournament_id)


@post(ITEM + "/start", query=parts.PartsQuery, ability="manage", prepare=writes.prepare_start)
def start_tournament(call: Write[Body]) -> Data[Tournament]:
    """The night begins: seeds are frozen, and a format with a full schedule makes it."""
    return _tournament_data(call, writes.start_tournament(call).tournament_id)


@post(ITEM + "/complete", query=parts.PartsQuery, ability="manage")
def complete_tournament(call: Write[Body]) -> Data[Tournament]:
    """The results are final; games that are not played to the end are taken out."""
    return _tournament_data(call, writes.complete_tournament(call).tournament_id)


@post(ITEM + "/reopen", query=parts.PartsQuery, ability="manage")
def reopen_tournament(call: Write[Body]) -> Data[Tournament]:
    """A completed tournament goes on."""
    return _tournament_data(call, writes.reopen_tournament(call).tournament_id)


@post(ITEM + "/undo", body=bodies.UndoRequest, query=parts.PartsQuery, ability="manage")
def undo_action(call: Write[bodies.UndoRequest]) -> Data[Tournament]:
    """The newest action is taken back, with all that followed from it."""
    return _tournament_data(call, writes.undo_action(call).tournament_id)


@get(ITEM + "/journal", query=journal.JournalQuery, access=Access.OWN)
def show_journal(call: Call[journal.JournalQuery]) -> Page[JournalAction]:
    """What was done in the caller's tournament, by whom, when and from where; newest first."""
    with call.read() as db:
        found = journal.journal_page(db, call.ids[TOURNAMENT], call.query, call.caller)
    return pages.full_page(call, found, per_page=journal.PER_PAGE)


@post(ITEM + "/playoffs", body=bodies.NewPlayoffs, query=parts.PartsQuery, ability="manage", status=201)
def create_playoffs(call: Write[bodies.NewPlayoffs]) -> Data[Tournament]:
    """A new tournament for the best of this one, seeded by their places and linked both ways."""
    return _tournament_data(call, playoffs.create_playoffs(call, SystemRandom()).tournament_id)


@delete(ITEM, query=parts.PartsQuery, ability="manage")
def delete_tournament(call: Write[Body]) -> Data[Tournament]:
    """A planned tournament is gone; the answer shows it as it was."""
    was = _tournament_data(call, call.ids[TOURNAMENT])
    writes.delete_tournament(call)
    return was


def _tournament_data(call: Write[Any], tournament_id: int) -> Data[Tournament]:
    return Data(data=parts.find_tournament(call.db, tournament_id, call.query, call.caller))
