"""A list of machines on a page: looked at, decided, and stored in a book or a lineup."""

from collections.abc import Mapping
from typing import Any

import msgspec
from starlette.responses import Response

from silverball.kit.errors import Invalid, Refusal
from silverball.kit.http.endpoints import TOURNAMENT
from silverball.kit.values import replace
from silverball.service.core import commands
from silverball.service.core.calls import Write
from silverball.service.roster import writes as roster
from silverball.service.sheets import reads as sheets_reads
from silverball.service.sheets import tables
from silverball.service.sheets import writes as sheets_writes
from silverball.service.sheets.bodies import MachinesToImport
from silverball.service.sheets.sources import ReadList
from silverball.service.sheets.writes import ImportChanged
from silverball.web import form_actions, people_import, site
from silverball.web.form_actions import FormAction
from silverball.web.forms import FormData, FormState
from silverball.web.page_request import PageRequest, page, redirect
from silverball.web.site import needs_new_key, status_for
from silverball_wire.imports import MachinesImport

FIELDS_MAX = 2_000
LINEUP_PATH, BOOK_PATH = "/t/{tournament_id}/run/machines", "/home/arenas/import"


def decided_machines(form: FormData) -> Mapping[str, Any]:
    """The rows that the page showed, with the answers of the form."""
    rows = people_import.shown_rows(form)
    fields = dict(form.pairs)
    for number, row in enumerate(rows, start=1):
        if fields.get(f"name-{number}", "").strip():
            row["name"] = fields[f"name-{number}"].strip()
        if fields.get(f"row-{number}"):
            row["decision"] = fields[f"row-{number}"]
    return {"rows": rows, "plan": form.value("plan")}


def _body(form: FormData, tournament_id: int | None) -> dict[str, Any]:
    where = {} if tournament_id is None else {"tournamentId": tournament_id}
    return {**decided_machines(form), **where}


def _look(request: PageRequest, tournament_id: int | None) -> tuple[MachinesImport, ReadList]:
    """The list of the form. Raises Invalid for what cannot be read."""
    read = request.site.read_list(replace(people_import.list_source(request.form), is_of_machines=True))
    ids = {} if tournament_id is None else {TOURNAMENT: tournament_id}
    with request.site.store.read() as db:
        call: Write[Any] = form_actions.build_call(request, ids, MachinesToImport(text=""), db=db)
        tournament = None if tournament_id is None else commands.load_tournament(call)
        target = sheets_writes.import_target(call, tournament)
        lineup = [] if tournament is None else [arena.arena_id for arena in tournament.lineup]
        return sheets_reads.look_at_machine_list(db, read, target, lineup), read


def _render(
    request: PageRequest,
    tournament_id: int | None,
    status: int = 200,
    *,
    look: MachinesImport | None = None,
    read: ReadList | None = None,
    fault: str = "",
    form: FormState | None = None,
) -> Response:
    rows = () if look is None else look.rows
    sent = [{"line": row.line, "name": row.name, "opdbId": row.opdb_id} for row in rows]
    read = read or ReadList()
    return request.render(
        "machines_import.html",
        status,
        modules=("files.js",),
        look=look,
        read=read,
        sheet_texts={sheet.name: tables.to_text(sheet.table.rows) for sheet in read.sheets},
        sent_rows=msgspec.json.encode(sent).decode(),
        column_words=people_import.MACHINE_COLUMN_WORDS,
        encoding_words=people_import.ENCODING_WORDS,
        fault=fault,
        form_state=form or FormState(),
        action=BOOK_PATH if tournament_id is None else LINEUP_PATH.format(tournament_id=tournament_id),
        back="/home/arenas" if tournament_id is None else f"/t/{tournament_id}/run/arenas",
    )


def _answer(request: PageRequest, tournament_id: int | None) -> Response:
    """Look at what was sent, or store what was decided."""
    if request.form.has("plan"):
        return _store(request, tournament_id)
    try:
        look, read = _look(request, tournament_id)
    except Invalid as refusal:
        form = FormState("read", request.form, site.refusal_text(refusal))
        return _render(request, tournament_id, status_for(refusal), form=form)
    return _render(request, tournament_id, look=look, read=read)


def _store(request: PageRequest, tournament_id: int | None) -> Response:
    path = "/home/arenas?said=imported" if tournament_id is None else f"/t/{tournament_id}/run/arenas"
    action = FormAction(
        write=lambda call: sheets_writes.import_machines(call, roster.add_arenas),
        body=MachinesToImport,
        build_body=lambda form: _body(form, tournament_id),
        redirect_to=lambda _value: path,
    )
    try:
        return redirect(form_actions.run_action(request, action, tournament_id).to)
    except ImportChanged as refusal:
        preview = refusal.preview
        look = preview if isinstance(preview, MachinesImport) else None
        return _render(request, tournament_id, 409, look=look, fault=site.refusal_text(refusal))
    except Refusal as refusal:
        form = FormState("import", request.form, "", needs_new_key(refusal))
        fault = people_import.first_sentence(refusal)
        try:
            look = _look_again(request, tournament_id)
        except Refusal:
            look = None
        return _render(request, tournament_id, status_for(refusal), look=look, fault=fault, form=form)


def _look_again(request: PageRequest, tournament_id: int | None) -> MachinesImport:
    """The rows of the form as they are matched now, with its answers."""
    body = _body(request.form, tournament_id)
    del body["plan"]
    ids = {} if tournament_id is None else {TOURNAMENT: tournament_id}
    parsed = form_actions.body_parser(MachinesToImport).parse(msgspec.json.encode(body))
    with request.site.store.read() as db:
        call: Write[Any] = form_actions.build_call(request, ids, parsed, db=db)
        return sheets_writes.import_machines(call, roster.add_arenas)


def _rerender_lineup(request: PageRequest, sentence: str) -> Response:
    return _render(request, request.path_id(TOURNAMENT), 419, fault=sentence)


def _rerender_book(request: PageRequest, sentence: str) -> Response:
    return _render(request, None, 419, fault=sentence)


@page("GET", LINEUP_PATH)
def machine_list_form(request: PageRequest) -> Response:
    tournament_id = request.path_id(TOURNAMENT)
    return people_import.refuse_strangers(request, tournament_id) or _render(request, tournament_id)


@page("POST", LINEUP_PATH, fields_max=FIELDS_MAX, rerender=_rerender_lineup, takes_file=True)
def read_into_lineup(request: PageRequest) -> Response:
    tournament_id = request.path_id(TOURNAMENT)
    return people_import.refuse_strangers(request, tournament_id) or _answer(request, tournament_id)


@page("GET", BOOK_PATH)
def machine_list_form_of_book(request: PageRequest) -> Response:
    return _render(request, None)


@page("POST", BOOK_PATH, fields_max=FIELDS_MAX, rerender=_rerender_book, takes_file=True)
def read_machines_into_book(request: PageRequest) -> Response:
    if not request.caller.may("manage"):
        sentence = "Ask whoever runs this site to make you one."
        return site.message_page(403, "Only organizers keep a book", sentence)
    return _answer(request, None)
