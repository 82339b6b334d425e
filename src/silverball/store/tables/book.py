"""The organizer's book: players, arenas, banks, locations, series, occasions."""

from sqlalchemy import Column, Text, UniqueConstraint

from silverball.store.tables.base import (
    OpdbId,
    Real,
    flag,
    integer,
    json,
    key,
    key_reference,
    reference,
    table,
    text,
)
from silverball.store.types import Id, Instant

player = table(
    "player",
    key("player_id"),
    reference("organizer_id", "user.user_id"),
    text("name"),
    integer("ifpa_id", null=True),
    reference("claimed_by", "user.user_id", null=True),
    text("status"),
    json("labels"),
    text("label_color", null=True),
    # Of the name (store/digests); rows of earlier versions have none.
    text("name_digest", null=True),
    indexes=[("organizer_id",), ("claimed_by",)],
    audiences={
        "public": "player_id organizer_id name ifpa_id claimed_by status labels label_color",
        "person": "name_digest",
    },
)

# A user claims to be this player; the organizer has not approved it yet.
claim = table(
    "claim",
    key_reference("player_id", "player.player_id"),
    key_reference("user_id", "user.user_id"),
    Column("at", Instant, nullable=False),
    indexes=[("user_id",)],
    audiences={"organizer": "player_id user_id at"},
)

arena = table(
    "arena",
    key("arena_id"),
    reference("organizer_id", "user.user_id"),
    text("name"),
    text("status"),
    Column("opdb_id", OpdbId),
    integer("category_id", null=True),
    json("labels"),
    text("label_color", null=True),
    indexes=[("organizer_id",)],
    audiences={"public": "arena_id organizer_id name status opdb_id category_id labels label_color"},
)

bank = table(
    "bank",
    key("bank_id"),
    reference("organizer_id", "user.user_id"),
    text("name"),
    text("status"),
    indexes=[("organizer_id",)],
    audiences={"public": "bank_id organizer_id name status"},
)

bank_arena = table(
    "bank_arena",
    key_reference("bank_id", "bank.bank_id"),
    # Order inside the bank, from 0.
    key("place"),
    reference("arena_id", "arena.arena_id"),
    indexes=[("arena_id",)],
    audiences={"public": "bank_id place arena_id"},
)

location = table(
    "location",
    key("location_id"),
    reference("organizer_id", "user.user_id"),
    text("name"),
    text("address", null=True),
    Column("lat", Real),
    Column("lng", Real),
    text("status"),
    integer("pinballmap_id", null=True),
    integer("scorbit_venue_id", null=True),
    text("scorbit_venue_uuid", null=True),
    indexes=[("organizer_id",)],
    audiences={
        "public": "location_id organizer_id name address lat lng status pinballmap_id scorbit_venue_id"
        " scorbit_venue_uuid",
    },
)

series = table(
    "series",
    key("series_id"),
    reference("organizer_id", "user.user_id"),
    text("name"),
    text("status"),
    flag("test"),
    integer("removed_results", null=True),
    json("playoffs_cutoffs"),
    text("scoring", null=True),
    json("scoring_custom", null=True),
    json("estimated_tgp", null=True),
    json("rsvp_configuration", null=True),
    # Named by an import but not included in it.
    flag("placeholder"),
    indexes=[("organizer_id",)],
    audiences={
        "public": "series_id organizer_id name status test removed_results playoffs_cutoffs scoring"
        " scoring_custom estimated_tgp rsvp_configuration placeholder",
    },
)

occasion = table(
    "occasion",
    key("occasion_id"),
    reference("organizer_id", "user.user_id"),
    reference("location_id", "location.location_id", null=True),
    text("name"),
    text("status"),
    text("contact_email", null=True),
    Column("start_utc", Instant, nullable=False),
    text("start_local"),
    Column("end_utc", Instant),
    text("end_local", null=True),
    Column("registration_utc", Instant),
    text("registration_local", null=True),
    text("timezone", null=True),
    text("description", null=True),
    text("description_html", null=True),
    text("description_preview_html", null=True),
    integer("description_collapse", null=True),
    text("banner", null=True),
    text("layout", null=True),
    text("layout_order", null=True),
    indexes=[("organizer_id",), ("location_id",)],
    audiences={
        "public": "occasion_id organizer_id location_id name status contact_email start_utc start_local"
        " end_utc end_local registration_utc registration_local timezone description"
        " description_html description_preview_html description_collapse banner layout"
        " layout_order",
    },
)

occasion_link = table(
    "occasion_link",
    key("link_id"),
    reference("occasion_id", "occasion.occasion_id", cascade=True),
    reference("user_id", "user.user_id"),
    integer("place"),
    text("label"),
    text("url"),
    integer("is_registration"),
    integer("embed"),
    indexes=[("occasion_id",)],
    audiences={"public": "link_id occasion_id user_id place label url is_registration embed"},
)

occasion_tournament = table(
    "occasion_tournament",
    key("event_tournament_id"),
    reference("occasion_id", "occasion.occasion_id", cascade=True),
    reference("user_id", "user.user_id"),
    reference("tournament_id", "tournament.tournament_id", null=True, cascade=True),
    integer("place"),
    json("labels"),
    text("label_color", null=True),
    integer("player_limit", null=True),
    json("tgp", null=True),
    # externalName, externalLink, externalLocation and its four times, by wire name.
    json("external"),
    UniqueConstraint("occasion_id", "tournament_id"),
    indexes=[("occasion_id",), ("tournament_id",)],
    audiences={
        "public": "event_tournament_id occasion_id user_id tournament_id place labels label_color"
        " player_limit tgp external",
    },
)

# The id that a thing of another service has here, so that each later import finds it again.
remote_id = table(
    "remote_id",
    # The service: the name in its bundles, or the name that the importer gave it.
    Column("source", Text, primary_key=True),
    # The name of the id on the wire: `playerId`.
    Column("kind", Text, primary_key=True),
    Column("remote_id", Id, primary_key=True),
    Column("local_id", Id, nullable=False),
    indexes=[("kind", "local_id")],
    audiences={"secret": "source kind remote_id local_id"},
)
