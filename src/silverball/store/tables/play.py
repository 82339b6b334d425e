"""Play: rounds, games, single player games, cards, queues, suggestions."""

from sqlalchemy import Column, Index

from silverball.rules.model import fields
from silverball.store.tables.base import (
    flag,
    integer,
    json,
    key,
    key_reference,
    named_indexes,
    part_columns,
    reference,
    table,
    text,
)
from silverball.store.types import Hundredths, Instant

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
    reference("user_id", "user.user_id", null=True),
    # The element of `resultPositions` at this index (a player id), not this player's place.
    integer("result_position", null=True),
    Column("points", Hundredths),
    integer("score", null=True),
    indexes=[("tournament_id", "game_id", "slot")],
    audiences={"public": "game_id slot tournament_id player_id user_id result_position points score"},
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
    audiences={
        "public": "suggestion_id game_id tournament_id player_id user_id results scores arena_id"
        " scorbit_data partial",
    },
)

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
