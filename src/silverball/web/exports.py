"""The public bulk files under /exports, with conditional requests."""

import codecs
import os
import stat
from collections.abc import Callable
from datetime import UTC, datetime
from importlib.util import find_spec
from pathlib import Path
from urllib.parse import urlsplit

from starlette.requests import Request
from starlette.responses import FileResponse, HTMLResponse, Response
from starlette.routing import Route
from starlette.staticfiles import StaticFiles

from silverball.exchange import bulk, nightly
from silverball.exchange.bulk import CurrentTables
from silverball.exchange.current_files import CurrentFiles
from silverball.kit.errors import Refusal, ServiceUnavailable
from silverball.kit.http.asgi import NO_PAGE
from silverball.kit.http.endpoints import FileDownload
from silverball.kit.http.refusals import PageNotFound, refusal_response
from silverball.service.tables import sheet
from silverball.store.database.engine import Store
from silverball.web import operations, site

PUBLIC_NAMES = nightly.FILE_NAMES | {nightly.SAMPLE_RESULTS, nightly.SANDBOX_RESULTS}
# Unknown to the tables of types that systems have.
PARQUET_TYPE = "application/vnd.apache.parquet"
HEADERS = {
    # Programs revalidate their copy; the answer is a 304 while it is the newest.
    "cache-control": "no-cache",
    "access-control-allow-origin": "*",
    "access-control-expose-headers": "ETag, Last-Modified, Content-Length",
    NO_PAGE[0].decode(): NO_PAGE[1].decode(),
}


class BulkFileOutdated(ServiceUnavailable):
    """The file names somebody who has opted out since, and is being written anew."""

    sentence = "This file is being written anew, because somebody opted out. Try again in {seconds} s."


def export_routes(
    folder: str, store: Store, now: Callable[[], datetime] = lambda: datetime.now(UTC)
) -> list[Route]:
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
        if name.endswith(f".{bulk.PARQUET}"):
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


# The interface's documentation as a page: Swagger UI from a package's own files.


FILES = {
    "swagger-ui.css": "text/css",
    "swagger-ui-bundle.js": "text/javascript",
    "favicon-32x32.png": "image/png",
}
PAGE = """<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Silverball interface</title>
<link rel="icon" type="image/png" href="/docs/favicon-32x32.png">
<link rel="stylesheet" href="/docs/swagger-ui.css">
<link rel="stylesheet" href="/docs/readable.css">
</head>
<body>
<main id="interface"></main>
<noscript>This page needs JavaScript; <a href="/openapi.json">/openapi.json</a> says the same.</noscript>
<script src="/docs/swagger-ui-bundle.js"></script>
<script src="/docs/start.js"></script>
</body>
</html>
"""
# Swagger's own colours are too light for many eyes.
READABLE = """.swagger-ui .opblock .opblock-summary-method { color: #000; text-shadow: none; }
.swagger-ui .info .title .version { color: #000; }
.swagger-ui :is(.info a, .info .url, .link) { color: #1c5a9e; }
.swagger-ui .btn.authorize { border-color: #17714a; color: #17714a; }
.swagger-ui .btn.authorize svg { fill: #17714a; }
.swagger-ui .btn.cancel { border-color: #b3261e; color: #b3261e; }
.swagger-ui :is(.btn.execute, .download-contents) { background: #1c5a9e; border-color: #1c5a9e; }
.swagger-ui :is(.parameter__in, .parameter__deprecated, .prop-format) { color: #565656; }
.swagger-ui .parameter__name.required :is(span, i) { color: #b3261e; }
@media (prefers-reduced-motion: reduce) {
  .swagger-ui * { animation: none !important; transition: none !important; }
}
"""
# Tags begin closed, a field searches all operations and opens the tags of those that match, and no browser
# keeps a token that was entered.
START = """SwaggerUIBundle({
  url: "/openapi.json",
  dom_id: "#interface",
  deepLinking: true,
  docExpansion: "none",
  filter: true,
  defaultModelsExpandDepth: 0,
  syntaxHighlight: { activated: false },
  validatorUrl: null,
  onComplete: labelSearch,
  plugins: [{
    fn: { opsFilter: filterOperations },
    statePlugins: {
      layout: { wrapSelectors: { isShown: showMatches } },
      spec: { wrapActions: { requestResolvedSubtree: takeSchemesAsTheyAre } }
    },
    // Its button opens an operation and sets the address: a link in a button is one too many.
    wrapComponents: { DeepLink: (_link, { React }) => ({ text }) => React.createElement("span", null, text) }
  }]
});

new MutationObserver(nameFields).observe(document.body, { childList: true, subtree: true });

// Fields and pictures to press get names, buttons the ones that they show, and keys reach what scrolls.
function nameFields() {
  for (const field of document.querySelectorAll("main :is(select, textarea, input):not([aria-label])")) {
    const named = field.closest("[data-param-name]");
    const name = named ? named.dataset.paramName
      : field.matches("#servers") ? "Server"
      : field.matches(".body-param__text") ? "Body" : "";
    if (name) field.setAttribute("aria-label", name);
  }
  const each = (selector, change) => document.querySelectorAll(selector).forEach(change);
  each(".copy-to-clipboard button", (button) => button.setAttribute("aria-label", "Copy"));
  each(".close-modal", (button) => button.setAttribute("aria-label", "Close"));
  each(".modal-btn[aria-label]", (button) => button.removeAttribute("aria-label"));
  each(".microlight", (text) => { text.tabIndex = 0; });
}

function labelSearch() {
  const field = document.querySelector(".operation-filter-input");
  field.placeholder = "Search operations";
  field.setAttribute("aria-label", field.placeholder);
}

function showMatches(isShown) {
  return (state, key, isShownByDefault) => {
    const phrase = state.get("filter");
    const isSearching = typeof phrase === "string" && phrase !== "";
    return isShown(key, isShownByDefault || (isSearching && key[0] === "operations-tag"));
  };
}

// The first resolution walks through the whole document, for seconds in which the page stands still. The ways
// to sign in refer to nothing, and are all that is resolved before somebody opens an operation.
function takeSchemesAsTheyAre(request, system) {
  return (path) => path.join("/") === "components/securitySchemes"
    ? system.specActions.updateResolvedSubtree(path, system.specSelectors.specJson().getIn(path).toJS())
    : request(path);
}

function filterOperations(taggedOperations, phrase) {
  const wanted = phrase.toLowerCase();
  const matches = (operation) => [
    operation.get("method"),
    operation.get("path"),
    operation.getIn(["operation", "summary"]),
    operation.getIn(["operation", "operationId"])
  ].join(" ").toLowerCase().includes(wanted);
  return taggedOperations
    .map((tag, name) => name.includes(wanted)
      ? tag
      : tag.update("operations", (operations) => operations.filter(matches)))
    .filter((tag) => tag.get("operations").size > 0);
}
"""


def documentation_routes(description: Callable[[], bytes], base_url: str) -> list[Route]:
    """`/openapi.json` and `/docs`; requests sent from there go to the base URL only."""
    policy = (
        "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data:;"
        f" connect-src 'self' {_origin(base_url)};"
        " base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
    )
    headers = {"content-security-policy": policy}
    page_headers = {**site.HEADERS, **headers, "cache-control": "no-cache"}

    def page(_request: Request) -> Response:
        return HTMLResponse(PAGE, headers=page_headers)

    def start(_request: Request) -> Response:
        return Response(START, media_type="text/javascript", headers=page_headers)

    def readable(_request: Request) -> Response:
        return Response(READABLE, media_type="text/css", headers=page_headers)

    def file(request: Request) -> Response:
        name = request.path_params["name"]
        if name not in FILES:
            return Response(status_code=404, headers=page_headers)
        return FileResponse(_swagger_folder() / name, media_type=FILES[name], headers=page_headers)

    return [
        Route("/openapi.json", operations.PublishedJson(description, headers).response),
        Route("/docs", page),
        Route("/docs/start.js", start),
        Route("/docs/readable.css", readable),
        Route("/docs/{name}", file),
    ]


def _swagger_folder() -> Path:
    # The package is located and not imported: importing it would load a template engine and more.
    spec = find_spec("swagger_ui_bundle")
    assert spec is not None
    assert spec.submodule_search_locations
    (folder,) = Path(spec.submodule_search_locations[0]).glob("vendor/swagger-ui-*")
    return folder


def _origin(base_url: str) -> str:
    parts = urlsplit(base_url)
    return f"{parts.scheme}://{parts.netloc}" if parts.netloc else ""


def file_response(file: FileDownload) -> Response:
    """The file as a download, which no browser keeps; a table begins with the mark of UTF-8.

    Spreadsheets read Jörg as JÃ¶rg without it, and programs that ask the interface want none.
    """
    mark = codecs.BOM_UTF8 if file.content_type == sheet.CONTENT_TYPE else b""
    headers = {
        "cache-control": "no-store",
        "content-disposition": f'attachment; filename="{file.name}"',
        "content-type": file.content_type,
    }
    return Response(mark + file.body, headers=headers)
