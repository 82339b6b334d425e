"""The machine database: its entries, what moved, the films and the tips."""

from sqlalchemy import Column

from silverball.store.tables.base import OpdbId, flag, integer, json, key, table, text
from silverball.store.types import Instant

machine = table(
    "machine",
    Column("opdb_id", OpdbId, primary_key=True),
    Column("opdb_group", OpdbId, nullable=False),
    text("entry_type"),
    text("name"),
    text("common_name", null=True),
    text("short_name", null=True),
    # The entry as it is shown, without the two parts that are shown only when they are asked for.
    json("entry"),
    json("people", null=True),
    json("images", null=True),
    # Made up here: the file had no entry for this group.
    flag("synthetic"),
    # Added by this house: no file of the machine database takes it away.
    flag("homebrew"),
    indexes=[("opdb_group",)],
)

# Nothing refers to an entry: an arena may name a machine that is not known here yet, or no more.
machine_change = table(
    "machine_change",
    key("changelog_id"),
    text("action"),
    Column("opdb_id_deleted", OpdbId, nullable=False),
    Column("opdb_id_replacement", OpdbId),
    Column("created_at", Instant, nullable=False),
)

machine_video = table(
    "machine_video",
    key("video_id"),
    Column("opdb_id", OpdbId),
    text("title"),
    text("url"),
    text("provider", null=True),
    text("author", null=True),
    integer("duration_seconds", null=True),
    indexes=[("opdb_id",)],
)

tip = table(
    "tip",
    key("tip_id"),
    # Of the group: a tip is for every model of a title. None when the title was deleted.
    Column("opdb_id", OpdbId),
    text("category"),
    integer("vote_total"),
    text("text"),
    Column("created_at", Instant, nullable=False),
    Column("updated_at", Instant, nullable=False),
    indexes=[("opdb_id",)],
)
