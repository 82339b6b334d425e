"""What every writing slice does: load, ask who may, let the rules state changes, let them happen.

    def complete_round(call: Write[Body], round_id: int) -> Tournament:
        return acting.act(call, lambda t: play.complete_round(t, round_id, call.now))

Nothing here speaks SQL; the transaction is the caller's.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from random import Random
from typing import Any

from silverball.kit.errors import NotAllowed
from silverball.kit.http.endpoints import TOURNAMENT, PreparationOutdated
from silverball.rules.commands import tournament as tournament_commands
from silverball.rules.model.changes import Change
from silverball.rules.model.tournament import Tournament
from silverball.service import access
from silverball.service.access import AuthenticatedCaller
from silverball.service.calls import Write
from silverball.service.core import enact
from silverball.service.core.enact import ActionContext
from silverball.store.loaded import LoadedTournament

Permission = Callable[[AuthenticatedCaller, Tournament], bool]


@dataclass(frozen=True)
class Decision:
    """What a rule stated, and the seed of the draw that it came from."""

    changes: Sequence[Change]
    dice_seed: str | None = None


CommandRule = Callable[[Tournament], "Decision | Sequence[Change]"]


@dataclass(frozen=True)
class DryRun:
    """What was made of a snapshot before the lock was taken, and the revision of that snapshot."""

    revision: int
    decision: Decision = field(default_factory=lambda: Decision(()))


def action_context(call: Write[Any]) -> ActionContext:
    """Who asked, from where, and when."""
    return ActionContext(actor_id=call.actor_id, source=call.source, now=call.now, device=call.caller.device)


def load_tournament(call: Write[Any], is_allowed: Permission = access.is_organizer) -> Tournament:
    """The tournament in the path, if the caller may change it so. Raises NotFound and NotAllowed."""
    return _load_permitted(call, is_allowed).tournament


def _load_permitted(call: Write[Any], is_allowed: Permission) -> LoadedTournament:
    tournament_id = call.ids[TOURNAMENT]
    if call.is_preparation:
        loaded = enact.load_with_revision(call.db, tournament_id)
    else:
        loaded = enact.load_for_change(call.transaction, tournament_id)
    if not is_allowed(call.caller, loaded.tournament):
        raise NotAllowed
    return loaded


def _enact(call: Write[Any], made: "Decision", kept: LoadedTournament) -> Tournament:
    tournament_id = call.ids[TOURNAMENT]
    who = action_context(call)
    return enact.enact(
        call.transaction, tournament_id, made.changes, who, dice_seed=made.dice_seed, before=kept
    )


def run_command(
    call: Write[Any], rule: CommandRule, *, is_allowed: Permission = access.is_organizer
) -> Tournament:
    """Let what the rule states happen to the tournament in the path, and return what it is now."""
    kept = _load_permitted(call, is_allowed)
    return _enact(call, _decision(rule(kept.tournament)), kept)


def dry_run(call: Write[Any], rule: CommandRule, *, is_allowed: Permission = access.is_organizer) -> DryRun:
    """Make something of a snapshot, without the lock: for draws that may take long."""
    kept = _load_permitted(call, is_allowed)
    return DryRun(kept.revision, _decision(rule(kept.tournament)))


def decide_by_draw(tournament: Tournament, draw: str, rule: Callable[[Random], Sequence[Change]]) -> Decision:
    """What a rule states that may need dice: those of the draw with this name."""
    dice, seed = tournament_commands.dice_for(tournament, draw)
    return Decision(rule(dice), seed)


def commit_dry_run(call: Write[Any]) -> Tournament:
    """Let what was made ahead happen. Raises Moved when the tournament is another by now."""
    seen: DryRun = call.preparation
    kept = enact.load_for_change(call.transaction, call.ids[TOURNAMENT])
    if kept.revision != seen.revision:
        raise PreparationOutdated
    return _enact(call, seen.decision, kept)


def _decision(stated: "Decision | Sequence[Change]") -> Decision:
    return stated if isinstance(stated, Decision) else Decision(stated)
