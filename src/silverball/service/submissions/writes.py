"""Actions of a submitter: submit an address, settle players, withdraw."""

import hashlib
from collections.abc import Collection, Sequence
from datetime import date, datetime, timedelta
from typing import Annotated, Any

from msgspec import UNSET, Meta, Struct, UnsetType
from sqlalchemy import ColumnElement, Connection, Row, and_, insert, or_, select, update

from silverball.kit.errors import Conflict, Invalid, NotAllowed, NotFound
from silverball.kit.http.body import Body
from silverball.kit.http.fields import Id, Name
from silverball.service.core.calls import Write
from silverball.service.submissions import document, reads, states
from silverball.service.submissions.document import (
    PLAYERS_MAX,
    Document,
    InvalidDocument,
    KnownPerson,
    ResolvedPlayer,
)
from silverball.service.submissions.reads import MODEL
from silverball.store.counts import quotas
from silverball.store.people import names, rating_days
from silverball.store.tables import rating_submission, submission_document, submission_player
from silverball_wire.values import SubmissionStatus

_SUBMISSION = rating_submission.c


class SubmissionRepeatsGames(Conflict):
    sentence = "Rating submission {submission_id} cannot count: {fault}"


def lock_submission(db: Connection, submission_id: int) -> Row[Any]:
    """Lock the submission until the commit, and return its row. Raises NotFound."""
    rows = select(rating_submission).where(_SUBMISSION.rating_submission_id == submission_id)
    row = db.execute(rows.with_for_update()).one_or_none()
    if row is None:
        raise NotFound(MODEL, submission_id)
    return row


def move_submission(
    db: Connection, row: Row[Any], to: SubmissionStatus, now: datetime, **values: Any
) -> None:
    """Move the submission to this state. Raises Conflict when the state cannot follow."""
    submission_id = row.rating_submission_id
    states.require_transition(submission_id, row.status, to)
    if to not in states.HOLDING_STATES:
        # Another submission may use the document again.
        values["hash"] = None
    moved = update(rating_submission).where(_SUBMISSION.rating_submission_id == submission_id)
    db.execute(moved.values(status=to, updated_at=now, **values))
    if (row.status in states.COUNTING_STATES) != (to in states.COUNTING_STATES):
        # The results of the day have changed.
        rating_days.mark_days(db, [date.fromisoformat(row.event_date)])


def approve_submission(db: Connection, submission_id: int, now: datetime, note: str | None = None) -> None:
    """Approve the submission. Raises NotFound, or Conflict when it cannot be or its games count already."""
    row = lock_submission(db, submission_id)
    states.require_transition(submission_id, row.status, "approved")
    fault = repeated_games_fault(db, submission_id)
    if fault is not None:
        raise SubmissionRepeatsGames(submission_id=submission_id, fault=fault)
    move_submission(db, row, "approved", now, moderator_note=note)


def approve_if_trusted(db: Connection, submission_id: int, trusted: Collection[str], now: datetime) -> None:
    """Approve a ready submission from a trusted host, unless its games count already."""
    row = lock_submission(db, submission_id)
    is_ready = row.status == "ready" and row.source_domain in trusted
    if is_ready and repeated_games_fault(db, submission_id) is None:
        move_submission(db, row, "approved", now)


def repeated_games_fault(db: Connection, submission_id: int) -> str | None:
    """A sentence when half of the submission's games count already as those of another event of the day."""
    rows = select(_SUBMISSION.event_date, submission_document.c.body).join(
        submission_document, submission_document.c.rating_submission_id == _SUBMISSION.rating_submission_id
    )
    row = db.execute(rows.where(_SUBMISSION.rating_submission_id == submission_id)).one()
    players = reads.players_by_submission(db, [submission_id])[submission_id]
    compared = [states.ComparedPlayer(each.name, each.user_id, each.ifpa_id) for each in players]
    games = [
        [compared[place] for group in groups for place in group]
        for groups in reads.games_by_place(document.parse_document(row.body.encode()))
    ]
    day = date.fromisoformat(row.event_date)
    return states.repeat_fault(games, reads.events_to_compare(db, day, excluded_submission_id=submission_id))


def schedule_submission(db: Connection, submission_id: int, now: datetime) -> None:
    """Assign the submission to the rating period of its day, which is over. Raises NotFound and Conflict."""
    row = lock_submission(db, submission_id)
    move_submission(db, row, "scheduled", now, rating_period=row.event_date)


def process_day(db: Connection, day: date, now: datetime) -> int:
    """Mark the scheduled submissions of a rated day as processed, and return their number."""
    wanted = (_SUBMISSION.rating_period == day.isoformat(), _SUBMISSION.status == "scheduled")
    updated = db.execute(update(rating_submission).where(*wanted).values(status="processed", updated_at=now))
    return updated.rowcount


def reject_submission(db: Connection, submission_id: int, note: str, now: datetime) -> None:
    """Reject the submission as a moderator. Raises NotFound and Conflict."""
    move_submission(db, lock_submission(db, submission_id), "rejected", now, moderator_note=note)


# Per submitter, because fetching is slow and all submitters share one queue.
WAITING_MAX = 5
_PLAYER = submission_player.c


class NewSubmission(Body, frozen=True, kw_only=True):
    """The address of results."""

    url: Annotated[str, Meta(min_length=1, max_length=500)]
    """Address of the document with the results; it is fetched in the background."""


class SettledPlayer(Body, frozen=True, kw_only=True):
    """A player's federation number, or null for a player without one."""

    index: Annotated[int, Meta(ge=0, lt=PLAYERS_MAX)] | UnsetType = UNSET
    """Position of the player in the document, from 0; or name them by `name`."""
    name: Name | UnsetType = UNSET
    """Name of the player in the document; or name them by `index`."""
    ifpa_id: Id | None
    """Federation number of the player; null for a player without one."""


class SettledPlayers(Body, frozen=True, kw_only=True):
    """Settled players, each named by index or by name."""

    players: Annotated[tuple[SettledPlayer, ...], Meta(min_length=1, max_length=PLAYERS_MAX)]
    """The players to settle."""


class SubmissionNotOpen(Conflict):
    sentence = (
        "Rating submission {submission_id} is {status}."
        " Players can be settled while it needs players or is ready."
    )


class SubmittedBySomebodyElse(Conflict):
    sentence = "Somebody else has submitted this address as rating submission {submission_id}."


class SubmissionAlreadyFetching(Conflict):
    sentence = "This address is being fetched for rating submission {submission_id}."


class TooManySubmissions(Conflict):
    sentence = "{count} of your submissions are being fetched. Submit more once they are done."


def create_submission(call: Write[NewSubmission]) -> int:
    """Create a submission to be fetched, and return its id. Raises Invalid and Conflict."""
    target = states.require_target(call.body.url, call.settings)
    _refuse_known_url(call.db, target.url, call.user_id)
    _refuse_too_many_waiting(call.db, call.user_id)
    values = {
        "submitter_id": call.user_id,
        "url": target.url,
        "source_domain": target.host,
        "status": "fetching",
        "errors": [],
        "tries": 0,
        "created_at": call.now,
        "updated_at": call.now,
    }
    inserted = insert(rating_submission).values(**values).returning(_SUBMISSION.rating_submission_id)
    return int(call.db.execute(inserted).scalar_one())


def settle_players(call: Write[SettledPlayers]) -> int:
    """Settle players. Once all are settled, the submission becomes ready, or approved if trusted.

    Raises NotFound, NotAllowed, Conflict and Invalid.
    """
    row = _lock_own_submission(call)
    submission_id = int(row.rating_submission_id)
    if row.status not in states.OPEN_STATES:
        raise SubmissionNotOpen(submission_id=submission_id, status=row.status.replace("_", " "))
    listed = call.db.execute(
        select(_PLAYER.place, _PLAYER.name, _PLAYER.ifpa_id, _PLAYER.settled)
        .where(_PLAYER.rating_submission_id == submission_id)
        .order_by(_PLAYER.place)
    ).all()
    numbers = _ifpa_ids_by_place(call.body.players, [player.name for player in listed])
    _refuse_duplicate_numbers({player.place: player.ifpa_id for player in listed} | numbers)
    _store_numbers(call.db, submission_id, numbers)
    call.db.execute(
        update(rating_submission)
        .where(_SUBMISSION.rating_submission_id == submission_id)
        .values(updated_at=call.now)
    )
    if row.status == "needs_players" and all(player.settled or player.place in numbers for player in listed):
        move_submission(call.db, row, "ready", call.now)
        approve_if_trusted(call.db, submission_id, states.trusted_hosts(call.settings), call.now)
    return submission_id


def withdraw_submission(call: Write[Body]) -> int:
    """Withdraw the submission in the path. Raises NotFound, NotAllowed and Conflict."""
    row = _lock_own_submission(call)
    move_submission(call.db, row, "withdrawn", call.now)
    return int(row.rating_submission_id)


def _lock_own_submission(call: Write[Any]) -> Row[Any]:
    row = lock_submission(call.db, call.ids["rating_submission_id"])
    if row.submitter_id != call.user_id and not call.caller.is_admin:
        raise NotAllowed
    return row


def _refuse_known_url(db: Connection, url: str, submitter_id: int) -> None:
    """Raise Conflict while this address is being fetched, or belongs to another submitter."""
    waiting: tuple[SubmissionStatus, ...] = ("fetching", *states.REPLACEABLE_STATES)
    rows = select(_SUBMISSION.rating_submission_id, _SUBMISSION.status, _SUBMISSION.submitter_id).where(
        _SUBMISSION.url == url, _SUBMISSION.status.in_(waiting)
    )
    for row in db.execute(rows.order_by(_SUBMISSION.rating_submission_id)):
        if row.submitter_id != submitter_id:
            raise SubmittedBySomebodyElse(submission_id=row.rating_submission_id)
        if row.status == "fetching":
            raise SubmissionAlreadyFetching(submission_id=row.rating_submission_id)


def _refuse_too_many_waiting(db: Connection, submitter_id: int) -> None:
    quotas.require_room(
        db,
        rating_submission,
        _SUBMISSION.submitter_id == submitter_id,
        _SUBMISSION.status == "fetching",
        owner=f"account {submitter_id}",
        limit=WAITING_MAX,
        refusal=lambda count: TooManySubmissions(count=count),
    )


def _ifpa_ids_by_place(settled: Sequence[SettledPlayer], known: Sequence[str]) -> dict[int, int | None]:
    """Index of a player -> federation number. Raises Invalid for unknown or ambiguous players."""
    numbers: dict[int, int | None] = {}
    for number, player in enumerate(settled):
        place = _player_place(player, known, f"players.{number}")
        if place in numbers:
            raise Invalid({f"players.{number}": [f"Player {place} is named twice."]})
        numbers[place] = player.ifpa_id
    return numbers


def _player_place(player: SettledPlayer, known: Sequence[str], field: str) -> int:
    if (player.index is UNSET) == (player.name is UNSET):
        raise Invalid({field: ["Name a player by index or by name, not by both."]})
    if isinstance(player.index, int):
        if player.index >= len(known):
            raise Invalid({f"{field}.index": [f"There is no player {player.index} in this submission."]})
        return player.index
    wanted = names.fold(str(player.name))
    places = [place for place, name in enumerate(known) if names.fold(name) == wanted]
    if len(places) != 1:
        count = "several players" if places else "no player"
        raise Invalid(
            {f"{field}.name": [f"There is {count} of this name in this submission. Use the index."]}
        )
    return places[0]


def _refuse_duplicate_numbers(numbers: dict[int, int | None]) -> None:
    places: dict[int, int] = {}
    for place, ifpa_id in numbers.items():
        if ifpa_id is not None and ifpa_id in places:
            first = places[ifpa_id]
            raise Invalid({"players": [f"Players {first} and {place} cannot both have number {ifpa_id}."]})
        if ifpa_id is not None:
            places[ifpa_id] = place


def _store_numbers(db: Connection, submission_id: int, numbers: dict[int, int | None]) -> None:
    known = reads.people_by_ifpa(db, {ifpa_id for ifpa_id in numbers.values() if ifpa_id is not None})
    for place, ifpa_id in numbers.items():
        person = KnownPerson(None, None) if ifpa_id is None else known.person_by_ifpa(ifpa_id)
        row = update(submission_player).where(
            _PLAYER.rating_submission_id == submission_id, _PLAYER.place == place
        )
        db.execute(row.values(ifpa_id=ifpa_id, user_id=person.user_id, settled=True))


# Fetch a submission's document: claim, check, and accept or refuse it.


# Longer than fetching and reading can take: the process that claimed the document has died.
FETCH_LOST_AFTER = timedelta(minutes=1)
TRIES_MAX = 3
GIVEN_UP = "The document could not be fetched; the server was stopped each time. Send the address again."


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
    known = reads.known_people(db, valid.players)
    resolved = document.resolve_players(valid.players, known)
    faults = document.duplicate_faults(resolved)
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
    row = lock_submission(db, fetch.submission_id)
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
    move_submission(db, row, "ready" if is_settled else "needs_players", now, **_submission_values(result))
    if is_settled:
        approve_if_trusted(db, fetch.submission_id, trusted, now)


def refuse_document(db: Connection, fetch: DocumentToFetch, faults: list[str], now: datetime) -> None:
    """Mark the submission as invalid, because its document is missing or refused."""
    row = lock_submission(db, fetch.submission_id)
    if row.status == "fetching" and row.tries == fetch.tries:
        move_submission(db, row, "invalid", now, errors=faults)


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
        player.id: states.ComparedPlayer(match.name, match.user_id, match.ifpa_id)
        for player, match in zip(result.document.players, result.players, strict=True)
    }
    games = [[player_by_id[player_id] for player_id in game.players] for game in result.document.games]
    excluded_id = _replaced_submission_id(db, fetch.url) or fetch.submission_id
    return states.repeat_fault(
        games,
        reads.events_to_compare(db, result.document.day, excluded_submission_id=excluded_id),
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
        move_submission(db, lock_submission(db, replaced), "superseded", now, moderator_note=note)


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
