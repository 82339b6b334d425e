"""Draws: the commitment to their seed, the version of their rules, and what they take from outside."""

import hashlib
import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from random import Random
from typing import Any

import msgspec
from msgspec import Struct, UnsetType, field

from silverball.kit.errors import Refusal
from silverball.kit.values import convert, replace
from silverball.rules.commands import clocks, games, giving_up, roster, tiebreaks
from silverball.rules.commands import tournament as commands
from silverball.rules.mechanics import attempts
from silverball.rules.model import outcome
from silverball.rules.model.apply import ID_FIELDS, apply_changes
from silverball.rules.model.changes import (
    Added,
    Altered,
    ArenaAdded,
    Change,
    DrawRemembered,
    EntrantAdded,
    EntrantChanged,
    EntrantRemoved,
    GameOpened,
    SinglePlayerGameChanged,
    TournamentAltered,
    TournamentCompleted,
    opposite_changes,
)
from silverball.rules.model.outcome import AttemptOutcome, GameOutcome, Outcome
from silverball.rules.model.tournament import OUTSIDE_FACTS, EngineState, Game, Tournament

# Raised when the same seed, tournament and facts give another draw than before: a test compares draws of all
# formats with tests/golden/draws.json.
DRAW_VERSION = 3
# Facts of the engine's state that are looked up for a draw and not stored in the tournament.
LOOKED_UP_FACTS = ("series_groups", "series_plays", "seed_facts")
# Who and what was passed over, because it was busy in another tournament of the occasion.
BUSY_FACTS = ("players_elsewhere", "arenas_elsewhere")


def commitment(dice_seed: str) -> str:
    """The hash that is published before a draw: SHA-256 of the seed's text, in hex."""
    return hashlib.sha256(dice_seed.encode()).hexdigest()


def facts_from_outside(informed: Tournament) -> dict[str, Any]:
    """The facts that a draw takes from outside the tournament, for the journal; empty for most draws."""
    facts = {
        name: msgspec.to_builtins(getattr(informed.state, name), str_keys=True) for name in LOOKED_UP_FACTS
    }
    facts["categories"] = {
        str(arena.arena_id): arena.category_id for arena in informed.lineup if arena.category_id is not None
    }
    facts["banks"] = {str(bank.bank_id): list(bank.arena_ids) for bank in informed.banks}
    return {name: value for name, value in facts.items() if value} | room_facts(informed)


def room_facts(informed: Tournament) -> dict[str, Any]:
    """The facts by which a draw passes over players and arenas, for the journal; mostly none."""
    limits = informed.state.arena_limits
    facts: dict[str, Any] = {}
    if not isinstance(limits, UnsetType):
        facts["arena_limits"] = {str(arena_id): limits[arena_id] for arena_id in sorted(limits)}
    for name in BUSY_FACTS:
        value = getattr(informed.state, name)
        if not isinstance(value, UnsetType):
            facts[name] = list(value)
    return facts


def with_facts(tournament: Tournament, facts: Mapping[str, Any]) -> Tournament:
    """The tournament with the facts that a draw took from outside."""
    looked_up = {name: facts[name] for name in OUTSIDE_FACTS if name in facts}
    decoded = convert(looked_up, EngineState, strict=False)
    state = replace(tournament.state, **{name: getattr(decoded, name) for name in OUTSIDE_FACTS})
    categories, banks = facts.get("categories", {}), facts.get("banks", {})
    return replace(
        tournament,
        state=state,
        lineup=tuple(
            replace(arena, category_id=categories.get(str(arena.arena_id))) for arena in tournament.lineup
        ),
        banks=tuple(
            replace(bank, arena_ids=tuple(banks.get(str(bank.bank_id), ()))) for bank in tournament.banks
        ),
    )


# Draws made again from their seeds: does the journal hold what the dice gave?
#
# Each drawn action is made again on the tournament as it stood before it, by the rules that make draws,
# with the dice of its journalled seed. What somebody entered (a result) is read from the changes
# themselves.


# Takes the tournament before the draw, dice and time, and makes the draw.
Draw = Callable[[Tournament, Random, datetime], Sequence[Change]]


class DrawnAction(Struct, frozen=True, kw_only=True):
    """An action of the journal; drawn, if it has a seed."""

    action_id: int
    at: datetime
    changes: Sequence[Change]
    # `seed/draw/redraws`; None without a draw.
    dice_seed: str | None = None
    draw_version: int | None = None
    is_undo: bool = False
    # What the draw took from outside the tournament.
    facts: Mapping[str, Any] = msgspec.field(default_factory=dict)


class RemadeDraws(Struct):
    """Draws that were made again: the same, others, and those that cannot be."""

    # Names of the draws that gave the same again.
    same: list[str] = field(default_factory=list)
    # Number of the action -> name of a draw by rules of an earlier version, which gave something else.
    earlier: dict[int, str] = field(default_factory=dict)
    # Names of those that cannot be made again from the journal: what somebody entered is not known exactly.
    not_remade: list[str] = field(default_factory=list)
    faults: list[str] = field(default_factory=list)


def make_draws_again(stored: Tournament, actions: Sequence[DrawnAction]) -> RemadeDraws:
    """Make every draw of these actions again, which lead to the stored tournament; first to last."""
    remade = RemadeDraws()
    tournament = stored
    # Seed -> the first action that showed it, because it completed the tournament.
    shown: dict[str, int] = {}
    for action in reversed(actions):
        is_completed = any(isinstance(change, TournamentCompleted) for change in action.changes)
        if is_completed and tournament.state.dice_seed:
            shown[tournament.state.dice_seed] = action.action_id
        tournament = apply_changes(tournament, opposite_changes(action.changes))
        if action.dice_seed is not None and not action.is_undo and action.changes:
            _make_again(tournament, action, remade)
    for names in (remade.same, remade.not_remade, remade.faults):
        names.reverse()
    remade.faults += [
        f"Action {action.action_id} was drawn with a seed that action {shown[seed]} had shown to everybody."
        for action, seed in ((action, (action.dice_seed or "").partition("/")[0]) for action in actions)
        if action.draw_version is not None and action.action_id > shown.get(seed, action.action_id)
    ]
    return remade


def _make_again(before: Tournament, action: DrawnAction, remade: RemadeDraws) -> None:
    assert action.dice_seed is not None
    seed, _, rest = action.dice_seed.partition("/")
    draw, _, count = rest.rpartition("/")
    where = f"Action {action.action_id} ({draw})"
    if draw.startswith("playoffs "):
        # The seed and the places are those of the qualifying tournament.
        remade.not_remade.append(where)
        return
    if seed != before.state.dice_seed:
        remade.faults.append(f"{where} was drawn with another seed than the tournament's.")
        return
    current, first = before, list[Change]()
    if isinstance(action.changes[0], DrawRemembered) and draw.startswith("round "):
        first = commands.request_redraw(before, draw)
        current = apply_changes(before, first)
    if count != str(current.state.redraws.get(draw, 0)):
        remade.faults.append(f"{where} says that it was drawn again {count} times, which it was not.")
        return
    made = [[*first, *changes] for changes in _attempts(current, action, draw)]
    # The sign-up list follows from what was drawn, by itself.
    drawn = [change for change in action.changes if change.part != "sign_ups"]
    if any(_same(drawn, changes) for changes in made):
        remade.same.append(where)
    elif (action.draw_version or 0) < DRAW_VERSION:
        remade.earlier[action.action_id] = where
    elif made and action.draw_version == DRAW_VERSION and _is_exact(draw, before):
        remade.faults.append(f"{where} is not what its dice give: the draw was chosen by somebody.")
    else:
        remade.not_remade.append(where)


def _is_exact(draw: str, before: Tournament) -> bool:
    """Whether all that the draw took is known, so that another outcome is a fault."""
    if draw == "start" or draw.startswith("round "):
        return True
    # Categories and banks are looked up when a game is drawn, and may have changed since.
    is_bound = all(arena.category_id is None for arena in before.lineup) and not before.banks
    return is_bound and draw.startswith(("matches after ", "arena of game "))


def _attempts(current: Tournament, action: DrawnAction, draw: str) -> Iterator[Sequence[Change]]:
    """The changes of each way in which the draw may have been asked for."""
    informed = with_facts(current, action.facts) if action.draw_version is not None else current
    for make in _ways(action, draw):
        try:
            yield make(informed, Random(action.dice_seed), action.at)  # noqa: S311  # a draw, not a secret
        except (Refusal, LookupError, ValueError):
            continue


def _ways(action: DrawnAction, draw: str) -> Iterable[Draw]:
    """The ways in which the action may have been asked for."""
    number = next((int(digits) for digits in re.findall(r"\d+", draw)), 0)
    for prefix, ways in WAYS.items():
        if draw.startswith(prefix):
            return ways(action, number)
    return _roster_draws(action)


def _start(tournament: Tournament, dice: Random, now: datetime) -> Sequence[Change]:
    changes = commands.start(tournament, dice, now)
    started = apply_changes(tournament, changes)
    given = attempts.give_entries(started, started.active_ids, attempts.automatic_entries(started), now)
    return [*changes, *given]


def _recorded(outcome: Outcome) -> Draw:
    return lambda tournament, dice, now: commands.record_result(tournament, outcome, dice, now)


def _outcomes(action: DrawnAction, game_id: int) -> Iterator[GameOutcome]:
    """The ways in which the result of the game may have been entered."""
    for change in action.changes:
        if not isinstance(change, Altered) or not isinstance(change.after, Game):
            continue
        game = change.after
        if game.game_id != game_id:
            continue
        entered = GameOutcome(game_id=game_id, recorded_by=game.scorekeeper_id)
        scores = {
            player_id: score
            for player_id, score in zip(game.player_ids, game.result_scores, strict=False)
            if score is not None
        }
        positions = tuple(player_id for player_id in game.result_positions if player_id is not None)
        for order in filter(None, (positions, game.finishing_order)):
            yield replace(entered, finishing_order=order, scores=scores)
        if scores:
            yield replace(entered, scores=scores)
        strikers = [
            player_id
            for player_id, points in zip(game.player_ids, game.result_points, strict=False)
            if points
        ]
        yield replace(entered, strikers=tuple(strikers))
        yield replace(entered, gave_up=game.gave_up_ids)
        for order in filter(None, (positions, game.finishing_order)):
            yield replace(entered, finishing_order=order, scores=scores, gave_up=game.gave_up_ids)
        won = {
            player_id: int(points)
            for player_id, points in zip(game.player_ids, game.result_points, strict=False)
            if points is not None
        }
        yield replace(entered, games_won=won)
        yield replace(entered, legs=game.legs)
        return


def _attempt_outcomes(action: DrawnAction, game_id: int) -> Iterator[AttemptOutcome]:
    """The ways in which the result of the single player game may have been entered."""
    for change in action.changes:
        if not isinstance(change, SinglePlayerGameChanged) or change.after.single_player_game_id != game_id:
            continue
        attempt = change.after
        entered = AttemptOutcome(single_player_game_id=game_id, recorded_by=attempt.scorekeeper_id)
        yield replace(entered, rolls=attempt.rolls)
        yield replace(entered, score=attempt.score)
        for strokes in {attempt.score, None if attempt.points is None else int(attempt.points)} - {None}:
            yield replace(entered, strokes=strokes)
        yield replace(entered, is_advanced=True)
        return


def _created_games(action: DrawnAction) -> Iterator[Draw]:
    """The ways in which a game of chosen players may have been asked for."""
    opened = [change.subject for change in action.changes if isinstance(change, GameOpened)]
    for game in opened[:1]:
        for arena_id in (None, game.arena_id):
            # The players are named in any order.
            for player_ids in (game.player_ids, tuple(sorted(game.player_ids))):
                yield _created(player_ids, arena_id)


def _created(player_ids: tuple[int, ...], arena_id: int | None) -> Draw:
    return lambda tournament, dice, now: games.create_game(
        tournament, player_ids, arena_id, dice=dice, now=now
    )


def _roster_draws(action: DrawnAction) -> Iterator[Draw]:
    """Players and arenas that came, left or changed their status."""
    entrants = [change.subject for change in action.changes if isinstance(change, EntrantAdded)]
    arenas = [change.subject for change in action.changes if isinstance(change, ArenaAdded)]
    if entrants:
        yield lambda tournament, dice, now: commands.add_entrants(tournament, entrants, dice, now)
    if arenas:
        yield lambda tournament, dice, now: roster.add_arenas(tournament, arenas, dice, now)
    first = action.changes[0]
    if isinstance(first, EntrantChanged):
        player_id, is_active = first.after.player_id, first.after.is_active
        yield lambda tournament, dice, now: commands.set_active(
            tournament, player_id, is_active=is_active, dice=dice, now=now
        )
    removed = next((change.subject for change in action.changes if isinstance(change, EntrantRemoved)), None)
    if removed is not None:
        yield lambda tournament, dice, now: commands.remove_entrant(
            tournament, removed.player_id, dice=dice, now=now
        )


def _same(stored: Sequence[Change], made: Sequence[Change]) -> bool:
    """Whether these are the same changes, but for the ids of new things."""
    ids: dict[str, list[int]] = defaultdict(list)
    for change in stored:
        if isinstance(change, Added):
            ids[change.part].append(getattr(change.subject, ID_FIELDS[change.part]))
    try:
        numbered = outcome.assign_ids(made, lambda part: ids[part].pop(0))
    except IndexError:
        return False
    return list(map(_comparable, numbered)) == list(map(_comparable, stored))


def _comparable(change: Change) -> Any:
    if not isinstance(change, TournamentAltered):
        return change
    sides = [
        {name: value.persistent if name == "state" else value for name, value in side.items()}
        for side in (change.before, change.after)
    ]
    return type(change), sides


# Beginning of a draw's name -> the ways in which it may have been asked for. Takes the number in the name.
WAYS: Mapping[str, Callable[[DrawnAction, int], Iterable[Draw]]] = {
    "start": lambda _action, _number: [_start],
    "round ": lambda _action, _number: [commands.open_round],
    "matches after ": lambda _action, _number: [clocks.create_matches],
    "queue after ": lambda _action, _number: [clocks.start_waiting_games, clocks.resume],
    "arena of game ": lambda _action, game_id: [
        lambda tournament, dice, _now: games.redraw_arena(tournament, game_id, dice),
        lambda tournament, dice, now: tiebreaks.start_over(tournament, game_id, None, dice, now),
    ],
    "forfeits of player ": lambda _action, player_id: [
        lambda tournament, dice, now: commands.forfeit_open_games(tournament, player_id, dice, now),
        lambda tournament, dice, now: giving_up.leave(tournament, player_id, dice, now),
        lambda tournament, dice, now: giving_up.take_out_who_did_not_come(tournament, player_id, dice, now),
    ],
    "end of game ": lambda _action, game_id: [
        lambda tournament, dice, now: games.delete_game(tournament, game_id, dice, now)
    ],
    "result of game ": lambda action, game_id: map(_recorded, _outcomes(action, game_id)),
    "single player game ": lambda action, game_id: map(_recorded, _attempt_outcomes(action, game_id)),
    "game ": lambda action, _number: _created_games(action),
}
