"""Links, devices and codes for tests of devices."""

from collections.abc import Iterator
from contextlib import contextmanager
from random import Random
from typing import Any

import build
from service.desk import Desk
from silverball.kit.http.body import Body
from silverball.kit.http.endpoints import AnyWrite
from silverball.kit.http.query import Query
from silverball.service.core import access
from silverball.service.core.access import AuthenticatedCaller, Device
from silverball.service.core.calls import Write
from silverball.service.users import reads as users_reads
from silverball.service.users import writes as users_writes
from silverball.service.users.reads import KnownDevice
from silverball.settings import Settings
from silverball.store.database.engine import Store


@contextmanager
def a_call(desk: Desk, by: str = "owner", body: Body | None = None, **ids: int) -> Iterator[Write[Any]]:
    """A write of one of the desk's callers, committed at the end of the block."""
    with desk.store.write() as transaction:
        yield AnyWrite(
            ids={"tournament_id": desk.night.tournament_id, **ids},
            words={},
            query=Query(),
            pairs=[],
            path="/",
            base_url=build.BASE_URL,
            caller=desk.callers[by],
            read=desk.store.read,
            source="203.0.113.7",
            now=build.NOW,
            settings=Settings(),
            body=body or Body(),
            db=transaction.connection,
            transaction=transaction,
        )


def a_link(desk: Desk, name: str = "Tablet at the bar", seed: int = 1) -> str:
    with a_call(desk, body=users_writes.NewDevice(name=name)) as call:
        return users_writes.create_device_link(call, Random(seed)).secret


def find_device(store: Store, secret: str) -> KnownDevice | None:
    with store.read() as db:
        return users_reads.find_device(db, secret)


def a_device(desk: Desk, name: str = "Tablet at the bar", seed: int = 1) -> Device:
    """Create a scorekeeper's device and make it the desk's caller `device`."""
    known = find_device(desk.store, a_link(desk, name, seed))
    assert known is not None
    desk.callers["device"] = access.device_caller(known.device)
    return known.device


def codes(desk: Desk, seed: int = 2) -> users_reads.PrintedCodes:
    """New codes of the tournament."""
    with a_call(desk) as call:
        users_writes.replace_codes(call, Random(seed))
    with desk.store.read() as db:
        made = users_reads.current_codes(db, desk.night.tournament_id)
    assert made is not None
    return made


def a_code(desk: Desk, **whose: int) -> AuthenticatedCaller:
    """The caller with the code of this player or game."""
    made = codes(desk)
    device = Device(
        device_id=made.device_id,
        tournament_id=desk.night.tournament_id,
        organizer_id=desk.night.organizer_id,
        **whose,
    )
    return access.device_caller(device)


def positions(game: dict[str, Any], *, flip: bool = False) -> dict[str, Any]:
    return {"resultPositions": game["playerIds"][::-1] if flip else game["playerIds"]}


def set_status(desk: Desk, status: str) -> None:
    desk.ok("POST", "/complete" if status == "completed" else "/reopen")


def complete_tournament(desk: Desk) -> None:
    """A completed tournament; games without a result would be removed."""
    for game in desk.ok("GET", "/games?status=started")["data"]:
        desk.ok("PUT", f"/games/{game['gameId']}/result", positions(game))
    set_status(desk, "completed")
