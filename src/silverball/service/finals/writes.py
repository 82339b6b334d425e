"""Changes to the finals of a tournament, and to a final that follows its source."""

from typing import Any

from silverball.kit.errors import Invalid
from silverball.rules.commands import finals
from silverball.rules.model.changes import Change
from silverball.rules.model.finals import FinalSource
from silverball.rules.model.tournament import Entrant, Tournament
from silverball.rules.registry import FORMATS
from silverball.service.core import commands
from silverball.service.core.calls import Write
from silverball.service.finals import reads
from silverball.service.finals.bodies import FollowSource, PlannedFinals
from silverball.service.players import reads as player_reads
from silverball.service.tournaments import configuration


def plan_finals(call: Write[PlannedFinals]) -> Tournament:
    """Set the finals of the tournament in the path."""
    steps = [final.step for final in call.body.steps]
    for number, step in enumerate(steps):
        if step.type not in FORMATS:
            raise Invalid({f"steps.{number}.type": [f"There is no format {step.type}."]})
        # Raises Invalid for a setting that its format does not have.
        configuration.build_settings(step.type, step.settings, prefix=f"steps.{number}.settings.")
    return commands.run_command(call, lambda tournament: finals.plan_finals(tournament, steps))


def follow_source(call: Write[FollowSource]) -> Tournament:
    """Take over what the source of a final gives now, as one action."""

    def rule(final: Tournament) -> list[Change]:
        source = final.state.final_source
        if not isinstance(source, FinalSource):
            raise finals.NoSourceToFollow
        rows = reads.rows_of_source(call.db, source, call.caller)
        if rows is None:
            raise finals.NoSourceToFollow
        chosen = finals.with_filling(source, fills_up=call.body.next_in_line)
        found = finals.difference(final, chosen, rows)
        new = _new_entrants(call, found.entering)
        return finals.follow_source(final, found, new, fills_up=call.body.next_in_line)

    return commands.run_command(call, rule)


def _new_entrants(call: Write[Any], player_ids: tuple[int, ...]) -> list[Entrant]:
    """Entrants for players of the organizer's book. Raises Invalid for one who is not in it any more."""
    listed = player_reads.existing_players(call.db, player_ids, call.caller)
    known = {player.player_id: player for player in listed}
    missing = [player_id for player_id in player_ids if player_id not in known]
    if missing:
        raise Invalid({"players": [f"There is no player {missing[0]} any more."]})
    return [Entrant(player_id=player_id, user_id=known[player_id].claimed_by) for player_id in player_ids]
