"""A wrong result found later: corrected in any round of a running tournament, with a preview.

Places, points and strikes follow from the corrected result, pairings already drawn stay; games of brackets
and ladders that depended on it are deleted. Source: formats, sections 2 and 20.
"""

from collections.abc import Mapping, Sequence
from datetime import datetime
from decimal import Decimal
from random import Random

import msgspec
from msgspec import Struct

from silverball.kit.errors import Conflict, Invalid, Sentence
from silverball.kit.values import replace
from silverball.rules.commands import games as game_commands
from silverball.rules.commands import roster
from silverball.rules.commands import tournament as tournament_commands
from silverball.rules.mechanics import attempts, results
from silverball.rules.model.apply import apply_changes
from silverball.rules.model.changes import (
    Change,
    EntrantChanged,
    GameDeleted,
    RoundDeleted,
    SinglePlayerGameDeleted,
    changes_between,
)
from silverball.rules.model.outcome import GameOutcome, Outcome
from silverball.rules.model.tournament import Game, Tournament
from silverball.rules.ranking.standing import Standing


class CorrectionChangesNothing(Conflict):
    sentence = "The result is the same already. Nothing was changed."


class NothingToCorrect(Conflict):
    sentence = "There is no result yet that could be corrected. Record it without a correction."


class PlayersAfterwards(Struct, frozen=True, kw_only=True):
    """The consequences for players whom a correction brings back in or puts out."""

    # Strikes in knockouts, points elsewhere, for rounds missed by players who are back in.
    missed_rounds: Mapping[int, Decimal] = msgspec.field(default_factory=dict)
    # Players who would be out, to be taken out of their open games.
    taken_out_ids: Sequence[int] = ()


class StandingChange(Struct, frozen=True, kw_only=True):
    """A player's row before and after a correction; None where the standings do not list them."""

    player_id: int
    before: Standing | None
    after: Standing | None


class CorrectionEffects(Struct, frozen=True, kw_only=True):
    """The consequences of a correction."""

    # Players whose place, points or strikes change.
    standings: tuple[StandingChange, ...]
    # Players who would no longer be in the next round, and those who would be in it again.
    out_ids: tuple[int, ...]
    back_in_ids: tuple[int, ...]
    deleted_game_ids: tuple[int, ...]
    deleted_attempt_ids: tuple[int, ...]
    deleted_round_ids: tuple[int, ...]


def correct_result(
    tournament: Tournament, outcome: Outcome, afterwards: PlayersAfterwards, dice: Random, now: datetime
) -> list[Change]:
    """Correct the result of a game of any round, with the consequences in the format.

    Raises Conflict for a tournament that is not running, for a game without a result and for the result
    that is there; Invalid for players whom it does not concern.
    """
    tournament_commands.require_started(tournament)
    _require_result(tournament, outcome)
    changes = tournament_commands.format_of(tournament).settle(tournament, outcome, dice, now)
    if not changes:
        raise CorrectionChangesNothing
    changes = [*changes, *_credit_byes(tournament, changes)]
    changes += _give_missed_rounds(tournament, changes, afterwards.missed_rounds)
    return [*changes, *_take_out(tournament, changes, afterwards.taken_out_ids)]


def _require_result(tournament: Tournament, outcome: Outcome) -> None:
    if isinstance(outcome, GameOutcome):
        game = results.find_game(tournament, outcome.game_id)
        has_result = game.status == "completed" or set(game.result_points) != {None}
    else:
        attempt = attempts.find_attempt(tournament, outcome.single_player_game_id)
        has_result = attempt.status == "completed"
    if not has_result:
        raise NothingToCorrect


def _playing_ids(tournament: Tournament) -> set[int]:
    return set(tournament_commands.format_of(tournament).playing_ids(tournament))


def _credit_byes(tournament: Tournament, changes: Sequence[Change]) -> list[Change]:
    """Credit byes to players who are back in, so that they are not first in line for one."""
    if not tournament_commands.format_of(tournament).can_open_rounds:
        return []
    after = apply_changes(tournament, changes)
    credited: list[Change] = []
    for player_id in sorted(_playing_ids(after) - _playing_ids(tournament)):
        entrant = after.entrant_by_id[player_id]
        byes = tournament_commands.byes_to_credit(after, entrant)
        credited += changes_between(EntrantChanged, entrant, replace(entrant, byes_credited=byes))
    return credited


def _give_missed_rounds(
    tournament: Tournament, changes: Sequence[Change], missed: Mapping[int, Decimal]
) -> list[Change]:
    """Give strikes or points for missed rounds. Raises Invalid for a player who is not back in."""
    corrected = apply_changes(tournament, changes)
    given: list[Change] = []
    after = corrected
    for player_id, points in missed.items():
        entrant = tournament_commands.find_entrant(tournament, player_id)
        total = entrant.points_adjustment + points
        step = roster.adjust_entrant(after, player_id, points=total)
        given, after = [*given, *step], apply_changes(after, step)
    # Points may be what brings a player back, strikes what keeps them out.
    back_in = (_playing_ids(corrected) | _playing_ids(after)) - _playing_ids(tournament)
    for player_id in missed:
        if player_id not in back_in:
            raise Invalid(
                {"correction.missedRounds": [Sentence("{player} is not back in by this.", player=player_id)]}
            )
    return given


def _take_out(tournament: Tournament, changes: Sequence[Change], player_ids: Sequence[int]) -> list[Change]:
    """Take players who are out now out of their open games. Raises Invalid for any other player."""
    after = apply_changes(tournament, changes)
    out = _playing_ids(tournament) - _playing_ids(after)
    gone: list[Change] = []
    for player_id in player_ids:
        game = _open_game(after, player_id)
        if player_id not in out or game is None:
            sentence = "{player} is not put out by this, or plays no open game."
            raise Invalid({"correction.takeOut": [Sentence(sentence, player=player_id)]})
        step = game_commands.remove_player(after, game.game_id, player_id)
        gone, after = [*gone, *step], apply_changes(after, step)
    return gone


def _open_game(tournament: Tournament, player_id: int) -> Game | None:
    games = (game for game in tournament.open_games if player_id in game.player_ids)
    return next(games, None)


def correction_effects(before: Tournament, changes: Sequence[Change]) -> CorrectionEffects:
    """The consequences of these changes: whose standings change, who is out or back in, what is deleted."""
    after = apply_changes(before, changes)
    playing, still_playing = _playing_ids(before), _playing_ids(after)
    return CorrectionEffects(
        standings=_standing_changes(before, after),
        out_ids=tuple(sorted(playing - still_playing)),
        back_in_ids=tuple(sorted(still_playing - playing)),
        deleted_game_ids=tuple(
            change.subject.game_id for change in changes if isinstance(change, GameDeleted)
        ),
        deleted_attempt_ids=tuple(
            change.subject.single_player_game_id
            for change in changes
            if isinstance(change, SinglePlayerGameDeleted)
        ),
        deleted_round_ids=tuple(
            change.subject.round_id for change in changes if isinstance(change, RoundDeleted)
        ),
    )


def _standing_changes(before: Tournament, after: Tournament) -> tuple[StandingChange, ...]:
    """Players whose place, points or strikes differ, in the order of the standings afterwards."""
    rank = tournament_commands.format_of(before).rank
    rows_before = {row.player_id: row for row in rank(before)}
    rows_after = {row.player_id: row for row in rank(after)}
    return tuple(
        StandingChange(
            player_id=player_id, before=rows_before.get(player_id), after=rows_after.get(player_id)
        )
        for player_id in dict.fromkeys([*rows_after, *rows_before])
        if _shown_values(rows_before.get(player_id)) != _shown_values(rows_after.get(player_id))
    )


def _shown_values(row: Standing | None) -> tuple[object, ...]:
    return () if row is None else (row.position, row.points, row.strike_count)
