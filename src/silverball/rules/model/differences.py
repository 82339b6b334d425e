"""The changes that lead from a tournament to itself as it stands elsewhere."""

from collections.abc import Callable, Mapping
from typing import Any

from msgspec import Struct

from silverball.kit.values import replace
from silverball.rules.model import changes as kinds
from silverball.rules.model.changes import Added, Altered, Change, Removed, tournament_changes
from silverball.rules.model.tournament import Tournament

# Fields of the tournament itself that its settings and texts consist of.
EDITED_FIELDS = (
    *("settings", "points_map", "tiebreaker_points_map", "has_entry_limits", "prizes", "state", "details"),
)
# Every other step leads over a started tournament.
STATUS_CHANGES: Mapping[tuple[str, str], type[kinds.TournamentAltered]] = {
    ("planned", "started"): kinds.TournamentStarted,
    ("started", "completed"): kinds.TournamentCompleted,
    ("completed", "started"): kinds.TournamentReopened,
    ("started", "planned"): kinds.TournamentUnstarted,
}


class PartChanges(Struct, frozen=True):
    """The changes of things of one part, and the name of their id."""

    part: str
    key: str
    added: type[Added[Any]]
    removed: type[Removed[Any]]
    # Before and after -> the change; None where such a thing is replaced.
    altered: Callable[[Any, Any], type[Altered[Any]] | None]


def _by_status(
    completed: type[Altered[Any]], reopened: type[Altered[Any]], other: type[Altered[Any]]
) -> Callable[[Any, Any], type[Altered[Any]]]:
    def kind(before: Any, after: Any) -> type[Altered[Any]]:
        if before.status == after.status:
            return other
        return completed if after.status == "completed" else reopened

    return kind


def _kind_of_game(before: Any, after: Any) -> type[Altered[Any]]:
    if before.status == after.status == "completed":
        return kinds.GameCorrected
    return _by_status(kinds.GameCompleted, kinds.GameCleared, kinds.GameChanged)(before, after)


# In the order in which their things can be added.
PARTS = (
    PartChanges(
        "entrants",
        "player_id",
        kinds.EntrantAdded,
        kinds.EntrantRemoved,
        lambda _old, _new: kinds.EntrantChanged,
    ),
    PartChanges(
        "lineup", "arena_id", kinds.ArenaAdded, kinds.ArenaRemoved, lambda _old, _new: kinds.ArenaChanged
    ),
    PartChanges("banks", "bank_id", kinds.BankAdded, kinds.BankRemoved, lambda _old, _new: None),
    PartChanges(
        "scorekeepers",
        "user_id",
        kinds.ScorekeeperAdded,
        kinds.ScorekeeperRemoved,
        lambda _old, _new: None,
    ),
    PartChanges(
        "rounds",
        "round_id",
        kinds.RoundOpened,
        kinds.RoundDeleted,
        _by_status(kinds.RoundCompleted, kinds.RoundReopened, kinds.RoundChanged),
    ),
    PartChanges(
        "cards", "card_id", kinds.CardOpened, kinds.CardDeleted, lambda _old, _new: kinds.CardChanged
    ),
    PartChanges("games", "game_id", kinds.GameOpened, kinds.GameDeleted, _kind_of_game),
    PartChanges(
        "suggestions",
        "suggestion_id",
        kinds.SuggestionMade,
        kinds.SuggestionDecided,
        lambda _old, _new: None,
    ),
    PartChanges(
        "single_player_games",
        "single_player_game_id",
        kinds.SinglePlayerGameOpened,
        kinds.SinglePlayerGameDeleted,
        lambda _old, _new: kinds.SinglePlayerGameChanged,
    ),
    PartChanges("queue", "queue_id", kinds.QueueJoined, kinds.QueueLeft, lambda _old, _new: kinds.QueueMoved),
)


def changes_between_states(before: Tournament, after: Tournament) -> list[Change]:
    """The changes from one state to the other; empty when they are equal.

    Things that are gone come first, inner ones before outer ones, and the completion comes last.
    """
    removed: list[Change] = []
    present: list[Change] = []
    for part in PARTS:
        gone, new = _part_changes(part, before, after)
        removed = [*gone, *removed]
        present += new
    edited = {name: getattr(after, name) for name in EDITED_FIELDS}
    own = tournament_changes(kinds.TournamentEdited, before, **edited)
    moved = _status_changes(before, after)
    if after.status == "completed":
        return [*removed, *own, *present, *moved]
    return [*moved, *removed, *own, *present]


def _status_changes(before: Tournament, after: Tournament) -> list[Change]:
    """The changes of the status and of when it was completed."""
    if before.status == after.status:
        return tournament_changes(kinds.TournamentEdited, before, completed_at=after.completed_at)
    if (before.status, after.status) in STATUS_CHANGES:
        kind = STATUS_CHANGES[before.status, after.status]
        return tournament_changes(kind, before, status=after.status, completed_at=after.completed_at)
    started = replace(before, status="started", completed_at=None)
    return [*_status_changes(before, started), *_status_changes(started, after)]


def _part_changes(
    part: PartChanges, before: Tournament, after: Tournament
) -> tuple[list[Change], list[Change]]:
    """The changes of things that are gone, and of those that are new or different."""
    old = {getattr(item, part.key): item for item in getattr(before, part.part)}
    new = {getattr(item, part.key): item for item in getattr(after, part.part)}
    removed: list[Change] = [part.removed(old[key]) for key in old if key not in new]
    present: list[Change] = []
    for key, item in new.items():
        if key not in old:
            present.append(part.added(item))
        elif old[key] != item:
            kind = part.altered(old[key], item)
            if kind is not None:
                present.append(kind(old[key], item))
            else:
                removed.append(part.removed(old[key]))
                present.append(part.added(item))
    return removed, present
