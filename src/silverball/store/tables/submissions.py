"""Results sent in by URL: the submission, its players, its document."""

from sqlalchemy import Column, UniqueConstraint

from silverball.store.tables.base import flag, integer, json, key, key_reference, reference, table, text
from silverball.store.types import Instant

rating_submission = table(
    "rating_submission",
    key("rating_submission_id"),
    reference("submitter_id", "user.user_id"),
    text("url"),
    text("source_domain"),
    text("status"),
    # Null until there is a document.
    text("name", null=True),
    text("format", null=True),
    # UTC days, `2026-03-05`: the day of play, and the rating period that counts it.
    text("event_date", null=True),
    text("rating_period", null=True),
    integer("player_count", null=True),
    integer("game_count", null=True),
    integer("result_count", null=True),
    json("errors"),
    text("moderator_note", null=True),
    # SHA-256 in hex of the document while the submission counts or may still count; unique.
    text("hash", null=True),
    # Number of attempts to fetch it, and the time of the last one: a killed worker is noticed by it.
    integer("tries"),
    Column("tried_at", Instant),
    Column("created_at", Instant, nullable=False),
    Column("updated_at", Instant, nullable=False),
    UniqueConstraint("hash"),
    indexes=[("status",), ("submitter_id",), ("url",), ("event_date",)],
    audiences={
        "person": "rating_submission_id submitter_id url source_domain status name format event_date"
        " rating_period player_count game_count result_count errors moderator_note hash tries"
        " tried_at created_at updated_at",
    },
)

submission_player = table(
    "submission_player",
    key_reference("rating_submission_id", "rating_submission.rating_submission_id"),
    # Order in the document, from 0.
    key("place"),
    # As in the document.
    text("name"),
    integer("ifpa_id", null=True),
    # The matching person here; null when none has that name or number.
    reference("user_id", "user.user_id", null=True),
    # Whether the match is decided.
    flag("settled"),
    # Other possible people: `[{"user_id", "ifpa_id"}]`.
    json("candidates"),
    indexes=[("user_id",)],
    audiences={"person": "rating_submission_id place name ifpa_id user_id settled candidates"},
)

submission_document = table(
    "submission_document",
    key_reference("rating_submission_id", "rating_submission.rating_submission_id"),
    # As fetched.
    text("body"),
    audiences={"person": "rating_submission_id body"},
)
