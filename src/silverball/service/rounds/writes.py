"""Rounds drawn, changed, completed and deleted."""

from typing import Any

from msgspec import UnsetType

from silverball.kit.http.body import Body
from silverball.kit.http.endpoints import PreparationOutdated
from silverball.rules.commands import single_player as single_player_commands
from silverball.rules.commands import tournament as tournament_commands
from silverball.rules.mechanics import rounds
from silverball.rules.model.apply import apply_changes
from silverball.rules.model.tournament import Tournament
from silverball.service.calls import Write
from silverball.service.core import commands, loaded
from silverball.service.core.commands import Decision, Draw, DryRun
from silverball.service.core.enact import JournalEntries
from silverball.service.games.reads import games
from silverball.service.games.reads.games import TournamentGamesQuery
from silverball.service.rounds import drafts, reads
from silverball.service.rounds.bodies import NewRound, RoundPatch
from silverball.service.tournaments.reads import series_facts
from silverball.store import draw_previews, journal
from silverball_wire.rounds import DrawnRound, Round

TOURNAMENT, ROUND = "tournament_id", "round_id"


def prepare_round(call: Write[NewRound]) -> Draw:
    """Read what the draw of the next round needs; returns the draw."""
    before = commands.load_snapshot(call)
    informed = series_facts.with_series_facts(call.db, commands.as_drawn(call, before.tournament))
    return lambda: DryRun(before.revision, call.now, _round_decision(call, before.tournament, informed))


def _round_decision(call: Write[NewRound], tournament: Tournament, informed: Tournament) -> Decision:
    draw = tournament_commands.next_draw_name(tournament)
    changes = tournament_commands.request_redraw(tournament, draw) if call.body.redraw else []
    current = apply_changes(tournament, changes)
    informed = series_facts.with_facts_of(informed, current)
    decision = commands.decide_by_draw(
        current, draw, lambda dice: tournament_commands.open_round(informed, dice, call.now)
    )
    return Decision([*changes, *decision.changes], decision.dice_seed, commands.draw_notes(informed))


def open_round(call: Write[NewRound]) -> DrawnRound:
    """Open the next round with its games; a dry run stores nothing."""
    tournament_id = call.ids[TOURNAMENT]
    if call.body.dry_run:
        dry_run: DryRun = call.preparation
        current = loaded.load_for_change(call.transaction, tournament_id)
        if current.revision != dry_run.revision:
            raise PreparationOutdated
        draw_previews.count_preview(
            call.db, tournament_id, tournament_commands.next_draw_name(current.tournament)
        )
        return drafts.drawn_round(apply_changes(current.tournament, dry_run.decision.changes))
    newest = commands.commit_dry_run(call, _preview_notes(call)).newest_round
    assert newest is not None
    query = TournamentGamesQuery(round=str(newest.round_id))
    return DrawnRound(
        data=reads.find_round(call.db, tournament_id, newest.round_id),
        games=games.games_in_tournament(call.db, tournament_id, query),
    )


def _preview_notes(call: Write[NewRound]) -> JournalEntries:
    """The journal entry that says how often the draw was looked at before; none when it never was."""
    tournament_id = call.ids[TOURNAMENT]
    current = loaded.load_for_change(call.transaction, tournament_id).tournament
    looks = draw_previews.take_count(call.db, tournament_id, tournament_commands.next_draw_name(current))
    return [(journal.DRAW_PREVIEWED, {"times": looks})] if looks else ()


def change_round(call: Write[RoundPatch]) -> Round:
    """Change the arena and the target of a round; omitted fields stay."""
    round_id, body = call.ids[ROUND], call.body

    def rule(tournament: Tournament) -> Any:
        round_ = rounds.find_round(tournament, round_id)
        return single_player_commands.set_round(
            tournament,
            round_id,
            arena_id=round_.arena_id if isinstance(body.arena_id, UnsetType) else body.arena_id,
            score=round_.score if isinstance(body.score, UnsetType) else body.score,
            now=call.now,
        )

    commands.run_command(call, rule)
    return _current_round(call)


def complete_round(call: Write[Body]) -> Round:
    """Complete a round whose games all have results."""
    commands.run_command(
        call, lambda tournament: tournament_commands.complete_round(tournament, call.ids[ROUND], call.now)
    )
    return _current_round(call)


def delete_round(call: Write[Body]) -> Round:
    """Delete the newest round; returns its last state."""
    rounds.find_round(commands.load_tournament(call), call.ids[ROUND])
    deleted = _current_round(call)
    commands.run_command(
        call, lambda tournament: tournament_commands.delete_round(tournament, call.ids[ROUND])
    )
    return deleted


def _current_round(call: Write[Any]) -> Round:
    return reads.find_round(call.db, call.ids[TOURNAMENT], call.ids[ROUND])
