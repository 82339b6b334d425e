"""The public bulk files under /exports, with conditional requests."""

import os
import stat
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route
from starlette.staticfiles import StaticFiles

from silverball.exchange import nightly
from silverball.exchange.bulk import parts
from silverball.exchange.bulk.current_tables import CurrentTables
from silverball.exchange.current_files import CurrentFiles
from silverball.kit.errors import Refusal, ServiceUnavailable
from silverball.kit.http.refusals import PageNotFound, refusal_response
from silverball.store.engine import Store

PUBLIC_NAMES = nightly.FILE_NAMES | {nightly.SAMPLE_RESULTS, nightly.SANDBOX_RESULTS}
# Unknown to the tables of types that systems have.
PARQUET_TYPE = "application/vnd.apache.parquet"
HEADERS = {
    # Programs revalidate their copy; the answer is a 304 while it is the newest.
    "cache-control": "no-cache",
    "access-control-allow-origin": "*",
    "access-control-expose-headers": "ETag, Last-Modified, Content-Length",
}


class BulkFileOutdated(ServiceUnavailable):
    """The file names somebody who has opted out since, and is being written anew."""

    sentence = "This file is being written anew, because somebody opted out. Try again in {seconds} s."


def routes(folder: str, store: Store, now: Callable[[], datetime] = lambda: datetime.now(UTC)) -> list[Route]:
    """The routes of the files in this folder."""
    static = StaticFiles(directory=folder, check_dir=False)
    files = CurrentFiles(store, Path(folder), now)
    bulk_tables = CurrentTables(store, Path(folder), now)

    def file(request: Request) -> Response:
        name = request.path_params["name"]
        path = Path(folder) / name
        is_table = bulk_tables.is_public(name)
        # Other files in the folder are not published.
        if not is_table and name not in PUBLIC_NAMES:
            return _refuse(PageNotFound())
        wait = (bulk_tables if is_table else files).seconds_to_wait(name)
        if wait:
            refusal = _refuse(BulkFileOutdated(seconds=wait))
            refusal.headers["retry-after"] = str(wait)
            return refusal
        file_stat = _file_stat(path)
        if file_stat is None:
            return _refuse(PageNotFound())
        response = static.file_response(path, file_stat, request.scope)
        response.headers.update(HEADERS)
        if name.endswith(f".{parts.PARQUET}"):
            response.headers["content-type"] = PARQUET_TYPE
        return response

    return [Route("/exports/{name}", file)]


def _refuse(refusal: Refusal) -> Response:
    answer = refusal_response(refusal)
    return Response(answer.body, answer.status, HEADERS, answer.content_type)


def _file_stat(path: Path) -> os.stat_result | None:
    try:
        file_stat = path.stat()
    except OSError:
        return None
    return file_stat if stat.S_ISREG(file_stat.st_mode) else None
