"""Form actions: a form runs one write of a slice, in one transaction, once for each idempotency key."""

import re
from collections.abc import Callable, Mapping
from functools import cache
from typing import Any, TypeAlias

import msgspec
from msgspec import Struct

from silverball.kit.errors import Invalid
from silverball.kit.http.body import Body, BodyParser
from silverball.kit.http.endpoints import (
    TOURNAMENT,
    AbilityMissing,
    Access,
    AnyWrite,
    Endpoint,
    HttpResponse,
    OneTimeResult,
    Request,
)
from silverball.kit.http.query import Query
from silverball.kit.http.router import parse_path_id
from silverball.kit.values import decode, replace
from silverball.service.core import access, commands
from silverball.service.core.calls import Write
from silverball.service.users import writes as users_writes
from silverball.service.users.writes import SecretLink
from silverball.store.database.engine import Db
from silverball.store.database.transaction import Transaction
from silverball.web import row_revisions
from silverball.web.forms import KEY, PAGE, THEN, FormData
from silverball.web.page_request import PageRequest
from silverball.web.row_revisions import RowChangedMeanwhile, RowRevision

BodyBuilder: TypeAlias = Callable[[FormData], Mapping[str, Any]]
# A page of the console that a form was on, with its choices.
CONSOLE_PATH = re.compile(r"(?:/[a-z]{1,12})?(?:\?[A-Za-z0-9%&=+._~*-]{0,900})?", re.ASCII)

# A second tap on a button waits that long for the result of the first.
DUPLICATE_WAIT_SECONDS = 2.0


def empty_body(_form: FormData) -> Mapping[str, Any]:
    """The body of a write that needs none."""
    return {}


class FormAction(Struct, frozen=True, kw_only=True):
    """A write that a form can run, with its body, its ids and the page to go to afterwards."""

    write: Callable[[Write[Any]], Any]
    # The ability that a token needs for the same call.
    ability: str = "manage"
    body: type[Body] = Body
    build_body: BodyBuilder = empty_body
    # Fields that hold ids, besides the tournament's id.
    id_fields: tuple[str, ...] = ()
    # Reads a snapshot before the lock is taken and returns the draw that follows, as in the interface.
    prepare: Callable[[Write[Any]], Any] | None = None
    # The path to go to, from the value of the write; None is the console page that the form was on.
    redirect_to: Callable[[Any], str] | None = None
    # What the row of the form showed, where one tap is enough.
    revision: RowRevision | None = None


class ActionResult(msgspec.Struct, frozen=True):
    """The stored answer to a form: sent again, it leads to the same page."""

    to: str
    # Shown once and never stored; a repeated form leads to the page in `to`.
    secret: str = ""


def run_action(request: PageRequest, action: FormAction, tournament_id: int | None) -> ActionResult:
    """Run the action; a duplicate submit waits for the first result. Raises what the write refuses."""
    if not request.caller.may(action.ability):
        raise AbilityMissing
    ids = _read_ids(request, action, tournament_id)
    response = answer_once(request, _action_endpoint(request, action), ids)
    return decode(response.body, ActionResult)


def answer_once(request: PageRequest, endpoint: Endpoint, ids: dict[str, int]) -> HttpResponse:
    """Answer the form as a request to this endpoint, under the form's idempotency key."""
    return request.site.writes.answer(
        endpoint,
        build_call(request, ids),
        _interface_request(request),
        duplicate_wait_seconds=DUPLICATE_WAIT_SECONDS,
    )


def return_path(form: FormData, tournament_id: int) -> str:
    """The console page to go to: the one that the form names, or the one that it was on."""
    page = form.value(THEN) if form.has(THEN) else form.value(PAGE)
    return f"/t/{tournament_id}/run{page if CONSOLE_PATH.fullmatch(page) else ''}"


def write_endpoint(
    request: PageRequest,
    handler: Callable[[Write[Any]], Any],
    *,
    returns: Any,
    ability: str,
    body: type[Body] = Body,
    prepare: Callable[[Write[Any]], Any] | None = None,
) -> Endpoint:
    """An endpoint for a form, so that the form is answered as the interface answers."""
    return Endpoint(
        method="POST",
        path=request.path,
        handler=handler,
        access=Access.TOKEN,
        query=Query,
        returns=returns,
        ability=ability,
        body=body,
        prepare=prepare,
    )


def _action_endpoint(request: PageRequest, action: FormAction) -> Endpoint:
    def handle(call: Write[Any]) -> ActionResult | OneTimeResult[ActionResult]:
        if action.revision is not None:
            tournament = commands.load_tournament(call, access.may_score)
            if row_revisions.is_outdated(
                request.form.value(row_revisions.SEEN), action.revision(tournament, call.ids)
            ):
                raise RowChangedMeanwhile
        value = action.write(_with_body(call, action, request.form))
        if call.caller.device is not None:
            users_writes.record_device_use(call.db, call.caller.device.device_id, call.now)
        if action.redirect_to is not None:
            path = action.redirect_to(value)
        else:
            path = return_path(request.form, call.ids[TOURNAMENT])
        if isinstance(value, SecretLink):
            return OneTimeResult(ActionResult(path, value.secret), ActionResult(path))
        return ActionResult(path)

    def prepare(call: Write[Any]) -> Any:
        assert action.prepare is not None
        return action.prepare(_with_body(call, action, request.form))

    return write_endpoint(
        request,
        handle,
        returns=ActionResult,
        ability=action.ability,
        body=action.body,
        prepare=prepare if action.prepare else None,
    )


def _with_body(call: Write[Any], action: FormAction, form: FormData) -> Write[Any]:
    body = body_parser(action.body).parse(msgspec.json.encode(action.build_body(form)))
    return replace(call, body=body)


@cache
def body_parser(body: type[Body]) -> BodyParser:
    """The parser of a body, built once."""
    return BodyParser(body)


def build_call(
    request: PageRequest,
    ids: dict[str, int],
    body: Body | None = None,
    *,
    db: Db | None = None,
    transaction: Transaction | None = None,
) -> Write[Any]:
    """The request as a call that the writes accept."""
    site = request.site
    return AnyWrite(
        ids=ids,
        words={},
        query=Query(),
        pairs=[],
        path=request.path,
        base_url=request.base_url,
        caller=request.caller,
        read=site.store.read,
        source=request.client_address,
        now=site.now().replace(microsecond=0),
        settings=site.settings,
        body=body,
        db=transaction.connection if transaction else db,
        transaction=transaction,
    )


def _read_ids(request: PageRequest, action: FormAction, tournament_id: int | None) -> dict[str, int]:
    ids = {} if tournament_id is None else {TOURNAMENT: tournament_id}
    for name in action.id_fields:
        text = request.field(name).strip()
        if not text:
            raise Invalid({name: [f"The {name.replace('_', ' ')} field is required."]})
        ids[name] = parse_path_id(name, text)
    return ids


def _interface_request(request: PageRequest) -> Request:
    """The form as a request to the interface, with its idempotency key."""
    key = request.field(KEY).encode("ascii", "replace")
    device = request.caller.device
    if device is not None and key:
        # The prefix keeps a device's keys apart from the organizer's, under whose id they are stored.
        key = b"device-%d-%d-%d-" % (device.device_id, device.player_id or 0, device.game_id or 0) + key
    return Request(
        method="POST",
        path=request.path,
        caller=request.caller,
        body=request.form.content_bytes(),
        source=request.client_address,
        idempotency_key=key or None,
    )
