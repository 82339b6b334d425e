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

# What was done to a book as a whole, and what it takes to undo it (store/people/book_actions).
book_action = table(
    "book_action",
    key("book_action_id"),
    # Whose book it is.
    reference("user_id", "user.user_id", cascade=True),
    text("kind"),
    json("data"),
    Column("at", Instant, nullable=False),
    Column("undone_at", Instant),
    indexes=[("user_id", "book_action_id")],
    audiences={"organizer": "book_action_id user_id kind data at undone_at"},
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
    audiences={"staff": "source", "secret": "kind remote_id local_id"},
)


# The machine database: its entries, moved ids, videos and tips.


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


# The federation's records of players, as imported.


federation_player = table(
    "federation_player",
    # The federation's own number.
    Column("ifpa_id", Id, primary_key=True, autoincrement=False),
    text("name"),
    # The name for comparisons (`names.strip_punctuation`): a change of that function needs a migration.
    text("name_plain"),
    integer("rank", null=True),
    integer("womens_rank", null=True),
    Column("rating", Real),
    integer("rating_rank", null=True),
    integer("total_events", null=True),
    text("initials", null=True),
    text("city", null=True),
    text("state", null=True),
    text("country_code", null=True),
    text("country_name", null=True),
    Column("updated_at", Instant, nullable=False),
    indexes=[("name_plain",)],
    audiences={
        "public": "ifpa_id name rank womens_rank rating rating_rank total_events initials city state"
        " country_code country_name updated_at",
        "secret": "name_plain",
    },
)


# Pulls from other services that accounts started on a page, and the turns at each service.


# The newest pull of an account; it is replaced by the next one.
history_pull = table(
    "history_pull",
    key("history_pull_id"),
    reference("user_id", "user.user_id", cascade=True),
    text("address"),
    # The token there. Encrypted, and deleted when the pull ends.
    text("secret", null=True),
    # `{"owners", "series", "tournaments", "since", "isFull"}`, as they were typed.
    json("wanted"),
    flag("is_dry_run"),
    # `active`, `stopped` by its owner, `finished`, or `failed`.
    text("status"),
    # Why it waits or has failed; null when it does neither.
    text("reason", null=True),
    # Whether the tournaments to take are known.
    flag("is_listed"),
    # The account of the token there; null without one.
    integer("remote_user", null=True),
    integer("requests"),
    # Requests of others on the same token meanwhile.
    integer("foreign_requests"),
    # Seconds in which it was at work.
    integer("seconds"),
    # Faults in a row that may pass.
    integer("failures"),
    Column("due_at", Instant, nullable=False),
    # End of the lease of the process that works on it: a killed one is noticed by it.
    Column("busy_until", Instant),
    Column("created_at", Instant, nullable=False),
    Column("updated_at", Instant, nullable=False),
    UniqueConstraint("user_id"),
    indexes=[("status", "due_at")],
    audiences={
        "person": "history_pull_id user_id address wanted is_dry_run status reason is_listed"
        " remote_user requests foreign_requests seconds failures due_at created_at updated_at",
        "secret": "secret busy_until",
    },
)

# A tournament of a pull, and its report as soon as it was read.
history_pull_item = table(
    "history_pull_item",
    key_reference("history_pull_id", "history_pull.history_pull_id"),
    Column("remote_id", Id, primary_key=True),
    integer("place"),
    text("name"),
    text("updated_at", null=True),
    json("report", null=True),
    indexes=[("history_pull_id", "place")],
    audiences={"person": "history_pull_id remote_id place name updated_at report"},
)

# When the next request to a service may be sent: all programs that use one token there take turns.
source_turn = table(
    "source_turn",
    # SHA-256 in hex of host and token.
    Column("name", Text, primary_key=True),
    # Unix time.
    Column("next_at", Real, nullable=False),
    integer("requests"),
    audiences={"secret": "name next_at requests"},
)
