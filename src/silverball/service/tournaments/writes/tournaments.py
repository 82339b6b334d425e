"""Changes to a whole tournament by its organizer. Source: interface.md 3; formats, section 2."""

from collections.abc import Mapping
from datetime import datetime
from random import Random
from typing import Any

from msgspec import UNSET
from sqlalchemy import delete
from sqlalchemy.exc import IntegrityError

from silverball.kit.errors import Conflict, NotAllowed
from silverball.kit.http.body import Body
from silverball.kit.http.endpoints import TOURNAMENT
from silverball.kit.values import replace
from silverball.rules.commands import closing
from silverball.rules.commands import tournament as tournament_commands
from silverball.rules.mechanics import entries
from silverball.rules.model import fields
from silverball.rules.model.apply import apply_changes
from silverball.rules.model.changes import Change, DrawRemembered, TournamentEdited, tournament_changes
from silverball.rules.model.engine_state import EngineState
from silverball.rules.model.settings import TournamentSettings
from silverball.rules.model.tournament import Tournament
from silverball.rules.registry import FORMATS
from silverball.rules.scoring import point_maps
from silverball.service import access
from silverball.service.calls import Write
from silverball.service.core import commands, enact, loaded
from silverball.service.core.commands import Decision, Draw, DryRun
from silverball.service.core.enact import ActionContext
from silverball.service.tournaments import configuration
from silverball.service.tournaments.bodies import (
    ChangedTournamentFields,
    Completion,
    NewTournamentFields,
    UndoRequest,
    sent_settings,
)
from silverball.service.tournaments.reads import belongings, described, idling, series_facts
from silverball.store import account_quotas, announcements, revisions, statements, tables
from silverball.store.transaction import Transaction

CREATOR_ROLES = ("organizer", "admin")
SEED_BITS = 128
NAMED_MAX = 3


class NotAnOrganizer(NotAllowed):
    sentence = "Only organizers create tournaments. Ask the admin of this site to make you one."


class UndoBlocked(Conflict):
    sentence = "This action cannot be undone any more: something that it would restore is gone or in use."


class StartedTournamentDeleted(Conflict):
    sentence = "Only a planned tournament can be deleted, and this one has started."


class TournamentLinked(Conflict):
    sentence = "Tournament {tournaments} links to this one. Remove the link there first."


def create_tournament(call: Write[NewTournamentFields], dice: Random) -> Tournament:
    """Create a tournament of the caller. All its draws derive from `dice`, so no one can predict them."""
    if call.caller.role not in CREATOR_ROLES:
        raise NotAnOrganizer
    limit = call.settings.tournaments_per_account
    account_quotas.require_room_for_tournament(call.db, call.user_id, limit)
    body = call.body
    settings = configuration.build_settings(body.type, sent_settings(body))
    before = blank_details(call.user_id, call.now)
    details = described.merge_details(call.db, body, before, None)
    rows = None if body.tiebreaker_points_map is UNSET else body.tiebreaker_points_map
    new = planned_tournament(
        body.type, settings, details, dice, tiebreakers=configuration.tiebreaker_map(rows)
    )
    return enact.create_tournament(call.transaction, new, commands.action_context(call), dice)


def blank_details(organizer_id: int, now: datetime) -> dict[str, Any]:
    """The details of a tournament before any field is set; it starts now."""
    local = now.strftime("%Y-%m-%d %H:%M:%S")
    return {
        **fields.blank_details(),
        "name": "",
        "organizer_id": organizer_id,
        "start_utc": now.isoformat(),
        "start_local": local,
    }


def planned_tournament(
    type_: str,
    settings: TournamentSettings,
    details: Mapping[str, Any],
    dice: Random,
    *,
    tiebreakers: point_maps.WireRows = point_maps.TIEBREAKER,
) -> Tournament:
    """A planned tournament without an id. Raises Invalid for points that its format cannot have."""
    format_ = FORMATS[type_]
    return Tournament(
        tournament_id=0,
        type=format_.type,
        status="planned",
        settings=settings,
        entrants=(),
        points_map=configuration.points_map(type_, settings, details["points_map_custom"]),
        tiebreaker_points_map=tiebreakers,
        has_entry_limits=_has_entry_limits(details),
        state=EngineState(dice_seed=_new_seed(dice)),
        details={**details, "primary_config_settings": list(format_.primary_settings)},
    )


def _new_seed(dice: Random) -> str:
    return f"{dice.getrandbits(SEED_BITS):032x}"


def _has_entry_limits(details: Mapping[str, Any]) -> bool:
    return bool((details["entry_configuration"] or {}).get("limited"))


def edit_tournament(call: Write[ChangedTournamentFields]) -> Tournament:
    """Change settings, texts, times and references, as far as the status allows."""
    return commands.run_command(call, lambda tournament: _edit_changes(call, tournament))


def _edit_changes(call: Write[ChangedTournamentFields], tournament: Tournament) -> list[Change]:
    body = call.body
    sent = [name for name in ChangedTournamentFields.__struct_fields__ if getattr(body, name) is not UNSET]
    configuration.refuse_when_completed(tournament, sent)
    settings = configuration.changed_settings(tournament, sent_settings(body))
    details = described.merge_details(call.db, body, tournament.details, tournament.tournament_id)
    tiebreakers = tournament.tiebreaker_points_map
    if body.tiebreaker_points_map is not UNSET:
        tiebreakers = configuration.changed_tiebreakers(tournament, body.tiebreaker_points_map)
    return tournament_changes(
        TournamentEdited,
        tournament,
        settings=settings,
        details=details,
        points_map=configuration.changed_points_map(tournament, settings, details["points_map_custom"]),
        tiebreaker_points_map=tiebreakers,
        has_entry_limits=_has_entry_limits(details),
    )


def prepare_start(call: Write[Body]) -> Draw:
    """Read what the draw of the start needs; returns the draw."""
    before = commands.load_snapshot(call)
    informed = series_facts.with_seed_facts(call.db, commands.as_drawn(call, before.tournament))
    informed = series_facts.with_series_facts(call.db, informed)
    return lambda: DryRun(before.revision, call.now, _start_decision(informed, call.now))


def start_tournament(call: Write[Body]) -> Tournament:
    """Start the tournament with the prepared draw."""
    commands.load_tournament(call)
    return commands.commit_dry_run(call)


def _start_decision(informed: Tournament, now: datetime) -> Decision:
    dice, seed = tournament_commands.dice_for(informed, "start")
    changes = tournament_commands.start(informed, dice, now)
    started = apply_changes(informed, changes)
    entry_changes = entries.give_entries(started, started.active_ids, entries.automatic_entries(started), now)
    return Decision([*changes, *entry_changes], seed, commands.draw_notes(informed))


def complete_tournament(call: Write[Completion]) -> Tournament:
    """Complete the tournament, with an open round kept as far as it is finished, or dropped."""
    drops = call.body.open_round == "drop"
    return commands.run_command(
        call,
        lambda tournament: closing.complete(tournament, call.now, drops_open_round=drops),
    )


def reopen_tournament(call: Write[Body], dice: Random) -> Tournament:
    """Reopen the tournament; the draws that follow have a new seed, because the old one is revealed."""

    def rule(tournament: Tournament) -> Decision:
        changes = tournament_commands.reopen(tournament)
        if not tournament.state.dice_seed:
            # It was imported, and its draws were made elsewhere.
            return Decision(changes)
        reopened = apply_changes(tournament, changes)
        state = replace(reopened.state, dice_seed=_new_seed(dice))
        seeded = tournament_changes(DrawRemembered, reopened, state=state)
        return Decision([*changes, *seeded], notes=enact.commitment_notes(state.dice_seed))

    return commands.run_command(call, rule)


def undo_action(call: Write[UndoRequest]) -> Tournament:
    """Undo the newest action. Raises Conflict for any other, and when it cannot be undone any more."""
    commands.load_tournament(call)
    try:
        undone = enact.undo_action(
            call.transaction, call.ids[TOURNAMENT], call.body.action, commands.action_context(call)
        )
        statements.send(call.db)
    except IntegrityError as error:
        raise UndoBlocked from error
    return undone


def delete_tournament(call: Write[Body]) -> None:
    """Delete a planned tournament with all its parts. Raises Conflict for a started one."""
    tournament = commands.load_tournament(call, access.owns)
    if tournament.status != "planned":
        raise StartedTournamentDeleted
    linking = belongings.linking_tournaments(call.db, tournament.tournament_id)
    if linking:
        ids_text = ", ".join(str(tournament_id) for tournament_id in linking[:NAMED_MAX])
        raise TournamentLinked(tournaments=ids_text)
    remove_tournament(call.transaction, tournament.tournament_id)


def remove_tournament(transaction: Transaction, tournament_id: int) -> None:
    """Delete the rows of a tournament whatever its status, and end its channel. Nothing may link to it."""
    # A new revision makes readers load it again and receive a 404.
    revisions.raise_tournaments(transaction, [tournament_id])
    own = tables.tournament.c.tournament_id == tournament_id
    transaction.connection.execute(delete(tables.tournament).where(own))
    announcements.end_channel(transaction, tournament_id)


def complete_if_idle(transaction: Transaction, tournament_id: int, source: str, now: datetime) -> bool:
    """Complete a tournament without activity for two days, as of its last activity.

    Returns whether it was idle; it may have been active since it was listed. Source: formats, section 23.
    """
    db = transaction.connection
    touched_at = idling.last_activity(db, tournament_id, now)
    if touched_at is None:
        return False
    tournament = loaded.load_tournament(db, tournament_id)
    context = ActionContext(actor_id=None, source=source, now=now)
    try:
        enact.enact(transaction, tournament_id, closing.complete(tournament, touched_at), context)
    except loaded.RunElsewhere:
        # A mirror is completed where it is run.
        return False
    return True
