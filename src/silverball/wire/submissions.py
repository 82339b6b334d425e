"""Rating submissions: results of other software, submitted by URL."""

from silverball.wire.base import Wire
from silverball.wire.values import SubmissionStatus


class SubmissionPlayer(Wire, frozen=True, kw_only=True):
    """A player of a submission, and the account they are matched with. Source: ratings.md A.8."""

    # Position in the document, from 0.
    index: int
    name: str
    ifpa_id: int | None
    user_id: int | None
    rating_id: int | None
    # Ratings of the possible matches, until one is chosen.
    candidates: tuple[int, ...]


class RatingSubmission(Wire, frozen=True, kw_only=True):
    """A submission; fields from its document are null until it is fetched. Source: ratings.md A.8."""

    rating_submission_id: int
    url: str
    source_domain: str
    status: SubmissionStatus
    name: str | None
    event_date: str | None
    rating_period: str | None
    format: str | None
    player_count: int | None
    game_count: int | None
    # Results between two players: a game of four has six.
    result_count: int | None
    submitter_id: int
    submitter_name: str
    players: tuple[SubmissionPlayer, ...]
    errors: tuple[str, ...]
    moderator_note: str | None
    created_at: str
    updated_at: str
