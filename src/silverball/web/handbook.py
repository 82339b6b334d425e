"""The handbook under /handbook: the pages that `make docs` has built into this package.

Texts are stored compressed, and sent as they are to every client that accepts it.
"""

import asyncio
import gzip
import json
import re
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from pathlib import Path

from starlette.requests import Request
from starlette.responses import PlainTextResponse, RedirectResponse, Response
from starlette.routing import Route
from starlette.types import ASGIApp, Receive, Scope, Send

from silverball.kit.edge.response_cache import accepts_gzip, names_etag
from silverball.kit.threads import is_refused_thread
from silverball.web import page_request, site

FOLDER = Path(__file__).parent / "handbook_site"
INDEX = "index.html"
COMPRESSED_ENDING = ".gz"
# No segment begins with a dot, so no path leads out of the folder.
FILE_PATH = re.compile(r"(?:[\w-][\w.-]*/)*[\w-][\w.-]*", re.ASCII)
MEDIA_TYPES = {
    ".html": "text/html",
    ".js": "text/javascript",
    ".css": "text/css",
    ".json": "application/json",
    ".png": "image/png",
    "": "text/plain",
}
# All of it comes from this server: what the theme could load from elsewhere is refused.
POLICY = (
    "default-src 'none'; script-src 'self'; worker-src 'self'; connect-src 'self'; style-src 'self';"
    " img-src 'self' data:; form-action 'none'; frame-ancestors 'none'; base-uri 'none'"
)
NOT_BUILT = "This copy of Silverball has no handbook: run make docs in the clone, then load this page again."


def routes(folder: Path = FOLDER) -> list[Route]:
    """Return the routes of the handbook in this folder; a folder without one says how to build it."""

    def slash(_request: Request) -> Response:
        # Pages link to each other by relative paths, so the address of the first one ends with a slash.
        return RedirectResponse("/handbook/", 307)

    def file(request: Request) -> Response:
        return _file_response(request, folder)

    return [Route("/handbook", slash), Route("/handbook/{path:path}", file)]


def _file_response(request: Request, folder: Path) -> Response:
    path = request.path_params["path"] or INDEX
    stored, is_compressed = _stored_file(folder, path)
    if stored is None:
        if _stored_file(folder, INDEX)[0] is None:
            return site.message_page(404, "The handbook is not built", NOT_BUILT)
        return page_request.not_found_page()
    # Weak, because the compressed and the plain text share it.
    etag = f'W/"{site.content_digest([stored])}"'
    headers = {"etag": etag, "content-security-policy": POLICY, "vary": "accept-encoding"}
    if names_etag(request.headers.get("if-none-match", "").encode("latin-1"), etag.encode()):
        return Response(status_code=304, headers=headers)
    if is_compressed and accepts_gzip(request.headers.get("accept-encoding", "").encode("latin-1")):
        headers["content-encoding"] = "gzip"
    elif is_compressed:
        stored = gzip.decompress(stored)
    media_type = MEDIA_TYPES.get(Path(path).suffix, "application/octet-stream")
    return Response(stored, media_type=media_type, headers=headers)


def _stored_file(folder: Path, path: str) -> tuple[bytes | None, bool]:
    """Return the stored bytes, or None, and whether they are compressed."""
    if FILE_PATH.fullmatch(path):
        for name in (path + COMPRESSED_ENDING, path):
            try:
                return (folder / name).read_bytes(), name != path
            except OSError:
                continue
    return None, False


# The service worker: its script, with the version and the addresses of the files that pages need.


SCRIPT = "worker.js"
# The first module of all pages that are shown without a network.
FIRST_MODULE = "console.js"
STYLES_AND_PICTURES = ("silverball.css", "ball.svg")
IMPORT = re.compile(r'^import (?:[^"]+ from )?"\./([a-z]+\.js)";', re.MULTILINE)
HEADERS = {
    # It may fetch from this site, and load no other script.
    "content-security-policy": (
        "default-src 'none'; connect-src 'self'; base-uri 'none'; frame-ancestors 'none'"
    ),
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


# The pages as an application that the first request for a page loads.
#
# They are a tenth of the program's start and of its memory, and a machine that only asks the interface, or
# follows the feed, needs none of them. The first page takes some 60 ms more.


class PagesWhenAsked:
    """Builds the pages once, in a thread of their own, so that other requests go on meanwhile."""

    def __init__(self, build: Callable[[], ASGIApp]) -> None:
        self._build = build
        self._pages: ASGIApp | None = None
        self._loading = asyncio.Lock()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        try:
            pages = self._pages or await self._load()
        except RuntimeError as error:
            if not is_refused_thread(error):
                raise
            # The next request tries again.
            pages = busy_page()
        await pages(scope, receive, send)

    async def _load(self) -> ASGIApp:
        async with self._loading:
            if self._pages is None:
                loop, pool = asyncio.get_running_loop(), ThreadPoolExecutor(1, "silverball-loading")
                try:
                    self._pages = await loop.run_in_executor(pool, self._build)
                finally:
                    pool.shutdown(wait=False)
        return self._pages


def busy_page() -> PlainTextResponse:
    """The answer while the site has no room for a request."""
    # Plain text: a rendered page costs more than many such refusals.
    text = "The site is busy. Nothing was changed; try again in a moment."
    return PlainTextResponse(text, 503, {"retry-after": "1", "cache-control": "no-store"})
