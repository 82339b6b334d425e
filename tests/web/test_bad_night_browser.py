"""A night that does not go well, in six formats, by touch: verified after each action, and counted again."""

import os
from collections.abc import Sequence
from decimal import Decimal
from typing import Any

import pytest
from playwright.sync_api import Browser

from silverball.rules.registry import FORMATS
from silverball.store.database.engine import Store
from web import final_pages, recounts, round_clock
from web.bad_night import BadNight
from web.bad_solo_night import BadSoloNight
from web.server_process import LiveServer

pytestmark = [
    pytest.mark.browser,
    # A night takes one to two minutes.
    pytest.mark.soak,
    # The database makes no difference to a browser.
    pytest.mark.parametrize("database_url", ["sqlite"], indirect=True),
]
SOAK = bool(os.environ.get("SILVERBALL_SOAK"))
# Who is there in time; six more come late.
IN_TIME = 54 if SOAK else 13
LATE = ("Lou Late", "Rae Solano", "Sol Ivers", "Tess Quayle", "Uma Brook", "Vic Orme")
FAR_AHEAD = 500
# Two of the five players who are tied for the places 3 to 7 go through.
CUT, TIED_FROM, TIED = 4, 2, 5
BAND = {"index": 0, "value": CUT, "cumulative": CUT, "text": "A final", "color": None}


@pytest.mark.parametrize("type_", ["group_matchplay", "matchplay", "group_knockout"])
def test_a_bad_night_in_rounds_ends_with_the_numbers_that_were_played(
    store: Store, live_server: LiveServer, browser: Browser, type_: str
) -> None:
    settings: dict[str, Any] = {"playoffsCutoffs": [BAND]}
    if type_ == "group_knockout":
        settings = {"knockoutStrikeCount": 2}
    if type_ == "matchplay":
        settings["tiebreaker"] = "none"
    night = BadNight(store, live_server, browser, type_=type_, people=IN_TIME, latePoints=1, **settings)
    night.start()
    night.open_round()
    late_players(night, LATE[:3])
    machines_break(night, ["startOver", "wait", "settle"])
    two_leave_their_games(night)
    round_clock.run_out(night)
    night.enter_all()
    for player_id in playing(night)[:2]:
        night.leave(player_id)
    away = playing(night)[:3]
    for player_id in away:
        night.away(player_id)
    late_players(night, LATE[3:])
    night.open_round()
    assert not set(away) & set(playing_now(night))
    night.goes_dark()
    night.open_round()
    back = {player_id for player_id in away if night.entrant(player_id).is_active}
    assert back <= set(playing_now(night))
    machines_break(night, ["startOver", "startOver"])
    four_results_were_wrong(night)
    night.enter_all()
    if type_ == "group_knockout":
        assert night.came_back
    else:
        five_tie_for_two_places(night)
    the_night_ends(night)


def test_a_bad_night_of_pingolf_ends_with_the_numbers_that_were_played(
    store: Store, live_server: LiveServer, browser: Browser
) -> None:
    settings = {"golfDuration": 3, "tiebreaker": "disabled"}
    night = BadSoloNight(store, live_server, browser, type_="golf", people=IN_TIME, **settings)
    night.start()
    for hole, arena in zip(night.tournament.rounds_in_order, night.tournament.lineup, strict=False):
        night.set_hole(hole.round_id, arena.arena_id)
    night.enter_strokes(0)
    for name in LATE:
        night.late(name)
    for player_id in playing(night)[:4]:
        night.leave(player_id)
    for hole in night.tournament.rounds_in_order[1:]:
        # The machine of the hole breaks, and another takes its place.
        assert hole.arena_id is not None
        night.breaks(hole.arena_id)
        night.set_hole(
            hole.round_id, next(each.arena_id for each in night.tournament.lineup[5:] if each.is_active)
        )
    night.restart_server()
    for number in range(3):
        night.enter_strokes(number)
    for attempt in [each for each in night.tournament.single_player_games if each.status == "completed"][:4]:
        night.correct_attempt(attempt.single_player_game_id, "strokes", 9 - int(attempt.points or 4))
    the_night_ends(night)


def test_a_bad_night_of_best_game_ends_with_the_numbers_that_were_played(
    store: Store, live_server: LiveServer, browser: Browser
) -> None:
    settings: dict[str, Any] = {"bestGameScoring": "bg_linear", "playoffsCutoffs": [BAND]}
    night = BadSoloNight(store, live_server, browser, type_="best_game", people=IN_TIME, **settings)
    night.start()
    machines = [arena.arena_id for arena in night.tournament.lineup[:8]]
    everybody_plays(night, playing(night), machines[:4])
    late = [night.late(name) for name in LATE]
    for player_id in playing(night)[:4]:
        night.leave(player_id)
    for arena_id in machines[:3]:
        night.breaks(arena_id)
    everybody_plays(night, playing(night)[:6] + late, machines[3:6])
    night.restart_server()
    for arena_id in machines[4:6]:
        night.breaks(arena_id)
    everybody_plays(night, late, machines[6:])
    for attempt in night.completed_attempts[:4]:
        night.correct_attempt(attempt.single_player_game_id, "score", 3 * (attempt.score or 0))
    five_tie_for_two_places(night)
    the_night_ends(night)


def everybody_plays(night: BadSoloNight, player_ids: Sequence[int], machines: Sequence[int]) -> None:
    """Each plays a game, on these machines in turn."""
    for number, player_id in enumerate(player_ids):
        night.enter_score(player_id, machines[number % len(machines)], night.dice.randrange(1000, 9_000_000))


def test_a_bad_night_of_a_bracket_ends_with_the_places_that_were_played(
    store: Store, live_server: LiveServer, browser: Browser
) -> None:
    night = BadNight(
        store, live_server, browser, type_="bracket", people=IN_TIME + len(LATE), seeding="manual"
    )
    night.start()
    machines_break(night, ["startOver", "wait", "settle"])
    for game in night.open_games()[:4]:
        night.forfeit(game.player_ids[1])
    night.goes_dark()
    machines_break(night, ["startOver", "startOver"])
    four_results_were_wrong(night)
    while night.open_games():
        night.enter_all()
    night.finish()
    assert {night.id_of(name): place for name, (place, _) in night.shown_standings().items()} == (
        recounts.bracket_places(night.tournament)
    )
    final_pages.prizes_are_paid(night)
    final_pages.federation_file_agrees(night)
    night.close()


def playing(night: BadNight) -> list[int]:
    return [entrant.player_id for entrant in night.tournament.entrants if entrant.is_active]


def playing_now(night: BadNight) -> list[int]:
    newest = night.tournament.rounds[-1].round_id
    return [each for game in night.tournament.games if game.round_id == newest for each in game.player_ids]


def late_players(night: BadNight, names: Sequence[str]) -> None:
    """Each plays at once where a group of three waits for its result, or else from the next round."""
    for name in names:
        threes = [game for game in night.open_games() if len(game.player_ids) == 3]
        night.late(name, threes[0] if threes else None)


def machines_break(night: BadNight, rulings: Sequence[str]) -> None:
    """A machine breaks in the middle of a game, for each ruling."""
    # With more games than machines, some wait for theirs.
    on_machines = [game for game in night.open_games() if game.arena_id is not None]
    for ruling, before in zip(rulings, on_machines, strict=False):
        game = night.game(before.game_id)
        assert game.arena_id is not None
        night.breaks(game.arena_id)
        night.rule(game, ruling)
        if ruling == "wait":
            night.rule(game, "resume")


def two_leave_their_games(night: BadNight) -> None:
    """The last place for the first who goes, and a game with one fewer when the second does."""
    for way in ("last", "fewer"):
        game = max(night.open_games(), key=lambda game: len(game.player_ids) - len(left(game)))
        night.leave(next(each for each in game.player_ids if each not in left(game)), way)


def left(game: Any) -> list[int]:
    return [each for each in game.result_positions if each is not None]


def four_results_were_wrong(night: BadNight) -> None:
    """They are turned round: the last was the first."""
    corrected: set[int] = set()
    for place in (0, 0, -1, -1):
        # In a bracket a correction deletes the games that no longer follow.
        game = [
            game
            for game in night.tournament.games
            if game.status == "completed" and len(game.player_ids) > 1 and game.game_id not in corrected
        ][place]
        corrected.add(game.game_id)
        night.correct(game, list(game.finishing_order or left(game))[::-1])


def five_tie_for_two_places(night: BadNight) -> None:
    night.draw_tie([night.name(player_id) for player_id in five_are_tied(night)])


def five_are_tied(night: BadNight) -> list[int]:
    """By points given by hand; the cut is in the middle of them."""
    table = FORMATS[night.tournament.type].rank(night.tournament)
    tied = table[TIED_FROM : TIED_FROM + TIED]
    points = {row.player_id: Decimal(row.points) for row in tied}
    level = int(max(points.values())) + 1
    for place, row in enumerate(table[:TIED_FROM]):
        # Nobody is tied with them, nor they with each other.
        night.adjust(row.player_id, FAR_AHEAD - place * 100)
    for row in tied:
        night.adjust(row.player_id, level - points[row.player_id])
    return [row.player_id for row in tied]


def the_night_ends(night: BadNight) -> None:
    """The tournament is finished, the prizes are paid, and all numbers are counted again."""
    night.finish()
    final_pages.numbers_agree(night)
    final_pages.prizes_are_paid(night)
    final_pages.federation_file_agrees(night)
    night.olga.go("/journal")
    history = night.olga.page.inner_text("main")
    assert "Olga Ramp" in history
    assert "Otto Tilt" in history
    night.close()
