"""Real ids for new things: rules number what they make from -1 down, the door hands out the ids."""

from collections.abc import Callable, Sequence
from dataclasses import fields, replace
from typing import Any

from silverball.rules.model.apply import IDS
from silverball.rules.model.changes import Added, Altered, Change, Removed

# Field of a thing -> the kind of thing it names.
NAMED = {
    "round_id": "rounds",
    "game_id": "games",
    "suggestion_id": "suggestions",
    "single_player_game_id": "single_player_games",
    "card_id": "cards",
    "queue_id": "queue",
    "entry_id": "purchases",
}
NewId = Callable[[str], int]
Given = dict[tuple[str, int], int]


def numbered(changes: Sequence[Change], new_id: NewId) -> list[Change]:
    """The same changes with real ids. `new_id` takes the kind ("games", ...) and gives an unused id."""
    given: Given = {}
    return [_numbered(one, given, new_id) for one in changes]


def _numbered(change: Change, given: Given, new_id: NewId) -> Change:
    if isinstance(change, Added):
        name = IDS[change.part]
        key = getattr(change.thing, name)
        if key < 0:
            given[change.part, key] = new_id(change.part)
        return replace(change, thing=_renamed(change.thing, given))
    if isinstance(change, Removed):
        return replace(change, thing=_renamed(change.thing, given))
    if isinstance(change, Altered):
        return replace(change, before=_renamed(change.before, given), after=_renamed(change.after, given))
    return change


def _renamed(thing: Any, given: Given) -> Any:
    renamed = {}
    for one in fields(thing):
        kind = NAMED.get(one.name)
        value = getattr(thing, one.name)
        if kind is not None and value is not None and value < 0:
            renamed[one.name] = given[kind, value]
    return replace(thing, **renamed) if renamed else thing
