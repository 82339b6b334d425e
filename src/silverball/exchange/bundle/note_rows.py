"""The notes on games of a bundle, checked and as rows."""

from collections.abc import Collection
from typing import Any

from silverball.exchange.bundle.checks import require_moment, tuple_or_empty
from silverball.exchange.bundle.faults import BrokenBundle
from silverball.kit.values import replace
from silverball.rules.model.changes import TournamentImported
from silverball_wire import times
from silverball_wire.base import UnsetType
from silverball_wire.bundle import Bundle
from silverball_wire.bundle_facts import EngineFacts

TEXT_CHARACTERS_MAX = 1_000
# The action of a note whose journal was left behind.
NO_ACTION = 0


def check_notes(facts: EngineFacts, game_ids: Collection[int], player_ids: Collection[int]) -> None:
    """Check games, players, texts and times of the notes. Raises BrokenBundle at the first fault."""
    for n, note in enumerate(tuple_or_empty(facts.notes)):
        path = f"$.engine.notes[{n}]"
        if note.game_id not in game_ids:
            raise BrokenBundle(f"{path}.gameId", f"There is no game {note.game_id} in the bundle.")
        if note.player_id is not None and note.player_id not in player_ids:
            raise BrokenBundle(f"{path}.playerId", f"There is no player {note.player_id} in the bundle.")
        if len(note.text) > TEXT_CHARACTERS_MAX:
            raise BrokenBundle(f"{path}.text", f"Write at most {TEXT_CHARACTERS_MAX} characters.")
        require_moment(f"{path}.createdAt", note.created_at)


def without_actions(change: TournamentImported) -> TournamentImported:
    """The import with notes that name no action, because their journal is not taken."""
    notes = [{**row, "action_id": NO_ACTION} for row in change.parts["notes"]]
    return replace(change, parts={**change.parts, "notes": notes})


def note_rows(bundle: Bundle) -> list[dict[str, Any]]:
    """The rows of the notes."""
    facts = bundle.engine
    has_journal = not isinstance(bundle.journal, UnsetType)
    return [
        {
            "tournament_id": bundle.tournament.tournament_id,
            "game_id": note.game_id,
            "action_id": note.action_id
            if has_journal and not isinstance(note.action_id, UnsetType)
            else NO_ACTION,
            "player_id": note.player_id,
            "kind": note.kind,
            "text": note.text,
            "author_id": note.user_id,
            "written_at": times.parse_moment(note.created_at),
        }
        for note in (() if isinstance(facts, UnsetType) else tuple_or_empty(facts.notes))
    ]
