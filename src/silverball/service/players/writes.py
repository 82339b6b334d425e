"""Changing the players of somebody's book, and claims on them."""

from datetime import datetime
from typing import Any

from msgspec import UNSET, UnsetType
from sqlalchemy import Connection, delete, insert, select, update

from silverball.kit.body import Body
from silverball.kit.errors import Conflict, Invalid, NotAllowed, NotFound
from silverball.kit.fields import Color, Id, Labels, Name
from silverball.kit.http import Write
from silverball.service import owning
from silverball.store import book, revisions
from silverball.store.tables import claim, player
from silverball.wire.values import Status


class NewPlayer(Body, frozen=True, kw_only=True):
    """A player for the caller's book."""

    name: Name
    ifpa_id: Id | None = None
    status: Status = "active"
    labels: Labels = ()
    label_color: Color | None = None


class ChangedPlayer(Body, frozen=True, kw_only=True):
    """What is different about a player."""

    name: Name | UnsetType = UNSET
    ifpa_id: Id | UnsetType | None = UNSET
    status: Status | UnsetType = UNSET
    labels: Labels | UnsetType = UNSET
    label_color: Color | UnsetType | None = UNSET


class ApprovedClaim(Body, frozen=True, kw_only=True):
    """Who is this player indeed."""

    user_id: Id


def add(call: Write[NewPlayer]) -> int:
    """A new player of the caller; returns its id."""
    return book.add(call.db, book.PLAYER, call.user_id, owning.said(call.body))


def change(call: Write[ChangedPlayer]) -> int:
    """The player in the path, different now."""
    player_id = owning.own(call, book.PLAYER)
    book.change(call.db, book.PLAYER, player_id, owning.said(call.body))
    revisions.raise_for_players(call.db, [player_id])
    return player_id


def require_removable(call: Write[Body]) -> int:
    """The player in the path. Raises Conflict when a tournament has him."""
    player_id = owning.own(call, book.PLAYER, for_good=True)
    owning.refuse_used(call, book.PLAYER, player_id, "Set the player inactive instead.")
    return player_id


def stake_claim(call: Write[Body]) -> int:
    """The caller says that he is this player; his own book's organizer need not ask himself.

    Raises NotFound and Conflict.
    """
    player_id = call.ids["player_id"]
    owner_id = book.owner_of(call.db, book.PLAYER, player_id)
    _refuse_claimed(call.db, player_id, call.user_id)
    if owner_id == call.user_id:
        _give(call.db, player_id, call.user_id, owner_id)
    elif _claimed_at(call.db, player_id, call.user_id) is not None:
        raise Conflict("You have claimed this player already. The organizer has still to approve it.")
    else:
        values = {"player_id": player_id, "user_id": call.user_id, "at": call.now}
        call.db.execute(insert(claim).values(**values))
    return player_id


def approve_claim(call: Write[ApprovedClaim]) -> int:
    """The organizer says that a claim is right; other claims on the player are over.

    Raises NotFound, NotAllowed, Conflict and Invalid.
    """
    player_id = owning.own(call, book.PLAYER)
    user_id = call.body.user_id
    _refuse_claimed(call.db, player_id, user_id)
    if _claimed_at(call.db, player_id, user_id) is None:
        raise Invalid({"userId": [f"User {user_id} has not claimed player {player_id}."]})
    _give(call.db, player_id, user_id, book.owner_of(call.db, book.PLAYER, player_id))
    return player_id


def give_up_claim(call: Write[Body], user_id: int | None) -> int:
    """A claim taken back by who made it, or turned down by the organizer, approved or not.

    Raises NotFound and NotAllowed.
    """
    player_id = call.ids["player_id"]
    owner_id = book.owner_of(call.db, book.PLAYER, player_id)
    if user_id is None:
        user_id = call.user_id
    if user_id != call.user_id and not (_is_owners_call(call, owner_id)):
        raise NotAllowed
    own = (claim.c.player_id == player_id, claim.c.user_id == user_id)
    waited = call.db.execute(delete(claim).where(*own)).rowcount
    had = update(player).where(player.c.player_id == player_id, player.c.claimed_by == user_id)
    held = call.db.execute(had.values(claimed_by=None)).rowcount
    if not waited and not held:
        raise NotFound("Claim", player_id)
    if held:
        revisions.raise_for_players(call.db, [player_id])
    return player_id


def _is_owners_call(call: Write[Any], owner_id: int) -> bool:
    return bool(call.caller.is_admin or (call.user_id == owner_id and call.caller.may("manage")))


def _refuse_claimed(db: Connection, player_id: int, user_id: int) -> None:
    rows = select(player.c.claimed_by).where(player.c.player_id == player_id)
    holder = db.execute(rows).scalar_one()
    if holder == user_id:
        raise Conflict(f"Player {player_id} belongs to user {user_id} already.")
    if holder is not None:
        raise Conflict(
            f"Player {player_id} belongs to user {holder}. That user or the organizer has to end that first."
        )


def _claimed_at(db: Connection, player_id: int, user_id: int) -> datetime | None:
    rows = select(claim.c.at).where(claim.c.player_id == player_id, claim.c.user_id == user_id)
    return db.execute(rows).scalar_one_or_none()


def _give(db: Connection, player_id: int, user_id: int, owner_id: int) -> None:
    """The user is this player from now on. Raises Conflict when he is another one of the same book."""
    same_book = (player.c.organizer_id == owner_id, player.c.claimed_by == user_id)
    other = db.execute(select(player.c.player_id).where(*same_book).limit(1)).scalar_one_or_none()
    if other is not None:
        raise Conflict(f"User {user_id} is player {other} of this book already. Give that claim up first.")
    db.execute(update(player).where(player.c.player_id == player_id).values(claimed_by=user_id))
    db.execute(delete(claim).where(claim.c.player_id == player_id))
    revisions.raise_for_players(db, [player_id])
