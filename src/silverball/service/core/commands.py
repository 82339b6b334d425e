"""Commands: load a tournament, check the caller's permission, run a rule, enact its changes.

    def complete_round(call: Write[Body], round_id: int) -> Tournament:
        return commands.run_command(call, lambda t: tournament_commands.complete_round(t, round_id, call.now))

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
from silverball.service.core import enact, loaded
from silverball.service.core.enact import ActionContext
from silverball.store.loaded import LoadedTournament

Permission = Callable[[AuthenticatedCaller, Tournament], bool]


@dataclass(frozen=True)
class Decision:
    """The changes that a rule stated, and the seed of the draw that they came from."""

    changes: Sequence[Change]
    dice_seed: str | None = None


CommandRule = Callable[[Tournament], "Decision | Sequence[Change]"]


@dataclass(frozen=True)
class DryRun:
    """A decision made on a snapshot, without the lock, and the revision of that snapshot."""

    revision: int
    decision: Decision = field(default_factory=lambda: Decision(()))


def action_context(call: Write[Any]) -> ActionContext:
    """The actor, address and time of the call, for the journal."""
    return ActionContext(actor_id=call.actor_id, source=call.source, now=call.now, device=call.caller.device)


def load_tournament(call: Write[Any], is_allowed: Permission = access.is_organizer) -> Tournament:
    """The tournament in the path. Raises NotFound, and NotAllowed when the caller may not change it."""
    return _load_permitted(call, is_allowed).tournament


def run_command(
    call: Write[Any], rule: CommandRule, *, is_allowed: Permission = access.is_organizer
) -> Tournament:
    """Run the rule on the tournament in the path, enact its changes, and return the changed tournament."""
    before = _load_permitted(call, is_allowed)
    return _enact(call, _decision(rule(before.tournament)), before)


def dry_run(call: Write[Any], rule: CommandRule, *, is_allowed: Permission = access.is_organizer) -> DryRun:
    """Run the rule on a snapshot, without the lock: for draws that may take long."""
    before = _load_permitted(call, is_allowed)
    return DryRun(before.revision, _decision(rule(before.tournament)))


def decide_by_draw(tournament: Tournament, draw: str, rule: Callable[[Random], Sequence[Change]]) -> Decision:
    """Run a rule that needs dice with the dice of this draw."""
    dice, seed = tournament_commands.dice_for(tournament, draw)
    return Decision(rule(dice), seed)


def commit_dry_run(call: Write[Any]) -> Tournament:
    """Enact the call's dry run. Raises PreparationOutdated when the tournament has changed since."""
    prepared: DryRun = call.preparation
    before = loaded.load_for_change(call.transaction, call.ids[TOURNAMENT])
    if before.revision != prepared.revision:
        raise PreparationOutdated
    return _enact(call, prepared.decision, before)


def _load_permitted(call: Write[Any], is_allowed: Permission) -> LoadedTournament:
    tournament_id = call.ids[TOURNAMENT]
    if call.is_preparation:
        before = loaded.load_with_revision(call.db, tournament_id)
    else:
        before = loaded.load_for_change(call.transaction, tournament_id)
    if not is_allowed(call.caller, before.tournament):
        raise NotAllowed
    return before


def _enact(call: Write[Any], decision: Decision, before: LoadedTournament) -> Tournament:
    return enact.enact(
        call.transaction,
        call.ids[TOURNAMENT],
        decision.changes,
        action_context(call),
        dice_seed=decision.dice_seed,
        before=before,
    )


def _decision(result: Decision | Sequence[Change]) -> Decision:
    return result if isinstance(result, Decision) else Decision(result)
