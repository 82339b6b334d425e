"""Closing with a round open: keep what is finished, or drop the round. Source: formats, 14.1 and 23."""

from typing import Any

import pytest

from rules.night import Night, a_night
from silverball.kit.errors import Invalid
from silverball.kit.values import replace
from silverball.rules.commands import tournament as tournament_commands
from silverball.rules.registry import FORMATS

ANN, BEA, CID, DOT = 1, 2, 3, 4
DRAWN_FORMATS = ("knockout", "group_knockout", "matchplay", "group_matchplay", "target", "pace_matchplay")


def an_open_round(kind: str, *, players: int, **given: Any) -> Night:
    night = a_night(kind, players=players, **given)
    night.start()
    night.open_round()
    return night


def assert_verified(night: Night) -> None:
    """The verifier's table, computed apart, has the same places."""
    table = FORMATS[night.tournament.type].verify.standings(night.tournament)
    assert {row["playerId"]: row["position"] for row in table} == dict(night.places())


def test_players_of_an_open_game_are_alive_when_a_knockout_is_closed() -> None:
    night = an_open_round(
        "knockout", players=4, knockout_strike_count=2, first_round_pairing="adjacent", seeding="manual"
    )
    night.record_order(night.game_with(ANN), ANN, BEA)
    night.complete()
    assert night.places() == {ANN: 1, CID: 1, DOT: 1, BEA: 4}
    assert_verified(night)


def test_players_of_an_open_group_are_alive_when_a_group_knockout_is_closed() -> None:
    night = an_open_round("group_knockout", players=8, knockout_strike_count=2)
    finished, unfinished = night.open_games()
    night.record_order(finished, *finished.player_ids)
    night.complete()
    struck = set(finished.player_ids[2:])
    expected = {player_id: 7 if player_id in struck else 1 for player_id in range(1, 9)}
    assert night.places() == expected
    assert all(night.row(player_id).games_played == 0 for player_id in unfinished.player_ids)
    assert_verified(night)


def test_late_players_without_a_finished_game_are_alive_too() -> None:
    night = a_night("knockout", players=4, knockout_strike_count=2)
    night.start()
    night.play_round()
    night.join(5)
    night.join(6)
    games = night.open_round()
    for game in games:
        if not {5, 6} & set(game.player_ids):
            night.record_order(game, *game.player_ids)
    night.join(7)
    night.complete()
    assert {night.places()[player_id] for player_id in (5, 6)} == {1}
    # Nobody waited for the player who came after the last draw.
    assert night.places()[7] == 7
    assert_verified(night)


def test_an_imported_knockout_knows_whose_game_was_taken_out() -> None:
    # Imported tournaments do not tell departures from absences, except by the games of the last round.
    night = an_open_round("knockout", players=4, knockout_strike_count=2)
    night.finish_round()
    night.complete_round()
    night.tournament = replace(night.tournament, state=replace(night.tournament.state, dice_seed=""))
    night.open_round()
    game = night.open_games()[0]
    night.record_order(game, *game.player_ids)
    night.complete()
    still_in = {row.player_id for row in night.standings() if (row.strike_count or 0) < 2}
    alive = FORMATS["knockout"].playing_ids(night.tournament)
    assert set(alive) == still_in
    assert_verified(night)


@pytest.mark.parametrize("kind", DRAWN_FORMATS)
def test_a_dropped_round_counts_for_nothing(kind: str) -> None:
    night = a_night(kind, players=8)
    night.start()
    night.play_round()
    before = {player_id: night.row(player_id).points for player_id in range(1, 9)}
    places = dict(night.places())
    for game in night.open_round()[:1]:
        night.record_order(game, *game.player_ids)
    night.complete(drops_open_round=True)
    assert len(night.tournament.rounds) == 1
    assert {player_id: night.row(player_id).points for player_id in range(1, 9)} == before
    assert night.places() == places
    assert_verified(night)


def test_the_bar_puts_nobody_out_whose_game_was_not_finished() -> None:
    night = an_open_round("pace_matchplay", players=8, pace_initial_rounds=1, pace_initial_target=4)
    finished, unfinished = night.open_games()
    night.record_order(finished, *finished.player_ids)
    night.complete()
    first, second, third, fourth = finished.player_ids
    # 7 and 5 points have reached the bar of 4; then those without a finished game; 3 and 1 are below it.
    expected = {first: 1, second: 2, **dict.fromkeys(unfinished.player_ids, 3), third: 7, fourth: 8}
    assert night.places() == expected
    assert_verified(night)


def test_after_reopening_the_next_round_is_drawn_with_everybody_who_is_in() -> None:
    night = an_open_round("knockout", players=4, knockout_strike_count=2)
    game = night.open_games()[0]
    night.record_order(game, *game.player_ids)
    night.complete()
    night.apply(tournament_commands.reopen(night.tournament))
    assert set(FORMATS["knockout"].playing_ids(night.tournament)) == {1, 2, 3, 4}
    night.play_round()
    night.complete()
    assert_verified(night)
    night.apply(tournament_commands.reopen(night.tournament))
    night.undo_all()
    assert night.tournament.status == "planned"
    assert night.tournament.state.unfinished_ids == ()


@pytest.mark.parametrize("kind", ["round_robin", "bracket", "ladder"])
def test_rounds_of_a_schedule_are_not_dropped(kind: str) -> None:
    night = a_night(kind, players=8, seeding="manual")
    night.start()
    with pytest.raises(Invalid, match="none of them can be dropped"):
        night.complete(drops_open_round=True)
    assert night.tournament.status == "started"
