"""Change the players of an organizer's book, claims on them, and clubs."""

from collections.abc import Collection
from datetime import datetime
from typing import Any

from msgspec import UNSET, UnsetType
from sqlalchemy import Connection, Row, delete, insert, select, update

from silverball.kit.errors import Conflict, Invalid, NotAllowed, NotFound, Sentence
from silverball.kit.http.body import Body
from silverball.kit.http.fields import Color, Id, Labels, Line, Name, Text, Url
from silverball.service.core import access, commands, enact, feed_events
from silverball.service.core.calls import Write
from silverball.service.core.person_numbers import player_of_number, refuse_taken_number
from silverball.store import tables
from silverball.store.counts import quotas
from silverball.store.database.transaction import Transaction
from silverball.store.people import book, merging, person_numbers, rating_days
from silverball.store.revisions import revisions
from silverball.store.tables import claim, player
from silverball.store.tournament import announcements, chain, imports, journal
from silverball_wire.values import Status

LABELS_MAX = 10
# Claims of one account that wait for organizers.
CLAIMS_MAX = 50
# Tournaments that a refusal names.
TOURNAMENTS_NAMED_MAX = 3


class PlayerJustEntered(Conflict):
    sentence = "A tournament has just added the player. Nothing was changed; try again."


class PlayersMetInTournament(Conflict):
    sentence = (
        "Both players were in tournament {tournament_ids}, so they are two people there."
        " Remove one of them from it first, or keep both players."
    )


class PlayersAreDifferentPeople(Conflict):
    sentence = "The two players have different {identifiers}: {first} and {second}. They are two people."


class ClaimAlreadyPending(Conflict):
    sentence = "You have claimed this player already. The organizer still has to approve the claim."


class TooManyClaims(Conflict):
    sentence = (
        "{limit} of your claims are waiting already. Wait until organizers have answered some of them,"
        " or withdraw some."
    )


class ClaimAlreadyApproved(Conflict):
    sentence = "{player} belongs to user {user_id} already."


class PlayerAlreadyClaimed(Conflict):
    sentence = "{player} belongs to user {user_id}. That user or the organizer must end the claim first."


class UserIsOtherPlayer(Conflict):
    sentence = "User {user_id} is {other_player} of this book already. Give up that claim first."


class NewPlayer(Body, frozen=True, kw_only=True):
    """A new player of the caller's book."""

    name: Name
    ifpa_id: Id | None = None
    """Federation number; a number that the book has is that player."""
    number_wins: bool = False
    """The player who has the number is meant, whatever the name."""
    status: Status = "active"
    labels: Labels = ()
    label_color: Color | None = None


class ChangedPlayer(Body, frozen=True, kw_only=True):
    """The changed fields of a player."""

    name: Name | UnsetType = UNSET
    ifpa_id: Id | UnsetType | None = UNSET
    status: Status | UnsetType = UNSET
    labels: Labels | UnsetType = UNSET
    label_color: Color | UnsetType | None = UNSET


class MergeTarget(Body, frozen=True, kw_only=True):
    """The player of the book that replaces the one in the path."""

    player_id: Id
    """Id of the player who takes over all results."""


class ClaimApproval(Body, frozen=True, kw_only=True):
    """The user whose claim is approved."""

    user_id: Id
    """Id of the account whose claim is approved."""


def add_player(call: Write[NewPlayer]) -> int:
    """Add a player to the caller's book, unless the number is in it; returns the id. Raises Conflict."""
    number = call.body.ifpa_id
    if number is not None:
        person_numbers.lock_numbers(call.db, call.user_id)
        found = person_numbers.holders(call.db, call.user_id, [number])
        player_id = player_of_number(found, number, call.body.name, number_wins=call.body.number_wins)
        if player_id is not None:
            return player_id
    quotas.require_room_for_players(call.db, call.user_id, call.settings.players_per_account)
    sent = {name: value for name, value in access.sent_values(call.body).items() if name != "number_wins"}
    values = chain.with_name_digest(sent)
    return book.add(call.db, book.PLAYER, call.user_id, values)


def change_player(call: Write[ChangedPlayer]) -> int:
    """Change the player in the path, and return the id."""
    player_id = access.owned_id_in_path(call, book.PLAYER)
    values = access.sent_values(call.body)
    if isinstance(call.body.ifpa_id, int):
        owner_id = book.lock_owner(call.db, book.PLAYER, player_id)
        refuse_taken_number(call.db, owner_id, call.body.ifpa_id, except_id=player_id)
    book.change(call.db, book.PLAYER, player_id, chain.with_name_digest(values))
    feed_events.announce_players(call.transaction, [player_id])
    if values.keys() & {"name", "ifpa_id"}:
        rating_days.mark_players(call.db, [player_id])
    return player_id


def require_removable(call: Write[Body]) -> int:
    """The id in the path. Raises Conflict when the player is in a tournament."""
    return access.removable_id_in_path(call, book.PLAYER, "Set the player inactive instead.")


def merge_players(call: Write[MergeTarget]) -> int:
    """Merge the player in the path into the one in the body, and return the latter's id.

    All entries and results move to the remaining player; each journal gets a line about it. Raises
    NotFound, NotAllowed, Invalid, and Conflict when the two cannot be the same person.
    """
    removed_id, remaining_id = access.owned_id_in_path(call, book.PLAYER), call.body.player_id
    owner_id = book.lock_owner(call.db, book.PLAYER, removed_id)
    if remaining_id == removed_id:
        raise Invalid({"playerId": ["A player cannot be merged into itself. Name the other entry."]})
    access.require_owned_ids(call, book.PLAYER, "playerId", [remaining_id], owner_id)
    tournament_ids = merging.tournaments_with(call.db, removed_id)
    mentioning = merging.tournaments_mentioning(call.db, owner_id, removed_id)
    revisions.raise_tournaments(call.transaction, tournament_ids | mentioning)
    for player_id in sorted((removed_id, remaining_id)):
        book.lock_owner(call.db, book.PLAYER, player_id, is_exclusive=True)
    if merging.tournaments_with(call.db, removed_id) != tournament_ids:
        raise PlayerJustEntered
    others = merging.tournaments_with(call.db, remaining_id)
    others |= merging.tournaments_mentioning(call.db, owner_id, remaining_id)
    _refuse_different_people(call.db, removed_id, remaining_id, tournament_ids & others)
    concerned = tournament_ids | (mentioning - others)
    merging.replace_player(call.db, removed_id, remaining_id, concerned)
    entry = (journal.PLAYERS_MERGED, {"removed": removed_id, "remaining": remaining_id})
    enact.record_merge(call.transaction, concerned, entry, commands.action_context(call))
    _inherit_details(call.db, removed_id, remaining_id)
    imports.replace_local_id(call.db, "playerId", removed_id, remaining_id)
    book.remove(call.db, book.PLAYER, removed_id)
    # Followers know the removed id, so they must read everything again.
    announcements.restart_epochs(call.transaction, tournament_ids)
    feed_events.announce_players(call.transaction, [remaining_id])
    rating_days.mark_players(call.db, [remaining_id])
    return remaining_id


def _refuse_different_people(
    db: Connection, removed_id: int, remaining_id: int, shared: Collection[int]
) -> None:
    """Raise Conflict for two players who met, or who have different numbers or accounts."""
    if shared:
        named = ", ".join(str(tournament_id) for tournament_id in sorted(shared)[:TOURNAMENTS_NAMED_MAX])
        raise PlayersMetInTournament(tournament_ids=named)
    removed, remaining = _player_row(db, removed_id), _player_row(db, remaining_id)
    for name, identifiers in (("ifpa_id", "federation numbers"), ("claimed_by", "accounts")):
        mine, other = getattr(removed, name), getattr(remaining, name)
        if mine is not None and other is not None and mine != other:
            raise PlayersAreDifferentPeople(identifiers=identifiers, first=mine, second=other)


def _inherit_details(db: Connection, removed_id: int, remaining_id: int) -> None:
    """Copy the details that only the removed player has to the remaining one, and move the claims."""
    removed, remaining = _player_row(db, removed_id), _player_row(db, remaining_id)
    labels = [*remaining.labels, *(label for label in removed.labels if label not in remaining.labels)]
    values = {
        "ifpa_id": remaining.ifpa_id if remaining.ifpa_id is not None else removed.ifpa_id,
        "claimed_by": remaining.claimed_by if remaining.claimed_by is not None else removed.claimed_by,
        "labels": labels[:LABELS_MAX],
        "label_color": remaining.label_color or removed.label_color,
        "status": "active" if "active" in (removed.status, remaining.status) else remaining.status,
    }
    db.execute(update(player).where(player.c.player_id == remaining_id).values(**values))
    if values["claimed_by"] is not None:
        db.execute(delete(claim).where(claim.c.player_id.in_((removed_id, remaining_id))))
        return
    known = select(claim.c.user_id).where(claim.c.player_id == remaining_id)
    moved = update(claim).where(claim.c.player_id == removed_id, claim.c.user_id.not_in(known))
    db.execute(moved.values(player_id=remaining_id))


def _player_row(db: Connection, player_id: int) -> Row[Any]:
    return db.execute(select(player).where(player.c.player_id == player_id)).one()


def stake_claim(call: Write[Body]) -> int:
    """Claim the player in the path as the caller. In the caller's own book no approval is needed.

    Raises NotFound and Conflict.
    """
    if call.caller.device is not None:
        # A device has no account that a player could belong to.
        raise NotAllowed
    player_id = call.ids["player_id"]
    owner_id = book.lock_owner(call.db, book.PLAYER, player_id)
    _refuse_claimed(call.db, player_id, call.user_id)
    if owner_id == call.user_id:
        _link_player(call.transaction, player_id, call.user_id, owner_id)
    elif _claimed_at(call.db, player_id, call.user_id) is not None:
        raise ClaimAlreadyPending
    else:
        _refuse_many_claims(call.db, call.user_id)
        values = {"player_id": player_id, "user_id": call.user_id, "at": call.now}
        call.db.execute(insert(claim).values(**values))
    return player_id


def approve_claim(call: Write[ClaimApproval]) -> int:
    """Approve a claim as the organizer, and end other claims on the player.

    Raises NotFound, NotAllowed, Conflict and Invalid.
    """
    player_id = access.owned_id_in_path(call, book.PLAYER)
    user_id = call.body.user_id
    _refuse_claimed(call.db, player_id, user_id)
    if _claimed_at(call.db, player_id, user_id) is None:
        raise Invalid(
            {
                "userId": [
                    Sentence("User {user_id} has not claimed {player}.", user_id=user_id, player=player_id)
                ]
            }
        )
    _link_player(call.transaction, player_id, user_id, book.lock_owner(call.db, book.PLAYER, player_id))
    return player_id


def give_up_claim(call: Write[Body], user_id: int | None) -> int:
    """Withdraw a claim as the claimant, or reject it as the organizer, approved or not.

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
        feed_events.announce_players(call.transaction, [player_id], is_hiding=True)
        rating_days.mark_players(call.db, [player_id])
    return player_id


def _may_end_claim(call: Write[Any], owner_id: int) -> bool:
    return bool(call.caller.is_admin or (call.user_id == owner_id and call.caller.may("manage")))


def _refuse_many_claims(db: Connection, user_id: int) -> None:
    quotas.require_room(
        db,
        claim,
        claim.c.user_id == user_id,
        owner=f"account {user_id}",
        limit=CLAIMS_MAX,
        refusal=lambda _: TooManyClaims(limit=CLAIMS_MAX),
    )


def _refuse_claimed(db: Connection, player_id: int, user_id: int) -> None:
    rows = select(player.c.claimed_by).where(player.c.player_id == player_id)
    holder = db.execute(rows).scalar_one()
    if holder == user_id:
        raise ClaimAlreadyApproved(player=player_id, user_id=user_id)
    if holder is not None:
        raise PlayerAlreadyClaimed(player=player_id, user_id=holder)


def _claimed_at(db: Connection, player_id: int, user_id: int) -> datetime | None:
    rows = select(claim.c.at).where(claim.c.player_id == player_id, claim.c.user_id == user_id)
    return db.execute(rows).scalar_one_or_none()


def _link_player(transaction: Transaction, player_id: int, user_id: int, owner_id: int) -> None:
    """Link the user to the player. Raises Conflict when the user is another player of the same book."""
    db = transaction.connection
    same_book = (player.c.organizer_id == owner_id, player.c.claimed_by == user_id)
    other = db.execute(select(player.c.player_id).where(*same_book).limit(1)).scalar_one_or_none()
    if other is not None:
        raise UserIsOtherPlayer(user_id=user_id, other_player=other)
    db.execute(update(player).where(player.c.player_id == player_id).values(claimed_by=user_id))
    db.execute(delete(claim).where(claim.c.player_id == player_id))
    feed_events.announce_players(transaction, [player_id])
    rating_days.mark_players(db, [player_id])


class NewClub(Body, frozen=True, kw_only=True):
    """A new club of the caller."""

    name: Name
    logo: Url | None = None
    description: Text | None = None
    location: Line | None = None


class ChangedClub(Body, frozen=True, kw_only=True):
    """The changed fields of a club."""

    name: Name | UnsetType = UNSET
    logo: Url | UnsetType | None = UNSET
    description: Text | UnsetType | None = UNSET
    location: Line | UnsetType | None = UNSET


def create_club(
    transaction: Transaction,
    user_id: int,
    *,
    name: str,
    description: str | None,
    location: str | None,
    logo: str | None = None,
) -> int:
    """Create a club with this user as its leader and first member, and return its id."""
    db = transaction.connection
    values = {
        "user_id": user_id,
        "name": name,
        "description": description,
        "location": location,
        "logo": logo,
    }
    inserted = insert(tables.club).values(**values).returning(tables.club.c.club_id)
    club_id = int(db.execute(inserted).scalar_one())
    db.execute(update(tables.user).where(tables.user.c.user_id == user_id).values(club_id=club_id))
    feed_events.announce_users(transaction, [user_id])
    return club_id


def join_club(transaction: Transaction, user_id: int, club_id: int) -> None:
    """Make the user a member of the club, and of no other."""
    joined = update(tables.user).where(tables.user.c.user_id == user_id).values(club_id=club_id)
    transaction.connection.execute(joined)
    feed_events.announce_users(transaction, [user_id])


def change_club(call: Write[ChangedClub]) -> int:
    """Change the club in the path, and return its id."""
    club_id = access.owned_id_in_path(call, book.CLUB)
    book.change(call.db, book.CLUB, club_id, access.sent_values(call.body))
    return club_id


def delete_club(call: Write[Body]) -> None:
    """Delete the club in the path; its members have no club afterwards."""
    club_id = access.owned_id_in_path(call, book.CLUB, is_exclusive=True)
    users = tables.user.c
    members = call.db.execute(select(users.user_id).where(users.club_id == club_id)).scalars().all()
    call.db.execute(update(tables.user).where(users.club_id == club_id).values(club_id=None))
    book.remove(call.db, book.CLUB, club_id)
    feed_events.announce_users(call.transaction, members)
