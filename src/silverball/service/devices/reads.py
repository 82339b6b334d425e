"""Which device a secret belongs to, whether it works, and what devices did.

A scorekeeper's link holds a random secret, and its hash is stored. The code of a player or a game is
derived from one secret of the tournament, so that there is nothing to make for each, and all of them
are replaced at once.
"""

import hmac
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from sqlalchemy import Connection, Row, Select, and_, select

from silverball.kit import tokens
from silverball.service.access import Device
from silverball.store.tables import device, device_action, player, tournament

SCOREKEEPER, CODES = "scorekeeper", "codes"
DEVICES_MAX = 50
# So many times the codes of a tournament may have been replaced for an old one still to be known as old.
CODES_KNOWN_MAX = 50
_D, _T = device.c, tournament.c


@dataclass(frozen=True, kw_only=True)
class KnownDevice:
    """A device that was found by its secret, and whether it still works."""

    device: Device
    name: str
    tournament_name: str
    is_revoked: bool
    # Whether the tournament is completed; if it is reopened, the device works again.
    is_over: bool
    # Whether the tournament has scorekeepers; printed codes do not ask.
    has_scorekeepers: bool

    @property
    def is_usable(self) -> bool:
        return not self.is_revoked and not self.is_over and self.has_scorekeepers


@dataclass(frozen=True, kw_only=True)
class DeviceItem:
    """A scorekeeper's device, as its organizer sees it."""

    device_id: int
    name: str
    created_at: datetime
    # Opened, or entered something.
    last_used_at: datetime | None


@dataclass(frozen=True)
class PrintedCodes:
    """What the printed codes of a tournament are derived from."""

    device_id: int
    secret: str = field(repr=False)
    created_at: datetime

    def player_code(self, player_id: int) -> str:
        return tokens.derive_secret(self.secret, f"player {player_id}")

    def game_code(self, game_id: int) -> str:
        return tokens.derive_secret(self.secret, f"game {game_id}")


def find_device(db: Connection, secret: str) -> KnownDevice | None:
    """The scorekeeper's device with this secret; None when no link ever had it."""
    # Looked up by its hash, so how long the search takes says nothing about the secret.
    rows = _device_rows().where(_D.hash == tokens.digest(secret), _D.kind == SCOREKEEPER)
    row = db.execute(rows).one_or_none()
    return None if row is None else _known_device(row, row.settings.get("scorekeeping") == "user")


def find_code(
    db: Connection, tournament_id: int, code: str, *, player_id: int | None = None, game_id: int | None = None
) -> KnownDevice | None:
    """The printed code of this player or this game; None when it is the code of something else."""
    own = (_D.tournament_id == tournament_id, _D.kind == CODES)
    rows = _device_rows().where(*own).order_by(_D.device_id.desc()).limit(CODES_KNOWN_MAX)
    for row in db.execute(rows):
        codes = PrintedCodes(row.device_id, row.secret, row.created_at)
        wanted = codes.game_code(game_id) if game_id is not None else codes.player_code(player_id or 0)
        if hmac.compare_digest(wanted.encode(), code.encode("utf-8", "replace")):
            return _known_device(row, has_scorekeepers=True, player_id=player_id, game_id=game_id)
    return None


def current_codes(db: Connection, tournament_id: int) -> PrintedCodes | None:
    """The codes that work now; None when there are none."""
    own = (_D.tournament_id == tournament_id, _D.kind == CODES, _D.revoked_at.is_(None))
    row = db.execute(select(device).where(*own)).one_or_none()
    return None if row is None else PrintedCodes(row.device_id, row.secret, row.created_at)


def active_devices(db: Connection, tournament_id: int) -> list[DeviceItem]:
    """The scorekeepers' devices that are not revoked, oldest first."""
    own = (_D.tournament_id == tournament_id, _D.kind == SCOREKEEPER, _D.revoked_at.is_(None))
    columns = select(_D.device_id, _D.name, _D.created_at, _D.last_used_at).where(*own)
    rows = db.execute(columns.order_by(_D.device_id).limit(DEVICES_MAX)).mappings()
    return [DeviceItem(**row) for row in rows]


def actor_names(db: Connection, tournament_id: int, action_ids: Collection[int]) -> Mapping[int, str]:
    """Who did those of these actions that a device did: `device: Tablet at the bar`, `code of Ada`."""
    acted = device_action.c
    rows = (
        select(acted.action_id, _D.kind, _D.name, acted.player_id, player.c.name.label("player"))
        .join(device, _D.device_id == acted.device_id)
        .outerjoin(player, player.c.player_id == acted.player_id)
        .where(acted.tournament_id == tournament_id, acted.action_id.in_(action_ids))
        .order_by(acted.action_id)
    )
    return {row.action_id: _actor_name(row) for row in db.execute(rows)}


def _actor_name(row: Any) -> str:
    if row.kind == SCOREKEEPER:
        return f"device: {row.name}"
    if row.player_id is None:
        return "code of a game"
    return f"code of {row.player or f'player {row.player_id}'}"


def _device_rows() -> Select[Any]:
    columns = (*device.c, _T.organizer_id, _T.name.label("tournament_name"), _T.status, _T.settings)
    return select(*columns).join(tournament, and_(_T.tournament_id == _D.tournament_id))


def _known_device(
    row: Row[Any], has_scorekeepers: bool, *, player_id: int | None = None, game_id: int | None = None
) -> KnownDevice:
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
        is_revoked=row.revoked_at is not None,
        is_over=row.status == "completed",
        has_scorekeepers=has_scorekeepers,
    )
