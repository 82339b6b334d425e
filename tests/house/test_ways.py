"""A refusal whose sentence names another way has a button that goes there."""

import pkgutil
import re
from collections.abc import Iterator
from importlib import import_module

import silverball
from silverball.kit.errors import Refusal
from silverball.web.console import views, ways

# What the console's forms can be refused for.
MODULES = re.compile(
    r"silverball\.(?:rules\.|service\.(?:roster|rounds|games|single_player|tournaments|money|users|core|webhooks)\b)"
)
NAMES_A_WAY = re.compile(
    r"\b(?:instead|first|[Rr]eopen|[Cc]orrect|[Rr]ecord|[Cc]hoose|[Aa]dd|[Aa]djust|Remove|Delete|Set|Start|Undo"
    r"|Move|Draw|Complete|Drop|Bring|Take|Leave|Open|Close|Name|Change|Decide|Decline|Finish|Revoke|Withdraw"
    r"|Enter|Give|Switch|Accept|Resume|Turn|Look)\b"
)
SAME_FORM = "The form that was refused is where it is done."
ELSEWHERE = "No form of the console is refused for it."
NOTHING_TO_DO = "There is nothing to do but wait, or ask."
WITHOUT_WAY = {
    "already-signed-up": ELSEWHERE,
    "arena-already-on-card": SAME_FORM,
    "arena-for-fewer-players": SAME_FORM,
    "arena-taken": SAME_FORM,
    "attempts-on-arena-used-up": SAME_FORM,
    "delivered-event-not-stored": NOTHING_TO_DO,
    "final-is-played": NOTHING_TO_DO,
    "first-code-wrong": ELSEWHERE,
    "many-sign-ups-today": ELSEWHERE,
    "name-not-unique": ELSEWHERE,
    "not-the-tied-players": SAME_FORM,
    "player-has-this-bye": SAME_FORM,
    "seeds-are-frozen": SAME_FORM,
    "sign-ups-full": ELSEWHERE,
    "sign-ups-of-browser": ELSEWHERE,
    "still-in-use": ELSEWHERE,
    "tied-in-source": ELSEWHERE,
    "too-many-tokens": ELSEWHERE,
    "tournament-linked": ELSEWHERE,
}


def refusals(kind: type[Refusal] = Refusal) -> Iterator[type[Refusal]]:
    for subclass in kind.__subclasses__():
        yield subclass
        yield from refusals(subclass)


def codes_with_a_way() -> set[str]:
    for module in pkgutil.walk_packages(silverball.__path__, "silverball."):
        if MODULES.match(f"{module.name}.") and ".migrations" not in module.name:
            import_module(module.name)
    return {
        refusal.code
        for refusal in refusals()
        if MODULES.match(f"{refusal.__module__}.") and NAMES_A_WAY.search(refusal.sentence)
    }


def test_no_refusal_that_names_a_way_is_without_its_button() -> None:
    known = {*ways.WAYS, *ways.CORRECTIONS}
    assert codes_with_a_way() - known - set(WITHOUT_WAY) == set()
    assert known & set(WITHOUT_WAY) == set()


def test_each_button_is_for_a_refusal_and_leads_to_a_page() -> None:
    codes_with_a_way()
    codes = {refusal.code for refusal in refusals()}
    assert {*ways.WAYS, *ways.CORRECTIONS, *WITHOUT_WAY} - codes == set()
    assert {view for view, _ in ways.WAYS.values()} - set(views.VIEWS) == set()
    shared = {name for name, view in views.VIEWS.items() if not view.for_organizer}
    assert shared >= ways.FOR_EVERYBODY
