"""Rounds made at the start, with a single player game per player: holes and frames.

They may be played in any order and side by side; a round completes with its last game.
Source: formats, sections 14.16 and 14.20.
"""

from collections.abc import Sequence
from datetime import datetime

from silverball.kit.values import replace
from silverball.rules.mechanics import attempts, rounds
from silverball.rules.model.apply import apply_changes
from silverball.rules.model.changes import (
    Change,
    RoundChanged,
    RoundOpened,
    RoundReopened,
    SinglePlayerGameChanged,
    SinglePlayerGameDeleted,
    changes_between,
)
from silverball.rules.model.tournament import Entrant, Round, SinglePlayerGame, Tournament


def open_rounds(tournament: Tournament, count: int, name: str, now: datetime) -> list[Change]:
    """Open rounds ("Hole" gives "Hole #1", ...) with a pending game per active player and round."""
    new = [
        Round(
            round_id=-1 - index,
            round_index=index,
            status="started",
            name=f"{name} #{index + 1}",
            created_at=now,
        )
        for index in range(count)
    ]
    opened: list[Change] = [RoundOpened(round_) for round_ in new]
    return [*opened, *open_missing_attempts(apply_changes(tournament, opened), tournament.active_ids, now)]


def open_missing_attempts(
    tournament: Tournament, player_ids: Sequence[int], now: datetime | None
) -> list[Change]:
    """Open a pending game wherever round_ of these players has none."""
    there = {(attempt.player_id, attempt.round_id) for attempt in tournament.single_player_games}
    wanted = [
        (player_id, round_)
        for player_id in player_ids
        for round_ in tournament.rounds_in_order
        if (player_id, round_.round_id) not in there
    ]
    return attempts.open_attempts(
        [
            attempts.pending_attempt(
                -1 - at,
                player_id,
                now=now,
                round_id=round_.round_id,
                game_index=round_.round_index,
                arena_id=round_.arena_id,
            )
            for at, (player_id, round_) in enumerate(wanted)
        ]
    )


def roster_changed(tournament: Tournament, entrant: Entrant, now: datetime) -> list[Change]:
    """Open all rounds for a new player; delete the open games of a leaving one."""
    if entrant.is_active:
        changes = open_missing_attempts(tournament, [entrant.player_id], now)
    else:
        changes = [
            SinglePlayerGameDeleted(attempt)
            for attempt in tournament.single_player_games
            if attempt.player_id == entrant.player_id and attempt.status != "completed"
        ]
    return update_rounds(tournament, changes, now)


def update_rounds(tournament: Tournament, changes: Sequence[Change], now: datetime | None) -> list[Change]:
    """These changes, with rounds completed or reopened by the state of their games."""
    after = apply_changes(tournament, changes)
    games = after.attempts_by_round
    moved: list[Change] = []
    for round_ in after.rounds:
        own = games.get(round_.round_id, ())
        is_done = bool(own) and all(game.status == "completed" for game in own)
        if is_done and round_.status != "completed":
            moved.append(rounds.completion(round_, now))
        elif not is_done and own and round_.status == "completed":
            moved.append(RoundReopened(round_, replace(round_, status="started", completed_at=None)))
    return [*changes, *moved]


def reopen_rounds(tournament: Tournament) -> list[Change]:
    """Open the pending games that closing discarded, in rounds that are open again."""
    closed_at = tournament.completed_at
    return update_rounds(
        tournament, open_missing_attempts(tournament, tournament.active_ids, closed_at), closed_at
    )


def set_round(
    tournament: Tournament, round_: Round, arena_id: int | None, score: int | None, now: datetime
) -> list[Change]:
    """Set the arena and the target of a round; recorded results stay as they are."""
    changes: list[Change] = list(
        changes_between(RoundChanged, round_, replace(round_, arena_id=arena_id, score=score))
    )
    for game in attempts.attempts_in_round(tournament, round_.round_id):
        # A game that is over was played on the arena the round had then.
        if game.status != "completed" or game.arena_id is None:
            after = replace(game, arena_id=arena_id)
            if after != game:
                changes.append(SinglePlayerGameChanged(game, replace(after, updated_at=now)))
    return changes


def open_tiebreak(tournament: Tournament, player_ids: Sequence[int], now: datetime) -> list[Change]:
    """Open a tiebreak game of these players, outside the rounds. Source: formats, section 13.4."""
    return rounds.open_tiebreak_in_round(tournament, None, player_ids, now)


def is_over(tournament: Tournament) -> bool:
    """Whether every single player game is completed."""
    games = tournament.single_player_games
    return bool(games) and all(game.status == "completed" for game in games)


def completed_by_player(tournament: Tournament) -> dict[int, dict[int, SinglePlayerGame]]:
    """Player id -> round index -> the completed game there."""
    index = {round_.round_id: round_.round_index for round_ in tournament.rounds}
    found: dict[int, dict[int, SinglePlayerGame]] = {}
    for attempt in tournament.single_player_games:
        if attempt.status == "completed" and attempt.round_id in index:
            found.setdefault(attempt.player_id, {})[index[attempt.round_id]] = attempt
    return found
