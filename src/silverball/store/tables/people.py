"""Accounts: users, their tokens and sessions, clubs."""

from sqlalchemy import Column, Index, Text, UniqueConstraint
from sqlalchemy import text as sql_text

from silverball.store.tables.base import flag, integer, json, key, key_reference, reference, table, text
from silverball.store.types import Id, Instant

# The opt-outs of a user, each a column of its own.
OPT_OUTS = (
    "ratings_opt_out",
    "stats_opt_out",
    "video_opt_out",
    "profile_opt_out",
    "history_opt_out",
    "history_only_completed",
)

user = table(
    "user",
    key("user_id"),
    text("name"),
    text("first_name", null=True),
    text("last_name", null=True),
    # Lower case; null for accounts that cannot sign in.
    text("email", null=True),
    text("password_hash", null=True),
    # player, organizer or admin; the wire shows an admin as organizer.
    text("role"),
    integer("ifpa_id", null=True),
    text("flag", null=True),
    text("location", null=True),
    text("pronouns", null=True),
    text("initials", null=True),
    text("avatar", null=True),
    text("banner", null=True),
    text("tournament_avatar", null=True),
    integer("club_id", null=True),
    integer("business_profile_id", null=True),
    # Named by an import but not included in it: no login, only an id and a name.
    flag("placeholder"),
    *(flag(name) for name in OPT_OUTS),
    Column("created_at", Instant, nullable=False),
    # Set while the account may do nothing.
    Column("suspended_at", Instant),
    UniqueConstraint("email"),
    # Nearly every read of ratings asks for the few users who opted out.
    indexes=[("ifpa_id",), ("ratings_opt_out",), ("profile_opt_out",), ("club_id",)],
    audiences={
        "public": "user_id name first_name last_name role ifpa_id flag location pronouns initials"
        " avatar banner tournament_avatar club_id business_profile_id placeholder"
        " ratings_opt_out stats_opt_out video_opt_out profile_opt_out history_opt_out"
        " history_only_completed created_at",
        "person": "email suspended_at",
        "secret": "password_hash",
    },
)
# Partial on PostgreSQL too, by the migration: said here, it would load that dialect at each start.
Index("ix_user_suspended", user.c.user_id, sqlite_where=user.c.suspended_at.is_not(None))

token = table(
    "token",
    key("token_id"),
    reference("user_id", "user.user_id", cascade=True),
    text("name"),
    # SHA-256 in hex of the part after the bar; the token itself is never stored.
    text("hash"),
    json("abilities"),
    Column("created_at", Instant, nullable=False),
    Column("last_used_at", Instant),
    Column("expires_at", Instant),
    UniqueConstraint("hash"),
    indexes=[("user_id",)],
    audiences={
        "person": "token_id user_id name abilities created_at last_used_at expires_at",
        "secret": "hash",
    },
)

session = table(
    "session",
    # SHA-256 in hex of the cookie's secret.
    Column("hash", Text, primary_key=True),
    reference("user_id", "user.user_id", cascade=True),
    text("csrf"),
    Column("created_at", Instant, nullable=False),
    Column("expires_at", Instant, nullable=False),
    # The last request, to a few minutes; and when the password was given. Null before an upgrade.
    Column("seen_at", Instant),
    Column("proved_at", Instant),
    # The network and the kind of browser that signed in, as its owner sees them.
    text("network", null=True),
    text("browser", null=True),
    indexes=[("user_id",), ("expires_at",)],
    audiences={
        "person": "user_id created_at expires_at seen_at proved_at network browser",
        "secret": "hash csrf",
    },
)

# Responses to committed writing requests, so that a request that is sent again acts once.
idempotency = table(
    "idempotency",
    key_reference("user_id", "user.user_id"),
    # The Idempotency-Key that the caller sent.
    Column("key", Text, primary_key=True),
    # SHA-256 in hex of method, path, query and body.
    text("fingerprint"),
    integer("status"),
    text("body"),
    json("headers"),
    Column("at", Instant, nullable=False),
    # The running minute of the site at that time, and the tournament whose completion ends its use.
    Column("minute", Id, nullable=False, server_default=sql_text("0")),
    integer("tournament_id", null=True),
    indexes=[("at",)],
    audiences={"secret": "user_id key fingerprint status body headers at minute tournament_id"},
)

# What concerns security. Rows with a bucket count what one address did in one minute.
audit_entry = table(
    "audit_entry",
    key("audit_entry_id"),
    text("event"),
    # The account that it was done with or to.
    reference("user_id", "user.user_id", null=True, cascade=True),
    # An address, or the command line; empty when the person was erased.
    text("source"),
    text("detail"),
    Column("at", Instant, nullable=False),
    Column("last_at", Instant, nullable=False),
    integer("count"),
    # Minute, event, account and address of what is counted; null for entries of their own.
    text("bucket", null=True),
    UniqueConstraint("bucket"),
    indexes=[("at",), ("user_id",)],
    audiences={"person": "event user_id source detail at last_at count", "secret": "audit_entry_id bucket"},
)

# Federation numbers that an administrator has confirmed for an account; only these join their ratings.
confirmed_number = table(
    "confirmed_number",
    Column("ifpa_id", Id, primary_key=True, autoincrement=False),
    reference("user_id", "user.user_id", cascade=True),
    Column("at", Instant, nullable=False),
    # Those that were confirmed together, and can be taken back together; null for one by itself.
    integer("batch_id", null=True),
    UniqueConstraint("user_id"),
    indexes=[("batch_id",)],
    audiences={"person": "ifpa_id user_id at batch_id"},
)

club = table(
    "club",
    key("club_id"),
    reference("user_id", "user.user_id"),
    text("name"),
    text("logo", null=True),
    text("description", null=True),
    text("location", null=True),
    indexes=[("user_id",)],
    audiences={"public": "club_id user_id name logo description location"},
)

shortcut = table(
    "shortcut",
    key("shortcut_id"),
    text("slug"),
    # Exactly one of the four is set.
    reference("user_id", "user.user_id", null=True, cascade=True),
    reference("tournament_id", "tournament.tournament_id", null=True, cascade=True),
    reference("series_id", "series.series_id", null=True, cascade=True),
    reference("occasion_id", "occasion.occasion_id", null=True, cascade=True),
    UniqueConstraint("slug"),
    indexes=[("user_id",), ("tournament_id",), ("series_id",), ("occasion_id",)],
    audiences={"public": "shortcut_id slug user_id tournament_id series_id occasion_id"},
)

# Browsers that have signed in to an account before: other people's failures do not slow them down.
known_browser = table(
    "known_browser",
    # SHA-256 in hex of the cookie's secret.
    Column("hash", Text, primary_key=True),
    reference("user_id", "user.user_id", cascade=True),
    Column("created_at", Instant, nullable=False),
    indexes=[("user_id",)],
    audiences={"secret": "hash user_id created_at"},
)

# Accounts whose sign-in asks for a code of an app, too.
two_step = table(
    "two_step",
    key_reference("user_id", "user.user_id"),
    # Shown to its owner once. Encrypted.
    text("secret"),
    Column("created_at", Instant, nullable=False),
    # When its owner first gave a code; null until then, when nothing is asked for yet.
    Column("confirmed_at", Instant),
    # The half minute, counted from 1970, whose code was accepted last: none is accepted twice.
    integer("last_step", null=True),
    audiences={"person": "confirmed_at", "secret": "user_id secret created_at last_step"},
)

# Codes that replace the app's, each once.
recovery_code = table(
    "recovery_code",
    # The account's salt, `$`, and the argon2id digest of the code with it, in hex.
    Column("hash", Text, primary_key=True),
    reference("user_id", "user.user_id", cascade=True),
    indexes=[("user_id",)],
    audiences={"secret": "hash user_id"},
)

# Sign-ins whose password was right and whose code is asked for.
half_sign_in = table(
    "half_sign_in",
    # SHA-256 in hex of the secret in the form.
    Column("hash", Text, primary_key=True),
    reference("user_id", "user.user_id", cascade=True),
    Column("expires_at", Instant, nullable=False),
    indexes=[("user_id",), ("expires_at",)],
    audiences={"secret": "hash user_id expires_at"},
)

# Links that an administrator makes: an invitation to make an account, or the way to a new password.
account_link = table(
    "account_link",
    # SHA-256 in hex of the secret in the link.
    Column("hash", Text, primary_key=True),
    # The account that gets a new password; null in an invitation.
    reference("user_id", "user.user_id", null=True, cascade=True),
    # The role of the account that an invitation makes; null in a recovery.
    text("role", null=True),
    # The administrator.
    reference("created_by", "user.user_id", cascade=True),
    Column("created_at", Instant, nullable=False),
    Column("expires_at", Instant, nullable=False),
    indexes=[("user_id",), ("created_by",), ("expires_at",)],
    audiences={"secret": "hash user_id role created_by created_at expires_at"},
)

# Networks whose requests are refused: `203.0.113.0/24`.
blocked_network = table(
    "blocked_network",
    Column("network", Text, primary_key=True),
    Column("created_at", Instant, nullable=False),
    audiences={"secret": "network created_at"},
)

# Values of the whole site, by name.
site_value = table(
    "site_value",
    Column("name", Text, primary_key=True),
    text("value"),
    audiences={"secret": "name value"},
)


# Devices: browsers and printed codes that act in one tournament without an account.


device = table(
    "device",
    key("device_id"),
    reference("tournament_id", "tournament.tournament_id", cascade=True),
    # scorekeeper: a browser that records results; codes: the codes that are printed for the players.
    text("kind"),
    text("name"),
    # For a scorekeeper's device: SHA-256 in hex of the secret in its link, which is stored nowhere.
    text("hash", null=True),
    # For codes: the secret that each code is derived from, encrypted.
    text("secret", null=True),
    Column("created_at", Instant, nullable=False),
    Column("last_used_at", Instant),
    # The row stays, because the journal refers to it.
    Column("revoked_at", Instant),
    # The account that made it; null for the organizer, and before an upgrade. It dies with their rights.
    integer("created_by", null=True),
    UniqueConstraint("hash"),
    indexes=[("tournament_id",), ("created_by",)],
    audiences={
        "organizer": "device_id tournament_id kind name created_at last_used_at revoked_at created_by",
        "secret": "hash secret",
    },
)

# What the codes of a tournament's door and of its waiting people are made from.
code_secret = table(
    "code_secret",
    key_reference("tournament_id", "tournament.tournament_id"),
    text("secret"),
    audiences={"secret": "tournament_id secret"},
)

# Actions in the journal that were done without an account.
device_action = table(
    "device_action",
    key_reference("tournament_id", "tournament.tournament_id"),
    key("action_id"),
    reference("device_id", "device.device_id", cascade=True),
    # The player of the printed code; null for a scorekeeper's device and for the code of a game.
    integer("player_id", null=True),
    indexes=[("device_id",), ("player_id",)],
    audiences={"staff": "tournament_id action_id device_id player_id"},
)

# Links that make the first organizer who opens one a director.
director_link = table(
    "director_link",
    # SHA-256 in hex of the secret in the link.
    Column("hash", Text, primary_key=True),
    reference("tournament_id", "tournament.tournament_id", cascade=True),
    reference("created_by", "user.user_id", cascade=True),
    Column("expires_at", Instant, nullable=False),
    indexes=[("tournament_id",), ("created_by",)],
    audiences={"secret": "hash tournament_id created_by expires_at"},
)
