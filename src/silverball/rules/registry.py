"""Every format that can be played here: wire name -> Format, one line each."""

from functools import cache

import msgspec

from silverball.rules.format import Format
from silverball.rules.formats import (
    amazingrace,
    best_game,
    bowling,
    bracket,
    card_best_game,
    double_bracket,
    double_round_robin,
    frenzy,
    golf,
    golf_bracket,
    group_bracket,
    group_knockout,
    group_matchplay,
    knockout,
    ladder,
    manual_matchplay,
    matchplay,
    max_matchplay,
    pace_matchplay,
    round_robin,
    target,
)
from silverball.rules.model.settings import FormatSetting, format_settings

FORMATS: dict[str, Format] = {
    form.type: form
    for form in (
        knockout.FORMAT,
        group_knockout.FORMAT,
        matchplay.FORMAT,
        group_matchplay.FORMAT,
        max_matchplay.FORMAT,
        pace_matchplay.FORMAT,
        manual_matchplay.FORMAT,
        target.FORMAT,
        frenzy.FORMAT,
        round_robin.FORMAT,
        double_round_robin.FORMAT,
        bracket.FORMAT,
        double_bracket.FORMAT,
        group_bracket.FORMAT,
        ladder.FORMAT,
        best_game.FORMAT,
        card_best_game.FORMAT,
        golf.FORMAT,
        golf_bracket.FORMAT,
        bowling.FORMAT,
        amazingrace.FORMAT,
    )
}


def rated_types() -> frozenset[str]:
    """The wire names of the formats whose results count for ratings."""
    return frozenset(form.type for form in FORMATS.values() if form.rated)


# The order in which a tournament shows the settings of all formats. A new setting need not be named here:
# it comes last, in the order of the formats.
SETTINGS_SHOWN_FIRST = """
    scorekeeping forecast late_points seeding first_round_pairing pairing player_order player_order_open
    arena_assignment suggestions byes tiebreaker scoring duration games_per_round playoffs_cutoffs
    use_queues knockout_strike_count knockout_three_player_strikes knockout_four_player_strikes
    knockout_fair knockout_progressive max_matchplay_duration max_matchplay_max_active
    max_matchplay_scorekeeper_create pace_initial_rounds pace_initial_target pace_increment
    target_points round_robin_group_size round_count bracket_size group_bracket_double_byes ladder_type
    frenzy_duration frenzy_queue_size frenzy_standings frenzy_paused_seconds_left golf_duration
    golf_holes_counted golf_par_score golf_stroke_limit best_game_scoring best_game_arenas_counted
    best_game_attempts_on_arena best_game_number_of_best_games best_game_overall_attempts
    card_best_game_cards_counted card_best_game_games_counted card_best_game_games_per_card
    card_best_game_scoring
""".split()  # noqa: SIM905  # a line for each would be more than the rest of the file


@cache
def published_settings() -> tuple[FormatSetting, ...]:
    """Every setting of every format, once, in the order in which a tournament shows them.

    A choice has the values of all formats that have it; other facts are those of the first.
    """
    found: dict[str, FormatSetting] = {}
    for setting in (each for form in FORMATS.values() for each in format_settings(form.settings)):
        known = found.get(setting.name, setting)
        values = tuple(dict.fromkeys((*known.values, *setting.values)))
        found[setting.name] = msgspec.structs.replace(known, values=values)
    order = {name: place for place, name in enumerate(SETTINGS_SHOWN_FIRST)}
    return tuple(sorted(found.values(), key=lambda setting: order.get(setting.name, len(order))))
