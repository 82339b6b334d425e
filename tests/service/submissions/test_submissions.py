"""Submitting results: the address, the document, the players, the answers. Source: ratings, A.8."""

import pytest
from sqlalchemy import select

import build
from golden.keys import keys_of
from service.submissions.sent_documents import (
    HOST,
    LIST,
    TRUSTED,
    URL,
    a_document,
    an_organizer,
    api,
    encode,
    fetch_documents,
    get_submission,
    organizer,
    send_request,
    statuses,
    submit_document,
    submit_url,
)
from silverball import settings
from silverball.service.core.access import AuthenticatedCaller
from silverball.service.submissions.writes import ArrivedDocument
from silverball.settings import Settings
from silverball.store import tables
from silverball.store.database.engine import Store

KEYS = {
    "ratingSubmissionId", "url", "sourceDomain", "status", "name", "eventDate", "ratingPeriod", "format",
    "playerCount", "gameCount", "resultCount", "submitterId", "submitterName", "players", "errors",
    "moderatorNote", "createdAt", "updatedAt",
}  # fmt: skip
PLAYER_KEYS = {"index", "name", "ifpaId", "userId", "ratingId", "candidates"}


def an_admin(user_id: int) -> AuthenticatedCaller:
    return build.caller(user_id, role="admin", ability="admin")


def test_a_submission_is_visible_at_once_and_fetched_later(store: Store) -> None:
    user_id = an_organizer(store)
    status, body = submit_url(store, user_id)
    assert status == 201
    assert body["data"] == {
        "ratingSubmissionId": 1,
        "url": URL,
        "sourceDomain": HOST,
        "status": "fetching",
        **dict.fromkeys(["name", "eventDate", "ratingPeriod", "format"]),
        **dict.fromkeys(["playerCount", "gameCount", "resultCount", "moderatorNote"]),
        "submitterId": user_id,
        "submitterName": "Olga Ramp",
        "players": [],
        "errors": [],
        "createdAt": "2026-03-05T19:30:00.000000Z",
        "updatedAt": "2026-03-05T19:30:00.000000Z",
    }
    assert fetch_documents(store, {URL: a_document()}) == 1
    data = get_submission(store, 1)
    assert data["status"] == "ready"
    assert (data["name"], data["eventDate"], data["format"]) == (
        "Thursday at the Drain",
        "2026-03-04",
        "group_matchplay",
    )
    assert (data["playerCount"], data["gameCount"], data["resultCount"]) == (4, 4, 14)
    assert data["players"][0] == {
        "index": 0,
        "name": "Ada Quill",
        "ifpaId": 101,
        "userId": None,
        "ratingId": None,
        "candidates": [],
    }
    # Nothing is left to fetch.
    assert fetch_documents(store, {}) == 0


def test_item_and_list_have_the_keys_of_the_design(store: Store) -> None:
    submit_document(store, an_organizer(store), a_document())
    listed = build.ask(store, LIST, by=1)[1]
    assert keys_of(listed["data"][0]) == KEYS | {f"players[].{key}" for key in PLAYER_KEYS}
    assert listed["data"][0] == get_submission(store, 1)
    assert set(listed) == {"data", "links", "meta"}


@pytest.mark.both_databases
def test_the_list_is_newest_first_by_25_and_can_be_filtered_by_state(store: Store) -> None:
    user_id = an_organizer(store)
    for number in range(30):
        status = "ready" if number % 3 else "invalid"
        build.row(store, tables.rating_submission, submitter_id=user_id, status=status)
    first = build.ask(store, LIST, by=user_id)[1]
    assert [submission["ratingSubmissionId"] for submission in first["data"]] == list(range(30, 5, -1))
    assert (first["meta"]["per_page"], first["meta"]["total"], first["meta"]["last_page"]) == (25, 30, 2)
    second = build.ask(store, f"{LIST}?page=2", by=user_id)[1]
    assert [submission["ratingSubmissionId"] for submission in second["data"]] == [5, 4, 3, 2, 1]
    invalid = build.ask(store, f"{LIST}?status=invalid", by=user_id)[1]
    assert invalid["meta"]["total"] == 10
    assert build.ask(store, f"{LIST}?status=lost", by=user_id)[0] == 422
    assert build.ask(store, f"{LIST}?page=401", by=user_id)[0] == 403


def test_an_unknown_submission_is_a_404(store: Store) -> None:
    status, body = build.ask(store, f"{LIST}/7", by=an_organizer(store))
    assert (status, body["message"]) == (404, "No query results for model [App\\Models\\RatingSubmission] 7")


@pytest.mark.parametrize(
    ("url", "sentence"),
    [
        ("http://results.example.org/", "must begin with https://"),
        ("https://results.example.org:8443/", "port must be 443"),
        ("https://127.0.0.1/", "a name, not a number"),
        ("https://elsewhere.example.org/", "does not fetch from elsewhere.example.org"),
        ("https://good.example.org@results.example.org/", "user name or password"),
        ("https://results.example.org/\r\nX: y", "a character that is not allowed"),
        (" ", "is required"),
        (7, "must be a string"),
    ],
)
def test_an_address_that_may_not_be_fetched_is_refused_at_once(
    store: Store, url: object, sentence: str
) -> None:
    status, body = send_request(store, "POST", LIST, {"url": url}, by=an_organizer(store))
    assert status == 422
    assert sentence in body["errors"]["url"][0]
    assert statuses(store) == []


def test_a_site_without_hosts_refuses_submissions_and_names_the_setting(store: Store) -> None:
    closed = Settings(base_url=build.BASE_URL, submission_hosts="")
    status, body = submit_url(store, an_organizer(store), settings=closed)
    assert (status, body["code"]) == (403, "submissions-closed")
    assert "SILVERBALL_SUBMISSION_HOSTS" in body["message"]


def test_a_new_server_takes_documents_of_any_public_host_but_itself_for_a_moderator(store: Store) -> None:
    user_id = an_organizer(store)
    anybody = settings.load({"SILVERBALL_BASE_URL": "https://pinball.example.org"})
    assert submit_url(store, user_id, "https://anybody.example.net/x", settings=anybody)[0] == 201
    assert submit_url(store, user_id, "https://localhost/x", settings=anybody)[0] == 422
    assert submit_url(store, user_id, "https://pinball.example.org/x", settings=anybody)[0] == 422


def test_a_player_cannot_submit(store: Store) -> None:
    player = build.caller(build.a_user(store), ability="score")
    assert send_request(store, "POST", LIST, {"url": URL}, by=player)[0] == 403


def test_an_unreadable_document_is_invalid_with_a_reason(store: Store) -> None:
    user_id = an_organizer(store)
    submit_url(store, user_id)
    fetch_documents(store, {})
    assert get_submission(store, 1)["errors"] == ["The host cannot be found or does not answer."]
    data = submit_document(store, user_id, b"<html>")
    assert (data["status"], data["errors"]) == ("invalid", ["The document is not JSON in UTF-8."])
    data = submit_document(store, user_id, a_document(format="golf", name=None))
    assert (data["status"], len(data["errors"])) == ("invalid", 2)
    # Afterwards the address can be submitted again.
    assert submit_document(store, user_id, a_document())["status"] == "ready"


def test_a_trusted_host_needs_no_moderator_and_a_star_trusts_no_host(store: Store) -> None:
    user_id = an_organizer(store)
    assert submit_document(store, user_id, a_document(), f"https://{TRUSTED}/a")["status"] == "approved"
    assert submit_document(store, user_id, a_document(name="Another"), URL)["status"] != "approved"


def test_redirects_of_a_trusted_host_are_not_trusted(store: Store) -> None:
    user_id = an_organizer(store)
    elsewhere = ArrivedDocument(HOST, encode(a_document()))
    data = submit_document(store, user_id, elsewhere, f"https://{TRUSTED}/leads-on")
    assert (data["status"], data["sourceDomain"]) == ("ready", HOST)


def test_an_identical_document_counts_once(store: Store) -> None:
    user_id, other = an_organizer(store), an_organizer(store, "Otto Tilt")
    submit_document(store, user_id, a_document())
    again = submit_document(store, other, a_document(), f"https://{TRUSTED}/copy")
    assert again["status"] == "invalid"
    assert again["errors"] == ["Rating submission 1 has the same document already."]
    assert statuses(store) == ["ready", "invalid"]
    send_request(store, "DELETE", f"{LIST}/1", by=user_id)
    assert submit_document(store, other, a_document(), f"https://{TRUSTED}/copy")["status"] == "approved"
    # Its games count too by now, but the identical document is the clearer reason.
    again = submit_document(store, user_id, a_document())
    assert again["errors"] == ["Rating submission 3 has the same document already."]


def test_a_newer_document_from_the_same_address_replaces_the_older(store: Store) -> None:
    user_id = an_organizer(store)
    submit_document(store, user_id, a_document())
    corrected = submit_document(store, user_id, a_document(name="Corrected"))
    assert (corrected["status"], corrected["name"]) == ("ready", "Corrected")
    assert statuses(store) == ["superseded", "ready"]
    assert get_submission(store, 1)["moderatorNote"] == "Replaced by rating submission 2."
    # A broken correction leaves the older one as it is.
    submit_document(store, user_id, a_document(version=2))
    assert statuses(store) == ["superseded", "ready", "invalid"]
    # So does an unchanged one.
    submit_document(store, user_id, a_document(name="Corrected"))
    assert statuses(store) == ["superseded", "ready", "invalid", "invalid"]


def test_an_address_belongs_to_one_submitter_at_a_time(store: Store) -> None:
    user_id, other = an_organizer(store), an_organizer(store, "Otto Tilt")
    submit_url(store, user_id)
    status, body = submit_url(store, user_id, "https://RESULTS.example.org:443/night.json#top")
    assert status == 409
    assert body["message"] == "This address is being fetched for rating submission 1."
    fetch_documents(store, {URL: a_document()})
    status, body = submit_url(store, other)
    assert status == 409
    assert body["message"] == "Somebody else has submitted this address as rating submission 1."


def test_a_submitter_can_have_five_documents_waiting(store: Store) -> None:
    user_id, other = an_organizer(store), an_organizer(store, "Otto Tilt")
    for number in range(5):
        assert submit_url(store, user_id, f"{URL}?{number}")[0] == 201
    status, body = submit_url(store, user_id, f"{URL}?6")
    assert (status, body["message"]) == (
        409,
        "5 of your submissions are being fetched. Submit more once they are done.",
    )
    assert submit_url(store, other, f"{URL}?6")[0] == 201


def test_only_the_submitter_and_admins_change_a_submission(store: Store) -> None:
    user_id, other = an_organizer(store), an_organizer(store, "Otto Tilt")
    admin = an_admin(build.a_user(store, role="admin"))
    submit_document(store, user_id, a_document())
    change = {"players": [{"index": 0, "ifpaId": 7}]}
    assert send_request(store, "POST", f"{LIST}/1/ifpa", change, by=other)[0] == 403
    assert send_request(store, "DELETE", f"{LIST}/1", by=other)[0] == 403
    assert get_submission(store, 1)["status"] == "ready"
    assert send_request(store, "POST", f"{LIST}/1/ifpa", change, by=admin)[0] == 200
    assert send_request(store, "DELETE", f"{LIST}/1", by=admin)[1]["data"]["status"] == "withdrawn"


@pytest.mark.both_databases
def test_a_hidden_profile_is_tied_neither_to_a_number_nor_to_a_name(store: Store) -> None:
    user_id = an_organizer(store)
    hidden = build.a_user_with_number(store, name="Hedda", ifpa_id=101, profile_opt_out=True)
    rating_id = build.a_rating(store, user_id=hidden, ifpa_id=101)
    submit_document(store, user_id, a_document())
    # The rating would lead to the account.
    seen = get_submission(store, 1, by=user_id)["players"][0]
    assert (seen["userId"], seen["ifpaId"], seen["ratingId"]) == (None, None, None)
    for viewer in (build.caller(hidden, is_hidden=True), an_admin(user_id)):
        own = get_submission(store, 1, by=viewer)["players"][0]
        assert (own["userId"], own["ifpaId"], own["ratingId"]) == (hidden, 101, rating_id)


def test_the_fetched_document_is_stored_unchanged(store: Store) -> None:
    body = encode(a_document(name="Thursday \u2013 caf\u00e9"))
    submit_document(store, an_organizer(store), body)
    with store.read() as db:
        stored = db.execute(select(tables.submission_document.c.body)).scalar_one()
    assert stored.encode() == body


def test_a_repeated_request_with_its_key_submits_once(store: Store) -> None:
    user_id = an_organizer(store)
    for _ in range(2):
        sent = build.send(api(store), "POST", LIST, {"url": URL}, by=organizer(user_id), key="k1")
        assert (sent[0], sent[1]["data"]["ratingSubmissionId"]) == (201, 1)
    assert statuses(store) == ["fetching"]
