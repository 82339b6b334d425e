"""The foundation: accounts, the organizer's book, tournaments, play, the record.

Frozen: it says what the tables were at this step, whatever `store/tables` says today. A later change
of a table is a later migration.
"""

from typing import Any

from alembic import op
from sqlalchemy import REAL, Column, Double, ForeignKey, Index, MetaData, Table, Text, UniqueConstraint
from sqlalchemy.schema import SchemaItem
from sqlalchemy.types import TypeEngine

from silverball.store.types import Flag, Hundredths, Id, Instant, Json

revision = "0001"
down_revision = None
branch_labels = None
depends_on = None

FROZEN = MetaData(
    naming_convention={
        "ix": "ix_%(table_name)s_%(column_0_N_name)s",
        "uq": "uq_%(table_name)s_%(column_0_N_name)s",
        "fk": "fk_%(table_name)s_%(column_0_name)s",
        "pk": "pk_%(table_name)s",
    }
)
REAL_NUMBER: TypeEngine[float] = REAL().with_variant(Double(), "postgresql")
# Compared byte by byte: OPDB ids differ by letter case only.
OPDB_ID = Text().with_variant(Text(collation="C"), "postgresql")


def upgrade() -> None:
    FROZEN.create_all(op.get_bind())


def downgrade() -> None:
    FROZEN.drop_all(op.get_bind())


def _table(name: str, *columns: SchemaItem, counted: bool, indexes: tuple[tuple[str, ...], ...] = ()) -> None:
    built = Table(name, FROZEN, *columns, sqlite_strict=True, sqlite_autoincrement=counted)
    for names in indexes:
        Index(None, *(built.c[column] for column in names))


def _key(name: str, target: str | None = None) -> Column[int]:
    rule = () if target is None else (ForeignKey(target, ondelete="CASCADE"),)
    return Column(name, Id, *rule, primary_key=True)


def _ref(name: str, target: str, *, null: bool = False, cascade: bool = False) -> Column[int]:
    return Column(name, Id, ForeignKey(target, ondelete="CASCADE" if cascade else None), nullable=null)


def _column(name: str, kind: Any = Text, *, null: bool = False) -> Column[object]:
    return Column(name, kind, nullable=null)


_table(
    "user",
    _key("user_id"),
    _column("name"),
    _column("first_name", null=True),
    _column("last_name", null=True),
    _column("email", null=True),
    _column("password_hash", null=True),
    _column("role"),
    _column("ifpa_id", Id, null=True),
    _column("flag", null=True),
    _column("location", null=True),
    _column("pronouns", null=True),
    _column("initials", null=True),
    _column("avatar", null=True),
    _column("banner", null=True),
    _column("tournament_avatar", null=True),
    _column("club_id", Id, null=True),
    _column("business_profile_id", Id, null=True),
    _column("placeholder", Flag),
    _column("ratings_opt_out", Flag),
    _column("stats_opt_out", Flag),
    _column("video_opt_out", Flag),
    _column("profile_opt_out", Flag),
    _column("history_opt_out", Flag),
    _column("history_only_completed", Flag),
    _column("created_at", Instant),
    UniqueConstraint("email"),
    counted=True,
    indexes=(("ifpa_id",),),
)
_table(
    "world",
    Column("slot", Id, primary_key=True, autoincrement=False),
    _column("revision", Id),
    counted=True,
)
_table(
    "arena",
    _key("arena_id"),
    _ref("organizer_id", "user.user_id"),
    _column("name"),
    _column("status"),
    _column("opdb_id", OPDB_ID, null=True),
    _column("category_id", Id, null=True),
    _column("labels", Json),
    _column("label_color", null=True),
    counted=True,
    indexes=(("organizer_id",),),
)
_table(
    "bank",
    _key("bank_id"),
    _ref("organizer_id", "user.user_id"),
    _column("name"),
    _column("status"),
    counted=True,
    indexes=(("organizer_id",),),
)
_table(
    "club",
    _key("club_id"),
    _ref("user_id", "user.user_id"),
    _column("name"),
    _column("logo", null=True),
    _column("description", null=True),
    _column("location", null=True),
    counted=True,
)
_table(
    "location",
    _key("location_id"),
    _ref("organizer_id", "user.user_id"),
    _column("name"),
    _column("address", null=True),
    _column("lat", REAL_NUMBER, null=True),
    _column("lng", REAL_NUMBER, null=True),
    _column("status"),
    _column("pinballmap_id", Id, null=True),
    _column("scorbit_venue_id", Id, null=True),
    _column("scorbit_venue_uuid", null=True),
    counted=True,
    indexes=(("organizer_id",),),
)
_table(
    "player",
    _key("player_id"),
    _ref("organizer_id", "user.user_id"),
    _column("name"),
    _column("ifpa_id", Id, null=True),
    _ref("claimed_by", "user.user_id", null=True),
    _column("status"),
    _column("labels", Json),
    _column("label_color", null=True),
    counted=True,
    indexes=(("claimed_by",), ("organizer_id",)),
)
_table(
    "series",
    _key("series_id"),
    _ref("organizer_id", "user.user_id"),
    _column("name"),
    _column("status"),
    _column("test", Flag),
    _column("removed_results", Id, null=True),
    _column("playoffs_cutoffs", Json),
    _column("scoring", null=True),
    _column("scoring_custom", Json, null=True),
    _column("estimated_tgp", Json, null=True),
    _column("rsvp_configuration", Json, null=True),
    _column("placeholder", Flag),
    counted=True,
    indexes=(("organizer_id",),),
)
_table(
    "session",
    Column("hash", Text, primary_key=True),
    _ref("user_id", "user.user_id", cascade=True),
    _column("csrf"),
    _column("created_at", Instant),
    _column("expires_at", Instant),
    counted=False,
    indexes=(("expires_at",), ("user_id",)),
)
_table(
    "token",
    _key("token_id"),
    _ref("user_id", "user.user_id", cascade=True),
    _column("name"),
    _column("hash"),
    _column("abilities", Json),
    _column("created_at", Instant),
    _column("last_used_at", Instant, null=True),
    _column("expires_at", Instant, null=True),
    UniqueConstraint("hash"),
    counted=True,
    indexes=(("user_id",),),
)
_table(
    "bank_arena",
    _key("bank_id", "bank.bank_id"),
    _key("place"),
    _ref("arena_id", "arena.arena_id"),
    counted=False,
)
_table(
    "occasion",
    _key("occasion_id"),
    _ref("organizer_id", "user.user_id"),
    _ref("location_id", "location.location_id", null=True),
    _column("name"),
    _column("status"),
    _column("contact_email", null=True),
    _column("start_utc", Instant),
    _column("start_local"),
    _column("end_utc", Instant, null=True),
    _column("end_local", null=True),
    _column("registration_utc", Instant, null=True),
    _column("registration_local", null=True),
    _column("timezone", null=True),
    _column("description", null=True),
    _column("description_html", null=True),
    _column("description_preview_html", null=True),
    _column("description_collapse", Id, null=True),
    _column("banner", null=True),
    _column("layout", null=True),
    _column("layout_order", null=True),
    counted=True,
    indexes=(("organizer_id",),),
)
_table(
    "tournament",
    _key("tournament_id"),
    _column("name"),
    _column("status"),
    _column("type"),
    _column("description", null=True),
    _column("start_utc", Instant),
    _column("start_local"),
    _column("end_utc", Instant, null=True),
    _column("end_local", null=True),
    _column("completed_at", Instant, null=True),
    _column("created_at", Instant),
    _column("updated_at", Instant),
    _column("timezone"),
    _ref("organizer_id", "user.user_id"),
    _ref("location_id", "location.location_id", null=True),
    _ref("series_id", "series.series_id", null=True),
    _column("test", Flag),
    _column("link", null=True),
    _column("linked_tournament_id", Id, null=True),
    _column("estimated_tgp", Json, null=True),
    _column("points_map", Json, null=True),
    _column("tiebreaker_points_map", Json, null=True),
    _column("points_map_custom", Json, null=True),
    _column("primary_config_settings", Json),
    _column("prize_pool", Json, null=True),
    _column("motd_text", null=True),
    _column("motd_color", null=True),
    _column("motd_expiration", null=True),
    _column("managers", Json),
    _column("settings", Json),
    _column("rsvp_configuration", Json, null=True),
    _column("entry_configuration", Json, null=True),
    _column("engine", Json, null=True),
    _column("revision", Id),
    _column("epoch"),
    _column("seq", Id),
    _column("seq_low", Id),
    counted=True,
    indexes=(("location_id",), ("organizer_id",), ("series_id",), ("status",)),
)
_table(
    "announcement",
    _key("tournament_id", "tournament.tournament_id"),
    Column("epoch", Text, primary_key=True),
    _key("seq"),
    _column("name"),
    _column("data"),
    _column("at", Instant),
    counted=False,
)
_table(
    "arena_summary",
    _key("tournament_id", "tournament.tournament_id"),
    _key("arena_id"),
    _column("games", Id),
    _column("single_player_games", Id),
    _column("opdb_id", OPDB_ID, null=True),
    counted=False,
)
_table(
    "card",
    _key("card_id"),
    _ref("tournament_id", "tournament.tournament_id", cascade=True),
    _ref("player_id", "player.player_id"),
    _column("status"),
    _column("best_game", Flag),
    _column("voided", Flag),
    _column("created_at", Instant),
    _column("updated_at", Instant),
    counted=True,
    indexes=(("player_id",), ("tournament_id", "card_id")),
)
_table(
    "entrant",
    _key("tournament_id", "tournament.tournament_id"),
    _key("player_id", "player.player_id"),
    _column("place", Id),
    _column("status"),
    _column("seed", Id, null=True),
    _column("seed_rank", Id, null=True),
    _column("points_adjustment", Hundredths),
    _column("score_adjustment", Hundredths),
    _column("adjusted_after", Id, null=True),
    _column("byes_credited", Id, null=True),
    _column("tie_group", Id, null=True),
    _column("tie_place", Id, null=True),
    _column("subscription", null=True),
    _column("labels", Json),
    _column("label_color", null=True),
    counted=False,
    indexes=(("player_id",),),
)
_table(
    "entry",
    _key("entry_id"),
    _ref("tournament_id", "tournament.tournament_id", cascade=True),
    _ref("player_id", "player.player_id"),
    _column("type"),
    _column("quantity", Id),
    _column("amount", Hundredths, null=True),
    _column("currency", null=True),
    _column("status"),
    _column("created_at", Instant),
    counted=True,
    indexes=(("tournament_id",),),
)
_table(
    "journal",
    _key("journal_id"),
    _ref("tournament_id", "tournament.tournament_id", cascade=True),
    _column("action_id", Id),
    _column("change"),
    _column("data", Json),
    _column("dice_seed", null=True),
    _ref("actor_id", "user.user_id", null=True),
    _column("source"),
    _column("at", Instant),
    counted=True,
    indexes=(("tournament_id", "journal_id"),),
)
_table(
    "lineup_arena",
    _key("tournament_id", "tournament.tournament_id"),
    _key("arena_id", "arena.arena_id"),
    _column("place", Id),
    _column("status"),
    _column("preferred", Flag, null=True),
    _column("amazing_race_seed", Id, null=True),
    _column("best_game_blocked", Flag, null=True),
    _column("best_game_queue_closed", Flag, null=True),
    _column("scorbit_venuemachine_id", Id, null=True),
    _column("scorbit_venuemachine_uuid", null=True),
    _column("scorbitron_installed", Flag, null=True),
    _column("labels", Json),
    _column("label_color", null=True),
    counted=False,
    indexes=(("arena_id",),),
)
_table(
    "lineup_bank",
    _key("tournament_id", "tournament.tournament_id"),
    _key("bank_id", "bank.bank_id"),
    _column("place", Id),
    counted=False,
    indexes=(("bank_id",),),
)
_table(
    "match_summary",
    _key("tournament_id", "tournament.tournament_id"),
    _key("arena_id"),
    _key("player_id"),
    _key("opponent_id"),
    _column("games", Id),
    _column("wins", Id),
    _column("losses", Id),
    _column("opdb_id", OPDB_ID, null=True),
    counted=False,
)
_table(
    "occasion_link",
    _key("link_id"),
    _ref("occasion_id", "occasion.occasion_id", cascade=True),
    _ref("user_id", "user.user_id"),
    _column("place", Id),
    _column("label"),
    _column("url"),
    _column("is_registration", Id),
    _column("embed", Id),
    counted=True,
    indexes=(("occasion_id",),),
)
_table(
    "occasion_tournament",
    _key("event_tournament_id"),
    _ref("occasion_id", "occasion.occasion_id", cascade=True),
    _ref("user_id", "user.user_id"),
    _ref("tournament_id", "tournament.tournament_id", null=True, cascade=True),
    _column("place", Id),
    _column("labels", Json),
    _column("label_color", null=True),
    _column("player_limit", Id, null=True),
    _column("tgp", Json, null=True),
    _column("external", Json),
    UniqueConstraint("occasion_id", "tournament_id"),
    counted=True,
    indexes=(("occasion_id",), ("tournament_id",)),
)
_table(
    "player_arena_summary",
    _key("tournament_id", "tournament.tournament_id"),
    _key("arena_id"),
    _key("player_id"),
    _column("games", Id),
    _column("single_player_games", Id),
    _column("wins", Id),
    _column("losses", Id),
    _column("opdb_id", OPDB_ID, null=True),
    counted=False,
)
_table(
    "round",
    _key("round_id"),
    _ref("tournament_id", "tournament.tournament_id", cascade=True),
    _ref("arena_id", "arena.arena_id", null=True),
    _column("score", Id, null=True),
    _column("round_index", Id),
    _column("name"),
    _column("status"),
    _column("duration_seconds", Id, null=True),
    _column("created_at", Instant),
    _column("completed_at", Instant, null=True),
    _column("size", Id, null=True),
    _column("description", null=True),
    counted=True,
    indexes=(("tournament_id", "round_index"),),
)
_table(
    "scorekeeper",
    _key("tournament_id", "tournament.tournament_id"),
    _key("user_id", "user.user_id"),
    _column("place", Id),
    counted=False,
    indexes=(("user_id",),),
)
_table(
    "shortcut",
    _key("shortcut_id"),
    _column("slug"),
    _ref("user_id", "user.user_id", null=True, cascade=True),
    _ref("tournament_id", "tournament.tournament_id", null=True, cascade=True),
    _ref("series_id", "series.series_id", null=True, cascade=True),
    _ref("occasion_id", "occasion.occasion_id", null=True, cascade=True),
    UniqueConstraint("slug"),
    counted=True,
)
_table(
    "standing",
    _key("tournament_id", "tournament.tournament_id"),
    _key("player_id", "player.player_id"),
    _column("position", Id),
    _column("points", Hundredths, null=True),
    _column("row", Json),
    counted=False,
    indexes=(("player_id",),),
)
_table(
    "tournament_link",
    _key("tournament_id", "tournament.tournament_id"),
    _key("place"),
    _column("linked_tournament_id", Id),
    _column("link_type"),
    _column("link_index", Id, null=True),
    _column("shown", Json),
    counted=False,
)
_table(
    "game",
    _key("game_id"),
    _ref("tournament_id", "tournament.tournament_id", cascade=True),
    _ref("round_id", "round.round_id", null=True, cascade=True),
    _ref("arena_id", "arena.arena_id", null=True),
    _ref("bank_id", "bank.bank_id", null=True),
    _column("challenge_id", Id, null=True),
    _column("game_index", Id, null=True),
    _column("set_number", Id),
    _column("status"),
    _column("started_at", Instant, null=True),
    _column("duration_seconds", Id, null=True),
    _column("bye", Flag),
    _column("player_id_advantage", Id, null=True),
    _ref("scorekeeper_id", "user.user_id", null=True),
    _column("scorbit_id", null=True),
    _column("scorbit_log", null=True),
    _column("scorbit_verified", Flag),
    _column("result_count_mismatch", Flag),
    _column("finishing_order", Json, null=True),
    _column("forfeited_by", Id, null=True),
    _column("is_tiebreak", Flag, null=True),
    counted=True,
    indexes=(("arena_id",), ("round_id",), ("tournament_id", "game_id")),
)
_table(
    "queue_entry",
    _key("queue_id"),
    _ref("tournament_id", "tournament.tournament_id", cascade=True),
    _ref("arena_id", "arena.arena_id", null=True),
    _ref("round_id", "round.round_id", null=True, cascade=True),
    _ref("player_id", "player.player_id"),
    _column("queue_index", Id, null=True),
    _column("created_at", Instant, null=True),
    _column("completed_at", Instant, null=True),
    counted=True,
    indexes=(("tournament_id", "queue_index"),),
)
_table(
    "single_player_game",
    _key("single_player_game_id"),
    _ref("tournament_id", "tournament.tournament_id", cascade=True),
    _ref("round_id", "round.round_id", null=True, cascade=True),
    _ref("card_id", "card.card_id", null=True, cascade=True),
    _ref("arena_id", "arena.arena_id", null=True),
    _ref("player_id", "player.player_id"),
    _ref("scorekeeper_id", "user.user_id", null=True),
    _column("status"),
    _column("points", Hundredths, null=True),
    _column("score", Id, null=True),
    _column("best_game", Flag),
    _column("voided", Flag),
    _column("game_index", Id, null=True),
    _column("duration_seconds", Id, null=True),
    _column("created_at", Instant),
    _column("updated_at", Instant),
    _column("scorbit_id", null=True),
    _column("scorbit_log", null=True),
    _column("rolls", Json, null=True),
    _column("is_advanced", Flag, null=True),
    _column("started_at", Instant, null=True),
    _column("scorbit_verified", Flag),
    counted=True,
    indexes=(("arena_id",), ("card_id",), ("player_id",), ("tournament_id", "single_player_game_id")),
)
_table(
    "game_player",
    _key("game_id", "game.game_id"),
    _key("slot"),
    _ref("tournament_id", "tournament.tournament_id", cascade=True),
    _ref("player_id", "player.player_id"),
    _ref("user_id", "user.user_id", null=True),
    _column("result_position", Id, null=True),
    _column("points", Hundredths, null=True),
    _column("score", Id, null=True),
    counted=False,
    indexes=(("player_id",), ("tournament_id", "game_id", "slot")),
)
_table(
    "suggestion",
    _key("suggestion_id"),
    _ref("game_id", "game.game_id", cascade=True),
    _ref("tournament_id", "tournament.tournament_id", cascade=True),
    _column("player_id", Id, null=True),
    _column("user_id", Id, null=True),
    _column("results", Json),
    _column("scores", Json, null=True),
    _column("arena_id", Id, null=True),
    _column("scorbit_data", Json, null=True),
    _column("partial", Flag),
    counted=True,
    indexes=(("game_id",), ("tournament_id",)),
)
