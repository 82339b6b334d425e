"""A submission's document arrives, or does not."""

import hashlib
from collections.abc import Collection
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from sqlalchemy import ColumnElement, Connection, and_, insert, or_, select, update

from silverball.service.submissions import document, people, repeats, states
from silverball.service.submissions.document import Document, InvalidDocument
from silverball.service.submissions.people import ResolvedPlayer
from silverball.service.submissions.reads import events, identities
from silverball.service.submissions.writes import moving
from silverball.store.tables import rating_submission, submission_document, submission_player

# Longer than fetching and reading a document can take: whoever took it then is not there any more.
FETCH_LOST_AFTER = timedelta(minutes=1)
TRIES_MAX = 3
GIVEN_UP = "The document could not be fetched; the server was stopped each time. Send the address again."
_SUBMISSION = rating_submission.c


@dataclass(frozen=True)
class DocumentToFetch:
    """A document to be fetched."""

    submission_id: int
    url: str
    # Which try this is: whoever is overtaken by a later one has nothing to say.
    tries: int


@dataclass(frozen=True)
class ArrivedDocument:
    """A document as it came, and the host that had it in the end."""

    host: str
    body: bytes


@dataclass(frozen=True)
class ResolvedDocument:
    """A document that was read, and who its players are."""

    arrived_document: ArrivedDocument
    document: Document
    players: tuple[ResolvedPlayer, ...]

    @property
    def hash(self) -> str:
        """SHA-256 in hex of the bytes as they came."""
        return hashlib.sha256(self.arrived_document.body).hexdigest()


def is_fetch_due(db: Connection, now: datetime) -> bool:
    """Whether a submission waits to be fetched."""
    return db.execute(select(_SUBMISSION.status).where(_is_due(now)).limit(1)).first() is not None


def claim_next_document(db: Connection, now: datetime) -> DocumentToFetch | None:
    """The submission that waits longest to be fetched; nobody else takes it for a minute."""
    rows = select(rating_submission).where(_is_due(now)).order_by(_SUBMISSION.rating_submission_id)
    row = db.execute(rows.limit(1).with_for_update(skip_locked=True)).mappings().one_or_none()
    if row is None:
        return None
    own = update(rating_submission).where(_SUBMISSION.rating_submission_id == row["rating_submission_id"])
    db.execute(own.values(tries=row["tries"] + 1, tried_at=now))
    return DocumentToFetch(row["rating_submission_id"], row["url"], row["tries"] + 1)


def _is_due(now: datetime) -> ColumnElement[bool]:
    is_free = or_(_SUBMISSION.tried_at.is_(None), _SUBMISSION.tried_at < now - FETCH_LOST_AFTER)
    return and_(_SUBMISSION.status == "fetching", is_free)


def check_document(
    db: Connection, errand: DocumentToFetch, delivery: ArrivedDocument, now: datetime
) -> ResolvedDocument:
    """What the document says, and who its players are. Raises BadDocument.

    This takes its time, so it is done on a snapshot and holds nobody up. What is approved meanwhile is
    seen when this one is to be approved.
    """
    found = document.validate_document(delivery.body, now)
    known = identities.known_people(db, found.players)
    resolved = people.resolve_players(found.players, known)
    faults = people.duplicate_faults(resolved)
    if faults:
        raise InvalidDocument(faults)
    arrived = ResolvedDocument(delivery, found, resolved)
    repeated = _known_document_fault(db, arrived.hash) or _repeated_games_fault(db, errand, arrived)
    if repeated is not None:
        raise InvalidDocument([repeated])
    return arrived


def accept_document(
    db: Connection,
    errand: DocumentToFetch,
    arrived: ResolvedDocument,
    trusted: Collection[str],
    now: datetime,
) -> None:
    """The document is stored, and the submission goes on to whatever comes next."""
    row = moving.lock_submission(db, errand.submission_id)
    if row["status"] != "fetching" or row["tries"] != errand.tries:
        return
    # Another one with the same document may have been quicker.
    fault = _known_document_fault(db, arrived.hash)
    if fault is not None:
        refuse_document(db, errand, [fault], now)
        return
    _supersede_replaced(db, row["url"], errand.submission_id, now)
    _store_document(db, errand.submission_id, arrived)
    is_settled = all(one.settled for one in arrived.players)
    moving.move_submission(
        db, row, "ready" if is_settled else "needs_players", now, **_submission_values(arrived)
    )
    if is_settled:
        moving.approve_if_trusted(db, errand.submission_id, trusted, now)


def refuse_document(db: Connection, errand: DocumentToFetch, faults: list[str], now: datetime) -> None:
    """There is no document, or none that can be taken."""
    row = moving.lock_submission(db, errand.submission_id)
    if row["status"] == "fetching" and row["tries"] == errand.tries:
        moving.move_submission(db, row, "invalid", now, errors=faults)


def _submission_values(arrived: ResolvedDocument) -> dict[str, Any]:
    found = arrived.document
    return {
        # Only what a trusted host has itself is trusted, not what it leads on to.
        "source_domain": arrived.arrived_document.host,
        "name": found.name,
        "format": found.format,
        "event_date": found.day.isoformat(),
        "player_count": len(found.players),
        "game_count": len(found.games),
        "result_count": found.result_count,
        "hash": arrived.hash,
    }


def _known_document_fault(db: Connection, told: str) -> str | None:
    rows = select(_SUBMISSION.rating_submission_id).where(_SUBMISSION.hash == told)
    holder = db.execute(rows).scalar_one_or_none()
    return None if holder is None else f"The very same document is rating submission {holder} already."


def _repeated_games_fault(db: Connection, errand: DocumentToFetch, arrived: ResolvedDocument) -> str | None:
    named = {
        player.id: repeats.ComparedPlayer(one.name, one.user_id, one.ifpa_id)
        for player, one in zip(arrived.document.players, arrived.players, strict=True)
    }
    games = [[named[one] for one in game.players] for game in arrived.document.games]
    without = _replaced_submission_id(db, errand.url) or errand.submission_id
    return repeats.repeat_fault(
        games, events.events_to_compare(db, arrived.document.day, excluded_submission_id=without)
    )


def _replaced_submission_id(db: Connection, url: str) -> int | None:
    """The submission of this address whose place a new one takes."""
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


def _store_document(db: Connection, submission_id: int, arrived: ResolvedDocument) -> None:
    kept = {"rating_submission_id": submission_id, "body": arrived.arrived_document.body.decode()}
    db.execute(insert(submission_document).values(**kept))
    rows = [
        {
            "rating_submission_id": submission_id,
            "place": place,
            "name": one.name,
            "ifpa_id": one.ifpa_id,
            "user_id": one.user_id,
            "settled": one.settled,
            "candidates": [
                {"user_id": person.user_id, "ifpa_id": person.ifpa_id} for person in one.candidates
            ],
        }
        for place, one in enumerate(arrived.players)
    ]
    db.execute(insert(submission_player), rows)
