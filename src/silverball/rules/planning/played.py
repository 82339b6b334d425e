"""Meaningful games of played nights, from their records. Source: ratings, B.3."""

from collections import Counter
from collections.abc import Sequence
from fractions import Fraction

from silverball.kit.values import replace
from silverball.rules.model.settings_protocols import HasCountedHoles, HasTargetPoints, has
from silverball.rules.model.tournament import Game, SinglePlayerGame, Tournament
from silverball.rules.planning import tgp
from silverball.rules.planning.answers import (
    PLAIN,
    Circumstances,
    MeaningfulGames,
    MeaningfulGamesRule,
    PlayedGamesRule,
    no_number,
    shown_number,
)
from silverball.rules.planning.open_play import frenzy_rule
from silverball.rules.planning.planned import (
    BYES_BY_DESIGN,
    EQUAL_NUMBERS,
    GAME_WEIGHTS,
    is_weight_unsettled,
    round_weight,
)
from silverball.rules.ranking import pace

FROM_RECORD = "By the federation's rule, from the record"
NOTHING_PLAYED = "No game was played to its end, so there is no number."
NOBODY_AT_TARGET = "Nobody has reached the target, so there is no number."
STROKES_MISSING = "The strokes of those who count are not recorded, so there is no number."


def by_plan(rule: MeaningfulGamesRule) -> PlayedGamesRule:
    """Return the rule for the record of a format whose settings and field decide everything."""

    def meaningful_games(tournament: Tournament, circumstances: Circumstances = PLAIN, /) -> MeaningfulGames:
        """Return the number for the players who were there to the end."""
        return rule(tournament.settings, len(tournament.active_ids), circumstances)

    return meaningful_games


def rounds_played(tournament: Tournament, _circumstances: Circumstances = PLAIN, /) -> MeaningfulGames:
    """Return the games of each round, weighted by the size that most of its groups had."""
    played = _games_by_round(tournament)
    if not played:
        return no_number(NOTHING_PLAYED)
    total = sum((_worth_of_round(games) for games in played), Fraction(0))
    is_unsettled = any(is_weight_unsettled(_group_sizes(games)) for games in played)
    origin = (
        f"{FROM_RECORD}: {_rounds_text(played)}, {shown_number(total)} games "
        "by the size that most groups of each round had."
    )
    return MeaningfulGames(
        games=total,
        origin="rule",
        notes=(origin, EQUAL_NUMBERS) if is_unsettled else (origin,),
        is_unsettled=is_unsettled,
    )


def expected_elimination(rule: MeaningfulGamesRule) -> PlayedGamesRule:
    """Return the rule for a night that lasts until one is left: the expected number, and the record beside.

    So the number is the same from the start of the night to its end.
    """

    def meaningful_games(tournament: Tournament, circumstances: Circumstances = PLAIN, /) -> MeaningfulGames:
        """Return the expected games of those who began."""
        games = _games_by_round(tournament)
        if not games:
            return no_number(NOTHING_PLAYED)
        began = {player_id for game in tournament.games for player_id in game.player_ids}
        recorded = _elimination_recorded(games)
        expected = rule(tournament.settings, len(began), circumstances)
        if expected.games is None:
            # Where nothing can be expected, the record is all there is.
            return recorded if expected.awaited is None else expected
        return replace(expected, notes=(*expected.notes, *recorded.notes))

    return meaningful_games


def _elimination_recorded(played: Sequence[Sequence[Game]]) -> MeaningfulGames:
    """Return the rounds until one was left times the mean weight of all games."""
    weights = [_weight_of_game(game) for games in played for game in games]
    mean = sum(weights, Fraction(0)) / len(weights)
    total = sum(_waves(games) for games in played) * mean
    origin = (
        f"The record: {_rounds_text(played)} times the mean weight of all games, {shown_number(mean)}, "
        f"{shown_number(total)} games."
    )
    return MeaningfulGames(games=total, origin="rule", notes=(origin,), last_players=1)


def target_played(tournament: Tournament, circumstances: Circumstances = PLAIN, /) -> MeaningfulGames:
    """Return the games until the target: the mean of all who reached it as qualifying, else of the first."""
    assert has(tournament.settings, HasTargetPoints)
    reached = pace.rounds_reaching_target(tournament, tournament.settings.target_points)
    numbers = [number for number in reached.values() if number > pace.ROUND_NONE]
    if not numbers:
        return no_number(NOBODY_AT_TARGET)
    worth = {
        round_.round_index + 1: _worth_of_round(games)
        for round_ in tournament.rounds_in_order
        if (games := _finished_games(tournament.games_by_round.get(round_.round_id, ())))
    }
    until = {
        number: sum((games for at, games in worth.items() if at <= number), Fraction(0)) for number in numbers
    }
    if circumstances.part == "qualifying":
        mean = sum((until[number] for number in numbers), Fraction(0)) / len(numbers)
        origin = f"{FROM_RECORD}: {shown_number(mean)} games of those at the target."
        return MeaningfulGames(games=mean, origin="rule", notes=(origin,))
    first = until[min(numbers)]
    origin = f"{FROM_RECORD}: {shown_number(first)} games until the first was there."
    return MeaningfulGames(games=first, origin="rule", notes=(origin,))


def games_per_player(tournament: Tournament, _circumstances: Circumstances = PLAIN, /) -> MeaningfulGames:
    """Return the mean number of games of those who played, weighted by the size that most games had."""
    games = _finished_games(tournament.games)
    if not games:
        return no_number(NOTHING_PLAYED)
    mean = _mean_games(games)
    weight = round_weight([len(game.player_ids) for game in games])
    origin = f"Ours, from the record: {shown_number(mean)} games a player in the mean, each worth {weight}."
    return MeaningfulGames(games=mean * weight, origin="ours", notes=(origin,))


def made_by_hand_played(tournament: Tournament, circumstances: Circumstances = PLAIN, /) -> MeaningfulGames:
    """Return the games of the rounds where there were rounds, else those of a player in the mean."""
    rule = rounds_played if _games_by_round(tournament) else games_per_player
    return rule(tournament, circumstances)


def frenzy_played(tournament: Tournament, circumstances: Circumstances = PLAIN, /) -> MeaningfulGames:
    """Return half of the matches that those who played had in the mean."""
    games = _finished_games(tournament.games)
    if not games:
        return no_number(NOTHING_PLAYED)
    players = len({player_id for game in games for player_id in game.player_ids})
    known = replace(circumstances, matches_per_player=_mean_games(games))
    return frenzy_rule(tournament.settings, players, known)


def holes_played(tournament: Tournament, circumstances: Circumstances = PLAIN, /) -> MeaningfulGames:
    """Return the holes times a third of the mean strokes of those who count, at most one each."""
    wanted = set(circumstances.counted_ids)
    counted = [attempt for attempt in _finished_attempts(tournament) if attempt.player_id in wanted]
    if not counted or not wanted:
        return no_number(STROKES_MISSING)
    strokes = sum((Fraction(attempt.points or 0) for attempt in counted), Fraction(0))
    average = strokes / len(counted)
    holes = Fraction(len(counted), len({attempt.player_id for attempt in counted}))
    if has(tournament.settings, HasCountedHoles) and tournament.settings.golf_holes_counted:
        holes = min(holes, Fraction(tournament.settings.golf_holes_counted))
    games = holes * tgp.golf_games(1, course_average=average)
    who = "those who go on" if circumstances.part == "qualifying" else "the winner"
    origin = (
        f"{FROM_RECORD}: {shown_number(holes)} holes with {shown_number(average)} strokes of {who} "
        "in the mean."
    )
    has_byes = _has_skipped_rounds(tournament)
    return MeaningfulGames(
        games=games,
        origin="rule",
        notes=(origin, BYES_BY_DESIGN) if has_byes else (origin,),
        is_unsettled=has_byes,
        last_players=_last_players(tournament),
    )


def _finished_games(games: Sequence[Game]) -> list[Game]:
    """The games that count: played to the end by at least two, no bye, no forfeit and no tiebreak."""
    return [
        game
        for game in games
        if game.status == "completed"
        and not game.is_bye
        and not game.is_tiebreak
        and game.forfeited_by is None
        and len(game.player_ids) > 1
    ]


def _finished_attempts(tournament: Tournament) -> list[SinglePlayerGame]:
    return [
        attempt
        for attempt in tournament.single_player_games
        if attempt.status == "completed" and not attempt.is_voided and attempt.round_id is not None
    ]


def _games_by_round(tournament: Tournament) -> list[list[Game]]:
    by_round = (
        _finished_games(tournament.games_by_round.get(round_.round_id, ()))
        for round_ in tournament.rounds_in_order
    )
    return [games for games in by_round if games]


def _group_sizes(games: Sequence[Game]) -> list[int]:
    """The size of each group of a round."""
    return list({game.set_number: len(game.player_ids) for game in games}.values())


def _waves(games: Sequence[Game]) -> int:
    """The number of games that most groups of a round played."""
    by_group = Counter(game.set_number for game in games)
    return Counter(by_group.values()).most_common(1)[0][0]


def _worth_of_round(games: Sequence[Game]) -> Fraction:
    return _waves(games) * round_weight(_group_sizes(games))


def _weight_of_game(game: Game) -> Fraction:
    return GAME_WEIGHTS[min(len(game.player_ids), max(GAME_WEIGHTS))]


def _mean_games(games: Sequence[Game]) -> Fraction:
    seats = [player_id for game in games for player_id in game.player_ids]
    return Fraction(len(seats), len(set(seats)))


def _rounds_text(played: Sequence[Sequence[Game]]) -> str:
    return "1 round" if len(played) == 1 else f"{len(played)} rounds"


def _has_skipped_rounds(tournament: Tournament) -> bool:
    """Whether some players began in a later round than others, by design of a bracket of holes."""
    first = tournament.attempts_by_round.get(tournament.rounds_in_order[0].round_id, ())
    began = {attempt.player_id for attempt in first}
    return len(began) < len({attempt.player_id for attempt in _finished_attempts(tournament)})


def _last_players(tournament: Tournament) -> int:
    newest = tournament.newest_round
    last = tournament.attempts_by_round.get(newest.round_id, ()) if newest is not None else ()
    return len({attempt.player_id for attempt in last})
