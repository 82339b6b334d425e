"""Nothing that can be tapped moves by itself: 500 taps on each kind of control, around each change of a page.

`make test` takes 50 taps in three formats, `make test-all` all of them. The seed of a kind is printed.
"""

from collections.abc import Callable, Sequence

import pytest
from playwright.sync_api import Browser

import build
from selection import IS_ALL, SEED
from silverball.rules.model.tournament import Game, Tournament
from silverball.store.database.engine import Store
from web import still_night
from web.phone import TWO_FRAMES, a_night, an_organizer, night_of, started
from web.still_night import Aim, Thumb, write

TAPS = 500
TAPS_IN_SUITE = {"duel": 20, "group": 15, "strokes": 15}
# What others do is in its row within two seconds; a machine that runs other tests is given more.
WITHIN_MILLISECONDS = 10_000
# The share of the rows that others write in.
OTHERS = 3

pytestmark = [
    pytest.mark.browser,
    # The database makes no difference to a browser.
    pytest.mark.parametrize("database_url", ["sqlite"], indirect=True),
]


def dealt(thumb: Thumb, rows: Sequence[int]) -> tuple[list[int], list[int]]:
    """The rows of the thumb and those of others, in any order."""
    shuffled = thumb.dice.sample(rows, len(rows))
    count = len(shuffled) // OTHERS
    return shuffled[count:], shuffled[:count]


def game_of(night: Tournament, game_id: int) -> Game:
    return next(game for game in night.games if game.game_id == game_id)


def record(store: Store, game_id: int) -> None:
    """The result of another device: the players in playing order."""
    order = list(game_of(night_of(store), game_id).player_ids)
    write(store, "PUT", f"/games/{game_id}/result", {"resultPositions": order})


def next_round(store: Store) -> None:
    for game in night_of(store).games:
        if game.status == "started":
            record(store, game.game_id)
    write(store, "POST", "/rounds", {})


def open_ids(store: Store) -> list[int]:
    return [game.game_id for game in night_of(store).open_games]


def tap_duels(thumb: Thumb, taps: int) -> None:
    """The second player wins where the thumb taps, and the first where others write."""
    while thumb.count.taps < taps:
        own, others = dealt(thumb, open_ids(thumb.store))
        night = night_of(thumb.store)
        winners = {key: game_of(night, key).player_ids[-1] for key in own}
        aims = [
            Aim(f"#result-{key} button[value='{winners[key]}']", has_won(key, winners[key])) for key in own
        ]
        thumb.tap_all(aims, [writer(thumb.store, key) for key in others])
        after = night_of(thumb.store)
        assert all(has_won(key, game_of(after, key).player_ids[0])(after) for key in others)
        if not thumb.has_clock:
            next_round(thumb.store)
        thumb.go()


def writer(store: Store, game_id: int) -> Callable[[], None]:
    return lambda: record(store, game_id)


def has_won(game_id: int, player_id: int) -> Callable[[Tournament], bool]:
    def holds(night: Tournament) -> bool:
        game = game_of(night, game_id)
        order = game.finishing_order or game.result_positions
        return order[0] == player_id

    return holds


def tap_groups(thumb: Thumb, taps: int) -> None:
    """Each game is opened, ordered from the last player to the first, and saved."""
    while thumb.count.taps < taps:
        own, others = dealt(thumb, open_ids(thumb.store))
        writes = [writer(thumb.store, key) for key in others]
        for key in own:
            meanwhile = [writes.pop()] if writes else []
            order = game_of(night_of(thumb.store), key).player_ids[::-1]
            steps = [f"#game-{key} .four"]
            steps += [f"#entry-{key} .place:has([name=place-{player_id}]) .tap" for player_id in order[:-1]]
            for step in steps:
                thumb.tap(step, meanwhile.pop() if meanwhile else None)
            # A thumb aims at Save once it is seen: on a busy machine that is a frame later.
            thumb.page.evaluate(TWO_FRAMES)
            thumb.tap(f"#entry-{key} .entry-end button", meanwhile.pop() if meanwhile else None)
            thumb.page.wait_for_selector(f"#entry-{key}[open]", state="hidden")
        for write_rest in writes:
            write_rest()
        thumb.settle()
        night = night_of(thumb.store)
        for key in own:
            if not has_won(key, game_of(night, key).player_ids[-1])(night):
                thumb.count.unwritten.append(f"game {key}")
        assert all(has_won(key, game_of(night, key).player_ids[0])(night) for key in others)
        next_round(thumb.store)
        thumb.go()


def tap_strokes(thumb: Thumb, taps: int) -> None:
    """Three strokes where the thumb taps, five where others write."""

    def tap_hole(own: list[int], others: list[int]) -> None:
        aims = [Aim(f"#attempt-{key} button[value='3']", has_points(key, 3)) for key in own]
        thumb.tap_all(aims, [attempt_writer(thumb.store, key, {"strokes": 5}) for key in others])

    tap_attempts(thumb, taps, tap_hole)


def tap_rolls(thumb: Thumb, taps: int) -> None:
    """Seven and two where the thumb types and saves, one and one where others write."""

    def tap_frame(own: list[int], others: list[int]) -> None:
        writes = [attempt_writer(thumb.store, key, {"rolls": [1, 1]}) for key in others]
        for key in own:
            thumb.page.fill(f"#attempt-{key} [name=rolls]", "7 2")
            thumb.tap(f"#attempt-{key} button:not([type=button])", writes.pop() if writes else None)
        for write_rest in writes:
            write_rest()
        thumb.settle()
        night = night_of(thumb.store)
        rolls = {each.single_player_game_id: each.rolls for each in night.single_player_games}
        thumb.count.unwritten += [f"attempt {key}" for key in own if tuple(rolls[key] or ()) != (7, 2)]

    tap_attempts(thumb, taps, tap_frame)


def tap_attempts(thumb: Thumb, taps: int, tap_round: Callable[[list[int], list[int]], None]) -> None:
    """Tap the single player games of one hole or frame after the other."""
    while thumb.count.taps < taps:
        night = night_of(thumb.store)
        waiting = [each for each in night.single_player_games if each.status != "completed"]
        order = [round_.round_id for round_ in night.rounds_in_order]
        first = min(order.index(each.round_id or 0) for each in waiting)
        keys = [each.single_player_game_id for each in waiting if each.round_id == order[first]]
        thumb.go(f"?round={order[first]}")
        own, others = dealt(thumb, keys)
        tap_round(own, others)


def attempt_writer(store: Store, key: int, result: object) -> Callable[[], None]:
    return lambda: write(store, "PATCH", f"/single-player-games/{key}", result)


def has_points(key: int, points: int) -> Callable[[Tournament], bool]:
    return lambda night: any(
        each.points == points for each in night.single_player_games if each.single_player_game_id == key
    )


def tap_queue(thumb: Thumb, taps: int) -> None:
    """The thumb takes people out of the queue while others are put back at its end."""
    while thumb.count.taps < taps:
        spots = night_of(thumb.store).waiting_spots
        own, others = dealt(thumb, [spot.queue_id for spot in spots])
        aims = [Aim(f"#frenzy-out-{key} button", has_left_queue(key)) for key in own]
        thumb.tap_all(aims, [queue_writer(thumb.store, key) for key in others])
        night = night_of(thumb.store)
        waiting = {spot.player_id for spot in night.waiting_spots}
        busy = {player_id for game in night.open_games for player_id in game.player_ids}
        for entrant in night.entrants:
            if entrant.player_id not in waiting | busy:
                write(thumb.store, "POST", "/frenzy/queue", {"playerId": entrant.player_id})
        thumb.go()


def queue_writer(store: Store, key: int) -> Callable[[], None]:
    return lambda: write(store, "DELETE", f"/frenzy/queue/{key}")


def has_left_queue(key: int) -> Callable[[Tournament], bool]:
    return lambda night: all(spot.queue_id != key for spot in night.waiting_spots)


def tap_presence(thumb: Thumb, taps: int) -> None:
    """The thumb ticks who is here while others tick others; then all are taken back."""
    while thumb.count.taps < taps:
        thumb.go("/door")
        ids = [entrant.player_id for entrant in night_of(thumb.store).entrants]
        own, others = dealt(thumb, ids)
        aims = [Aim(f"#here-{key} button", is_here(key)) for key in own]
        thumb.tap_all(aims, [presence_writer(thumb.store, key, here=True) for key in others])
        for key in ids:
            presence_writer(thumb.store, key, here=False)()


def presence_writer(store: Store, key: int, *, here: bool) -> Callable[[], None]:
    return lambda: write(store, "PUT", f"/sign-ups/players/{key}", {"here": here})


def is_here(key: int) -> Callable[[Tournament], bool]:
    return lambda night: any(
        entry.checked_in_at is not None for entry in night.sign_ups if entry.player_id == key
    )


def tap_undo(thumb: Thumb, taps: int) -> None:
    """The thumb takes back results that the same account has entered elsewhere, while others come."""
    while thumb.count.taps < taps:
        done, others = dealt(thumb, open_ids(thumb.store))
        for key in done:
            record(thumb.store, key)
        for key in done:
            thumb.page.wait_for_selector(f"#result-undo-{key}", state="attached")
        aims = [Aim(f"#result-undo-{key} button", is_open(key)) for key in done]
        thumb.tap_all(aims, [writer(thumb.store, key) for key in others])
        next_round(thumb.store)
        thumb.go()


def is_open(key: int) -> Callable[[Tournament], bool]:
    return lambda night: game_of(night, key).status == "started"


# Kind of control -> its taps, and the nights among which they are dealt: format, players, machines, settings.
KINDS = {
    "duel": (tap_duels, (("matchplay", 24, 12), ("knockout", 24, 12))),
    "group": (tap_groups, (("group_matchplay", 32, 8),)),
    "strokes": (tap_strokes, (("golf", 24, 4),)),
    "rolls": (tap_rolls, (("bowling", 24, 4),)),
    "frenzy": (tap_duels, (("frenzy", 16, 6),)),
    "queue": (tap_queue, (("frenzy", 24, 4),)),
    "presence": (tap_presence, (("matchplay", 24, 0),)),
    "undo": (tap_undo, (("matchplay", 24, 12),)),
}
WITHOUT_ROUND = ("golf", "bowling", "frenzy")


@pytest.mark.parametrize("kind", KINDS)
def test_a_tap_writes_what_it_was_aimed_at_and_nothing_else(
    store: Store, browser: Browser, base_url: str, kind: str
) -> None:
    if not IS_ALL and kind not in TAPS_IN_SUITE:
        pytest.skip("`make test-all` taps this kind of control")
    tap_kind, nights = KINDS[kind]
    seed = int(SEED) + list(KINDS).index(kind)
    type_, players, machines = nights[seed % len(nights)]
    if kind == "presence":
        a_planned_night(store, type_, players)
    elif type_ in WITHOUT_ROUND:
        started(store, type_, players, machines)
    else:
        a_night(store, type_, players, machines)
    thumb = Thumb(store, browser, base_url, seed)
    thumb.has_clock = type_ == "frenzy"
    tap_kind(thumb, TAPS if IS_ALL else TAPS_IN_SUITE[kind])
    count = thumb.finish()
    print(  # noqa: T201  # the seed and the numbers of this run
        f"{kind} in {type_}, seed {seed}: {count.taps} taps, {len(count.unwritten)} not written,"
        f" {count.pulses} pulsed, {len(count.moves)} rows moved"
    )
    assert count.unwritten == []
    assert count.moves == []
    assert count.pulses == 0


def a_planned_night(store: Store, type_: str, players: int) -> None:
    organizer_id = an_organizer(store)
    path = "/api/tournaments"
    assert build.do(store, "POST", path, {"name": "Thursday", "type": type_}, by=organizer_id)[0] == 201
    named = [{"name": f"Player {n + 1}"} for n in range(players)]
    write(store, "POST", "/players", {"players": named})


def test_each_tap_on_a_seat_counts_also_ten_in_two_seconds(
    store: Store, browser: Browser, base_url: str
) -> None:
    a_night(store, "group_matchplay")
    thumb = Thumb(store, browser, base_url, int(SEED))
    (game,) = night_of(store).games
    thumb.tap(f"#game-{game.game_id} .four")
    thumb.page.wait_for_timeout(still_night.SPOT_MILLISECONDS)
    seat = f"#entry-{game.game_id} .place .tap"
    x, y = thumb.page.evaluate(still_night.AIM, seat)
    pressed = []
    for _ in range(10):
        thumb.page.touchscreen.tap(x, y)
        pressed.append(thumb.page.locator(seat).first.get_attribute("aria-pressed"))
    assert pressed == ["true", "false"] * 5
    assert thumb.finish().pulses == 0


def test_a_result_of_another_device_is_in_its_row_while_another_row_is_half_entered(
    store: Store, browser: Browser, base_url: str
) -> None:
    a_night(store, "group_matchplay", 16)
    thumb = Thumb(store, browser, base_url, int(SEED))
    first, second, *_ = night_of(store).games
    thumb.page.wait_for_selector("#feed[data-state=live]", state="attached")
    thumb.tap(f"#game-{first.game_id} .four")
    thumb.page.wait_for_timeout(still_night.SPOT_MILLISECONDS)
    seat = f"#entry-{first.game_id} .place .tap"
    thumb.tap(seat)
    record(store, second.game_id)
    thumb.page.wait_for_selector(
        f"#game-{second.game_id}.done", state="attached", timeout=WITHIN_MILLISECONDS
    )
    assert thumb.page.locator(seat).first.get_attribute("aria-pressed") == "true"
    assert thumb.finish().moves == []


def test_a_tap_that_does_not_count_pulses(store: Store, browser: Browser, base_url: str) -> None:
    """The row is moved under the finger, as only another page or an extension of the browser could."""
    a_night(store, "matchplay", 8)
    thumb = Thumb(store, browser, base_url, int(SEED))
    game = night_of(store).games[0]
    x, y = thumb.page.evaluate(still_night.AIM, f"#result-{game.game_id} button")
    thumb.page.evaluate(
        "document.querySelector('.games').before(Object.assign(document.createElement('p'), "
        "{ textContent: 'Moved', style: 'height: 113px; margin: 0' }))"
    )
    thumb.page.touchscreen.tap(x, y + 113)
    thumb.page.wait_for_function("window.watched.pulses > 0")
    assert all(each.status == "started" for each in night_of(store).games)
    # Standing still, it counts.
    thumb.page.wait_for_timeout(still_night.SPOT_MILLISECONDS)
    thumb.page.touchscreen.tap(x, y + 113)
    thumb.settle()
    thumb.browser_page.wait_for(lambda: night_of(store).games[0].status == "completed")
    thumb.context.close()
