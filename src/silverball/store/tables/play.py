"""Play: rounds, games, single player games, cards, queues, suggestions."""

from sqlalchemy import Column, Index

from silverball.store.tables.base import (
    flag,
    integer,
    json,
    key,
    key_reference,
    named_indexes,
    reference,
    table,
    text,
)
from silverball.store.types import Hundredths, Instant

round_ = table(
    "round",
    key("round_id"),
    reference("tournament_id", "tournament.tournament_id", cascade=True),
    reference("arena_id", "arena.arena_id", null=True),
    # A target score or the current bar, by format.
    integer("score", null=True),
    integer("round_index"),
    text("name"),
    text("status"),
    integer("duration_seconds", null=True),
    Column("created_at", Instant, nullable=False),
    Column("completed_at", Instant),
    integer("size", null=True),
    text("description", null=True),
    indexes=[("tournament_id", "round_index"), ("arena_id",)],
)

game = table(
    "game",
    key("game_id"),
    reference("tournament_id", "tournament.tournament_id", cascade=True),
    # Null when the game was played outside a round; the interface shows 0 then.
    reference("round_id", "round.round_id", null=True, cascade=True),
    reference("arena_id", "arena.arena_id", null=True),
    reference("bank_id", "bank.bank_id", null=True),
    integer("challenge_id", null=True),
    integer("game_index", null=True),
    integer("set_number"),
    text("status"),
    Column("started_at", Instant),
    integer("duration_seconds", null=True),
    flag("bye"),
    integer("player_id_advantage", null=True),
    reference("scorekeeper_id", "user.user_id", null=True),
    text("scorbit_id", null=True),
    text("scorbit_log", null=True),
    flag("scorbit_verified"),
    flag("result_count_mismatch"),
    # The real order where `result_position` does not show it; forfeits; tiebreak games.
    json("finishing_order", null=True),
    integer("forfeited_by", null=True),
    flag("is_tiebreak", null=True),
    # The single games of a match, in playing order; null without any.
    json("legs", null=True),
    # Since when the clock stands still, because the machine is out of order.
    Column("waiting_since", Instant),
    indexes=[("tournament_id", "game_id"), ("round_id",), ("arena_id",), ("bank_id",)],
)

game_player = table(
    "game_player",
    key_reference("game_id", "game.game_id"),
    # Playing order, from 0: slot 0 plays first.
    key("slot"),
    reference("tournament_id", "tournament.tournament_id", cascade=True),
    reference("player_id", "player.player_id"),
    reference("user_id", "user.user_id", null=True),
    # The element of `resultPositions` at this index (a player id), not this player's place.
    integer("result_position", null=True),
    Column("points", Hundredths),
    integer("score", null=True),
    indexes=[("tournament_id", "game_id", "slot")],
)
# The games of a player in some tournaments, from the index alone.
named_indexes(game_player, ix_game_player_of_player=("player_id", "tournament_id", "game_id"))

# Partial on PostgreSQL too, by the migration: said here, it would load that dialect at each start.
Index("ix_game_player_user_id", game_player.c.user_id, sqlite_where=game_player.c.user_id.is_not(None))

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
)

Index("ix_suggestion_user_id", suggestion.c.user_id, sqlite_where=suggestion.c.user_id.is_not(None))

card = table(
    "card",
    key("card_id"),
    reference("tournament_id", "tournament.tournament_id", cascade=True),
    reference("player_id", "player.player_id"),
    text("status"),
    flag("best_game"),
    flag("voided"),
    Column("created_at", Instant, nullable=False),
    Column("updated_at", Instant, nullable=False),
    indexes=[("tournament_id", "card_id"), ("player_id",)],
)

single_player_game = table(
    "single_player_game",
    key("single_player_game_id"),
    reference("tournament_id", "tournament.tournament_id", cascade=True),
    reference("round_id", "round.round_id", null=True, cascade=True),
    reference("card_id", "card.card_id", null=True, cascade=True),
    reference("arena_id", "arena.arena_id", null=True),
    reference("player_id", "player.player_id"),
    reference("scorekeeper_id", "user.user_id", null=True),
    text("status"),
    Column("points", Hundredths),
    integer("score", null=True),
    flag("best_game"),
    flag("voided"),
    integer("game_index", null=True),
    integer("duration_seconds", null=True),
    Column("created_at", Instant, nullable=False),
    Column("updated_at", Instant, nullable=False),
    text("scorbit_id", null=True),
    text("scorbit_log", null=True),
    json("rolls", null=True),
    flag("is_advanced", null=True),
    Column("started_at", Instant),
    flag("scorbit_verified"),
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
    key("queue_id"),
    reference("tournament_id", "tournament.tournament_id", cascade=True),
    reference("arena_id", "arena.arena_id", null=True),
    reference("round_id", "round.round_id", null=True, cascade=True),
    reference("player_id", "player.player_id"),
    integer("queue_index", null=True),
    Column("created_at", Instant),
    Column("completed_at", Instant),
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
)
