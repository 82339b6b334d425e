"""The clock of a round runs out on a bad night: late games are listed, and one of them is given more time."""

from datetime import UTC, datetime, timedelta

from silverball.rules.model.tournament import Game
from web.bad_night import BadNight

ROUND_MINUTES, EXTRA_MINUTES = 1, 5
LEFT_OPEN = 4
# The server cuts off fractions.
A_SECOND = timedelta(seconds=1)


def run_out(night: BadNight) -> None:
    """Play all but a few games of the open round: their time is up, but not where extra time was given."""
    untouched = _games_begun_with_the_round(night)[:LEFT_OPEN]
    extended, late = untouched[0], untouched[1:]
    assert late
    earliest = datetime.now(UTC) - A_SECOND
    set_timer(night, ROUND_MINUTES)
    latest = datetime.now(UTC)
    given = timedelta(minutes=ROUND_MINUTES + EXTRA_MINUTES)
    assert earliest + given <= give_extra_time(night, extended) <= latest + given
    open_ids = {game.game_id for game in untouched}
    night.enter_all([game for game in night.open_games() if game.game_id not in open_ids])
    left = latest + timedelta(minutes=ROUND_MINUTES) + A_SECOND - datetime.now(UTC)
    night.olga.page.wait_for_timeout(max(left.total_seconds(), 0) * 1000)
    night.olga.go()
    assert late_ids(night) == {game.game_id for game in late}
    night.olga.assert_well_laid_out()
    with night.acting("more time for a late game"):
        night.olga.tap(".overdue summary")
        night.olga.tap(f".overdue button[form=extra-time-overdue][value='{late[0].game_id}']")
        night.wait_until(lambda: late[0].game_id in night.tournament.state.extended_ends)
    night.olga.go()
    assert late_ids(night) == {game.game_id for game in late[1:]}
    set_timer(night, 0)
    night.olga.go()
    assert late_ids(night) == set()


def _games_begun_with_the_round(night: BadNight) -> list[Game]:
    """The open games that neither waited nor began again, in which nobody has left."""
    games = night.open_games()
    first = min(game.started_at for game in games if game.started_at is not None)
    return [game for game in games if game.started_at == first and not any(game.result_positions)]


def set_timer(night: BadNight, minutes: int) -> None:
    """Give the open round and all others so many minutes, or no timer."""
    with night.acting(f"timer of {minutes} minutes"):
        night.olga.go()
        night.olga.tap("section:has(#timer) summary")
        night.olga.fill("#timer-set-minutes", str(minutes))
        night.olga.tap("text=Set the timer")
        night.wait_until(lambda: (night.tournament.state.round_minutes or 0) == minutes)


def give_extra_time(night: BadNight, game: Game) -> datetime:
    """Give one game more time beforehand, on its own page; returns the end that the page then shows."""
    with night.acting(f"extra time for game {game.game_id}"):
        night.olga.go(f"/game?game={game.game_id}")
        night.olga.tap(f"#extra-time-{game.game_id} button")
        night.wait_until(lambda: game.game_id in night.tournament.state.extended_ends)
    night.olga.go(f"/game?game={game.game_id}")
    shown = night.olga.page.locator(f"#extra-time-{game.game_id} .timer").get_attribute("datetime")
    assert shown is not None
    return datetime.fromisoformat(shown)


def late_ids(night: BadNight) -> set[int]:
    """The games that Now lists as late."""
    buttons = night.olga.page.locator(".overdue button[form=extra-time-overdue]")
    return {int(str(button.get_attribute("value"))) for button in buttons.all()}
