"""Changes to a whole tournament by its organizer. Source: interface.md 3; formats, section 2."""

from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from random import Random
from typing import Any

import msgspec
from msgspec import UNSET, Struct, UnsetType
from sqlalchemy import delete
from sqlalchemy.exc import IntegrityError

from silverball.kit.errors import Conflict, Invalid, NotAllowed, Sentence
from silverball.kit.http.body import Body
from silverball.kit.http.endpoints import TOURNAMENT, PreparationOutdated
from silverball.kit.http.fields import Id
from silverball.kit.values import convert, replace
from silverball.rules.commands import finals
from silverball.rules.commands import roster as roster_commands
from silverball.rules.commands import tournament as tournament_commands
from silverball.rules.mechanics import attempts
from silverball.rules.model import fields
from silverball.rules.model.apply import apply_changes
from silverball.rules.model.changes import (
    ArenaAdded,
    Change,
    EntrantAdded,
    ScorekeeperAdded,
    TournamentEdited,
    tournament_changes,
)
from silverball.rules.model.finals import FinalSource, FinalStep
from silverball.rules.model.settings import TournamentSettings
from silverball.rules.model.settings_protocols import playoff_bands_of
from silverball.rules.model.tournament import EngineState, Entrant, LineupArena, Tournament
from silverball.rules.ranking.standing import Standing
from silverball.rules.registry import FORMATS
from silverball.rules.scoring import point_maps
from silverball.service.core import access, commands, enact, loaded, sign_up_taking
from silverball.service.core.calls import Write
from silverball.service.core.commands import Decision, Draw, DryRun
from silverball.service.core.enact import ActionContext
from silverball.service.finals import reads as final_reads
from silverball.service.finals.bodies import NewSeriesFinal
from silverball.service.money import reads as money_reads
from silverball.service.roster import reads as roster_reads
from silverball.service.series import reads as series_reads
from silverball.service.tournaments import configuration
from silverball.service.tournaments.bodies import (
    ChangedTournament,
    ChangedTournamentFields,
    Completion,
    NewNightFields,
    NewPlayoffs,
    NewTournamentFields,
    TournamentLink,
    UndoRequest,
    sent_settings,
)
from silverball.service.tournaments.reads import listing, series_facts, tournaments
from silverball.store import tables
from silverball.store.counts import quotas
from silverball.store.database import statements
from silverball.store.database.transaction import Transaction
from silverball.store.people import book
from silverball.store.revisions import revisions
from silverball.store.revisions.stamps import Revision
from silverball.store.tournament import announcements, code_secrets, sign_up_requests
from silverball.store.tournament.loaded import LoadedTournament
from silverball_wire import base
from silverball_wire.values import LinkType

CREATOR_ROLES = ("organizer", "admin")
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
    quotas.require_room_for_tournament(call.db, call.user_id, limit)
    body = call.body
    settings = configuration.build_settings(body.type, sent_settings(body))
    before = blank_details(call.user_id, call.now)
    details = tournaments.merge_details(call.db, body, before, None)
    rows = None if body.tiebreaker_points_map is UNSET else body.tiebreaker_points_map
    new = planned_tournament(
        body.type, settings, details, dice, tiebreakers=configuration.tiebreaker_map(rows)
    )
    if body.finals:
        steps = tuple(final.step for final in body.finals)
        configuration.check_finals(steps, "finals")
        new = replace(new, state=replace(new.state, finals=steps))
    return enact.create_tournament(call.transaction, new, commands.action_context(call), dice)


def blank_details(organizer_id: int, now: datetime) -> dict[str, Any]:
    """The details of a tournament before any field is set; it starts now."""
    local = now.strftime("%Y-%m-%d %H:%M:%S")
    return fields.blank_details(
        {"name": "", "organizer_id": organizer_id, "start_utc": now.isoformat(), "start_local": local}
    )


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
        state=EngineState(dice_seed=enact.new_seed(dice)),
        details={**details, "primary_config_settings": list(format_.primary_settings)},
    )


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
    details = tournaments.merge_details(call.db, body, tournament.details, tournament.tournament_id)
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
    if any(position is None for _, position in money_reads.untaken(call.db, before.tournament)):
        # They are taken first, in the transaction of the start.
        return lambda: DryRun(before.revision, call.now)
    informed = _with_facts_to_start(call, commands.as_drawn(call, before.tournament))
    return lambda: DryRun(before.revision, call.now, _start_decision(informed, call.now))


def _with_facts_to_start(call: Write[Body], tournament: Tournament) -> Tournament:
    return series_facts.with_series_facts(call.db, series_facts.with_seed_facts(call.db, tournament))


def start_tournament(call: Write[Body]) -> Tournament:
    """Start the tournament with the prepared draw; who signed up and has a place is taken first."""
    if commands.load_tournament(call).status == "planned" and sign_up_taking.take_all(call):
        return commands.run_command(
            call, lambda tournament: _start_decision(_with_facts_to_start(call, tournament), call.now)
        )
    prepared: DryRun = call.preparation
    if not prepared.decision.changes:
        # Those who were to be taken are gone.
        raise PreparationOutdated
    return commands.commit_dry_run(call)


def _start_decision(informed: Tournament, now: datetime) -> Decision:
    dice, seed = tournament_commands.dice_for(informed, "start")
    changes = tournament_commands.start(informed, dice, now)
    started = apply_changes(informed, changes)
    entry_changes = attempts.give_entries(
        started, started.active_ids, attempts.automatic_entries(started), now
    )
    return Decision([*changes, *entry_changes], seed, commands.draw_notes(informed))


def complete_tournament(call: Write[Completion]) -> Tournament:
    """Complete the tournament, with an open round kept as far as it is finished, or dropped."""
    drops = call.body.open_round == "drop"
    completed = commands.run_command(
        call,
        lambda tournament: tournament_commands.complete(tournament, call.now, drops_open_round=drops),
    )
    sign_up_requests.forget(call.db, completed.tournament_id)
    return completed


def reopen_tournament(call: Write[Body], dice: Random) -> Tournament:
    """Reopen the tournament; the draws that follow have a new seed, because the old one is revealed."""
    tournament_id = commands.load_tournament(call).tournament_id
    # In a tournament of an older version the code of the door was made from that seed.
    code_secrets.draw_secret(call.db, tournament_id)

    def rule(tournament: Tournament) -> Decision:
        # The draws of an imported tournament were made elsewhere.
        seed = enact.new_seed(dice) if tournament.state.dice_seed else ""
        return Decision(tournament_commands.reopen(tournament, seed), notes=enact.commitment_notes(seed))

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
    linking = tournaments.linking_tournaments(call.db, tournament.tournament_id)
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
    touched_at = listing.last_activity(db, tournament_id, now)
    if touched_at is None:
        return False
    tournament = loaded.load_tournament(db, tournament_id)
    context = ActionContext(actor_id=None, source=source, now=now)
    try:
        enact.enact(transaction, tournament_id, tournament_commands.complete(tournament, touched_at), context)
    except loaded.RunElsewhere:
        # A mirror is completed where it is run.
        return False
    return True


def create_night(call: Write[NewNightFields], dice: Random) -> Tournament:
    """Create a planned tournament of the caller, with these players and arenas of the book.

    Raises Invalid for a player or an arena that is not in the caller's book any more.
    """
    tournament = create_tournament(call, dice)
    players, arenas = _entrants(call), _lineup_arenas(call)
    # Before the start nothing is drawn, so neither needs dice that can be made again.
    changes: list[Change] = []
    if players:
        changes += roster_commands.add_entrants(tournament, players, dice, call.now)
    if arenas:
        joined = apply_changes(tournament, changes)
        changes += roster_commands.add_arenas(joined, arenas, dice, call.now)
    if changes:
        context = commands.action_context(call)
        enact.enact(call.transaction, tournament.tournament_id, changes, context)
    return tournament


def _entrants(call: Write[NewNightFields]) -> Sequence[Entrant]:
    player_ids = tuple(dict.fromkeys(call.body.player_ids))
    claimed = roster_reads.book_players(call.db, call.user_id, player_ids)
    if len(claimed) < len(player_ids):
        raise Invalid({"playerIds": ["A player is not in your book any more. Reload the page."]})
    return [Entrant(player_id=player_id, user_id=claimed[player_id]) for player_id in player_ids]


def _lineup_arenas(call: Write[NewNightFields]) -> Sequence[LineupArena]:
    arena_ids = tuple(dict.fromkeys(call.body.arena_ids))
    categories = roster_reads.book_arenas(call.db, call.user_id, arena_ids)
    if len(categories) < len(arena_ids):
        raise Invalid({"arenaIds": ["A machine is not in your book any more. Reload the page."]})
    return [LineupArena(arena_id=arena_id, category_id=categories[arena_id]) for arena_id in arena_ids]


class NewTournamentLink(Body, frozen=True, kw_only=True):
    """A tournament to link, and its relation to this one."""

    tournament_id: Id
    link_type: LinkType


class LinkToRemove(Body, frozen=True, kw_only=True):
    """A linked tournament."""

    linked_id: Id


def add_link(call: Write[NewTournamentLink]) -> Any:
    """Link one more tournament."""
    added = TournamentLink(tournament_id=call.body.tournament_id, link_type=call.body.link_type)
    return _replace_links(call, [*_current_links(call), added])


def remove_link(call: Write[LinkToRemove]) -> Any:
    """Remove the link to one tournament. Raises Invalid when there is none."""
    links = _current_links(call)
    remaining = [link for link in links if link.tournament_id != call.body.linked_id]
    if len(remaining) == len(links):
        raise Invalid({"linkedId": ["That tournament is not linked here."]})
    return _replace_links(call, remaining)


def _current_links(call: Write[Any]) -> list[TournamentLink]:
    return [
        TournamentLink(
            tournament_id=link["linked_tournament_id"],
            link_type=link["link_type"],
            link_index=link["link_index"],
        )
        for link in commands.load_tournament(call).details["links"]
    ]


def _replace_links(call: Write[Any], links: list[TournamentLink]) -> Any:
    body = convert({"links": msgspec.to_builtins(links)}, ChangedTournament)
    return edit_tournament(replace(call, body=body))


# Playoffs: a new tournament of the best, seeded by place. Source: formats, section 4.


NAME_CHARACTERS_MAX = 100


class PlayoffsBeforeStart(Conflict):
    sentence = "The tournament has not started, so no player has qualified yet."


class TiedAtCutoff(Conflict):
    sentence = (
        "Tied at the cutoff after place {place}: {players}. "
        "Play a tiebreak, put them in order by hand or draw, or name all qualifiers in players. "
        "Without a game the event counts 100 % at most."
    )


class TiedAtBye(Conflict):
    sentence = (
        "Tied across the bye line after seed {place}: {players}. Play a tiebreak, put them in order by hand, "
        "or draw. Without a game the event counts 100 % at most."
    )


class DrawnQualifiers(Struct, frozen=True):
    """The players of a playoff, best seed first, drawn from the standings of one revision."""

    revision: Revision
    player_ids: Sequence[int]
    title: str
    dice_seed: str
    type: str
    # What the playoff was made from, which it follows until its first result.
    source: FinalSource


def prepare_playoffs(call: Write[NewPlayoffs]) -> Callable[[], DrawnQualifiers]:
    """Read the qualifying tournament; returns the ranking and the draw, which take long for many players."""
    before = commands.load_snapshot(call)
    if before.tournament.status == "planned":
        raise PlayoffsBeforeStart
    _require_room(call, before.tournament)
    return lambda: _draw_qualifiers(call.body, before)


def create_playoffs(call: Write[NewPlayoffs], dice: Random) -> Tournament:
    """Create a planned tournament for the best of the one in the path, linked in both directions.

    Takes the prepared draw, which raised Conflict when players are tied at the cutoff, which naming the
    players settles, or across the line of a bye. Raises PreparationOutdated when the tournament has changed.
    """
    before, drawn = commands.load_snapshot(call), call.preparation
    if before.revision != drawn.revision:
        raise PreparationOutdated
    qualifier = before.tournament
    _require_room(call, qualifier)
    planned = _planned_playoffs(call, qualifier, drawn, dice)
    context = commands.action_context(call)
    playoffs_tournament = enact.create_tournament(call.transaction, planned, context, dice)
    changes = _roster_changes(qualifier, drawn.player_ids)
    changes += FORMATS[planned.type].fit_to_players(apply_changes(playoffs_tournament, changes))
    enact.enact(
        call.transaction, playoffs_tournament.tournament_id, changes, context, dice_seed=drawn.dice_seed
    )
    _link_tournaments(call.transaction, playoffs_tournament, qualifier.tournament_id, "qualifying", context)
    _link_tournaments(call.transaction, qualifier, playoffs_tournament.tournament_id, "playoff", context)
    return playoffs_tournament


def _require_room(call: Write[NewPlayoffs], qualifier: Tournament) -> None:
    organizer_id, limit = qualifier.details["organizer_id"], call.settings.tournaments_per_account
    quotas.require_room_for_tournament(call.db, organizer_id, limit)


def _draw_qualifiers(body: NewPlayoffs, before: LoadedTournament) -> DrawnQualifiers:
    qualifier = before.tournament
    steps = _steps(body, qualifier)
    step = steps[-1]
    rows = tournament_commands.eligible_rows(
        tournament_commands.format_of(qualifier).rank(qualifier), qualifier.active_ids
    )
    chosen = _chosen_rows(body, rows, steps)
    _require_number(body, step.type, len(chosen))
    bye_lines = FORMATS[step.type].bye_lines(_playoff_settings(body, step), len(chosen))
    _require_clear_line(chosen, bye_lines, TiedAtBye)
    # Ties that decide neither are seeded by lot.
    draw, seed = tournament_commands.dice_for(qualifier, f"playoffs {len(qualifier.details['links'])}")
    seeded = tournament_commands.seed_players(chosen, draw)
    given = seeded
    if isinstance(body.players, tuple):
        # Whom the organizer named otherwise than the standings, they put in or took out by hand.
        cut = finals.cut_of(rows, steps)
        inside = set(cut.player_ids)
        given = [each for each in seeded if each in inside]
        given += [each for each in cut.player_ids if each not in given]
    source = FinalSource(
        tournament_id=qualifier.tournament_id, steps=steps, given=tuple(given), seeded=tuple(seeded)
    )
    return DrawnQualifiers(before.revision, seeded, step.name, seed, step.type, source)


def _steps(body: NewPlayoffs, qualifier: Tournament) -> tuple[FinalStep, ...]:
    """The steps up to the final that the body asks for. Raises Invalid."""
    ways = [
        name for name in ("players", "half", "within", "band", "final") if getattr(body, name) is not UNSET
    ]
    if len(ways) != 1:
        sentence = "Send players, half, within, band or final: one of them chooses the qualifiers."
        raise Invalid({"players": [sentence]})
    planned = qualifier.state.planned_finals
    if not isinstance(body.final, UnsetType):
        if body.final >= len(planned):
            raise Invalid({"final": [f"There is no final {body.final} among the steps of this tournament."]})
        steps = planned[: body.final + 1]
        return steps if body.type is UNSET else (*steps[:-1], replace(steps[-1], type=body.type))
    if isinstance(body.type, UnsetType):
        raise Invalid({"type": ["Say the format of the new tournament."]})
    if not isinstance(body.band, UnsetType):
        return _steps_of_bands(qualifier, body.band, body.type)
    players = len(body.players) if isinstance(body.players, tuple) else body.players
    step = FinalStep(
        name="playoffs",
        type=body.type,
        players=None if isinstance(players, UnsetType) else players,
        half=body.half is True,
        within=None if isinstance(body.within, UnsetType) else body.within,
    )
    if step.players is None:
        finals.check_step(step, "")
    return (step,)


def _steps_of_bands(qualifier: Tournament, index: int, type_: str) -> tuple[FinalStep, ...]:
    """The bands up to the one with this index, as steps. Raises Invalid."""
    steps: list[FinalStep] = []
    for band in playoff_bands_of(qualifier.settings):
        steps.append(FinalStep(name=band.text or "playoffs", type=type_, players=band.value))
        if band.index == index:
            return tuple(steps)
    raise Invalid({"band": [f"There is no band {index} in the playoffsCutoffs of this tournament."]})


def _chosen_rows(body: NewPlayoffs, rows: Sequence[Standing], steps: Sequence[FinalStep]) -> list[Standing]:
    """The rows of those who go on. Raises Invalid for too many, and Conflict for a tie across the cut."""
    if isinstance(body.players, tuple):
        return named_qualifiers(rows, body.players)
    wanted = sum(step.players or 0 for step in steps)
    if wanted > len(rows):
        raise Invalid({_way(body): [f"Only {len(rows)} active players are in the standings."]})
    cut = finals.cut_of(rows, steps)
    _require_clear_line(rows, (cut.first, cut.last), TiedAtCutoff)
    return list(rows[cut.first : cut.last])


def _way(body: NewPlayoffs) -> str:
    """The field of the body that chooses the qualifiers."""
    ways = ("half", "within", "band", "final")
    return next((name for name in ways if getattr(body, name) is not UNSET), "players")


def _require_number(body: NewPlayoffs, type_: str, count: int) -> None:
    """Refuse a number of players with which the format cannot start. Raises Invalid."""
    finals.check_number(FORMATS[type_], count, _way(body))


def _require_clear_line(
    rows: Sequence[Standing], lines: Sequence[int], refusal: type[TiedAtCutoff | TiedAtBye]
) -> None:
    """Refuse players who share a place across a line."""
    for line in lines:
        tied = tournament_commands.players_tied_across(rows, line)
        if tied:
            raise refusal(place=line, players=tied)


def named_qualifiers(rows: Sequence[Standing], player_ids: Sequence[int]) -> list[Standing]:
    strangers = sorted(set(player_ids) - {row.player_id for row in rows})
    if strangers:
        raise Invalid({"players": [Sentence("Not active in the standings: {players}.", players=strangers)]})
    if len(set(player_ids)) != len(player_ids):
        raise Invalid({"players": ["Name every player once."]})
    return [row for row in rows if row.player_id in set(player_ids)]


def _planned_playoffs(
    call: Write[NewPlayoffs], qualifier: Tournament, drawn: DrawnQualifiers, dice: Random
) -> Tournament:
    settings = _playoff_settings(call.body, drawn.source.steps[-1])
    name = call.body.name
    if name is UNSET:
        name = f"{qualifier.details['name']}: {drawn.title}"[:NAME_CHARACTERS_MAX]
    before = blank_details(qualifier.details["organizer_id"], call.now)
    details = {**before, **_inherited_details(qualifier), "name": name}
    details["start_local"] = base.local(call.now, details["timezone"])
    planned = planned_tournament(drawn.type, settings, details, dice)
    return replace(planned, state=replace(planned.state, final_source=drawn.source))


def _playoff_settings(body: NewPlayoffs, step: FinalStep) -> Any:
    settings_sent = {**step.settings, **({} if body.settings is UNSET else body.settings)}
    if "seeding" in FORMATS[step.type].settings.__struct_encode_fields__:
        settings_sent.setdefault("seeding", "manual")
    return configuration.build_settings(step.type, settings_sent, prefix="settings.")


def _inherited_details(qualifier: Tournament) -> Mapping[str, Any]:
    return {name: qualifier.details[name] for name in fields.DETAILS_INHERITED if name in qualifier.details}


def _roster_changes(qualifier: Tournament, player_ids: Sequence[int]) -> list[Change]:
    """Changes that add the players by seed, the active arenas, and the scorekeepers."""
    arenas = [arena for arena in qualifier.lineup if arena.is_active]
    changes: list[Change] = []
    for seed, player_id in enumerate(player_ids, start=1):
        qualified = qualifier.entrant_by_id[player_id]
        changes.append(
            EntrantAdded(
                Entrant(
                    player_id=player_id,
                    place=seed - 1,
                    seed_value=seed,
                    user_id=qualified.user_id,
                    labels=qualified.labels,
                    label_color=qualified.label_color,
                )
            )
        )
    changes += [
        ArenaAdded(replace(arena, place=place, is_blocked=False, is_queue_closed=False))
        for place, arena in enumerate(arenas)
    ]
    return [*changes, *(ScorekeeperAdded(scorekeeper) for scorekeeper in qualifier.scorekeepers)]


def _link_tournaments(
    transaction: Transaction, source: Tournament, target_id: int, link_type: str, context: enact.ActionContext
) -> None:
    db = transaction.connection
    tournament = loaded.load_tournament(db, source.tournament_id)
    new = {"linked_tournament_id": target_id, "link_type": link_type, "link_index": None}
    links = [*tournament.details["links"], *tournaments.link_details(db, [new], tournament.tournament_id)]
    changes = tournament_changes(TournamentEdited, tournament, details={**tournament.details, "links": links})
    enact.enact(transaction, tournament.tournament_id, changes, context)


def create_series_final(call: Write[NewSeriesFinal], dice: Random) -> Tournament:
    """Create a planned final for the best of the series in the path, which it follows.

    Raises Conflict when players are tied at the cutoff or across the line of a bye, which naming the players
    in their order settles.
    """
    series_id, step = access.owned_id_in_path(call, book.SERIES), call.body.steps[-1]
    series = series_reads.find_series(call.db, series_id, call.caller)
    quotas.require_room_for_tournament(call.db, call.user_id, call.settings.tournaments_per_account)
    settings = dict(step.settings)
    if "seeding" in FORMATS[step.type].settings.__struct_encode_fields__:
        settings.setdefault("seeding", "manual")
    built = configuration.build_settings(step.type, settings, prefix="settings.")
    source = _drawn_source(call, series_id, built, dice)
    details = blank_details(call.user_id, call.now)
    name = f"{series.name}: final"[:NAME_CHARACTERS_MAX]
    details["name"] = name if isinstance(call.body.name, UnsetType) else call.body.name
    planned = planned_tournament(step.type, built, details, dice)
    planned = replace(planned, state=replace(planned.state, final_source=source))
    context = commands.action_context(call)
    created = enact.create_tournament(call.transaction, planned, context, dice)
    changes: list[Change] = [
        EntrantAdded(replace(entrant, place=place, seed_value=place + 1))
        for place, entrant in enumerate(final_reads.new_entrants(call.db, source.seeded, call.caller))
    ]
    changes += FORMATS[step.type].fit_to_players(apply_changes(created, changes))
    enact.enact(call.transaction, created.tournament_id, changes, context)
    return created


def _drawn_source(
    call: Write[NewSeriesFinal], series_id: int, settings: TournamentSettings, dice: Random
) -> FinalSource:
    """The places of the series' table that go on, best seed first; ties that decide nothing are drawn."""
    body = call.body
    step = body.steps[-1]
    if step.players is None:
        finals.check_step(step, "")
    rows = final_reads.rows_of_series(call.db, series_id, body.nights_min, call.caller)
    cut = finals.cut_of(rows, body.steps)
    if isinstance(body.players, tuple):
        chosen = named_qualifiers(rows, body.players)
        order = {player_id: at for at, player_id in enumerate(body.players)}
        chosen.sort(key=lambda row: (row.position, order[row.player_id]))
        seeded = [row.player_id for row in chosen]
    else:
        if cut.last < body.after + (step.players or 0):
            raise Invalid({"players": [f"Only {len(rows)} players are in the table of the series."]})
        if cut.tied:
            raise TiedAtCutoff(place=cut.last, players=cut.tied)
        chosen = list(cut.rows[cut.first : cut.last])
        seeded = tournament_commands.seed_players(chosen, dice)
    finals.check_number(FORMATS[step.type], len(chosen), "players")
    if not isinstance(body.players, tuple):
        _require_clear_line(chosen, FORMATS[step.type].bye_lines(settings, len(chosen)), TiedAtBye)
    inside = set(cut.player_ids)
    given = [player_id for player_id in seeded if player_id in inside]
    return FinalSource(
        series_id=series_id,
        nights_min=body.nights_min,
        steps=body.steps,
        given=(*given, *(player_id for player_id in cut.player_ids if player_id not in given)),
        seeded=tuple(seeded),
    )
