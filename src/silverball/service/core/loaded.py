"""Tournaments loaded for a reader or for a change, from memory or from rows."""

from sqlalchemy import Connection, bindparam, select

from silverball.kit.errors import Conflict, NotFound
from silverball.rules.model.tournament import Tournament
from silverball.rules.registry import FORMATS
from silverball.store import snapshot, tables
from silverball.store.loaded import LoadedTournament
from silverball.store.stamps import Revision
from silverball.store.statements import Statement
from silverball.store.transaction import Transaction

_T, _M = tables.tournament.c, tables.mirror.c
_SELECT_NEWEST = Statement(
    select(_T.revision, _T.stamp, _T.type, _M.host)
    .select_from(tables.tournament.outerjoin(tables.mirror, _M.tournament_id == _T.tournament_id))
    .where(_T.tournament_id == bindparam("own_id"))
)


class FormatUnknown(Conflict):
    """The format of the tournament is not in the registry: it came with an import."""

    sentence = "Tournaments of the type {type} can be read here, but not changed."


class RunElsewhere(Conflict):
    """The tournament is a mirror of one that is run on another service."""

    sentence = "This tournament is run at {host}."


def load_tournament(db: Connection, tournament_id: int) -> Tournament:
    """The tournament as a reader sees it. Raises NotFound and FormatUnknown."""
    return load_with_revision(db, tournament_id).tournament


def load_with_revision(db: Connection, tournament_id: int) -> LoadedTournament:
    """The tournament with its revision. Raises NotFound and FormatUnknown."""
    revision, _host = _current_revision(db, tournament_id)
    return snapshot.load_at_revision(db, tournament_id, revision)


def load_for_change(transaction: Transaction, tournament_id: int) -> LoadedTournament:
    """The tournament as the transaction sees it that will change it.

    Raises NotFound, FormatUnknown, and RunElsewhere for a mirror, which nobody changes here.
    """
    before, host = load_with_host(transaction, tournament_id)
    refuse_mirror(host)
    return before


def load_with_host(transaction: Transaction, tournament_id: int) -> tuple[LoadedTournament, str | None]:
    """The tournament as the transaction sees it, and the host that runs it, if that is elsewhere.

    For callers who only look at it, or refuse the mirror themselves after others have been refused.
    """
    revision, host = _current_revision(transaction.connection, tournament_id)
    return snapshot.load_for_change(transaction, tournament_id, revision), host


def refuse_mirror(host: str | None) -> None:
    """Raise RunElsewhere when another host runs the tournament."""
    if host is not None:
        raise RunElsewhere(host=host)


def load_mirrored(transaction: Transaction, tournament_id: int) -> LoadedTournament:
    """A mirror as the transaction sees it that brings what has changed elsewhere."""
    return load_with_host(transaction, tournament_id)[0]


def _current_revision(db: Connection, tournament_id: int) -> tuple[Revision, str | None]:
    """The revision, and the host that runs the tournament if it is run elsewhere."""
    found = _SELECT_NEWEST.rows(db, own_id=tournament_id)
    if not found:
        raise NotFound("Tournament", tournament_id)
    ((number, stamp, type_, host),) = found
    if type_ not in FORMATS:
        raise FormatUnknown(type=type_)
    return Revision(number, stamp), host
