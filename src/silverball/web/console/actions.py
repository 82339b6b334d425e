"""Actions of the console's forms: one row each, with its write, its body and where to go afterwards.

A row names a function of a slice's `writes`, the same that the interface calls, so that both refuse
the same for the same reason.
"""

from collections.abc import Mapping
from secrets import SystemRandom
from typing import Any

from silverball.service.finals import bodies as finals_bodies
from silverball.service.finals import writes as finals_writes
from silverball.service.games import bodies as game_bodies
from silverball.service.games import writes as games
from silverball.service.money import bodies as money_bodies
from silverball.service.money import writes as money_writes
from silverball.service.roster import bodies as roster_bodies
from silverball.service.roster import writes as roster
from silverball.service.rounds import bodies as round_bodies
from silverball.service.rounds import writes as rounds
from silverball.service.single_player import writes as single_player_writes
from silverball.service.tables import writes as table_writes
from silverball.service.tournaments import bodies as tournament_bodies
from silverball.service.tournaments import writes as tournaments_writes
from silverball.service.users import writes as users_writes
from silverball.service.webhooks import writes as webhooks_writes
from silverball.web import final_fields, forms, row_revisions
from silverball.web.console import details, door, federation, form_bodies, people
from silverball.web.console import prizes as prize_page
from silverball.web.form_actions import FormAction

GAME, PLAYER, ARENA, LEG = "game_id", "player_id", "arena_id", "leg"
ROUND, ATTEMPT, CARD, QUEUE, USER = (
    "round_id",
    single_player_writes.SINGLE_PLAYER_GAME,
    "card_id",
    "queue_id",
    "user_id",
)


def _console_path(tournament: Any) -> str:
    return f"/t/{tournament.tournament_id}/run"


def _list_path(_value: Any) -> str:
    return "/run"


# The form of /run/new. The write itself says who may create tournaments, and whom to ask.
CREATE_TOURNAMENT = FormAction(
    ability="read",
    write=lambda call: tournaments_writes.create_night(call, SystemRandom()),
    body=tournament_bodies.NewNight,
    build_body=form_bodies.new_tournament,
    redirect_to=_console_path,
)
_TOURNAMENT_ACTIONS = {
    "start": FormAction(write=tournaments_writes.start_tournament, prepare=tournaments_writes.prepare_start),
    "complete": FormAction(
        write=tournaments_writes.complete_tournament,
        body=tournament_bodies.Completion,
        build_body=forms.texts("openRound"),
    ),
    "reopen": FormAction(write=lambda call: tournaments_writes.reopen_tournament(call, SystemRandom())),
    "undo": FormAction(
        write=tournaments_writes.undo_action,
        body=tournament_bodies.UndoRequest,
        build_body=forms.numbers("action"),
    ),
    "edit": FormAction(
        write=tournaments_writes.edit_tournament,
        body=tournament_bodies.ChangedTournament,
        build_body=form_bodies.tournament_changes,
    ),
    "about": FormAction(
        write=tournaments_writes.edit_tournament,
        body=tournament_bodies.ChangedTournament,
        build_body=details.place_and_time,
    ),
    "prices": FormAction(
        write=tournaments_writes.edit_tournament,
        body=tournament_bodies.ChangedTournament,
        build_body=details.entry_prices,
    ),
    "registration": FormAction(
        write=tournaments_writes.edit_tournament,
        body=tournament_bodies.ChangedTournament,
        build_body=details.registration,
    ),
    "link": FormAction(
        write=tournaments_writes.add_link,
        body=tournaments_writes.NewTournamentLink,
        build_body=form_bodies.new_link,
    ),
    "link-out": FormAction(
        write=tournaments_writes.remove_link,
        body=tournaments_writes.LinkToRemove,
        build_body=forms.numbers("linkedId"),
    ),
    "prizes": FormAction(
        write=money_writes.set_prizes, body=money_bodies.PrizeSettings, build_body=prize_page.settings_body
    ),
    "paid": FormAction(
        write=money_writes.mark_paid,
        id_fields=(PLAYER,),
        body=money_bodies.PaidMark,
        build_body=prize_page.paid_body,
    ),
    "federation-sent": FormAction(
        write=table_writes.mark_sent, body=table_writes.SentMark, build_body=federation.sent_body
    ),
    "delete": FormAction(write=tournaments_writes.delete_tournament, redirect_to=_list_path),
    "final-add": FormAction(
        write=finals_writes.add_final, body=finals_bodies.NewFinal, build_body=final_fields.new_final
    ),
    "final-out": FormAction(
        write=finals_writes.take_final_out,
        body=finals_bodies.FinalToTakeOut,
        build_body=forms.numbers("index"),
    ),
    "final-follow": FormAction(
        write=finals_writes.follow_source,
        body=finals_bodies.FollowSource,
        build_body=forms.flags("nextInLine"),
    ),
    "playoffs": FormAction(
        write=lambda call: tournaments_writes.create_playoffs(call, SystemRandom()),
        body=tournament_bodies.NewPlayoffs,
        build_body=form_bodies.playoffs,
        prepare=tournaments_writes.prepare_playoffs,
        redirect_to=_console_path,
    ),
}
_ROSTER_ACTIONS = {
    "people": FormAction(
        write=roster.add_players_by_name, body=roster.PlayersToAdd, build_body=form_bodies.new_players
    ),
    "player": FormAction(
        write=roster.change_player,
        id_fields=(PLAYER,),
        body=roster_bodies.EntrantPatch,
        build_body=form_bodies.player,
    ),
    "player-out": FormAction(write=roster.remove_player, id_fields=(PLAYER,)),
    "player-forfeit": FormAction(
        write=roster.forfeit_games,
        id_fields=(PLAYER,),
        body=roster_bodies.GivingUp,
        build_body=forms.texts("what"),
    ),
    "entries": FormAction(
        write=single_player_writes.add_entries,
        id_fields=(PLAYER,),
        body=single_player_writes.NewEntries,
        build_body=form_bodies.entries,
    ),
    "lineup": FormAction(
        write=roster.add_arenas, body=roster_bodies.NewLineupArenas, build_body=form_bodies.lineup
    ),
    "machine": FormAction(
        write=roster.add_machines_by_name, body=roster.MachinesToAdd, build_body=form_bodies.machines
    ),
    "arena": FormAction(
        write=roster.change_arena,
        id_fields=(ARENA,),
        body=roster_bodies.LineupArenaPatch,
        build_body=form_bodies.arena,
        revision=row_revisions.arena,
    ),
    "arena-out": FormAction(write=roster.remove_arena, id_fields=(ARENA,)),
    "pairs-apart": FormAction(
        write=roster.set_pairs_apart,
        body=roster_bodies.ChangedPairsApart,
        build_body=people.pairs_apart,
    ),
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
        build_body=forms.flags("redraw"),
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
        write=games.record_result_of_page,
        ability="score",
        id_fields=(GAME,),
        body=games.ResultFromPage,
        build_body=form_bodies.result,
    ),
    "paper": FormAction(
        write=games.record_round,
        ability="score",
        body=games.TypedRound,
        build_body=people.typed_round,
    ),
    "leg-new": FormAction(
        write=games.record_leg_of_page,
        ability="score",
        id_fields=(GAME,),
        body=games.LegFromPage,
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
        write=form_bodies.preview_path,
        id_fields=(GAME,),
        body=form_bodies.ChosenOrder,
        build_body=form_bodies.chosen_order,
        redirect_to=str,
    ),
    "correct": FormAction(
        write=games.record_result,
        id_fields=(GAME,),
        body=game_bodies.EnteredResult,
        build_body=form_bodies.corrected_game,
    ),
    "ruling": FormAction(
        write=rounds.rule_on_game,
        id_fields=(GAME,),
        body=round_bodies.Ruling,
        build_body=people.ruling,
    ),
    "note": FormAction(
        write=rounds.add_note,
        ability="score",
        id_fields=(GAME,),
        body=round_bodies.NewNote,
        build_body=people.note,
    ),
    "result-undo": FormAction(
        write=games.take_back_result,
        ability="score",
        id_fields=(GAME,),
        body=games.SeenGame,
        build_body=forms.texts("seen"),
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
        build_body=forms.numbers("playerId"),
    ),
    "unseat": FormAction(write=games.remove_player, id_fields=(GAME, PLAYER)),
    "suggestion": FormAction(write=games.approve_suggestion, ability="score", id_fields=("suggestion_id",)),
    "suggestion-out": FormAction(
        write=games.decline_suggestion, ability="score", id_fields=("suggestion_id",)
    ),
    "tie": FormAction(write=rounds.break_tie, body=rounds.TiebreakRequest, build_body=form_bodies.tie),
    "matches": FormAction(write=games.create_matches, ability="score"),
}
_SINGLE_PLAYER_ACTIONS = {
    "score": FormAction(
        write=single_player_writes.add_single_player_game,
        ability="score",
        body=single_player_writes.NewSinglePlayerGame,
        build_body=form_bodies.new_single_player_game,
    ),
    "attempt": FormAction(
        write=single_player_writes.record_attempt_of_page,
        ability="score",
        id_fields=(ATTEMPT,),
        body=single_player_writes.AttemptFromPage,
        build_body=form_bodies.recorded_single_player_game,
    ),
    "attempt-undo": FormAction(
        write=single_player_writes.take_back_attempt,
        ability="score",
        id_fields=(ATTEMPT,),
        body=single_player_writes.SeenAttempt,
        build_body=forms.texts("seen"),
    ),
    "attempt-correct": FormAction(
        write=single_player_writes.record_single_player_game,
        id_fields=(ATTEMPT,),
        body=single_player_writes.ReplacedAttemptResult,
        build_body=form_bodies.corrected_attempt,
    ),
    "attempt-void": FormAction(
        write=single_player_writes.void_single_player_game, ability="score", id_fields=(ATTEMPT,)
    ),
    "attempt-unvoid": FormAction(write=single_player_writes.unvoid_single_player_game, id_fields=(ATTEMPT,)),
    "attempt-delete": FormAction(write=single_player_writes.delete_single_player_game, id_fields=(ATTEMPT,)),
    "advance": FormAction(
        write=single_player_writes.advance_player,
        ability="score",
        id_fields=(PLAYER,),
        revision=row_revisions.open_attempt,
    ),
    "card-void": FormAction(write=single_player_writes.void_card, ability="score", id_fields=(CARD,)),
    "card-unvoid": FormAction(write=single_player_writes.unvoid_card, id_fields=(CARD,)),
    "card-delete": FormAction(write=single_player_writes.delete_card, id_fields=(CARD,)),
    "queue": FormAction(
        write=single_player_writes.join_queue,
        ability="score",
        body=single_player_writes.NewQueueSpot,
        build_body=forms.numbers("playerId", "arenaId"),
    ),
    "queue-leave": FormAction(
        write=single_player_writes.leave_queue,
        ability="score",
        id_fields=(QUEUE,),
        revision=row_revisions.spot,
    ),
    "queue-move": FormAction(
        write=single_player_writes.move_in_queue,
        ability="score",
        id_fields=(QUEUE,),
        revision=row_revisions.spot,
    ),
    "queue-start": FormAction(
        write=single_player_writes.start_from_queue,
        ability="score",
        id_fields=(QUEUE,),
        revision=row_revisions.spot,
    ),
}
_FRENZY_ACTIONS = {
    "frenzy-pause": FormAction(write=games.pause_clock),
    "frenzy-resume": FormAction(write=games.resume_clock),
    "frenzy-time": FormAction(
        write=games.change_clock, body=game_bodies.ClockAdjustment, build_body=form_bodies.more_time
    ),
    "frenzy-games": FormAction(
        write=games.start_waiting_players, ability="score", revision=row_revisions.whole_queue
    ),
    "frenzy-queue": FormAction(
        write=games.join_queue,
        ability="score",
        body=game_bodies.NewFrenzySpot,
        build_body=forms.numbers("playerId"),
    ),
    "frenzy-out": FormAction(
        write=games.leave_queue, ability="score", id_fields=(QUEUE,), revision=row_revisions.spot
    ),
    "frenzy-end": FormAction(
        write=games.send_to_end_of_queue, ability="score", id_fields=(QUEUE,), revision=row_revisions.spot
    ),
}
_TIME_ACTIONS = {
    "timer": FormAction(
        write=rounds.set_round_timer,
        body=round_bodies.RoundMinutes,
        build_body=forms.numbers("minutes"),
    ),
    "timer-more": FormAction(
        write=rounds.extend_round,
        body=round_bodies.MoreTime,
        build_body=forms.numbers("minutes"),
        revision=row_revisions.round_end,
    ),
    "extra-time": FormAction(
        write=rounds.give_extra_time,
        body=round_bodies.ExtraTime,
        build_body=forms.numbers("minutes"),
        id_fields=(GAME,),
    ),
    "call": FormAction(write=rounds.call_players, ability="score", id_fields=(GAME,)),
}
_DIRECTOR_ACTIONS = {
    "director-link": FormAction(write=lambda call: users_writes.create_director_link(call, SystemRandom())),
    "director-out": FormAction(
        write=users_writes.remove_director_and_keep,
        id_fields=(USER,),
        body=users_writes.KeptDevices,
        build_body=form_bodies.kept_devices,
    ),
}
_DEVICE_ACTIONS = {
    "device": FormAction(
        write=lambda call: users_writes.create_device_link(call, SystemRandom()),
        body=users_writes.NewDevice,
        build_body=forms.name_only,
    ),
    "device-out": FormAction(write=users_writes.revoke_device, id_fields=(users_writes.DEVICE,)),
    "codes": FormAction(write=lambda call: users_writes.replace_codes(call, SystemRandom())),
}
_WEBHOOK_ACTIONS = {
    "webhook": FormAction(
        write=lambda call: webhooks_writes.create_webhook(call, SystemRandom()),
        body=webhooks_writes.NewWebhook,
        build_body=form_bodies.new_webhook,
    ),
    "webhook-edit": FormAction(
        write=webhooks_writes.change_webhook,
        id_fields=(webhooks_writes.WEBHOOK,),
        body=webhooks_writes.ChangedWebhook,
        build_body=form_bodies.webhook_changes,
    ),
    "webhook-out": FormAction(write=webhooks_writes.delete_webhook, id_fields=(webhooks_writes.WEBHOOK,)),
    "webhook-test": FormAction(
        write=lambda call: webhooks_writes.send_test(call, SystemRandom()),
        id_fields=(webhooks_writes.WEBHOOK,),
    ),
    "webhook-retry": FormAction(
        write=webhooks_writes.retry_delivery, id_fields=(webhooks_writes.WEBHOOK, webhooks_writes.DELIVERY)
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
