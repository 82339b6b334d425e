"""The tournament after a change: the snapshot follows as the stored rows do.

Source of truth for replaying a journal: `apply_all(before, changes)` equals the stored tournament.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from msgspec import Struct

from silverball.kit.values import replace
from silverball.rules.model import changes as kinds
from silverball.rules.model.changes import (
    Added,
    Altered,
    Change,
    Removed,
    TournamentAltered,
    tournament_changes,
)
from silverball.rules.model.part_index import (
    KEPT_VALUES,
    ItemStep,
    followed_groups,
    index_order,
    position_by_id,
)
from silverball.rules.model.tournament import INDEXES, MADE_FROM_PART, Tournament

# The field that identifies a thing of each part.
ID_FIELDS = {
    "entrants": "player_id",
    "lineup": "arena_id",
    "banks": "bank_id",
    "rounds": "round_id",
    "games": "game_id",
    "suggestions": "suggestion_id",
    "single_player_games": "single_player_game_id",
    "cards": "card_id",
    "queue": "queue_id",
    "scorekeepers": "user_id",
    "purchases": "entry_id",
    "sign_ups": "player_id",
}
# Fields looked up in the organizer's book: a change holds an old value, and the current one counts.
LOOKED_UP_FIELDS = {"entrants": "user_id", "lineup": "category_id", "banks": "arena_ids"}


def apply_changes(tournament: Tournament, changes: Iterable[Change]) -> Tournament:
    """The tournament after all these changes, in their order."""
    values: dict[str, Any] = {}
    steps: dict[str, list[ItemStep | None]] = {}
    for change in changes:
        if isinstance(change, TournamentAltered):
            values.update(change.after)
            steps.update({part: [None] for part in change.after if part in ID_FIELDS})
            continue
        part = change.part
        items = values[part] if part in values else getattr(tournament, part)
        if isinstance(items, tuple):
            # One list for all changes of a part, instead of a new tuple for each of them.
            items = values[part] = list(items)
        steps.setdefault(part, []).append(_change_part(items, change))
    values = {name: tuple(value) if name in ID_FIELDS else value for name, value in values.items()}
    if not values:
        return tournament
    after = replace(tournament, **values)
    _carry_indexes(tournament, after, steps)
    return after


def _carry_indexes(
    before: Tournament, after: Tournament, steps: Mapping[str, Sequence[ItemStep | None]]
) -> None:
    """Take over the indexes and kept values of the state before, with what changed."""
    # As cached properties do it: the class is frozen, its instances are not.
    ours, theirs = after.__dict__, before.__dict__
    for name, index in INDEXES.items():
        if index.part not in steps:
            if name in theirs:
                ours[name] = theirs[name]
            continue
        groups = followed_groups(getattr(before, name), index, steps[index.part], ID_FIELDS[index.part])
        if groups is not None:
            ours[name] = groups
    for name, part in MADE_FROM_PART.items():
        if part not in steps and name in theirs:
            ours[name] = theirs[name]
    if before.kept_values:
        ours[KEPT_VALUES] = dict(before.kept_values)


def revert_changes(tournament: Tournament, changes: Iterable[Change]) -> Tournament:
    """The tournament before these changes, which come newest first. For many changes at once.

    Raises ValueError when a change adds what is not there, removes what is, or alters what is not.
    """
    parts: dict[str, dict[int, Any]] = {}
    values: dict[str, Any] = {}
    for change in changes:
        if isinstance(change, TournamentAltered):
            values.update(change.before)
            continue
        if change.part not in parts:
            name = ID_FIELDS[change.part]
            parts[change.part] = {getattr(item, name): item for item in getattr(tournament, change.part)}
        _revert_item(parts[change.part], change)
    for part, items in parts.items():
        name = ID_FIELDS[part]
        values[part] = tuple(sorted(items.values(), key=lambda each: index_order(each, name)))
    return replace(tournament, **values)


def _revert_item(items: dict[int, Any], change: Change) -> None:
    name = ID_FIELDS[change.part]
    if not isinstance(change, Added | Removed | Altered):
        raise ValueError(f"{type(change).__name__} is not a change of a part")
    item = change.after if isinstance(change, Altered) else change.subject
    key = getattr(item, name)
    if (key in items) == isinstance(change, Removed):
        raise ValueError(f"{name} {key} is not what the change says it was")
    if isinstance(change, Added):
        del items[key]
        return
    before = change.before if isinstance(change, Altered) else change.subject
    looked_up = LOOKED_UP_FIELDS.get(change.part)
    if looked_up is not None and key in items:
        before = replace(before, **{looked_up: getattr(items[key], looked_up)})
    items[key] = before


def _change_part(items: list[Any], change: Change) -> ItemStep | None:
    """Change these items, and return the step."""
    name = ID_FIELDS[change.part]
    if isinstance(change, Added):
        return _insert_item(items, change.subject, name)
    if isinstance(change, Removed):
        del items[_position(items, change.subject, name)]
        return None
    if isinstance(change, Altered):
        return _replace_item(items, change.before, change.after, name, LOOKED_UP_FIELDS.get(change.part))
    raise ValueError(f"{type(change).__name__} is not a change of a part")


def _insert_item(items: list[Any], item: Any, name: str) -> ItemStep | None:
    key = getattr(item, name)
    # Nearly all that is new comes last, and then it is not among the others.
    is_last = not items or index_order(items[-1], name) < index_order(item, name)
    if not is_last and position_by_id(items, name, key) is not None:
        raise ValueError(f"{name} {key} exists already")
    items.append(item)
    if is_last:
        return ItemStep(None, item)
    items.sort(key=lambda each: index_order(each, name))
    return None


def _position(items: Sequence[Any], before: Any, name: str) -> int:
    key = getattr(before, name)
    at = position_by_id(items, name, key)
    if at is None:
        raise ValueError(f"{name} {key} is not there")
    if items[at] is not before and items[at] != before:
        raise ValueError(f"{name} {key} is not what the change says it was")
    return at


def _replace_item(items: list[Any], before: Any, after: Any, name: str, looked_up: str | None) -> ItemStep:
    at = _position(items, before, name)
    if looked_up is not None:
        after = replace(after, **{looked_up: getattr(items[at], looked_up)})
    step = ItemStep(items[at], after)
    items[at] = after
    return step


# The changes that lead from a tournament to itself as it stands elsewhere.


# Fields of the tournament itself that its settings and texts consist of.
EDITED_FIELDS = (
    *("settings", "points_map", "tiebreaker_points_map", "has_entry_limits", "prizes", "state", "details"),
    *("rated_until", "reopening"),
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
