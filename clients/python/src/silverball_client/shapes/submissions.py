"""Rating submissions: results of other software, submitted by URL."""

from silverball_client.shapes.base import Shape


class SubmissionPlayer(Shape, frozen=True, kw_only=True):
    """A player of a submission, and the account they are matched with."""

    index: int
    name: str
    ifpa_id: int | None
    user_id: int | None
    rating_id: int | None
    candidates: tuple[int, ...]


class RatingSubmission(Shape, frozen=True, kw_only=True):
    """A submission; fields from its document are null until it is fetched."""

    rating_submission_id: int
    url: str
    source_domain: str
    status: str
    name: str | None
    event_date: str | None
    rating_period: str | None
    format: str | None
    player_count: int | None
    game_count: int | None
    result_count: int | None
    submitter_id: int
    submitter_name: str
    players: tuple[SubmissionPlayer, ...]
    errors: tuple[str, ...]
    moderator_note: str | None
    created_at: str
    updated_at: str
