"""Wrong results that are found later. Source: formats, sections 2 and 20."""

from collections.abc import Mapping
from decimal import Decimal
from random import Random
from typing import Any

import pytest

from rules import test_machines, test_machines_brackets, test_machines_solo
from rules.moves import Moves
from rules.night import Night, a_night
from rules.verify import walked_nights
from rules.verify.walked_nights import JournalledNight
from silverball.kit.errors import Invalid, Refusal
from silverball.kit.values import replace
from silverball.rules.commands import corrections
from silverball.rules.commands.corrections import CorrectionEffects, PlayersAfterwards
from silverball.rules.model.apply import apply_changes
from silverball.rules.model.changes import Change, opposite_changes
from silverball.rules.model.outcome import AttemptOutcome, GameOutcome, Outcome
from silverball.rules.model.refusals import TournamentIsCompleted
from silverball.rules.model.tournament import Game
from silverball.rules.registry import FORMATS

ALL: dict[str, Moves] = {
    case.machine.moves.kind: case.machine.moves
    for module in (test_machines, test_machines_brackets, test_machines_solo)
    for case in vars(module).values()
    if hasattr(case, "machine")
}


def _correct(night: Night, game: Game, *order: int, **afterwards: Any) -> list[Change]:
    """The changes that give a game of any round this order."""
    outcome = GameOutcome(game_id=game.game_id, finishing_order=order)
    return corrections.correct_result(
        night.tournament, outcome, PlayersAfterwards(**afterwards), night.dice(), night.now
    )


def _preview(night: Night, game: Game, *order: int, **afterwards: Any) -> CorrectionEffects:
    return corrections.correction_effects(night.tournament, _correct(night, game, *order, **afterwards))


def _shown(effects: CorrectionEffects) -> Mapping[int, tuple[Any, Any]]:
    """Player id -> (place, points, strikes) before and after."""
    return {
        change.player_id: (
            change.before and (change.before.position, change.before.points, change.before.strike_count),
            change.after and (change.after.position, change.after.points, change.after.strike_count),
        )
        for change in effects.standings
    }


def _knockout() -> tuple[JournalledNight, Game]:
    """Four players, two strikes: after two rounds player 4 is out, and the others are in round three."""
    night = walked_nights.journalled(
        a_night(
            "knockout", players=4, knockout_strike_count=2, first_round_pairing="slaughter", seeding="manual"
        )
    )
    night.start()
    night.play_round()
    night.play_round()
    night.open_round()
    lost = [game for game in night.tournament.games if 4 in game.player_ids][1]
    assert 4 not in FORMATS["knockout"].playing_ids(night.tournament)
    return night, lost


def test_a_later_correction_in_match_play_moves_points_and_leaves_the_pairings() -> None:
    night = walked_nights.journalled(a_night("matchplay", players=4))
    night.start()
    night.play_round()
    first = night.tournament.games[0]
    night.play_round()
    night.open_round()
    winner, loser = first.result_positions
    assert winner is not None
    assert loser is not None
    pairs = [game.player_ids for game in night.tournament.games]
    points = {row.player_id: Decimal(str(row.points)) for row in night.standings()}
    effects = _preview(night, first, loser, winner)
    night.apply(_correct(night, first, loser, winner))
    assert [game.player_ids for game in night.tournament.games] == pairs
    after = {row.player_id: Decimal(str(row.points)) for row in night.standings()}
    assert (after[winner], after[loser]) == (points[winner] - 1, points[loser] + 1)
    assert {winner, loser} <= set(_shown(effects))
    assert (effects.out_ids, effects.back_in_ids, effects.deleted_game_ids) == ((), (), ())
    assert night.faults() == []


def test_the_preview_says_who_is_back_in_and_who_is_out() -> None:
    night, lost = _knockout()
    (winner,) = [player_id for player_id in lost.player_ids if player_id != 4]
    effects = _preview(night, lost, 4, winner)
    assert effects.back_in_ids == (4,)
    assert _shown(effects)[4][1][2] == 1
    night.apply(_correct(night, lost, 4, winner))
    assert 4 in FORMATS["knockout"].playing_ids(night.tournament)
    assert night.faults() == []
    night.undo()
    assert 4 not in FORMATS["knockout"].playing_ids(night.tournament)
    assert night.faults() == []


def test_strikes_for_missed_rounds_are_given_to_players_who_are_back_in() -> None:
    night, lost = _knockout()
    (winner,) = [player_id for player_id in lost.player_ids if player_id != 4]
    night.apply(_correct(night, lost, 4, winner, missed_rounds={4: Decimal(1)}))
    # One strike from the first round and one for the round they missed: out again.
    assert night.row(4).strike_count == 2
    assert night.faults() == []
    night.undo()
    with pytest.raises(Invalid, match="not back in"):
        _correct(night, lost, 4, winner, missed_rounds={winner: Decimal(1)})


def test_a_player_put_out_may_finish_the_open_game_or_leaves_it() -> None:
    night = walked_nights.journalled(
        a_night("group_knockout", players=4, knockout_strike_count=1, knockout_four_player_strikes=1)
    )
    night.start()
    night.open_round()
    first = night.open_games()[0]
    order = first.player_ids
    night.record_order(first, *order)
    night.open_round()
    assert order[3] not in night.open_games()[0].player_ids
    swapped = (order[3], order[1], order[2], order[0])
    effects = _preview(night, first, *swapped)
    assert (effects.out_ids, effects.back_in_ids) == ((order[0],), (order[3],))
    night.apply(_correct(night, first, *swapped))
    assert order[0] in night.open_games()[0].player_ids
    assert night.faults() == []
    night.undo()
    night.apply(_correct(night, first, *swapped, taken_out_ids=[order[0]]))
    assert set(night.open_games()[0].player_ids) == {order[1], order[2]}
    assert night.faults() == []
    night.undo()
    with pytest.raises(Invalid, match="not put out"):
        _correct(night, first, *swapped, taken_out_ids=[order[1]])


def test_a_player_back_in_is_not_first_in_line_for_a_bye() -> None:
    night = walked_nights.journalled(a_night("knockout", players=5, knockout_strike_count=1))
    night.start()
    night.play_round()
    lost = next(game for game in night.tournament.games if not game.is_bye)
    winner, loser = lost.result_positions
    assert winner is not None
    assert loser is not None
    night.play_round()
    night.apply(_correct(night, lost, loser, winner))
    credited = night.tournament.entrant_by_id[loser].byes_credited
    fewest = min(
        sum(game.is_bye for game in night.tournament.games if player_id in game.player_ids)
        for player_id in FORMATS["knockout"].playing_ids(night.tournament)
        if player_id != loser
    )
    assert credited == fewest


def test_a_correction_in_a_bracket_names_the_games_that_it_deletes() -> None:
    night = walked_nights.journalled(a_night("bracket", players=8, seeding="manual"))
    night.start()
    for _ in range(2):
        night.finish_round()
    first = next(game for game in night.tournament.games if set(game.player_ids) == {1, 8})
    effects = _preview(night, first, 8, 1)
    assert effects.deleted_game_ids
    # Player 4 had lost a game that is deleted.
    assert (effects.out_ids, effects.back_in_ids) == ((1,), (4, 8))
    named = {game_id: night.game(game_id) for game_id in effects.deleted_game_ids}
    assert any(1 in game.player_ids for game in named.values())
    night.apply(_correct(night, first, 8, 1))
    assert not set(named) & {game.game_id for game in night.tournament.games}
    assert night.faults() == []


def test_what_cannot_be_corrected_is_refused() -> None:
    night, lost = _knockout()
    (winner,) = [player_id for player_id in lost.player_ids if player_id != 4]
    with pytest.raises(corrections.CorrectionChangesNothing):
        _correct(night, lost, winner, 4)
    opened = night.open_games()[0]
    with pytest.raises(corrections.NothingToCorrect):
        _correct(night, opened, *opened.player_ids)
    night.complete()
    with pytest.raises(TournamentIsCompleted):
        _correct(night, lost, 4, winner)


def _another_outcome(night: Night, dice: Random) -> Outcome | None:
    """Another result for a random game that has one."""
    games = [game for game in night.tournament.games if game.status == "completed" and not game.is_bye]
    if games:
        game = dice.choice(games)
        return GameOutcome(
            game_id=game.game_id, finishing_order=tuple(dice.sample(game.player_ids, len(game.player_ids)))
        )
    played = [game for game in night.tournament.single_player_games if game.status == "completed"]
    if not played:
        return None
    attempt = dice.choice(played)
    results: dict[str, dict[str, Any]] = {
        "golf": {"strokes": dice.randint(1, 6)},
        "golf_bracket": {"strokes": dice.randint(1, 6)},
        "bowling": {"rolls": (dice.randint(0, 5), dice.randint(0, 4))},
    }
    result = results.get(night.tournament.type, {"score": dice.randint(1, 1000)})
    return AttemptOutcome(single_player_game_id=attempt.single_player_game_id, **result)


@pytest.mark.sample(8)
@pytest.mark.parametrize("kind", sorted(FORMATS))
def test_corrections_in_every_format_do_what_their_preview_says(kind: str) -> None:
    corrected = 0
    for run in range(4):
        night = walked_nights.random_night(
            ALL[kind], f"{kind} {run}", steps=12, prepare=walked_nights.journalled
        )
        dice = Random(run)
        for _ in range(6):
            outcome = _another_outcome(night, dice)
            if outcome is None or night.tournament.status != "started":
                continue
            before = night.tournament
            try:
                changes = corrections.correct_result(
                    before, outcome, PlayersAfterwards(), night.dice(), night.now
                )
            except Refusal:
                continue
            effects = corrections.correction_effects(before, changes)
            rows = {row.player_id: row for row in night.standings()}
            real = night.apply(changes)
            after = {row.player_id: row for row in night.standings()}
            for change in effects.standings:
                assert (rows.get(change.player_id), after.get(change.player_id)) == (
                    change.before,
                    _with_real_games(change.after, after),
                )
            playing = FORMATS[kind].playing_ids(night.tournament)
            assert set(effects.back_in_ids) <= set(playing)
            assert not set(effects.out_ids) & set(playing)
            assert night.faults() == []
            assert apply_changes(night.tournament, opposite_changes(real)) == before
            corrected += 1
    assert corrected


def _with_real_games(row: Any, after: Mapping[int, Any]) -> Any:
    """The row with the ids that new games got when they were stored."""
    return row and replace(row, active_games=after[row.player_id].active_games)
