"""Actions of the console's forms: one row each, with its write, its body and where to go afterwards.

A row names a function of a slice's `writes`, the same that the interface calls, so that both refuse
the same for the same reason.
"""

from collections.abc import Mapping
from secrets import SystemRandom
from typing import Any

from silverball.service.cards import writes as cards
from silverball.service.devices import writes as devices
from silverball.service.directors import writes as directors
from silverball.service.entries import writes as entries
from silverball.service.frenzy import bodies as frenzy_bodies
from silverball.service.frenzy import writes as frenzy
from silverball.service.games import bodies as game_bodies
from silverball.service.games import guarded_writes as guarded_games
from silverball.service.games import writes as games
from silverball.service.maxmatchplay import writes as maxmatchplay
from silverball.service.prizes import bodies as prize_bodies
from silverball.service.prizes import writes as prizes
from silverball.service.queues import writes as queues
from silverball.service.roster import bodies as roster_bodies
from silverball.service.roster import guarded_writes as guarded_roster
from silverball.service.roster import writes as roster
from silverball.service.rounds import bodies as round_bodies
from silverball.service.rounds import writes as rounds
from silverball.service.rulings import bodies as ruling_bodies
from silverball.service.rulings import writes as rulings
from silverball.service.singleplayer import guarded_writes as guarded_attempts
from silverball.service.singleplayer import writes as attempts
from silverball.service.suggestions import writes as suggestions
from silverball.service.tiebreaks import writes as tiebreaks
from silverball.service.timekeeping import bodies as time_bodies
from silverball.service.timekeeping import writes as timekeeping
from silverball.service.tournaments import bodies as tournament_bodies
from silverball.service.tournaments.writes import links, nights, playoffs, tournaments
from silverball.service.webhooks.writes import webhooks
from silverball.web import form_values
from silverball.web.console import correction, details, door, form_bodies, night_sheets, paper
from silverball.web.console import prizes as prize_page
from silverball.web.form_actions import FormAction

GAME, PLAYER, ARENA, LEG = "game_id", "player_id", "arena_id", "leg"
ROUND, ATTEMPT, CARD, QUEUE, USER = "round_id", attempts.SINGLE_PLAYER_GAME, "card_id", "queue_id", "user_id"


def _console_path(tournament: Any) -> str:
    return f"/t/{tournament.tournament_id}/run"


def _list_path(_value: Any) -> str:
    return "/run"


# The form of /run/new. The write itself says who may create tournaments, and whom to ask.
CREATE_TOURNAMENT = FormAction(
    ability="read",
    write=lambda call: nights.create_night(call, SystemRandom()),
    body=tournament_bodies.NewNight,
    build_body=form_bodies.new_tournament,
    redirect_to=_console_path,
)
_TOURNAMENT_ACTIONS = {
    "start": FormAction(write=tournaments.start_tournament, prepare=tournaments.prepare_start),
    "complete": FormAction(
        write=tournaments.complete_tournament,
        body=tournament_bodies.Completion,
        build_body=form_values.texts("openRound"),
    ),
    "reopen": FormAction(write=lambda call: tournaments.reopen_tournament(call, SystemRandom())),
    "undo": FormAction(
        write=tournaments.undo_action,
        body=tournament_bodies.UndoRequest,
        build_body=form_values.numbers("action"),
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
    "link": FormAction(write=links.add_link, body=links.NewTournamentLink, build_body=form_bodies.new_link),
    "link-out": FormAction(
        write=links.remove_link, body=links.LinkToRemove, build_body=form_values.numbers("linkedId")
    ),
    "prizes": FormAction(
        write=prizes.set_prizes, body=prize_bodies.PrizeSettings, build_body=prize_page.settings_body
    ),
    "paid": FormAction(
        write=prizes.mark_paid,
        id_fields=(PLAYER,),
        body=prize_bodies.PaidMark,
        build_body=prize_page.paid_body,
    ),
    "delete": FormAction(write=tournaments.delete_tournament, redirect_to=_list_path),
    "playoffs": FormAction(
        write=lambda call: playoffs.create_playoffs(call, SystemRandom()),
        body=tournament_bodies.NewPlayoffs,
        build_body=form_bodies.playoffs,
        prepare=playoffs.prepare_playoffs,
        redirect_to=_console_path,
    ),
}
_ROSTER_ACTIONS = {
    "people": FormAction(
        write=guarded_roster.add_players, body=guarded_roster.PlayersToAdd, build_body=form_bodies.new_players
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
        write=guarded_roster.add_machines, body=guarded_roster.MachinesToAdd, build_body=form_bodies.machines
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
        build_body=form_values.flags("redraw"),
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
        write=guarded_games.record_result,
        ability="score",
        id_fields=(GAME,),
        body=guarded_games.ResultFromPage,
        build_body=form_bodies.result,
    ),
    "paper": FormAction(
        write=guarded_games.record_round,
        ability="score",
        body=guarded_games.TypedRound,
        build_body=paper.typed_round,
    ),
    "leg-new": FormAction(
        write=guarded_games.record_leg,
        ability="score",
        id_fields=(GAME,),
        body=guarded_games.LegFromPage,
        build_body=form_bodies.new_leg,
    ),
    "leg": FormAction(
        write=games.change_leg,
        ability="score",
        id_fields=(GAME, LEG),
        body=game_bodies.LegPatch,
        build_body=form_bodies.leg,
    ),
    "leg-out": FormAction(write=games.delete_leg, ability="score", id_fields=(GAME, LEG)),
    "correct-order": FormAction(
        write=correction.preview_path,
        id_fields=(GAME,),
        body=correction.ChosenOrder,
        build_body=form_values.finishing_order,
        redirect_to=str,
    ),
    "correct": FormAction(
        write=games.record_result,
        id_fields=(GAME,),
        body=game_bodies.EnteredResult,
        build_body=correction.corrected_game,
    ),
    "ruling": FormAction(
        write=rulings.rule_on_game,
        id_fields=(GAME,),
        body=ruling_bodies.Ruling,
        build_body=night_sheets.ruling,
    ),
    "note": FormAction(
        write=rulings.add_note,
        ability="score",
        id_fields=(GAME,),
        body=ruling_bodies.NewNote,
        build_body=night_sheets.note,
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
        build_body=form_values.numbers("playerId"),
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
        write=guarded_attempts.record_single_player_game,
        ability="score",
        id_fields=(ATTEMPT,),
        body=guarded_attempts.AttemptFromPage,
        build_body=form_bodies.recorded_single_player_game,
    ),
    "attempt-correct": FormAction(
        write=attempts.record_single_player_game,
        id_fields=(ATTEMPT,),
        body=attempts.ReplacedAttemptResult,
        build_body=correction.corrected_attempt,
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
        build_body=form_values.numbers("playerId", "arenaId"),
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
        build_body=form_values.numbers("playerId"),
    ),
    "frenzy-out": FormAction(write=frenzy.leave_queue, ability="score", id_fields=(QUEUE,)),
    "frenzy-end": FormAction(write=frenzy.send_to_end_of_queue, ability="score", id_fields=(QUEUE,)),
}
_TIME_ACTIONS = {
    "timer": FormAction(
        write=timekeeping.set_round_timer,
        body=time_bodies.RoundMinutes,
        build_body=form_values.numbers("minutes"),
    ),
    "timer-more": FormAction(
        write=timekeeping.extend_round, body=time_bodies.MoreTime, build_body=form_values.numbers("minutes")
    ),
    "extra-time": FormAction(
        write=timekeeping.give_extra_time,
        body=time_bodies.ExtraTime,
        build_body=form_values.numbers("minutes"),
        id_fields=(GAME,),
    ),
    "call": FormAction(write=timekeeping.call_players, ability="score", id_fields=(GAME,)),
}
_DIRECTOR_ACTIONS = {
    "director-link": FormAction(write=lambda call: directors.create_link(call, SystemRandom())),
    "director-out": FormAction(write=directors.remove_director, id_fields=(USER,)),
}
_DEVICE_ACTIONS = {
    "device": FormAction(
        write=lambda call: devices.create_link(call, SystemRandom()),
        body=devices.NewDevice,
        build_body=form_values.name_only,
    ),
    "device-out": FormAction(write=devices.revoke_device, id_fields=(devices.DEVICE,)),
    "codes": FormAction(write=lambda call: devices.replace_codes(call, SystemRandom())),
}
_WEBHOOK_ACTIONS = {
    "webhook": FormAction(
        write=lambda call: webhooks.create_webhook(call, SystemRandom()),
        body=webhooks.NewWebhook,
        build_body=form_bodies.new_webhook,
    ),
    "webhook-edit": FormAction(
        write=webhooks.change_webhook,
        id_fields=(webhooks.WEBHOOK,),
        body=webhooks.ChangedWebhook,
        build_body=form_bodies.webhook_changes,
    ),
    "webhook-out": FormAction(write=webhooks.delete_webhook, id_fields=(webhooks.WEBHOOK,)),
    "webhook-test": FormAction(
        write=lambda call: webhooks.send_test(call, SystemRandom()), id_fields=(webhooks.WEBHOOK,)
    ),
    "webhook-retry": FormAction(
        write=webhooks.retry_delivery, id_fields=(webhooks.WEBHOOK, webhooks.DELIVERY)
    ),
}
# The forms of /t/{tournament_id}/run/do/{action}.
ACTIONS: Mapping[str, FormAction] = {
    **_TOURNAMENT_ACTIONS,
    **_ROSTER_ACTIONS,
    **_GAME_ACTIONS,
    **_SINGLE_PLAYER_ACTIONS,
    **_FRENZY_ACTIONS,
    **_TIME_ACTIONS,
    **_DEVICE_ACTIONS,
    **_DIRECTOR_ACTIONS,
    **_WEBHOOK_ACTIONS,
    **door.ACTIONS,
}
