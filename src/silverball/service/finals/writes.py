"""Changes to the finals of a tournament, and to a final that follows its source."""

from collections.abc import Callable
from typing import Any

from silverball.rules.commands import finals
from silverball.rules.model.changes import Change
from silverball.rules.model.finals import FinalSource, FinalStep
from silverball.rules.model.tournament import Tournament
from silverball.service.core import commands
from silverball.service.core.calls import Write
from silverball.service.finals import reads
from silverball.service.finals.bodies import (
    FinalToTakeOut,
    FollowSource,
    NewFinal,
    PlannedFinals,
)
from silverball.service.tournaments import configuration


def plan_finals(call: Write[PlannedFinals]) -> Tournament:
    """Set the finals of the tournament in the path."""
    steps = tuple(final.step for final in call.body.steps)
    configuration.check_finals(steps, "steps")
    return commands.run_command(call, lambda tournament: finals.plan_finals(tournament, steps))


def add_final(call: Write[NewFinal]) -> Tournament:
    """Add a step behind those that are planned."""
    return _change_steps(call, lambda steps: (*steps, call.body.step))


def take_final_out(call: Write[FinalToTakeOut]) -> Tournament:
    """Take a step out; no change for one that is not there."""
    out = call.body.index
    return _change_steps(call, lambda steps: tuple(step for at, step in enumerate(steps) if at != out))


def _change_steps(
    call: Write[Any], change: Callable[[tuple[FinalStep, ...]], tuple[FinalStep, ...]]
) -> Tournament:
    return commands.run_command(
        call, lambda tournament: finals.plan_finals(tournament, change(tournament.state.planned_finals))
    )


def follow_source(call: Write[FollowSource]) -> Tournament:
    """Take over what the source of a final gives now, as one action."""

    def rule(final: Tournament) -> list[Change]:
        source = final.state.final_source
        if not isinstance(source, FinalSource):
            raise finals.NoSourceToFollow
        rows = reads.rows_of_source(call.db, final, source, call.caller)
        if rows is None:
            raise finals.NoSourceToFollow
        chosen = finals.with_filling(source, fills_up=call.body.next_in_line)
        found = finals.difference(final, chosen, rows)
        new = reads.new_entrants(call.db, found.entering, call.caller)
        return finals.follow_source(final, found, new, fills_up=call.body.next_in_line)

    return commands.run_command(call, rule)
