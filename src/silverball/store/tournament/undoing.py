"""The actions that an undo may name, and those that are taken back with them.

What was done and put back by hand counts as taken back: undo passes over both. Of a completion and its
reopening this holds although they are no opposites: the completion removes what was not finished, so both
are undone together before anything earlier is.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from msgspec import Struct
from sqlalchemy import Connection

from silverball.rules.model.apply import ID_FIELDS
from silverball.rules.model.opposites import LINKS, FactKey, differing_facts
from silverball.store.tournament import journal
from silverball.store.tournament.journal import CHANGES, Action

# Changes of who and what is there, which are put back by hand. What was played comes back by undo alone.
BY_HAND = frozenset(
    {
        *("EntrantAdded", "EntrantRemoved", "EntrantChanged", "ArenaAdded", "ArenaRemoved", "ArenaChanged"),
        *("BankAdded", "BankRemoved", "ScorekeeperAdded", "ScorekeeperRemoved"),
        *("DirectorAdded", "DirectorRemoved", "GameChanged", "PrizePaid"),
        "ResultsSent",
    }
)
COMPLETED, REOPENED = "TournamentCompleted", "TournamentReopened"
PRIZES_CHANGED, PRIZE_PAID = "PrizesChanged", "PrizePaid"
# The tournament came as it was: undo ends here.
ARRIVALS = (journal.TOURNAMENT_IMPORTED, journal.MATCHES_MERGED)
# Most often the newest actions tell what can be undone.
FIRST_ACTIONS = 50


class Closing(Struct, frozen=True):
    """A completion and the reopening that took it back."""

    completion: Action
    reopening: Action


class UndoHistory(Struct, frozen=True, kw_only=True):
    """The actions of a journal that can be undone now, and what goes with them."""

    # Newest first: one, and those that only reports or calls hide.
    offered: Sequence[Action]
    # All that was read, newest first.
    actions: Sequence[Action]
    undone_ids: frozenset[int]
    closings: Sequence[Closing]
    # Whether all is undone that was done since the tournament was imported.
    ends_at_import: bool

    def steps(self, undone: Action) -> list[tuple[Action, ...]]:
        """The actions that go back with this one, in order; each step is an action of its own."""
        steps: list[tuple[Action, ...]] = [
            (closing.reopening, closing.completion)
            for closing in self.closings
            if closing.reopening.action_id > undone.action_id
        ]
        steps += [(action,) for action in self.actions if self._follows(action, undone)]
        steps.sort(key=lambda step: step[0].action_id, reverse=True)
        return [*steps, (undone,)]

    def _follows(self, action: Action, undone: Action) -> bool:
        """Whether an action that undo passes over goes with this one."""
        if action.action_id <= undone.action_id or action.action_id in self.undone_ids:
            return False
        # A prize that is not planned any more cannot stay paid.
        is_tick = undone.has_change(PRIZES_CHANGED) and action.has_change(PRIZE_PAID)
        return action.is_room_call or (is_tick and action.undone_action_id is None)


def load_history(db: Connection, tournament_id: int, newest: Sequence[Action] = ()) -> UndoHistory:
    """The undo history of a tournament; `newest` are its newest actions, if they are loaded already."""
    actions = newest or journal.newest_actions(db, tournament_id, limit=FIRST_ACTIONS)
    reading = _Reading(actions)
    if reading.is_certain:
        return reading.history()
    return _Reading(journal.newest_actions(db, tournament_id), is_whole=True).history()


class _Reading:
    """Reads actions first to last, and keeps a stack of those that are in force."""

    def __init__(self, actions: Sequence[Action], *, is_whole: bool = False) -> None:
        self._actions = actions
        self._is_whole = is_whole or not actions or actions[-1].action_id == 1
        self._undone = frozenset(key for action in actions for key in action.undone_action_ids)
        undos = [action for action in actions if action.undone_action_ids]
        self._settled = {key for action in undos for key in action.suggestion_ids(journal.SUGGESTION_DECIDED)}
        self._ticked_since_completion = _ticks_while_completed(actions)
        self._stack: list[Action] = []
        self._closings: list[Closing] = []
        # Actions that may be taken back by others that were not read.
        self._doubtful: set[int] = set()
        self._has_doubt = False
        for action in reversed(actions):
            if not self._is_passed_over(action):
                self._add(action)
        self._offered = self._find_offered()

    @property
    def is_certain(self) -> bool:
        """Whether earlier actions would change nothing."""
        if self._is_whole:
            return True
        return not self._has_doubt and self._doubtful.isdisjoint(each.action_id for each in self._offered)

    def history(self) -> UndoHistory:
        ends_at_import = not self._offered and any(
            action.has_change(journal.TOURNAMENT_IMPORTED) for action in self._stack[-1:]
        )
        return UndoHistory(
            offered=self._offered,
            actions=self._actions,
            undone_ids=self._undone,
            closings=self._closings,
            ends_at_import=ends_at_import,
        )

    def _is_passed_over(self, action: Action) -> bool:
        is_beside = action.is_merge or action.is_import or action.is_seed_export or action.is_room_call
        if is_beside or action.undone_action_ids:
            return True
        is_settled = action.is_report and action.suggestion_ids(journal.SUGGESTION_MADE) <= self._settled
        return is_settled or action.action_id in self._undone | self._ticked_since_completion

    def _add(self, action: Action) -> None:
        if action.has_change(REOPENED) and not action.has_change(COMPLETED):
            self._take_completion_back(action)
            return
        at = self._position_of_opposite(action)
        if at is None:
            self._stack.append(action)
            return
        self._has_doubt |= self._stack.pop(at).action_id in self._doubtful

    def _take_completion_back(self, reopening: Action) -> None:
        for at in range(len(self._stack) - 1, -1, -1):
            if self._stack[at].has_change(*ARRIVALS):
                return
            if self._stack[at].has_change(COMPLETED):
                self._closings.append(Closing(self._stack.pop(at), reopening))
                return
        self._has_doubt = True

    def _position_of_opposite(self, action: Action) -> int | None:
        """The position of the action that this one puts back by hand; None without one."""
        changes = _changes(action)
        facts = set(_facts(changes))
        # A link is put back whatever happened since: the tournament that it led to may be gone.
        looks_far = bool(facts) and all(key[0] == LINKS for key in facts)
        if not changes or not (looks_far or all(name in BY_HAND for name, _ in changes)):
            return None
        for at in range(len(self._stack) - 1, -1, -1):
            earlier = _changes(self._stack[at])
            if _are_opposite(changes, earlier):
                return at
            if not looks_far or not self._stack[at].is_undoable or facts & set(_facts(earlier)):
                return None
        self._doubtful.add(action.action_id)
        return None

    def _find_offered(self) -> list[Action]:
        """The newest action in force, and those that only reports or calls hide.

        A result can be undone below later calls; what opens games can not.
        """
        found: list[Action] = []
        for action in reversed(self._stack):
            has_calls = any(later.is_call for later in found)
            is_hidden = has_calls and not action.is_call and not self._is_below_calls(action)
            if not action.is_undoable or is_hidden:
                break
            found.append(action)
            if not (action.is_report or action.is_call):
                break
        else:
            self._has_doubt = True
        return found

    def _is_below_calls(self, action: Action) -> bool:
        closed_since = (
            each
            for closing in self._closings
            if closing.reopening.action_id > action.action_id
            for each in (closing.completion, closing.reopening)
        )
        return all(each.is_below_calls for each in (action, *closed_since))


def _ticks_while_completed(actions: Sequence[Action]) -> set[int]:
    """The prizes that were ticked as paid between a completion and the reopening after it."""
    passed_over: set[int] = set()
    since: list[int] = []
    # Whoever begins to read in the midst learns from the next reopening that it was completed.
    is_running = False
    for action in reversed(actions):
        names = [name for name, _ in action.entries]
        if all(name == PRIZE_PAID for name in names) and not is_running:
            since.append(action.action_id)
        for name in names:
            if name == REOPENED:
                passed_over.update(since)
            if name in (COMPLETED, REOPENED):
                since, is_running = [], name == REOPENED
    return passed_over


def _changes(action: Action) -> list[tuple[str, Mapping[str, Any]]]:
    return [(name, data) for name, data in action.entries if name not in journal.NOTES]


def _facts(changes: Sequence[tuple[str, Mapping[str, Any]]]) -> list[FactKey]:
    """The things and the facts of the tournament that these changes are about."""
    keys: list[FactKey] = []
    for name, data in changes:
        part = CHANGES[name].part if name in CHANGES else ""
        if part in ID_FIELDS:
            side = data.get("thing") or data.get("after") or {}
            keys.append((part, str(side.get(ID_FIELDS[part]))))
        elif part:
            keys += differing_facts(data.get("before") or {}, data.get("after") or {})
    return keys


def _are_opposite(
    later: Sequence[tuple[str, Mapping[str, Any]]], earlier: Sequence[tuple[str, Mapping[str, Any]]]
) -> bool:
    """Whether the later changes lead exactly back to before the earlier ones."""
    pairs = zip(later, reversed(earlier), strict=False)
    return len(later) == len(earlier) and all(_leads_back(*new, *old) for new, old in pairs)


def _leads_back(name: str, data: Mapping[str, Any], old_name: str, old: Mapping[str, Any]) -> bool:
    kind = CHANGES.get(name)
    if kind is None or old_name not in CHANGES or CHANGES[old_name].undone_by is not kind:
        return False
    if "thing" in data:
        return bool(data["thing"] == old["thing"])
    if kind.part in ID_FIELDS:
        return bool(data["before"] == old["after"] and data["after"] == old["before"])
    differing = differing_facts(old["before"], old["after"])
    back = {key: (after, before) for key, (before, after) in differing.items()}
    return differing_facts(data["before"], data["after"]) == back
