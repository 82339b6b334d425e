"""A forgotten password: a link by mail, from a real SMTP server, to nobody but the owner of the account."""

import re
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx2
import pytest

import build
from exchange.outgoing import hosts
from silverball import settings as program_settings
from silverball.jobs.mail_recoveries import TRIES_MAX, WAITING_MAX, RecoveryMailer
from silverball.service.accounts import reads as accounts_reads
from silverball.service.accounts.writes import accounts
from silverball.service.accounts.writes import links as link_writes
from silverball.service.accounts.writes.links import LINKS_MAX, MAILED_PER_ACCOUNT_MAX, AdminAct
from silverball.settings import SettingError, Settings
from silverball.store.database.engine import Store
from silverball.store.database.faults import DatabaseUnavailable
from silverball.web.account.passwords import ASKED
from silverball.web.sign_in_throttle import RECOVERIES_MAX
from smtp_server import SmtpServer
from web import page_forms
from web.chromium import running_site
from web.test_account import count
from web.test_account_links import events, use
from web.test_two_step import a_two_step_account
from web.visitor import EMAIL, Visitor, an_account

PATH = "/account/forgotten"
SITE = "https://pinball.example.org"
SENDER = "night@pinball.example.org"
NEW_PASSWORD = "a plain wooden flipper"
LINK = re.compile(re.escape(SITE) + r"(/account/link\?link=[A-Za-z0-9]{40})\b")


@pytest.fixture
def smtp() -> Iterator[SmtpServer]:
    with SmtpServer() as server:
        yield server


class Post:
    """The mailer of a site, and a visitor of its pages; mails are sent when `deliver` is called."""

    def __init__(self, store: Store, smtp: SmtpServer, **values: Any) -> None:
        given = {"mail_server": f"smtp://127.0.0.1:{smtp.port}?tls=off", **values}
        settings = Settings(base_url=SITE, mail_sender=SENDER, **given)
        self.smtp = smtp
        self.seconds = 0.0
        self.mailer = RecoveryMailer(
            store, settings, now=lambda: self.visitor.now, clock=lambda: self.seconds
        )
        self.visitor = Visitor(store, ask_for_recovery=self.mailer.ask)

    def ask(self, email: str = EMAIL, **headers: str) -> Any:
        """Ask for a link with the page's form."""
        form = page_forms.forms_on(self.visitor.get(PATH).text)["forgotten"]
        return self.visitor.post(form.action, data=dict(form.filled(email=email)), headers=headers)

    def deliver(self) -> list[str]:
        """Send what is due; the paths of the links in all mails so far."""
        while self.mailer.work():
            pass
        return [found[1] for mail in self.smtp.mails if (found := LINK.search(mail.text))]


@pytest.fixture
def post(store: Store, smtp: SmtpServer) -> Iterator[Post]:
    opened = Post(store, smtp)
    with opened.visitor:
        yield opened


def test_a_link_by_mail_sets_a_new_password_once(store: Store, post: Post) -> None:
    an_account(store)
    visitor = post.visitor
    visitor.sign_in()
    signed_in = dict(visitor.cookies)
    visitor.cookies.clear()
    assert f'href="{PATH}"' in visitor.get("/account/sign-in").text
    answer = post.ask(f"  {EMAIL.upper()} ")
    assert (answer.status_code, ASKED in answer.text) == (200, True)
    (link,) = post.deliver()
    (mail,) = post.smtp.mails
    assert (mail.sender, mail.recipients) == (SENDER, (EMAIL,))
    assert (mail.message["To"], mail.message["From"], mail.message["Subject"]) == (
        EMAIL,
        f'"pinball.example.org" <{SENDER}>',
        "A new password (pinball.example.org)",
    )
    assert mail.message["Message-ID"].endswith("@pinball.example.org>")
    with store.read() as db:
        (stored,) = accounts_reads.open_links(db, visitor.now)
    assert link[-40:] not in str(stored)
    done = use(visitor, link)
    assert (done.status_code, done.headers["location"]) == (303, "/account/sign-in?said=recovered")
    assert visitor.sign_in(password=NEW_PASSWORD).headers["location"] == "/account"
    visitor.cookies.clear()
    visitor.cookies.update(signed_in)
    assert visitor.get("/account").status_code == 303
    gone = visitor.get(link)
    assert (gone.status_code, "Forgot your password?" in gone.text) == (410, True)
    assert {"recovery-mailed", "password-set"} <= set(events(store))


def test_the_answer_is_the_same_whether_there_is_an_account_or_not(store: Store, post: Post) -> None:
    an_account(store)
    suspended = an_account(store, email="otto@silverball.test")
    build.a_user(store, name="No Mail")
    with store.write() as transaction:
        accounts.suspend(transaction, suspended, now=post.visitor.now)
    typed = (EMAIL, "otto@silverball.test", "nobody@silverball.test", "x", "é" * 300, "a@b\x00.test")
    answers = {post.ask(email).text for email in typed}
    # But for the token of the form, which each visitor has.
    assert len({re.sub(r'value="[^"]*"', "", answer) for answer in answers}) == 1
    assert len(post.deliver()) == 1
    assert events(store).count("recovery-mailed") == 1
    assert "recovery-mail-refused" in events(store)
    empty = post.ask(" ")
    assert (empty.status_code, "Enter the e-mail" in empty.text) == (422, True)


def test_nothing_is_looked_up_before_the_answer(store: Store, post: Post) -> None:
    an_account(store)
    before = count(store, "audit_entry")
    for email in (EMAIL, "nobody@silverball.test"):
        post.ask(email)
    # The account is looked for, and the link made, by the job.
    assert (count(store, "audit_entry"), count(store, "account_link")) == (before, 0)
    post.deliver()
    assert count(store, "account_link") == 1


def test_a_mailed_link_works_for_an_hour(store: Store, post: Post) -> None:
    an_account(store)
    post.ask()
    (link,) = post.deliver()
    post.visitor.wait(minutes=59)
    assert post.visitor.get(link).status_code == 200
    post.visitor.wait(minutes=1)
    assert post.visitor.get(link).status_code == 410


def test_an_account_gets_few_mails_an_hour_and_earlier_links_stay(store: Store, post: Post) -> None:
    an_account(store)
    for _ in range(MAILED_PER_ACCOUNT_MAX + 2):
        assert ASKED in post.ask().text
    links = post.deliver()
    assert len(links) == MAILED_PER_ACCOUNT_MAX
    assert [post.visitor.get(link).status_code for link in links] == [200] * len(links)
    # The first that is used ends the others.
    use(post.visitor, links[0])
    assert [post.visitor.get(link).status_code for link in links] == [410] * len(links)
    post.visitor.wait(hours=1, seconds=1)
    post.ask()
    assert len(post.deliver()) == MAILED_PER_ACCOUNT_MAX + 1


def test_an_address_that_asks_too_often_waits(store: Store, post: Post) -> None:
    for number in range(RECOVERIES_MAX):
        assert post.ask(f"nobody-{number}@silverball.test").status_code == 200
    refused = post.ask()
    assert (refused.status_code, "Too many attempts" in refused.text) == (429, True)
    assert int(refused.headers["retry-after"]) > 0
    post.visitor.wait(hours=1, seconds=1)
    assert post.ask().status_code == 200


def test_strangers_take_no_room_from_the_links_of_administrators(store: Store, post: Post) -> None:
    admin = an_account(store, role="admin")
    act = AdminAct(user_id=admin, source="", now=post.visitor.now)
    dice = post.mailer.dice
    bo = build.a_user(store, email="bo@b.test")
    for number in range(LINKS_MAX + 5):
        build.a_user(store, email=f"p{number}@b.test")
    with store.write() as transaction:
        made = link_writes.make_recovery(transaction.connection, bo, act, dice)
    for number in range(LINKS_MAX + 5):
        post.mailer.ask(f"p{number}@b.test", "203.0.113.9")
    post.mailer.ask("bo@b.test", "203.0.113.9")
    assert len(post.deliver()) == LINKS_MAX + 6
    with store.write() as transaction:
        link_writes.invite(transaction.connection, "player", act, dice)
    with store.read() as db:
        listed = accounts_reads.open_links(db, post.visitor.now)
        assert accounts_reads.find_link(db, made.secret, post.visitor.now) is not None
    # Those of administrators come first, though they end last.
    assert [link.role or link.email for link in listed[:2]] == ["bo@b.test", "player"]


def test_two_step_sign_in_stays_on(store: Store, post: Post) -> None:
    a_two_step_account(store)
    post.ask()
    (link,) = post.deliver()
    assert use(post.visitor, link).status_code == 303
    asked = post.visitor.sign_in(password=NEW_PASSWORD)
    assert (asked.status_code, "code" in asked.text) == (200, True)
    assert post.visitor.get("/account").status_code == 303


@pytest.mark.parametrize("email", ["ada@b.test\r\nBcc: eve@b.test", "ada@b.test\nBcc: eve@b.test"])
def test_nobody_writes_into_the_headers_of_a_mail(store: Store, post: Post, email: str) -> None:
    # No such address can be typed into an account today.
    an_account(store, email=email)
    an_account(store, email="bo@b.test", name="Bo\r\nBcc: eve@b.test")
    for typed in (email, f"{email}\r\n", "bo@b.test", "bo@b.test\r\nBcc: eve@b.test"):
        post.mailer.ask(typed, "203.0.113.9")
    post.deliver()
    (mail,) = post.smtp.mails
    assert (mail.recipients, b"eve" in mail.raw) == (("bo@b.test",), False)


def test_links_begin_with_the_public_address_and_never_with_the_host_of_the_request(
    store: Store, post: Post
) -> None:
    an_account(store)
    for headers in ({"Host": "evil.example"}, {"X-Forwarded-Host": "evil.example"}):
        post.ask(**headers)
    post.mailer.ask(EMAIL, "203.0.113.9")
    assert len(post.deliver()) > 0
    assert not any("evil" in mail.text for mail in post.smtp.mails)


def test_a_mail_waits_for_a_server_that_refuses_it_and_is_given_up_in_the_end(
    store: Store, post: Post
) -> None:
    an_account(store)
    post.ask()
    post.smtp.refuse_next = TRIES_MAX - 1
    for _ in range(TRIES_MAX - 1):
        assert post.deliver() == []
        post.seconds += 60
    assert len(post.deliver()) == 1
    post.ask()
    post.smtp.refuse_next = TRIES_MAX
    for _ in range(TRIES_MAX + 2):
        post.deliver()
        post.seconds += 60
    assert (len(post.smtp.mails), post.smtp.refuse_next) == (1, 0)


@pytest.mark.parametrize("database_url", ["sqlite"], indirect=True)
def test_a_request_outlives_a_busy_database(store: Store, post: Post) -> None:
    an_account(store)
    post.ask()
    with store.write(), pytest.raises(DatabaseUnavailable):
        post.mailer.work()
    assert len(post.deliver()) == 1


def test_a_flood_of_requests_is_dropped(store: Store, post: Post) -> None:
    an_account(store)
    for number in range(WAITING_MAX):
        post.mailer.ask(f"nobody-{number}@silverball.test", "203.0.113.9")
    post.mailer.ask(EMAIL, "203.0.113.9")
    assert post.deliver() == []


def test_a_password_is_given_to_a_trusted_server_only(store: Store, tmp_path: Path) -> None:
    an_account(store)
    authority = hosts.an_authority(tmp_path)
    with SmtpServer(authority.server_context("localhost")) as smtp:
        server = f"smtp://night@localhost:{smtp.port}"
        post = Post(store, smtp, mail_server=server, mail_password="ball saver")
        post.ask()
        assert post.deliver() == []
        post.mailer.open_tls = authority.client_context
        post.seconds += 60
        assert len(post.deliver()) == 1
        assert (smtp.mails[0].login, smtp.mails[0].is_encrypted) == (("night", "ball saver"), True)
    assert "ball saver" not in repr(post.mailer)


def test_without_a_server_for_mail_there_is_no_such_page(store: Store, visitor: Visitor) -> None:
    an_account(store)
    page = visitor.get("/account/sign-in").text
    assert (PATH in page, "Ask whoever runs this site." in page) == (False, True)
    assert visitor.get(PATH).status_code == 404
    answer = visitor.post(PATH, data={"csrf": visitor.csrf("/account/sign-in"), "email": EMAIL})
    assert answer.status_code == 404
    assert "Forgot your password?" not in visitor.get("/account/link?link=x").text


def test_a_site_mails_what_its_page_was_asked_for(store: Store, smtp: SmtpServer) -> None:
    an_account(store)
    mail = {"mail_server": f"smtp://127.0.0.1:{smtp.port}?tls=off", "mail_sender": SENDER}
    with running_site(store, **mail) as address:
        with httpx2.Client(base_url=address, headers={"Host": "evil.example"}) as client:
            form = page_forms.forms_on(client.get(PATH).text)["forgotten"]
            asked = client.post(PATH, data=dict(form.filled(email=EMAIL)), headers={"Origin": address})
            assert ASKED in asked.text
        until = time.monotonic() + 20
        while not smtp.mails:
            assert time.monotonic() < until
            time.sleep(0.05)
        assert f"{address}/account/link?link=" in smtp.mails[0].text
        assert "evil" not in smtp.mails[0].text


@pytest.mark.parametrize(
    ("values", "named"),
    [
        ({"BASE_URL": ""}, "MAIL_SERVER needs SILVERBALL_BASE_URL"),
        ({"MAIL_SENDER": ""}, "MAIL_SENDER must be a mail address"),
        ({"MAIL_SENDER": "a@b.test\nBcc: c@d.test"}, "MAIL_SENDER must be a mail address"),
        ({"MAIL_SERVER": "smtp://smtp.example.org:0"}, "MAIL_SERVER must be smtp://"),
        ({"MAIL_SERVER": "smtp://smtp.example.org:65536"}, "MAIL_SERVER must be smtp://"),
        ({"MAIL_SERVER": "smtp.example.org"}, "MAIL_SERVER must be smtp://"),
        ({"MAIL_SERVER": "smtp://night@x.test?tls=off"}, "MAIL_SERVER has a name and no TLS"),
    ],
)
def test_settings_with_which_no_mail_can_be_sent_are_refused(values: dict[str, str], named: str) -> None:
    good = {"BASE_URL": SITE, "MAIL_SERVER": "smtp://smtp.example.org", "MAIL_SENDER": SENDER}
    address = program_settings.load(named_in_full(good)).mail
    assert address is not None
    assert (address.host, address.port, address.user) == ("smtp.example.org", 587, "")
    with pytest.raises(SettingError, match=named):
        program_settings.load(named_in_full({**good, **values}))


def named_in_full(values: dict[str, str]) -> dict[str, str]:
    return {f"SILVERBALL_{name}": value for name, value in values.items()}
