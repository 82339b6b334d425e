"""Scores are stored as they were typed, on every page that takes them, and never guessed."""

import pytest

from silverball.store.database.engine import Store
from web.chromium import BrowserPage
from web.director import Director
from web.phone import night_of
from web.test_layout_browser import a_night_of, sign_in


def scores_of(director: Director) -> list[int | None]:
    return [game.score for game in director.tournament().single_player_games]


def test_a_score_of_a_page_is_stored_as_typed_or_refused(director: Director) -> None:
    director.create("best_game")
    director.start(4, 2)
    night = director.tournament()
    player_id, arena_id = night.entrants[0].player_id, night.lineup[0].arena_id
    for wrong in ("12.5", "1..2", "1,23"):
        status, sentences = director.refused("score", playerId=player_id, arenaId=arena_id, score=wrong)
        assert (status, scores_of(director)) == (422, [])
        assert f"“{wrong}” is not a score" in sentences
    director.send("score", playerId=player_id, arenaId=arena_id, score="1.234.567")
    assert scores_of(director) == [1_234_567]
    key = director.tournament().single_player_games[0].single_player_game_id
    assert 'value="1,234,567"' in director.page(f"/attempt?attempt={key}")
    assert "is not a score" in director.page(f"/correct?attempt={key}&score=12.5")
    assert 'value="12,500,000"' in director.page(f"/correct?attempt={key}&score=12.5M")


def test_a_shortened_score_is_saved_once_it_was_confirmed(director: Director) -> None:
    game = director.play("group_matchplay", 3)
    page = f"/game?game={game.game_id}"
    form = director.forms(page)[f"scores-{game.game_id}"]
    typed = dict(
        zip([f"score_{player_id}" for player_id in game.player_ids], ["12.5M", "900k", "7"], strict=True)
    )
    answer = director.post(form, **typed)
    assert answer.status_code == 422
    assert director.game(game).status == "started"
    # The same form, as the answer shows it, is taken.
    assert 'data-choice="Save 12,500,000 and 900,000"' in answer.text
    for score in ("12,500,000", "900,000"):
        assert f'value="{score}"' in answer.text
    typed = {**typed, f"score_{game.player_ids[0]}": "12,500,000", f"score_{game.player_ids[1]}": "900,000"}
    assert director.post(form, key="another", **typed).status_code == 303
    assert director.game(game).result_scores == (12_500_000, 900_000, 7)


@pytest.mark.browser
@pytest.mark.parametrize("database_url", ["sqlite"], indirect=True)
def test_a_score_is_grouped_while_typed_and_a_short_one_is_confirmed_offline(
    store: Store, browser_page: BrowserPage
) -> None:
    a_night_of(store, "best_game", 4)
    page = browser_page.page
    sign_in(page, browser_page.base_url)
    browser_page.go("/t/1/run")
    page.select_option("#score-playerId", index=1)
    page.select_option("#score-arenaId", index=1)
    field = page.locator("#score-score")
    field.press_sequentially("12345678")
    assert field.input_value() == "12,345,678"
    for _ in range(3):
        field.press("Backspace")
    assert field.input_value() == "12,345"
    field.fill("")
    # A mark of one's own is no group.
    field.press_sequentially("12,5")
    assert field.input_value() == "12,5"
    page.context.set_offline(True)
    page.locator("#score > button").click()
    page.wait_for_selector("text=“12,5” is not a score")
    field.fill("12.5M")
    page.wait_for_timeout(700)
    page.locator("#score > button").click()
    page.wait_for_selector("text=“12.5M” is read as 12,500,000")
    assert field.input_value() == "12,500,000"
    page.wait_for_timeout(700)
    page.locator("#score > button").click()
    page.wait_for_selector("text=1 not sent yet")
    assert night_of(store).single_player_games == ()
    page.context.set_offline(False)
    page.wait_for_selector("#outbox", state="hidden", timeout=60_000)
    assert [game.score for game in night_of(store).single_player_games] == [12_500_000]
