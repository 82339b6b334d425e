"""Players without accounts: printed codes that lead to the next game and report its result."""

import re

import pytest

from silverball.store.database.engine import Store
from web import page_forms
from web.director import Director
from web.page_forms import PageForm
from web.scorekeeper_devices import a_night, become, code_of, codes, page_of, post, printed, rows
from web.visitor import Visitor


def test_only_organizers_print_codes_that_report(director: Director, tablet: Visitor) -> None:
    a_night(director, suggestions="restricted")
    public = page_of(tablet, "/t/1/print/names")
    assert page_of(director.visitor, "/t/1/print/names").count("<path") == public.count("<path")
    codes(director)
    assert page_of(tablet, "/t/1/print/names") == public
    # The list hangs at the door, where anybody can read it: the same for the organizer.
    assert "code=" not in page_of(director.visitor, "/t/1/print/names")
    assert qr_paths(director.visitor, "names") == qr_paths(tablet, "names")
    assert qr_paths(tablet, "codes") == []
    slips = qr_paths(director.visitor, "codes")
    assert len(slips) == 4
    assert set(slips).isdisjoint(qr_paths(tablet, "names"))
    assert "Report the result" not in page_of(tablet, "/t/1/print/scores")
    assert page_of(director.visitor, "/t/1/print/scores").count("Report the result") == 2


def qr_paths(visitor: Visitor, sheet: str) -> list[str]:
    """The drawn codes of a printed sheet."""
    return re.findall(r'<path[^>]* d="([^"]+)"', page_of(visitor, f"/t/1/print/{sheet}"))


def test_a_code_shows_the_next_game_and_reports_its_result(director: Director, tablet: Visitor) -> None:
    game = a_night(director, "group_matchplay", 4, suggestions="restricted")
    mine = code_of(director, game.player_ids[2])
    page = page_of(tablet, mine)
    assert "Play now Machine" in page_forms.text_of(page)
    form = page_forms.forms_on(page)[f"report-{game.game_id}"]
    order = {f"place_{player_id}": place + 1 for place, player_id in enumerate(reversed(game.player_ids))}
    first, again = post(tablet, form, **order), post(tablet, form, **order)
    assert (first.status_code, first.headers["location"]) == (303, mine)
    assert again.headers["location"] == mine
    assert "Reported: 1. Player" in page_forms.text_of(page_of(tablet, mine))
    (suggestion,) = director.tournament().suggestions
    assert (suggestion.player_id, suggestion.user_id) == (game.player_ids[2], None)
    assert suggestion.results == tuple(reversed(game.player_ids))
    # The organizer accepts the report.
    assert "says: 1. Player" in page_forms.text_of(director.page("?show=reported"))
    assert "says: 1. Player" in page_forms.text_of(director.page(f"/game?game={game.game_id}"))
    director.send(f"suggestion-{suggestion.suggestion_id}", "?show=reported")
    assert director.game(game).result_positions == tuple(reversed(game.player_ids))
    assert "My games Machine" in page_forms.text_of(page_of(tablet, mine))
    assert f"report-{game.game_id}" not in page_forms.forms_on(page_of(tablet, mine))


def test_without_the_key_for_secrets_a_code_says_so_and_works_again_with_it(
    store: Store, director: Director, tablet: Visitor
) -> None:
    game = a_night(director, "group_matchplay", 4, suggestions="restricted")
    mine = code_of(director, game.player_ids[2])
    form = page_forms.forms_on(page_of(tablet, mine))[f"report-{game.game_id}"]
    assert store.key_file.path is not None
    aside = store.key_file.path.rename(store.key_file.path.with_name("aside"))
    order = {f"place_{player_id}": place + 1 for place, player_id in enumerate(game.player_ids)}
    for answer in (
        tablet.get(mine),
        post(tablet, form, **order),
        director.visitor.get("/t/1/print/codes"),
        director.visitor.get("/t/1/print/scores"),
    ):
        assert (answer.status_code, "puts the key back" in answer.text) == (503, True), answer.url
    assert director.tournament().suggestions == ()
    # The night itself goes on.
    director.page()
    aside.rename(store.key_file.path)
    assert post(tablet, form, **order).status_code == 303


def test_a_device_takes_or_declines_what_players_report(director: Director, tablet: Visitor) -> None:
    game = a_night(director, suggestions="restricted")
    code = code_of(director, game.player_ids[0])
    post(
        tablet, page_forms.forms_on(page_of(tablet, code))[f"report-{game.game_id}"], first=game.player_ids[1]
    )
    become(tablet, director)
    (suggestion,) = director.tournament().suggestions
    forms = page_forms.forms_on(page_of(tablet, f"{director.at}?show=reported"))
    assert post(tablet, forms[f"suggestion-out-{suggestion.suggestion_id}"]).status_code == 303
    assert director.tournament().suggestions == ()


def test_the_code_on_the_sheet_of_a_game_reports_that_game(director: Director, tablet: Visitor) -> None:
    game = a_night(director, suggestions="restricted")
    path = next(path for path in codes(director, "scores") if f"/games/{game.game_id}?" in path)
    form = page_forms.forms_on(page_of(tablet, path))[f"report-{game.game_id}"]
    assert post(tablet, form, first=game.player_ids[1]).headers["location"] == path
    assert "Reported with the code of the game" in page_forms.text_of(director.page("?show=reported"))
    assert director.page("/journal?part=journal").count("code of a game") == 1
    # Without the code, the page has no form.
    assert page_forms.forms_on(page_of(tablet, path.partition("?")[0])) == {}


def test_where_reports_are_automatic_the_first_one_counts(director: Director, tablet: Visitor) -> None:
    game = a_night(director, suggestions="automatic")
    mine = code_of(director, game.player_ids[1])
    post(
        tablet, page_forms.forms_on(page_of(tablet, mine))[f"report-{game.game_id}"], first=game.player_ids[1]
    )
    assert director.game(game).result_positions[0] == game.player_ids[1]
    number = [entrant.player_id for entrant in director.tournament().entrants].index(game.player_ids[1]) + 1
    assert f"by code of Player {number}" in page_forms.text_of(director.page())


def test_a_code_reports_no_game_of_others(store: Store, director: Director, tablet: Visitor) -> None:
    game = a_night(director, suggestions="restricted")
    mine = code_of(director, game.player_ids[0])
    form = page_forms.forms_on(page_of(tablet, mine))[f"report-{game.game_id}"]
    other = director.open_games()[1]
    before = rows(store)
    fields = [pair for pair in form.fields if pair[0] not in ("game_id", "of")]
    fields += [("game_id", str(other.game_id)), *(("of", str(player_id)) for player_id in other.player_ids)]
    answer = post(tablet, PageForm("x", "post", form.action, fields), first=other.player_ids[0])
    assert answer.status_code == 403
    assert "does not report the result of that game" in answer.text
    assert rows(store) == before


def test_where_players_report_nothing_the_code_still_leads_to_the_next_game(
    director: Director, tablet: Visitor
) -> None:
    game = a_night(director, suggestions="restricted")
    code = code_of(director, game.player_ids[0])
    director.send("edit", "/settings", set_suggestions="disabled")
    # New ones could report nothing.
    assert "codes-new" not in director.forms("/settings")
    page = page_of(tablet, code)
    assert "Play now Machine" in page_forms.text_of(page)
    assert "takes no results of players" in page
    assert page_forms.forms_on(page) == {}


def test_wrong_codes_replaced_codes_and_no_codes(director: Director, tablet: Visitor) -> None:
    game = a_night(director, suggestions="restricted")
    first, second = game.player_ids
    mine = code_of(director, first)
    # The page without a code stays the same.
    assert page_forms.forms_on(page_of(tablet, f"/t/1/players/{first}")) == {}
    wrong = page_of(tablet, mine.replace(f"/players/{first}", f"/players/{second}"), 403)
    assert "belongs to somebody or something else" in wrong
    assert "Play now Machine" in page_forms.text_of(wrong)
    page_of(tablet, f"/t/1/players/{first}?code=%00é" + "x" * 3000, 403)
    form = page_forms.forms_on(page_of(tablet, mine))[f"report-{game.game_id}"]
    director.send("codes-new", "/settings")
    replaced = page_of(tablet, mine, 410)
    assert "was replaced" in replaced
    answer = post(tablet, form, first=second)
    assert answer.status_code == 410
    assert "You entered: 1. Player" in page_forms.text_of(answer.text)
    assert director.tournament().suggestions == ()
    director.send("codes-out", "/settings")
    assert "There are no codes" in page_of(director.visitor, "/t/1/print/codes")


def test_a_report_after_the_end_is_refused_and_repeated(director: Director, tablet: Visitor) -> None:
    game = a_night(director, suggestions="restricted")
    mine = code_of(director, game.player_ids[0])
    form = page_forms.forms_on(page_of(tablet, mine))[f"report-{game.game_id}"]
    director.finish_all()
    director.send("complete", "/standings")
    answer = post(tablet, form, first=game.player_ids[1])
    assert answer.status_code == 410
    assert "is completed" in page_forms.alerts_on(answer.text)[0]
    assert "You entered: 1. Player" in page_forms.text_of(answer.text)
    assert "Final results" in page_forms.text_of(page_of(tablet, mine))


def test_a_report_from_a_page_of_yesterday_is_looked_at_first(director: Director, tablet: Visitor) -> None:
    game = a_night(director, "group_matchplay", 4, suggestions="restricted")
    for path, again in (
        (code_of(director, game.player_ids[0]), "players"),
        (printed(director, "scores")[0], "games"),
    ):
        form = page_forms.forms_on(page_of(tablet, path))[f"report-{game.game_id}"]
        tablet.cookies.clear()
        answer = post(tablet, form, **{f"place_{game.player_ids[0]}": 3})
        assert answer.status_code == 419
        back = page_forms.forms_on(answer.text)[f"report-{game.game_id}"]
        assert (back.value(f"place-{game.player_ids[0]}"), again in back.action) == ("3", True)
        assert director.tournament().suggestions == ()
        # The refusal keeps the places that were chosen.
        told = post(tablet, back)
        assert told.status_code == 422
        kept = page_forms.forms_on(told.text)[f"report-{game.game_id}"]
        assert kept.value(f"place-{game.player_ids[0]}") == "3"


def test_reloading_what_a_report_answered_is_no_error(director: Director, tablet: Visitor) -> None:
    game = a_night(director)
    for path in (f"/t/1/players/{game.player_ids[0]}", f"/t/1/games/{game.game_id}"):
        assert tablet.get(f"{path}/report").headers["location"] == path
    for path in ("/t/1/games/999", "/t/9/games/1", "/t/1/games/x", "/t/1/games/999?code=x"):
        assert tablet.get(path).status_code == 404


def test_no_secret_of_a_link_or_code_is_stored_in_the_clear(
    store: Store, director: Director, tablet: Visitor, caplog: pytest.LogCaptureFixture
) -> None:
    game = a_night(director, suggestions="restricted")
    mine = code_of(director, game.player_ids[0])
    post(
        tablet, page_forms.forms_on(page_of(tablet, mine))[f"report-{game.game_id}"], first=game.player_ids[1]
    )
    link = become(tablet, director)
    (suggestion,) = director.tournament().suggestions
    forms = page_forms.forms_on(page_of(tablet, f"{director.at}?show=reported"))
    post(tablet, forms[f"suggestion-{suggestion.suggestion_id}"])
    kept = rows(store) + caplog.text
    for secret in (link.removeprefix("/d?link="), mine.partition("code=")[2]):
        assert secret not in kept
