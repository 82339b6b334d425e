"""Moves and checks for nights whose games follow from seeds and results: brackets, ladders, round robins."""

from collections import Counter
from collections.abc import Sequence
from random import Random

from rules.moves import Moves, choose_any, forfeit_any, no_points
from rules.night import Night
from silverball.rules.commands import single_player as single_player_commands
from silverball.rules.commands import tiebreaks as tiebreak_commands
from silverball.rules.commands import tournament as tournament_commands
from silverball.rules.drawing import groups
from silverball.rules.families.group_stages import GroupStageRules
from silverball.rules.formats import bracket, double_bracket, golf_bracket, group_bracket, ladder
from silverball.rules.model.apply import apply_changes
from silverball.rules.model.changes import Change
from silverball.rules.model.outcome import AttemptOutcome
from silverball.rules.model.tournament import SinglePlayerGame, Tournament


def forfeit_all(night: Night, dice: Random) -> Sequence[Change]:
    """Forfeit all open games of a player who leaves."""
    player_id = choose_any(night.tournament.entrants, dice, "player").player_id
    return tournament_commands.forfeit_open_games(night.tournament, player_id, dice, night.now)


def tiebreak_any(night: Night, dice: Random) -> Sequence[Change]:
    """Open a tiebreak between all or some of the tied players."""
    tie = choose_any(tiebreak_commands.tied_groups(night.tournament), dice, "tie")
    return tiebreak_commands.open_tiebreak(night.tournament, tie[: dice.choice((2, 4))], night.now)


def order_any(night: Night, dice: Random) -> Sequence[Change]:
    """Order tied players by hand."""
    tie = choose_any(tiebreak_commands.tied_groups(night.tournament), dice, "tie")
    return tiebreak_commands.set_manual_order(night.tournament, dice.sample(tie, len(tie)))


def forget_any(night: Night, dice: Random) -> Sequence[Change]:
    """Clear a manual order."""
    ordered = [entrant.player_id for entrant in night.tournament.entrants if entrant.tie_group]
    return tiebreak_commands.clear_manual_order(night.tournament, ordered)


# Golf brackets.
def strokes_of_any(night: Night, dice: Random) -> Sequence[Change]:
    waiting = [game for game in night.tournament.single_player_games if game.status != "completed"]
    return _strokes(night, dice, waiting)


def correct_strokes(night: Night, dice: Random) -> Sequence[Change]:
    return _strokes(night, dice, _over(night.tournament))


def _over(tournament: Tournament) -> list[SinglePlayerGame]:
    return [game for game in tournament.single_player_games if game.status == "completed"]


def _strokes(night: Night, dice: Random, games: Sequence[SinglePlayerGame]) -> Sequence[Change]:
    hole = choose_any(games, dice, "hole")
    outcome = AttemptOutcome(single_player_game_id=hole.single_player_game_id, strokes=dice.randint(1, 4))
    return single_player_commands.record_attempt(night.tournament, outcome, dice, night.now)


def delete_strokes(night: Night, dice: Random) -> Sequence[Change]:
    hole = choose_any(_over(night.tournament), dice, "hole")
    return single_player_commands.delete_attempt(night.tournament, hole.single_player_game_id, night.now)


def delete_hole(night: Night, dice: Random) -> Sequence[Change]:
    hole = choose_any(night.tournament.single_player_games, dice, "hole")
    return single_player_commands.delete_attempt(night.tournament, hole.single_player_game_id, night.now)


# Checks after every action.
def everything_follows(tournament: Tournament) -> None:
    """Check that every game follows from the results before it."""
    if tournament.status != "started":
        return
    stale = {
        "bracket": bracket.RULES.delete_stale_games,
        "double_bracket": double_bracket.RULES.delete_stale_games,
        "group_bracket": group_bracket.RULES.delete_stale_rounds,
        "golf_bracket": golf_bracket.RULES.delete_stale_rounds,
        "ladder": ladder.delete_stale_rounds,
    }
    assert stale[tournament.type](tournament) == []


def who_is_out_stays_out(tournament: Tournament) -> None:
    """Check that no player plays on after one loss (single elimination) or two (double elimination)."""
    losses_allowed = 1 if tournament.type == "bracket" else 2
    lost: Counter[int] = Counter()
    wins: Counter[tuple[int, int, int]] = Counter()
    needed = (int(getattr(tournament.settings, "games_per_round", 1)) + 1) // 2
    for game in tournament.games:
        if game.is_bye or game.status != "completed" or game.round_id is None:
            continue
        index = tournament.round_by_id[game.round_id].round_index
        if tournament.type == "bracket" and _is_extra(tournament, index, game.set_number):
            continue
        winner = game.result_positions[0]
        assert winner is not None
        wins[index, game.set_number, winner] += 1
        if wins[index, game.set_number, winner] == needed:
            lost.update(player_id for player_id in game.player_ids if player_id != winner)
    assert max(lost.values(), default=0) <= losses_allowed


def _is_extra(tournament: Tournament, index: int, set_number: int) -> bool:
    size = int(getattr(tournament.settings, "bracket_size", 0))
    return set_number >= size >> (index + 1)


def stages_are_full(tournament: Tournament) -> None:
    """Check that every round of a running group bracket has its number of players, in groups of four."""
    if tournament.status != "started":
        return
    plan = groups.planned_rounds(
        int(getattr(tournament.settings, "bracket_size", 0)),
        has_double_byes=bool(getattr(tournament.settings, "group_bracket_double_byes", 0)),
    )
    form: GroupStageRules = group_bracket.RULES if tournament.type == "group_bracket" else golf_bracket.RULES
    for round_, stage in zip(tournament.rounds_in_order, plan, strict=False):
        result = form.round_result(tournament, round_)
        assert len(result.player_ids) <= stage.player_count
        if round_ != tournament.newest_round:
            assert len(result.player_ids) == stage.player_count
            sizes = sorted(len(group) for group in result.groups)
            assert set(sizes[1:]) <= {4}
            assert sizes[0] in {2, 3, 4}


def everybody_has_a_place_in_the_end(tournament: Tournament) -> None:
    form = tournament_commands.format_of(tournament)
    if form.is_over(tournament):
        assert {row.player_id for row in form.rank(tournament)} >= set(tournament.active_ids)


def schedule_is_whole(tournament: Tournament) -> None:
    """Check that a running round robin has no pairing too often and no arena twice in a round."""
    if tournament.status != "started":
        return
    met = Counter(
        frozenset(game.player_ids) for game in tournament.games if not game.is_bye and not game.is_tiebreak
    )
    assert max(met.values(), default=0) <= (2 if tournament.type == "double_round_robin" else 1)
    for round_ in tournament.rounds:
        games = tournament.games_by_round.get(round_.round_id, ())
        arenas = Counter(game.arena_id for game in games if game.arena_id is not None)
        assert max(arenas.values(), default=1) == 1


def closing_and_resuming(night: Night, dice: Random) -> Sequence[Change]:
    """Complete the tournament early and reopen it; open games are open again."""
    before = night.tournament
    changes = tournament_commands.complete(before, night.now)
    changes += tournament_commands.reopen(apply_changes(before, changes))
    after = apply_changes(before, changes)
    if before.type != "golf_bracket" and before.type != "group_bracket":
        assert _open_pairs(before) <= _open_pairs(after)
    return changes


def _open_pairs(tournament: Tournament) -> Counter[frozenset[int]]:
    return Counter(
        frozenset(game.player_ids)
        for game in tournament.games
        if game.status == "started" and not game.is_tiebreak
    )


ORDERS = ("seed", "balanced", "rotating", "seed_reverse", "random")
ARENAS = ("balanced", "random", "disabled")
SHAPE = {"player_order": ORDERS, "arena_assignment": ARENAS}
EXTRA = {"forfeit": forfeit_any, "forfeit_all": forfeit_all, "resume": closing_and_resuming}
TIES = {"tiebreak": tiebreak_any, "order": order_any, "forget": forget_any}

ROUND_ROBIN = Moves(
    kind="round_robin",
    settings={**SHAPE, "byes": ("full", "half", "zero"), "seeding": ("random", "manual")},
    players=(2, 7),
    extra={**EXTRA, **TIES},
    checks=(schedule_is_whole,),
)
GROUPS = Moves(
    kind="round_robin",
    settings={**SHAPE, "round_robin_group_size": (2, 3, 4)},
    players=(4, 9),
    extra={**EXTRA, **TIES},
    checks=(schedule_is_whole,),
    one_group_per_round=False,
)
DOUBLE_ROUND_ROBIN = Moves(
    kind="double_round_robin",
    settings={**SHAPE, "byes": ("full", "zero")},
    players=(2, 5),
    extra={**EXTRA, **TIES},
    checks=(schedule_is_whole,),
)
BRACKET = Moves(
    kind="bracket",
    settings={**SHAPE, "games_per_round": (1, 1, 3)},
    players=(2, 10),
    extra={**EXTRA, **TIES},
    checks=(everything_follows, who_is_out_stays_out, everybody_has_a_place_in_the_end),
    points=no_points,
    lists_everybody=False,
    byes_are_even=False,
)
DOUBLE_BRACKET = Moves(
    kind="double_bracket",
    settings={**SHAPE, "games_per_round": (1, 1, 3)},
    players=(2, 9),
    extra=EXTRA,
    checks=(everything_follows, who_is_out_stays_out, everybody_has_a_place_in_the_end),
    points=no_points,
    lists_everybody=False,
    byes_are_even=False,
)
LADDER = Moves(
    kind="ladder",
    settings={**SHAPE, "ladder_type": ("regular", "fast")},
    players=(2, 9),
    extra={**EXTRA, **TIES},
    checks=(everything_follows, everybody_has_a_place_in_the_end),
    points=no_points,
    lists_everybody=False,
    byes_are_even=False,
)


def _group_bracket(size: int, double_byes: int = 0) -> Moves:
    return Moves(
        kind="group_bracket",
        settings={
            **SHAPE,
            "bracket_size": (size,),
            "group_bracket_double_byes": (double_byes,),
            "games_per_round": (1, 2),
            "scoring": ("papa", "winwinlossloss", "dcleague"),
        },
        players=(size, size),
        extra={**TIES, "resume": closing_and_resuming},
        checks=(everything_follows, stages_are_full, everybody_has_a_place_in_the_end),
        points=no_points,
        lists_everybody=False,
    )


GROUP_BRACKET = _group_bracket(8)
GROUP_BRACKET_WITH_BYES = _group_bracket(10)
GROUP_BRACKET_WITH_DOUBLE_BYES = _group_bracket(8, double_byes=1)
GOLF_BRACKET = Moves(
    kind="golf_bracket",
    settings={**SHAPE, "bracket_size": (8,), "games_per_round": (1, 2)},
    players=(8, 8),
    record=strokes_of_any,
    correct=correct_strokes,
    clear=delete_strokes,
    tie=None,
    extra={**TIES, "delete": delete_hole, "resume": closing_and_resuming},
    checks=(everything_follows, stages_are_full, everybody_has_a_place_in_the_end),
    points=no_points,
    lists_everybody=False,
    byes_are_even=False,
)
