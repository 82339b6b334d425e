"""A form of the console is done: in one transaction, as the interface does it, and once for each key."""

import re
import time
from collections.abc import Callable
from dataclasses import replace
from functools import cache
from typing import Any, TypeVar

import msgspec

from silverball.kit.edge.idempotency import RequestInProgress
from silverball.kit.errors import Invalid
from silverball.kit.http.body import Body, BodyParser
from silverball.kit.http.endpoints import (
    TOURNAMENT,
    AbilityMissing,
    Access,
    AnyWrite,
    Endpoint,
    OneTimeResult,
    Request,
)
from silverball.kit.http.query import Query, QueryParser
from silverball.kit.http.router import parse_path_id
from silverball.service.calls import Write
from silverball.service.devices import writes as devices
from silverball.service.devices.writes import DeviceLink
from silverball.store.engine import Db
from silverball.store.transaction import Transaction
from silverball.web.console.actions import FormAction
from silverball.web.forms import KEY, PAGE, THEN, FormData
from silverball.web.page_request import PageRequest

T = TypeVar("T")
# Where a form may have stood: a page of the console, and what was chosen on it.
CONSOLE_PATH = re.compile(r"(?:/[a-z]{1,12})?(?:\?[A-Za-z0-9%&=+._~*-]{0,900})?", re.ASCII)
# How long a second tap waits for the first: two seconds.
WAIT_TRIES_MAX = 20
WAIT_SECONDS = 0.1


class ActionResult(msgspec.Struct, frozen=True):
    """What is stored as the answer to a form: sent again, it leads to the same place."""

    to: str
    # Said once and never stored: the form sent again leads to where it can be seen that it was done.
    secret: str = ""


def run_action_for_path(visit: PageRequest, deed: FormAction, tournament_id: int | None) -> str:
    """Let it happen once, and say where to go. Raises what the interface refuses."""
    return run_action_once(visit, deed, tournament_id).to


def run_action_once(visit: PageRequest, deed: FormAction, tournament_id: int | None) -> ActionResult:
    """`done`, where a second tap waits for what the first one leads to."""
    return wait_for_first_result(lambda: run_action(visit, deed, tournament_id))


def wait_for_first_result(answered: Callable[[], T]) -> T:
    """The answer to a form, where a second tap waits for what the first one is told."""
    for _ in range(WAIT_TRIES_MAX):
        try:
            return answered()
        except RequestInProgress:
            time.sleep(WAIT_SECONDS)
    return answered()


def run_action(visit: PageRequest, deed: FormAction, tournament_id: int | None) -> ActionResult:
    """Let it happen. Raises what the interface refuses."""
    if not visit.caller.may(deed.ability):
        raise AbilityMissing
    endpoint = _action_endpoint(deed, visit)
    answer = visit.site.writing.answer(
        endpoint, _action_call(visit, deed, tournament_id), build_request(visit)
    )
    return msgspec.json.decode(answer.body, type=ActionResult)


def return_path(form: FormData, tournament_id: int) -> str:
    """The page of the console to go to: the one that the form names, or the one that it stood on."""
    page = form.value(THEN) if form.has(THEN) else form.value(PAGE)
    return f"/t/{tournament_id}/run{page if CONSOLE_PATH.fullmatch(page) else ''}"


def _action_endpoint(deed: FormAction, visit: PageRequest) -> Endpoint:
    """The write as a row of the table of endpoints, so that it is answered like one."""

    def handled(call: Write[Any]) -> ActionResult | OneTimeResult[ActionResult]:
        made = deed.write(_with_body(call, deed, visit.form))
        if call.caller.device is not None:
            devices.record_use(call.db, call.caller.device.device_id, call.now)
        to = deed.redirect_to(made) if deed.redirect_to else return_path(visit.form, call.ids[TOURNAMENT])
        return (
            OneTimeResult(ActionResult(to, made.secret), ActionResult(to))
            if isinstance(made, DeviceLink)
            else ActionResult(to)
        )

    def looked(call: Write[Any]) -> Any:
        assert deed.prepare is not None
        return deed.prepare(_with_body(call, deed, visit.form))

    return Endpoint(
        method="POST",
        path=visit.path,
        handler=handled,
        access=Access.TOKEN,
        query=Query,
        returns=ActionResult,
        parser=QueryParser(Query),
        ability=deed.ability,
        body=deed.body,
        prepare=looked if deed.prepare else None,
    )


def _with_body(call: Write[Any], deed: FormAction, form: FormData) -> Write[Any]:
    return replace(call, body=_body_parser(deed.body).parse(msgspec.json.encode(deed.build_body(form))))


@cache
def _body_parser(body: type[Body]) -> BodyParser:
    return BodyParser(body)


def build_call(
    visit: PageRequest,
    ids: dict[str, int],
    body: Body | None = None,
    *,
    db: Db | None = None,
    transaction: Transaction | None = None,
) -> Write[Any]:
    """A call of the visitor's, as the writes take it."""
    site = visit.site
    return AnyWrite(
        ids=ids,
        words={},
        query=Query(),
        pairs=[],
        path=visit.path,
        base_url=site.base_url,
        caller=visit.caller,
        read=site.store.read,
        source=visit.client_address,
        now=site.now().replace(microsecond=0),
        settings=site.settings,
        body=body,
        db=transaction.connection if transaction else db,
        transaction=transaction,
    )


def _action_call(visit: PageRequest, deed: FormAction, tournament_id: int | None) -> Write[Any]:
    ids = {} if tournament_id is None else {TOURNAMENT: tournament_id}
    for name in deed.id_fields:
        text = visit.field(name).strip()
        if not text:
            raise Invalid({name: [f"The {name.replace('_', ' ')} field is required."]})
        ids[name] = parse_path_id(name, text)
    return build_call(visit, ids)


def build_request(visit: PageRequest) -> Request:
    """The request that the form stands for, under its key."""
    key = visit.field(KEY).encode("ascii", "replace")
    device = visit.caller.device
    if device is not None and key:
        # Kept among the organizer's keys, and never taken for one of them.
        key = b"device-%d-%d-%d-" % (device.device_id, device.player_id or 0, device.game_id or 0) + key
    return Request(
        method="POST",
        path=visit.path,
        caller=visit.caller,
        body=visit.form.content_bytes(),
        source=visit.client_address,
        idempotency_key=key or None,
    )
