"""The journal in itself: numbers without gaps, and what was undone really taken back."""

from collections.abc import Sequence

from silverball.rules.model.changes import opposite_changes
from silverball.rules.verify.replay import ReplayedAction


def journal_faults(stories: Sequence[ReplayedAction], first: int = 1) -> list[str]:
    """What is wrong with these actions, first to last; `first` is the number of the first."""
    by_id = {told.action_id: told for told in stories}
    found = [
        f"Action {number} is missing from the journal."
        for number in range(first, max(by_id, default=first - 1) + 1)
        if number not in by_id
    ]
    taken_back: set[int] = set()
    for told in stories:
        if told.undone_action_id is not None:
            found += _undo_faults(told, by_id.get(told.undone_action_id), taken_back)
            taken_back.add(told.undone_action_id)
    return found


def _undo_faults(told: ReplayedAction, original: ReplayedAction | None, taken_back: set[int]) -> list[str]:
    if original is None or original.action_id >= told.action_id:
        return [f"Action {told.action_id} undoes action {told.undone_action_id}, which is not before it."]
    if original.action_id in taken_back:
        return [f"Action {told.action_id} undoes action {told.undone_action_id}, which was undone before."]
    if list(told.changes) != opposite_changes(original.changes):
        return [
            f"Action {told.action_id} undoes action {told.undone_action_id}, but takes back something else."
        ]
    return []
