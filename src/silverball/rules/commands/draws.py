"""Draws: the commitment to their seed, the version of their rules, and what they take from outside."""

import hashlib
from collections.abc import Mapping
from typing import Any

import msgspec
from msgspec import UnsetType

from silverball.kit.conversions import convert
from silverball.kit.values import replace
from silverball.rules.model.engine_state import EngineState
from silverball.rules.model.tournament import Tournament

# Raised when the same seed, tournament and facts give another draw than before: a test compares draws of all
# formats with tests/golden/draws.json.
DRAW_VERSION = 2
# Facts of the engine's state that are looked up for a draw and not stored in the tournament.
LOOKED_UP_FACTS = ("series_groups", "series_plays", "seed_facts")
# Who and what was passed over, because it was busy in another tournament of the occasion.
BUSY_FACTS = ("players_elsewhere", "arenas_elsewhere")


def commitment(dice_seed: str) -> str:
    """The hash that is published before a draw: SHA-256 of the seed's text, in hex."""
    return hashlib.sha256(dice_seed.encode()).hexdigest()


def facts_from_outside(informed: Tournament) -> dict[str, Any]:
    """The facts that a draw takes from outside the tournament, for the journal; empty for most draws."""
    facts = {
        name: msgspec.to_builtins(getattr(informed.state, name), str_keys=True) for name in LOOKED_UP_FACTS
    }
    facts["categories"] = {
        str(arena.arena_id): arena.category_id for arena in informed.lineup if arena.category_id is not None
    }
    facts["banks"] = {str(bank.bank_id): list(bank.arena_ids) for bank in informed.banks}
    return {name: value for name, value in facts.items() if value} | busy_facts(informed)


def busy_facts(informed: Tournament) -> dict[str, Any]:
    """Players and arenas that a draw passed over as busy elsewhere, for the journal; mostly none."""
    facts: dict[str, Any] = {}
    for name in BUSY_FACTS:
        value = getattr(informed.state, name)
        if not isinstance(value, UnsetType):
            facts[name] = list(value)
    return facts


def with_facts(tournament: Tournament, facts: Mapping[str, Any]) -> Tournament:
    """The tournament with the facts that a draw took from outside."""
    names = (*LOOKED_UP_FACTS, *BUSY_FACTS)
    looked_up = {name: facts[name] for name in names if name in facts}
    decoded = convert(looked_up, EngineState, strict=False)
    state = replace(tournament.state, **{name: getattr(decoded, name) for name in names})
    categories, banks = facts.get("categories", {}), facts.get("banks", {})
    return replace(
        tournament,
        state=state,
        lineup=tuple(
            replace(arena, category_id=categories.get(str(arena.arena_id))) for arena in tournament.lineup
        ),
        banks=tuple(
            replace(bank, arena_ids=tuple(banks.get(str(bank.bank_id), ()))) for bank in tournament.banks
        ),
    )
