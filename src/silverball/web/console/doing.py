"""A form of the console is done: in one transaction, as the interface does it, and once for each key."""

import re
import time
from collections.abc import Callable
from dataclasses import replace
from functools import cache
from typing import Any, TypeVar

import msgspec

from silverball.kit.api import NO_ABILITY
from silverball.kit.body import Body, BodyParser
from silverball.kit.errors import Invalid, NotAllowed
from silverball.kit.http import TOURNAMENT, Access, Endpoint, Once, Request, Write
from silverball.kit.query import Query, QueryParser
from silverball.kit.replies import InFlight
from silverball.kit.routing import path_id
from silverball.service.devices import writes as devices
from silverball.service.devices.writes import NewLink
from silverball.web.console.deeds import Deed
from silverball.web.forms import KEY, PAGE, THEN, Form
from silverball.web.visit import Visit

T = TypeVar("T")
# Where a form may have stood: a page of the console, and what was chosen on it.
BACK = re.compile(r"(?:/[a-z]{1,12})?(?:\?[A-Za-z0-9%&=+._~*-]{0,900})?", re.ASCII)
# How long a second tap waits for the first: two seconds.
WAITS = 20
WAIT_SECONDS = 0.1


class Done(msgspec.Struct, frozen=True):
    """What is stored as the answer to a form: sent again, it leads to the same place."""

    to: str
    # Said once and never stored: the form sent again leads to where it can be seen that it was done.
    secret: str = ""


def done_once(visit: Visit, deed: Deed, tournament_id: int | None) -> str:
    """Let it happen once, and say where to go. Raises what the interface refuses."""
    return told_once(visit, deed, tournament_id).to


def told_once(visit: Visit, deed: Deed, tournament_id: int | None) -> Done:
    """`done`, where a second tap waits for what the first one leads to."""
    return patiently(lambda: done(visit, deed, tournament_id))


def patiently(answered: Callable[[], T]) -> T:
    """The answer to a form, where a second tap waits for what the first one is told."""
    for _ in range(WAITS):
        try:
            return answered()
        except InFlight:
            time.sleep(WAIT_SECONDS)
    return answered()


def done(visit: Visit, deed: Deed, tournament_id: int | None) -> Done:
    """Let it happen. Raises what the interface refuses."""
    if not visit.caller.may(deed.ability):
        raise NotAllowed(NO_ABILITY)
    endpoint = _endpoint(deed, visit)
    answer = visit.site.writing.answer(endpoint, _call(visit, deed, tournament_id), request_of(visit))
    return msgspec.json.decode(answer.body, type=Done)


def page_of(form: Form, tournament_id: int) -> str:
    """The page of the console to go to: the one that the form names, or the one that it stood on."""
    page = form.one(THEN) if form.has(THEN) else form.one(PAGE)
    return f"/t/{tournament_id}/run{page if BACK.fullmatch(page) else ''}"


def _endpoint(deed: Deed, visit: Visit) -> Endpoint:
    """The write as a row of the table of endpoints, so that it is answered like one."""

    def handled(call: Write[Any]) -> Done | Once[Done]:
        made = deed.write(_with_body(call, deed, visit.form))
        if call.caller.device is not None:
            devices.note_use(call.db, call.caller.device.device_id, call.now)
        to = deed.to(made) if deed.to else page_of(visit.form, call.ids[TOURNAMENT])
        return Once(Done(to, made.secret), Done(to)) if isinstance(made, NewLink) else Done(to)

    def looked(call: Write[Any]) -> Any:
        assert deed.ahead is not None
        return deed.ahead(_with_body(call, deed, visit.form))

    return Endpoint(
        method="POST",
        path=visit.path,
        handler=handled,
        access=Access.TOKEN,
        query=Query,
        returns=Done,
        parser=QueryParser(Query),
        ability=deed.ability,
        body=deed.body,
        ahead=looked if deed.ahead else None,
    )


def _with_body(call: Write[Any], deed: Deed, form: Form) -> Write[Any]:
    return replace(call, body=_parser(deed.body).parse(msgspec.json.encode(deed.said(form))))


@cache
def _parser(body: type[Body]) -> BodyParser:
    return BodyParser(body)


def call_of(visit: Visit, ids: dict[str, int], body: Body | None = None, db: Any = None) -> Write[Any]:
    """A call of the visitor's, as the writes take it."""
    site = visit.site
    return Write(
        ids=ids,
        words={},
        query=Query(),
        pairs=[],
        path=visit.path,
        base_url=site.base_url,
        caller=visit.caller,
        read=site.store.read,
        source=visit.address,
        now=site.now().replace(microsecond=0),
        settings=site.settings,
        body=body,
        db=db,
    )


def _call(visit: Visit, deed: Deed, tournament_id: int | None) -> Write[Any]:
    ids = {} if tournament_id is None else {TOURNAMENT: tournament_id}
    for name in deed.ids:
        text = visit.field(name).strip()
        if not text:
            raise Invalid({name: [f"The {name.replace('_', ' ')} field is required."]})
        ids[name] = path_id(name, text)
    return call_of(visit, ids)


def request_of(visit: Visit) -> Request:
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
        body=visit.form.said(),
        source=visit.address,
        idempotency_key=key or None,
    )
