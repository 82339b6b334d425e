"""All pages of the console in a real browser: accessibility, hostile names, print."""

from typing import Any

import pytest
from sqlalchemy import update

import build
import hostile
from silverball.store import tables
from silverball.store.database.engine import Store
from silverball.store.revisions import revisions
from web.chromium import BrowserPage
from web.phone import a_night, night_of, on_the_console, organizer_of, started

VIEWS = (
    "",
    "/results",
    "/players",
    "/arenas",
    "/standings",
    "/settings",
    "/prizes",
    "/federation",
    "/paper",
    "/webhooks",
    "/journal",
    "/draw",
)

pytestmark = [
    pytest.mark.browser,
    # The database makes no difference to a browser.
    pytest.mark.parametrize("database_url", ["sqlite"], indirect=True),
]


@pytest.mark.parametrize(
    ("type_", "settings"),
    [
        ("golf", {"golfDuration": 2}),
        ("bowling", {"golfDuration": 2}),
        ("best_game", {"useQueues": True, "suggestions": "disabled"}),
        ("card_best_game", {}),
        ("amazingrace", {}),
        ("frenzy", {"frenzyQueueSize": 2}),
        ("manual_matchplay", {}),
        ("bracket", {}),
    ],
)
def test_every_kind_of_night_is_usable_on_a_phone(
    store: Store, browser_page: BrowserPage, type_: str, settings: dict[str, Any]
) -> None:
    started(store, type_, 6, 4, **settings)
    on_the_console(browser_page)
    night = night_of(store)
    player_id, arena_id = night.entrants[0].player_id, night.lineup[0].arena_id
    if type_ in {"best_game", "card_best_game"}:
        base, body = "/api/tournaments/1", {"playerId": player_id, "arenaId": arena_id}
        build.do(store, "POST", f"{base}/single-player-games", {**body, "score": 500}, by=organizer_of(store))
        if type_ == "best_game":
            build.do(store, "POST", f"{base}/queues", body, by=organizer_of(store))
    attempts = [game.single_player_game_id for game in night_of(store).single_player_games[:1]]
    for path in (
        *(f"/t/1/run{view}" for view in ("", "/results", "/arenas", "/standings", "/settings")),
        f"/t/1/run/player?player={player_id}",
        *(f"/t/1/run/attempt?attempt={attempt_id}" for attempt_id in attempts),
    ):
        browser_page.go(path)
        browser_page.assert_usable()
        browser_page.assert_fits()
    assert browser_page.complaints == []


def test_the_console_is_usable_before_the_start_and_after_the_end(
    store: Store, browser_page: BrowserPage
) -> None:
    a_night(store)
    build.do(store, "POST", "/api/tournaments/1/complete", by=organizer_of(store))
    planned = {"name": "Next week", "type": "amazingrace"}
    build.do(store, "POST", "/api/tournaments", planned, by=organizer_of(store))
    on_the_console(browser_page)
    looked = [f"/t/{number}/run{view}" for number in (1, 2) for view in VIEWS]
    for path in (*looked, "/t/2/run?q=player", "/t/2/run/players?former=1", "/t/2/run?machine=comet"):
        browser_page.go(path)
        browser_page.assert_usable()
        browser_page.assert_fits()
    assert browser_page.complaints == []


def test_typed_text_is_shown_and_never_run(store: Store, browser_page: BrowserPage) -> None:
    names = hostile.PAYLOADS
    a_night(store, players=len(names), arenas=len(names))
    night = night_of(store)
    with store.write(1) as transaction:
        for table, ids in (
            (tables.player, [entrant.player_id for entrant in night.entrants]),
            (tables.arena, [arena.arena_id for arena in night.lineup]),
        ):
            key = table.primary_key.columns[0]
            for row_id, name in zip(ids, names, strict=True):
                transaction.connection.execute(update(table).where(key == row_id).values(name=name))
        told = {"name": names[0], "description": names[5], "motd_text": names[7]}
        transaction.connection.execute(update(tables.tournament).values(**told))
        revisions.raise_tournaments(transaction, [1])
    organizer_id = night.details["organizer_id"]
    build.a_player(store, organizer_id, name=names[11])
    build.an_arena(store, organizer_id, name=names[3])
    build.row(store, tables.location, organizer_id=organizer_id, name=names[9])
    build.row(store, tables.series, organizer_id=organizer_id, name=names[2])
    for name in (names[4], names[6]):
        linked = build.a_tournament(store, organizer_id=organizer_id, name=name).tournament_id
    labels = {"labels": [name for name in names[:20] if name.isprintable() and len(name) <= 40][:8]}
    player_id = night.entrants[0].player_id
    links = {"links": [{"tournamentId": linked, "linkType": "series"}]}
    for path, body in (("", links), (f"/players/{player_id}", labels)):
        status, answer, _ = build.do(store, "PATCH", f"/api/tournaments/1{path}", body, by=organizer_id)
        assert status == 200, answer
    on_the_console(browser_page)
    page = browser_page.page
    for path in [
        *(f"/t/1/run{view}" for view in VIEWS),
        "/t/1/run/players?q=<",
        f"/t/1/run/player?player={player_id}",
        "/run",
        "/",
    ]:
        browser_page.go(path)
        page.wait_for_timeout(50)
        assert (
            page.locator(
                "main :is(script, img, iframe, object, embed, svg:not(.icon), math, style, base)"
            ).count()
            == 0
        )
        assert page.evaluate(HANDLERS) == []
        browser_page.assert_fits()
    browser_page.go("/t/1/run")
    page.locator("button[name=first]").first.click()
    browser_page.wait_for(lambda: night_of(store).games[0].status == "completed")
    page.wait_for_selector(".undo")
    browser_page.go("/t/1/run/players")
    listed = page.locator("#people a > bdi").all_inner_texts()
    assert len(listed) == len(names)
    assert "<script>alert(1)</script>" in listed
    assert "{{7*7}}" in listed
    assert page.title().endswith("Silverball")
    assert browser_page.complaints == []


FOREIGN = "main :is(script, img, iframe, object, embed, svg:not(.icon), math, style, base)"
# Attributes that run a script, on any element.
HANDLERS = """() => [...document.querySelectorAll("*")]
  .flatMap(one => [...one.attributes])
  .filter(one => one.name.startsWith("on") || /^\\s*javascript:/i.test(one.value) && one.name !== "value")
  .map(one => `${one.name}=${one.value}`)"""


def test_printed_it_shows_the_standings_and_nothing_to_click(store: Store, browser_page: BrowserPage) -> None:
    a_night(store)
    on_the_console(browser_page, "/t/1/run/standings")
    browser_page.page.emulate_media(media="print")
    assert browser_page.page.is_visible("table")
    assert not any(
        element.is_visible() for element in browser_page.page.locator("button, summary, nav").all()
    )
