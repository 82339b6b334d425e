"""How often somebody may still play: entries bought, attempts allowed. Source: formats, 14.18, 19."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime

from silverball.kit.errors import Conflict
from silverball.rules.model.changes import Change, EntrantChanged, EntriesBought
from silverball.rules.model.tournament import Entrant, Purchase, SinglePlayerGame, Tournament


def attempts_of_player(tournament: Tournament, player_id: int) -> list[SinglePlayerGame]:
    """Every single player game of a player; voided ones are used up too."""
    return [attempt for attempt in tournament.single_player_games if attempt.player_id == player_id]


def require_entries_left(
    tournament: Tournament, entrant: Entrant, used: int, *, limit: int, unit: str
) -> None:
    """Raises Conflict when nothing is left of the entries or of the attempts.

    Takes how many (`what`: "games" or "cards") the player has used up and the most that the settings
    allow, 0 for any number.
    """
    who = f"Player {entrant.player_id}"
    if tournament.has_entry_limits and used >= entrant.entries_bought:
        raise Conflict(f"{who} has used all {entrant.entries_bought} entries. Add an entry first.")
    if limit and used >= limit:
        raise Conflict(f"{who} has used all {limit} {unit} a player may have in this tournament.")


def require_attempts_left_on_arena(
    tournament: Tournament, entrant: Entrant, arena_id: int, *, limit: int
) -> None:
    """Raises Conflict when the player has used the attempts on this arena; 0 allows any number."""
    used = sum(attempt.arena_id == arena_id for attempt in attempts_of_player(tournament, entrant.player_id))
    if limit and used >= limit:
        who = f"Player {entrant.player_id}"
        raise Conflict(f"{who} has used all {limit} attempts on arena {arena_id}. Choose another arena.")


def automatic_entries(tournament: Tournament) -> int:
    """How many entries everybody gets without asking. Source: formats, section 19."""
    return int((tournament.details.get("entry_configuration") or {}).get("automaticEntries") or 0)


def give_entries(
    tournament: Tournament, player_ids: Sequence[int], quantity: int, now: datetime
) -> list[Change]:
    """Entries that these players get without asking: at the start, or when they come late.

    Source: formats, section 19.
    """
    changes: list[Change] = []
    for player_id in player_ids if quantity else ():
        one = tournament.entrant_by_id[player_id]
        purchase = Purchase(
            entry_id=-1 - len(changes),
            player_id=player_id,
            type="comped",
            quantity=quantity,
            created_at=now,
        )
        changes.append(EntriesBought(purchase))
        changes.append(EntrantChanged(one, replace(one, entries_bought=one.entries_bought + quantity)))
    return changes
