"""Max match play: the same number of games for all players, drawn ahead and released as players are free.

The meetings still to be released are in `state.schedule`. Source: formats, section 14.5.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from datetime import datetime
from decimal import Decimal
from random import Random

from msgspec import Struct

from silverball.kit.errors import Conflict
from silverball.kit.values import replace
from silverball.rules.drawing import history, schedule
from silverball.rules.drawing.schedule import FreePlayer, Meeting
from silverball.rules.mechanics import free_games, lineups, results, rounds
from silverball.rules.model import moments, settings_protocols
from silverball.rules.model.apply import apply_changes
from silverball.rules.model.changes import Change, DrawRemembered, GameOpened, tournament_changes
from silverball.rules.model.refusals import AllRoundsPlayed
from silverball.rules.model.settings_protocols import HasMatchRequests, has
from silverball.rules.model.tournament import Entrant, Game, Tournament
from silverball.rules.scoring import point_maps


class NoRoomForMatches(Conflict):
    sentence = "No match can start now: every arena is taken, or as many games run as may."


class NoPairForMatches(Conflict):
    sentence = "No match can start now: those who are free have met already or wait for others."


class TooFewFreePlayers(Conflict):
    sentence = "No match can start now: fewer than two players with games left are free."


class PlayerPlaysElsewhere(Conflict):
    sentence = (
        "{player} plays {other_game} now. Enter the right result of {game} instead, or delete the game."
    )


class ArenaTakenMeanwhile(Conflict):
    sentence = "{arena} is taken by {game}. Enter the right result instead."


class PlayerProgress(Struct, frozen=True, kw_only=True):
    """A player in the live view; completed games only."""

    player_id: int
    game_count: int
    # Seconds since 1970 when the last required game ended, None before.
    completed_time: int | None
    # Arena id -> games on it; opponent id -> games against them.
    arena_counts: Mapping[int, int]
    opponent_counts: Mapping[int, int]
    # In order of play.
    all_opponents: tuple[int, ...]


class LiveView(Struct, frozen=True, kw_only=True):
    """The numbers of the live view. Source: formats, section 14.5; samples/max-matchplay.json."""

    players: tuple[PlayerProgress, ...]
    remaining_games: int
    # Seconds, None before the first game ended.
    avg_game_duration: int | None


def _settings(tournament: Tournament) -> HasMatchRequests:
    assert has(tournament.settings, HasMatchRequests)
    return tournament.settings


def games_per_player(tournament: Tournament) -> int:
    """Games that each player plays."""
    return _settings(tournament).max_matchplay_duration


def can_scorekeepers_create(tournament: Tournament) -> bool:
    """Whether scorekeepers may ask for the next matches too, not the organizer alone; never elsewhere."""
    settings = tournament.settings
    return has(settings, HasMatchRequests) and bool(settings.max_matchplay_scorekeeper_create)


def start(tournament: Tournament, dice: Random, _now: datetime) -> list[Change]:
    """Draw the schedule of all meetings; no game is released yet.

    Raises OddSchedule when an odd number of players is to play an odd number of games.
    """
    meetings = schedule.regular_schedule(tournament.active_ids, games_per_player(tournament), dice)
    return _store_schedule(tournament, meetings)


def create_matches(tournament: Tournament, dice: Random, now: datetime) -> list[Change]:
    """Open the matches that can be played now: as many as players, arenas and settings allow.

    Players with the fewest games come first, then those who have waited longest. Raises Conflict with the
    reason when there is none. Source: formats, section 14.5.
    """
    changes = repair_schedule(tournament, dice)
    current = apply_changes(tournament, changes)
    busy = tournament.state.busy_player_ids
    waiting = [player for player in waiting_players(current) if player.player_id not in busy]
    _require_free_players(current, waiting)
    slots = free_slots(current)
    if slots is not None and slots <= 0:
        raise NoRoomForMatches
    pairs = schedule.meetings_to_start(
        current.state.schedule,
        waiting,
        slots,
        dice,
        plays=lineups.balanced_plays(current),
        arena_ids=[arena.arena_id for arena in lineups.free_arenas(current)],
    )
    if not pairs:
        raise NoPairForMatches
    left = _remaining_meetings(current.state.schedule, pairs)
    return [*changes, *_store_schedule(current, left), *_open_games(current, pairs, dice, now)]


def _require_free_players(tournament: Tournament, waiting: Sequence[FreePlayer]) -> None:
    if is_over(tournament):
        raise AllRoundsPlayed(reason="all players have played the planned games")
    if len(waiting) < 2:
        raise TooFewFreePlayers


def _open_games(
    tournament: Tournament, pairs: Sequence[Meeting], dice: Random, now: datetime
) -> list[Change]:
    """Open a game per pair, on free arenas."""
    free = {arena.arena_id for arena in lineups.free_arenas(tournament)}
    idle = replace(
        tournament,
        lineup=tuple(lineup_arena for lineup_arena in tournament.lineup if lineup_arena.arena_id in free),
    )
    seats = lineups.assign_groups(idle, pairs, games=1, positions=_positions(tournament), dice=dice)
    changes: list[Change] = []
    for at, seat in enumerate(seats):
        game = rounds.new_game(
            -1 - at, seat.playing_orders[0], now=now, arena_id=seat.arena_ids[0], has_advantage=True
        )
        changes.append(GameOpened(replace(game, game_index=0, bank_id=seat.bank_id)))
    return changes


def _positions(tournament: Tournament) -> dict[int, int]:
    """Positions by points alone, as the playing order needs them."""
    totals = points_by_player(tournament)
    return {player_id: 1 + sum(other > own for other in totals.values()) for player_id, own in totals.items()}


def points_by_player(tournament: Tournament) -> dict[int, Decimal]:
    """Player id -> points so far with adjustments; every entrant."""
    totals = {
        entrant.player_id: entrant.points_adjustment + entrant.score_adjustment
        for entrant in tournament.entrants
    }
    for game in completed_games(tournament):
        for player_id, earned in zip(game.player_ids, game.result_points, strict=True):
            totals[player_id] += earned or Decimal(0)
    return totals


def completed_games(tournament: Tournament) -> list[Game]:
    """Completed games and walkovers, without tiebreaks."""
    return [game for game in tournament.games if game.status == "completed" and not game.is_tiebreak]


def _counted_games(tournament: Tournament) -> list[Game]:
    """Games that count towards the planned number: started, completed, walkovers."""
    return [game for game in tournament.games if not game.is_tiebreak]


def games_left(tournament: Tournament) -> dict[int, int]:
    """Player id -> games not started yet; active players only."""
    started = Counter(player_id for game in _counted_games(tournament) for player_id in game.player_ids)
    needed = games_per_player(tournament)
    return {player_id: max(0, needed - started[player_id]) for player_id in tournament.active_ids}


def waiting_players(tournament: Tournament) -> list[FreePlayer]:
    """Free players with games left, with their games so far and their turn: smaller has waited longer."""
    busy = {player_id for game in tournament.open_games for player_id in game.player_ids}
    turns = _turns(tournament)
    needed = games_per_player(tournament)
    return [
        FreePlayer(player_id, needed - left, turns.get(player_id, 0))
        for player_id, left in games_left(tournament).items()
        if left > 0 and player_id not in busy
    ]


def _turns(tournament: Tournament) -> dict[int, int]:
    """Player id -> number of the last game, counted in the order in which games ended."""
    return {
        player_id: at
        for at, game in enumerate(games_by_end(tournament), start=1)
        for player_id in game.player_ids
    }


def games_by_end(tournament: Tournament) -> list[Game]:
    """Completed games with opponents, first ended first."""
    with_opponent = [game for game in completed_games(tournament) if not game.is_bye]
    return sorted(with_opponent, key=lambda game: (_timestamp(game.completed_at), game.game_id))


def free_slots(tournament: Tournament) -> int | None:
    """Number of games that can still start: free arenas and the allowed number; None for no limit."""
    running = tournament.open_games
    limits: list[int] = []
    if settings_protocols.arena_assignment(tournament.settings, default="balanced") != "disabled":
        # A game that waits for its arena will need one.
        without_arena = sum(game.arena_id is None for game in running)
        limits.append(len(lineups.free_arenas(tournament)) - without_arena)
    max_active = _settings(tournament).max_matchplay_max_active
    if max_active > 0:
        limits.append(max_active - len(running))
    return min(limits) if limits else None


def repair_schedule(tournament: Tournament, dice: Random) -> list[Change]:
    """Rebuild the schedule when it does not hold the games still needed; no change when it does.

    Repeats are as few as possible; one player may be left short. Source: formats, section 14.5.
    """
    needed = games_left(tournament)
    planned = Counter(player_id for meeting in tournament.state.schedule for player_id in meeting)
    missing = {player_id: left - planned[player_id] for player_id, left in needed.items()}
    strangers = any(player_id not in needed for player_id in planned)
    short = [player_id for player_id, count in missing.items() if count]
    is_walkover = len(short) == 1 and missing[short[0]] > 0 and _is_left_short(needed, short[0])
    if not strangers and (not short or is_walkover):
        return []
    rebuilt = schedule.rebuild_schedule(needed, meeting_history(tournament), dice)
    return _store_schedule(tournament, rebuilt.meetings)


def _is_left_short(needed: Mapping[int, int], player_id: int) -> bool:
    """Whether no schedule can complete this player: the others need too few games, or the sum is odd."""
    others = sum(needed.values()) - needed[player_id]
    return needed[player_id] > others or sum(needed.values()) % 2 == 1


def meeting_history(tournament: Tournament) -> history.DrawHistory:
    """Number of meetings of each two players, open games included."""
    games = [game for game in _counted_games(tournament) if not game.is_bye]
    return history.history_of_rounds([[game.player_ids] for game in games])


def _store_schedule(tournament: Tournament, left: Sequence[Meeting]) -> list[Change]:
    state = replace(tournament.state, schedule=tuple(left))
    return tournament_changes(DrawRemembered, tournament, state=state)


def _remaining_meetings(planned: Sequence[Meeting], pairs: Sequence[Meeting]) -> list[Meeting]:
    left = list(planned)
    for player_id, opponent_id in pairs:
        left.remove(
            (player_id, opponent_id) if (player_id, opponent_id) in left else (opponent_id, player_id)
        )
    return left


def roster_changed(tournament: Tournament, _entrant: Entrant, dice: Random, _now: datetime) -> list[Change]:
    """Rebuild the schedule for a new, leaving or returning player."""
    changes = repair_schedule(tournament, dice)
    return [*changes, *award_walkover(apply_changes(tournament, changes))]


def award_walkover(tournament: Tournament) -> list[Change]:
    """Award a walkover to the last short player, once nothing else is left to play.

    One win at most, and only for a player with games: a player too late to find opponents gets nothing.
    Source: formats, section 14.5.
    """
    if tournament.open_games or not is_over(tournament):
        return []
    short = [player_id for player_id, left in games_left(tournament).items() if left > 0]
    have_played = {player_id for game in completed_games(tournament) for player_id in game.player_ids}
    had_walkover = {
        player_id for game in completed_games(tournament) if game.is_bye for player_id in game.player_ids
    }
    if not short or short[0] not in have_played - had_walkover:
        return []
    full = point_maps.bye_points(tournament.points_map or (), "full")
    bye = rounds.bye_game(free_games.next_game_id(tournament), short[0], 0, full)
    return [GameOpened(replace(bye, round_id=None))]


def is_over(tournament: Tournament) -> bool:
    """Whether all planned games are played, or one player is left short and no game runs."""
    if tournament.status == "planned" or tournament.open_games:
        return False
    return sum(left > 0 for left in games_left(tournament).values()) <= 1


def clear_game(tournament: Tournament, game: Game) -> list[Change]:
    """Clear a result, so that the game is open again. Raises Conflict when players or arena are busy."""
    busy = {seat: game for game in tournament.open_games for seat in game.player_ids}
    for player_id in game.player_ids:
        if player_id in busy:
            raise PlayerPlaysElsewhere(
                player=player_id, other_game=busy[player_id].game_id, game=game.game_id
            )
    taken = lineups.games_by_taken_arena(tournament, game)
    if game.arena_id is not None and game.arena_id in taken:
        raise ArenaTakenMeanwhile(arena=game.arena_id, game=taken[game.arena_id])
    return results.clear_game(game)


def delete_game(tournament: Tournament, game: Game, dice: Random, _now: datetime) -> list[Change]:
    """Delete a game; its players meet again later, if both are still active."""
    changes = free_games.delete_game(tournament, game)
    rest = apply_changes(tournament, changes)
    if not game.is_bye and all(player_id in rest.active_ids for player_id in game.player_ids):
        player_id, opponent_id = game.player_ids
        changes += _store_schedule(rest, (*rest.state.schedule, (player_id, opponent_id)))
    changes += repair_schedule(apply_changes(tournament, changes), dice)
    return [*changes, *award_walkover(apply_changes(tournament, changes))]


def live_view(tournament: Tournament) -> LiveView:
    """All opponents so far, and the games left to play."""
    needed = games_per_player(tournament)
    games = games_by_end(tournament)
    started = sorted(games, key=lambda game: (_timestamp(game.started_at), game.game_id))
    counted = Counter(player_id for game in completed_games(tournament) for player_id in game.player_ids)
    missing = sum(max(0, needed - counted[player_id]) for player_id in tournament.active_ids)
    seconds = [took for game in games if (took := _seconds_played(game)) is not None]
    return LiveView(
        players=tuple(
            _player_progress(entrant.player_id, started, needed)
            for entrant in sorted(tournament.entrants, key=lambda entrant: entrant.player_id)
        ),
        remaining_games=missing // 2,
        avg_game_duration=round(sum(seconds) / len(seconds)) if seconds else None,
    )


def _player_progress(player_id: int, games: Sequence[Game], needed: int) -> PlayerProgress:
    mine = [game for game in games if player_id in game.player_ids]
    opponents = [other for game in mine for other in game.player_ids if other != player_id]
    arenas = Counter(game.arena_id for game in mine if game.arena_id is not None)
    ends = sorted(end for game in mine if (end := game.completed_at) is not None)
    is_complete = needed > 0 and len(ends) >= needed
    return PlayerProgress(
        player_id=player_id,
        game_count=len(mine),
        completed_time=int(ends[needed - 1].timestamp()) if is_complete else None,
        arena_counts=dict(sorted(arenas.items())),
        opponent_counts=dict(sorted(Counter(opponents).items())),
        all_opponents=tuple(opponents),
    )


def _timestamp(when: datetime | None) -> float:
    return 0 if when is None else when.timestamp()


def _seconds_played(game: Game) -> float | None:
    if game.started_at is None or game.completed_at is None:
        return None
    return moments.seconds_between(game.started_at, game.completed_at)
