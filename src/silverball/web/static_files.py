"""Static files; style sheets are sent without the comments and line ends that people read them by."""

import os
import re
from functools import cache
from pathlib import Path

from starlette.datastructures import Headers
from starlette.responses import Response
from starlette.staticfiles import NotModifiedResponse, StaticFiles
from starlette.types import Scope

from silverball.web import site

COMMENT = re.compile(r"/\*.*?\*/", re.DOTALL)
LINE_END = re.compile(r"\s*\n\s*")
# Around these no space says anything; no text that the sheets show has one.
MARK = re.compile(r"\s*([{};])\s*|(,)\n")


class PageFiles(StaticFiles):
    """The files that pages are made of: scripts, pictures and style sheets."""

    def file_response(
        self,
        full_path: str | os.PathLike[str],
        stat_result: os.stat_result,
        scope: Scope,
        status_code: int = 200,
    ) -> Response:
        """The file, or that the browser has it."""
        path = Path(full_path)
        if path.suffix != ".css":
            return super().file_response(full_path, stat_result, scope, status_code)
        sheet = sheet_as_sent(path)
        headers = {"etag": f'"{site.content_digest([sheet])}"'}
        response = Response(sheet, status_code, headers, media_type="text/css")
        if self.is_not_modified(response.headers, Headers(scope=scope)):
            return NotModifiedResponse(response.headers)
        return response


@cache
def sheet_as_sent(path: Path) -> bytes:
    """The style sheet without comments and line ends."""
    text = COMMENT.sub("", path.read_text(encoding="utf-8"))
    return MARK.sub(r"\1\2", LINE_END.sub("\n", text)).strip().encode()
