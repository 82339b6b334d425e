"""The public bulk files under /exports, with conditional requests."""

import os
import stat
from pathlib import Path

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route
from starlette.staticfiles import StaticFiles

from silverball.exchange import nightly
from silverball.kit.http.refusals import PageNotFound, refusal_response

PUBLIC_NAMES = nightly.FILE_NAMES | {nightly.SAMPLE_RESULTS, *nightly.SANDBOX_RESULTS}
HEADERS = {
    # Programs revalidate their copy; the answer is a 304 while it is the newest.
    "cache-control": "no-cache",
    "access-control-allow-origin": "*",
    "access-control-expose-headers": "ETag, Last-Modified, Content-Length",
}


def routes(folder: str) -> list[Route]:
    """The routes of the files in this folder; none without a folder."""
    if not folder:
        return []
    static = StaticFiles(directory=folder, check_dir=False)

    def file(request: Request) -> Response:
        name = request.path_params["name"]
        path = Path(folder) / name
        # Other files in the folder are not published.
        file_stat = _file_stat(path) if name in PUBLIC_NAMES else None
        if file_stat is None:
            refusal = refusal_response(PageNotFound())
            return Response(refusal.body, refusal.status, HEADERS, refusal.content_type)
        response = static.file_response(path, file_stat, request.scope)
        response.headers.update(HEADERS)
        return response

    return [Route("/exports/{name}", file)]


def _file_stat(path: Path) -> os.stat_result | None:
    try:
        file_stat = path.stat()
    except OSError:
        return None
    return file_stat if stat.S_ISREG(file_stat.st_mode) else None
