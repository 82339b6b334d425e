"""The pages at the end of a bad night: every number on them counted again."""

import re
from collections.abc import Mapping, Set
from fractions import Fraction

from playwright.sync_api import Page

from web import recounts
from web.bad_night import BadNight

SHARES = (40, 25, 15, 10, 5, 5)
# The second, and then each seventh, has no number.
NO_NUMBER_EVERY, FIRST_NUMBER = 7, 5000


def numbers_agree(night: BadNight) -> None:
    """Assert that the standings show the numbers that were played, and the places that follow from them."""
    shown = {night.id_of(name): row for name, row in night.shown_standings().items()}
    numbers = recounts.recounted(night.tournament)
    assert {player_id: number for player_id, (_, number) in shown.items()} == numbers
    if night.tournament.type == "group_knockout":
        return
    shown_places = {player_id: place for player_id, (place, _) in shown.items()}
    drawn = {entrant.player_id for entrant in night.tournament.entrants if entrant.is_tie_drawn}
    best_is_least = night.tournament.type == "golf"
    counted = recounts.places(numbers, best_is_least=best_is_least)
    for player_id, place in counted.items():
        if player_id not in drawn:
            assert shown_places[player_id] == place
    # Those drawn share a number, and have the places from the one that they shared on.
    if drawn:
        first = min(counted[player_id] for player_id in drawn)
        assert sorted(shown_places[player_id] for player_id in drawn) == list(
            range(first, first + len(drawn))
        )


def prizes_are_paid(night: BadNight) -> None:
    """Share the pot by the places that are shown, on the console and on the public page."""
    shown_places = {night.id_of(name): place for name, (place, _) in night.shown_standings().items()}
    night.share_prizes(SHARES, "10", "1", "15")
    people = len(night.tournament.entrants)
    pot, fees = 1000 * people, 100 * people
    house = (pot - fees) * 15 // 100
    won = recounts.prizes(pot - fees - house, SHARES, shown_places)
    page = night.olga.page
    assert {night.id_of(name): cents for name, cents in _payouts(page).items()} == won
    given = sum(won.values())
    sums = [pot, fees, house, given, pot - fees - house - given]
    assert [_cents(text) for text in page.locator("section:has(#prizes) td").all_inner_texts()] == sums
    page.goto(f"{night.server.connection.url}/t/{night.tournament_id}")
    public: dict[int, int] = {}
    for line in page.locator("ul[aria-labelledby=prize-money] li").all():
        cents = _cents(line.locator("strong").inner_text())
        public |= {night.id_of(name): cents for name in line.locator("bdi").all_inner_texts() if cents}
    assert public == won


def _payouts(page: Page) -> dict[str, int]:
    """Name -> cents, as the list of payouts has them."""
    # All at once: the page may be redrawn.
    lines = page.locator("section:has(#payouts) li p:has(bdi)").evaluate_all(
        "lines => lines.map((line) => [line.querySelector('bdi').innerText, line.innerText])"
    )
    shown = {name: _cents(text.partition(f". {name} ")[2]) for name, text in lines}
    return {name: cents for name, cents in shown.items() if cents}


def _cents(text: str) -> int:
    """The amount that a text begins with."""
    return int(Fraction(text.replace(",", "").split()[0]) * 100)


def federation_file_agrees(night: BadNight) -> None:
    """Assert who is in the results for the federation, on which place, and why others are not."""
    numbers = {
        entrant.player_id: None if at % NO_NUMBER_EVERY == 1 else FIRST_NUMBER + entrant.player_id
        for at, entrant in enumerate(night.tournament.entrants)
    }
    night.number_players(numbers)
    shown_places = {night.id_of(name): place for name, (place, _) in night.shown_standings().items()}
    reasons = recounts.left_out(night.tournament, shown_places)
    for player_id, number in numbers.items():
        if number is None:
            reasons.setdefault(player_id, set()).add("no federation number")
    night.olga.go()
    night.olga.tap(".bar >> text=More")
    night.olga.tap("text=Results for the federation")
    page = night.olga.page
    page.wait_for_selector("#pasted-text")
    night.olga.assert_well_laid_out()
    assert {night.id_of(name): why for name, why in _people_apart(page).items()} == reasons
    chosen = shown_places.keys() - reasons.keys()
    _require_pasted(night, chosen, shown_places, numbers)
    # Who has no number, and played, may still be named.
    ticked = min(each for each, why in reasons.items() if why == {"no federation number"})
    night.olga.tap(f"label:has([name=tick-{ticked}])")
    night.olga.tap("text=Show the text for those ticked")
    page.wait_for_url("**players=*")
    _require_pasted(night, chosen | {ticked}, shown_places, numbers)


def _people_apart(page: Page) -> dict[str, set[str]]:
    """Name -> reasons of those who are left out unless they are ticked."""
    found = {}
    apart = page.locator("fieldset:has(legend:text-is('Left out unless ticked'))")
    assert apart.locator("input:checked").count() == 0
    for line in apart.locator("bdi").all_inner_texts():
        label, *others = line.split(" · ")
        reasons = others[-1]
        found[re.sub(r"^\d+\. ", "", label)] = set(reasons.split(", "))
    return found


def _require_pasted(
    night: BadNight, chosen: Set[int], shown_places: Mapping[int, int], numbers: Mapping[int, int | None]
) -> None:
    """The text has these players in the order of their places; ties stay ties."""
    text = night.olga.page.locator("#pasted-text").input_value()
    expected = sorted(
        (
            1 + sum(shown_places[other] < shown_places[player_id] for other in chosen),
            night.name(player_id),
            "" if (number := numbers[player_id]) is None else str(number),
        )
        for player_id in chosen
    )
    rows = [line.split("\t") for line in text.splitlines()]
    assert [int(place) for place, _, _ in rows] == [place for place, _, _ in expected]
    assert sorted((int(place), name, number) for place, name, number in rows) == expected
