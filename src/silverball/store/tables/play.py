"""Play: rounds, games, single player games, cards, queues, suggestions."""

from sqlalchemy import Column, Index, Text, or_

from silverball.rules.model import fields
from silverball.store.tables.base import (
    OpdbId,
    Real,
    flag,
    integer,
    json,
    key,
    key_reference,
    named_indexes,
    part_columns,
    reference,
    stamp,
    table,
    text,
)
from silverball.store.types import Hundredths, Id, Instant

round_ = table(
    "round",
    *part_columns(fields.ROUND),
    indexes=[("tournament_id", "round_index"), ("arena_id",)],
)

game = table(
    "game",
    *part_columns(fields.GAME),
    indexes=[("tournament_id", "game_id"), ("round_id",), ("arena_id",), ("bank_id",)],
)

game_player = table(
    "game_player",
    key_reference("game_id", "game.game_id"),
    # Playing order, from 0: slot 0 plays first.
    key("slot"),
    reference("tournament_id", "tournament.tournament_id", cascade=True),
    reference("player_id", "player.player_id"),
    # The element of `resultPositions` at this index (a player id), not this player's place.
    integer("result_position", null=True),
    Column("points", Hundredths),
    integer("score", null=True),
    indexes=[("tournament_id", "game_id", "slot")],
    audiences={"public": "game_id slot tournament_id player_id result_position points score"},
)
# The games of a player in some tournaments, from the index alone.
named_indexes(game_player, ix_game_player_of_player=("player_id", "tournament_id", "game_id"))

suggestion = table(
    "suggestion",
    key("suggestion_id"),
    reference("game_id", "game.game_id", cascade=True),
    reference("tournament_id", "tournament.tournament_id", cascade=True),
    integer("player_id", null=True),
    integer("user_id", null=True),
    json("results"),
    json("scores", null=True),
    integer("arena_id", null=True),
    json("scorbit_data", null=True),
    flag("partial"),
    indexes=[("game_id",), ("tournament_id",)],
    audiences={
        "public": "suggestion_id game_id tournament_id player_id user_id results scores arena_id"
        " scorbit_data partial",
    },
)

# Partial on PostgreSQL too, by the migration: said here, it would load that dialect at each start.
Index("ix_suggestion_user_id", suggestion.c.user_id, sqlite_where=suggestion.c.user_id.is_not(None))

card = table(
    "card",
    *part_columns(fields.CARD),
    indexes=[("tournament_id", "card_id"), ("player_id",)],
)

single_player_game = table(
    "single_player_game",
    *part_columns(fields.SINGLE_PLAYER_GAME),
    indexes=[
        ("tournament_id", "single_player_game_id"),
        ("round_id",),
        ("card_id",),
        ("arena_id",),
        ("player_id",),
    ],
)

queue_entry = table(
    "queue_entry",
    *part_columns(fields.QUEUE_PLACE),
    indexes=[("tournament_id", "queue_index"), ("arena_id",), ("round_id",), ("player_id",)],
)

# Seen by directors and scorekeepers; the line of the journal with the same action says when and by whom.
# An imported note has no such line, so it says that itself, and its action is 0.
# A note stays while its game is deleted and comes back with it, so the game is no reference.
game_note = table(
    "game_note",
    key("note_id"),
    reference("tournament_id", "tournament.tournament_id", cascade=True),
    integer("game_id"),
    integer("action_id"),
    integer("player_id", null=True),
    text("kind"),
    text("text"),
    integer("author_id", null=True),
    Column("written_at", Instant),
    indexes=[("tournament_id", "game_id"), ("player_id",)],
    audiences={"staff": "note_id tournament_id game_id action_id player_id kind text author_id written_at"},
)


# A tournament: its own row, entrants and lineup, links, standings, journal and announcements.


tournament = table(
    "tournament",
    *part_columns(fields.TOURNAMENT),
    indexes=[("location_id",), ("status", "completed_at")],
)
# Each serves the list with one filter, in the list's order; further filters are checked in the index, so
# that a page far down the list reads the rows of that page only.
_ORDER = ("start_utc", "tournament_id")
named_indexes(
    tournament,
    ix_tournament_list=_ORDER,
    ix_tournament_list_by_organizer=("organizer_id", *_ORDER, "status", "type", "series_id"),
    ix_tournament_list_by_series=("series_id", *_ORDER, "status", "type", "organizer_id"),
    ix_tournament_list_by_status=("status", *_ORDER, "type", "organizer_id", "series_id"),
    ix_tournament_list_by_type=("type", *_ORDER, "status", "organizer_id", "series_id"),
)

entrant = table(
    "entrant",
    *part_columns(fields.ENTRANT),
    indexes=[("player_id", "tournament_id")],
)

lineup_arena = table(
    "lineup_arena",
    key_reference("tournament_id", "tournament.tournament_id"),
    key_reference("arena_id", "arena.arena_id"),
    integer("place"),
    text("status"),
    flag("preferred", null=True),
    integer("amazing_race_seed", null=True),
    flag("best_game_blocked", null=True),
    flag("best_game_queue_closed", null=True),
    integer("scorbit_venuemachine_id", null=True),
    text("scorbit_venuemachine_uuid", null=True),
    flag("scorbitron_installed", null=True),
    json("labels"),
    text("label_color", null=True),
    indexes=[("arena_id",)],
    audiences={
        "public": "tournament_id arena_id place status preferred amazing_race_seed best_game_blocked"
        " best_game_queue_closed scorbit_venuemachine_id scorbit_venuemachine_uuid"
        " scorbitron_installed labels label_color",
    },
)

lineup_bank = table(
    "lineup_bank",
    key_reference("tournament_id", "tournament.tournament_id"),
    key_reference("bank_id", "bank.bank_id"),
    integer("place"),
    indexes=[("bank_id",)],
    audiences={"public": "tournament_id bank_id place"},
)

scorekeeper = table(
    "scorekeeper",
    key_reference("tournament_id", "tournament.tournament_id"),
    key_reference("user_id", "user.user_id"),
    integer("place"),
    # Null in rows of an earlier version, which knew no directors.
    flag("is_director", null=True),
    indexes=[("user_id",)],
    audiences={"public": "tournament_id user_id place is_director"},
)

tournament_link = table(
    "tournament_link",
    key_reference("tournament_id", "tournament.tournament_id"),
    key("place"),
    # Not a reference: an import may name a tournament that is not here; `shown` has its data.
    integer("linked_tournament_id"),
    text("link_type"),
    integer("link_index", null=True),
    json("shown"),
    audiences={"public": "tournament_id place linked_tournament_id link_type link_index shown"},
)

entry = table(
    "entry",
    key("entry_id"),
    reference("tournament_id", "tournament.tournament_id", cascade=True),
    reference("player_id", "player.player_id"),
    # regular, comped or refund; a refund has a negative quantity.
    text("type"),
    integer("quantity"),
    Column("amount", Hundredths),
    text("currency", null=True),
    text("status"),
    Column("created_at", Instant, nullable=False),
    indexes=[("tournament_id",), ("player_id",)],
    audiences={"staff": "entry_id tournament_id player_id type quantity amount currency status created_at"},
)

# The sign-up list: entrants, and people who wait for a place; payments are shown to who runs the tournament.
sign_up = table(
    "sign_up",
    key_reference("tournament_id", "tournament.tournament_id"),
    key_reference("player_id", "player.player_id"),
    # Order on the waiting list; null for who does not wait.
    integer("waiting_place", null=True),
    Column("signed_up_at", Instant),
    flag("is_late"),
    Column("checked_in_at", Instant),
    # What was paid in cents, how, to which account and when; null for who has not paid.
    integer("paid_cents", null=True),
    text("paid_how", null=True),
    integer("paid_to", null=True),
    Column("paid_at", Instant),
    indexes=[("player_id",)],
    audiences={
        "staff": "tournament_id player_id waiting_place signed_up_at is_late checked_in_at paid_cents"
        " paid_how paid_to paid_at",
    },
)

# Who signed themselves up and was not taken yet: a name, and no player of the book.
sign_up_request = table(
    "sign_up_request",
    key("sign_up_id"),
    reference("tournament_id", "tournament.tournament_id", cascade=True),
    # Empty once they were taken or removed.
    text("name"),
    # Pending, taken or removed; rows stay, because addresses are counted by them.
    text("status"),
    Column("signed_up_at", Instant, nullable=False),
    flag("is_late"),
    # Hashes of the address and of the browser.
    text("source"),
    text("browser"),
    # Who they became.
    integer("player_id", null=True),
    # The federation number that they say they have; nobody's until the organizer says so.
    Column("ifpa_id", Id),
    indexes=[("tournament_id",), ("source", "signed_up_at")],
    audiences={
        "staff": "sign_up_id tournament_id name status signed_up_at is_late player_id ifpa_id",
        "secret": "source browser",
    },
)

standing = table(
    "standing",
    key_reference("tournament_id", "tournament.tournament_id"),
    key_reference("player_id", "player.player_id"),
    integer("position"),
    Column("points", Hundredths),
    # The row as JSON of the interface: standings are read far more often than written.
    json("row"),
    indexes=[("player_id",)],
    audiences={"public": "tournament_id player_id position points row"},
)

arena_summary = table(
    "arena_summary",
    key_reference("tournament_id", "tournament.tournament_id"),
    key("arena_id"),
    integer("games"),
    integer("single_player_games"),
    Column("opdb_id", OpdbId),
    audiences={"public": "tournament_id arena_id games single_player_games opdb_id"},
)

player_arena_summary = table(
    "player_arena_summary",
    key_reference("tournament_id", "tournament.tournament_id"),
    key("arena_id"),
    key("player_id"),
    integer("games"),
    integer("single_player_games"),
    integer("wins"),
    integer("losses"),
    Column("opdb_id", OpdbId),
    audiences={"public": "tournament_id arena_id player_id games single_player_games wins losses opdb_id"},
)

match_summary = table(
    "match_summary",
    key_reference("tournament_id", "tournament.tournament_id"),
    key("arena_id"),
    key("player_id"),
    key("opponent_id"),
    integer("games"),
    integer("wins"),
    integer("losses"),
    Column("opdb_id", OpdbId),
    audiences={"public": "tournament_id arena_id player_id opponent_id games wins losses opdb_id"},
)
# A profile reads the meetings of a player from the index alone, opponent by opponent.
named_indexes(
    match_summary, ix_match_summary_of_player=("player_id", "opponent_id", "games", "wins", "losses")
)

journal = table(
    "journal",
    key("journal_id"),
    reference("tournament_id", "tournament.tournament_id", cascade=True),
    # One request is one action, with one or several changes.
    integer("action_id"),
    text("change"),
    json("data"),
    # The seed of the draw, as text: it may be longer than 64 bits.
    text("dice_seed", null=True),
    reference("actor_id", "user.user_id", null=True),
    text("source"),
    Column("at", Instant, nullable=False),
    # The version of the drawing rules that made the draw (rules/draw_version); null without one.
    integer("draw_version", null=True),
    # The chain (store/chain). Without a salt, the source was erased.
    text("source_salt", null=True),
    text("source_hash", null=True),
    # Salt and salted hashes of the labels in `data`; null for a line without labels.
    json("sealed_labels", null=True),
    # Short digests of actor, time, seed and change, by which a changed line says what was changed.
    text("digests", null=True),
    text("hash", null=True),
    indexes=[("tournament_id", "journal_id")],
    audiences={
        "staff": "journal_id tournament_id action_id change actor_id at draw_version digests hash",
        "organizer": "source source_salt source_hash sealed_labels",
        # Until completion whoever reads these knows the draws to come.
        "secret": "data dice_seed",
    },
)

# Partial on PostgreSQL too, as above.
Index("ix_journal_merges", journal.c.tournament_id, sqlite_where=journal.c.change == "PlayersMerged")
Index("ix_journal_arena_merges", journal.c.tournament_id, sqlite_where=journal.c.change == "ArenasMerged")
Index(
    "ix_journal_with_labels",
    journal.c.tournament_id,
    sqlite_where=or_(journal.c.sealed_labels.is_not(None), journal.c.hash.is_(None)),
)

# Looks at a draw before it is made; the line of the draw has their number then.
draw_preview = table(
    "draw_preview",
    key_reference("tournament_id", "tournament.tournament_id"),
    Column("draw", Text, primary_key=True),
    integer("times"),
    audiences={"secret": "tournament_id draw times"},
)

# The forecast of a running tournament; it can be computed again at any time, but for what was withdrawn.
forecast = table(
    "forecast",
    key_reference("tournament_id", "tournament.tournament_id"),
    # The revision that it was computed from; null before the first.
    integer("revision", null=True),
    Column("computed_at", Instant),
    json("forecast", null=True),
    # The node that computes it has until then.
    Column("claimed_until", Instant, nullable=False),
    audiences={"public": "tournament_id revision computed_at forecast", "secret": "claimed_until"},
)

announcement = table(
    "announcement",
    key_reference("tournament_id", "tournament.tournament_id"),
    Column("epoch", Text, primary_key=True),
    key("seq"),
    text("name"),
    # The payload as it is sent: rendered once, at the time of the change.
    text("data"),
    Column("at", Instant, nullable=False),
    # Of number, name and payload (store/digests); rows of earlier versions have none.
    text("digest", null=True),
    # The hash of the newest line of the journal, of an event that shows the tournament.
    text("journal_head", null=True),
    # Of the tournament with this change; rows of earlier versions have none.
    integer("revision", null=True),
    audiences={"public": "tournament_id epoch seq name data at digest journal_head revision"},
)

# The revision of everything that is not below one tournament is the sum over these rows. There
# are several, so that writers of different tournaments do not wait for each other.
world = table(
    "world",
    Column("slot", Id, primary_key=True, autoincrement=False),
    integer("revision"),
    stamp("stamp"),
    audiences={"secret": "slot revision stamp"},
)

# Tournaments that are run on another service and followed here; nobody else changes them.
mirror = table(
    "mirror",
    key_reference("tournament_id", "tournament.tournament_id"),
    text("host"),
    integer("remote_id"),
    # The last moment of which we know, while the other service does not answer.
    Column("lost_at", Instant),
    # Milliseconds from an event there to its announcement here, of the newest thousand.
    integer("lag_median", null=True),
    integer("lag_p99", null=True),
    # Players whose place or points there differ; null as long as none did.
    integer("standings_differ", null=True),
    audiences={"public": "tournament_id host remote_id lost_at lag_median lag_p99 standings_differ"},
)


# Outcomes of simulated nights, by the settings that decide them. They can be computed again at any time.


simulated_night = table(
    "simulated_night",
    # `rules.planning.nights.SimulatedNight.key`.
    Column("night", Text, primary_key=True),
    integer("nights"),
    Column("rounds", Real, nullable=False),
    Column("meaningful_games", Real, nullable=False),
    Column("meaningful_games_of_first", Real, nullable=False),
    Column("computed_at", Instant, nullable=False),
    audiences={"secret": "night nights rounds meaningful_games meaningful_games_of_first computed_at"},
)
