"""What every page is handed: the database, the clock, the templates."""

import hashlib
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from functools import cache
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING

from starlette.responses import HTMLResponse

from silverball.store.engine import Store
from silverball.web.throttle import SignIns

if TYPE_CHECKING:
    import jinja2

STATIC = Path(__file__).parent / "static"


@dataclass(frozen=True)
class Site:
    """The pages of one process."""

    store: Store
    base_url: str
    now: Callable[[], datetime]
    dice: Random
    sign_ins: SignIns

    @property
    def is_https(self) -> bool:
        return self.base_url.startswith("https://")

    def cookie(self, name: str) -> str:
        """A cookie's full name; under https a browser lets nobody else set or widen it."""
        return f"__Host-silverball_{name}" if self.is_https else f"silverball_{name}"


def rendered(template: str, status: int = 200, **context: object) -> HTMLResponse:
    """A page that no cache keeps: it may show secrets, and its forms are signed for one visitor."""
    text = _templates().get_template(template).render(**context)
    return HTMLResponse(text, status, {"cache-control": "no-store"})


def message(status: int, title: str, sentence: str) -> HTMLResponse:
    """A page that says one thing and shows a way on."""
    return rendered("message.html", status, title=title, sentence=sentence)


def address_of(file: str) -> str:
    """A static file's address; it changes with its content, so browsers may keep it for good."""
    return f"/static/{file}?v={_version(file)}"


@cache
def addresses() -> frozenset[str]:
    """Every static file's address with the content that this process has."""
    return frozenset(address_of(file.name) for file in STATIC.iterdir())


@cache
def _version(file: str) -> str:
    return hashlib.sha256((STATIC / file).read_bytes()).hexdigest()[:12]


@cache
def _templates() -> "jinja2.Environment":
    import jinja2

    templates = jinja2.Environment(
        loader=jinja2.PackageLoader("silverball.web"),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    templates.filters["moment"] = _moment
    templates.globals["static"] = address_of
    return templates


def _moment(at: datetime) -> str:
    return f"{at:%Y-%m-%d %H:%M} UTC"
