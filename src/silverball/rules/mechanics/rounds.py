"""Rounds: opening, completing and deleting them. Source: formats, section 2."""

from collections.abc import Callable, Mapping, Sequence
from datetime import datetime, timedelta
from decimal import Decimal
from random import Random

from msgspec import UNSET

from silverball.kit.errors import Conflict, NotFound
from silverball.kit.values import replace
from silverball.rules.drawing import groups
from silverball.rules.drawing.groups import Draw
from silverball.rules.mechanics import lineups, results, seeding
from silverball.rules.model import moments
from silverball.rules.model.changes import (
    Change,
    GameDeleted,
    GameOpened,
    QueueLeft,
    RoundCompleted,
    RoundDeleted,
    RoundOpened,
    RoundReopened,
    SinglePlayerGameDeleted,
    SuggestionDecided,
)
from silverball.rules.model.tournament import Game, Round, Tournament

BYE_SET_NUMBER = 9999
NAMES_MAX = 5


class RoundHasOpenGames(Conflict):
    sentence = "{round} still has open games: {listed}. Record their results first."


class NotTheNewestRound(Conflict):
    sentence = "Only the newest round can be deleted. Delete {newest} first."


def find_round(tournament: Tournament, round_id: int) -> Round:
    """A round of the tournament. Raises NotFound."""
    found = tournament.round_by_id.get(round_id)
    if found is None:
        raise NotFound("Round", round_id)
    return found


def complete_round(tournament: Tournament, round_: Round, now: datetime) -> list[Change]:
    """Complete a round; no change when it is complete already. Raises Conflict that lists open games."""
    if round_.status == "completed":
        return []
    games = results.open_games(tournament.games_by_round.get(round_.round_id, ()))
    still_open = [game.game_id for game in games]
    still_open += [
        attempt.single_player_game_id
        for attempt in tournament.single_player_games
        if attempt.round_id == round_.round_id and attempt.status != "completed"
    ]
    if still_open:
        named = ", ".join(str(game_id) for game_id in still_open[:NAMES_MAX])
        more = f" and {len(still_open) - NAMES_MAX} more" if len(still_open) > NAMES_MAX else ""
        raise RoundHasOpenGames(round=round_.name, listed=named + more)
    return [completion(round_, now)]


def open_round(
    tournament: Tournament,
    draw: Draw,
    *,
    games: int,
    positions: Mapping[int, int],
    bye_points: Decimal,
    has_advantage: bool,
    dice: Random,
    now: datetime,
) -> list[Change]:
    """Open a new round with one or more games per group, and a bye game per bye.

    Takes the draw, the games per group, the positions by player id, the points of a bye and whether slot
    0 has the advantage (head-to-head formats). New ids are negative, falling from -1.
    """
    index = max((round_.round_index for round_ in tournament.rounds), default=-1) + 1
    new = Round(
        round_id=-1,
        round_index=index,
        status="started",
        name=f"Round {index + 1}",
        created_at=now,
    )
    seats = lineups.assign_groups(tournament, draw.groups, games=games, positions=positions, dice=dice)
    drawn_games: list[Game] = []
    for set_number, seat in enumerate(seats):
        for game_index, (arena_id, order) in enumerate(zip(seat.arena_ids, seat.playing_orders, strict=True)):
            drawn_games.append(
                replace(
                    new_game(
                        -1 - len(drawn_games), order, now=now, arena_id=arena_id, has_advantage=has_advantage
                    ),
                    round_id=-1,
                    set_number=set_number,
                    game_index=game_index,
                    bank_id=seat.bank_id,
                )
            )
    for player_id in draw.byes:
        drawn_games.append(bye_game(-1 - len(drawn_games), player_id, -1, bye_points))
    return [RoundOpened(new), *(GameOpened(game) for game in drawn_games)]


def new_game(
    game_id: int,
    player_ids: Sequence[int],
    *,
    now: datetime,
    arena_id: int | None = None,
    has_advantage: bool = False,
) -> Game:
    """A started game outside a round, without a result."""
    nothing: tuple[None, ...] = (None,) * len(player_ids)
    return Game(
        game_id=game_id,
        round_id=None,
        status="started",
        player_ids=tuple(player_ids),
        result_positions=nothing,
        result_points=nothing,
        result_scores=nothing,
        arena_id=arena_id,
        started_at=now,
        advantage_id=player_ids[0] if has_advantage else None,
    )


def bye_game(game_id: int, player_id: int, round_id: int, points: Decimal) -> Game:
    """A bye game, completed from the start. Source: formats, section 9."""
    return Game(
        game_id=game_id,
        round_id=round_id,
        status="completed",
        player_ids=(player_id,),
        result_positions=(player_id,),
        result_points=(points,),
        result_scores=(None,),
        set_number=BYE_SET_NUMBER,
        is_bye=True,
        advantage_id=player_id,
    )


def delete_round(tournament: Tournament, round_: Round) -> list[Change]:
    """Delete the newest round with all its games. Raises Conflict for an older one."""
    newest = tournament.newest_round
    if newest is None or newest.round_id != round_.round_id:
        raise NotTheNewestRound(newest=newest.name if newest else "it")
    games = tournament.games_by_round.get(round_.round_id, ())
    ids = {game.game_id for game in games}
    return [
        *(
            SuggestionDecided(suggestion)
            for suggestion in tournament.suggestions
            if suggestion.game_id in ids
        ),
        *(QueueLeft(spot) for spot in tournament.queue if spot.round_id == round_.round_id),
        *(GameDeleted(game) for game in games),
        *(
            SinglePlayerGameDeleted(game)
            for game in tournament.single_player_games
            if game.round_id == round_.round_id
        ),
        RoundDeleted(round_),
    ]


def open_tiebreak(tournament: Tournament, player_ids: Sequence[int], now: datetime) -> list[Change]:
    """Open a tiebreak game of these players, in the open round or outside of any.

    The organizer chooses its arena. Source: formats, section 13.4.
    """
    newest = tournament.newest_round
    is_open = newest is not None and newest.status == "started"
    return open_tiebreak_in_round(tournament, newest if is_open else None, player_ids, now)


def open_tiebreak_outside_rounds(
    tournament: Tournament, player_ids: Sequence[int], now: datetime
) -> list[Change]:
    """Open a tiebreak game outside of any round, where rounds come from a schedule."""
    return open_tiebreak_in_round(tournament, None, player_ids, now)


def open_tiebreak_in_round(
    tournament: Tournament, round_: Round | None, player_ids: Sequence[int], now: datetime
) -> list[Change]:
    """Open a tiebreak in this round, as a group after all others; the better seed plays first.

    More than four players play several games, which are one group and are compared by their scores.
    """
    round_id = None if round_ is None else round_.round_id
    ordered = [player_id for player_id in seeding.ids_by_seed(tournament) if player_id in set(player_ids)]
    ordered += [player_id for player_id in player_ids if player_id not in ordered]
    sets = [game.set_number for game in tournament.games_by_round.get(round_id, ()) if not game.is_bye]
    return [
        GameOpened(
            replace(
                new_game(-1 - index, group, now=now),
                round_id=round_id,
                set_number=max(sets, default=-1) + 1,
                game_index=index,
                is_tiebreak=True,
            )
        )
        for index, group in enumerate(groups.slice_into_groups(ordered))
    ]


def settle_rounds(
    tournament: Tournament, is_settled: Callable[[Tournament, Round], bool], now: datetime | None
) -> list[Change]:
    """Complete settled rounds and reopen those that are no longer settled.

    Without a time, only reopen. For formats whose rounds are made by the schedule or by results.
    """
    changes: list[Change] = []
    for round_ in tournament.rounds_in_order:
        settled = is_settled(tournament, round_)
        if settled and round_.status == "started" and now is not None:
            changes.append(completion(round_, now))
        elif not settled and round_.status == "completed":
            changes.append(RoundReopened(round_, replace(round_, status="started", completed_at=None)))
    return changes


def is_round_played(tournament: Tournament, round_: Round) -> bool:
    """Whether every game of the round has its result."""
    return not results.open_games(tournament.games_by_round.get(round_.round_id, ()))


def completion(round_: Round, now: datetime | None) -> RoundCompleted:
    """The change that completes a round, not before it began."""
    completed_at = moments.end_at(round_.created_at, now)
    return RoundCompleted(round_, replace(round_, status="completed", completed_at=completed_at))


# The round timer: when the open round runs out of time.


def round_ends_at(tournament: Tournament) -> datetime | None:
    """When the time of the open round is up; None without a timer, and while no round is open."""
    state, newest = tournament.state, tournament.newest_round
    if state.round_minutes is None or tournament.status != "started":
        return None
    if newest is None or newest.status == "completed":
        return None
    if state.timed_round_id == newest.round_id:
        return state.timed_round_ends_at
    opened_at = newest.created_at
    return None if opened_at is None else opened_at + timedelta(minutes=state.round_minutes)


def game_ends_at(tournament: Tournament, game: Game) -> datetime | None:
    """When the time of a game of the open round is up; None without a timer, and while its clock stands.

    A game that waited for its machine, or was started over on another one, began later than its round:
    it has so much more time. Extra time for the game alone comes on top.
    """
    ends_at, newest = round_ends_at(tournament), tournament.newest_round
    if ends_at is None or newest is None or game.waiting_since is not UNSET:
        return None
    if game.round_id == newest.round_id and game.started_at is not None and newest.created_at is not None:
        ends_at += max(game.started_at - newest.created_at, timedelta())
    return max(ends_at, tournament.state.extended_ends.get(game.game_id, ends_at))


def late_games(tournament: Tournament, now: datetime) -> list[tuple[Game, timedelta]]:
    """The open games whose time is up, and for how long it has been, the latest first."""
    ends = [(game, game_ends_at(tournament, game)) for game in tournament.open_games]
    late = [(game, now - ends_at) for game, ends_at in ends if ends_at is not None and ends_at <= now]
    return sorted(late, key=lambda pair: (-pair[1], pair[0].game_id))


# Abandoned tournaments, which are closed automatically. Source: formats, section 23.


IDLE_MAX = timedelta(hours=48)


def is_idle(touched_at: datetime, ends_at: datetime | None, now: datetime) -> bool:
    """Whether nothing happened for more than 48 hours and the planned end, if any, has passed.

    Takes the time of the last result, round, game, or change of players or settings.
    """
    return now - touched_at > IDLE_MAX and (ends_at is None or ends_at <= now)
