"""A visitor without an account, who sees the public pages through the front door."""

import asyncio
import re
import unicodedata
from typing import Any

import asgi
import hostile
from silverball import app
from silverball.settings import Settings
from silverball.store.database.engine import Store
from web import page_forms

BASE_URL = "http://silverball.test"
LIVE = re.compile(r'<section class="part[^>]* data-live="(\w+)"')


class PublicVisitor:
    """A client of the front door of the whole program."""

    def __init__(self, store: Store, **settings: Any) -> None:
        self.door = app.build(store, Settings(base_url=BASE_URL, **settings))

    def get(self, path: str, method: str = "GET", **headers: str) -> asgi.Reply:
        given = {name.replace("_", "-"): value for name, value in headers.items()}
        return asyncio.run(asgi.send(self.door, path, method=method, headers=given))

    def page(self, path: str) -> str:
        """The HTML of a page, which must exist."""
        answer = self.get(path)
        assert answer.status == 200, (path, answer.status, answer.body.decode())
        return answer.body.decode()

    def text(self, path: str) -> str:
        return page_forms.text_of(self.page(path))

    def close(self) -> None:
        self.door.close()


def parts_of(html: str) -> list[str]:
    """The parts of a page that follow the feed, in order."""
    return LIVE.findall(html)


def names_that_are_taken() -> tuple[str, ...]:
    """The hostile names that are valid for a player, as they are stored."""
    taken = (unicodedata.normalize("NFC", payload) for payload in hostile.PAYLOADS if payload.isprintable())
    return tuple(dict.fromkeys(payload for payload in taken if len(payload) <= 100))
