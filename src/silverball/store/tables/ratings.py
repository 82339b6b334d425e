"""Ratings: rated people, their revisions in each period, and the periods."""

from collections.abc import Iterator
from typing import Any

from sqlalchemy import Column, UniqueConstraint

from silverball.store.tables.base import Real, flag, integer, json, key, key_reference, reference, table, text
from silverball.store.types import Id, Instant

COUNTS = ("game_count", "win_count", "loss_count", "result_count")


def _standing_columns() -> Iterator[Column[Any]]:
    """The columns of a rating that each period computes anew."""
    # Null until the first period; then as of the last period with a result.
    yield from (Column(name, Real) for name in ("rating", "rd", "delta"))
    # As of the current period; the rank is null for people who are not listed.
    yield Column("lower_bound", Real)
    yield integer("rank", null=True)
    yield from (text(name, null=True) for name in ("first_period", "last_period"))
    # Null while no result is known: the rating came from a file.
    yield from (integer(name, null=True) for name in COUNTS)


# A rated person as of the current period. Source of the identity: ratings, section A.5.
rating = table(
    "rating",
    key("rating_id"),
    reference("user_id", "user.user_id", null=True),
    integer("ifpa_id", null=True),
    # For a person with neither number: the organizer of the book, and the name in it, folded.
    reference("organizer_id", "user.user_id", null=True),
    text("name_key", null=True),
    text("name"),
    # Without case and accents, for searches.
    text("name_folded"),
    # The rating that replaces this one; the row stays as a redirect.
    reference("merged_into", "rating.rating_id", null=True),
    *_standing_columns(),
    UniqueConstraint("user_id"),
    UniqueConstraint("ifpa_id"),
    UniqueConstraint("organizer_id", "name_key"),
    indexes=[("rating",), ("merged_into",)],
    audiences={
        "public": "rating_id user_id ifpa_id name merged_into rating rd delta lower_bound rank"
        " first_period last_period game_count win_count loss_count result_count",
        "person": "organizer_id name_key name_folded",
    },
)

rating_period = table(
    "rating_period",
    key("rating_period_id"),
    # `2026-03-05`, a day in UTC.
    text("period_date"),
    # waiting, processed, or dirty: processed, and corrected since.
    text("status"),
    # Whether the ratings are as of the end of this period; true for one period at most.
    flag("is_current"),
    # Ratings up to this day came from a file and cannot be computed here.
    flag("is_imported"),
    # Null until it is processed.
    integer("tournament_count", null=True),
    integer("challenge_count", null=True),
    integer("ext_event_count", null=True),
    integer("result_count", null=True),
    integer("player_count", null=True),
    # A digest of its results and parameters, so that nothing is computed twice.
    text("fingerprint", null=True),
    integer("algorithm_version", null=True),
    json("parameters", null=True),
    # For the current period: the distribution of the listed ratings.
    json("percentiles", null=True),
    # For the current period: the run whose staged ratings are shown until they are all moved to `rating`.
    integer("staged_run", null=True),
    Column("processed_at", Instant),
    UniqueConstraint("period_date"),
    indexes=[("status", "period_date"), ("is_current",)],
    audiences={
        "public": "rating_period_id period_date status is_current is_imported tournament_count"
        " challenge_count ext_event_count result_count player_count fingerprint"
        " algorithm_version parameters percentiles processed_at",
        "secret": "staged_run",
    },
)

# One row for each player and period with results.
rating_revision = table(
    "rating_revision",
    key("rating_revision_id"),
    reference("rating_id", "rating.rating_id"),
    text("period_date"),
    Column("rating", Real, nullable=False),
    Column("rd", Real, nullable=False),
    # These are null when the revision came from a file.
    Column("delta", Real),
    *(integer(name, null=True) for name in COUNTS),
    # Rating id, wins, losses and draws for each opponent in turn.
    json("meetings", null=True),
    UniqueConstraint("rating_id", "period_date"),
    indexes=[("period_date",)],
    # The meetings name opponents, who are other people.
    audiences={
        "public": "rating_revision_id rating_id period_date rating rd delta game_count win_count"
        " loss_count result_count",
        "secret": "meetings",
    },
)

# Ratings of a run that are not in `rating` yet: shown once the current period names the run. Without
# references, which would cost more than the rows.
staged_rating = table(
    "staged_rating",
    Column("run", Id, primary_key=True, autoincrement=False),
    Column("rating_id", Id, primary_key=True, autoincrement=False),
    *_standing_columns(),
    audiences={
        "secret": "run rating_id rating rd delta lower_bound rank first_period last_period game_count"
        " win_count loss_count result_count",
    },
)

# The newest rating run; an older one that is still at work stops.
rating_run = table(
    "rating_run",
    Column("slot", Id, primary_key=True, autoincrement=False),
    integer("run"),
    audiences={"secret": "slot run"},
)


# Results sent in by URL: the submission, its players, its document.


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
