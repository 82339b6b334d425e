"""A list of people on a page: pasted or a file, looked at, decided, and stored in a book or a tournament."""

import json
from collections.abc import Mapping, Sequence
from typing import Any

import msgspec
from msgspec import Struct
from starlette.responses import Response

from silverball.kit.errors import Conflict, Invalid, NotAllowed, Refusal
from silverball.kit.http.endpoints import TOURNAMENT
from silverball.service.core.calls import Write
from silverball.service.roster import writes as roster
from silverball.service.sheets import decoding, tables
from silverball.service.sheets import reads as sheets_reads
from silverball.service.sheets import writes as sheets_writes
from silverball.service.sheets.bodies import PlayersToImport
from silverball.service.sheets.decoding import ENCODINGS, DecodedText
from silverball.service.sheets.sources import ListSource, ReadList
from silverball.service.sheets.writes import ImportChanged
from silverball.web import form_actions, site
from silverball.web.form_actions import FormAction
from silverball.web.forms import PAGE, FormData, FormState
from silverball.web.page_request import PageRequest, page, redirect
from silverball.web.site import needs_new_key, status_for
from silverball.web.tournament_night import load_night
from silverball_wire.imports import ImportRow, PlayersImport

# A thousand rows, each with a name, a number and an answer.
FIELDS_MAX = 5_000
NIGHT_PATH, BOOK_PATH = "/t/{tournament_id}/run/import", "/home/players/import"
STORE_FORM, READ_FORM = "import", "read"
# In a form of names: a list that has to be looked at first is shown instead of being added.
MAY_BE_LIST = "mayBeList"
NOT_YET = "Nobody was added yet: look at this first."
# Kind of column -> its name on the page.
COLUMN_WORDS = {
    "name": "name",
    "first": "first name",
    "middle": "middle name",
    "last": "last name",
    "number": "federation number",
    "seed": "seed",
    "town": "town",
    "country": "country",
    "initials": "initials",
    "pronouns": "pronouns",
    "paid": "paid",
    "ordinal": "number of the row",
    "place": "place",
    "score": "score",
    "other": "nothing of these",
}
MACHINE_COLUMN_WORDS = {
    "machine": "name",
    "shortName": "short name",
    "opdbId": "OPDB id",
    "other": "nothing of these",
}
ALL_KINDS = {*COLUMN_WORDS, *MACHINE_COLUMN_WORDS}
ENCODING_WORDS = {
    "utf-8": "UTF-8",
    "utf-16-le": "UTF-16",
    "utf-16-be": "UTF-16",
    "windows-1252": "Windows-1252",
    "windows-1250": "Windows-1250",
    "mac-roman": "Mac Roman",
}


class ListPage(Struct, frozen=True, kw_only=True):
    """The texts that the page carries along, and what was read of them."""

    look: PlayersImport | None = None
    read: ReadList = ReadList()

    @property
    def sheet_texts(self) -> dict[str, str]:
        """Name -> text of each sheet that can be chosen."""
        return {sheet.name: tables.to_text(sheet.table.rows) for sheet in self.read.sheets}


# Reading


def look_first(request: PageRequest, tournament_id: int) -> Response | None:
    """The page of a list that cannot be added as it is; None for a plain list of names."""
    try:
        shown = _read(request, ListSource(text=request.field("names")), tournament_id)
    except Refusal:
        # Whoever adds them says why.
        return None
    look = shown.look
    table = shown.read.table
    is_plain = look is not None and look.plan is not None and not look.left_out and table is not None
    is_plain = is_plain and table is not None and table.width == 1
    if look is None or (is_plain and all(_is_settled(row) for row in look.rows)):
        return None
    return _render(request, shown, tournament_id, 422, fault=NOT_YET)


def _is_settled(row: ImportRow) -> bool:
    return row.fault is None and row.question is None and row.decision != "same"


def _read(request: PageRequest, source: ListSource, tournament_id: int | None) -> ListPage:
    read = request.site.read_list(source)
    ids = {} if tournament_id is None else {TOURNAMENT: tournament_id}
    with request.site.store.read() as db:
        call: Write[Any] = form_actions.build_call(request, ids, PlayersToImport(text=source.text), db=db)
        target = sheets_writes.import_target(call)
        return ListPage(look=sheets_reads.look_at_list(db, read, target), read=read)


def list_source(form: FormData) -> ListSource:
    """The list that the form sent, with what was chosen about it."""
    kinds = tuple(form.value(f"column-{number}") for number in range(len(form.with_prefix("column-"))))
    wanted, was = form.value("encoding"), form.value("was-encoding")
    text, file = form.value("text"), form.file
    if not file and wanted in ENCODINGS and was in ENCODINGS and wanted != was:
        # Line ends come back as forms send them.
        text, file = "", decoding.encoded(DecodedText(text.replace("\r\n", "\n"), was))
    order = form.value("nameOrder")
    return ListSource(
        text="" if file else text,
        file=file,
        encoding=wanted if file and wanted in ENCODINGS else None,
        columns=kinds if all(kind in ALL_KINDS for kind in kinds) else (),  # type: ignore[arg-type]
        name_order=order if order in ("firstLast", "lastFirst") else None,  # type: ignore[arg-type]
    )


# The body of the rows as they were decided


def shown_rows(form: FormData) -> list[dict[str, Any]]:
    """The rows that the page showed. Raises Invalid."""
    try:
        rows = json.loads(form.value("rows"))
    except (ValueError, RecursionError):
        rows = None
    if not isinstance(rows, list) or not all(isinstance(row, dict) for row in rows):
        raise Invalid({"rows": ["The list did not arrive. Paste it again."]})
    return rows


def decided_rows(form: FormData) -> Mapping[str, Any]:
    """The rows that the page showed, with the answers and changes of the form."""
    fields = dict(form.pairs)
    decided = [_decided_row(row, number, fields) for number, row in enumerate(shown_rows(form), start=1)]
    return {"rows": decided, "plan": form.value("plan")}


def _decided_row(row: Mapping[str, Any], number: int, fields: Mapping[str, str]) -> dict[str, Any]:
    """A row with its answer: `new`, `player-12`, `same-3` or `leaveOut`; empty for none."""
    changed = dict(row)
    name, digits = fields.get(f"name-{number}", "").strip(), fields.get(f"number-{number}")
    if name:
        changed["name"] = name
    if digits is not None:
        bare = digits.strip()
        changed["ifpaId"] = int(bare) if bare.isdecimal() and len(bare) < 9 else bare or None
    answer, _, target = fields.get(f"row-{number}", "").partition("-")
    if fields.get(f"out-{number}"):
        answer, target = "leaveOut", ""
    if answer:
        changed["decision"] = answer
    if target.isdecimal():
        changed["playerId" if answer == "player" else "sameAs"] = int(target)
    return changed


def answer_of(row: ImportRow) -> str:
    """The decision of a row as its radio button sends it."""
    target = row.player_id if row.decision == "player" else row.same_as
    return "" if row.decision is None else row.decision + (f"-{target}" if target else "")


def _sent_rows(rows: Sequence[ImportRow]) -> str:
    sent = [{"line": row.line, "name": row.name, "ifpaId": row.ifpa_id, "seed": row.seed} for row in rows]
    return msgspec.json.encode(sent).decode()


def _with_tournament(form: FormData, tournament_id: int | None) -> Mapping[str, Any]:
    where = {} if tournament_id is None else {"tournamentId": tournament_id}
    return {**decided_rows(form), **where}


def _store_action(tournament_id: int | None, form: FormData) -> FormAction:
    path = f"{BOOK_PATH.removesuffix('/import')}?said=imported"
    if tournament_id is not None:
        path = form_actions.return_path(form, tournament_id)
    return FormAction(
        write=lambda call: sheets_writes.import_players(call, roster.add_players),
        body=PlayersToImport,
        build_body=lambda sent: _with_tournament(sent, tournament_id),
        redirect_to=lambda _value: path,
    )


# The pages


def _render(
    request: PageRequest,
    shown: ListPage,
    tournament_id: int | None,
    status: int = 200,
    *,
    fault: str = "",
    form: FormState | None = None,
) -> Response:
    look = shown.look
    rows = look.rows if look is not None else ()
    is_night = tournament_id is not None
    return request.render(
        "people_import.html",
        status,
        modules=("files.js",),
        look=look,
        read=shown.read,
        sheet_texts=shown.sheet_texts if look is not None and look.plan is None else {},
        sent_rows=_sent_rows(rows),
        answer_of=answer_of,
        groups=(
            ("To decide", [row for row in rows if row.question or row.fault]),
            ("As they will be", [row for row in rows if not (row.question or row.fault)]),
        ),
        counts={
            "new": sum(row.decision == "new" for row in rows),
            "known": sum(row.decision == "player" for row in rows),
            "asked": sum(row.decision is None or row.fault is not None for row in rows),
        },
        column_words=COLUMN_WORDS,
        encoding_words=ENCODING_WORDS,
        fault=fault,
        form_state=form or FormState(),
        action=NIGHT_PATH.format(tournament_id=tournament_id) if is_night else BOOK_PATH,
        back=f"/t/{tournament_id}/run/players" if is_night else "/home/players",
        page_path=_page_path(request),
        is_night=is_night,
    )


def _page_path(request: PageRequest) -> str:
    """The page of the console that the list belongs to."""
    path = request.field(PAGE) if request.form.has(PAGE) else "/players"
    return path if form_actions.CONSOLE_PATH.fullmatch(path) else ""


def _answer(request: PageRequest, tournament_id: int | None) -> Response:
    """Look at what was sent, or store what was decided."""
    if not request.caller.may("manage"):
        raise NotAllowed
    if request.form.has("plan"):
        return _store(request, tournament_id)
    try:
        return _render(request, _read(request, list_source(request.form), tournament_id), tournament_id)
    except Invalid as refusal:
        state = FormState(READ_FORM, request.form, site.refusal_text(refusal))
        return _render(request, ListPage(), tournament_id, status_for(refusal), form=state)


def _store(request: PageRequest, tournament_id: int | None) -> Response:
    action = _store_action(tournament_id, request.form)
    try:
        return redirect(form_actions.run_action(request, action, tournament_id).to)
    except ImportChanged as refusal:
        # The rows are others now, so the answers of the form are in them.
        preview = refusal.preview
        shown = ListPage(look=preview if isinstance(preview, PlayersImport) else None)
        return _render(request, shown, tournament_id, 409, fault=site.refusal_text(refusal))
    except Refusal as refusal:
        fault = first_sentence(refusal)
        state = FormState(STORE_FORM, request.form, "", needs_new_key(refusal))
        try:
            shown = ListPage(look=_look_again(request, tournament_id))
        except Invalid:
            shown = ListPage()
        return _render(request, shown, tournament_id, status_for(refusal), fault=fault, form=state)


def first_sentence(refusal: Refusal) -> str:
    """The first of several faults, with the number of the others."""
    if not isinstance(refusal, Invalid) or len(refusal.errors) < 2:
        return site.refusal_text(refusal)
    first = next(iter(refusal.errors.values()))[0]
    return f"{first} (And {len(refusal.errors) - 1} more.)"


def _look_again(request: PageRequest, tournament_id: int | None) -> PlayersImport:
    """The rows of the form as they are matched now, with its answers."""
    body = dict(_with_tournament(request.form, tournament_id))
    del body["plan"]
    ids = {} if tournament_id is None else {TOURNAMENT: tournament_id}
    parsed = form_actions.body_parser(PlayersToImport).parse(msgspec.json.encode(body))
    with request.site.store.read() as db:
        call: Write[Any] = form_actions.build_call(request, ids, parsed, db=db)
        return sheets_writes.import_players(call, roster.add_players)


def refuse_strangers(request: PageRequest, tournament_id: int) -> Response | None:
    """The page for who may not fill this tournament; None for its organizer."""
    try:
        night = load_night(request.site, tournament_id, request.caller)
    except (NotAllowed, Conflict) as refusal:
        return site.message_page(403, "This console is not open to you", refusal.text())
    if not night.is_organizer:
        return site.message_page(403, "This page is the organizer's", "Only the organizer adds people.")
    return None


def _rerender_night(request: PageRequest, sentence: str) -> Response:
    return _render(request, ListPage(), request.path_id(TOURNAMENT), 419, fault=sentence)


def _rerender_book(request: PageRequest, sentence: str) -> Response:
    return _render(request, ListPage(), None, 419, fault=sentence)


@page("GET", NIGHT_PATH)
def list_form(request: PageRequest) -> Response:
    tournament_id = request.path_id(TOURNAMENT)
    return refuse_strangers(request, tournament_id) or _render(request, ListPage(), tournament_id)


@page("POST", NIGHT_PATH, fields_max=FIELDS_MAX, rerender=_rerender_night, takes_file=True)
def read_into_night(request: PageRequest) -> Response:
    tournament_id = request.path_id(TOURNAMENT)
    return refuse_strangers(request, tournament_id) or _answer(request, tournament_id)


@page("GET", BOOK_PATH)
def list_form_of_book(request: PageRequest) -> Response:
    return _render(request, ListPage(), None)


@page("POST", BOOK_PATH, fields_max=FIELDS_MAX, rerender=_rerender_book, takes_file=True)
def read_into_book(request: PageRequest) -> Response:
    if not request.caller.may("manage"):
        return site.message_page(
            403, "Only organizers keep a book", "Ask whoever runs this site to make you one."
        )
    return _answer(request, None)
