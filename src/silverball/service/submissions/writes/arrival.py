"""A submission's document arrives, or does not."""

import hashlib
from collections.abc import Collection
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from sqlalchemy import ColumnElement, Connection, and_, insert, or_, select, update

from silverball.service.submissions import document, people, repeats, states
from silverball.service.submissions.document import BadDocument, Document
from silverball.service.submissions.people import Resolved
from silverball.service.submissions.reads import events, identities
from silverball.service.submissions.writes import moving
from silverball.store.tables import rating_submission, submission_document, submission_player

# Longer than fetching and reading a document can take: whoever took it then is not there any more.
LOST_AFTER = timedelta(minutes=1)
TRIES_MAX = 3
GIVEN_UP = "The document could not be fetched; the server was stopped each time. Send the address again."
_SUBMISSION = rating_submission.c


@dataclass(frozen=True)
class Errand:
    """A document to be fetched."""

    submission_id: int
    url: str
    # Which try this is: whoever is overtaken by a later one has nothing to say.
    tries: int


@dataclass(frozen=True)
class Delivery:
    """A document as it came, and the host that had it in the end."""

    host: str
    body: bytes


@dataclass(frozen=True)
class Arrived:
    """A document that was read, and who its players are."""

    delivery: Delivery
    document: Document
    players: tuple[Resolved, ...]

    @property
    def hash(self) -> str:
        """SHA-256 in hex of the bytes as they came."""
        return hashlib.sha256(self.delivery.body).hexdigest()


def is_anything_due(db: Connection, now: datetime) -> bool:
    """Whether a submission waits to be fetched."""
    return db.execute(select(_SUBMISSION.status).where(_due(now)).limit(1)).first() is not None


def take_errand(db: Connection, now: datetime) -> Errand | None:
    """The submission that waits longest to be fetched; nobody else takes it for a minute."""
    rows = select(rating_submission).where(_due(now)).order_by(_SUBMISSION.rating_submission_id)
    row = db.execute(rows.limit(1).with_for_update(skip_locked=True)).mappings().one_or_none()
    if row is None:
        return None
    own = update(rating_submission).where(_SUBMISSION.rating_submission_id == row["rating_submission_id"])
    db.execute(own.values(tries=row["tries"] + 1, tried_at=now))
    return Errand(row["rating_submission_id"], row["url"], row["tries"] + 1)


def _due(now: datetime) -> ColumnElement[bool]:
    is_free = or_(_SUBMISSION.tried_at.is_(None), _SUBMISSION.tried_at < now - LOST_AFTER)
    return and_(_SUBMISSION.status == "fetching", is_free)


def look_at(db: Connection, errand: Errand, delivery: Delivery, now: datetime) -> Arrived:
    """What the document says, and who its players are. Raises BadDocument.

    This takes its time, so it is done on a snapshot and holds nobody up. What is approved meanwhile is
    seen when this one is to be approved.
    """
    found = document.checked(delivery.body, now)
    known = identities.known(db, found.players)
    resolved = people.resolved(found.players, known)
    faults = people.faults(resolved)
    if faults:
        raise BadDocument(faults)
    arrived = Arrived(delivery, found, resolved)
    repeated = _known_fault(db, arrived.hash) or _repeated_fault(db, errand, arrived)
    if repeated is not None:
        raise BadDocument([repeated])
    return arrived


def take_in(
    db: Connection, errand: Errand, arrived: Arrived, trusted: Collection[str], now: datetime
) -> None:
    """The document is stored, and the submission goes on to whatever comes next."""
    row = moving.locked(db, errand.submission_id)
    if row["status"] != "fetching" or row["tries"] != errand.tries:
        return
    # Another one with the same document may have been quicker.
    fault = _known_fault(db, arrived.hash)
    if fault is not None:
        refuse(db, errand, [fault], now)
        return
    _supersede(db, row["url"], errand.submission_id, now)
    _store(db, errand.submission_id, arrived)
    is_settled = all(one.settled for one in arrived.players)
    moving.move(db, row, "ready" if is_settled else "needs_players", now, **_facts(arrived))
    if is_settled:
        moving.approve_trusted(db, errand.submission_id, trusted, now)


def refuse(db: Connection, errand: Errand, faults: list[str], now: datetime) -> None:
    """There is no document, or none that can be taken."""
    row = moving.locked(db, errand.submission_id)
    if row["status"] == "fetching" and row["tries"] == errand.tries:
        moving.move(db, row, "invalid", now, errors=faults)


def _facts(arrived: Arrived) -> dict[str, Any]:
    found = arrived.document
    return {
        # Only what a trusted host has itself is trusted, not what it leads on to.
        "source_domain": arrived.delivery.host,
        "name": found.name,
        "format": found.format,
        "event_date": found.day.isoformat(),
        "player_count": len(found.players),
        "game_count": len(found.games),
        "result_count": found.result_count,
        "hash": arrived.hash,
    }


def _known_fault(db: Connection, told: str) -> str | None:
    rows = select(_SUBMISSION.rating_submission_id).where(_SUBMISSION.hash == told)
    holder = db.execute(rows).scalar_one_or_none()
    return None if holder is None else f"The very same document is rating submission {holder} already."


def _repeated_fault(db: Connection, errand: Errand, arrived: Arrived) -> str | None:
    named = {
        player.id: repeats.Player(one.name, one.user_id, one.ifpa_id)
        for player, one in zip(arrived.document.players, arrived.players, strict=True)
    }
    games = [[named[one] for one in game.players] for game in arrived.document.games]
    without = _replaced(db, errand.url) or errand.submission_id
    return repeats.of(games, events.rated_on(db, arrived.document.day, without=without))


def _replaced(db: Connection, url: str) -> int | None:
    """The submission of this address whose place a new one takes."""
    rows = select(_SUBMISSION.rating_submission_id).where(
        _SUBMISSION.url == url, _SUBMISSION.status.in_(states.REPLACEABLE)
    )
    return db.execute(rows).scalars().first()


def _supersede(db: Connection, url: str, submission_id: int, now: datetime) -> None:
    replaced = _replaced(db, url)
    if replaced is not None:
        note = f"Replaced by rating submission {submission_id}."
        moving.move(db, moving.locked(db, replaced), "superseded", now, moderator_note=note)


def _store(db: Connection, submission_id: int, arrived: Arrived) -> None:
    kept = {"rating_submission_id": submission_id, "body": arrived.delivery.body.decode()}
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
