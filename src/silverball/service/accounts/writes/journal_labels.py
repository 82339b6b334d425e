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
# The second condition is that of an index; every line has a hash.
_MAY_HAVE_LABELS = (
    _ENTRY.change.in_(ENTRANT_CHANGES),
    or_(_ENTRY.sealed_labels.is_not(None), _ENTRY.hash.is_(None)),
)


def labelled_tournaments(db: Connection, player_ids: Collection[int]) -> set[int]:
    """The tournaments whose journal has labels of these players, in the books that they are in."""
    if not player_ids:
        return set()
    rows = select(_ENTRY.tournament_id, _ENTRY.data).where(_in_their_books(player_ids), *_MAY_HAVE_LABELS)
    return {tournament_id for tournament_id, data in db.execute(rows) if _labelled_sides(data, player_ids)}


def erase_labels(db: Connection, player_ids: Collection[int], tournament_ids: Collection[int]) -> None:
    """Erase the labels that these players ever had in these tournaments."""
    if not player_ids:
        return
    rows = select(_ENTRY.journal_id, _ENTRY.data, _ENTRY.sealed_labels).where(
        _ENTRY.tournament_id.in_(tournament_ids), *_MAY_HAVE_LABELS
    )
    for journal_id, data, sealed in db.execute(rows).all():
        labelled = _labelled_sides(data, player_ids)
        for side in labelled:
            side.update({"labels": [], "label_color": None})
        if labelled:
            # The hashes stay, so that the chain stays whole; without the salt they say nothing.
            hashes = None if sealed is None else {"hashes": sealed["hashes"]}
            line = update(journal_table).where(_ENTRY.journal_id == journal_id)
            db.execute(line.values(data=data, sealed_labels=hashes))


def _in_their_books(player_ids: Collection[int]) -> ColumnElement[bool]:
    """Whether a line is of a tournament of these players' organizers, or of one that they are in."""
    owners = select(player.c.organizer_id).where(player.c.player_id.in_(player_ids))
    organized = select(tournament.c.tournament_id).where(tournament.c.organizer_id.in_(owners))
    entered = select(entrant.c.tournament_id).where(entrant.c.player_id.in_(player_ids))
    return _ENTRY.tournament_id.in_(organized.union(entered))


def with_merged_players(db: Connection, player_ids: Collection[int]) -> set[int]:
    """These players, and those that were merged into them, whom earlier lines name."""
    merged = _ENTRY.change == journal.PLAYERS_MERGED
    merges = select(_ENTRY.data).where(_in_their_books(player_ids), merged)
    ids = set(player_ids)
    # The newest first, because the removed one may be what remained of an earlier merge.
    for data in db.execute(merges.order_by(_ENTRY.journal_id.desc())).scalars():
        if data["remaining"] in ids:
            ids.add(data["removed"])
    return ids


def _labelled_sides(data: dict[str, Any], player_ids: Collection[int]) -> list[dict[str, Any]]:
    """The states of a change in which one of the players has a label."""
    return [
        side
        for side in data.values()
        if side["player_id"] in player_ids and (side.get("labels") or side.get("label_color"))
    ]
