"""Best games. Source: formats, sections 14.18, 15, 18, 19 and 24; points read off the curves by hand."""

from decimal import Decimal
from random import Random
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rules.night import Night, a_night, change_entrant
from rules.properties import quick
from rules.single_player_night import newest_game, play_score, undo_all
from silverball.kit.errors import Conflict, Invalid, NotFound, WrongFormat
from silverball.kit.values import replace
from silverball.rules.commands import single_player as single_player_commands
from silverball.rules.commands import tournament as tournament_commands
from silverball.rules.model import settings
from silverball.rules.model.outcome import AttemptOutcome, NewAttempt
from silverball.rules.model.tournament import Entrant, SinglePlayerGame, Tournament
from silverball.rules.ranking import bestgame
from silverball.rules.registry import FORMATS

KEYS = (
    "scorekeeping bestGameScoring bestGameOverallAttempts bestGameAttemptsOnArena bestGameArenasCounted "
    "bestGameNumberOfBestGames useQueues suggestions playoffsCutoffs"
)


def open_night(players: int = 4, arenas: int = 3, **given: Any) -> Night:
    """A started best game."""
    night = a_night("best_game", players=players, arenas=arenas, **given)
    night.start()
    return night


def change_without_journal(night: Night, kind: str, key: int, **values: Any) -> None:
    """Change an entrant or an arena, outside of the journal."""
    if kind == "player":
        change_entrant(night, key, **values)
    else:
        changed = tuple(
            replace(arena, **values) if arena.arena_id == key else arena for arena in night.tournament.lineup
        )
        night.tournament = replace(night.tournament, lineup=changed)


def standings_rows(night: Night) -> list[tuple[int, int, str]]:
    return [(row.position, row.player_id, str(row.points)) for row in night.standings()]


def points_and_mark(night: Night, game: SinglePlayerGame) -> tuple[int, bool]:
    """Points and best mark as they are now."""
    points, is_best = bestgame.game_marks(night.tournament)[game.single_player_game_id]
    return int(points), is_best


def apply_command(night: Night, name: str, game: SinglePlayerGame) -> None:
    """Void, un-void or delete a game."""
    night.apply(
        getattr(single_player_commands, name)(night.tournament, game.single_player_game_id, night.now)
    )


def test_the_payload_has_exactly_its_keys_with_their_defaults() -> None:
    defaults = settings.default_values(FORMATS["best_game"].settings)
    assert list(defaults) == KEYS.split()
    assert defaults == {
        "scorekeeping": "user",
        "bestGameScoring": "bg_linear",
        "bestGameOverallAttempts": 0,
        "bestGameAttemptsOnArena": 0,
        "bestGameArenasCounted": 0,
        "bestGameNumberOfBestGames": 1,
        "useQueues": False,
        "suggestions": "restricted",
        "playoffsCutoffs": (),
    }


@pytest.mark.parametrize(
    "given",
    [{"bestGameOverallAttempts": 1001}, {"bestGameNumberOfBestGames": -1}, {"bestGameScoring": "bg_nothing"}],
)
def test_a_value_outside_its_limits_is_refused_by_name(given: dict[str, Any]) -> None:
    with pytest.raises(msgspec.ValidationError, match=next(iter(given))):
        settings.read_settings(FORMATS["best_game"].settings, given)


def test_the_best_score_of_each_player_on_an_arena_holds_a_rank() -> None:
    night = open_night()
    first = play_score(night, 1, 501, 900)
    better = play_score(night, 1, 501, 1_000)
    play_score(night, 2, 501, 950)
    assert points_and_mark(night, first) == (0, False)
    assert points_and_mark(night, better) == (100, True)
    assert standings_rows(night)[:2] == [(1, 1, "100.00"), (2, 2, "99.00")]
    assert (first.game_index, better.game_index) == (0, 1)


def test_tied_scores_share_the_points_of_the_better_rank() -> None:
    night = open_night(best_game_scoring="bg_papa")
    for player_id, points in ((1, 900), (2, 800), (3, 800), (4, 700)):
        play_score(night, player_id, 501, points)
    # 100, 90, 90 and, at rank 4, 84.
    assert standings_rows(night) == [(1, 1, "100.00"), (2, 2, "90.00"), (2, 3, "90.00"), (4, 4, "84.00")]


def test_a_player_may_hold_several_ranks_on_an_arena() -> None:
    night = open_night(best_game_number_of_best_games=2)
    games = [play_score(night, 1, 501, points) for points in (500, 900, 700)]
    play_score(night, 2, 501, 800)
    assert [points_and_mark(night, game) for game in games] == [(0, False), (100, True), (98, True)]
    assert standings_rows(night)[0] == (1, 1, "198.00")
    assert night.standings()[0].points_list == ("100.00", "98.00")


def test_only_the_best_arenas_of_a_player_count() -> None:
    night = open_night(best_game_arenas_counted=2)
    for arena_id in (501, 502, 503):
        play_score(night, 1, arena_id, 100)
    for player_id, arena_id in ((2, 501), (3, 501), (2, 503)):
        play_score(night, player_id, arena_id, 200)
    # Player 1 is third, first and second: 98, 100, 99.
    row = next(row for row in night.standings() if row.player_id == 1)
    assert (row.points, row.points_list) == ("199.00", ("100.00", "99.00"))


def test_a_voided_game_holds_no_rank_but_uses_up_an_attempt() -> None:
    night = open_night(best_game_attempts_on_arena=1)
    game = play_score(night, 1, 501, 900)
    other = play_score(night, 2, 501, 800)
    apply_command(night, "void_attempt", game)
    assert (points_and_mark(night, game), points_and_mark(night, other)) == ((0, False), (100, True))
    row = next(row for row in night.standings() if row.player_id == 1)
    assert (row.games_played, row.entries_played) == (0, 1)
    with pytest.raises(Conflict, match="all 1 attempts on arena 501"):
        play_score(night, 1, 501, 900)
    apply_command(night, "unvoid_attempt", game)
    assert standings_rows(night)[0] == (1, 1, "100.00")


def test_a_deleted_game_gives_the_attempt_back() -> None:
    night = open_night(best_game_attempts_on_arena=1)
    apply_command(night, "delete_attempt", play_score(night, 1, 501, 900))
    assert play_score(night, 1, 501, 100).score == 100


def test_a_game_given_up_while_it_was_played_goes_on_when_it_is_put_back() -> None:
    night = open_night()
    apply_command(night, "void_attempt", play_score(night, 1, 501, None))
    assert newest_game(night.tournament, 1, 501).status == "completed"
    play_score(night, 2, 501, None)
    with pytest.raises(Conflict, match="Arena 501 is taken"):
        apply_command(night, "unvoid_attempt", newest_game(night.tournament, 1, 501))
    play_score(night, 2, 501, 77)
    apply_command(night, "unvoid_attempt", newest_game(night.tournament, 1, 501))
    assert newest_game(night.tournament, 1, 501).status == "started"


def test_a_game_that_was_begun_is_the_one_that_gets_the_score() -> None:
    night = open_night()
    begun = play_score(night, 1, 501, None)
    assert (begun.status, night.standings()[0].active_games) == ("started", (begun.single_player_game_id,))
    done = play_score(night, 1, 501, 900)
    assert (done.single_player_game_id, done.duration_seconds) == (begun.single_player_game_id, 300)
    assert (done.scorekeeper_id, done.points) == (7, None)


def test_a_corrected_score_moves_the_ranks_and_the_same_one_again_changes_nothing() -> None:
    night = open_night()
    game = play_score(night, 1, 501, 900)
    play_score(night, 2, 501, 800)
    outcome = AttemptOutcome(single_player_game_id=game.single_player_game_id, score=700)
    night.record(outcome)
    assert standings_rows(night)[:2] == [(1, 2, "100.00"), (2, 1, "99.00")]
    assert night.record(replace(outcome, recorded_by=3)) == []


def test_entries_bought_and_played_are_shown_and_run_out() -> None:
    night = open_night()
    night.tournament = replace(night.tournament, has_entry_limits=True)
    with pytest.raises(Conflict, match="all 0 entries"):
        play_score(night, 1, 501, 900)
    change_without_journal(night, "player", 1, entries_bought=2)
    play_score(night, 1, 501, 900)
    row = night.standings()[0]
    assert (row.entries_played, row.entries_available) == (1, 1)
    play_score(night, 1, 502, 900)
    with pytest.raises(Conflict, match="all 2 entries"):
        play_score(night, 1, 503, 900)


def test_attempts_run_out_over_all_arenas() -> None:
    night = open_night(best_game_overall_attempts=2)
    play_score(night, 1, 501, 1)
    play_score(night, 1, 502, 1)
    with pytest.raises(Conflict, match="all 2 games"):
        play_score(night, 1, 503, 1)


@pytest.mark.parametrize(
    ("kind", "key", "values", "sentence"),
    [
        ("player", 1, {"is_active": False}, "Player 1 is inactive"),
        ("arena", 501, {"is_active": False}, "Arena 501 is inactive"),
        ("arena", 501, {"is_blocked": True}, "Arena 501 is blocked"),
    ],
)
def test_players_who_left_and_arenas_out_of_play_take_no_scores(
    kind: str, key: int, values: dict[str, Any], sentence: str
) -> None:
    night = open_night()
    change_without_journal(night, kind, key, **values)
    with pytest.raises(Conflict, match=sentence):
        play_score(night, 1, 501, 900)


def test_a_game_begun_before_its_arena_was_blocked_may_be_finished() -> None:
    night = open_night()
    play_score(night, 1, 501, None)
    change_without_journal(night, "arena", 501, is_blocked=True)
    assert play_score(night, 1, 501, 900).status == "completed"


def test_impossible_requests_are_refused() -> None:
    night = open_night()
    game = play_score(night, 1, 501, 900)
    with pytest.raises(Invalid, match="not a pinball score"):
        play_score(night, 1, 501, -5)
    with pytest.raises(Invalid, match="Enter the score"):
        night.record(AttemptOutcome(single_player_game_id=game.single_player_game_id, strokes=3))
    with pytest.raises(NotFound):
        play_score(night, 99, 501, 900)
    with pytest.raises(NotFound):
        play_score(night, 1, 999, 900)
    apply_command(night, "void_attempt", game)
    with pytest.raises(Conflict, match="Un-void it first"):
        night.record(AttemptOutcome(single_player_game_id=game.single_player_game_id, score=3))
    with pytest.raises(Conflict, match="voided already"):
        apply_command(night, "void_attempt", game)


def test_other_formats_have_no_single_player_games() -> None:
    night = a_night("matchplay")
    night.start()
    with pytest.raises(WrongFormat):
        single_player_commands.open_attempt(
            night.tournament, NewAttempt(player_id=1, arena_id=501, score=1), night.now
        )


def test_nobody_plays_on_two_arenas_or_two_on_one() -> None:
    night = open_night()
    play_score(night, 1, 501, None)
    with pytest.raises(Conflict, match="Player 1 is playing"):
        play_score(night, 1, 502, None)
    with pytest.raises(Conflict, match="Arena 501 is taken"):
        play_score(night, 2, 501, None)


def test_a_late_player_plays_at_once() -> None:
    night = open_night()
    night.apply(
        tournament_commands.add_entrants(night.tournament, [Entrant(player_id=9)], Random(7), night.now)
    )
    play_score(night, 9, 501, 900)
    assert standings_rows(night)[0] == (1, 9, "100.00")


# Closing.
def test_points_and_marks_are_stored_when_it_is_completed_and_not_before() -> None:
    night = open_night()
    play_score(night, 1, 501, 900)
    play_score(night, 1, 501, 800)
    play_score(night, 2, 501, None)
    before = bestgame.game_marks(night.tournament)
    assert {game.points for game in night.tournament.single_player_games} == {None}
    table = standings_rows(night)
    night.complete()
    assert [(game.points, game.is_best) for game in night.tournament.single_player_games] == [
        (Decimal(100), True),
        (Decimal(0), False),
    ]
    assert bestgame.game_marks(night.tournament) == before
    assert standings_rows(night) == table


def test_reopening_clears_the_stored_points() -> None:
    night = open_night()
    play_score(night, 1, 501, 900)
    running = night.tournament
    night.complete()
    night.apply(tournament_commands.reopen(night.tournament))
    assert night.tournament.single_player_games == running.single_player_games
    assert not FORMATS["best_game"].is_over(night.tournament)


def test_a_curve_of_the_organizer_is_the_only_row_of_the_map() -> None:
    chosen = settings.read_settings(FORMATS["best_game"].settings, {"bestGameScoring": "custom"})
    rows = FORMATS["best_game"].points_map(chosen, {"curve": ["50", 30]})
    assert rows == ((50, 30),)
    night = open_night()
    night.tournament = replace(night.tournament, settings=chosen, points_map=rows)
    for player_id, points in ((1, 900), (2, 800), (3, 700)):
        play_score(night, player_id, 501, points)
    assert [points for _place, _player, points in standings_rows(night)] == ["50.00", "30.00", "0.00", "0.00"]


@pytest.mark.parametrize("custom", [None, {}, {"curve": []}, {"curve": [5, "x"]}, {"curve": [-1]}])
def test_a_curve_that_is_none_is_refused(custom: Any) -> None:
    chosen = settings.read_settings(FORMATS["best_game"].settings, {"bestGameScoring": "custom"})
    with pytest.raises(Invalid):
        FORMATS["best_game"].points_map(chosen, custom)


def test_an_adjustment_is_part_of_the_points_and_a_band_has_its_bubble() -> None:
    band = {"index": 0, "value": 1, "cumulative": 1, "text": "A", "color": "red"}
    night = open_night(playoffs_cutoffs=[band])
    play_score(night, 1, 501, 900)
    play_score(night, 2, 501, 800)
    change_entrant(night, 2, points_adjustment=Decimal(1))
    rows = night.standings()[:2]
    assert [(row.position, row.points, row.bubble.cutoff_bubble_color) for row in rows] == [
        (1, "100.00", "red"),
        (1, "100.00", "red"),
    ]


def test_undoing_everything_gives_the_planned_tournament_back() -> None:
    night = a_night("best_game", players=3, arenas=2, use_queues=True, suggestions="disabled")
    planned = night.tournament
    night.start()
    for player_id, arena_id in ((3, 502), (1, 501)):
        night.apply(single_player_commands.join_queue(night.tournament, player_id, arena_id, night.now))
    spot = night.tournament.queue[-1].queue_id
    night.apply(single_player_commands.start_from_queue(night.tournament, spot, night.now))
    game = play_score(night, 1, 501, 900)
    apply_command(night, "void_attempt", game)
    apply_command(night, "delete_attempt", play_score(night, 2, 501, 5))
    night.complete()
    night.apply(tournament_commands.reopen(night.tournament))
    assert undo_all(night) == planned


@quick
@given(
    st.lists(st.tuples(st.integers(1, 6), st.integers(501, 503), st.integers(0, 20)), max_size=40),
    st.randoms(use_true_random=False),
)
def test_ranks_do_not_hang_on_the_order_of_play(scores: list[tuple[int, int, int]], dice: Random) -> None:
    """The same scores in another order: the same points for every player."""

    def table(listed: list[tuple[int, int, int]]) -> dict[int, Any]:
        night = open_night(players=6)
        night.tournament = _with_scores(night.tournament, listed)
        return {row.player_id: (row.position, row.points, row.points_list) for row in night.standings()}

    assert table(scores) == table(dice.sample(scores, len(scores)))


def _with_scores(tournament: Tournament, scores: list[tuple[int, int, int]]) -> Tournament:
    games = tuple(
        SinglePlayerGame(
            single_player_game_id=at, player_id=player_id, arena_id=arena_id, score=points, status="completed"
        )
        for at, (player_id, arena_id, points) in enumerate(scores, start=1)
    )
    return replace(tournament, single_player_games=games)
