"""Actions of a submitter: submit an address, settle players, withdraw."""

from collections.abc import Sequence
from typing import Annotated, Any

from msgspec import UNSET, Meta, UnsetType
from sqlalchemy import Connection, Row, func, insert, select, update

from silverball.kit.errors import Conflict, Invalid, NotAllowed
from silverball.kit.http.body import Body
from silverball.kit.http.fields import Id, Name
from silverball.service.calls import Write
from silverball.service.submissions import policy, states
from silverball.service.submissions.document import PLAYERS_MAX
from silverball.service.submissions.people import KnownPerson
from silverball.service.submissions.reads import identities
from silverball.service.submissions.writes import moving
from silverball.store import names
from silverball.store.tables import rating_submission, submission_player
from silverball_wire.values import SubmissionStatus

# Per submitter, because fetching is slow and all submitters share one queue.
WAITING_MAX = 5
_SUBMISSION, _PLAYER = rating_submission.c, submission_player.c


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
    target = policy.require_target(call.body.url, call.settings)
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
        moving.move_submission(call.db, row, "ready", call.now)
        moving.approve_if_trusted(call.db, submission_id, policy.trusted_hosts(call.settings), call.now)
    return submission_id


def withdraw_submission(call: Write[Body]) -> int:
    """Withdraw the submission in the path. Raises NotFound, NotAllowed and Conflict."""
    row = _lock_own_submission(call)
    moving.move_submission(call.db, row, "withdrawn", call.now)
    return int(row.rating_submission_id)


def _lock_own_submission(call: Write[Any]) -> Row[Any]:
    row = moving.lock_submission(call.db, call.ids["rating_submission_id"])
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
    own = (_SUBMISSION.submitter_id == submitter_id, _SUBMISSION.status == "fetching")
    count = db.execute(select(func.count()).select_from(rating_submission).where(*own)).scalar_one()
    if count >= WAITING_MAX:
        raise TooManySubmissions(count=count)


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
    known = identities.people_by_ifpa(db, {ifpa_id for ifpa_id in numbers.values() if ifpa_id is not None})
    for place, ifpa_id in numbers.items():
        person = KnownPerson(None, None) if ifpa_id is None else known.person_by_ifpa(ifpa_id)
        row = update(submission_player).where(
            _PLAYER.rating_submission_id == submission_id, _PLAYER.place == place
        )
        db.execute(row.values(ifpa_id=ifpa_id, user_id=person.user_id, settled=True))
