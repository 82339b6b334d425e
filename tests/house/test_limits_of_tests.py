"""Clients are tried on the limits of a new server; where a test has none, its reason stands here."""

import re
from pathlib import Path

TESTS = Path(__file__).parents[1]
LIMITS = re.compile(
    r"without_limits\(|SILVERBALL_(?:QUOTAS|PUBLIC_READ|STAND_IN|RATE_LIMIT\w*|STANDINGS_INTERVAL\w*)"
)
# Path below tests/, a file or a folder -> why its servers have no limits, or are open to everybody.
WITHOUT_LIMITS = {
    "servers.py": "makes such servers",
    "trials": "writes as fast as disks and databases take it, to break them",
    "stories": "an evening in a minute, and attackers who are to find more than a limit",
    "deploy": "visitors without a token behind the proxies",
    "feed": "thousands of messages, and readers without a token",
    "exchange": "a night is played in seconds, then pulled or mirrored",
    "web/server_process.py": "a browser that plays an evening in a minute",
    "test_hanging_nodes.py": "fills nodes with requests until they hang",
    "test_overload.py": "more requests than a server can take",
    "test_computing.py": "as many slow answers as there are processes",
    "test_no_more_threads.py": "more connections than there are threads",
    "clients/behaviours/conftest.py": "all programs share one token; its `new_site` has the limits",
    "typed_client/test_every_method.py": "calls each of the operations twice in a row",
    "typed_client/test_typescript.py": "writes a long night in seconds",
    # These are about the settings themselves.
    "test_app.py": "what the presets mean",
    "cli/test_doctor.py": "what doctor says of settings",
    "cli/test_settings_file.py": "what the file's settings mean",
}


def files_with_limits_set() -> dict[str, Path]:
    return {
        file.relative_to(TESTS).as_posix(): file
        for file in TESTS.rglob("*.py")
        if "node_modules" not in file.parts and LIMITS.search(file.read_text())
    }


def reason_for(name: str) -> str | None:
    """The entry of the table that this file, or a folder above it, has."""
    path = Path(name)
    return next((key for key in (name, *map(str, path.parents)) if key in WITHOUT_LIMITS), None)


def test_each_test_that_sets_limits_or_public_reading_has_its_reason() -> None:
    without = [name for name in files_with_limits_set() if reason_for(name) is None]
    assert without == []


def test_no_reason_is_left_over() -> None:
    used = {reason_for(name) for name in files_with_limits_set()}
    assert set(WITHOUT_LIMITS) - used == set()


def test_a_suite_of_clients_is_excepted_file_by_file() -> None:
    assert set(WITHOUT_LIMITS) & {"typed_client", "clients", "cli", "clients/behaviours"} == set()


def test_a_server_of_a_test_has_the_limits_of_a_new_server() -> None:
    made = (TESTS / "servers.py").read_text().partition("def without_limits")[0]
    assert not LIMITS.search(made.partition("class Servers")[2].replace("@classmethod", ""))
