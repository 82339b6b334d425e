"""Published submissions with their players."""

from collections import defaultdict
from collections.abc import Sequence
from typing import Any

from sqlalchemy import ColumnElement, Connection, Select, func, select, true

from silverball.kit.errors import NotFound
from silverball.kit.http.query import PageNumber, Query
from silverball.service import access
from silverball.service.access import AuthenticatedCaller
from silverball.service.pages import PageRows, refuse_deep_pagination
from silverball.service.submissions.people import KnownPerson
from silverball.service.submissions.reads import identities
from silverball.store.tables import rating_submission, submission_player, user
from silverball_wire import times
from silverball_wire.submissions import RatingSubmission, SubmissionPlayer
from silverball_wire.values import SubmissionStatus

PER_PAGE = 25
SUBMISSIONS_LISTED_MAX = 1000
MODEL = "RatingSubmission"
_SUBMISSION, _PLAYER = rating_submission.c, submission_player.c
# In the order in which `_submission_item` unpacks them. Needs the join of `_submission_rows`.
COLUMNS = (
    _SUBMISSION.rating_submission_id,
    _SUBMISSION.url,
    _SUBMISSION.source_domain,
    _SUBMISSION.status,
    _SUBMISSION.name,
    _SUBMISSION.event_date,
    _SUBMISSION.rating_period,
    _SUBMISSION.format,
    _SUBMISSION.player_count,
    _SUBMISSION.game_count,
    _SUBMISSION.result_count,
    _SUBMISSION.submitter_id,
    user.c.name,
    _SUBMISSION.errors,
    _SUBMISSION.moderator_note,
    _SUBMISSION.created_at,
    _SUBMISSION.updated_at,
)
PLAYER_COLUMNS = (
    _PLAYER.rating_submission_id,
    _PLAYER.place,
    _PLAYER.name,
    _PLAYER.ifpa_id,
    _PLAYER.user_id,
    _PLAYER.settled,
    _PLAYER.candidates,
    user.c.profile_opt_out,
)


class SubmissionQuery(Query, frozen=True, kw_only=True):
    """Parameters of GET /api/rating-submissions."""

    status: SubmissionStatus | None = None
    """Only submissions in this state."""
    page: PageNumber = 1


def submissions_page(
    db: Connection, query: SubmissionQuery, viewer: AuthenticatedCaller | None
) -> PageRows[RatingSubmission]:
    """One page of all submissions, newest first."""
    refuse_deep_pagination(query.page, PER_PAGE)
    wanted = _has_status(query.status)
    total = db.execute(select(func.count()).select_from(rating_submission).where(wanted)).scalar_one()
    rows = _submission_rows(wanted).limit(PER_PAGE).offset(PER_PAGE * (query.page - 1))
    return PageRows(_submissions_with_players(db, db.execute(rows).all(), viewer), total)


def find_submission(
    db: Connection, submission_id: int, viewer: AuthenticatedCaller | None
) -> RatingSubmission:
    """The submission. Raises NotFound."""
    rows = db.execute(_submission_rows(_SUBMISSION.rating_submission_id == submission_id)).all()
    if not rows:
        raise NotFound(MODEL, submission_id)
    return _submissions_with_players(db, rows, viewer)[0]


def newest_submissions(db: Connection, status: SubmissionStatus | None) -> list[RatingSubmission]:
    """The newest submissions in this state, or in any, newest first and without their players."""
    rows = db.execute(_submission_rows(_has_status(status)).limit(SUBMISSIONS_LISTED_MAX)).all()
    return [_submission_item(row, ()) for row in rows]


def _has_status(status: SubmissionStatus | None) -> ColumnElement[bool]:
    return true() if status is None else _SUBMISSION.status == status


def _submission_rows(wanted: ColumnElement[bool]) -> Select[Any]:
    rows = select(*COLUMNS).join(user, user.c.user_id == _SUBMISSION.submitter_id)
    return rows.where(wanted).order_by(_SUBMISSION.rating_submission_id.desc())


def _submissions_with_players(
    db: Connection, rows: Sequence[Any], viewer: AuthenticatedCaller | None
) -> list[RatingSubmission]:
    wanted = _PLAYER.rating_submission_id.in_([row.rating_submission_id for row in rows])
    listed = select(*PLAYER_COLUMNS).outerjoin(user, user.c.user_id == _PLAYER.user_id).where(wanted)
    listed = listed.order_by(_PLAYER.rating_submission_id, _PLAYER.place)
    player_rows = db.execute(listed).all()
    ratings = identities.rating_ids_of_people(
        db, [person for row in player_rows for person in _possible_people(row)], viewer
    )
    players: defaultdict[int, list[SubmissionPlayer]] = defaultdict(list)
    for row in player_rows:
        players[row.rating_submission_id].append(_player_item(row, ratings, viewer))
    return [_submission_item(row, tuple(players[row.rating_submission_id])) for row in rows]


def _possible_people(row: Any) -> list[KnownPerson]:
    """The people that the player in a row of PLAYER_COLUMNS is or could be, the player's own ids first."""
    return [KnownPerson(row.user_id, row.ifpa_id), *(KnownPerson(**person) for person in row.candidates)]


def _player_item(
    row: Any, ratings: dict[KnownPerson, int], viewer: AuthenticatedCaller | None
) -> SubmissionPlayer:
    own, *others = _possible_people(row)
    # The number would reveal the account, and the account the number.
    is_hidden = bool(row.profile_opt_out) and not access.sees_hidden_details(viewer, row.user_id)
    candidates = () if row.settled else (ratings[person] for person in others if person in ratings)
    return SubmissionPlayer(
        index=row.place,
        name=row.name,
        ifpa_id=None if is_hidden else own.ifpa_id,
        user_id=None if is_hidden else own.user_id,
        rating_id=ratings.get(own) if row.settled else None,
        candidates=tuple(dict.fromkeys(candidates)),
    )


def _submission_item(values: Sequence[Any], players: tuple[SubmissionPlayer, ...]) -> RatingSubmission:
    submission_id, url, source_domain, status, name, event_date, rating_period = values[:7]
    kind, player_count, game_count, result_count, submitter_id, submitter_name = values[7:13]
    errors, moderator_note, created_at, updated_at = values[13:]
    return RatingSubmission(
        rating_submission_id=submission_id,
        url=url,
        source_domain=source_domain,
        status=status,
        name=name,
        event_date=event_date,
        rating_period=rating_period,
        format=kind,
        player_count=player_count,
        game_count=game_count,
        result_count=result_count,
        submitter_id=submitter_id,
        submitter_name=submitter_name,
        players=players,
        errors=tuple(errors),
        moderator_note=moderator_note,
        created_at=times.iso(created_at),
        updated_at=times.iso(updated_at),
    )
