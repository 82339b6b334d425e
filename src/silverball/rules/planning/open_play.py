"""Meaningful games of open qualifying, pingolf, frenzy and races. Source: ratings, B.3."""

from datetime import date
from fractions import Fraction

from silverball.kit.values import replace
from silverball.rules.drawing.groups import PAIR_SIZE
from silverball.rules.model.settings import TournamentSettings
from silverball.rules.model.settings_protocols import (
    HasArenaAttemptLimit,
    HasAttemptLimit,
    HasBestGames,
    HasCardScoring,
    HasClock,
    has,
)
from silverball.rules.planning import pace as planning_pace
from silverball.rules.planning import tgp
from silverball.rules.planning.answers import (
    ASK_THE_FEDERATION,
    PLAIN,
    Circumstances,
    MeaningfulGames,
    no_number,
    shown_number,
)

# Cases that the federation's rules do not settle, or that changed on a day. Source: ratings, B.3.


# The first day of the rules 6.2, with an alternative for frenzies with finals and a new text for the race.
RULES_OF_2026 = date(2026, 1, 1)

FRENZY_ALTERNATIVE = (
    "A quarter of the field or more goes on from this frenzy: the rules of 2026 have an alternative for it, "
    "which has no number here."
)
RACE_OF_2026 = "Two readings of the rules of 2026 on amazing races are published, so there is no number here."
IFPA_DECIDES = "The IFPA decides which one counts."
RACE_BEFORE = "There is no published rule for the meaningful games of an amazing race."


def is_under_rules_of_2026(held_on: date | None) -> bool:
    """Whether the rules of 2026 count for an event of this day; one without a day is under today's."""
    return held_on is None or held_on >= RULES_OF_2026


def frenzy_reason(*, held_on: date | None, players: int, finalists: int) -> str | None:
    """Return why a frenzy has no number, None if it has one: the alternative of 2026 has none here.

    It is for events that advance a quarter of the field or more to finals; the day is that of the event.
    """
    is_new = is_under_rules_of_2026(held_on)
    return FRENZY_ALTERNATIVE if is_new and finalists * 4 >= players > 0 < finalists else None


NO_ARENAS = "All machines count, and none is entered yet. With machines, the meaningful games are known."
MATCHES_UNKNOWN = (
    "A frenzy counts half of the matches that a player plays in the mean. With machines, they can be "
    "predicted; the number is known once it is played."
)
STROKES_UNKNOWN = (
    "A hole counts by its strokes: a third of their mean, at most one. The number is known once the "
    "holes are played."
)
HYBRID_UNCONFIRMED = "The condition for the hybrid factor of three is not confirmed. " + ASK_THE_FEDERATION


def best_game_rule(
    settings: TournamentSettings, _players: int, circumstances: Circumstances = PLAIN, /
) -> MeaningfulGames:
    """Return a game for each best game that counts; from 20 hours on, two, or three where limited."""
    assert has(settings, HasBestGames)
    arenas = settings.best_game_arenas_counted or circumstances.arenas
    if not arenas:
        return no_number(NO_ARENAS)
    counted = _playable(arenas * settings.best_game_number_of_best_games, settings, games_each=1)
    is_limited = _are_attempts_limited(settings, circumstances)
    return _open_play(
        counted, "hybrid_best_game" if is_limited else "unlimited_best_game", circumstances.hours
    )


def cards_rule(
    settings: TournamentSettings, _players: int, circumstances: Circumstances = PLAIN, /
) -> MeaningfulGames:
    """Return a game for each game of the cards that count, times four from 20 hours of unlimited play."""
    assert has(settings, HasCardScoring)
    each = settings.card_best_game_games_counted or settings.card_best_game_games_per_card
    counted = _playable(each * settings.card_best_game_cards_counted, settings, games_each=each)
    is_limited = _are_attempts_limited(settings, circumstances)
    return _open_play(counted, "limited_card" if is_limited else "unlimited_card", circumstances.hours)


def _playable(counted: int, settings: TournamentSettings, *, games_each: int) -> int:
    """The games that count, but no more than a player's attempts of so many games each allow."""
    attempts = _attempts_in_all(settings)
    return min(counted, attempts * games_each) if attempts else counted


def _attempts_in_all(settings: TournamentSettings) -> int:
    return settings.best_game_overall_attempts if has(settings, HasAttemptLimit) else 0


def _are_attempts_limited(settings: TournamentSettings, circumstances: Circumstances) -> bool:
    in_all = _attempts_in_all(settings)
    on_arena = settings.best_game_attempts_on_arena if has(settings, HasArenaAttemptLimit) else 0
    return circumstances.has_entry_limits or in_all > 0 or on_arena > 0


def _open_play(counted: int, play: tgp.OpenPlay, hours: int) -> MeaningfulGames:
    factor = tgp.open_play_factor(play, hours=hours)
    origin = f"By the federation's rule: {counted} games count, each worth {factor}."
    if hours and play in tgp.UNLIMITED_PLAY:
        origin += f" {hours} hours of unlimited play add a percent each, at most {tgp.HOURS_PERCENT_MAX}."
    is_unsettled = play == "hybrid_best_game" and factor > 1
    return MeaningfulGames(
        games=Fraction(counted * factor),
        origin="rule",
        notes=(origin, HYBRID_UNCONFIRMED) if is_unsettled else (origin,),
        hours=hours if play in tgp.UNLIMITED_PLAY else 0,
        is_unsettled=is_unsettled,
    )


def frenzy_rule(
    settings: TournamentSettings, players: int, circumstances: Circumstances = PLAIN, /
) -> MeaningfulGames:
    """Return half of the matches that a player plays in the mean, a third with one ball.

    Before it is played they are predicted from the clock, the machines and the pace.
    """
    reason = frenzy_reason(held_on=circumstances.held_on, players=players, finalists=circumstances.finalists)
    if reason is not None:
        return no_number(reason, is_unsettled=True)
    share = "a third" if circumstances.balls == 1 else "half"
    if circumstances.matches_per_player is None:
        return _predicted_frenzy(settings, players, circumstances, share)
    games = tgp.frenzy_games(circumstances.matches_per_player, balls=circumstances.balls)
    shown = shown_number(circumstances.matches_per_player)
    origin = f"By the federation's rule: {share} of the {shown} matches that a player plays in the mean."
    return MeaningfulGames(games=games, origin="rule", notes=(origin,), counts_balls=True)


def _predicted_frenzy(
    settings: TournamentSettings, players: int, circumstances: Circumstances, share: str
) -> MeaningfulGames:
    assert has(settings, HasClock)
    pace = circumstances.pace
    at_once = planning_pace.matches_at_once(
        players, machines=circumstances.arenas, waiting=settings.frenzy_queue_size
    )
    if pace is None or not at_once:
        return no_number(MATCHES_UNKNOWN)
    minutes = settings.frenzy_duration
    predicted = planning_pace.matches_per_player(players, minutes=minutes, at_once=at_once, pace=pace)
    source = "our defaults" if pace.is_default else f"{pace.nights} nights of the club"
    origin = (
        f"Ours: {share} of about {predicted:.1f} matches that a player plays in the mean, {at_once} at once "
        f"for {minutes} minutes, each of {shown_number(pace.minutes[PAIR_SIZE])} minutes by {source}. "
        "The record counts once it is played."
    )
    games = tgp.frenzy_games(Fraction(predicted), balls=circumstances.balls)
    return MeaningfulGames(games=games, origin="ours", notes=(origin,), counts_balls=True)


def race_rule(
    _settings: TournamentSettings, players: int, circumstances: Circumstances = PLAIN, /
) -> MeaningfulGames:
    """Return no number, but both readings of the rules of 2026 that were published: the IFPA decides."""
    if not is_under_rules_of_2026(circumstances.held_on):
        return no_number(RACE_BEFORE, is_unsettled=True)
    if players < PAIR_SIZE:
        return no_number(RACE_OF_2026, is_unsettled=True)
    rounds = players - 1
    halves = f"Half a game for each of {rounds} rounds: {shown_number(Fraction(rounds, 2))} games."
    thirds = (
        "A game for each round that all finish before the next one begins, a third of a game for any other: "
        f"{shown_number(Fraction(rounds, 3))} to {rounds} games."
    )
    return replace(
        no_number(RACE_OF_2026, is_unsettled=True), notes=(RACE_OF_2026, halves, thirds, IFPA_DECIDES)
    )


def strokes_unknown(
    _settings: TournamentSettings, _players: int, _circumstances: Circumstances = PLAIN, /
) -> MeaningfulGames:
    """Return no number before pingolf is played: its holes count by their strokes."""
    return no_number(STROKES_UNKNOWN)
