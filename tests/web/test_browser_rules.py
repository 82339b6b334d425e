"""What browsers and strangers meet at any address: methods, folders, cookies, types; what never runs."""

import re
from pathlib import Path

import pytest

import build
from silverball.store.database.engine import Store
from silverball.web.site import STATIC
from web import page_forms
from web.director import Director
from web.visitor import Visitor

ROOT = Path(__file__).parents[2]
# Rules of ruff about text that is run, sent to a database or shown unescaped, foreign programs, what is
# unpacked, and weak digests. Where one is set aside, what it is given is our own, and a comment says why.
RULES = re.compile(r"\bS(?:102|301|302|307|324|60[2-8]|701|704)\b")
SET_ASIDE = {
    "cli/computing.py": {"S301"},
    "exchange/bulk.py": {"S608"},
    "kit/processes.py": {"S603"},
    "kit/values.py": {"S307"},
    "service/periods/writes.py": {"S608"},
    "store/database/backups.py": {"S603", "S607"},
    "store/database/conditions.py": {"S608"},
    "store/database/files.py": {"S603"},
    "store/database/migrate.py": {"S608"},
    "store/database/statements.py": {"S608"},
    "store/migrations/versions/0044_seats_without_accounts.py": {"S608"},
    "store/processes.py": {"S301"},
    "store/tournament/imports.py": {"S608"},
    "web/public/views.py": {"S704"},
}
DANGEROUS = re.compile(r"\b(?:eval\(|new Function|document\.write|insertAdjacentHTML|setTimeout\(\s*[\"'`])")
TEXTS = (
    *(
        "/",
        "/users/1",
        "/account/sign-in",
        "/t/1",
        "/t/1/wall",
        "/t/1/standings.csv",
        "/users/1/calendar.ics",
    ),
    *("/users/1/nights.atom", "/t/1/print/names", "/static/console.js", "/static/silverball.css", "/none"),
)


@pytest.mark.parametrize("method", ["TRACE", "TRACK", "CONNECT"])
def test_a_method_that_gives_a_request_back_is_refused(visitor: Visitor, method: str) -> None:
    for path in ("/", "/account", "/static/console.js", "/none"):
        answer = visitor.request(method, path, headers={"x-secret": "kept to itself"})
        assert answer.status_code == 405 or path == "/none", (path, answer.status_code)
        assert "kept to itself" not in answer.text


@pytest.mark.parametrize(
    "path",
    [
        *("/static", "/static/", "/static/../app.py", "/static/%2e%2e/app.py", "/templates/base.html"),
        *("/.git/config", "/.git/", "/silverball.db", "/static/..%2f..%2fsettings.py"),
    ],
)
def test_no_folder_is_listed_and_no_file_of_the_program_is_sent(visitor: Visitor, path: str) -> None:
    answer = visitor.get(path)
    assert answer.status_code == 404
    assert page_forms.foreign_in(answer.text) == []


def test_each_cookie_of_a_site_with_tls_is_bound_to_its_host(store: Store) -> None:
    with Visitor(store, base_url="https://silverball.test") as visitor:
        cookies = []
        visitor.event_hooks["response"].append(
            lambda answer: cookies.extend(answer.headers.get_list("set-cookie"))
        )
        director = Director(store, visitor)
        director.create("matchplay")
        visitor.post("/account/sign-out", data={"csrf": visitor.csrf()})
    names = {cookie.partition("=")[0] for cookie in cookies}
    assert names == {f"__Host-{name}" for name in ("seen", *(f"silverball_{each}" for each in OURS))}
    for cookie in cookies:
        parts = {part.strip().lower() for part in cookie.split(";")[1:]}
        assert {"secure", "httponly", "samesite=lax", "path=/"} <= parts, cookie
        assert not any(part.startswith("domain") for part in parts), cookie
        assert len(cookie) < 4096


OURS = ("session", "browser", "guest")


def test_every_text_says_its_type_and_its_letters(store: Store, visitor: Visitor) -> None:
    night = build.a_tournament(store)
    assert night.tournament_id == 1
    for path in TEXTS:
        answer = visitor.get(path)
        assert "content-type" in answer.headers, (path, answer.status_code)
        kind = answer.headers["content-type"]
        assert re.fullmatch(r"(text/|application/atom\+xml).*; charset=utf-8", kind.lower()), (path, kind)


def test_our_scripts_run_no_text_and_listen_to_no_other_page() -> None:
    for script in sorted(STATIC.glob("*.js")):
        text = script.read_text(encoding="utf-8")
        assert DANGEROUS.search(text) is None, script.name
        # Only the service worker hears messages, and only pages of its own site reach one.
        assert 'addEventListener("message"' not in text or script.name == "worker.js", script.name


def test_the_program_runs_no_text_and_unpacks_only_its_own() -> None:
    found: dict[str, set[str]] = {}
    folder = ROOT / "src" / "silverball"
    for file in folder.rglob("*.py"):
        notes = re.findall(r"# noqa: ([^#\n]*)", file.read_text(encoding="utf-8"))
        if rules := set(RULES.findall(" ".join(notes))):
            found[file.relative_to(folder).as_posix()] = rules
    assert found == SET_ASIDE
