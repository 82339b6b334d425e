"""Routes that clients guess or link to."""

import pytest

from clients.behaviours.site import Site


@pytest.mark.parametrize(("part", "flag"), [("players", "includePlayers"), ("arenas", "includeArenas")])
def test_a_client_guesses_the_lists_of_a_tournament(site: Site, part: str, flag: str) -> None:
    # Observed: clients guess these paths. Source: interface.md 1.
    embedded = site.data(site.path("live", f"?{flag}=1"))[part]
    assert site.data(site.path("live", f"/{part}")) == embedded


def test_a_bot_reads_what_happened_from_the_activity_log(site: Site) -> None:
    # Observed: a bot of an organizer reads the newest page. Source: interface.md 1.
    tournament_id = site.tournament_ids["live"]
    lines = site.data(f"/api/activity-logs?tournament={tournament_id}")
    assert len(lines) == 25
    assert set(lines[0]) >= {"activityLogId", "tournamentId", "action", "playerIds", "createdAt"}
    assert {line["tournamentId"] for line in lines} == {tournament_id}
    assert [line["activityLogId"] for line in lines] == sorted(
        (line["activityLogId"] for line in lines), reverse=True
    )


@pytest.mark.parametrize(
    ("linked", "page"),
    [
        ("/tournaments/{id}", "/t/{id}"),
        ("/tournaments/{id}/standings", "/t/{id}"),
        ("/tournaments/{id}/matches", "/t/{id}"),
        ("/api-docs", "/docs"),
    ],
)
def test_a_link_that_a_client_prints_leads_to_the_page(site: Site, linked: str, page: str) -> None:
    # Observed: bots and overlays print these addresses. Source: interface.md 1.
    tournament_id = site.tournament_ids["live"]
    answer = site.get(linked.format(id=tournament_id), follow_redirects=False)
    assert answer.status_code == 301
    assert page.format(id=tournament_id) in answer.headers["location"]
    assert site.get(answer.headers["location"], follow_redirects=True).status_code == 200


@pytest.mark.parametrize("opdb_id", ["G", "X4ODR", "G4ODR-A123", "G4ODR M123", "g4odr"])
def test_a_tool_with_a_malformed_machine_id_is_told_which_field(site: Site, opdb_id: str) -> None:
    # Source: interface.md 4.
    answer = site.http.post("/api/arenas", json={"name": "Comet", "opdbId": opdb_id})
    assert answer.status_code == 422
    assert list(answer.json()["errors"]) == ["opdbId"]


@pytest.mark.parametrize("method", ["OPTIONS", "GET", "POST"])
def test_an_unknown_path_is_unknown_for_every_method(site: Site, method: str) -> None:
    # Source: interface.md 4.
    answer = site.http.request(method, "/api/no-such-thing")
    assert (answer.status_code, answer.json()["message"]) == (
        404,
        "The route api/no-such-thing could not be found.",
    )


def test_a_tool_that_sends_a_form_or_broken_json_is_told_so(site: Site) -> None:
    # Source: interface.md 4, conventions.md.
    form = site.http.post("/api/arenas", data={"name": "Comet"})
    assert form.status_code == 415
    broken = site.http.post(
        "/api/arenas", content=b'{"name": }', headers={"Content-Type": "application/json"}
    )
    assert broken.status_code == 400
    assert broken.json()["message"].startswith("The body is not JSON: line 1, column")


def test_a_new_site_takes_submissions_of_public_hosts_only(site: Site) -> None:
    # Source: interface.md 4. A name that no host has: nothing is asked beyond this machine.
    answer = site.http.post("/api/rating-submissions", json={"url": "https://results.pinball.example/a.json"})
    assert (answer.status_code, list(answer.json()["errors"])) == (422, ["url"])
