"""Tournaments loaded for a reader or for a change, from memory or from rows."""

from sqlalchemy import Connection, bindparam, select

from silverball.kit.errors import Conflict, NotFound
from silverball.rules.model.tournament import Tournament
from silverball.rules.registry import FORMATS
from silverball.store import snapshot, tables
from silverball.store.loaded import LoadedTournament
from silverball.store.transaction import Transaction

_T = tables.tournament.c
_SELECT_NEWEST = select(_T.revision, _T.type).where(_T.tournament_id == bindparam("own_id"))


class FormatUnknown(Conflict):
    """The format of the tournament is not in the registry: it came with an import."""

    sentence = "Tournaments of the type {type} can be read here, but not changed."


def load_tournament(db: Connection, tournament_id: int) -> Tournament:
    """The tournament as a reader sees it. Raises NotFound and FormatUnknown."""
    return load_with_revision(db, tournament_id).tournament


def load_with_revision(db: Connection, tournament_id: int) -> LoadedTournament:
    """The tournament with its revision and its stored standings. Raises NotFound and FormatUnknown."""
    return snapshot.load_at_revision(db, tournament_id, _current_revision(db, tournament_id))


def load_for_change(transaction: Transaction, tournament_id: int) -> LoadedTournament:
    """The tournament as the transaction sees it that will change it. Raises NotFound and FormatUnknown."""
    revision = _current_revision(transaction.connection, tournament_id)
    return snapshot.load_for_change(transaction, tournament_id, revision)


def _current_revision(db: Connection, tournament_id: int) -> int:
    row = db.execute(_SELECT_NEWEST, {"own_id": tournament_id}).one_or_none()
    if row is None:
        raise NotFound("Tournament", tournament_id)
    if row.type not in FORMATS:
        raise FormatUnknown(type=row.type)
    return int(row.revision)
