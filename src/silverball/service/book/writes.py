"""Merge machines of an organizer's book, and undo what was done to it as a whole."""

from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any

from sqlalchemy import Connection, Row, delete, select, update

from silverball.kit.errors import Conflict, Invalid, NotAllowed
from silverball.kit.http.body import Body
from silverball.kit.http.fields import Id
from silverball.service.core import access, commands, enact, feed_events
from silverball.service.core.calls import Write
from silverball.store.people import arena_merging, book, book_actions, merging, person_numbers, rating_days
from silverball.store.people.book import OwnedKind
from silverball.store.people.book_actions import CHANGED, NUMBER, USED, BookAction
from silverball.store.people.names import name_key
from silverball.store.revisions import revisions
from silverball.store.tables import arena, claim, player
from silverball.store.tournament import announcements, imports, journal

# Tournaments that a refusal names.
TOURNAMENTS_NAMED_MAX = 3
Undo = Callable[[Write[Any], BookAction], Mapping[str, Any]]


class ArenaJustUsed(Conflict):
    sentence = "A tournament has just taken the machine. Nothing was changed; try again."


class ArenasMetInTournament(Conflict):
    sentence = (
        "Tournament {tournament_ids} had both machines, so they are two machines there. Set one of them"
        " inactive instead, or keep both."
    )


class ArenasMetInBank(Conflict):
    sentence = "Bank {bank} has both machines. Remove one of them there first, or keep both."


class ArenasAreDifferentMachines(Conflict):
    sentence = (
        "The two have different {facts}: {first} and {second}. Correct one of them first if they are one"
        " machine."
    )


class BookActionUndone(Conflict):
    sentence = "This was undone already."


class LaterMerge(Conflict):
    sentence = "The machine was merged into another one since. Undo that first."


class MergedArenaGone(Conflict):
    sentence = "One of the two machines is not in the book any more, so the merge stays."


class BankPlayedMeanwhile(Conflict):
    sentence = (
        "Tournament {tournament} is being played with bank {bank}, which has the machine. Finish it first."
    )


class ArenaMergeTarget(Body, frozen=True, kw_only=True):
    """The machine of the book that replaces the one in the path."""

    arena_id: Id
    """Id of the arena that takes over all games."""


def merge_arenas(call: Write[ArenaMergeTarget]) -> int:
    """Merge the arena in the path into the one in the body, and return the latter's id.

    All lineups, games and banks have the remaining arena, and each journal gets a line about it; the other
    stays in the book, inactive. Raises NotFound, NotAllowed, Invalid, and Conflict when they are two.
    """
    removed_id, remaining_id = access.owned_id_in_path(call, book.ARENA), call.body.arena_id
    owner_id = book.lock_owner(call.db, book.ARENA, removed_id)
    if remaining_id == removed_id:
        raise Invalid({"arenaId": ["A machine cannot be merged into itself. Name the other entry."]})
    access.require_owned_ids(call, book.ARENA, "arenaId", [remaining_id], owner_id)
    tournament_ids = arena_merging.tournaments_with(call.db, removed_id)
    revisions.raise_tournaments(call.transaction, tournament_ids)
    bank_ids = arena_merging.banks_with(call.db, removed_id)
    _lock_rows(call.db, (removed_id, remaining_id), bank_ids)
    if (
        arena_merging.tournaments_with(call.db, removed_id) != tournament_ids
        or arena_merging.banks_with(call.db, removed_id) != bank_ids
    ):
        raise ArenaJustUsed
    removed = _refuse_two_machines(call.db, owner_id, removed_id, remaining_id)
    moved = imports.replace_local_id(call.db, "arenaId", removed_id, remaining_id)
    _change_tournaments(call, removed_id, remaining_id, tournament_ids, bank_ids)
    call.db.execute(update(arena).where(arena.c.arena_id == removed_id).values(status="inactive"))
    undo = {
        "removed_id": removed_id,
        "remaining_id": remaining_id,
        "tournament_ids": sorted(tournament_ids),
        "bank_ids": bank_ids,
        "moved": moved,
        "status": removed.status,
    }
    book_actions.record(call.db, owner_id, book_actions.ARENAS_MERGED, undo, call.now)
    return remaining_id


def _lock_rows(db: Connection, arena_ids: Collection[int], bank_ids: Collection[int]) -> None:
    """Let nobody refer to these anew before the commit."""
    for bank_id in sorted(bank_ids):
        book.lock_owner(db, book.BANK, bank_id, is_exclusive=True)
    for arena_id in sorted(arena_ids):
        book.lock_owner(db, book.ARENA, arena_id, is_exclusive=True)


def _refuse_two_machines(db: Connection, owner_id: int, removed_id: int, remaining_id: int) -> Row[Any]:
    """Raise Conflict for two titles or classes, and for machines that met; returns the removed one's row."""
    removed, remaining = (
        db.execute(select(arena).where(arena.c.arena_id == arena_id)).one()
        for arena_id in (removed_id, remaining_id)
    )
    facts = {"OPDB ids": "opdb_id", "classes": "category_id"}
    if removed.opdb_id is None and name_key(removed.name) != name_key(remaining.name):
        facts["names"] = "name"
    for words, name in facts.items():
        first, second = getattr(removed, name), getattr(remaining, name)
        if first != second:
            shown = ["none" if value is None else value for value in (first, second)]
            raise ArenasAreDifferentMachines(facts=words, first=shown[0], second=shown[1])
    known = [
        arena_merging.tournaments_with(db, arena_id)
        | arena_merging.tournaments_mentioning(db, owner_id, arena_id)
        for arena_id in (removed_id, remaining_id)
    ]
    _refuse_met(known[0] & known[1])
    both = {*arena_merging.banks_with(db, removed_id)} & {*arena_merging.banks_with(db, remaining_id)}
    if both:
        raise ArenasMetInBank(bank=min(both))
    return removed


def _refuse_met(tournament_ids: Collection[int]) -> None:
    if tournament_ids:
        named = sorted(tournament_ids)[:TOURNAMENTS_NAMED_MAX]
        raise ArenasMetInTournament(tournament_ids=", ".join(map(str, named)))


def _change_tournaments(
    call: Write[Any],
    old_id: int,
    new_id: int,
    tournament_ids: Collection[int],
    bank_ids: Collection[int],
    *,
    is_undo: bool = False,
) -> None:
    """Put the new arena in the old one's place, in rows and journals, and tell who follows."""
    arena_merging.replace_arena(call.db, old_id, new_id, tournament_ids, bank_ids)
    data = {"removed_arena": old_id, "remaining_arena": new_id, "is_undo": is_undo}
    entry = (journal.ARENAS_MERGED, data)
    enact.record_merge(call.transaction, tournament_ids, entry, commands.action_context(call))
    # Followers know the removed id, so they must read everything again.
    announcements.restart_epochs(call.transaction, tournament_ids)
    feed_events.announce_arenas(call.transaction, [new_id])
    feed_events.announce_banks(call.transaction, bank_ids)


def undo_book_action(call: Write[Body]) -> int:
    """Undo the action in the path, and return its id. Raises NotFound, NotAllowed and Conflict."""
    action = book_actions.find(call.db, call.ids["book_action_id"], is_locked=True)
    if action.user_id != call.user_id and not call.caller.is_admin:
        raise NotAllowed
    if action.undone_at is not None:
        raise BookActionUndone
    data = UNDOS[action.kind](call, action)
    book_actions.mark_undone(call.db, action, data, call.now)
    return action.book_action_id


def _undo_merge(call: Write[Any], action: BookAction) -> Mapping[str, Any]:
    """Give the tournaments, banks and names of other services that the merge changed their machine back."""
    db, merge = call.db, action.data
    removed_id, remaining_id = merge["removed_id"], merge["remaining_id"]
    if book_actions.merges_of(book_actions.newest(db, action.user_id), remaining_id):
        raise LaterMerge
    if len(book.owners_by_id(db, book.ARENA, {removed_id, remaining_id})) < len((removed_id, remaining_id)):
        raise MergedArenaGone
    tournament_ids = set(revisions.raise_tournaments(call.transaction, merge["tournament_ids"]))
    bank_ids = [
        bank_id
        for bank_id in arena_merging.banks_with(db, remaining_id)
        if bank_id in merge["bank_ids"] and bank_id not in arena_merging.banks_with(db, removed_id)
    ]
    _lock_rows(db, (removed_id, remaining_id), bank_ids)
    _refuse_met(
        arena_merging.tournaments_with(db, removed_id) & tournament_ids
        | arena_merging.tournaments_mentioning_since(db, tournament_ids, removed_id)
    )
    for played in arena_merging.played_banks(db, bank_ids, tournament_ids):
        raise BankPlayedMeanwhile(tournament=played.tournament_id, bank=played.bank_id)
    imports.restore_local_ids(db, "arenaId", merge["moved"], remaining_id, removed_id)
    _change_tournaments(call, remaining_id, removed_id, tournament_ids, bank_ids, is_undo=True)
    db.execute(update(arena).where(arena.c.arena_id == removed_id).values(status=merge["status"]))
    return merge


def _undo_players(call: Write[Any], action: BookAction) -> Mapping[str, Any]:
    """Take back the players and numbers that a list brought; returns the data with what stays and why."""
    db, data = call.db, action.data
    person_numbers.lock_numbers(db, action.user_id)
    given = {each["player_id"]: each["digest"] for each in data["numbers"]}
    kept = _remove_added(db, book.PLAYER, data["players"])
    now = select(player.c.player_id, player.c.ifpa_id).where(player.c.player_id.in_(given)).with_for_update()
    numbers = dict(db.execute(now.order_by(player.c.player_id)).all())
    same = [
        player_id for player_id, number in numbers.items() if book_actions.digest(number) == given[player_id]
    ]
    db.execute(update(player).where(player.c.player_id.in_(same)).values(ifpa_id=None))
    feed_events.announce_players(call.transaction, same)
    rating_days.mark_players(db, same)
    others = [{"player_id": player_id, "reason": NUMBER} for player_id in numbers if player_id not in same]
    return {**data, "kept": [*kept, *others]}


def _undo_arenas(call: Write[Any], action: BookAction) -> Mapping[str, Any]:
    """Take back the machines that a list brought; returns the data with what stays and why."""
    return {**action.data, "kept": _remove_added(call.db, book.ARENA, action.data["arenas"])}


def _remove_added(
    db: Connection, kind: OwnedKind, added: Sequence[Mapping[str, Any]]
) -> list[dict[str, Any]]:
    """Delete these rows where nothing uses them and they are as they were added; returns the others."""
    digests = {each[kind.key_name]: each["digest"] for each in added}
    now = book_actions.digests(db, kind, digests, is_locked=True)
    unused = select(kind.key).where(kind.key.in_(now), merging.is_unreferenced(kind.key))
    free = set(db.execute(unused).scalars())
    if kind is book.PLAYER:
        free -= set(db.execute(select(claim.c.player_id).where(claim.c.player_id.in_(now))).scalars())
    reasons = {
        row_id: USED if row_id not in free else CHANGED
        for row_id, digest in now.items()
        if row_id not in free or digest != digests[row_id]
    }
    db.execute(delete(kind.table).where(kind.key.in_(now.keys() - reasons.keys())))
    return [{kind.key_name: row_id, "reason": reason} for row_id, reason in reasons.items()]


UNDOS: Mapping[str, Undo] = {
    book_actions.ARENAS_MERGED: _undo_merge,
    book_actions.PLAYERS_IMPORTED: _undo_players,
    book_actions.ARENAS_IMPORTED: _undo_arenas,
}
