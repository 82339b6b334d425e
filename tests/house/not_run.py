"""Blocks of the documents that no test runs as printed, each with the reason.

By document, then by the beginning of the block's first line.
"""

from house.doc_blocks import Block

MAKE = "installs and starts programs from a clone; that each target exists is tested"
SOCKET = "a message on a socket; tests/feed sends and receives them with the published libraries"
ANOTHER_HOST = "speaks with a host of somebody else"
OTHER_PROGRAM = "a file for a program that is not here"
CONTAINERS = "starts containers; tests/deploy/test_containers.py compares the files with the program"
EXCERPT = "an excerpt of this program's code, which the tests of the pages run"

QUESTION = "tests/house/test_statistics_page.py runs it and compares the answers"

NOT_RUN = {
    "README.md": {"make run": MAKE},
    "CONTRIBUTING.md": {"make install": MAKE},
    "docs/README.md": {"make run": MAKE},
    "docs/tool-builders.md": {
        "make run": MAKE,
        "npm install pusher-js": "asks a registry; the tests install it with make clients",
    },
    "docs/backup.md": {
        "silverball restore backups/": "a name of a moment; tests/cli/test_backup.py restores",
        "createdb": "needs PostgreSQL; tests/cli/test_backup.py restores into an empty database",
        "silverball restore --here": "needs PostgreSQL; tests/cli/test_backup.py runs it",
        "echo 'the passphrase": "tests/deploy/test_guide.py loses a disk and follows the lines",
        "dbs:": OTHER_PROGRAM,
        "litestream restore": "tests/cli/test_litestream.py runs it where it is installed",
    },
    "docs/accounts.md": {
        "Authorization: Bearer": "a header; each curl line sends it",
        "[mail]": "settings; tests/web/test_forgotten_password.py mails with them",
        "silverball user undo-spam": "asks first; tests/cli/test_undo_spam.py answers",
    },
    "docs/cookbook.md": {"rest:": OTHER_PROGRAM},
    "docs/directors/two-events.md": {
        "curl -s -H": "tournaments of a reader; tests/stories/room.py puts two into one event"
    },
    "docs/statistics.md": dict.fromkeys(
        (
            *("SELECT", "WITH", "import duckdb", "import sqlite3", "from pathlib"),
            *("timed", "played", "named", "rated", "months"),
        ),
        QUESTION,
    ),
    "docs/ratings.md": {
        "silverball user confirm-number": "tests/cli/test_confirm_number.py runs them",
        "1 of 41 ratings changed": "what a command prints; tests/jobs/test_rating_period.py compares it",
    },
    "docs/rosters.md": {
        "First   Last": "what is pasted; tests/service/sheets/test_reading_lists.py reads such lists",
    },
    "docs/typescript-client.md": {
        "import { connect }": "tests/typed_client/test_typescript.py calls with the packed client",
        "const stop": "tests/typed_client/test_typescript.py follows with the packed client",
        "import { appendFileSync": "tests/typed_client/test_bots.py runs it",
    },
    "docs/federation.md": {"ifpaId,name": "the header of a file; the demo's file, which is imported, has it"},
    "docs/proof.md": {
        "silverball verify ID --against": "a head; tests/service/verify/test_chain.py runs it",
        "printf %s SEED": "a seed; tests/service/verify/test_draws.py hashes one",
        "silverball verify ID --draws": "a tournament; tests/service/verify/test_draws.py runs it",
    },
    "docs/feed.md": {
        "wss://HOST/": ANOTHER_HOST,
        '{"event":': SOCKET,
        "const pusher": ANOTHER_HOST,
        "const echo": ANOTHER_HOST,
    },
    "docs/hosting.md": {
        **dict.fromkeys(("tar ", "sudo "), "tests/deploy/test_guide.py follows the guide"),
        "echo '0 * * * *": "tests/deploy/test_guide.py runs the line of cron",
        **dict.fromkeys(("docker ", "export SILVERBALL_BASE_URL", "umask 077"), CONTAINERS),
    },
    "docs/how-it-works.md": {
        "kit/edge/front.py": "tests/house/test_call_path.py compares it with a real call"
    },
    "docs/live-js.md": {
        "import { follow }": "for a page on another site; tests/web runs the same module",
        "<main data-follow": "markup of this program's pages, which tests/web opens",
    },
    "docs/monitoring.md": {"scrape_configs": OTHER_PROGRAM},
    "docs/adding-a-page.md": {'@page("GET"': EXCERPT, '"seat": FormAction(': EXCERPT},
    "docs/settings.md": {
        "base_url": "settings; tests/cli/test_settings_file.py reads such a file",
        "sudo silverball config": "tests/cli/test_settings_file.py prints them",
    },
    "docs/releases.md": {
        "ssh-keygen -Y verify": "tests/house/test_release.py runs them with a key of its own",
    },
    "docs/several-nodes.md": {
        "export SILVERBALL_DATABASE_URL": "needs PostgreSQL and Redis on other machines",
        "sudo install -m 644 deploy/silverball@": "needs systemd; tests/deploy runs two nodes behind a proxy",
        "pinball.example.org {": "lines for Caddy; tests/deploy runs them before two nodes",
    },
    "docs/submissions.md": {'{\n  "version"': "a document; tests/service/submissions reads such documents"},
    "docs/typed-client.md": dict.fromkeys(
        ("from silverball_client", "from itertools", "import asyncio", "import json"),
        "a copy of the client's README, whose examples tests/typed_client runs",
    ),
    "docs/webhooks.md": {
        "curl -s -H": ANOTHER_HOST,
        "{": "a message; tests/jobs receives such messages",
        "from standardwebhooks": "a part of a program; tests/jobs verifies messages with the same call",
    },
}
# Blocks whose refusal is what they show.
REFUSED = {"docs/codes.md": ("curl -s http://127.0.0.1:8000/api/arenas",)}


def reason(block: Block) -> str | None:
    """Return why a block is not run, or None."""
    listed = NOT_RUN.get(block.document, {})
    return next((listed[beginning] for beginning in listed if block.text.startswith(beginning)), None)


def is_refused(block: Block) -> bool:
    """Return whether the last command of a block is meant to be refused."""
    return block.text.startswith(REFUSED.get(block.document, ()) or ("\0",))
