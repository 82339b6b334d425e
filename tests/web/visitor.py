"""A visitor of the pages, who can sign in, fill in forms and set the clock."""

import itertools
import re
from collections.abc import Callable, Mapping
from datetime import datetime, timedelta
from html import unescape
from random import Random
from typing import Any

from starlette.testclient import TestClient

import build
from silverball.kit.security import passwords
from silverball.service.core.access import AuthenticatedCaller
from silverball.service.users import reads as users_reads
from silverball.settings import Settings
from silverball.store.database.engine import Store
from silverball.web import app

PASSWORD = "correct horse"
PASSWORD_HASH = passwords.hash_password(PASSWORD)
EMAIL = "ada@silverball.test"
SEEDS = itertools.count()
TOKEN = re.compile(r"[0-9]+\|slv_[A-Za-z0-9]{48}")


def an_account(store: Store, **values: Any) -> int:
    """An account that can sign in with EMAIL and PASSWORD."""
    return build.a_user(store, **{"email": EMAIL, "password_hash": PASSWORD_HASH, **values})


class Visitor(TestClient):
    """An HTTP client that keeps cookies and follows no redirects."""

    def __init__(
        self,
        store: Store,
        *,
        base_url: str = "http://silverball.test",
        public_read: bool = False,
        clock: Callable[[], datetime] | None = None,
        ask_for_recovery: Callable[[str, str], None] | None = None,
        dice: Random | None = None,
        settings: Mapping[str, str] | None = None,
        **values: Any,
    ) -> None:
        self.store = store
        self.now: datetime = build.NOW
        more: dict[str, Any] = dict(settings or {})
        pages = app.build(
            store,
            Settings(base_url=base_url, public_read=public_read, **more),
            now=clock or (lambda: self.now),
            dice=dice or Random(next(SEEDS)),
            ask_for_recovery=ask_for_recovery,
        )
        super().__init__(pages, base_url=base_url, follow_redirects=False, **values)

    def wait(self, **values: float) -> None:
        self.now += timedelta(**values)

    def csrf(self, path: str = "/account") -> str:
        """The CSRF token of the forms on this page."""
        found = re.search(r'name="csrf" value="([^"]+)"', self.get(path).text)
        assert found is not None
        return found[1]

    def sign_in_anew(self, email: str = EMAIL) -> None:
        """Sign in with a new session."""
        self.cookies.clear()
        assert self.sign_in(email).status_code == 303

    def sign_in(self, email: str = EMAIL, password: str = PASSWORD) -> Any:
        csrf = self.csrf("/account/sign-in")
        return self.post("/account/sign-in", data={"csrf": csrf, "email": email, "password": password})

    def create_token(self, **fields: str) -> Any:
        given = {"name": "Score board", "ability": "read", "expires": "", **fields}
        return self.post("/account/tokens", data={"csrf": self.csrf(), **given})

    def revoke(self, token_id: object) -> Any:
        return self.post(f"/account/tokens/{token_id}/revoke", data={"csrf": self.csrf()})

    def speaks_for(self, token: str) -> AuthenticatedCaller | None:
        with self.store.read() as db:
            return users_reads.find_caller(db, b"Bearer " + token.encode(), self.now)


def tokens_on(text: str) -> list[str]:
    """All API tokens on a page, once each."""
    return sorted(set(TOKEN.findall(unescape(text))))
