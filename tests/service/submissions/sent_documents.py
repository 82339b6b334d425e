"""Result documents of other software, and submissions in any state. All people are invented."""

import json
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

import build
from silverball import app
from silverball.jobs.fetch_submissions import DocumentUnreachable, SubmissionFetcher
from silverball.kit.http.api import Api
from silverball.kit.security import addresses
from silverball.service.core.access import AuthenticatedCaller
from silverball.service.submissions.writes import ArrivedDocument
from silverball.settings import Settings
from silverball.store.database.engine import Store

HOST = "results.example.org"
TRUSTED = "trusted.example.org"
URL = f"https://{HOST}/night.json"
SETTINGS = Settings(base_url=build.BASE_URL, submission_hosts=HOST, submission_hosts_trusted=f"{TRUSTED}, *")
NAMES = ("Ada Quill", "Bo Larkin", "Cy Fenn", "Di Marsh")
LIST = "/api/rating-submissions"


def a_document(**changes: Any) -> dict[str, Any]:
    """An event of four games between four players with federation numbers 101 to 104."""
    return {
        "version": 1,
        "name": "Thursday at the Drain",
        "url": "https://results.example.org/thursday",
        "startedAt": "2026-03-04T18:00:00Z",
        "completedAt": "2026-03-04T22:30:00Z",
        "format": "group_matchplay",
        "software": "Tilt Tracker 4",
        "players": [
            {"id": number, "name": name, "ifpaId": 100 + number} for number, name in enumerate(NAMES, 1)
        ],
        "games": [
            {"id": "g1", "round": 1, "arena": "Meteor Shower", "results": [[1], [2], [3], [4]]},
            {"results": [[2], [1, 3], [4]], "opdbId": "G4ODR-MLzY7"},
            {"results": [[1, 2]], "completedAt": "2026-03-04T20:00:00+01:00"},
            {"results": [[3], [4]]},
        ],
        **changes,
    }


def encode(document: object) -> bytes:
    return json.dumps(document).encode()


def api(store: Store, *, now: datetime = build.NOW, settings: Settings = SETTINGS) -> Api:
    return app.build_api(store, settings, now=lambda: now)


def organizer(user_id: int) -> AuthenticatedCaller:
    return build.caller(user_id, role="organizer", ability="manage")


def submit_url(store: Store, by: int, url: str = URL, **more: Any) -> tuple[int, Any]:
    """Submit an address, and return the status and the body."""
    status, body, _ = build.send(api(store, **more), "POST", LIST, {"url": url}, by=organizer(by))
    return status, body


def send_request(
    store: Store, method: str, path: str, body: Any = None, *, by: AuthenticatedCaller | int
) -> tuple[int, Any]:
    caller = organizer(by) if isinstance(by, int) else by
    status, answer, _ = build.send(api(store), method, path, body, by=caller)
    return status, answer


def fetch_documents(store: Store, documents: Mapping[str, object], *, now: datetime = build.NOW) -> int:
    """Fetch all waiting documents, and return their number. Other addresses are unreachable."""

    def get(url: str) -> ArrivedDocument:
        if url not in documents:
            raise DocumentUnreachable("The host cannot be found or does not answer.")
        found = documents[url]
        if isinstance(found, ArrivedDocument):
            return found
        return ArrivedDocument(addresses.url_host(url), found if isinstance(found, bytes) else encode(found))

    errands = SubmissionFetcher(store, SETTINGS, lambda: get, lambda: now)
    count = 0
    while errands.fetch_one():
        count += 1
    return count


def submit_document(store: Store, by: int, document: object, url: str = URL) -> Any:
    """Submit and fetch a document, and return the published submission."""
    status, body = submit_url(store, by, url)
    assert status == 201, body
    assert fetch_documents(store, {url: document}) == 1
    return get_submission(store, body["data"]["ratingSubmissionId"])


def get_submission(store: Store, submission_id: int, by: AuthenticatedCaller | int = 1) -> Any:
    status, body = build.ask(store, f"{LIST}/{submission_id}", by=by)
    assert status == 200, body
    return body["data"]


def statuses(store: Store) -> Sequence[str]:
    """The statuses of all submissions, oldest first."""
    return [submission["status"] for submission in reversed(build.ask(store, LIST, by=1)[1]["data"])]


def an_organizer(store: Store, name: str = "Olga Ramp") -> int:
    return build.a_user(store, name=name, role="organizer")


def unknown_players(*names: str) -> dict[str, Any]:
    """A document whose players have no numbers."""
    return a_document(players=[{"id": number, "name": name} for number, name in enumerate(names, 1)])
