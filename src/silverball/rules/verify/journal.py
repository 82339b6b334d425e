"""Checks of the journal itself: numbers without gaps, and undos with exactly the opposite changes."""

from collections.abc import Sequence

from silverball.rules.model.changes import SuggestionDecided, opposite_changes
from silverball.rules.verify.replay import ReplayedAction


def journal_faults(stories: Sequence[ReplayedAction], first: int = 1) -> list[str]:
    """Faults of these actions, first to last; `first` is the number of the first action."""
    by_id = {action.action_id: action for action in stories}
    faults = [
        f"Action {number} is missing from the journal."
        for number in range(first, max(by_id, default=first - 1) + 1)
        if number not in by_id
    ]
    taken_back: set[int] = set()
    for action in stories:
        if action.undone_action_id is not None:
            faults += _undo_faults(action, by_id.get(action.undone_action_id), taken_back)
            taken_back.add(action.undone_action_id)
    return faults


def _undo_faults(action: ReplayedAction, original: ReplayedAction | None, taken_back: set[int]) -> list[str]:
    if original is None or original.action_id >= action.action_id:
        return [f"Action {action.action_id} undoes action {action.undone_action_id}, which is not before it."]
    number, undone_number = action.action_id, action.undone_action_id
    if original.action_id in taken_back:
        return [f"Action {number} undoes action {undone_number}, which was undone before."]
    opposites = opposite_changes(original.changes)
    before = len(action.changes) - len(opposites)
    # Reports that came later are settled first, where their games go.
    settles = all(isinstance(change, SuggestionDecided) for change in action.changes[: max(before, 0)])
    if not settles or list(action.changes[max(before, 0) :]) != opposites:
        return [f"Action {number} undoes action {undone_number}, but its changes are not the opposite ones."]
    return []
