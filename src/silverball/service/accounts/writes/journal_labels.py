"""Erase the labels of a person's players from the journal, which is the only place that keeps old ones.

A label may say who somebody is. All entries of a player are rewritten alike, so that undo and
verification, which compare them with each other and with the rows, find no difference.
"""

from collections.abc import Collection
from typing import Any

from sqlalchemy import ColumnElement, Connection, or_, select, update

from silverball.store import journal
from silverball.store.tables import entrant, player, tournament
from silverball.store.tables import journal as journal_table

ENTRANT_CHANGES = tuple(
    name for name, kind in journal.CHANGES.items() if getattr(kind, "part", None) == "entrants"
)
_ENTRY = journal_table.c


def erase_labels(db: Connection, player_ids: Collection[int]) -> None:
    """Erase the labels that these players ever had in a tournament."""
    if not player_ids:
        return
    owners = select(player.c.organizer_id).where(player.c.player_id.in_(player_ids))
    organized = select(tournament.c.tournament_id).where(tournament.c.organizer_id.in_(owners))
    entered = select(entrant.c.tournament_id).where(entrant.c.player_id.in_(player_ids))
    in_tournaments = _ENTRY.tournament_id.in_(organized.union(entered))
    player_ids = _with_merged_ids(db, player_ids, in_tournaments)
    # Lines of an earlier version are sealed later, when their journal is chained.
    may_have_labels = or_(_ENTRY.sealed_labels.is_not(None), _ENTRY.hash.is_(None))
    rows = select(_ENTRY.journal_id, _ENTRY.data, _ENTRY.sealed_labels).where(
        in_tournaments,
        _ENTRY.change.in_(ENTRANT_CHANGES),
        may_have_labels,
    )
    for journal_id, data, sealed in db.execute(rows).all():
        if _erase_from_entry(data, player_ids):
            # The hashes stay, so that the chain stays whole; without the salt they say nothing.
            hashes = None if sealed is None else {"hashes": sealed["hashes"]}
            line = update(journal_table).where(_ENTRY.journal_id == journal_id)
            db.execute(line.values(data=data, sealed_labels=hashes))


def _with_merged_ids(
    db: Connection, player_ids: Collection[int], in_tournaments: ColumnElement[bool]
) -> set[int]:
    """These players, and those that were merged into them, whom earlier lines name."""
    merges = select(_ENTRY.data).where(in_tournaments, _ENTRY.change == journal.PLAYERS_MERGED)
    ids = set(player_ids)
    # The newest first, because the removed one may be what remained of an earlier merge.
    for data in db.execute(merges.order_by(_ENTRY.journal_id.desc())).scalars():
        if data["remaining"] in ids:
            ids.add(data["removed"])
    return ids


def _erase_from_entry(data: dict[str, Any], player_ids: Collection[int]) -> bool:
    """Erase the labels in place; returns whether there were any."""
    labelled = [
        side
        for side in data.values()
        if side["player_id"] in player_ids and (side.get("labels") or side.get("label_color"))
    ]
    for side in labelled:
        side.update({"labels": [], "label_color": None})
    return bool(labelled)
