"""The service worker: its script, with the version and the addresses of the files that pages need."""

import json
import re
from collections.abc import Iterator
from functools import cache

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from silverball.web import site

SCRIPT = "worker.js"
# The first module of all pages that are shown without a network.
FIRST_MODULE = "console.js"
STYLES_AND_PICTURES = ("silverball.css", "ball.svg")
IMPORT = re.compile(r'^import (?:[^"]+ from )?"\./([a-z]+\.js)";', re.MULTILINE)
HEADERS = {
    # It may fetch from this site, and load no other script.
    "content-security-policy": "default-src 'none'; connect-src 'self'",
    "service-worker-allowed": "/",
    "cache-control": "no-cache",
}


def route() -> Route:
    """The route of the script; it is declared before the folder that the file lies in."""
    return Route(f"/static/{SCRIPT}", _send_script)


def _send_script(_request: Request) -> Response:
    return Response(_script(), headers=HEADERS, media_type="text/javascript")


@cache
def _script() -> str:
    files = shell_files()
    shell = {
        "version": site.content_digest(file.encode() for file in files),
        "files": files,
    }
    text = (site.STATIC / SCRIPT).read_text(encoding="utf-8")
    return f"const SHELL = {json.dumps(shell)};\n{text}"


def shell_files() -> list[str]:
    """The addresses of all files that a page needs without a network."""
    return [site.static_url(name) for name in (*STYLES_AND_PICTURES, *sorted(_modules()))]


def _modules() -> set[str]:
    """The first module and everything that it imports, directly or not."""
    found: set[str] = set()
    waiting = [FIRST_MODULE]
    # Each module is read once.
    while waiting:
        name = waiting.pop()
        if name not in found:
            found.add(name)
            waiting.extend(_imports(name))
    return found


def _imports(name: str) -> Iterator[str]:
    return (match[1] for match in IMPORT.finditer((site.STATIC / name).read_text(encoding="utf-8")))
