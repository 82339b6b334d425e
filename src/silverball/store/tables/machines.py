"""The machine database: its entries, moved ids, videos and tips."""

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
    # The entry as JSON, without the two parts that are shown only on request.
    json("entry"),
    json("people", null=True),
    json("images", null=True),
    # Created here, because the file had no entry for this group.
    flag("synthetic"),
    # Added on this site: no file of the machine database removes it.
    flag("homebrew"),
    indexes=[("opdb_group",)],
    audiences={
        "public": "opdb_id opdb_group entry_type name common_name short_name entry people images"
        " synthetic homebrew",
    },
)

# Nothing refers to an entry: an arena may name a machine that is not known here yet, or no longer.
machine_change = table(
    "machine_change",
    key("changelog_id"),
    text("action"),
    Column("opdb_id_deleted", OpdbId, nullable=False),
    Column("opdb_id_replacement", OpdbId),
    Column("created_at", Instant, nullable=False),
    audiences={"public": "changelog_id action opdb_id_deleted opdb_id_replacement created_at"},
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
    audiences={"public": "video_id opdb_id title url provider author duration_seconds"},
)

tip = table(
    "tip",
    key("tip_id"),
    # The group, as a tip is for every model of a title; null when the title was deleted.
    Column("opdb_id", OpdbId),
    text("category"),
    integer("vote_total"),
    text("text"),
    Column("created_at", Instant, nullable=False),
    Column("updated_at", Instant, nullable=False),
    indexes=[("opdb_id",)],
    audiences={"public": "tip_id opdb_id category vote_total text created_at updated_at"},
)
