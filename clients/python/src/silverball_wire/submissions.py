"""Rating submissions: results of other software, submitted by URL."""

from silverball_wire.base import Day, Instant, Wire
from silverball_wire.values import SubmissionStatus


class SubmissionPlayer(Wire, frozen=True, kw_only=True):
    """A player of a submission, and the account they are matched with. Source: ratings.md A.8."""

    index: int
    """Position in the document, from 0."""
    name: str
    """Name in the document."""
    ifpa_id: int | None
    user_id: int | None
    rating_id: int | None
    candidates: tuple[int, ...]
    """Ids of the ratings that may be this player's, until one is chosen."""


class RatingSubmission(Wire, frozen=True, kw_only=True):
    """A submission; fields from its document are null until it is fetched. Source: ratings.md A.8."""

    rating_submission_id: int
    url: str
    """Address of the document."""
    source_domain: str
    """Host of the address."""
    status: SubmissionStatus
    """State of the submission; it is rated once it is `processed`."""
    name: str | None
    """Name of the event, from the document; null until it is fetched."""
    event_date: Day | None
    """Day of the event, from the document; null until it is fetched."""
    rating_period: Day | None
    """Day in which the results count; null before that is known."""
    format: str | None
    """Format of the document; null until it is fetched."""
    player_count: int | None
    game_count: int | None
    """Number of games; null until the document is fetched."""
    # Results between two players: a game of four has six.
    result_count: int | None
    submitter_id: int
    submitter_name: str
    players: tuple[SubmissionPlayer, ...]
    """Players of the document, and the accounts they are matched with."""
    errors: tuple[str, ...]
    """Faults of the document, as sentences."""
    moderator_note: str | None
    """Note of the moderator; null without one."""
    created_at: Instant
    updated_at: Instant
