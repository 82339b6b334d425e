"""The account page in a real browser, on a small screen, without a mouse."""

import urllib.error
import urllib.request
from datetime import UTC, datetime
from typing import Any

import pytest
from pyotp import TOTP

import build
from silverball.service.accounts import reads as accounts_reads
from silverball.service.users import reads as users_reads
from silverball.store.database.engine import Store
from silverball.store.tables import session
from web.chromium import BrowserPage
from web.visitor import EMAIL, PASSWORD, TOKEN, an_account

LONG_NAME = "Wolfeschlegelsteinhausenbergerdorff" * 2

pytestmark = [
    pytest.mark.browser,
    # The database makes no difference to a browser.
    pytest.mark.parametrize("database_url", ["sqlite"], indirect=True),
]


def _status(url: str, token: str) -> int:
    asked = urllib.request.Request(url, headers={"Authorization": f"Bearer {token}"})
    try:
        with urllib.request.urlopen(asked) as answer:
            return int(answer.status)
    except urllib.error.HTTPError as error:
        with error:
            return error.code


def test_a_token_is_made_copied_used_and_revoked_with_the_keyboard_alone(
    store: Store, browser_page: BrowserPage
) -> None:
    user_id = an_account(store, name=LONG_NAME, role="organizer")
    page, keyboard = browser_page.page, browser_page.page.keyboard
    page.goto(f"{browser_page.base_url}/account")
    assert page.url == f"{browser_page.base_url}/account/sign-in"
    browser_page.assert_fits()
    # The e-mail has the focus already.
    keyboard.type(EMAIL)
    browser_page.type("#password", PASSWORD)
    with page.expect_navigation():
        keyboard.press("Enter")
    assert page.inner_text("h1") == "Your account"
    browser_page.assert_fits()

    browser_page.type("#name", LONG_NAME)
    browser_page.press("[name=ability]", "ArrowDown")
    browser_page.type("#expires", "30")
    with page.expect_navigation():
        browser_page.press("main form > button")
    assert page.inner_text("h1") == "Your new token"
    browser_page.assert_fits()
    # The token has the focus already.
    keyboard.press("Control+a")
    keyboard.press("Control+c")
    with page.expect_navigation():
        browser_page.press("main a.button")
    assert TOKEN.search(page.content()) is None
    browser_page.assert_fits()
    browser_page.press("#name", "Control+v")
    token = page.input_value("#name")
    assert TOKEN.fullmatch(token)
    assert _status(f"{browser_page.base_url}/api/users/profile", token) == 200
    with store.read() as db:
        (listed,) = users_reads.owned_by(db, user_id)
    assert (listed.name, listed.ability) == (LONG_NAME, "score")
    assert listed.expires_at is not None

    page.reload()
    browser_page.press("details:has(button.danger) summary")
    browser_page.assert_fits()
    with page.expect_navigation():
        browser_page.press("button.danger")
    assert "The token is revoked" in page.inner_text("[role=status]")
    with store.read() as db:
        assert users_reads.find_caller(db, f"Bearer {token}".encode(), datetime.now(UTC)) is None

    with page.expect_navigation():
        browser_page.press("form[action='/account/sign-out'] button")
    assert page.inner_text("[role=status]") == "You are signed out."
    page.goto(f"{browser_page.base_url}/account")
    assert page.url.endswith("/account/sign-in")
    assert browser_page.complaints == []


def test_passwords_and_sign_ins_fit_on_a_phone(store: Store, browser_page: BrowserPage) -> None:
    an_account(store, name=LONG_NAME)
    browser_page.sign_in()
    browser_page.page.fill("#name", LONG_NAME)
    browser_page.click("text=Create token")
    with store.write() as transaction:
        transaction.connection.execute(session.update().values(proved_at=None))
    for path in ("/account", "/account/password", "/account/data"):
        browser_page.page.goto(f"{browser_page.base_url}{path}")
        for summary in browser_page.page.locator("main summary").all():
            summary.click()
        browser_page.assert_fits()
    assert browser_page.complaints == []


def test_a_wrong_password_is_announced_and_the_password_field_waits(
    store: Store, browser_page: BrowserPage
) -> None:
    an_account(store)
    browser_page.sign_in("wrong password")
    page = browser_page.page
    assert page.get_by_role("alert").inner_text() == "The e-mail or the password is wrong."
    assert page.get_by_label("E-mail").input_value() == EMAIL
    assert page.get_by_label("Password").input_value() == ""
    assert page.evaluate("document.activeElement.id") == "password"
    described = page.get_attribute("#password", "aria-describedby")
    assert described is not None
    assert page.locator(f"#{described}").get_attribute("role") == "alert"
    browser_page.assert_fits()


def test_a_script_in_a_name_does_not_run(store: Store, browser_page: BrowserPage) -> None:
    an_account(store, name="<img src=x onerror=\"document.title='broken'\"><script>alert(1)</script>")
    browser_page.sign_in()
    assert browser_page.page.title() == "Your account · Silverball"
    assert browser_page.page.locator("main img, main script").count() == 0
    assert browser_page.complaints == []


def test_the_policy_stops_a_script_that_got_in(store: Store, browser_page: BrowserPage) -> None:
    an_account(store)
    browser_page.sign_in()
    browser_page.page.evaluate("document.body.append(Object.assign(document.createElement('a'), {id: 'a'}))")
    browser_page.page.evaluate(
        "document.getElementById('a').outerHTML = '<b onclick=\"document.title=1\" id=b>x</b>'"
    )
    browser_page.page.click("#b")
    assert browser_page.page.title() == "Your account · Silverball"
    assert any("Content Security Policy" in complaint for complaint in browser_page.complaints)


def test_printed_it_shows_the_tokens_and_nothing_to_click(store: Store, browser_page: BrowserPage) -> None:
    an_account(store)
    browser_page.sign_in()
    browser_page.page.fill("#name", "Score board")
    browser_page.click("text=Create token")
    browser_page.click("text=I have copied it")
    browser_page.page.emulate_media(media="print")
    assert browser_page.page.is_visible("text=Score board")
    assert not any(browser_page.page.is_visible(selector) for selector in ("button", "summary", "#name"))


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_every_text_stands_out_from_its_ground(store: Store, browser_page: BrowserPage, scheme: Any) -> None:
    """At least 4.5 to 1. Source: WCAG 2.2, 1.4.3."""
    an_account(store)
    browser_page.page.emulate_media(color_scheme=scheme)
    for password in ("wrong password", PASSWORD):
        browser_page.sign_in(password)
        contrasts = browser_page.page.evaluate(CONTRASTS)
        assert len(contrasts) > 5
        assert [text for text, ratio in contrasts if ratio < 4.5] == []


CONTRASTS = """() => {
  const numbers = colour => colour.match(/[0-9.]+/g).map(Number);
  const light = colour => numbers(colour).slice(0, 3).map(one => one / 255)
    .map(one => one <= 0.04045 ? one / 12.92 : ((one + 0.055) / 1.055) ** 2.4)
    .reduce((sum, one, at) => sum + one * [0.2126, 0.7152, 0.0722][at], 0);
  const ground = element => {
    for (let one = element; one; one = one.parentElement) {
      const colour = getComputedStyle(one).backgroundColor;
      if (numbers(colour)[3] !== 0) return colour;
    }
    return "rgb(255, 255, 255)";
  };
  return [...document.querySelectorAll("body *")]
    .filter(element => [...element.childNodes].some(one => one.nodeType === 3 && one.data.trim()))
    .map(element => {
      const both = [light(getComputedStyle(element).color), light(ground(element))];
      return [element.textContent.trim(), (Math.max(...both) + 0.05) / (Math.min(...both) + 0.05)];
    });
}"""


def test_two_step_sign_in_and_the_pages_of_administrators_fit_on_a_phone(
    store: Store, browser_page: BrowserPage
) -> None:
    user_id = an_account(store, name=LONG_NAME, role="admin")
    build.a_user(store, name=LONG_NAME, email="other@silverball.test", ifpa_id=2**62)
    browser_page.sign_in()
    page = browser_page.page

    def look() -> None:
        browser_page.assert_fits()
        browser_page.assert_usable()

    for path in ("/account/numbers", f"/account/accounts?q={LONG_NAME[:5]}", "/account/two-step"):
        browser_page.go(path)
        for summary in page.locator("main summary").all():
            summary.click()
        look()
    browser_page.click("text=Turn it on")
    look()
    page.fill("#code", TOTP(page.input_value("#secret").replace(" ", "")).now())
    browser_page.click("text=Turn two-step sign-in on")
    recovery_code = page.input_value("#codes").split("\n")[0]
    look()
    browser_page.go("/account/two-step")
    page.click("summary")
    look()
    browser_page.go("/account")
    browser_page.click("form[action='/account/sign-out'] button")
    browser_page.sign_in()
    look()
    page.fill("#code", recovery_code)
    browser_page.click("main button")
    assert page.inner_text("h1") == "Your account"
    with store.read() as db:
        assert accounts_reads.find_two_step(db, user_id) is not None
    assert browser_page.complaints == []
