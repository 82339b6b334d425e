"""Store the standings of completed tournaments, and refuse what cannot be ranked."""

from collections.abc import Mapping, Sequence
from typing import Any

import msgspec
from sqlalchemy import Connection, bindparam, delete, insert
from sqlalchemy import update as change

from silverball.kit.conversions import convert
from silverball.rules.format import always_rankable
from silverball.rules.model.changes import Added, Altered, Change, TournamentAltered, TournamentImported
from silverball.rules.model.tournament import Game, Tournament
from silverball.rules.registry import FORMATS
from silverball.service.standings import reads
from silverball.store import snapshot, statements
from silverball.store.tables import standing
from silverball_wire.standings import Standing

UPDATE_STANDING = (
    change(standing)
    .where(
        standing.c.tournament_id == bindparam("new_tournament_id"),
        standing.c.player_id == bindparam("new_player_id"),
    )
    .values(
        {
            name: bindparam(f"new_{name}", type_=standing.c[name].type)
            for name in ("position", "points", "row")
        }
    )
)
# A change of these may leave earlier results without a place.
RANKING_FIELDS = frozenset({"status", "settings"})


def follow_changes(db: Connection, before: Tournament, after: Tournament, changes: Sequence[Change]) -> None:
    """Store the standings of a completed tournament, delete those of a reopened one.

    Raises Invalid for a result that the format cannot rank.
    """
    tournament_id = after.tournament_id
    if after.status == "completed":
        update_standings(db, tournament_id, reads.ranked_rows(after))
        return
    if before.status == "completed":
        db.execute(delete(standing).where(standing.c.tournament_id == tournament_id))
    if after.status != "planned":
        _require_rankable(after, changes)


def _require_rankable(after: Tournament, changes: Sequence[Change]) -> None:
    """Raise Invalid when what these changes made cannot be ranked."""
    form = FORMATS[after.type]
    altered = [each for each in changes if isinstance(each, TournamentAltered)]
    if altered and any(RANKING_FIELDS & each.after.keys() for each in altered):
        form.rank(after)
        return
    if form.require_rankable is always_rankable:
        return
    sides = [
        each.after if isinstance(each, Altered) else each.subject
        for each in changes
        if isinstance(each, Altered | Added)
    ]
    form.require_rankable(after, [side for side in sides if isinstance(side, Game)])


def store_imported(db: Connection, imported: TournamentImported) -> None:
    """Store the standings that an import of a completed tournament brings, or rank it.

    It is ranked where the import brings no row for a player, and where it was played with this program,
    whose rows cannot differ. A running tournament is ranked when somebody asks; here it is only seen
    whether that can be done. Raises Invalid when it cannot.
    """
    given = imported.parts.get("standings")
    type_, status = snapshot.stored_type_and_status(db, imported.tournament_id)
    is_running = type_ in FORMATS and status != "completed"
    if given is not None and type_ not in FORMATS:
        replace_standings(db, imported.tournament_id, convert(given, list[Standing]))
        return
    tournament = snapshot.load(db, imported.tournament_id)
    if given is not None and not is_running and not tournament.state.dice_seed:
        rows = convert(given, list[Standing])
        if {row.player_id for row in rows} >= set(tournament.entrant_by_id):
            replace_standings(db, imported.tournament_id, rows)
            return
    ranked = reads.ranked_rows(tournament)
    if not is_running:
        replace_standings(db, imported.tournament_id, ranked)


def replace_standings(db: Connection, tournament_id: int, rows: Sequence[Standing]) -> None:
    """Store these rows in place of the stored ones.

    Raises ValueError when the points of a row are a text that is no number.
    """
    db.execute(delete(standing).where(standing.c.tournament_id == tournament_id))
    statements.insert_rows(db, standing, [_standing_row(tournament_id, row) for row in rows])


def update_standings(db: Connection, tournament_id: int, rows: Sequence[Standing]) -> None:
    """Store those of these rows that differ from the stored ones, and delete others."""
    stored: Mapping[int, str] = snapshot.load_standings(db, tournament_id)
    texts = {row.player_id: msgspec.json.encode(row).decode() for row in rows}
    gone = [player_id for player_id in stored if player_id not in texts]
    if gone:
        own = standing.c.tournament_id == tournament_id
        db.execute(delete(standing).where(own, standing.c.player_id.in_(gone)))
    differing = [row for row in rows if stored.get(row.player_id) != texts[row.player_id]]
    new = [_standing_row(tournament_id, row) for row in differing if row.player_id not in stored]
    changed = [_standing_row(tournament_id, row) for row in differing if row.player_id in stored]
    if new:
        db.execute(insert(standing), new)
    if changed:
        db.execute(
            UPDATE_STANDING, [{f"new_{name}": value for name, value in row.items()} for row in changed]
        )


def _standing_row(tournament_id: int, row: Standing) -> dict[str, Any]:
    return {
        "tournament_id": tournament_id,
        "player_id": row.player_id,
        "position": row.position,
        "points": reads.stored_points(row),
        "row": row,
    }
