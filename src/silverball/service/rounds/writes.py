"""Rounds drawn, changed, completed and deleted."""

from typing import Any

from msgspec import UnsetType

from silverball.kit.body import Body
from silverball.kit.http import Moved, Write
from silverball.rules import play, rounds, singleplay
from silverball.rules.apply import apply_all
from silverball.rules.tournament import Tournament
from silverball.service import acting, enact
from silverball.service.acting import Ahead, Made
from silverball.service.games import reads as games
from silverball.service.games.reads import TournamentGamesQuery
from silverball.service.rounds import drafts, reads
from silverball.service.rounds.bodies import NewRound, RoundPatch
from silverball.service.tournaments.reads import series_facts
from silverball.wire.rounds import DrawnRound, Round

TOURNAMENT, ROUND = "tournament_id", "round_id"


def look_ahead(call: Write[NewRound]) -> Ahead:
    """The draw, made of a snapshot: it may take long."""
    return acting.look_ahead(call, lambda t: _drawn(call, t))


def _drawn(call: Write[NewRound], tournament: Tournament) -> Made:
    draw = play.draw_of_next_round(tournament)
    changes = play.redrawn(tournament, draw) if call.body.redraw else []
    current = apply_all(tournament, changes)
    informed = series_facts.with_series_facts(call.db, current)
    made = acting.drawn(current, draw, lambda dice: play.open_round(informed, dice, call.now))
    return Made([*changes, *made.changes], made.dice_seed)


def open_round(call: Write[NewRound]) -> DrawnRound:
    """The next round with its games; of a dry run nothing is kept."""
    tournament_id = call.ids[TOURNAMENT]
    if call.body.dry_run:
        seen: Ahead = call.ahead
        kept = enact.kept_of(call.db, tournament_id)
        if kept.revision != seen.revision:
            raise Moved
        return drafts.shown(apply_all(kept.tournament, seen.made.changes))
    newest = acting.act_as_seen(call).newest_round
    assert newest is not None
    query = TournamentGamesQuery(round=str(newest.round_id))
    return DrawnRound(
        data=reads.one(call.db, tournament_id, newest.round_id),
        games=games.of_tournament(call.db, tournament_id, query),
    )


def change_round(call: Write[RoundPatch]) -> Round:
    """Arena and target of a round; what is not sent stays."""
    round_id, body = call.ids[ROUND], call.body

    def rule(t: Tournament) -> Any:
        one = rounds.round_of(t, round_id)
        return singleplay.set_round(
            t,
            round_id,
            arena_id=one.arena_id if isinstance(body.arena_id, UnsetType) else body.arena_id,
            score=one.score if isinstance(body.score, UnsetType) else body.score,
            now=call.now,
        )

    acting.act(call, rule)
    return _shown(call)


def complete_round(call: Write[Body]) -> Round:
    """A round closed whose games all have results."""
    acting.act(call, lambda t: play.complete_round(t, call.ids[ROUND], call.now))
    return _shown(call)


def delete_round(call: Write[Body]) -> Round:
    """The newest round gone; answers what it was."""
    rounds.round_of(acting.tournament_of(call), call.ids[ROUND])
    gone = _shown(call)
    acting.act(call, lambda t: play.delete_round(t, call.ids[ROUND]))
    return gone


def _shown(call: Write[Any]) -> Round:
    return reads.one(call.db, call.ids[TOURNAMENT], call.ids[ROUND])
