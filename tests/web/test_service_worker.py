"""The script of the service worker, and what the server says about it."""

import gzip
import json
import re

import pytest

from silverball.web import handbook, site
from web.visitor import Visitor

ASSETS_BYTES_MAX = 60_000


@pytest.mark.parametrize("database_url", ["sqlite"], indirect=True)
def test_the_script_names_its_files_and_may_control_the_whole_site(visitor: Visitor) -> None:
    answer = visitor.get("/static/worker.js")
    assert answer.status_code == 200
    assert answer.headers["content-type"].startswith("text/javascript")
    assert answer.headers["service-worker-allowed"] == "/"
    assert answer.headers["content-security-policy"] == (
        "default-src 'none'; connect-src 'self'; base-uri 'none'; frame-ancestors 'none'"
    )
    assert answer.headers["cache-control"] == "no-cache"
    shell = json.loads(answer.text.partition(";")[0].removeprefix("const SHELL = "))
    assert shell["files"] == handbook.shell_files()
    for file in shell["files"]:
        assert visitor.get(file).status_code == 200, file


def test_it_stores_each_module_that_its_pages_load() -> None:
    """A module that is missing would leave a page without its script in a cellar."""
    files = {file.removeprefix("/static/").partition("?")[0] for file in handbook.shell_files()}
    for name in files:
        text = (site.STATIC / name).read_text(encoding="utf-8")
        assert set(re.findall(r'"\./(\w+\.js)"', text)) <= files, name
    sizes = [len(gzip.compress((site.STATIC / name).read_bytes())) for name in files]
    assert sum(sizes) < ASSETS_BYTES_MAX
