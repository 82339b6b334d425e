"""Matches: each match of a bracket is one game, numbered by its place in the bracket.

A best of three was up to three games; those are now the single games (`legs`) of the first of them, and
the ids of the others are gone. For each bracket that has begun, the journal gets the change
`MatchesMerged`: undo and verification begin after it, as after an import. Followers of the feed find a new
epoch and read everything again; standings and places do not change.
"""

import hashlib
from collections import Counter
from datetime import UTC, datetime
from itertools import permutations
from typing import Any

from alembic import op
from sqlalchemy import Column, Connection, MetaData, Table, Text, delete, func, insert, select, text, update

from silverball.rules.pairing import bracket_nodes
from silverball.store.migrations.merge_matches import (
    Row,
    StoredBracket,
    finishing_order,
    ids_by_seed,
    is_numbered_by_match,
    merge_matches,
)
from silverball.store.types import Flag, Id, Instant, Json

revision = "0011"
down_revision = "0010"
branch_labels = None
depends_on = None

NODES = {
    "bracket": bracket_nodes.single_elimination_nodes,
    "double_bracket": bracket_nodes.double_elimination_nodes,
}
POINT = 100
FROZEN = MetaData()


def _table(name: str, ids: str, **others: Any) -> Table:
    columns = [Column(column, Id) for column in ids.split()]
    return Table(name, FROZEN, *columns, *(Column(column, kind) for column, kind in others.items()))


TOURNAMENT = _table(
    "tournament", "tournament_id revision seq seq_low", type=Text, status=Text, settings=Json, epoch=Text,
    completed_at=Instant,
)  # fmt: skip
ENTRANT = _table("entrant", "tournament_id player_id place seed_rank", status=Text)
ROUND = _table("round", "tournament_id round_id round_index")
GAME = _table(
    "game",
    "game_id tournament_id round_id arena_id game_index set_number duration_seconds scorekeeper_id"
    " forfeited_by",
    status=Text,
    started_at=Instant,
    bye=Flag,
    is_tiebreak=Flag,
    result_count_mismatch=Flag,
    finishing_order=Json,
    legs=Json,
)
SEAT = _table("game_player", "game_id slot tournament_id player_id result_position points score")
SUGGESTION = _table("suggestion", "suggestion_id game_id tournament_id")
STANDING = _table("standing", "tournament_id player_id", row=Json)
ARENA = _table("arena", "arena_id", opdb_id=Text)
ARENA_SUMMARY = _table("arena_summary", "tournament_id arena_id games single_player_games", opdb_id=Text)
PLAYER_SUMMARY = _table(
    "player_arena_summary",
    "tournament_id arena_id player_id games single_player_games wins losses",
    opdb_id=Text,
)
MATCH_SUMMARY = _table(
    "match_summary", "tournament_id arena_id player_id opponent_id games wins losses", opdb_id=Text
)
JOURNAL = _table(
    "journal", "tournament_id action_id actor_id", change=Text, data=Json, source=Text, at=Instant
)
ANNOUNCEMENT = _table("announcement", "tournament_id", epoch=Text)
MARK_DAY = text(
    "UPDATE rating_period SET status = 'dirty' WHERE period_date = :day"
    " AND status NOT IN ('waiting', 'dirty')"
)


def upgrade() -> None:
    op.add_column("game", Column("legs", Json))
    db = op.get_bind()
    rows = select(TOURNAMENT).where(TOURNAMENT.c.type.in_(NODES)).order_by(TOURNAMENT.c.tournament_id)
    for tournament in db.execute(rows).mappings().all():
        _merge_tournament(db, tournament)
    op.execute(text("UPDATE world SET revision = revision + 1"))


def downgrade() -> None:
    # Single games cannot be made of a count: the way back is the copy made before the upgrade.
    raise NotImplementedError("Matches cannot be split into games again. Restore the backup.")


def _merge_tournament(db: Connection, tournament: Any) -> None:
    bracket = _load_bracket(db, tournament)
    if bracket is None or not is_numbered_by_match(bracket):
        return
    before = [dict(game) for game in bracket.games]
    seats_before = {game_id: [dict(seat) for seat in seats] for game_id, seats in bracket.seats.items()}
    dropped = merge_matches(bracket).match_by_dropped
    tournament_id = tournament["tournament_id"]
    merged_ids = {*dropped, *dropped.values()}
    # A suggestion for a single game says nothing about the match.
    _delete_rows(db, SUGGESTION, SUGGESTION.c.game_id, merged_ids)
    _delete_rows(db, SEAT, SEAT.c.game_id, dropped)
    _delete_rows(db, GAME, GAME.c.game_id, dropped)
    for old, game in zip(before, bracket.games, strict=True):
        if game["game_id"] in dropped or old == game:
            continue
        changed = {name: value for name, value in game.items() if old.get(name) != value}
        db.execute(update(GAME).where(GAME.c.game_id == game["game_id"]).values(changed))
        for old_seat, seat in zip(seats_before[game["game_id"]], bracket.seats[game["game_id"]], strict=True):
            if old_seat != seat:
                is_seat = (SEAT.c.game_id == seat["game_id"], SEAT.c.slot == seat["slot"])
                db.execute(update(SEAT).where(*is_seat).values(seat))
    _update_standings(db, tournament_id, dropped)
    if tournament["status"] == "completed":
        _replace_summaries(db, tournament_id, bracket)
        db.execute(MARK_DAY, {"day": tournament["completed_at"].astimezone(UTC).date().isoformat()})
    _append_journal(db, tournament_id, dropped, len(before) - len(dropped))
    _start_epoch(db, tournament)


def _load_bracket(db: Connection, tournament: Any) -> StoredBracket | None:
    """The bracket of a tournament; None for a size that no bracket has, which came with an import."""
    size, best_of = (
        tournament["settings"].get("bracketSize"),
        tournament["settings"].get("gamesPerRound") or 1,
    )
    if size not in {4, 8, 16, 32, 64, 128}:
        return None

    def rows(table: Table, *order: str) -> list[Row]:
        own = select(table).where(table.c.tournament_id == tournament["tournament_id"])
        return [dict(row) for row in db.execute(own.order_by(*(table.c[name] for name in order))).mappings()]

    seats: dict[int, list[Row]] = {}
    for seat in rows(SEAT, "game_id", "slot"):
        seats.setdefault(seat["game_id"], []).append(seat)
    return StoredBracket(
        nodes=NODES[tournament["type"]](size),
        best_of=best_of,
        point=POINT,
        rounds={round_["round_id"]: round_["round_index"] for round_ in rows(ROUND, "round_id")},
        seeds=ids_by_seed(rows(ENTRANT, "place")),
        games=rows(GAME, "game_id"),
        seats=seats,
    )


def _delete_rows(db: Connection, table: Table, column: Any, ids: Any) -> None:
    for game_id in sorted(ids):
        db.execute(delete(table).where(column == game_id))


def _update_standings(db: Connection, tournament_id: int, dropped: dict[int, int]) -> None:
    """Name the match where a row names one of its single games as in progress."""
    rows = select(STANDING.c.player_id, STANDING.c.row).where(STANDING.c.tournament_id == tournament_id)
    for player_id, row in db.execute(rows).all():
        active = [dropped.get(game_id, game_id) for game_id in row.get("activeGames", ())]
        if active != row.get("activeGames", []):
            is_row = (STANDING.c.tournament_id == tournament_id, STANDING.c.player_id == player_id)
            db.execute(update(STANDING).where(*is_row).values(row={**row, "activeGames": active}))


def _replace_summaries(db: Connection, tournament_id: int, bracket: StoredBracket) -> None:
    plays, players = Counter[Any](), Counter[Any]()
    wins, meetings = Counter[Any](), Counter[Any]()
    remaining = {
        seat.game_id
        for seat in db.execute(select(SEAT.c.game_id).where(SEAT.c.tournament_id == tournament_id))
    }
    for game in bracket.games:
        arena_id, order = game["arena_id"], finishing_order(game, bracket.seats[game["game_id"]])
        if game["game_id"] not in remaining or game["bye"] or arena_id is None or not order:
            continue
        plays[arena_id] += 1
        players.update((arena_id, player_id) for player_id in order)
        for player_id, opponent_id in permutations(order, 2):
            meetings[arena_id, player_id, opponent_id] += 1
            wins[arena_id, player_id, opponent_id] += order.index(player_id) < order.index(opponent_id)
    won, lost = Counter[Any](), Counter[Any]()
    for (arena, player_id, opponent_id), count in wins.items():
        won[arena, player_id] += count
        lost[arena, opponent_id] += count
    of_arenas = [
        {"arena_id": arena, "games": count, "single_player_games": 0} for arena, count in plays.items()
    ]
    of_players = [
        {
            "arena_id": arena,
            "player_id": player_id,
            "games": count,
            "single_player_games": 0,
            "wins": won[arena, player_id],
            "losses": lost[arena, player_id],
        }
        for (arena, player_id), count in players.items()
    ]
    of_matches = [
        {
            "arena_id": arena,
            "player_id": player_id,
            "opponent_id": opponent_id,
            "games": count,
            "wins": wins[arena, player_id, opponent_id],
            "losses": wins[arena, opponent_id, player_id],
        }
        for (arena, player_id, opponent_id), count in meetings.items()
    ]
    rows_of = {ARENA_SUMMARY: of_arenas, PLAYER_SUMMARY: of_players, MATCH_SUMMARY: of_matches}
    arenas = db.execute(select(ARENA.c.arena_id, ARENA.c.opdb_id))
    opdb_ids = {arena.arena_id: arena.opdb_id for arena in arenas}
    for table, rows in rows_of.items():
        db.execute(delete(table).where(table.c.tournament_id == tournament_id))
        common = {"tournament_id": tournament_id}
        if rows:
            named = [{**common, **counted, "opdb_id": opdb_ids[counted["arena_id"]]} for counted in rows]
            db.execute(insert(table), named)


def _append_journal(db: Connection, tournament_id: int, dropped: dict[int, int], games: int) -> None:
    newest = select(func.max(JOURNAL.c.action_id)).where(JOURNAL.c.tournament_id == tournament_id)
    action_id = (db.execute(newest).scalar_one() or 0) + 1
    merged = {str(game_id): match_id for game_id, match_id in dropped.items()}
    row = {
        "tournament_id": tournament_id,
        "action_id": action_id,
        "change": "MatchesMerged",
        "data": {"games": games, "merged": merged},
        "source": "migration",
        "at": datetime.now(UTC).replace(microsecond=0),
    }
    db.execute(insert(JOURNAL).values(row))


def _start_epoch(db: Connection, tournament: Any) -> None:
    tournament_id, ended = tournament["tournament_id"], f"{tournament['epoch']}:{tournament['seq']}"
    db.execute(delete(ANNOUNCEMENT).where(ANNOUNCEMENT.c.tournament_id == tournament_id))
    epoch = hashlib.blake2b(ended.encode(), digest_size=4).hexdigest()
    values = {"epoch": epoch, "seq": 0, "seq_low": 0, "revision": tournament["revision"] + 1}
    db.execute(update(TOURNAMENT).where(TOURNAMENT.c.tournament_id == tournament_id).values(values))
