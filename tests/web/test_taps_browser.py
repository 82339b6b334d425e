"""The taps that a night takes on the smallest phone, counted, and settings that exclude each other."""

import pytest
from playwright.sync_api import expect

import build
from silverball.service.players import reads as players
from silverball.store.database.engine import Store
from web.chromium import BrowserPage
from web.phone import Phone, a_night, an_organizer, night_of, on_the_console, organizer_of, started
from web.visitor import EMAIL, PASSWORD

COPIED_TAPS_MAX = 6
OUT_OF_ORDER_TAPS_MAX = 2
CORRECTION_TAPS_MAX = 5
LATE_TAPS_MAX = 5
AWAY_TAPS_MAX = GONE_TAPS_MAX = 5
MOVED_TAPS_MAX = 3
PASTED_TAPS_MAX = 12

pytestmark = [
    pytest.mark.browser,
    # The database makes no difference to a browser.
    pytest.mark.parametrize("database_url", ["sqlite"], indirect=True),
]


def test_a_copied_night_is_paired_within_six_taps_of_the_sign_in(
    store: Store, browser_page: BrowserPage
) -> None:
    started(store, "group_matchplay", 16, 6, duration=5)
    phone, page = Phone(browser_page), browser_page.page
    browser_page.go("/run")
    page.wait_for_selector("#email:focus")
    phone.type(EMAIL)
    phone.tap("#password")
    phone.type(PASSWORD)
    phone.tap("main button")
    phone.tap("text=Like last time")
    page.wait_for_url("**/run/new?like=1")
    browser_page.assert_fits()
    browser_page.picture("like-320")
    phone.tap("text=Create tournament")
    page.wait_for_url("**/t/2/run")
    phone.tap("text=Start with 16 players")
    page.wait_for_selector("text=Open round 1")
    phone.tap("text=Open round 1")
    page.wait_for_selector("text=4 open games")
    assert phone.taps <= COPIED_TAPS_MAX
    assert len(night_of(store, 2).open_games) == 4
    assert browser_page.complaints == []


def a_spreadsheet() -> str:
    """The rows of 41 people under two headers: three spellings of one name, and a number twice."""
    names = [f"{first}\t{last}" for first in ("Ada", "Bo", "Cleo", "Dov", "Edie") for last in LAST_NAMES]
    rows = [f"{name}\t{7001 + place}\tMalmö" for place, name in enumerate(names[:38])]
    rows += ["ADA\tQuill\t\tMalmö", "Ada\tQuil\t\t", "B.\tQuill\t7009\tLund"]
    return "\n".join(["Players\t\tFederation\t", "First name\tLast name\tIFPA\tTown", *rows])


LAST_NAMES = ("Quill", *("Frost", "Abara", "Holm", "Pell", "Corva", "Okada", "Farrow"))


def test_a_spreadsheet_of_41_people_becomes_a_night_within_twelve_taps(
    store: Store, browser_page: BrowserPage
) -> None:
    organizer_id = an_organizer(store)
    body = {"name": "Thursday", "type": "group_matchplay"}
    assert build.do(store, "POST", "/api/tournaments", body, by=organizer_id)[0] == 201
    on_the_console(browser_page)
    page = browser_page.page
    page.click("#people-names")
    page.keyboard.insert_text(a_spreadsheet())
    phone = Phone(browser_page)
    phone.tap("text=Add players")
    page.wait_for_selector("text=41 rows")
    browser_page.assert_fits()
    browser_page.picture("import-320")
    phone.tap("#row-39 label:has-text('One person twice')")
    phone.tap("#row-40 label:has-text('Ada Quill of row 1')")
    phone.tap("text=Add them to the tournament")
    page.wait_for_selector("text=/^38 so far/")
    phone.tap("#lineup >> text=Add selected")
    page.wait_for_selector("text=/^6 so far/")
    phone.tap("text=Start with 38 players")
    page.wait_for_selector("text=Open round 1")
    phone.tap("text=Open round 1")
    browser_page.wait_for(lambda: bool(night_of(store).open_games))
    assert phone.taps <= PASTED_TAPS_MAX
    night = night_of(store)
    assert len(night.entrants) == 38
    with store.read() as db:
        known = {player.name for player in players.entrants(db, 1, None)}
    # Nobody is lost: three of the 41 rows are people of others.
    wanted = [" ".join(row.split("\t")[:2]) for row in a_spreadsheet().split("\n")[2:40]]
    assert known == set(wanted)
    # The list that had to be looked at first was refused at first.
    (complaint,) = browser_page.complaints
    assert "422" in complaint


def test_an_undo_is_one_tap_and_a_machine_out_of_order_two(store: Store, browser_page: BrowserPage) -> None:
    a_night(store, "group_matchplay", 8, 4)
    on_the_console(browser_page)
    phone = Phone(browser_page)
    phone.tap(".bar >> text=Machines")
    phone.tap("button:has-text('Out of order')")
    browser_page.wait_for(lambda: sum(arena.is_active for arena in night_of(store).lineup) == 3)
    assert phone.taps <= OUT_OF_ORDER_TAPS_MAX
    on_now = Phone(browser_page)
    browser_page.go("/t/1/run")
    on_now.tap(".undo button")
    browser_page.wait_for(lambda: sum(arena.is_active for arena in night_of(store).lineup) == 4)
    assert on_now.taps == 1
    assert browser_page.complaints == []


def test_settings_that_exclude_each_other_cannot_be_chosen_together(
    store: Store, browser_page: BrowserPage
) -> None:
    an_organizer(store)
    on_the_console(browser_page, "/run/new")
    browser_page.picture("formats-320")
    page = browser_page.page
    browser_page.go("/run/new?type=best_game")
    queues, reports = page.locator("[name=set-useQueues]"), page.locator("[name=set-suggestions]")
    queues.click(force=True)
    expect(queues).not_to_be_checked()
    expect(page.locator("#set-useQueues-why")).to_contain_text("exclude each other")
    browser_page.picture("impossible-320")
    reports.select_option("disabled")
    expect(page.locator("#set-useQueues-why")).to_be_empty()
    # Looks first: a second tap at one spot at once would be left out.
    Phone(browser_page).tap("[name=set-useQueues]")
    expect(queues).to_be_checked()
    expect(reports.locator("option[value=restricted]")).to_be_disabled()
    # A number is refused by the field itself.
    browser_page.go("/run/new?type=group_matchplay")
    rounds, pairing = page.locator("[name=set-duration]"), page.locator("[name=set-pairing]")
    expect(pairing.locator("option[value=tiers]")).to_be_disabled()
    rounds.fill("5")
    pairing.select_option("tiers")
    rounds.fill("9")
    assert page.evaluate("document.getElementById('new').checkValidity()") is False
    assert browser_page.complaints == []


def test_a_correction_with_its_preview_takes_five_taps(store: Store, browser_page: BrowserPage) -> None:
    winner, loser = a_night(store, "matchplay", 8, 4)
    by = organizer_of(store)
    games = night_of(store).open_games
    for game in games:
        body = {"resultPositions": game.player_ids}
        assert (
            build.do(store, "PUT", f"/api/tournaments/1/games/{game.game_id}/result", body, by=by)[0] == 200
        )
    assert build.do(store, "POST", "/api/tournaments/1/rounds", {}, by=by)[0] == 201
    on_the_console(browser_page)
    page = browser_page.page
    phone = Phone(browser_page)
    phone.tap(".chips >> text=Done")
    phone.tap(f"a[href$='/game?game={games[0].game_id}']")
    phone.tap(f"#right button[value='{loser}']")
    page.wait_for_selector("text=What changes")
    browser_page.assert_fits()
    browser_page.picture("correction-320")
    phone.tap("#correct-reason")
    phone.type("The cards were swapped.")
    phone.tap("text=Save the correction")
    browser_page.wait_for(lambda: night_of(store).games[0].result_positions == (loser, winner))
    assert phone.taps <= CORRECTION_TAPS_MAX
    assert browser_page.complaints == []


def test_nothing_is_added_before_somebody_is_selected(store: Store, browser_page: BrowserPage) -> None:
    a_night(store, "matchplay", 4, 4)
    build.a_player(store, organizer_of(store), name="Zoe Zephyr")
    on_the_console(browser_page)
    browser_page.go("/t/1/run/players?q=Zo")
    page = browser_page.page
    button = page.locator("#pick button")
    expect(button).to_be_disabled()
    page.check("#pick [name=playerId]")
    expect(button).to_be_enabled()
    page.press("#pick [name=playerId]", " ")
    expect(button).to_be_disabled()
    assert browser_page.complaints == []


def choose_player(phone: Phone, name: str) -> None:
    """Open the list of players on the sheet and choose one: two taps."""
    phone.tap("#absent-player_id")
    phone.browser_page.page.select_option("#absent-player_id", label=name)
    phone.taps += 1


def name_of(store: Store, player_id: int) -> str:
    with store.read() as db:
        return players.find_player(db, player_id, None).name


def test_a_late_player_takes_five_taps_and_a_game_moved_from_a_dead_machine_three(
    store: Store, browser_page: BrowserPage
) -> None:
    a_night(store, "group_matchplay", 7, 4)
    on_the_console(browser_page)
    page = browser_page.page
    three = next(game for game in night_of(store).open_games if len(game.player_ids) == 3)
    late = Phone(browser_page)
    late.tap(".bar >> text=Players")
    late.tap("#late-names")
    late.type("Rae Solano")
    late.tap(f"#late label:has(input[value='{three.game_id}'])")
    browser_page.assert_fits()
    browser_page.picture("late-320")
    late.tap("#late button")
    browser_page.wait_for(lambda: len(night_of(store).entrants) == 8)
    joined = night_of(store).entrants[-1].player_id
    assert any(joined in game.player_ids for game in night_of(store).open_games)
    assert late.taps <= LATE_TAPS_MAX
    # Gone for this round: their group goes on with one fewer.
    away = Phone(browser_page)
    away.tap(".bar >> text=Players")
    choose_player(away, "Rae Solano")
    away.tap("#absent label:has-text('one fewer')")
    browser_page.assert_fits()
    browser_page.picture("away-320")
    away.tap("#absent >> text=Away for a round")
    browser_page.wait_for(lambda: night_of(store).entrants[-1].away_rounds == 0)
    assert away.taps <= AWAY_TAPS_MAX
    # Gone for good, on the same sheet: last in their game.
    three = next(game for game in night_of(store).open_games if len(game.player_ids) == 3)
    gone_id = three.player_ids[0]
    gone = Phone(browser_page)
    browser_page.go("/t/1/run")
    gone.tap(".bar >> text=Players")
    choose_player(gone, name_of(store, gone_id))
    gone.tap("#absent label:has-text('last in it')")
    gone.tap("#absent >> text=Drop from tournament")
    browser_page.wait_for(lambda: not night_of(store).entrant_by_id[gone_id].is_active)
    assert gone_id in next(
        game.result_positions for game in night_of(store).games if game.game_id == three.game_id
    )
    assert gone.taps <= GONE_TAPS_MAX
    # The machine of a game is dead.
    game = night_of(store).open_games[0]
    name = page.locator(f"#broken-{game.arena_id}")
    browser_page.go("/t/1/run")
    dead = Phone(browser_page)
    dead.tap(".bar >> text=Machines")
    name.wait_for()
    dead.tap(f"#broken-{game.arena_id} button")
    page.wait_for_selector(f"#ruling-{game.game_id}")
    browser_page.assert_fits()
    browser_page.picture("broken-320")
    dead.tap(f"#ruling-{game.game_id} button[value='startOver']")
    browser_page.wait_for(
        lambda: next(
            each.arena_id != game.arena_id for each in night_of(store).games if each.game_id == game.game_id
        )
    )
    assert dead.taps <= MOVED_TAPS_MAX
    assert browser_page.complaints == []
