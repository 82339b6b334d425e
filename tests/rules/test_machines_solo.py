"""Random nights of single player formats, one machine per format."""

from rules import single_player_checks as checks
from rules import single_player_moves as moves
from rules.moves import Moves
from rules.night_machine import machine_of

# Several names, so that scores are as frequent as all other moves together.
SCORES = {f"scores {number}": moves.scores_any for number in range(4)}

TestGolf = machine_of(
    Moves(
        kind="golf",
        settings={
            "golf_duration": (1, 2, 3),
            "golf_stroke_limit": (0, 4, 6),
            "golf_holes_counted": (0, 0, 2),
            "tiebreaker": ("standard", "disabled"),
        },
        record=moves.strokes_of_any,
        correct=moves.correct_strokes,
        clear=moves.delete_any,
        tie=None,
        extra={"arena": moves.change_round_arena, "start": moves.start_any, "void": moves.void_any},
        points=checks.golf_points,
        checks=(checks.everybody_has_every_round,),
    )
)
TestBowling = machine_of(
    Moves(
        kind="bowling",
        settings={"golf_duration": (1, 2, 4), "tiebreaker": ("standard", "disabled")},
        record=moves.rolls_of_any,
        correct=moves.correct_rolls,
        clear=moves.delete_any,
        tie=None,
        extra={"arena": moves.change_round_arena, "start": moves.start_any},
        points=checks.bowling_points,
        checks=(checks.everybody_has_every_round, checks.frames_are_counted),
    )
)
TestBestGame = machine_of(
    Moves(
        kind="best_game",
        settings={
            "best_game_scoring": ("bg_linear", "bg_top_25", "bg_papa"),
            "best_game_overall_attempts": (0, 12),
            "best_game_attempts_on_arena": (0, 3),
            "best_game_arenas_counted": (0, 2),
            "best_game_number_of_best_games": (1, 2),
            "use_queues": (False, True),
            "suggestions": ("disabled",),
        },
        record=moves.scores_any,
        can_record=checks.is_started,
        correct=moves.correct_score,
        clear=moves.delete_any,
        tie=None,
        extra={
            **SCORES,
            "void": moves.void_any,
            "unvoid": moves.unvoid_any,
            "join": moves.join_any,
            "queue": moves.queue_any,
            "block": moves.block_any,
            "sell": moves.sell_any,
        },
        points=checks.best_game_points,
        checks=(
            checks.queues_have_no_gaps,
            checks.one_game_at_once,
            checks.marks_are_those_of_a_slow_count,
            checks.limits_hold,
        ),
    )
)
TestCardBestGame = machine_of(
    Moves(
        kind="card_best_game",
        settings={
            "card_best_game_games_per_card": (1, 2, 3),
            "card_best_game_cards_counted": (1, 2),
            "card_best_game_games_counted": (0, 1),
            "card_best_game_scoring": (0, 1),
            "best_game_overall_attempts": (0, 3),
            "use_queues": (False, True),
            "suggestions": ("disabled",),
        },
        record=moves.scores_any,
        can_record=checks.is_started,
        correct=moves.correct_score,
        clear=moves.delete_any,
        tie=None,
        extra={
            **SCORES,
            "card": moves.card_any,
            "join": moves.join_any,
            "queue": moves.queue_any,
            "block": moves.block_any,
            "void": moves.void_any,
        },
        points=checks.card_points,
        checks=(checks.queues_have_no_gaps, checks.one_game_at_once, checks.cards_are_sound),
    )
)
TestAmazingRace = machine_of(
    Moves(
        kind="amazingrace",
        settings={
            "arena_assignment": ("balanced", "random", "disabled"),
            "seeding": ("random", "manual"),
            "amazing_race_byes": (0, 1, 2),
            "amazing_race_bye_rounds": (1, 3),
        },
        record=moves.race_any,
        correct=moves.correct_race,
        clear=moves.delete_any,
        tie=None,
        extra={
            "arena": moves.change_round_arena,
            "start": moves.start_any,
            "queue": moves.queue_any,
            "leave": moves.leave_any,
        },
        points=checks.race_points,
        checks=(checks.race_is_sound, checks.queues_have_no_gaps),
    )
)
