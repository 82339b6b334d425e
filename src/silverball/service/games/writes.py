"""Changes to single games, also from a page that was open for a while, and the clock of a frenzy."""

import hashlib
from collections.abc import Callable, Sequence
from random import Random
from typing import Annotated, Any

from msgspec import UNSET, Meta, UnsetType

from silverball.kit.errors import Conflict, Invalid, Sentence
from silverball.kit.http.body import Body
from silverball.kit.http.endpoints import AbilityMissing
from silverball.kit.http.fields import Id
from silverball.kit.values import replace
from silverball.rules.commands import clocks
from silverball.rules.commands import games as game_commands
from silverball.rules.commands import tournament as tournament_commands
from silverball.rules.families import max_matchplay as max_matchplay_family
from silverball.rules.mechanics import results
from silverball.rules.model import settings_protocols
from silverball.rules.model import tournament as model
from silverball.rules.model.apply import apply_changes
from silverball.rules.model.changes import Change
from silverball.rules.model.tournament import Tournament
from silverball.service.core import access, commands, corrections
from silverball.service.core.access import AuthenticatedCaller
from silverball.service.core.calls import Write
from silverball.service.games.bodies import (
    ClockAdjustment,
    EnteredResult,
    GamePatch,
    LegPatch,
    NewFrenzySpot,
    NewGame,
    NewLeg,
    Players,
    ReportedResult,
    SeatedPlayer,
)
from silverball.service.games.reads import games as reads
from silverball.service.games.reads import waiting
from silverball.service.users import reads as users
from silverball.store.tournament import journal
from silverball_wire.games import Game, Leg
from silverball_wire.queues import FrenzyState
from silverball_wire.singleplayer import RecordedGame

# Overwriting a stored result, which only the organizer may do.


class ResultAlreadyEntered(Conflict):
    """The game has a result, which only the organizer may replace."""

    def __init__(self, game: model.Game, author: str, time: str) -> None:
        order = game.finishing_order or game.result_positions
        facts: dict[str, Any] = {"players": order}
        result = "{players}, first to last"
        if None in order:
            facts = {f"p{slot}_player": player_id for slot, player_id in enumerate(game.player_ids)}
            points = zip(game.result_points, facts, strict=True)
            result = ", ".join(f"{earned} for {{{key}}}" for earned, key in points)
        super().__init__(
            f"{{game}} has a result: {{author}} entered {result}{{time}}. Only the organizer can change it.",
            game=game.game_id,
            author=author,
            time=time,
            **facts,
        )


def refuse_overwrite(
    call: Write[Any], tournament: Tournament, game: model.Game, changes: Sequence[Change]
) -> None:
    """Raise Conflict, with the author and time of the stored result, when the caller may not replace it."""
    if game.status != "completed" or not changes or access.may_manage(call.caller, tournament):
        return
    entry = journal.newest_result(call.db, tournament.tournament_id, game.game_id)
    action_id, user_id, at = entry or (0, game.scorekeeper_id, game.completed_at)
    author = _author_name(call, tournament.tournament_id, action_id, user_id)
    raise ResultAlreadyEntered(game, author, "" if at is None else f" at {at:%Y-%m-%d %H:%M:%SZ}")


def _author_name(call: Write[Any], tournament_id: int, action_id: int, user_id: int | None) -> str:
    """The name of the account or device behind an action."""
    if user_id is not None:
        return users.find_user(call.db, user_id, call.caller).name
    return users.actor_names(call.db, tournament_id, [action_id]).get(action_id, "an unknown account")


TOURNAMENT, GAME, PLAYER, LEG = "tournament_id", "game_id", "player_id", "leg"


def record_result(call: Write[EnteredResult]) -> RecordedGame:
    """Record the result of a game; only the organizer can replace a result with another one.

    With `correction` the game may be of any round.
    """
    game_id, body = call.ids[GAME], call.body
    outcome = body.outcome(game_id, call.actor_id)
    draw = f"result of game {game_id}"
    if body.dry_run or body.correction is not UNSET:
        correction = corrections.correct_result(call, outcome, draw, body.correction, dry_run=body.dry_run)
        return RecordedGame(data=_current_game(call), correction=correction)

    def rule(tournament: Tournament) -> commands.Decision:
        game = results.find_game(tournament, game_id)
        decision = commands.decide_by_draw(
            tournament,
            draw,
            lambda dice: tournament_commands.record_result(tournament, outcome, dice, call.now),
        )
        refuse_overwrite(call, tournament, game, decision.changes)
        return decision

    before = _current_game(call) if outcome.gave_up_ids else None
    after = commands.run_command(call, rule, is_allowed=access.may_score, is_result=True)
    if before is not None and all(game.game_id != game_id for game in after.games):
        # A game of a frenzy that both gave up is gone.
        return RecordedGame(data=before)
    return RecordedGame(data=_current_game(call))


def record_leg(call: Write[NewLeg]) -> Leg:
    """Record the next single game of a match."""
    game_id, body = call.ids[GAME], call.body

    def rule(tournament: Tournament, dice: Random) -> list[Change]:
        arena_id = body.arena_id
        if isinstance(arena_id, UnsetType):
            arena_id = game_commands.expected_arena_id(tournament, results.find_game(tournament, game_id))
        leg = model.Leg(finishing_order=body.result_positions, arena_id=arena_id)
        return game_commands.add_leg(tournament, game_id, leg, call.actor_id, dice, call.now)

    after = _run_on_legs(call, rule)
    number = len(results.find_game(after, game_id).legs)
    return reads.find_leg(call.db, call.ids[TOURNAMENT], game_id, number)


def change_leg(call: Write[LegPatch]) -> Leg:
    """Correct a single game of a match; in a decided match only the organizer."""
    game_id, number, body = call.ids[GAME], call.ids[LEG], call.body

    def rule(tournament: Tournament, dice: Random) -> list[Change]:
        leg = game_commands.find_leg(tournament, game_id, number)
        if not isinstance(body.arena_id, UnsetType):
            leg = replace(leg, arena_id=body.arena_id)
        if not isinstance(body.result_positions, UnsetType):
            leg = replace(leg, finishing_order=body.result_positions)
        return game_commands.change_leg(tournament, game_id, number, leg, call.actor_id, dice, call.now)

    _run_on_legs(call, rule)
    return reads.find_leg(call.db, call.ids[TOURNAMENT], game_id, number)


def delete_leg(call: Write[Body]) -> Leg:
    """Delete a single game of a match; returns it as it was."""
    game_id, number = call.ids[GAME], call.ids[LEG]
    commands.load_tournament(call, access.may_score)
    before = reads.find_leg(call.db, call.ids[TOURNAMENT], game_id, number)
    _run_on_legs(
        call,
        lambda tournament, dice: game_commands.delete_leg(
            tournament, game_id, number, call.actor_id, dice, call.now
        ),
    )
    return before


def _run_on_legs(call: Write[Any], rule: Callable[[Tournament, Random], list[Change]]) -> Tournament:
    """Run the rule with the dice of the match; only the organizer changes a decided match."""
    game_id = call.ids[GAME]

    def decide(tournament: Tournament) -> commands.Decision:
        game = results.find_game(tournament, game_id)
        # The same dice however the match is entered, so that the same arenas are drawn for what follows.
        draw = f"result of game {game_id}"
        decision = commands.decide_by_draw(tournament, draw, lambda dice: rule(tournament, dice))
        refuse_overwrite(call, tournament, game, decision.changes)
        return decision

    return commands.run_command(call, decide, is_allowed=access.may_score, is_result=True)


def clear_result(call: Write[Body]) -> Game:
    """Clear a result; returns the game, or its last state where it disappears with its result."""
    return _changed_game(
        call, lambda tournament: tournament_commands.clear_result(tournament, call.ids[GAME])
    )


def change_game(call: Write[GamePatch]) -> Game:
    """Change the order, the arena or a player of an open game."""
    game_id = call.ids[GAME]
    body = call.body

    def rule(tournament: Tournament) -> list[Change]:
        changes: list[Change] = []
        if not isinstance(body.swap, UnsetType):
            player_id = body.swap.player_id
            if player_id not in results.find_game(tournament, game_id).player_ids:
                sentence = Sentence("{player} is not in {game}.", player=player_id, game=game_id)
                raise Invalid({"swap.playerId": [sentence]})
            changes += game_commands.swap_players(tournament, player_id, body.swap.with_player_id)
        if not isinstance(body.arena_id, UnsetType):
            changes += game_commands.change_arena(apply_changes(tournament, changes), game_id, body.arena_id)
        if not isinstance(body.player_ids, UnsetType):
            changes += game_commands.change_order(
                apply_changes(tournament, changes), game_id, body.player_ids
            )
        return changes

    def is_allowed(caller: AuthenticatedCaller, tournament: Tournament) -> bool:
        return (
            _may_change_order(caller, tournament, game_id)
            if body.is_order_only
            else access.is_organizer(caller, tournament)
        )

    if not body.is_order_only and not call.caller.may("manage"):
        raise AbilityMissing
    commands.run_command(call, rule, is_allowed=is_allowed)
    return _current_game(call)


def _may_change_order(caller: AuthenticatedCaller, tournament: Tournament, game_id: int) -> bool:
    """Whether the caller keeps scores, or plays in the game and players may set the order."""
    if access.may_score(caller, tournament):
        return True
    if not settings_protocols.may_players_set_order(tournament.settings):
        return False
    return access.plays_in(caller, tournament, results.find_game(tournament, game_id))


def redraw_arena(call: Write[Body]) -> Game:
    """Draw another arena for an open game."""
    game_id = call.ids[GAME]

    def rule(tournament: Tournament) -> commands.Decision:
        arena_id = results.find_game(tournament, game_id).arena_id
        draw = f"arena of game {game_id} after {arena_id}"
        return commands.decide_by_draw(
            tournament, draw, lambda dice: game_commands.redraw_arena(tournament, game_id, dice)
        )

    commands.run_command(call, rule)
    return _current_game(call)


def add_player(call: Write[SeatedPlayer]) -> Game:
    """Add a player to a game of the open round."""
    game_id, player_id = call.ids[GAME], call.body.player_id
    return _changed_game(
        call,
        lambda tournament: commands.decide_by_draw(
            tournament,
            f"seat in game {game_id}",
            lambda dice: game_commands.add_player(tournament, game_id, player_id, dice, call.now),
        ),
    )


def remove_player(call: Write[Body]) -> Game:
    """Remove a player from an open game."""
    return _changed_game(
        call, lambda tournament: game_commands.remove_player(tournament, call.ids[GAME], call.ids[PLAYER])
    )


def create_game(call: Write[NewGame]) -> Game:
    """Create a game of chosen players."""
    before = {game.game_id for game in commands.load_tournament(call).games}
    body = call.body
    arena_id = body.arena_id if isinstance(body.arena_id, int) else None
    after = commands.run_command(
        call,
        lambda tournament: commands.decide_by_draw(
            tournament,
            f"game {len(tournament.games)}",
            lambda dice: game_commands.create_game(
                tournament, body.player_ids, arena_id, dice=dice, now=call.now
            ),
        ),
    )
    (game_id,) = (game.game_id for game in after.games if game.game_id not in before)
    return reads.find_game(call.db, call.ids[TOURNAMENT], game_id)


def delete_game(call: Write[Body]) -> Game:
    """Delete a game; returns its last state."""
    game_id = call.ids[GAME]
    return _changed_game(
        call,
        lambda tournament: commands.decide_by_draw(
            tournament,
            f"end of game {game_id}",
            lambda dice: game_commands.delete_game(tournament, game_id, dice, call.now),
        ),
    )


def _changed_game(call: Write[Any], rule: commands.CommandRule) -> Game:
    """Run the rule and return the game, or its last state where the rule removed it."""
    results.find_game(commands.load_tournament(call), call.ids[GAME])
    before = _current_game(call)
    after = commands.run_command(call, rule)
    is_there = any(game.game_id == call.ids[GAME] for game in after.games)
    return _current_game(call) if is_there else before


def _current_game(call: Write[Any]) -> Game:
    """The game as its route shows it: as it was just announced, or read again."""
    # A dry run on a page has no transaction.
    if call.transaction is not None:
        announced: Game | None = call.transaction.announced_models.get("games", {}).get(call.ids[GAME])
        if announced is not None and announced.tournament_id == call.ids[TOURNAMENT]:
            return announced
    return reads.find_game(call.db, call.ids[TOURNAMENT], call.ids[GAME])


SUGGESTED_TOURNAMENT, SUGGESTED_GAME, SUGGESTION = "tournament_id", "game_id", "suggestion_id"


def suggest_result(call: Write[ReportedResult]) -> Game:
    """Report the result of a game as one of its players."""
    game_id = call.ids[SUGGESTED_GAME]
    outcome = call.body.outcome(game_id, call.actor_id)

    def rule(tournament: Tournament) -> commands.Decision:
        player_id = access.reporting_player_id(
            call.caller, tournament, results.find_game(tournament, game_id)
        )
        # The dice are those of the result, so that its consequences do not depend on who enters it.
        return commands.decide_by_draw(
            tournament,
            f"result of game {game_id}",
            lambda dice: game_commands.suggest_result(tournament, outcome, player_id, dice, call.now),
        )

    commands.run_command(
        call,
        rule,
        is_allowed=lambda caller, tournament: access.may_report(
            caller, tournament, results.find_game(tournament, game_id)
        ),
    )
    return _game_with_suggestion(call, game_id)


def approve_suggestion(call: Write[Body]) -> Game:
    """Make a reported result the result of the game."""

    def rule(tournament: Tournament) -> commands.Decision:
        suggestion = game_commands.find_suggestion(tournament, call.ids[SUGGESTION])
        decision = commands.decide_by_draw(
            tournament,
            f"result of game {suggestion.game_id}",
            lambda dice: game_commands.approve_suggestion(
                tournament, suggestion.suggestion_id, call.actor_id, dice, call.now
            ),
        )
        game = results.find_game(tournament, suggestion.game_id)
        refuse_overwrite(call, tournament, game, decision.changes)
        return decision

    game_id = _suggested_game_id(call)
    commands.run_command(call, rule, is_allowed=access.may_score)
    return _game_with_suggestion(call, game_id)


def decline_suggestion(call: Write[Body]) -> Game:
    """Decline a reported result; its reporter may withdraw it."""
    suggestion_id = call.ids[SUGGESTION]

    def is_allowed(caller: AuthenticatedCaller, tournament: Tournament) -> bool:
        is_own = game_commands.find_suggestion(tournament, suggestion_id).user_id == caller.user_id
        return is_own or access.may_score(caller, tournament)

    game_id = _suggested_game_id(call, is_allowed)
    commands.run_command(
        call,
        lambda tournament: commands.decide_by_draw(
            tournament,
            f"result of game {game_id}",
            lambda dice: game_commands.decline_suggestion(tournament, suggestion_id, dice, call.now),
        ),
        is_allowed=is_allowed,
    )
    return _game_with_suggestion(call, game_id)


def _suggested_game_id(call: Write[Any], is_allowed: commands.Permission = access.may_score) -> int:
    return game_commands.find_suggestion(
        commands.load_tournament(call, is_allowed), call.ids[SUGGESTION]
    ).game_id


def _game_with_suggestion(call: Write[Any], game_id: int) -> Game:
    return reads.find_game(call.db, call.ids[SUGGESTED_TOURNAMENT], game_id)


FRENZY_TOURNAMENT, QUEUE = "tournament_id", "queue_id"


def pause_clock(call: Write[Body]) -> FrenzyState:
    """Stop the clock."""
    return _run_and_load_state(call, lambda tournament, _dice: clocks.pause(tournament, call.now))


def resume_clock(call: Write[Body]) -> FrenzyState:
    """Resume the clock."""
    return _run_and_load_state(call, lambda tournament, dice: clocks.resume(tournament, dice, call.now))


def change_clock(call: Write[ClockAdjustment]) -> FrenzyState:
    """Add time to the clock, or take time off."""
    return _run_and_load_state(
        call,
        lambda tournament, dice: clocks.change_time(tournament, call.body.seconds, dice, call.now),
    )


def start_waiting_players(call: Write[Body]) -> FrenzyState:
    """Start games for waiting players."""
    return _run_and_load_state(
        call,
        lambda tournament, dice: clocks.start_waiting_games(tournament, dice, call.now),
        is_allowed=access.may_score,
    )


def join_queue(call: Write[NewFrenzySpot]) -> FrenzyState:
    """Put a player into the queue again."""
    player_id = call.body.player_id
    return _run_and_load_state(
        call,
        lambda tournament, dice: clocks.join_queue(tournament, player_id, dice, call.now),
        is_allowed=access.may_score,
    )


def leave_queue(call: Write[Body]) -> FrenzyState:
    """Remove a player from the queue."""
    return _run_and_load_state(
        call,
        lambda tournament, _dice: clocks.remove_from_queue(tournament, call.ids[QUEUE]),
        is_allowed=access.may_score,
    )


def send_to_end_of_queue(call: Write[Body]) -> FrenzyState:
    """Move a player to the end of the queue."""
    return _run_and_load_state(
        call,
        lambda tournament, _dice: clocks.move_to_end(tournament, call.ids[QUEUE]),
        is_allowed=access.may_score,
    )


def _run_and_load_state(
    call: Write[Any],
    rule: Callable[[Tournament, Random], Sequence[Change]],
    *,
    is_allowed: commands.Permission = access.is_organizer,
) -> FrenzyState:
    commands.run_command(
        call,
        lambda tournament: commands.decide_by_draw(
            tournament, f"queue after {len(tournament.games)}", lambda dice: rule(tournament, dice)
        ),
        is_allowed=is_allowed,
    )
    return waiting.frenzy_state(call.db, call.ids[FRENZY_TOURNAMENT])


def create_matches(call: Write[Body]) -> tuple[Game, ...]:
    """Create the matches that can be played now."""
    before = {game.game_id for game in commands.load_tournament(call, _may_create).games}
    after = commands.run_long_command(
        call,
        lambda tournament: commands.decide_by_draw(
            tournament,
            f"matches after {len(tournament.games)}",
            lambda dice: clocks.create_matches(tournament, dice, call.now),
        ),
        is_allowed=_may_create,
    )
    new_ids = [game.game_id for game in after.games if game.game_id not in before]
    return reads.selected_games(call.db, call.ids["tournament_id"], new_ids)


def _may_create(caller: AuthenticatedCaller, tournament: Tournament) -> bool:
    if access.may_manage(caller, tournament):
        return True
    return max_matchplay_family.can_scorekeepers_create(tournament) and access.may_score(caller, tournament)


REVISION_LETTERS = 16
# More games than any round has.
GAMES_TYPED_MAX = 300


class ResultAlreadyRecorded(Conflict):
    """The game got another result after the page was opened."""

    sentence = (
        "{game} has another result by now: somebody was quicker. Nothing was changed."
        " Correct it under Results if it is wrong."
    )


class GameChangedMeanwhile(Conflict):
    """The game got another machine or other players after the page was opened."""

    sentence = (
        "{game} was changed after this was entered: it has another machine or other players now."
        " Nothing was changed."
    )


class LegAlreadyRecorded(Conflict):
    """A single game was recorded or deleted after the page was opened."""

    sentence = (
        "{game} has {count} single games by now: somebody was quicker. Nothing was changed."
        " Look at the match, then record the next one."
    )


def game_revision(game: model.Game) -> str:
    """A short text that changes with the machine, the players, the state and the result of a game."""
    shown = (
        game.status,
        game.arena_id,
        sorted(game.player_ids),
        game.result_positions,
        game.finishing_order,
        game.result_points,
        game.result_scores,
        game.forfeited_by,
        game.gave_up,
        [leg.finishing_order for leg in game.legs],
    )
    return hashlib.sha256(repr(shown).encode()).hexdigest()[:REVISION_LETTERS]


class LegFromPage(NewLeg, frozen=True, kw_only=True):
    """A single game, and its number in the match on the page that it was entered on."""

    number: int


def record_leg_of_page(call: Write[LegFromPage]) -> None:
    """Record the next single game. Raises LegAlreadyRecorded when the page was out of date."""
    game_id = call.ids[GAME]
    game = results.find_game(commands.load_tournament(call, access.may_score), game_id)
    if len(game.legs) + 1 != call.body.number:
        raise LegAlreadyRecorded(game=game_id, count=len(game.legs))
    record_leg(call)


class ResultFromPage(EnteredResult, frozen=True, kw_only=True):
    """A result, and the revision of the game on the page that it was entered on; empty for any."""

    seen: str = ""


class TypedResult(Body, frozen=True, kw_only=True):
    """The players of a game in finishing order, and its revision on the page."""

    game_id: Id
    result_positions: Annotated[Players, Meta(min_length=2)]
    seen: str = ""


class TypedRound(Body, frozen=True, kw_only=True):
    """Results of several games, as they are on a sheet of paper."""

    results: Annotated[tuple[TypedResult, ...], Meta(min_length=1, max_length=GAMES_TYPED_MAX)]


def record_round(call: Write[TypedRound]) -> None:
    """Record all these results, each as an action of its own, or none. Raises as `record_result`."""
    step: Write[Any] = call
    for typed in call.body.results:
        entered = ResultFromPage(result_positions=typed.result_positions, seen=typed.seen)
        record_result_of_page(replace(step, ids={**call.ids, GAME: typed.game_id}, body=entered))


def record_result_of_page(call: Write[ResultFromPage]) -> None:
    """Record a result. Raises ResultAlreadyRecorded or GameChangedMeanwhile when the page was out of date."""
    game_id = call.ids[GAME]
    before = results.find_game(commands.load_tournament(call, access.may_score), game_id)
    is_outdated = call.body.seen not in ("", game_revision(before))
    if is_outdated and before.status != "completed":
        raise GameChangedMeanwhile(game=game_id)
    record_result(call)
    tournament = commands.load_tournament(call, access.may_score)
    after = next((game for game in tournament.games if game.game_id == game_id), None)
    # The same result again is no conflict.
    if is_outdated and after != before:
        raise ResultAlreadyRecorded(game=game_id)


# A result taken back in the row where it was entered.


class ResultOfSomebodyElse(Conflict):
    """The result was entered by another account or device."""

    sentence = "Somebody else entered the result of {game}. Only they and the organizer can take it back."


class SeenGame(Body, frozen=True, kw_only=True):
    """The revision of the game on the page; empty for any."""

    seen: str = ""


def take_back_result(call: Write[SeenGame]) -> None:
    """Clear the result of an open round, as whoever entered it or as the organizer.

    Raises ResultAlreadyRecorded when the page showed another one.
    """
    game_id = call.ids[GAME]

    def rule(tournament: Tournament) -> list[Change]:
        game = results.find_game(tournament, game_id)
        if call.body.seen not in ("", game_revision(game)):
            raise ResultAlreadyRecorded(game=game_id)
        if not (access.may_manage(call.caller, tournament) or _has_entered(call, game)):
            raise ResultOfSomebodyElse(game=game_id)
        return tournament_commands.clear_result(tournament, game_id)

    commands.run_command(call, rule, is_allowed=access.may_score)


def _has_entered(call: Write[Any], game: model.Game) -> bool:
    """Whether the caller's account, or their device, entered the result."""
    device = call.caller.device
    if device is None:
        return game.scorekeeper_id is not None and game.scorekeeper_id == call.actor_id
    entry = journal.newest_result(call.db, call.ids[TOURNAMENT], game.game_id)
    return (
        entry is not None and journal.device_of(call.db, call.ids[TOURNAMENT], entry[0]) == device.device_id
    )
