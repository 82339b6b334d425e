"""Limits on how often a player may play: entries bought, attempts allowed. Source: formats, 14.18, 19."""

from collections.abc import Sequence
from datetime import datetime

from silverball.kit.errors import Conflict
from silverball.kit.values import replace
from silverball.rules.model.changes import Change, EntrantChanged, EntriesBought
from silverball.rules.model.purchases import Purchase
from silverball.rules.model.tournament import Entrant, SinglePlayerGame, Tournament


class EntriesUsedUp(Conflict):
    sentence = "{player} has used all {bought} entries. Add an entry first."


class AttemptsUsedUp(Conflict):
    sentence = "{player} has used all {limit} {unit} a player may have in this tournament."


class AttemptsOnArenaUsedUp(Conflict):
    sentence = "{player} has used all {limit} attempts on {arena}. Choose another arena."


def attempts_of_player(tournament: Tournament, player_id: int) -> Sequence[SinglePlayerGame]:
    """All single player games of a player; voided ones are used up too."""
    return tournament.attempts_by_player.get(player_id, ())


def require_entries_left(
    tournament: Tournament, entrant: Entrant, used: int, *, limit: int, unit: str
) -> None:
    """Refuse a player without entries or attempts left. Raises Conflict.

    Takes the number that the player has used up and the most that the settings allow (`unit`: "games"
    or "cards"), 0 for any number.
    """
    if tournament.has_entry_limits and used >= entrant.entries_bought:
        raise EntriesUsedUp(player=entrant.player_id, bought=entrant.entries_bought)
    if limit and used >= limit:
        raise AttemptsUsedUp(player=entrant.player_id, limit=limit, unit=unit)


def require_attempts_left_on_arena(
    tournament: Tournament, entrant: Entrant, arena_id: int, *, limit: int
) -> None:
    """Refuse a player who has used the attempts on this arena; 0 allows any number. Raises Conflict."""
    used = sum(attempt.arena_id == arena_id for attempt in attempts_of_player(tournament, entrant.player_id))
    if limit and used >= limit:
        raise AttemptsOnArenaUsedUp(player=entrant.player_id, limit=limit, arena=arena_id)


def automatic_entries(tournament: Tournament) -> int:
    """Number of entries that every player gets for free. Source: formats, section 19."""
    return int((tournament.details.get("entry_configuration") or {}).get("automaticEntries") or 0)


def give_entries(
    tournament: Tournament, player_ids: Sequence[int], quantity: int, now: datetime
) -> list[Change]:
    """Give these players their free entries, at the start or on late entry.

    Source: formats, section 19.
    """
    changes: list[Change] = []
    for player_id in player_ids if quantity else ():
        entrant = tournament.entrant_by_id[player_id]
        purchase = Purchase(
            entry_id=-1 - len(changes),
            player_id=player_id,
            type="comped",
            quantity=quantity,
            created_at=now,
        )
        changes.append(EntriesBought(purchase))
        changes.append(
            EntrantChanged(entrant, replace(entrant, entries_bought=entrant.entries_bought + quantity))
        )
    return changes
