"""The bulk files under /exports, for everybody: fetched whole, or not at all when nothing is new."""

import os
import stat
from pathlib import Path

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route
from starlette.staticfiles import StaticFiles

from silverball.exchange import nightly
from silverball.kit.http.refusals import PageNotFound, refusal_response

HEADERS = {
    # A program asks whether its copy is still the newest; the answer is a 304.
    "cache-control": "no-cache",
    "access-control-allow-origin": "*",
    "access-control-expose-headers": "ETag, Last-Modified, Content-Length",
    "x-content-type-options": "nosniff",
}


def routes(folder: str) -> list[Route]:
    """The files of this folder; nothing when there is none."""
    if not folder:
        return []
    static = StaticFiles(directory=folder, check_dir=False)

    def file(request: Request) -> Response:
        name = request.path_params["name"]
        path = Path(folder) / name
        # Nothing else that happens to lie there.
        found = _file_stat(path) if name in nightly.FILE_NAMES else None
        if found is None:
            refusal = refusal_response(PageNotFound())
            return Response(refusal.body, refusal.status, HEADERS, refusal.content_type)
        answer = static.file_response(path, found, request.scope)
        answer.headers.update(HEADERS)
        return answer

    return [Route("/exports/{name}", file)]


def _file_stat(path: Path) -> os.stat_result | None:
    try:
        found = path.stat()
    except OSError:
        return None
    return found if stat.S_ISREG(found.st_mode) else None
