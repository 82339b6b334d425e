"""The handbook under /handbook: the pages that `make docs` has built into this package.

Texts are stored compressed, and sent as they are to every client that accepts it.
"""

import gzip
import re
from pathlib import Path

from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import Route

from silverball.kit.edge.response_cache import accepts_gzip, names_etag
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
