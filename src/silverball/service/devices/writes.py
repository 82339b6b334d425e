"""Create and revoke links for scorekeepers' devices and printed codes.

Like tokens they are not part of the tournament, so they appear in no journal, undo or feed. The actions of
a device do, under the device's name.
"""

from datetime import datetime, timedelta
from random import Random
from typing import Any

from sqlalchemy import Connection, func, insert, or_, select, update

from silverball.kit import tokens
from silverball.kit.errors import Conflict, NotFound
from silverball.kit.http.body import Body
from silverball.kit.http.fields import Name
from silverball.rules.model.tournament import Tournament
from silverball.service import access
from silverball.service.calls import Write
from silverball.service.core import commands
from silverball.service.devices.reads import CODES, DEVICES_MAX, SCOREKEEPER
from silverball.service.secret_links import SecretLink
from silverball.store import encryption
from silverball.store.tables import device

DEVICE = "device_id"
# The last use is stored to the minute, not on every request.
USE_RECORDED_EVERY = timedelta(minutes=1)
_D = device.c


class TooManyDevices(Conflict):
    sentence = "There are {limit} devices already. Revoke those that are not used."


class DeviceForCompletedTournament(Conflict):
    sentence = "The tournament is completed. Reopen it before you add a device."


class NewDevice(Body, frozen=True, kw_only=True):
    """A new scorekeeper's device. The journal shows its name."""

    name: Name


def create_link(call: Write[NewDevice], dice: Random) -> SecretLink:
    """Create a link that lets a browser record results until the tournament is completed."""
    tournament = _running_tournament(call)
    rows = select(func.count()).select_from(device).where(*_is_active(tournament, SCOREKEEPER))
    if call.db.execute(rows).scalar_one() >= DEVICES_MAX:
        raise TooManyDevices(limit=DEVICES_MAX)
    secret = tokens.new_link_secret(dice)
    _insert_device(call, SCOREKEEPER, call.body.name, hash=tokens.digest(secret))
    return SecretLink(secret)


def replace_codes(call: Write[Body], dice: Random) -> None:
    """Create new codes for players and games, and invalidate those printed before."""
    tournament = _running_tournament(call)
    call.db.execute(update(device).where(*_is_active(tournament, CODES)).values(revoked_at=call.now))
    _insert_device(
        call, CODES, "Printed codes", secret=encryption.encrypt(call.db, tokens.new_link_secret(dice))
    )


def revoke_device(call: Write[Any]) -> None:
    """Revoke a device of the tournament, or its codes, at once. Raises NotFound."""
    tournament = commands.load_tournament(call, access.may_manage)
    device_id = call.ids[DEVICE]
    own = (_D.device_id == device_id, _D.tournament_id == tournament.tournament_id, _D.revoked_at.is_(None))
    if call.db.execute(update(device).where(*own).values(revoked_at=call.now)).rowcount == 0:
        raise NotFound("Device", device_id)


def record_use(db: Connection, device_id: int, now: datetime) -> None:
    """Store that the device was used, at most once a minute."""
    is_due = or_(_D.last_used_at.is_(None), _D.last_used_at <= now - USE_RECORDED_EVERY)
    db.execute(update(device).where(_D.device_id == device_id, is_due).values(last_used_at=now))


def _running_tournament(call: Write[Any]) -> Tournament:
    tournament = commands.load_tournament(call, access.may_manage)
    if tournament.status == "completed":
        raise DeviceForCompletedTournament
    return tournament


def _is_active(tournament: Tournament, kind: str) -> tuple[Any, ...]:
    return (_D.tournament_id == tournament.tournament_id, _D.kind == kind, _D.revoked_at.is_(None))


def _insert_device(call: Write[Any], kind: str, name: str, **secret: str) -> None:
    values = {"tournament_id": call.ids["tournament_id"], "kind": kind, "name": name, "created_at": call.now}
    call.db.execute(insert(device).values(**values, **secret))
