"""What a form of the console can ask for: which write, with which body, and where to go afterwards.

Each row names a function of a slice's `writes`, the same that the interface calls; a form's fields
become the body that the interface takes, so that both refuse the same with the same sentence.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from secrets import SystemRandom
from typing import Any

from silverball.kit.http.body import Body
from silverball.service.calls import Write
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
from silverball.service.tournaments.writes import playoffs, tournaments
from silverball.service.webhooks.writes import webhooks
from silverball.web.console import careful, details, form_bodies, webhook_forms
from silverball.web.forms import FormData

BodyBuilder = Callable[[FormData], Mapping[str, Any]]
GAME, PLAYER, ARENA = "game_id", "player_id", "arena_id"
ROUND, ATTEMPT, CARD, QUEUE, USER = "round_id", attempts.SINGLE_PLAYER_GAME, "card_id", "queue_id", "user_id"


def empty_body(_form: FormData) -> Mapping[str, Any]:
    """For what needs no body."""
    return {}


@dataclass(frozen=True, kw_only=True)
class FormAction:
    """One thing that can be done. What `write` returns is looked at by `to` only."""

    write: Callable[[Write[Any]], Any]
    # What a token would have to be able to for the same call.
    ability: str = "manage"
    body: type[Body] = Body
    # The body, from the fields of the form.
    build_body: BodyBuilder = empty_body
    # Fields that hold ids beside the tournament's.
    id_fields: tuple[str, ...] = ()
    # Called with a snapshot before the lock is taken, as the interface does.
    prepare: Callable[[Write[Any]], Any] | None = None
    # Where to go; None is the page that the form was on.
    redirect_to: Callable[[Any], str] | None = None


def _console_path(made: Any) -> str:
    return f"/t/{made.tournament_id}/run"


def _list_path(_made: Any) -> str:
    return "/run"


_TOURNAMENT_ACTIONS = {
    "start": FormAction(write=tournaments.start_tournament, prepare=tournaments.prepare_start),
    "complete": FormAction(write=tournaments.complete_tournament),
    "reopen": FormAction(write=tournaments.reopen_tournament),
    "undo": FormAction(
        write=tournaments.undo_action,
        body=tournament_bodies.UndoRequest,
        build_body=form_bodies.numbers("action"),
    ),
    "edit": FormAction(
        write=tournaments.edit_tournament,
        body=tournament_bodies.ChangedTournament,
        build_body=form_bodies.tournament_changes,
    ),
    "about": FormAction(
        write=tournaments.edit_tournament,
        body=tournament_bodies.ChangedTournament,
        build_body=details.place_and_time,
    ),
    "prices": FormAction(
        write=tournaments.edit_tournament,
        body=tournament_bodies.ChangedTournament,
        build_body=details.entry_prices,
    ),
    "registration": FormAction(
        write=tournaments.edit_tournament,
        body=tournament_bodies.ChangedTournament,
        build_body=details.registration,
    ),
    "link": FormAction(
        write=details.add_link,
        body=details.NewTournamentLink,
        build_body=lambda form: {
            **form_bodies.text_fields(form, "linkType"),
            **form_bodies.number_fields(form, "tournamentId"),
        },
    ),
    "link-out": FormAction(
        write=details.remove_link, body=details.LinkToRemove, build_body=form_bodies.numbers("linkedId")
    ),
    "delete": FormAction(write=tournaments.delete_tournament, redirect_to=_list_path),
    "playoffs": FormAction(
        write=lambda call: playoffs.create_playoffs(call, SystemRandom()),
        body=tournament_bodies.NewPlayoffs,
        build_body=form_bodies.playoffs,
        redirect_to=_console_path,
    ),
}
_ROSTER_ACTIONS = {
    "people": FormAction(
        write=careful.add_players, body=form_bodies.PlayersToAdd, build_body=form_bodies.new_players
    ),
    "player": FormAction(
        write=roster.change_player,
        id_fields=(PLAYER,),
        body=roster_bodies.EntrantPatch,
        build_body=form_bodies.player,
    ),
    "player-out": FormAction(write=roster.remove_player, id_fields=(PLAYER,)),
    "player-forfeit": FormAction(write=roster.forfeit_games, id_fields=(PLAYER,)),
    "entries": FormAction(
        write=entries.add_entries,
        id_fields=(PLAYER,),
        body=entries.NewEntries,
        build_body=form_bodies.entries,
    ),
    "lineup": FormAction(
        write=roster.add_arenas, body=roster_bodies.NewLineupArenas, build_body=form_bodies.lineup
    ),
    "machine": FormAction(
        write=careful.add_machines, body=form_bodies.MachinesToAdd, build_body=form_bodies.machines
    ),
    "arena": FormAction(
        write=roster.change_arena,
        id_fields=(ARENA,),
        body=roster_bodies.LineupArenaPatch,
        build_body=form_bodies.arena,
    ),
    "arena-out": FormAction(write=roster.remove_arena, id_fields=(ARENA,)),
    "bank": FormAction(write=roster.add_bank, id_fields=("bank_id",)),
    "bank-out": FormAction(write=roster.remove_bank, id_fields=("bank_id",)),
    "scorekeeper": FormAction(write=roster.add_scorekeeper, id_fields=(USER,)),
    "scorekeeper-out": FormAction(write=roster.remove_scorekeeper, id_fields=(USER,)),
}
_GAME_ACTIONS = {
    "round-open": FormAction(
        write=rounds.open_round,
        prepare=rounds.prepare_round,
        body=round_bodies.NewRound,
        build_body=form_bodies.flags("redraw"),
    ),
    "round-complete": FormAction(write=rounds.complete_round, id_fields=(ROUND,)),
    "round-delete": FormAction(write=rounds.delete_round, id_fields=(ROUND,)),
    "round": FormAction(
        write=rounds.change_round,
        id_fields=(ROUND,),
        body=round_bodies.RoundPatch,
        build_body=form_bodies.hole,
    ),
    "result": FormAction(
        write=careful.record_result,
        ability="score",
        id_fields=(GAME,),
        body=careful.ResultFromPage,
        build_body=form_bodies.result,
    ),
    "result-clear": FormAction(write=games.clear_result, id_fields=(GAME,)),
    "game": FormAction(
        write=games.change_game,
        ability="score",
        id_fields=(GAME,),
        body=game_bodies.GamePatch,
        build_body=form_bodies.game,
    ),
    "game-arena": FormAction(write=games.redraw_arena, id_fields=(GAME,)),
    "game-new": FormAction(
        write=games.create_game, body=game_bodies.NewGame, build_body=form_bodies.new_game
    ),
    "game-delete": FormAction(write=games.delete_game, id_fields=(GAME,)),
    "seat": FormAction(
        write=games.add_player,
        id_fields=(GAME,),
        body=game_bodies.SeatedPlayer,
        build_body=form_bodies.numbers("playerId"),
    ),
    "unseat": FormAction(write=games.remove_player, id_fields=(GAME, PLAYER)),
    "suggestion": FormAction(
        write=suggestions.approve_suggestion, ability="score", id_fields=("suggestion_id",)
    ),
    "suggestion-out": FormAction(
        write=suggestions.decline_suggestion, ability="score", id_fields=("suggestion_id",)
    ),
    "tie": FormAction(write=tiebreaks.break_tie, body=tiebreaks.TiebreakRequest, build_body=form_bodies.tie),
    "matches": FormAction(write=maxmatchplay.create_matches, ability="score"),
}
_SINGLE_PLAYER_ACTIONS = {
    "score": FormAction(
        write=attempts.add_single_player_game,
        ability="score",
        body=attempts.NewSinglePlayerGame,
        build_body=form_bodies.new_single_player_game,
    ),
    "attempt": FormAction(
        write=attempts.record_single_player_game,
        ability="score",
        id_fields=(ATTEMPT,),
        body=attempts.AttemptResult,
        build_body=form_bodies.single_player_result,
    ),
    "attempt-void": FormAction(write=attempts.void_single_player_game, ability="score", id_fields=(ATTEMPT,)),
    "attempt-unvoid": FormAction(write=attempts.unvoid_single_player_game, id_fields=(ATTEMPT,)),
    "attempt-delete": FormAction(write=attempts.delete_single_player_game, id_fields=(ATTEMPT,)),
    "advance": FormAction(write=attempts.advance_player, ability="score", id_fields=(PLAYER,)),
    "card-void": FormAction(write=cards.void_card, ability="score", id_fields=(CARD,)),
    "card-unvoid": FormAction(write=cards.unvoid_card, id_fields=(CARD,)),
    "card-delete": FormAction(write=cards.delete_card, id_fields=(CARD,)),
    "queue": FormAction(
        write=queues.join_queue,
        ability="score",
        body=queues.NewQueueSpot,
        build_body=form_bodies.numbers("playerId", "arenaId"),
    ),
    "queue-leave": FormAction(write=queues.leave_queue, ability="score", id_fields=(QUEUE,)),
    "queue-move": FormAction(write=queues.move_in_queue, ability="score", id_fields=(QUEUE,)),
    "queue-start": FormAction(write=queues.start_from_queue, ability="score", id_fields=(QUEUE,)),
}
_FRENZY_ACTIONS = {
    "frenzy-pause": FormAction(write=frenzy.pause_clock),
    "frenzy-resume": FormAction(write=frenzy.resume_clock),
    "frenzy-time": FormAction(
        write=frenzy.change_clock, body=frenzy_bodies.ClockAdjustment, build_body=form_bodies.more_time
    ),
    "frenzy-games": FormAction(write=frenzy.start_waiting_players, ability="score"),
    "frenzy-queue": FormAction(
        write=frenzy.join_queue,
        ability="score",
        body=frenzy_bodies.NewFrenzySpot,
        build_body=form_bodies.numbers("playerId"),
    ),
    "frenzy-out": FormAction(write=frenzy.leave_queue, ability="score", id_fields=(QUEUE,)),
    "frenzy-end": FormAction(write=frenzy.send_to_end_of_queue, ability="score", id_fields=(QUEUE,)),
}
_DEVICE_ACTIONS = {
    "device": FormAction(
        write=lambda call: devices.create_link(call, SystemRandom()),
        body=devices.NewDevice,
        build_body=form_bodies.name_only,
    ),
    "device-out": FormAction(write=devices.revoke_device, id_fields=(devices.DEVICE,)),
    "codes": FormAction(write=lambda call: devices.replace_codes(call, SystemRandom())),
}
_WEBHOOK_ACTIONS = {
    "webhook": FormAction(
        write=lambda call: webhooks.create_webhook(call, SystemRandom()),
        body=webhooks.NewWebhook,
        build_body=webhook_forms.new_webhook,
    ),
    "webhook-edit": FormAction(
        write=webhooks.change_webhook,
        id_fields=(webhooks.WEBHOOK,),
        body=webhooks.ChangedWebhook,
        build_body=webhook_forms.webhook_changes,
    ),
    "webhook-out": FormAction(write=webhooks.delete_webhook, id_fields=(webhooks.WEBHOOK,)),
    "webhook-test": FormAction(
        write=lambda call: webhooks.send_test(call, SystemRandom()), id_fields=(webhooks.WEBHOOK,)
    ),
    "webhook-retry": FormAction(
        write=webhooks.retry_delivery, id_fields=(webhooks.WEBHOOK, webhooks.DELIVERY)
    ),
}
# Everything that a form may name in its address: /t/{id}/run/do/{name}.
ACTIONS: Mapping[str, FormAction] = {
    **_TOURNAMENT_ACTIONS,
    **_ROSTER_ACTIONS,
    **_GAME_ACTIONS,
    **_SINGLE_PLAYER_ACTIONS,
    **_FRENZY_ACTIONS,
    **_DEVICE_ACTIONS,
    **_WEBHOOK_ACTIONS,
}
# What a printed code does; not a form of the console.
REPORT_RESULT = FormAction(
    write=suggestions.suggest_result,
    ability="score",
    id_fields=(GAME,),
    body=game_bodies.ReportedResult,
    build_body=form_bodies.finishing_order,
)
