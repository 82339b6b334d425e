"""The page that plans a night."""

from silverball.jobs.compute_forecasts import NightSimulator
from silverball.rules.registry import FORMATS
from web.director import Director
from web.visitor import Visitor

EVENING = "players=24&machines=12&start=2026-03-05T19:00&closes=2026-03-05T23:00"


def test_the_page_begins_with_the_form_alone(director: Director) -> None:
    page = director.page("/run/plan")
    assert "What can we play?" in page
    assert "Expected" not in page
    assert 'href="/run/plan"' in director.page("/run")


def test_every_format_is_planned_with_its_end_and_where_that_comes_from(director: Director) -> None:
    page = director.page(f"/run/plan?{EVENING}")
    assert all(form.title in page for form in FORMATS.values())
    assert "the published defaults, until your club has played five nights" in page
    assert "2026-03-05 2" in page
    # What was entered stays in the form.
    assert 'value="2026-03-05T23:00"' in page


def test_every_choice_has_its_worth_or_the_reason_why_not(director: Director) -> None:
    page = director.page(f"/run/plan?{EVENING}")
    assert "the grade (TGP, in percent) of 12.00, the base value of 24 players" in page
    assert "7 rounds: <strong>3.36 points</strong>, 28 %, 7 meaningful games." in page
    assert "By the federation&#39;s rule: 7 rounds of 1 game, each worth 1." in page
    assert "<li>no number. " in page
    assert "No published rule counts the meaningful games of pinbowling." in page
    # Nobody has asked for these nights before.
    assert "being computed" in page
    job = NightSimulator(director.store)
    while job.simulate_next():
        pass
    page = director.page(f"/run/plan?{EVENING}")
    assert "By 10,000 simulated nights of equal players, until one player is left" in page
    assert "being computed" not in page


def test_the_impossible_is_refused_beside_what_was_entered(director: Director) -> None:
    answer = director.visitor.get("/run/plan?players=10000&machines=12")
    assert answer.status_code == 422
    assert "A plan takes at most 500 players, not 10000." in answer.text
    assert 'value="10000"' in answer.text
    answer = director.visitor.get("/run/plan?players=8&machines=0")
    assert "Without machines nothing can be played." in answer.text


def test_a_guest_signs_in_first(visitor: Visitor) -> None:
    answer = visitor.get(f"/run/plan?{EVENING}")
    assert "Expected" not in answer.text


def test_the_console_says_when_a_running_night_ends(director: Director) -> None:
    director.play("matchplay", duration=3)
    page = director.page()
    assert "When this ends" in page
    assert "Lengths of games: the published defaults. Players count as equals." in page


def test_a_night_without_an_end_of_its_own_says_why(director: Director) -> None:
    director.play("matchplay")
    assert "No number of rounds is set: it ends when you close it." in director.page()
