"""The page where organizers bring their history along from another service."""

import re
from collections.abc import Callable
from datetime import date, datetime
from typing import Any

from starlette.responses import JSONResponse, Response

from silverball.kit.errors import Conflict, Invalid, ServiceUnavailable
from silverball.kit.security import addresses
from silverball.kit.security.addresses import AddressForbidden
from silverball.kit.values import convert
from silverball.service.moving import reads as moving_reads
from silverball.service.moving import writes as moving_writes
from silverball.store.database.engine import Db
from silverball.web.page_request import PageRequest, not_found_page, page, redirect
from silverball.web.site import status_for

PATH = "/account/history"
REPORT_PATH = "/account/history/report"
# Neither kept with a form that is shown again, nor carried through a sign-in.
TOKEN = "password"  # noqa: S105  # the name of a field
TOKEN_CHARACTERS_MAX = 500
IDS_MAX = 50
LINES_MAX = 300
# Seconds after which a page of a running pull is read again.
RELOAD_SECONDS = 10
IDS = ("owners", "series", "tournaments")
_ID = re.compile(r"[1-9][0-9]{0,17}", re.ASCII)
NOTICES = {
    "started": "It has begun. You can leave this page: it goes on without you.",
    "stopped": "Stopped. What was taken stays.",
    "continued": "It goes on where it was.",
    "given-up": "Ended, and the token is deleted. What was taken stays.",
}


@page("GET", PATH)
def history(request: PageRequest) -> Response:
    return _render(request)


@page("POST", "/account/history/start", opens=PATH)
def start(request: PageRequest) -> Response:
    """Start a pull with the form's address and token."""
    try:
        address, token, wanted = _read_form(request)
    except Invalid as refusal:
        return _render(request, 422, faults={name: texts[0] for name, texts in refusal.errors.items()})

    def begin(db: Db, now: datetime) -> None:
        moving_writes.start_pull(
            db,
            request.account.user_id,
            address=address,
            token=token,
            wanted=wanted,
            is_dry_run=request.form.has("dryRun"),
            now=now,
        )

    return _change(request, begin, "started")


@page("POST", "/account/history/stop", opens=PATH)
def stop(request: PageRequest) -> Response:
    return _change(
        request, lambda db, now: moving_writes.stop_pull(db, request.account.user_id, now), "stopped"
    )


@page("POST", "/account/history/continue", opens=PATH)
def continue_pull(request: PageRequest) -> Response:
    return _change(
        request, lambda db, now: moving_writes.continue_pull(db, request.account.user_id, now), "continued"
    )


@page("POST", "/account/history/give-up", opens=PATH)
def give_up(request: PageRequest) -> Response:
    """End the pull and delete its token."""
    return _change(
        request, lambda db, now: moving_writes.give_up_pull(db, request.account.user_id, now), "given-up"
    )


@page("GET", REPORT_PATH)
def report(request: PageRequest) -> Response:
    """The report of every tournament, as the command line writes it."""
    from silverball.exchange.pull import taking

    with request.site.store.read() as db:
        pull = moving_reads.pull_of(db, request.account.user_id)
        found = [] if pull is None else _reports(db, pull.history_pull_id)
    if pull is None:
        return not_found_page()
    content = {
        "source": pull.address,
        "isWhole": pull.status == moving_reads.FINISHED,
        "isDryRun": pull.is_dry_run,
        "tournaments": [taking.report_json(each) for each in found],
    }
    headers = {"cache-control": "no-store", "content-disposition": 'attachment; filename="history.json"'}
    return JSONResponse(content, headers=headers)


def _change(request: PageRequest, change: Callable[[Db, datetime], None], notice: str) -> Response:
    if not _may_pull(request):
        return not_found_page()
    now = request.site.now().replace(microsecond=0)
    try:
        with request.site.store.write(quiet=True) as transaction:
            change(transaction.connection, now)
    except (Conflict, ServiceUnavailable) as refusal:
        return _render(request, status_for(refusal), fault=refusal.text())
    return redirect(f"{PATH}?said={notice}")


def _may_pull(request: PageRequest) -> bool:
    return request.account.role in ("organizer", "admin")


def _read_form(request: PageRequest) -> tuple[str, str, dict[str, Any]]:
    """Address, token and what is wanted. Raises Invalid with a sentence for each faulty field."""
    faults: dict[str, list[str]] = {}
    # As the pull itself reads it.
    address = request.field("address").strip().rstrip("/").removesuffix("/api")
    if not address:
        faults["address"] = ["Write the address of the service."]
    try:
        addresses.parse_address(address, moving_reads.source_policy(request.site.settings))
    except AddressForbidden as error:
        faults.setdefault("address", [error.sentence])
    token = request.field(TOKEN).strip()
    if len(token) > TOKEN_CHARACTERS_MAX or not token.isprintable() or not token.isascii():
        faults["token"] = ["This is not a token: paste it as the other service shows it."]
    wanted: dict[str, Any] = {}
    for name in IDS:
        words = request.field(name).replace(",", " ").split()
        if len(words) > IDS_MAX or not all(_ID.fullmatch(word) for word in words):
            faults[name] = [f"Write at most {IDS_MAX} numbers, with spaces between them."]
        else:
            wanted[name] = [int(word) for word in words]
    since = request.field("since").strip()
    if since and not _is_day(since):
        faults["since"] = ["Write the day as 2024-01-31."]
    if not token and not any(wanted.values()):
        faults.setdefault("token", ["Give a token, or say whose tournaments you want."])
    if faults:
        raise Invalid(faults)
    return address, token, {**wanted, "since": since or None, "isFull": request.form.has("full")}


def _is_day(text: str) -> bool:
    try:
        return date.fromisoformat(text).isoformat() == text
    except ValueError:
        return False


def _reports(db: Db, history_pull_id: int) -> list[Any]:
    from silverball.exchange.pull.taking import TournamentReport

    return [convert(raw, TournamentReport) for raw in moving_reads.reports_of(db, history_pull_id)]


def _render(
    request: PageRequest, status: int = 200, *, fault: str = "", faults: dict[str, str] | None = None
) -> Response:
    if not _may_pull(request):
        return not_found_page()
    with request.site.store.read() as db:
        pull = moving_reads.pull_of(db, request.account.user_id)
        found = [] if pull is None else _reports(db, pull.history_pull_id)
    lines: list[str] = []
    sentences: list[str] = []
    if pull is not None and found:
        from silverball.exchange.pull import taking

        # What needs attention comes first.
        ordered = sorted(found, key=lambda each: each.outcome != "refused")
        lines = [line for each in ordered for line in taking.remarks(each)]
        sentences = list(taking.summary(found, is_dry_run=pull.is_dry_run))
    is_running = pull is not None and pull.status == moving_reads.ACTIVE
    return request.render(
        "account/history.html",
        status,
        pull=pull,
        lines=lines[:LINES_MAX],
        lines_left_out=max(len(lines) - LINES_MAX, 0),
        sentences=sentences,
        fault=fault,
        faults=faults or {},
        entered=request.form,
        notice=None if fault or faults else NOTICES.get(request.query.get("said", "")),
        reload_seconds=RELOAD_SECONDS if is_running and status == 200 else None,
    )
