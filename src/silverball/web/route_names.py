"""The name of the route that a path belongs to, as it is declared: the label of metrics."""

import re
from collections.abc import Callable, Iterable

from starlette.routing import compile_path

from silverball.kit.measures import OTHER
from silverball.web.live import views

CONVERTER = re.compile(r":[a-z]+\}")
SINGLE = ("/up", "/ready", "/openapi.json", "/asyncapi.json", "/.well-known/security.txt")
FOLDERS = ("/static", "/handbook", "/docs", "/exports")


def route_finder(
    api_template: Callable[[str], str | None], page_paths: Iterable[str] = ()
) -> Callable[[str], str]:
    """A function that returns the route of a path; the same name for all unknown paths.

    `page_paths`: the declared paths of the pages that are loaded.
    """
    paths = [*SINGLE, *views.PATHS, *dict.fromkeys(page_paths)]
    patterns = [(compile_path(path)[0].match, CONVERTER.sub("}", path)) for path in paths]

    def find(path: str) -> str:
        if path.startswith("/api/"):
            return api_template(path) or OTHER
        for folder in FOLDERS:
            if path == folder or path.startswith(f"{folder}/"):
                return f"{folder}/*"
        return next((name for matches, name in patterns if matches(path)), OTHER)

    return find
