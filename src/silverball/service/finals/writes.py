"""Changes to the finals of a tournament, and to a final that follows its source."""

from random import Random
from typing import Any

from msgspec import UnsetType

from silverball.kit.errors import Invalid
from silverball.kit.values import replace
from silverball.rules.commands import finals
from silverball.rules.commands import tournament as tournament_commands
from silverball.rules.model.apply import apply_changes
from silverball.rules.model.changes import Change, EntrantAdded
from silverball.rules.model.finals import FinalSource, FinalStep
from silverball.rules.model.tournament import Entrant, Tournament
from silverball.rules.registry import FORMATS
from silverball.service.core import access, commands, enact
from silverball.service.core.calls import Write
from silverball.service.finals import reads
from silverball.service.finals.bodies import FollowSource, NewSeriesFinal, PlannedFinals
from silverball.service.players import reads as player_reads
from silverball.service.series import reads as series_reads
from silverball.service.tournaments import configuration
from silverball.service.tournaments import writes as tournaments_writes
from silverball.store.counts import quotas
from silverball.store.people import book


def plan_finals(call: Write[PlannedFinals]) -> Tournament:
    """Set the finals of the tournament in the path."""
    steps = [final.step for final in call.body.steps]
    for number, step in enumerate(steps):
        if step.type not in FORMATS:
            raise Invalid({f"steps.{number}.type": [f"There is no format {step.type}."]})
        # Raises Invalid for a setting that its format does not have.
        configuration.build_settings(step.type, step.settings, prefix=f"steps.{number}.settings.")
    return commands.run_command(call, lambda tournament: finals.plan_finals(tournament, steps))


def create_series_final(call: Write[NewSeriesFinal], dice: Random) -> Tournament:
    """Create a planned final for the best of the series in the path, which it follows.

    Raises Conflict when players are tied at the cutoff, which naming the players settles.
    """
    series_id, step = access.owned_id_in_path(call, book.SERIES), call.body.step
    series = series_reads.find_series(call.db, series_id, call.caller)
    quotas.require_room_for_tournament(call.db, call.user_id, call.settings.tournaments_per_account)
    source = _drawn_source(call, series_id, step, dice)
    settings = dict(step.settings)
    if "seeding" in FORMATS[step.type].settings.__struct_encode_fields__:
        settings.setdefault("seeding", "manual")
    built = configuration.build_settings(step.type, settings, prefix="settings.")
    details = tournaments_writes.blank_details(call.user_id, call.now)
    name = f"{series.name}: final"[: tournaments_writes.NAME_CHARACTERS_MAX]
    details["name"] = name if isinstance(call.body.name, UnsetType) else call.body.name
    planned = tournaments_writes.planned_tournament(step.type, built, details, dice)
    planned = replace(planned, state=replace(planned.state, final_source=source))
    context = commands.action_context(call)
    created = enact.create_tournament(call.transaction, planned, context, dice)
    changes: list[Change] = [
        EntrantAdded(replace(entrant, place=place, seed_value=place + 1))
        for place, entrant in enumerate(_new_entrants(call, source.seeded))
    ]
    changes += FORMATS[step.type].fit_to_players(apply_changes(created, changes))
    enact.enact(call.transaction, created.tournament_id, changes, context)
    return created


def _drawn_source(call: Write[NewSeriesFinal], series_id: int, step: FinalStep, dice: Random) -> FinalSource:
    """Who goes on from the table of the series, best seed first; ties inside are drawn."""
    body = call.body
    if step.players is None:
        finals.check_step(step, "")
    rows = reads.rows_of_series(call.db, series_id, body.nights_min, call.caller)
    cut = finals.cut_of(rows, (step,))
    is_named = isinstance(body.players, tuple)
    if isinstance(body.players, tuple):
        chosen = tournaments_writes.named_qualifiers(rows, body.players)
    elif cut.last < (step.players or 0):
        raise Invalid({"players": [f"Only {len(rows)} players are in the table of the series."]})
    elif cut.tied:
        raise tournaments_writes.TiedAtCutoff(place=cut.last, players=cut.tied)
    else:
        chosen = list(cut.rows[: cut.last])
    finals.check_number(FORMATS[step.type], len(chosen), "players")
    seeded = tuple(tournament_commands.seed_players(chosen, dice))
    return FinalSource(
        series_id=series_id,
        nights_min=body.nights_min,
        steps=(step,),
        given=cut.player_ids if is_named else seeded,
        seeded=seeded,
    )


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
