"""Commands: load a tournament, check the caller's permission, run a rule, enact its changes.

    def complete_round(call: Write[Body], round_id: int) -> Tournament:
        return commands.run_command(call, lambda t: tournament_commands.complete_round(t, round_id, call.now))

Nothing here speaks SQL; the transaction is the caller's.
"""

from collections.abc import Callable, Sequence
from datetime import datetime
from random import Random
from typing import Any

import msgspec
from msgspec import Struct
from sqlalchemy import Connection

from silverball.kit.errors import NotAllowed, NotFound
from silverball.kit.http.endpoints import TOURNAMENT, DrawNeeded, PreparationOutdated
from silverball.kit.values import replace
from silverball.rules.commands import draws
from silverball.rules.commands import tournament as tournament_commands
from silverball.rules.format import Rounds
from silverball.rules.model.changes import Change
from silverball.rules.model.tournament import Tournament
from silverball.rules.registry import FORMATS
from silverball.service.core import access, enact, loaded
from silverball.service.core.access import AuthenticatedCaller
from silverball.service.core.calls import Write
from silverball.service.core.enact import ActionContext, JournalEntries
from silverball.store.revisions.stamps import Revision
from silverball.store.tournament import journal
from silverball.store.tournament.loaded import LoadedTournament

Permission = Callable[[AuthenticatedCaller, Tournament], bool]


class Decision(Struct, frozen=True):
    """The changes that a rule stated, and the seed of the draw that they came from."""

    changes: Sequence[Change]
    dice_seed: str | None = None
    # Journal entries that are no changes.
    notes: JournalEntries = ()


CommandRule = Callable[[Tournament], "Decision | Sequence[Change]"]


class DryRun(Struct, frozen=True):
    """A decision made on a snapshot, without the lock, and the revision of that snapshot."""

    revision: Revision
    # The time that the rule was given is that of the action as well, or the draw cannot be made again.
    decided_at: datetime
    decision: Decision = msgspec.field(default_factory=lambda: Decision(()))
    # Ids of rows that the handler added for the decision, and adds again under the same ids.
    added_ids: tuple[int, ...] = ()


# Runs while no transaction is open.
Draw = Callable[[], DryRun]


def action_context(call: Write[Any]) -> ActionContext:
    """The actor, address and time of the call, for the journal."""
    return ActionContext(actor_id=call.actor_id, source=call.source, now=call.now, device=call.caller.device)


def load_tournament(call: Write[Any], is_allowed: Permission = access.is_organizer) -> Tournament:
    """The tournament in the path. Raises NotFound, and NotAllowed when the caller may not change it."""
    return _load_permitted(call, is_allowed).tournament


def load_for_own_parts(call: Write[Any], is_allowed: Permission = access.is_organizer) -> Tournament:
    """The tournament in the path, which may be a mirror: for what this site has of it, such as webhooks.

    Raises NotFound, and NotAllowed when the caller may not change it.
    """
    before, _host = loaded.load_with_host(call.transaction, call.ids[TOURNAMENT])
    if not is_allowed(call.caller, before.tournament):
        raise NotAllowed
    return before.tournament


def refuse_replay(db: Connection, call: Write[Any], ability: str) -> None:
    """Raise NotAllowed for a stored answer about a tournament in which the caller has no part any more."""
    tournament_id = call.ids.get(TOURNAMENT)
    if tournament_id is None:
        return
    try:
        tournament = loaded.load_with_revision(db, tournament_id).tournament
    except (NotFound, loaded.FormatUnknown):
        # It was deleted, or nobody can change it here.
        return
    if not access.may_see_replies(call.caller, tournament, ability):
        raise NotAllowed


def run_command(
    call: Write[Any],
    rule: CommandRule,
    *,
    is_allowed: Permission = access.is_organizer,
    is_result: bool = False,
) -> Tournament:
    """Run the rule on the tournament in the path, enact its changes, and return the changed tournament.

    A result draws no machine where somebody opens the rounds, so that nothing is read for it.
    """
    before = _load_permitted(call, is_allowed)
    tournament = before.tournament
    if is_result and FORMATS[tournament.type].rounds is Rounds.OPENED:
        informed = loaded.with_busy_elsewhere(call.db, tournament)
    else:
        informed = as_drawn(call, tournament)
    return _enact(call, _decision(rule(informed)), before)


def run_long_command(
    call: Write[Any],
    rule: CommandRule,
    *,
    is_allowed: Permission = access.is_organizer,
    added_ids: tuple[int, ...] = (),
) -> Tournament:
    """Run a rule that may take long: outside of the transaction, and again where it was overtaken.

    Raises DrawNeeded with the rule, unless the call brings its decision for the tournament as it is. The
    rule must not read from the database. `added_ids`: of rows that the handler has added for it. Where the
    transaction that decided had added others, which are gone with it, the rule runs in this one.
    """
    before = _load_permitted(call, is_allowed)
    prepared: DryRun | None = call.preparation
    if prepared is None or prepared.revision != before.revision:
        informed = as_drawn(call, before.tournament)
        raise DrawNeeded(lambda: DryRun(before.revision, call.now, _decision(rule(informed)), added_ids))
    if prepared.added_ids != added_ids:
        return _enact(call, _decision(rule(as_drawn(call, before.tournament))), before)
    return _enact(call, prepared.decision, before, decided_at=prepared.decided_at)


def as_drawn(call: Write[Any], tournament: Tournament) -> Tournament:
    """The tournament with what its draws pass over: who and what is busy in others, machines for fewer."""
    return loaded.with_arena_limits(call.db, loaded.with_busy_elsewhere(call.db, tournament))


def load_snapshot(call: Write[Any], is_allowed: Permission = access.is_organizer) -> LoadedTournament:
    """The tournament in the path with its revision, for a draw that follows."""
    return _load_permitted(call, is_allowed)


def decide_by_draw(tournament: Tournament, draw: str, rule: Callable[[Random], Sequence[Change]]) -> Decision:
    """Run a rule that needs dice with the dice of this draw."""
    dice, seed = tournament_commands.dice_for(tournament, draw)
    facts = draws.room_facts(tournament)
    return Decision(rule(dice), seed, [(journal.DRAW_FACTS, facts)] if facts else ())


def draw_notes(informed: Tournament) -> JournalEntries:
    """The journal entry with what a draw took from outside the tournament; none when that was nothing."""
    facts = draws.facts_from_outside(informed)
    return [(journal.DRAW_FACTS, facts)] if facts else ()


def commit_dry_run(call: Write[Any], notes: JournalEntries = ()) -> Tournament:
    """Enact what was drawn for the call, with more notes for the journal.

    Raises PreparationOutdated when the tournament has changed since.
    """
    prepared: DryRun = call.preparation
    before = loaded.load_for_change(call.transaction, call.ids[TOURNAMENT])
    if before.revision != prepared.revision:
        raise PreparationOutdated
    decision = replace(prepared.decision, notes=[*prepared.decision.notes, *notes])
    return _enact(call, decision, before, decided_at=prepared.decided_at)


def _load_permitted(call: Write[Any], is_allowed: Permission) -> LoadedTournament:
    tournament_id = call.ids[TOURNAMENT]
    host: str | None = None
    if call.is_preparation:
        before = loaded.load_with_revision(call.db, tournament_id)
    else:
        before, host = loaded.load_with_host(call.transaction, tournament_id)
    if not is_allowed(call.caller, before.tournament):
        raise NotAllowed
    # Only those who may change it learn that it is run elsewhere.
    loaded.refuse_mirror(host)
    return before


def _enact(
    call: Write[Any], decision: Decision, before: LoadedTournament, decided_at: datetime | None = None
) -> Tournament:
    context = action_context(call)
    return enact.enact(
        call.transaction,
        call.ids[TOURNAMENT],
        decision.changes,
        context if decided_at is None else replace(context, now=decided_at),
        dice_seed=decision.dice_seed,
        extra_entries=decision.notes,
        before=before,
    )


def _decision(result: Decision | Sequence[Change]) -> Decision:
    return result if isinstance(result, Decision) else Decision(result)
