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
from silverball.service.core import commands, enact
from silverball.service.core.commands import Decision, DryRun
from silverball.service.games.reads import games
from silverball.service.games.reads.games import TournamentGamesQuery
from silverball.service.rounds import drafts, reads
from silverball.service.rounds.bodies import NewRound, RoundPatch
from silverball.service.tournaments.reads import series_facts
from silverball.wire.rounds import DrawnRound, Round

TOURNAMENT, ROUND = "tournament_id", "round_id"


def prepare_round(call: Write[NewRound]) -> DryRun:
    """The draw, made of a snapshot: it may take long."""
    return commands.dry_run(call, lambda t: _round_decision(call, t))


def _round_decision(call: Write[NewRound], tournament: Tournament) -> Decision:
    draw = tournament_commands.next_draw_name(tournament)
    changes = tournament_commands.request_redraw(tournament, draw) if call.body.redraw else []
    current = apply_changes(tournament, changes)
    informed = series_facts.with_series_facts(call.db, current)
    made = commands.decide_by_draw(
        current, draw, lambda dice: tournament_commands.open_round(informed, dice, call.now)
    )
    return Decision([*changes, *made.changes], made.dice_seed)


def open_round(call: Write[NewRound]) -> DrawnRound:
    """The next round with its games; of a dry run nothing is kept."""
    tournament_id = call.ids[TOURNAMENT]
    if call.body.dry_run:
        seen: DryRun = call.preparation
        kept = enact.load_for_change(call.transaction, tournament_id)
        if kept.revision != seen.revision:
            raise PreparationOutdated
        return drafts.drawn_round(apply_changes(kept.tournament, seen.decision.changes))
    newest = commands.commit_dry_run(call).newest_round
    assert newest is not None
    query = TournamentGamesQuery(round=str(newest.round_id))
    return DrawnRound(
        data=reads.find_round(call.db, tournament_id, newest.round_id),
        games=games.games_in_tournament(call.db, tournament_id, query),
    )


def change_round(call: Write[RoundPatch]) -> Round:
    """Arena and target of a round; what is not sent stays."""
    round_id, body = call.ids[ROUND], call.body

    def rule(t: Tournament) -> Any:
        one = rounds.find_round(t, round_id)
        return single_player_commands.set_round(
            t,
            round_id,
            arena_id=one.arena_id if isinstance(body.arena_id, UnsetType) else body.arena_id,
            score=one.score if isinstance(body.score, UnsetType) else body.score,
            now=call.now,
        )

    commands.run_command(call, rule)
    return _current_round(call)


def complete_round(call: Write[Body]) -> Round:
    """A round closed whose games all have results."""
    commands.run_command(call, lambda t: tournament_commands.complete_round(t, call.ids[ROUND], call.now))
    return _current_round(call)


def delete_round(call: Write[Body]) -> Round:
    """The newest round gone; answers what it was."""
    rounds.find_round(commands.load_tournament(call), call.ids[ROUND])
    gone = _current_round(call)
    commands.run_command(call, lambda t: tournament_commands.delete_round(t, call.ids[ROUND]))
    return gone


def _current_round(call: Write[Any]) -> Round:
    return reads.find_round(call.db, call.ids[TOURNAMENT], call.ids[ROUND])
