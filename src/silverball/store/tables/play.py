"""What is played: rounds, games, single player games, cards, queues, suggestions."""

from sqlalchemy import Column

from silverball.store.tables.base import flag, json, key, key_ref, ref, table, text, whole
from silverball.store.types import Hundredths, Instant

round_ = table(
    "round",
    key("round_id"),
    ref("tournament_id", "tournament.tournament_id", cascade=True),
    ref("arena_id", "arena.arena_id", null=True),
    # A target score or the current bar, by format.
    whole("score", null=True),
    whole("round_index"),
    text("name"),
    text("status"),
    whole("duration_seconds", null=True),
    Column("created_at", Instant, nullable=False),
    Column("completed_at", Instant),
    whole("size", null=True),
    text("description", null=True),
    indexes=[("tournament_id", "round_index"), ("arena_id",)],
)

game = table(
    "game",
    key("game_id"),
    ref("tournament_id", "tournament.tournament_id", cascade=True),
    # Null when the game was played outside a round; the interface shows 0 then.
    ref("round_id", "round.round_id", null=True, cascade=True),
    ref("arena_id", "arena.arena_id", null=True),
    ref("bank_id", "bank.bank_id", null=True),
    whole("challenge_id", null=True),
    whole("game_index", null=True),
    whole("set_number"),
    text("status"),
    Column("started_at", Instant),
    whole("duration_seconds", null=True),
    flag("bye"),
    whole("player_id_advantage", null=True),
    ref("scorekeeper_id", "user.user_id", null=True),
    text("scorbit_id", null=True),
    text("scorbit_log", null=True),
    flag("scorbit_verified"),
    flag("result_count_mismatch"),
    # The real order where `result_position` does not show it; who did not come; tiebreak games.
    json("finishing_order", null=True),
    whole("forfeited_by", null=True),
    flag("is_tiebreak", null=True),
    indexes=[("tournament_id", "game_id"), ("round_id",), ("arena_id",), ("bank_id",)],
)

game_player = table(
    "game_player",
    key_ref("game_id", "game.game_id"),
    # Playing order, from 0: slot 0 plays first.
    key("slot"),
    ref("tournament_id", "tournament.tournament_id", cascade=True),
    ref("player_id", "player.player_id"),
    ref("user_id", "user.user_id", null=True),
    # The element of `resultPositions` at this index (a player id), not this player's place.
    whole("result_position", null=True),
    Column("points", Hundredths),
    whole("score", null=True),
    indexes=[("tournament_id", "game_id", "slot"), ("player_id",)],
)

suggestion = table(
    "suggestion",
    key("suggestion_id"),
    ref("game_id", "game.game_id", cascade=True),
    ref("tournament_id", "tournament.tournament_id", cascade=True),
    whole("player_id", null=True),
    whole("user_id", null=True),
    json("results"),
    json("scores", null=True),
    whole("arena_id", null=True),
    json("scorbit_data", null=True),
    flag("partial"),
    indexes=[("game_id",), ("tournament_id",)],
)

card = table(
    "card",
    key("card_id"),
    ref("tournament_id", "tournament.tournament_id", cascade=True),
    ref("player_id", "player.player_id"),
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
    ref("tournament_id", "tournament.tournament_id", cascade=True),
    ref("round_id", "round.round_id", null=True, cascade=True),
    ref("card_id", "card.card_id", null=True, cascade=True),
    ref("arena_id", "arena.arena_id", null=True),
    ref("player_id", "player.player_id"),
    ref("scorekeeper_id", "user.user_id", null=True),
    text("status"),
    Column("points", Hundredths),
    whole("score", null=True),
    flag("best_game"),
    flag("voided"),
    whole("game_index", null=True),
    whole("duration_seconds", null=True),
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
    ref("tournament_id", "tournament.tournament_id", cascade=True),
    ref("arena_id", "arena.arena_id", null=True),
    ref("round_id", "round.round_id", null=True, cascade=True),
    ref("player_id", "player.player_id"),
    whole("queue_index", null=True),
    Column("created_at", Instant),
    Column("completed_at", Instant),
    indexes=[("tournament_id", "queue_index"), ("arena_id",), ("round_id",), ("player_id",)],
)
