"""A night of two tournaments in one room that does not go well, by touch on one console that switches."""

import pytest
from playwright.sync_api import Browser

from silverball.store.database.engine import Store
from web import final_pages
from web.bad_room_night import BOTH, BadRoomNight
from web.server_process import LiveServer

pytestmark = [
    pytest.mark.browser,
    # The database makes no difference to a browser.
    pytest.mark.parametrize("database_url", ["sqlite"], indirect=True),
]


@pytest.mark.parametrize(
    ("people", "others", "shared", "rounds"),
    [
        pytest.param(8, 6, 3, 1, id="small"),
        pytest.param(60, 24, 12, 3, id="sixty", marks=pytest.mark.soak),
    ],
)
def test_two_tournaments_share_a_bad_night_and_nobody_is_called_twice_or_starves(
    store: Store,
    live_server: LiveServer,
    browser: Browser,
    *,
    people: int,
    others: int,
    shared: int,
    rounds: int,
) -> None:
    night = BadRoomNight(store, live_server, browser, people=people, others=others, shared=shared)
    night.start()
    night.open_by_address(2)
    night.start()
    night.open_rounds(1)
    night.switch_to(2)
    reasons = night.waiting_rows()
    assert reasons
    assert all("A bad night" in reason or "Women's" in reason for reason in reasons), reasons
    a_machine_breaks(night)
    night.late("Lou Late")
    while night.open_rounds(rounds) or night.playable():
        night.enter_any()
    assert night.waits >= shared
    for tournament_id in BOTH:
        night.open_by_address(tournament_id)
        night.finish()
        final_pages.numbers_agree(night)
        final_pages.prizes_are_paid(night)
    night.close()


def a_machine_breaks(night: BadRoomNight) -> None:
    """Whoever waits for a machine is called in the other tournament, and then waited for."""
    own, other = night.waited_for()
    game = night.machine_breaks_under(own)
    in_play = {each.game_id for each in night.playable()}
    assert own.game_id not in in_play
    assert other.game_id in in_play
    night.rule(game, "startOver")
    assert own.game_id not in {each.game_id for each in night.playable()}
