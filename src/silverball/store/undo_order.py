"""Which actions an undo may name, and what is taken back with them."""

from collections.abc import Sequence

from silverball.store.journal import SUGGESTION_DECIDED, SUGGESTION_MADE, Action


def undoable_actions(actions: Sequence[Action]) -> list[Action]:
    """The actions that an undo may name, newest first: one, and those that only reports or calls hide.

    Takes actions newest first. What a shared room did by itself is taken back with what came before it.
    A result can be undone below later calls; what opens games can not.
    """
    undone: set[int] = set()
    settled: set[int] = set()
    found: list[Action] = []
    for action in actions:
        if action.is_merge or action.is_import or action.is_room_call:
            continue
        if action.undone_action_id is not None:
            undone.add(action.undone_action_id)
            settled |= action.suggestion_ids(SUGGESTION_DECIDED)
        elif action.action_id not in undone and not (
            action.is_report and action.suggestion_ids(SUGGESTION_MADE) <= settled
        ):
            has_calls = any(later.is_call for later in found)
            if not action.is_undoable or (has_calls and not action.is_below_calls and not action.is_call):
                break
            found.append(action)
            if not (action.is_report or action.is_call):
                break
    return found


def room_calls_after(actions: Sequence[Action], action_id: int) -> list[Action]:
    """The actions of a shared room after this one that were not undone; newest first, as taken."""
    undone = {action.undone_action_id for action in actions}
    return [
        action
        for action in actions
        if action.is_room_call and action.action_id > action_id and action.action_id not in undone
    ]
