"""Devices by their secret, whether they still work, and the actions they recorded.

A scorekeeper's link holds a random secret, of which the hash is stored. The codes of players and games
are derived from one secret per tournament: no code needs a row of its own, and all are replaced at once.
"""

import hmac
from collections.abc import Collection, Mapping
from datetime import datetime
from typing import Any

from msgspec import Struct
from sqlalchemy import Connection, Row, Select, select

from silverball.kit import tokens
from silverball.kit.values import WithSecret
from silverball.service.access import Device
from silverball.store import encryption
from silverball.store.tables import device, device_action, player, tournament, user

SCOREKEEPER, CODES = "scorekeeper", "codes"
DEVICES_MAX = 50
# An old code is recognized as revoked until the codes were replaced this often.
CODES_KNOWN_MAX = 50
_D, _T = device.c, tournament.c


class KnownDevice(Struct, frozen=True, kw_only=True):
    """A device looked up by its secret, and whether it still works."""

    device: Device
    name: str
    tournament_name: str
    is_revoked: bool
    # Whether the tournament is completed. Reopening it makes the device work again.
    is_over: bool

    @property
    def is_usable(self) -> bool:
        return not self.is_revoked and not self.is_over


class DeviceItem(Struct, frozen=True, kw_only=True):
    """A scorekeeper's device, as its organizer sees it."""

    device_id: int
    name: str
    created_at: datetime
    # The last time the link was opened or a result was entered.
    last_used_at: datetime | None


class PrintedCodes(WithSecret, frozen=True):
    """The secret from which a tournament's printed codes are derived."""

    device_id: int
    secret: str
    created_at: datetime

    def player_code(self, player_id: int) -> str:
        return tokens.derive_secret(self.secret, f"player {player_id}")

    def game_code(self, game_id: int) -> str:
        return tokens.derive_secret(self.secret, f"game {game_id}")


def find_device(db: Connection, secret: str) -> KnownDevice | None:
    """The scorekeeper's device with this secret; None when no link ever had this secret."""
    # The lookup is by hash, so its duration reveals nothing about the secret.
    rows = _device_rows().where(_D.hash == tokens.digest(secret), _D.kind == SCOREKEEPER)
    row = db.execute(rows).one_or_none()
    return None if row is None else _known_device(row)


def find_code(
    db: Connection, tournament_id: int, code: str, *, player_id: int | None = None, game_id: int | None = None
) -> KnownDevice | None:
    """The device behind the code of this player or game; None when the code is not theirs."""
    own = (_D.tournament_id == tournament_id, _D.kind == CODES)
    rows = _device_rows().where(*own).order_by(_D.device_id.desc()).limit(CODES_KNOWN_MAX)
    for row in db.execute(rows):
        codes = _printed_codes(db, row)
        wanted = codes.game_code(game_id) if game_id is not None else codes.player_code(player_id or 0)
        if hmac.compare_digest(wanted.encode(), code.encode("utf-8", "replace")):
            return _known_device(row, player_id=player_id, game_id=game_id)
    return None


def current_codes(db: Connection, tournament_id: int) -> PrintedCodes | None:
    """The tournament's valid codes; None when there are none."""
    own = (_D.tournament_id == tournament_id, _D.kind == CODES, _D.revoked_at.is_(None))
    row = db.execute(select(device).where(*own)).one_or_none()
    return None if row is None else _printed_codes(db, row)


def _printed_codes(db: Connection, row: Row[Any]) -> PrintedCodes:
    return PrintedCodes(row.device_id, encryption.decrypt(db, row.secret), row.created_at)


def active_devices(db: Connection, tournament_id: int) -> list[DeviceItem]:
    """The scorekeepers' devices that are not revoked, oldest first."""
    own = (_D.tournament_id == tournament_id, _D.kind == SCOREKEEPER, _D.revoked_at.is_(None))
    columns = select(_D.device_id, _D.name, _D.created_at, _D.last_used_at).where(*own)
    rows = db.execute(columns.order_by(_D.device_id).limit(DEVICES_MAX)).mappings()
    return [DeviceItem(**row) for row in rows]


def actor_names(db: Connection, tournament_id: int, action_ids: Collection[int]) -> Mapping[int, str]:
    """Action id -> the device that did it: `device: Tablet at the bar`, `code of Ada`."""
    action = device_action.c
    rows = (
        select(action.action_id, _D.kind, _D.name, action.player_id, player.c.name.label("player"))
        .join(device, _D.device_id == action.device_id)
        .outerjoin(player, player.c.player_id == action.player_id)
        .where(action.tournament_id == tournament_id, action.action_id.in_(action_ids))
        .order_by(action.action_id)
    )
    return {row.action_id: _actor_name(row) for row in db.execute(rows)}


def _actor_name(row: Any) -> str:
    if row.kind == SCOREKEEPER:
        return f"device: {row.name}"
    if row.player_id is None:
        return "code of a game"
    return f"code of {row.player or f'player {row.player_id}'}"


def _device_rows() -> Select[Any]:
    columns = (*device.c, _T.organizer_id, _T.name.label("tournament_name"), _T.status)
    rows = select(*columns, user.c.suspended_at)
    return rows.join(tournament, _T.tournament_id == _D.tournament_id).join(
        user, user.c.user_id == _T.organizer_id
    )


def _known_device(row: Row[Any], *, player_id: int | None = None, game_id: int | None = None) -> KnownDevice:
    return KnownDevice(
        device=Device(
            device_id=row.device_id,
            tournament_id=row.tournament_id,
            organizer_id=row.organizer_id,
            player_id=player_id,
            game_id=game_id,
        ),
        name=row.name,
        tournament_name=row.tournament_name,
        is_revoked=row.revoked_at is not None or row.suspended_at is not None,
        is_over=row.status == "completed",
    )
