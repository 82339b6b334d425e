"""What an administrator says of the site, the mail that they try, and the backup that they take."""

import re
import tarfile
from html import unescape
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import build
from silverball.store.database.engine import Store
from silverball.store.people import encryption, site_details
from silverball.store.people.site_details import SiteDetails
from silverball.web import site as web_site
from smtp_server import SmtpServer
from web import page_forms
from web.test_audit_log import events
from web.visitor import EMAIL, Visitor, an_account

PAGE = "/account/site"
GOOD = {
    "name": "The Lantern Flippers",
    "contact": "night@pinball.example",
    "imprint": "Flippers e.V.\n\nSee https://pinball.example/club, <b>now</b>.",
    "privacy": "x" * 10_000,
    "zone": "Europe/Stockholm",
}
LINK = re.compile(r'<a [^>]*href="([^"]*)"')


def an_administrator(store: Store, visitor: Visitor) -> None:
    an_account(store, role="admin")
    visitor.sign_in()


def send(visitor: Visitor, form: str, **fields: str) -> Any:
    shown = page_forms.forms_on(visitor.get(PAGE).text)[f"{PAGE}/{form}"]
    return visitor.post(shown.action, data=dict(shown.filled(**fields)))


def details_of(store: Store) -> SiteDetails:
    with store.read() as db:
        return site_details.find_site_details(db)


def test_what_is_said_of_the_site_is_on_its_page_with_addresses_as_links(
    store: Store, visitor: Visitor
) -> None:
    an_administrator(store, visitor)
    done = send(visitor, "details", **GOOD)
    assert (done.status_code, done.headers["location"]) == (303, f"{PAGE}?said=saved")
    assert details_of(store) == SiteDetails(**GOOD)
    assert "Flippers e.V." in visitor.get(PAGE).text
    assert 'href="/site"' in visitor.get("/account").text
    visitor.cookies.clear()
    page = visitor.get("/site").text
    assert "<h1><bdi>The Lantern Flippers</bdi></h1>" in page
    assert 'href="mailto:night@pinball.example"' in page
    assert 'href="https://pinball.example/club"' in page
    assert "&lt;b&gt;now&lt;/b&gt;" in page
    assert ("site-changed", 1, "testclient", 1) in events(store)


@pytest.mark.parametrize(
    ("field", "value", "words"),
    [
        ("name", "x" * 101, "100 letters"),
        ("name", "two\nlines", "one line"),
        ("contact", "javascript:alert(1)", "must be an e-mail address"),
        ("contact", "http://pinball.example", "must be an e-mail address"),
        ("imprint", "x" * 10_001, "10,000 letters"),
        ("zone", "Europe/Marburg", "no such time zone"),
        ("zone", "../../etc/passwd", "no such time zone"),
    ],
)
def test_what_cannot_be_said_is_refused_and_nothing_is_changed(
    store: Store, visitor: Visitor, field: str, value: str, words: str
) -> None:
    an_administrator(store, visitor)
    send(visitor, "details", **GOOD)
    refused = send(visitor, "details", **{**GOOD, field: value})
    assert (refused.status_code, words in unescape(refused.text)) == (422, True)
    assert details_of(store) == SiteDetails(**GOOD)


@given(
    text=st.text(max_size=200)
    | st.text(st.sampled_from("<a href=javascript:mailto/https.x>\"' \n"), max_size=200)
)
def test_no_text_becomes_markup_or_a_link_of_another_kind(text: str) -> None:
    details = SiteDetails(imprint=text, privacy=text)
    page = web_site.render_text("about_site.html", details=details, modules=(), signed_in=None, csrf="")
    own = page.partition('<section class="card" aria-labelledby="imprint">')[2].partition("</main>")[0]
    assert set(re.findall(r"</?([a-z0-9]+)", own)) <= {"section", "h2", "p", "br", "a"}
    for address in LINK.findall(own):
        assert re.match(r"https?://|mailto:", unescape(address), re.IGNORECASE), address


def test_only_administrators_come_here(store: Store, visitor: Visitor) -> None:
    an_account(store, role="organizer")
    visitor.sign_in()
    assert visitor.get(PAGE).status_code == 404
    assert PAGE not in visitor.get("/account").text
    for form in ("details", "mail", "backup"):
        assert visitor.post(f"{PAGE}/{form}", data={"csrf": visitor.csrf()}).status_code == 404


def test_new_tournaments_begin_with_the_zone_of_the_site(store: Store, visitor: Visitor) -> None:
    an_administrator(store, visitor)
    send(visitor, "details", **GOOD)
    assert 'value="Europe/Stockholm"' in visitor.get("/run/new?type=matchplay").text


def test_a_test_mail_arrives_five_times_an_hour_or_the_step_that_failed_is_named(store: Store) -> None:
    with SmtpServer() as smtp:
        mail = {"mail_server": f"smtp://127.0.0.1:{smtp.port}?tls=off", "mail_sender": "n@silverball.test"}
        with Visitor(store, settings=mail) as visitor:
            an_administrator(store, visitor)
            for _ in range(4):
                assert send(visitor, "mail").headers["location"] == f"{PAGE}?said=mailed"
            assert {mail.recipients for mail in smtp.mails} == {(EMAIL,)}
            smtp.answers = {"RCPT": "550 nobody here"}
            refused = send(visitor, "mail")
            assert (refused.status_code, "recipient: The server does not take" in refused.text) == (409, True)
            limited = send(visitor, "mail")
            assert (limited.status_code, limited.headers["retry-after"]) == (429, "3600")
            assert len(smtp.mails) == 4
            visitor.wait(minutes=61)
            assert send(visitor, "mail").status_code == 409


def test_without_a_mail_server_none_is_sent(store: Store, visitor: Visitor) -> None:
    an_administrator(store, visitor)
    assert "This site sends no mail." in visitor.get(PAGE).text
    answer = visitor.post(f"{PAGE}/mail", data={"csrf": visitor.csrf(PAGE)})
    assert (answer.status_code, "no mail server" in answer.text) == (409, True)


@pytest.mark.both_databases
def test_a_backup_is_made_with_the_key_in_it(store: Store, tmp_path: Path) -> None:
    encryption.open_keys(store)
    with Visitor(store, settings={"backup_folder": str(tmp_path / "backups")}) as visitor:
        an_administrator(store, visitor)
        assert "None was made yet." in visitor.get(PAGE).text
        assert send(visitor, "backup").headers["location"] == f"{PAGE}?said=copied"
        assert f"{build.NOW:%Y-%m-%d %H:%M} UTC" in visitor.get(PAGE).text
    (file,) = (tmp_path / "backups").glob("silverball-*.tar")
    assert file.stat().st_mode & 0o777 == 0o600
    with tarfile.open(file) as archive:
        assert archive.getnames() == ["database.db" if store.is_sqlite else "database.dump", "secret"]
    assert ("backup-made", 1, "testclient", 1) in events(store)


def test_a_backup_that_cannot_be_made_says_why(store: Store, tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    for settings, words in (
        ({"backup_folder": str(tmp_path / "file" / "below")}, "cannot be made"),
        ({"backup_passphrase": "short"}, "12 characters"),
    ):
        with Visitor(store, settings=settings) as visitor:
            if not events(store):
                an_account(store, role="admin")
            visitor.sign_in()
            refused = send(visitor, "backup")
            assert (refused.status_code, words in refused.text) == (409, True)
