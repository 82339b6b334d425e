"""The changes of an undo: the opposites of an action, fitted to the tournament as it is now.

Between an action and its undo other actions may stand that undo passes over. So of the tournament's own
fields only the facts go back that the action changed; and the seed of the draws never does, because an
earlier one was shown when the tournament was completed.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from silverball.kit.values import replace
from silverball.rules.model.changes import (
    Change,
    DrawRemembered,
    TournamentAltered,
    TournamentCompleted,
    TournamentReopened,
    opposite_changes,
)
from silverball.rules.model.tournament import Tournament

STATE, DETAILS, LINKS = "state", "details", "links"
# Occasions are changed in the book as well.
OCCASION = "event_id"
# A fact of the engine's state that no undo changes.
SEED = "dice_seed"
# Facts of the tournament that no undo changes either: what its reopening noted of the first completion.
NOTED = frozenset({"reopening", "rated_until"})
CLOSINGS = (TournamentCompleted, TournamentReopened)
# A fact of the tournament: name of the field, and of the fact in it.
FactKey = tuple[str, ...]


def undoing_changes(
    tournament: Tournament, changes: Sequence[Change], *, keeps_status: bool = False
) -> list[Change]:
    """The changes that undo these on the tournament; with `keeps_status` it stays as open as it is."""
    values: dict[str, Any] = {}
    undoing: list[Change] = []
    for opposite in opposite_changes(changes):
        if not isinstance(opposite, TournamentAltered):
            undoing.append(opposite)
            continue
        kind, names = type(opposite), set(opposite.after) - NOTED
        if keeps_status and kind in CLOSINGS:
            kind, names = DrawRemembered, names & {STATE}
        current = {name: values.get(name, getattr(tournament, name)) for name in names}
        after = {
            name: _fitted_value(name, current[name], opposite.before[name], opposite.after[name])
            for name in opposite.after
            if name in names
        }
        after = {name: value for name, value in after.items() if value != current[name]}
        if after:
            undoing.append(kind({name: current[name] for name in after}, after))
            values.update(after)
    return undoing


def _fitted_value(name: str, current: Any, before: Any, after: Any) -> Any:
    """The field with the facts of `after` that differ from `before`, and otherwise as it is."""
    if name == STATE:
        names = [fact for fact in after.__struct_fields__ if getattr(before, fact) != getattr(after, fact)]
        return replace(current, **{fact: getattr(after, fact) for fact in names if fact != SEED})
    if name != DETAILS or current == before:
        return after
    fitted = dict(current)
    for fact in sorted({*before, *after}):
        if fact == LINKS:
            fitted[fact] = _fitted_links(*(side.get(LINKS) or () for side in (current, before, after)))
        elif before.get(fact) != after.get(fact):
            fitted[fact] = after.get(fact)
    return fitted


def _fitted_links(current: Sequence[Any], before: Sequence[Any], after: Sequence[Any]) -> list[Any]:
    """The links of now without those that `before` has alone, and with those that `after` has alone."""
    old, new = _links_by_id(before), _links_by_id(after)
    differing = {key for key in {*old, *new} if old.get(key) != new.get(key)}
    kept = [link for link in current if link["linked_tournament_id"] not in differing]
    return [*kept, *(link for link in after if link["linked_tournament_id"] in differing)]


def _links_by_id(links: Sequence[Any]) -> dict[int, Any]:
    """Links by tournament, without the copy of what they show."""
    return {link["linked_tournament_id"]: (link["link_type"], link["link_index"]) for link in links}


def differing_facts(before: Mapping[str, Any], after: Mapping[str, Any]) -> dict[FactKey, tuple[Any, Any]]:
    """The facts in which the sides of a tournament's change differ, each with both values."""
    old, new = _facts_apart(before), _facts_apart(after)
    keys = sorted({*old, *new})
    return {key: (old.get(key), new.get(key)) for key in keys if old.get(key) != new.get(key)}


def _facts_apart(side: Mapping[str, Any]) -> dict[FactKey, Any]:
    facts: dict[FactKey, Any] = {}
    for name, value in side.items():
        if name not in (STATE, DETAILS) or value is None:
            facts[name,] = value
            continue
        parts = (
            value
            if isinstance(value, Mapping)
            else {fact: getattr(value, fact) for fact in value.__struct_fields__}
        )
        facts |= {(name, fact): part for fact, part in parts.items() if fact != LINKS}
        if parts.get(LINKS):
            facts |= {(LINKS, str(key)): link for key, link in _links_by_id(parts[LINKS]).items()}
    return facts


def comparable_undo(changes: Sequence[Change], *, keeps_status: bool = False) -> list[Any]:
    """The changes of an undo, so that they equal those of another one with the same effect."""
    compared: list[Any] = []
    for change in changes:
        if not isinstance(change, TournamentAltered):
            compared.append(change)
            continue
        facts = differing_facts(change.before, change.after)
        for ignored in ((STATE, SEED), (DETAILS, OCCASION)):
            facts.pop(ignored, None)
        facts = {key: values for key, values in facts.items() if key[0] not in NOTED}
        if keeps_status and isinstance(change, CLOSINGS):
            facts = {key: values for key, values in facts.items() if key[0] == STATE}
        if facts:
            compared.append(facts)
    return compared
