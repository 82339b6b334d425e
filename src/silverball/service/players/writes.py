"""Changing the players of somebody's book, and claims on them."""

from collections.abc import Collection
from datetime import datetime
from typing import Any

from msgspec import UNSET, UnsetType
from sqlalchemy import Connection, Row, delete, insert, select, update

from silverball.kit.errors import Conflict, Invalid, NotAllowed, NotFound
from silverball.kit.http.body import Body
from silverball.kit.http.fields import Color, Id, Labels, Name
from silverball.service import ownership
from silverball.service.calls import Write
from silverball.service.events import feed_events
from silverball.store import announcements, book, merging, rating_days, revisions
from silverball.store.tables import claim, player
from silverball.store.transaction import Transaction
from silverball.wire.values import Status

LABELS_MAX = 10
# Tournaments that a refusal names.
TOURNAMENTS_NAMED_MAX = 3


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


class MergeTarget(Body, frozen=True, kw_only=True):
    """Which player of the book goes on in place of the one in the path."""

    player_id: Id


class ClaimApproval(Body, frozen=True, kw_only=True):
    """Who is this player indeed."""

    user_id: Id


def add_player(call: Write[NewPlayer]) -> int:
    """A new player of the caller; returns its id."""
    return book.add(call.db, book.PLAYER, call.user_id, ownership.sent_values(call.body))


def change_player(call: Write[ChangedPlayer]) -> int:
    """The player in the path, different now."""
    player_id = ownership.owned_id_in_path(call, book.PLAYER)
    values = ownership.sent_values(call.body)
    book.change(call.db, book.PLAYER, player_id, values)
    feed_events.announce_players(call.transaction, [player_id])
    if values.keys() & {"name", "ifpa_id"}:
        rating_days.mark_players(call.db, [player_id])
    return player_id


def require_removable(call: Write[Body]) -> int:
    """The player in the path. Raises Conflict when a tournament has him."""
    player_id = ownership.owned_id_in_path(call, book.PLAYER, is_exclusive=True)
    ownership.refuse_used(call, book.PLAYER, player_id, "Set the player inactive instead.")
    return player_id


def merge_players(call: Write[MergeTarget]) -> int:
    """The player in the path was the one in the body all along; returns the id of that one.

    His entries, results and journal go on under it, and he is gone from the book. Raises NotFound,
    NotAllowed, Invalid, and Conflict when they cannot be the same person.
    """
    gone_id, kept_id = ownership.owned_id_in_path(call, book.PLAYER), call.body.player_id
    owner_id = book.lock_owner(call.db, book.PLAYER, gone_id)
    if kept_id == gone_id:
        raise Invalid({"playerId": ["A player cannot be merged into himself. Name the other entry."]})
    ownership.require_owned_ids(call, book.PLAYER, "playerId", [kept_id], owner_id)
    tournament_ids = merging.tournaments_with(call.db, gone_id)
    told = merging.tournaments_mentioning(call.db, owner_id, gone_id)
    revisions.raise_tournaments(call.transaction, tournament_ids | told)
    for player_id in sorted((gone_id, kept_id)):
        book.lock_owner(call.db, book.PLAYER, player_id, is_exclusive=True)
    if merging.tournaments_with(call.db, gone_id) != tournament_ids:
        raise Conflict("A tournament took the player in a moment ago. Nothing was changed; send it again.")
    others = merging.tournaments_with(call.db, kept_id)
    others |= merging.tournaments_mentioning(call.db, owner_id, kept_id)
    _refuse_different_people(call.db, gone_id, kept_id, tournament_ids & others)
    merging.replace_player(call.db, gone_id, kept_id, tournament_ids | (told - others))
    _inherit_details(call.db, gone_id, kept_id)
    book.remove(call.db, book.PLAYER, gone_id)
    # Followers know the number that is gone: they read everything again.
    announcements.restart_epochs(call.transaction, tournament_ids)
    feed_events.announce_players(call.transaction, [kept_id])
    rating_days.mark_players(call.db, [kept_id])
    return kept_id


def _refuse_different_people(db: Connection, gone_id: int, kept_id: int, shared: Collection[int]) -> None:
    """Raises Conflict for two who met, or who are known to be two."""
    if shared:
        named = ", ".join(str(one) for one in sorted(shared)[:TOURNAMENTS_NAMED_MAX])
        raise Conflict(
            f"Both players have been in tournament {named}, so they are two people there. Take one of them"
            " out of it first, or leave them apart."
        )
    gone, kept = _player_row(db, gone_id), _player_row(db, kept_id)
    for name, said in (("ifpa_id", "federation numbers"), ("claimed_by", "accounts")):
        mine, other = getattr(gone, name), getattr(kept, name)
        if mine is not None and other is not None and mine != other:
            raise Conflict(f"The two players have different {said}: {mine} and {other}. They are two people.")


def _inherit_details(db: Connection, gone_id: int, kept_id: int) -> None:
    """What only the gone entry knew, the kept one knows now."""
    gone, kept = _player_row(db, gone_id), _player_row(db, kept_id)
    labels = [*kept.labels, *(one for one in gone.labels if one not in kept.labels)]
    values = {
        "ifpa_id": kept.ifpa_id if kept.ifpa_id is not None else gone.ifpa_id,
        "claimed_by": kept.claimed_by if kept.claimed_by is not None else gone.claimed_by,
        "labels": labels[:LABELS_MAX],
        "label_color": kept.label_color or gone.label_color,
        "status": "active" if "active" in (gone.status, kept.status) else kept.status,
    }
    db.execute(update(player).where(player.c.player_id == kept_id).values(**values))
    if values["claimed_by"] is not None:
        db.execute(delete(claim).where(claim.c.player_id.in_((gone_id, kept_id))))
        return
    known = select(claim.c.user_id).where(claim.c.player_id == kept_id)
    moved = update(claim).where(claim.c.player_id == gone_id, claim.c.user_id.not_in(known))
    db.execute(moved.values(player_id=kept_id))


def _player_row(db: Connection, player_id: int) -> Row[Any]:
    return db.execute(select(player).where(player.c.player_id == player_id)).one()


def stake_claim(call: Write[Body]) -> int:
    """The caller says that he is this player; his own book's organizer need not ask himself.

    Raises NotFound and Conflict.
    """
    player_id = call.ids["player_id"]
    owner_id = book.lock_owner(call.db, book.PLAYER, player_id)
    _refuse_claimed(call.db, player_id, call.user_id)
    if owner_id == call.user_id:
        _link_player(call.transaction, player_id, call.user_id, owner_id)
    elif _claimed_at(call.db, player_id, call.user_id) is not None:
        raise Conflict("You have claimed this player already. The organizer has still to approve it.")
    else:
        values = {"player_id": player_id, "user_id": call.user_id, "at": call.now}
        call.db.execute(insert(claim).values(**values))
    return player_id


def approve_claim(call: Write[ClaimApproval]) -> int:
    """The organizer says that a claim is right; other claims on the player are over.

    Raises NotFound, NotAllowed, Conflict and Invalid.
    """
    player_id = ownership.owned_id_in_path(call, book.PLAYER)
    user_id = call.body.user_id
    _refuse_claimed(call.db, player_id, user_id)
    if _claimed_at(call.db, player_id, user_id) is None:
        raise Invalid({"userId": [f"User {user_id} has not claimed player {player_id}."]})
    _link_player(call.transaction, player_id, user_id, book.lock_owner(call.db, book.PLAYER, player_id))
    return player_id


def give_up_claim(call: Write[Body], user_id: int | None) -> int:
    """A claim taken back by who made it, or turned down by the organizer, approved or not.

    Raises NotFound and NotAllowed.
    """
    player_id = call.ids["player_id"]
    owner_id = book.lock_owner(call.db, book.PLAYER, player_id)
    if user_id is None:
        user_id = call.user_id
    if user_id != call.user_id and not (_may_end_claim(call, owner_id)):
        raise NotAllowed
    own = (claim.c.player_id == player_id, claim.c.user_id == user_id)
    waited = call.db.execute(delete(claim).where(*own)).rowcount
    had = update(player).where(player.c.player_id == player_id, player.c.claimed_by == user_id)
    held = call.db.execute(had.values(claimed_by=None)).rowcount
    if not waited and not held:
        raise NotFound("Claim", player_id)
    if held:
        feed_events.announce_players(call.transaction, [player_id])
        rating_days.mark_players(call.db, [player_id])
    return player_id


def _may_end_claim(call: Write[Any], owner_id: int) -> bool:
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


def _link_player(transaction: Transaction, player_id: int, user_id: int, owner_id: int) -> None:
    """The user is this player from now on. Raises Conflict when he is another one of the same book."""
    db = transaction.connection
    same_book = (player.c.organizer_id == owner_id, player.c.claimed_by == user_id)
    other = db.execute(select(player.c.player_id).where(*same_book).limit(1)).scalar_one_or_none()
    if other is not None:
        raise Conflict(f"User {user_id} is player {other} of this book already. Give that claim up first.")
    db.execute(update(player).where(player.c.player_id == player_id).values(claimed_by=user_id))
    db.execute(delete(claim).where(claim.c.player_id == player_id))
    feed_events.announce_players(transaction, [player_id])
    rating_days.mark_players(db, [player_id])
