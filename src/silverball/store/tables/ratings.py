"""Ratings: who has one, what each period made of it, and the periods themselves."""

from sqlalchemy import Column, UniqueConstraint

from silverball.store.tables.base import Real, flag, integer, json, key, reference, table, text
from silverball.store.types import Id, Instant

# A rated person as of the current period. Source of the identity: ratings, section A.5.
rating = table(
    "rating",
    key("rating_id"),
    reference("user_id", "user.user_id", null=True),
    integer("ifpa_id", null=True),
    # Of somebody with neither number: whose book, and the name in it without case and accents.
    reference("organizer_id", "user.user_id", null=True),
    text("name_key", null=True),
    text("name"),
    # Without case and accents, to be found by.
    text("name_folded"),
    # Whose rating goes on in place of this one; the row stays as a signpost.
    reference("merged_into", "rating.rating_id", null=True),
    # Null until the first period; then as of the last period that was played.
    Column("rating", Real),
    Column("rd", Real),
    Column("delta", Real),
    # As of the current period; the rank is null for who is not shown.
    Column("lower_bound", Real),
    integer("rank", null=True),
    text("first_period", null=True),
    text("last_period", null=True),
    # Null while nothing is known to have been played: the rating came from a file.
    integer("game_count", null=True),
    integer("win_count", null=True),
    integer("loss_count", null=True),
    integer("result_count", null=True),
    UniqueConstraint("user_id"),
    UniqueConstraint("ifpa_id"),
    UniqueConstraint("organizer_id", "name_key"),
    indexes=[("rating",), ("merged_into",)],
)

rating_period = table(
    "rating_period",
    key("rating_period_id"),
    # `2026-03-05`, a day in UTC.
    text("period_date"),
    # waiting, processed, or dirty: processed, and its results were corrected since.
    text("status"),
    # Whether `rating` stands at the end of this period; one does at most.
    flag("is_current"),
    # Everything up to this day came from a file: it cannot be computed here.
    flag("is_imported"),
    # Null until it is processed.
    integer("tournament_count", null=True),
    integer("challenge_count", null=True),
    integer("ext_event_count", null=True),
    integer("result_count", null=True),
    integer("player_count", null=True),
    # What it was computed from and how, so that nothing is computed twice.
    text("fingerprint", null=True),
    integer("algorithm_version", null=True),
    json("parameters", null=True),
    # Of the current period: how ratings are spread over those who are shown.
    json("percentiles", null=True),
    Column("processed_at", Instant),
    UniqueConstraint("period_date"),
    indexes=[("status", "period_date"), ("is_current",)],
)

# One row for each player and period that he played.
rating_revision = table(
    "rating_revision",
    key("rating_revision_id"),
    reference("rating_id", "rating.rating_id"),
    text("period_date"),
    Column("rating", Real, nullable=False),
    Column("rd", Real, nullable=False),
    # These are null when the revision came from a file.
    Column("delta", Real),
    integer("game_count", null=True),
    integer("win_count", null=True),
    integer("loss_count", null=True),
    integer("result_count", null=True),
    # Opponent's rating id, wins, losses, draws; and the next opponent.
    json("meetings", null=True),
    UniqueConstraint("rating_id", "period_date"),
    indexes=[("period_date",)],
)

# Which run is at work: the newest one; an older one that is still at work stops.
rating_run = table("rating_run", Column("slot", Id, primary_key=True, autoincrement=False), integer("run"))
