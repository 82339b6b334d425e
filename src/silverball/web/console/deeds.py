"""What a form of the console can ask for: which write, with which body, and where to go afterwards.

Each row names a function of a slice's `writes`, the same that the interface calls; a form's fields
become the body that the interface takes, so that both refuse the same with the same sentence.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from secrets import SystemRandom
from typing import Any

from silverball.kit.body import Body
from silverball.kit.http import Write
from silverball.service.cards import writes as cards
from silverball.service.devices import writes as devices
from silverball.service.entries import writes as entries
from silverball.service.frenzy import bodies as frenzy_bodies
from silverball.service.frenzy import writes as frenzy
from silverball.service.games import bodies as game_bodies
from silverball.service.games import writes as games
from silverball.service.maxmatchplay import writes as maxmatchplay
from silverball.service.queues import writes as queues
from silverball.service.roster import bodies as roster_bodies
from silverball.service.roster import writes as roster
from silverball.service.rounds import bodies as round_bodies
from silverball.service.rounds import writes as rounds
from silverball.service.singleplayer import writes as attempts
from silverball.service.suggestions import writes as suggestions
from silverball.service.tiebreaks import writes as tiebreaks
from silverball.service.tournaments import bodies as tournament_bodies
from silverball.service.tournaments import writes as tournaments
from silverball.service.tournaments.writes import playoffs
from silverball.service.webhooks import writes as webhooks
from silverball.web.console import asked, careful, notifying, particulars
from silverball.web.forms import Form

Said = Callable[[Form], Mapping[str, Any]]
GAME, PLAYER, ARENA = "game_id", "player_id", "arena_id"
ROUND, ATTEMPT, CARD, QUEUE, USER = "round_id", attempts.ATTEMPT, "card_id", "queue_id", "user_id"


def nothing(_form: Form) -> Mapping[str, Any]:
    """For what needs no body."""
    return {}


@dataclass(frozen=True, kw_only=True)
class Deed:
    """One thing that can be done. What `write` returns is looked at by `to` only."""

    write: Callable[[Write[Any]], Any]
    # What a token would have to be able to for the same call.
    ability: str = "manage"
    body: type[Body] = Body
    # The body, from the fields of the form.
    said: Said = nothing
    # Fields that hold ids beside the tournament's.
    ids: tuple[str, ...] = ()
    # Called with a snapshot before the lock is taken, as the interface does.
    ahead: Callable[[Write[Any]], Any] | None = None
    # Where to go; None is the page that the form was on.
    to: Callable[[Any], str] | None = None


def _console_of(made: Any) -> str:
    return f"/t/{made.tournament_id}/run"


def _list(_made: Any) -> str:
    return "/run"


_TOURNAMENT = {
    "start": Deed(write=tournaments.start, ahead=tournaments.look_at_start),
    "complete": Deed(write=tournaments.complete),
    "reopen": Deed(write=tournaments.reopen),
    "undo": Deed(write=tournaments.undo, body=tournament_bodies.Undo, said=asked.numbers("action")),
    "edit": Deed(write=tournaments.edit, body=tournament_bodies.ChangedTournament, said=asked.changes),
    "about": Deed(write=tournaments.edit, body=tournament_bodies.ChangedTournament, said=particulars.about),
    "prices": Deed(write=tournaments.edit, body=tournament_bodies.ChangedTournament, said=particulars.prices),
    "registration": Deed(
        write=tournaments.edit, body=tournament_bodies.ChangedTournament, said=particulars.registration
    ),
    "link": Deed(
        write=particulars.link,
        body=particulars.NewLink,
        said=lambda form: {**asked.texts(form, "linkType"), **asked.whole(form, "tournamentId")},
    ),
    "link-out": Deed(write=particulars.unlink, body=particulars.LostLink, said=asked.numbers("linkedId")),
    "delete": Deed(write=tournaments.remove, to=_list),
    "playoffs": Deed(
        write=lambda call: playoffs.create(call, SystemRandom()),
        body=tournament_bodies.NewPlayoffs,
        said=asked.playoffs,
        to=_console_of,
    ),
}
_ROSTER = {
    "people": Deed(write=careful.add_people, body=asked.Pasted, said=asked.people),
    "player": Deed(
        write=roster.change_player, ids=(PLAYER,), body=roster_bodies.PlayerPatch, said=asked.player
    ),
    "player-out": Deed(write=roster.remove_player, ids=(PLAYER,)),
    "player-forfeit": Deed(write=roster.forfeit, ids=(PLAYER,)),
    "entries": Deed(write=entries.add, ids=(PLAYER,), body=entries.NewEntries, said=asked.entries),
    "lineup": Deed(write=roster.add_arenas, body=roster_bodies.NewArenas, said=asked.lineup),
    "machine": Deed(write=careful.add_machine, body=asked.NewMachines, said=asked.machines),
    "arena": Deed(write=roster.change_arena, ids=(ARENA,), body=roster_bodies.ArenaPatch, said=asked.arena),
    "arena-out": Deed(write=roster.remove_arena, ids=(ARENA,)),
    "bank": Deed(write=roster.add_bank, ids=("bank_id",)),
    "bank-out": Deed(write=roster.remove_bank, ids=("bank_id",)),
    "scorekeeper": Deed(write=roster.add_scorekeeper, ids=(USER,)),
    "scorekeeper-out": Deed(write=roster.remove_scorekeeper, ids=(USER,)),
}
_GAMES = {
    "round-open": Deed(
        write=rounds.open_round,
        ahead=rounds.look_ahead,
        body=round_bodies.NewRound,
        said=asked.flags("redraw"),
    ),
    "round-complete": Deed(write=rounds.complete_round, ids=(ROUND,)),
    "round-delete": Deed(write=rounds.delete_round, ids=(ROUND,)),
    "round": Deed(write=rounds.change_round, ids=(ROUND,), body=round_bodies.RoundPatch, said=asked.hole),
    "result": Deed(
        write=careful.record_result,
        ability="score",
        ids=(GAME,),
        body=careful.SeenResult,
        said=asked.result,
    ),
    "result-clear": Deed(write=games.clear_result, ids=(GAME,)),
    "game": Deed(
        write=games.change_game, ability="score", ids=(GAME,), body=game_bodies.GamePatch, said=asked.game
    ),
    "game-arena": Deed(write=games.redraw_arena, ids=(GAME,)),
    "game-new": Deed(write=games.create_game, body=game_bodies.NewGame, said=asked.new_game),
    "game-delete": Deed(write=games.delete_game, ids=(GAME,)),
    "seat": Deed(
        write=games.add_player, ids=(GAME,), body=game_bodies.SeatedPlayer, said=asked.numbers("playerId")
    ),
    "unseat": Deed(write=games.remove_player, ids=(GAME, PLAYER)),
    "suggestion": Deed(write=suggestions.approve, ability="score", ids=("suggestion_id",)),
    "suggestion-out": Deed(write=suggestions.decline, ability="score", ids=("suggestion_id",)),
    "tie": Deed(write=tiebreaks.break_tie, body=tiebreaks.Tiebreak, said=asked.tie),
    "matches": Deed(write=maxmatchplay.create_matches, ability="score"),
}
_ALONE = {
    "score": Deed(write=attempts.add, ability="score", body=attempts.NewGame, said=asked.score),
    "attempt": Deed(
        write=attempts.record,
        ability="score",
        ids=(ATTEMPT,),
        body=attempts.Result,
        said=asked.attempt,
    ),
    "attempt-void": Deed(write=attempts.void, ability="score", ids=(ATTEMPT,)),
    "attempt-unvoid": Deed(write=attempts.unvoid, ids=(ATTEMPT,)),
    "attempt-delete": Deed(write=attempts.remove, ids=(ATTEMPT,)),
    "advance": Deed(write=attempts.advance, ability="score", ids=(PLAYER,)),
    "card-void": Deed(write=cards.void, ability="score", ids=(CARD,)),
    "card-unvoid": Deed(write=cards.unvoid, ids=(CARD,)),
    "card-delete": Deed(write=cards.remove, ids=(CARD,)),
    "queue": Deed(
        write=queues.join, ability="score", body=queues.NewSpot, said=asked.numbers("playerId", "arenaId")
    ),
    "queue-leave": Deed(write=queues.leave, ability="score", ids=(QUEUE,)),
    "queue-move": Deed(write=queues.move, ability="score", ids=(QUEUE,)),
    "queue-start": Deed(write=queues.start, ability="score", ids=(QUEUE,)),
}
_FRENZY = {
    "frenzy-pause": Deed(write=frenzy.pause),
    "frenzy-resume": Deed(write=frenzy.resume),
    "frenzy-time": Deed(write=frenzy.change_time, body=frenzy_bodies.MoreTime, said=asked.more_time),
    "frenzy-games": Deed(write=frenzy.start_waiting, ability="score"),
    "frenzy-queue": Deed(
        write=frenzy.join_queue,
        ability="score",
        body=frenzy_bodies.Waiting,
        said=asked.numbers("playerId"),
    ),
    "frenzy-out": Deed(write=frenzy.take_out, ability="score", ids=(QUEUE,)),
    "frenzy-end": Deed(write=frenzy.send_to_end, ability="score", ids=(QUEUE,)),
}
_DEVICES = {
    "device": Deed(
        write=lambda call: devices.make(call, SystemRandom()), body=devices.NewDevice, said=asked.named
    ),
    "device-out": Deed(write=devices.revoke, ids=(devices.DEVICE,)),
    "codes": Deed(write=lambda call: devices.make_codes(call, SystemRandom())),
}
_WEBHOOKS = {
    "webhook": Deed(
        write=lambda call: webhooks.create(call, SystemRandom()),
        body=webhooks.NewWebhook,
        said=notifying.new,
    ),
    "webhook-edit": Deed(
        write=webhooks.change,
        ids=(webhooks.WEBHOOK,),
        body=webhooks.ChangedWebhook,
        said=notifying.changed,
    ),
    "webhook-out": Deed(write=webhooks.remove, ids=(webhooks.WEBHOOK,)),
    "webhook-test": Deed(
        write=lambda call: webhooks.send_test(call, SystemRandom()), ids=(webhooks.WEBHOOK,)
    ),
    "webhook-retry": Deed(write=webhooks.retry, ids=(webhooks.WEBHOOK, webhooks.DELIVERY)),
}
# Everything that a form may name in its address: /t/{id}/run/do/{name}.
DEEDS: Mapping[str, Deed] = {
    **_TOURNAMENT,
    **_ROSTER,
    **_GAMES,
    **_ALONE,
    **_FRENZY,
    **_DEVICES,
    **_WEBHOOKS,
}
# What a printed code does; not a form of the console.
REPORT = Deed(
    write=suggestions.suggest, ability="score", ids=(GAME,), body=game_bodies.SaidResult, said=asked.order
)
