"""Single player games, cards, queues and entries, changed. Rules: rules/commands/single_player.py."""

import hashlib
from decimal import Decimal
from typing import Annotated, Any, Literal

from msgspec import UNSET, Meta, UnsetType

from silverball.kit.errors import Conflict, Invalid, Sentence
from silverball.kit.http.body import Body
from silverball.kit.http.fields import ID_MAX, Id
from silverball.rules.commands import sign_ups
from silverball.rules.commands import single_player as single_player_commands
from silverball.rules.commands import tournament as tournament_commands
from silverball.rules.families import amazing_race
from silverball.rules.families import best_game as best_game_family
from silverball.rules.mechanics import attempts
from silverball.rules.model.changes import Change
from silverball.rules.model.outcome import AttemptOutcome, NewAttempt
from silverball.rules.model.tournament import Purchase, SinglePlayerGame, Tournament
from silverball.service.core import access, commands, corrections
from silverball.service.core.access import AuthenticatedCaller
from silverball.service.core.calls import Write
from silverball.service.core.commands import Decision
from silverball.service.games.bodies import Forfeit, ResultCorrection, given_up_ids, require_reason
from silverball_wire.singleplayer import Correction

Score = Annotated[int, Meta(ge=0, le=ID_MAX)]
Strokes = Annotated[int, Meta(ge=1, le=1000)]
Rolls = Annotated[tuple[Annotated[int, Meta(ge=0, le=10)], ...], Meta(max_length=3)]
SINGLE_PLAYER_GAME = "single_player_game_id"


class AttemptResult(Body, frozen=True, kw_only=True):
    """The result of a single player game: score, strokes or rolls."""

    score: Score | None = None
    """Score on the machine's display; null for none."""
    strokes: Strokes | None = None
    """Strokes on the hole of a pingolf; null for none."""
    rolls: Rolls = ()
    """Pins of each roll of a frame of pinbowling."""

    def __post_init__(self) -> None:
        has_forfeit = getattr(self, "forfeit", UNSET) is not UNSET
        if self.result_count() + has_forfeit != 1:
            raise Invalid({"score": ["Give the score, the strokes or the rolls: one of them."]})

    def result_count(self) -> int:
        """The number of results in the body, of the three kinds."""
        return (self.score is not None) + (self.strokes is not None) + bool(self.rolls)


class ReplacedAttemptResult(AttemptResult, frozen=True, kw_only=True):
    """The result of a single player game that is there, or the correction of one."""

    correction: ResultCorrection | UnsetType = UNSET
    """Reason to correct a result that is there; for the organizer."""
    dry_run: bool = False
    """Answer with the consequences of the correction and store nothing."""
    forfeit: Forfeit | UnsetType = UNSET
    """Id of the player who gives up this game, in place of a result: the limit of strokes, no pins, a void
    attempt, or out of the race."""

    def __post_init__(self) -> None:
        # `super` needs its arguments in a class that msgspec makes.
        AttemptResult.__post_init__(self)
        if self.forfeit is not UNSET and (self.correction is not UNSET or self.dry_run):
            raise Invalid({"forfeit": ["Enter the right result with a correction, not who gave up."]})
        require_reason(self.correction, dry_run=self.dry_run)


class NewSinglePlayerGame(AttemptResult, frozen=True, kw_only=True):
    """A single player game with its result, or without one to start it.

    Where the format has made the games already, the body refers to the player's open one; `arenaId` and
    `roundId` choose among several.
    """

    player_id: Id
    arena_id: Id | None = None
    """Id of the arena; without it, that of the player's open game."""
    round_id: Id | None = None
    """Id of the hole or frame, where the player has several open games."""

    def __post_init__(self) -> None:
        if self.result_count() > 1:
            raise Invalid({"score": ["Give the score, the strokes or the rolls: only one of them."]})


class GameInProgress(Conflict):
    sentence = "{player} is playing this game already. Record its score."


def add_single_player_game(call: Write[NewSinglePlayerGame]) -> int:
    """Start or record the game in the body; returns its id."""
    existing_ids: list[int] = []

    def rule(tournament: Tournament) -> Decision:
        game = single_player_commands.find_open_attempt(
            tournament, call.body.player_id, arena_id=call.body.arena_id, round_id=call.body.round_id
        )
        if game is None:
            return _open_decision(call, tournament, existing_ids)
        existing_ids.append(game.single_player_game_id)
        if call.body.result_count():
            return _record_decision(call, tournament, game.single_player_game_id)
        return Decision(
            single_player_commands.start_attempt(tournament, game.single_player_game_id, call.now)
        )

    after = commands.run_command(call, rule, is_allowed=access.may_score)
    # The newest game has the highest id.
    return existing_ids[0] if existing_ids else after.single_player_games[-1].single_player_game_id


def _open_decision(
    call: Write[NewSinglePlayerGame], tournament: Tournament, existing_ids: list[int]
) -> Decision:
    body = call.body
    if body.strokes is not None or body.rolls:
        raise Invalid({"score": ["Enter the score: nothing else counts in this tournament."]})
    if body.arena_id is None:
        raise Invalid({"arenaId": ["The arena id field is required."]})
    attempt = NewAttempt(
        player_id=body.player_id, arena_id=body.arena_id, score=body.score, recorded_by=call.actor_id
    )
    playing = best_game_family.running_attempt(tournament, body.player_id, body.arena_id)
    if playing is not None:
        if body.score is None:
            raise GameInProgress(player=body.player_id)
        existing_ids.append(playing.single_player_game_id)
    return Decision(single_player_commands.open_attempt(tournament, attempt, call.now))


def record_single_player_game(call: Write[ReplacedAttemptResult]) -> Correction | UnsetType:
    """Record or correct a result; returns the consequences where one was corrected."""
    game_id, body = call.ids[SINGLE_PLAYER_GAME], call.body
    if body.dry_run or body.correction is not UNSET:
        return corrections.correct_result(
            call, _outcome(call, game_id), _draw_name(game_id), body.correction, dry_run=body.dry_run
        )
    commands.run_command(
        call, lambda tournament: _record_decision(call, tournament, game_id), is_allowed=access.may_score
    )
    return UNSET


def _record_decision(call: Write[Any], tournament: Tournament, game_id: int) -> Decision:
    forfeit = getattr(call.body, "forfeit", UNSET)
    if forfeit is not UNSET:
        return _give_up_decision(call, tournament, game_id, given_up_ids(forfeit))
    outcome = _outcome(call, game_id)
    return commands.decide_by_draw(
        tournament,
        _draw_name(game_id),
        lambda dice: single_player_commands.record_attempt(tournament, outcome, dice, call.now),
    )


def _give_up_decision(
    call: Write[Any], tournament: Tournament, game_id: int, gave_up: tuple[int, ...]
) -> Decision:
    attempt = attempts.find_attempt(tournament, game_id)
    if gave_up != (attempt.player_id,):
        raise Invalid({"forfeit": [Sentence("This game is played by {player}.", player=attempt.player_id)]})
    return commands.decide_by_draw(
        tournament,
        _draw_name(game_id),
        lambda dice: tournament_commands.give_up_attempt(tournament, attempt, dice, call.now),
    )


def _outcome(call: Write[Any], game_id: int) -> AttemptOutcome:
    body: AttemptResult = call.body
    return AttemptOutcome(
        single_player_game_id=game_id,
        score=body.score,
        strokes=body.strokes,
        rolls=body.rolls,
        recorded_by=call.actor_id,
    )


def _draw_name(game_id: int) -> str:
    return f"single player game {game_id}"


def void_single_player_game(call: Write[Body]) -> int:
    """Void a game; returns its id."""
    game_id = call.ids[SINGLE_PLAYER_GAME]
    commands.run_command(
        call,
        lambda tournament: single_player_commands.void_attempt(tournament, game_id, call.now),
        is_allowed=access.may_score,
    )
    return game_id


def unvoid_single_player_game(call: Write[Body]) -> int:
    """Count a voided game again; returns its id."""
    game_id = call.ids[SINGLE_PLAYER_GAME]
    commands.run_command(
        call, lambda tournament: single_player_commands.unvoid_attempt(tournament, game_id, call.now)
    )
    return game_id


def delete_single_player_game(call: Write[Body]) -> bool:
    """Delete a game, or its result where the format made the game. Returns whether the game still exists."""
    game_id = call.ids[SINGLE_PLAYER_GAME]
    after = commands.run_command(
        call, lambda tournament: single_player_commands.delete_attempt(tournament, game_id, call.now)
    )
    return any(game.single_player_game_id == game_id for game in after.single_player_games)


def advance_player(call: Write[Body]) -> int:
    """Advance a player of an amazing race who is above the bar; returns the id of the game."""
    player_id = call.ids["player_id"]
    game_ids: list[int] = []

    def rule(tournament: Tournament) -> Decision:
        draw = f"advance of player {player_id}"
        game = amazing_race.find_open_attempt(tournament, player_id)
        game_ids.extend([] if game is None else [game.single_player_game_id])
        return commands.decide_by_draw(
            tournament,
            draw,
            lambda dice: single_player_commands.advance_player(
                tournament, player_id, recorded_by=call.actor_id, dice=dice, now=call.now
            ),
        )

    commands.run_command(call, rule, is_allowed=access.may_score)
    return game_ids[0]


def void_card(call: Write[Body]) -> int:
    """Void a card with its games, as a scorekeeper or as its player; returns its id."""
    card_id = call.ids["card_id"]

    def is_allowed(caller: AuthenticatedCaller, tournament: Tournament) -> bool:
        own = access.claimed_player_ids(caller, tournament)
        is_own = any(card.card_id == card_id and card.player_id in own for card in tournament.cards)
        return is_own or access.may_score(caller, tournament)

    commands.run_command(
        call,
        lambda tournament: single_player_commands.void_card(tournament, card_id, call.now),
        is_allowed=is_allowed,
    )
    return card_id


def unvoid_card(call: Write[Body]) -> int:
    """Count a voided card again; returns its id."""
    card_id = call.ids["card_id"]
    commands.run_command(
        call, lambda tournament: single_player_commands.unvoid_card(tournament, card_id, call.now)
    )
    return card_id


def delete_card(call: Write[Body]) -> None:
    """Delete a card with its games and its entry."""
    commands.run_command(
        call, lambda tournament: single_player_commands.delete_card(tournament, call.ids["card_id"])
    )


class NewQueueSpot(Body, frozen=True, kw_only=True):
    """A player and the arena to wait for."""

    player_id: Id
    """Id of the player who joins the queue."""
    arena_id: Id
    """Id of the arena to wait for."""


def join_queue(call: Write[NewQueueSpot]) -> int:
    """Put a player at the end of an arena's queue; returns the id of the spot."""
    player_id, arena_id = call.body.player_id, call.body.arena_id
    after = commands.run_command(
        call,
        lambda tournament: single_player_commands.join_queue(tournament, player_id, arena_id, call.now),
        is_allowed=access.may_score,
    )
    # The newest spot has the highest id.
    return max(spot.queue_id for spot in after.queue if spot.player_id == player_id)


def leave_queue(call: Write[Body]) -> None:
    """Remove a spot."""
    queue_id = call.ids["queue_id"]
    commands.run_command(
        call,
        lambda tournament: single_player_commands.leave_queue(tournament, queue_id),
        is_allowed=access.may_score,
    )


def move_in_queue(call: Write[Body]) -> int:
    """Swap an absent player with the next one; returns the id of the spot."""
    queue_id = call.ids["queue_id"]
    commands.run_command(
        call,
        lambda tournament: single_player_commands.move_behind_next(tournament, queue_id),
        is_allowed=access.may_score,
    )
    return queue_id


def start_from_queue(call: Write[Body]) -> int:
    """Start the game of the first player in line; returns the id of the single player game."""
    queue_id = call.ids["queue_id"]
    after = commands.run_command(
        call,
        lambda tournament: single_player_commands.start_from_queue(tournament, queue_id, call.now),
        is_allowed=access.may_score,
    )
    player_id = next(spot.player_id for spot in after.queue if spot.queue_id == queue_id)
    started = [
        game.single_player_game_id
        for game in after.single_player_games
        if game.player_id == player_id and game.status == "started"
    ]
    return max(started)


class NewEntries(Body, frozen=True, kw_only=True):
    """Entries bought, given or refunded; the quantity of a refund is positive too."""

    type: Literal["regular", "comped", "refund"] = "regular"
    """`regular` entries are bought, `comped` ones given, and a `refund` takes entries back."""
    quantity: Annotated[int, Meta(ge=1, le=1000)] = 1
    """Number of entries, also of refunded ones; at least 1."""
    amount: Decimal | None = None
    currency: Annotated[str, Meta(pattern=r"^[A-Z]{3}$")] | None = None

    def __post_init__(self) -> None:
        if self.amount is not None and self.amount < 0:
            raise Invalid({"amount": ["The amount field must be at least 0."]})


def add_entries(call: Write[NewEntries]) -> Purchase:
    """Add the entries to the player in the path, or take refunded ones off."""
    body, player_id = call.body, call.ids["player_id"]
    purchase = Purchase(
        entry_id=-1,
        player_id=player_id,
        type=body.type,
        quantity=-body.quantity if body.type == "refund" else body.quantity,
        amount=body.amount,
        currency=body.currency,
        created_at=call.now,
    )
    after = commands.run_command(call, lambda tournament: sign_ups.record_purchase(tournament, purchase))
    return after.purchases[-1]


REVISION_LETTERS = 16


class AttemptAlreadyRecorded(Conflict):
    """The single player game got another result after the page was opened."""

    sentence = (
        "This game of {player} has another result by now: somebody was quicker. Nothing was changed."
        " Correct it under Results if it is wrong."
    )


class AttemptFromPage(ReplacedAttemptResult, frozen=True, kw_only=True):
    """A result, and the revision of the game on the page that it was entered on; empty for any."""

    seen: str = ""


def attempt_revision(game: SinglePlayerGame) -> str:
    """A short text that changes with the machine, the state and the result of a single player game."""
    shown = (game.status, game.arena_id, game.score, game.points, game.rolls, game.is_voided)
    return hashlib.sha256(repr(shown).encode()).hexdigest()[:REVISION_LETTERS]


def record_attempt_of_page(call: Write[AttemptFromPage]) -> None:
    """Record a result. Raises AttemptAlreadyRecorded when the page was out of date."""
    before = _current_attempt(call)
    record_single_player_game(call)
    is_outdated = call.body.seen not in ("", attempt_revision(before))
    if is_outdated and attempt_revision(_current_attempt(call)) != attempt_revision(before):
        raise AttemptAlreadyRecorded(player=before.player_id)


def _current_attempt(call: Write[AttemptFromPage]) -> SinglePlayerGame:
    tournament = commands.load_tournament(call, access.may_score)
    return attempts.find_attempt(tournament, call.ids[SINGLE_PLAYER_GAME])


class AttemptOfSomebodyElse(Conflict):
    """The result was entered by another account or device."""

    sentence = "Somebody else entered this result of {player}. Only they and the organizer can take it back."


class SeenAttempt(Body, frozen=True, kw_only=True):
    """The revision of the single player game on the page; empty for any."""

    seen: str = ""


def take_back_attempt(call: Write[SeenAttempt]) -> None:
    """Open a recorded single player game again, as the account that recorded it or as the organizer.

    Raises AttemptAlreadyRecorded when the page showed another result.
    """

    def rule(tournament: Tournament) -> list[Change]:
        attempt = attempts.find_attempt(tournament, call.ids[SINGLE_PLAYER_GAME])
        if call.body.seen not in ("", attempt_revision(attempt)):
            raise AttemptAlreadyRecorded(player=attempt.player_id)
        is_own = attempt.scorekeeper_id is not None and attempt.scorekeeper_id == call.actor_id
        if not (is_own or access.may_manage(call.caller, tournament)):
            raise AttemptOfSomebodyElse(player=attempt.player_id)
        return single_player_commands.delete_attempt(tournament, attempt.single_player_game_id, call.now)

    commands.run_command(call, rule, is_allowed=access.may_score)
