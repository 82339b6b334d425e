"""Fetch a submission's document: claim, check, and accept or refuse it."""

import hashlib
from collections.abc import Collection
from datetime import datetime, timedelta
from typing import Any

from msgspec import Struct
from sqlalchemy import ColumnElement, Connection, and_, insert, or_, select, update

from silverball.service.submissions import document, people, repeats, states
from silverball.service.submissions.document import Document, InvalidDocument
from silverball.service.submissions.people import ResolvedPlayer
from silverball.service.submissions.reads import events, identities
from silverball.service.submissions.writes import moving
from silverball.store.tables import rating_submission, submission_document, submission_player

# Longer than fetching and reading can take: the process that claimed the document has died.
FETCH_LOST_AFTER = timedelta(minutes=1)
TRIES_MAX = 3
GIVEN_UP = "The document could not be fetched; the server was stopped each time. Send the address again."
_SUBMISSION = rating_submission.c


class DocumentToFetch(Struct, frozen=True):
    """A document to be fetched."""

    submission_id: int
    url: str
    # The number of this try. The outcome of an outdated try is ignored.
    tries: int


class ArrivedDocument(Struct, frozen=True):
    """A fetched document, and the host that finally served it."""

    host: str
    body: bytes


class ResolvedDocument(Struct, frozen=True):
    """A valid document with its matched players."""

    arrived_document: ArrivedDocument
    document: Document
    players: tuple[ResolvedPlayer, ...]

    @property
    def hash(self) -> str:
        """SHA-256 of the fetched bytes, in hex."""
        return hashlib.sha256(self.arrived_document.body).hexdigest()


def is_fetch_due(db: Connection, now: datetime) -> bool:
    """Whether a document waits to be fetched."""
    rows = select(_SUBMISSION.status).where(_is_due(now - FETCH_LOST_AFTER)).limit(1)
    return db.execute(rows).first() is not None


def claim_next_document(db: Connection, now: datetime) -> DocumentToFetch | None:
    """Claim the document that waits longest. No other process claims it for a minute."""
    rows = (
        select(rating_submission)
        .where(_is_due(now - FETCH_LOST_AFTER))
        .order_by(_SUBMISSION.rating_submission_id)
    )
    row = db.execute(rows.limit(1).with_for_update(skip_locked=True)).one_or_none()
    if row is None:
        return None
    own = update(rating_submission).where(_SUBMISSION.rating_submission_id == row.rating_submission_id)
    db.execute(own.values(tries=row.tries + 1, tried_at=now))
    return DocumentToFetch(row.rating_submission_id, row.url, row.tries + 1)


def _is_due(lost_before: datetime) -> ColumnElement[bool]:
    is_free = or_(_SUBMISSION.tried_at.is_(None), _SUBMISSION.tried_at < lost_before)
    return and_(_SUBMISSION.status == "fetching", is_free)


def check_document(
    db: Connection, fetch: DocumentToFetch, delivery: ArrivedDocument, now: datetime
) -> ResolvedDocument:
    """Validate the document and match its players. Raises InvalidDocument.

    This is slow, so it runs on a read snapshot without any lock. Events that are approved meanwhile are
    compared again before this one is approved.
    """
    valid = document.validate_document(delivery.body, now)
    known = identities.known_people(db, valid.players)
    resolved = people.resolve_players(valid.players, known)
    faults = people.duplicate_faults(resolved)
    if faults:
        raise InvalidDocument(faults)
    result = ResolvedDocument(delivery, valid, resolved)
    fault = _known_document_fault(db, result.hash) or _repeated_games_fault(db, fetch, result)
    if fault is not None:
        raise InvalidDocument([fault])
    return result


def accept_document(
    db: Connection,
    fetch: DocumentToFetch,
    result: ResolvedDocument,
    trusted: Collection[str],
    now: datetime,
) -> None:
    """Store the document, and move the submission to its next state."""
    row = moving.lock_submission(db, fetch.submission_id)
    if row.status != "fetching" or row.tries != fetch.tries:
        return
    # Another submission with the same document may have been quicker.
    fault = _known_document_fault(db, result.hash)
    if fault is not None:
        refuse_document(db, fetch, [fault], now)
        return
    _supersede_replaced(db, row.url, fetch.submission_id, now)
    _store_document(db, fetch.submission_id, result)
    is_settled = all(player.settled for player in result.players)
    moving.move_submission(
        db, row, "ready" if is_settled else "needs_players", now, **_submission_values(result)
    )
    if is_settled:
        moving.approve_if_trusted(db, fetch.submission_id, trusted, now)


def refuse_document(db: Connection, fetch: DocumentToFetch, faults: list[str], now: datetime) -> None:
    """Mark the submission as invalid, because its document is missing or refused."""
    row = moving.lock_submission(db, fetch.submission_id)
    if row.status == "fetching" and row.tries == fetch.tries:
        moving.move_submission(db, row, "invalid", now, errors=faults)


def _submission_values(result: ResolvedDocument) -> dict[str, Any]:
    document_ = result.document
    return {
        # A trusted host is trusted for its own documents, not for redirects to other hosts.
        "source_domain": result.arrived_document.host,
        "name": document_.name,
        "format": document_.format,
        "event_date": document_.day.isoformat(),
        "player_count": len(document_.players),
        "game_count": len(document_.games),
        "result_count": document_.result_count,
        "hash": result.hash,
    }


def _known_document_fault(db: Connection, document_hash: str) -> str | None:
    rows = select(_SUBMISSION.rating_submission_id).where(_SUBMISSION.hash == document_hash)
    holder = db.execute(rows).scalar_one_or_none()
    return None if holder is None else f"Rating submission {holder} has the same document already."


def _repeated_games_fault(db: Connection, fetch: DocumentToFetch, result: ResolvedDocument) -> str | None:
    player_by_id = {
        player.id: repeats.ComparedPlayer(match.name, match.user_id, match.ifpa_id)
        for player, match in zip(result.document.players, result.players, strict=True)
    }
    games = [[player_by_id[player_id] for player_id in game.players] for game in result.document.games]
    excluded_id = _replaced_submission_id(db, fetch.url) or fetch.submission_id
    return repeats.repeat_fault(
        games, events.events_to_compare(db, result.document.day, excluded_submission_id=excluded_id)
    )


def _replaced_submission_id(db: Connection, url: str) -> int | None:
    """The submission from this address that a new one replaces; None when there is none."""
    rows = select(_SUBMISSION.rating_submission_id).where(
        _SUBMISSION.url == url, _SUBMISSION.status.in_(states.REPLACEABLE_STATES)
    )
    return db.execute(rows).scalars().first()


def _supersede_replaced(db: Connection, url: str, submission_id: int, now: datetime) -> None:
    replaced = _replaced_submission_id(db, url)
    if replaced is not None:
        note = f"Replaced by rating submission {submission_id}."
        moving.move_submission(
            db, moving.lock_submission(db, replaced), "superseded", now, moderator_note=note
        )


def _store_document(db: Connection, submission_id: int, result: ResolvedDocument) -> None:
    values = {"rating_submission_id": submission_id, "body": result.arrived_document.body.decode()}
    db.execute(insert(submission_document).values(**values))
    rows = [
        {
            "rating_submission_id": submission_id,
            "place": place,
            "name": player.name,
            "ifpa_id": player.ifpa_id,
            "user_id": player.user_id,
            "settled": player.settled,
            "candidates": [
                {"user_id": person.user_id, "ifpa_id": person.ifpa_id} for person in player.candidates
            ],
        }
        for place, player in enumerate(result.players)
    ]
    db.execute(insert(submission_player), rows)
