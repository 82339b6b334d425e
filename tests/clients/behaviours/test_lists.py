"""How clients walk through lists of tournaments and games."""

from urllib.parse import parse_qs, urlsplit

import pytest

from clients.behaviours.site import NOON, Site

PAGES_MAX = 20


def ids(items: list[dict[str, int]]) -> list[int]:
    return [item["tournamentId"] for item in items]


def every_id(site: Site) -> set[int]:
    return {*site.listed_ids, *site.tournament_ids.values()}


def test_a_scoreboard_that_asks_for_statuses_in_turn_finds_every_tournament(site: Site) -> None:
    # Observed: a public scoreboard asks these four, goes on at every answer that is not 200, and ends the
    # pages of a status with the first empty one.
    found: set[int] = set()
    for status in ("upcoming", "planned", "active", "completed"):
        for page in range(1, PAGES_MAX):
            answer = site.get(f"/api/tournaments?owner={site.organizer_id}&status={status}&page={page}")
            if answer.status_code != 200 or not answer.json()["data"]:
                break
            found.update(ids(answer.json()["data"]))
    assert found == every_id(site)


@pytest.mark.parametrize("status", ["registration", "queued", "active", "completed", "cancelled"])
def test_a_typed_client_with_statuses_of_its_own_gets_a_list_for_each(site: Site, status: str) -> None:
    # Observed: a typed client that declares these five, and raises for every other answer than 200.
    answer = site.get("/api/tournaments", params={"owner": site.organizer_id, "status": status})
    assert answer.status_code == 200
    statuses = {tournament["status"] for tournament in answer.json()["data"]}
    if status == "completed":
        assert statuses == {"completed"}
        assert "x-ignored-parameters" not in answer.headers
    else:
        assert answer.headers["x-ignored-parameters"] == "status"
        # The newest nights are planned ones.
        assert statuses == {"planned"}


def test_what_was_ignored_is_named_with_a_kept_answer_too(site: Site) -> None:
    # Source: interface.md 2, row 6.
    first = site.get("/api/tournaments?status=Completed&foo=1")
    again = site.get(
        "/api/tournaments?status=Completed&foo=1", headers={"If-None-Match": first.headers["etag"]}
    )
    assert (first.status_code, again.status_code) == (200, 304)
    assert first.headers["x-ignored-parameters"] == again.headers["x-ignored-parameters"]
    assert set(first.headers["x-ignored-parameters"].split(", ")) == {"status", "foo"}


def test_a_client_without_a_filter_sees_every_tournament(site: Site) -> None:
    # Observed: a bot lists tournaments without any parameter and takes the first page.
    first = site.get("/api/tournaments").json()
    assert ids(first["data"]) == list(reversed(site.listed_ids))[:25]


def test_a_client_reads_pages_until_next_is_null(site: Site) -> None:
    # Observed: a typed client of the live service asks for page + 1 while links.next is not null.
    found: list[int] = []
    for page in range(1, PAGES_MAX):
        body = site.get(f"/api/tournaments?owner={site.organizer_id}&page={page}").json()
        found += ids(body["data"])
        if body["links"]["next"] is None:
            break
    assert len(found) == len(every_id(site))
    assert set(found) == every_id(site)


def test_a_client_reads_pages_until_one_is_empty(site: Site) -> None:
    # Observed: a scraper stops at the first page without data, so a page past the end must be a 200.
    found: list[int] = []
    for page in range(1, PAGES_MAX):
        body = site.get(f"/api/tournaments?owner={site.organizer_id}&page={page}").json()
        if not body["data"]:
            assert (body["meta"]["from"], body["meta"]["to"]) == (None, None)
            break
        found += ids(body["data"])
    assert set(found) == every_id(site)


def test_a_client_reads_pages_up_to_last_page(site: Site) -> None:
    # Observed: a client reads meta.last_page of the list of tournaments, which the live service leaves out.
    path = f"/api/tournaments?owner={site.organizer_id}"
    last_page = site.get(path).json()["meta"]["last_page"]
    found = [each for page in range(1, last_page + 1) for each in ids(site.data(f"{path}&page={page}"))]
    assert set(found) == every_id(site)


def test_a_client_that_follows_links_next_keeps_its_filters(site: Site) -> None:
    # Observed: a client follows links.next as it is. Source: interface.md 2, row 9.
    found: list[int] = []
    address: str | None = f"/api/tournaments?owner={site.organizer_id}&status=planned&limit=10"
    while address is not None:
        body = site.get(address).json()
        found += ids(body["data"])
        address = body["links"]["next"]
        if address is not None:
            query = parse_qs(urlsplit(address).query)
            assert (query["status"], query["limit"]) == (["planned"], ["10"])
            address = f"/api/tournaments?{urlsplit(address).query}"
    assert found == list(reversed(site.listed_ids))


@pytest.mark.parametrize("limit", [0, 101, 500, -1])
def test_a_client_with_too_large_a_limit_gets_pages_of_25(site: Site, limit: int) -> None:
    # Source: interface.md 2, row 6.
    assert len(site.data(f"/api/tournaments?limit={limit}")) == 25


def test_a_page_number_in_the_answer_of_a_limit_is_text_as_observed(site: Site) -> None:
    # Source: interface.md 2, row 10.
    assert site.get("/api/tournaments?limit=5").json()["meta"]["per_page"] == "5"
    assert site.get("/api/tournaments").json()["meta"]["per_page"] == 25


def test_a_tool_asks_for_every_type_with_the_word_tournaments(site: Site) -> None:
    # Source: interface.md 2, row 6.
    assert len(site.data("/api/tournaments?type=tournaments")) == 25
    assert site.data("/api/tournaments?type=no_such_type") == []


def test_a_calendar_asks_for_the_nights_of_an_interval(site: Site) -> None:
    # Observed: a calendar sends two ISO dates with a semicolon between them.
    interval = f"{NOON.date()};{NOON.date()}"
    listed = ids(site.data(f"/api/tournaments?dateInterval={interval}"))
    assert set(listed) == set(site.tournament_ids.values())
    assert len(site.data("/api/tournaments?dateInterval=yesterday")) == 25


def test_a_profile_asks_for_what_a_user_played_or_organized(site: Site) -> None:
    # Observed: a statistics page sends playedOrOrganized with a user id.
    assert len(site.data(f"/api/tournaments?playedOrOrganized={site.organizer_id}&limit=100")) == len(
        every_id(site)
    )


@pytest.mark.parametrize("status", ["active", "Completed", "open"])
def test_a_client_with_an_unknown_status_gets_all_games(site: Site, status: str) -> None:
    # Source: interface.md 2, row 6.
    games = site.data(site.path("live", "/games"))
    assert site.data(site.path("live", f"/games?status={status}")) == games


def test_a_wall_asks_for_the_round_that_is_played_and_falls_back_to_the_latest(site: Site) -> None:
    # Observed: a wall display sends round=activeOrLatest. Source: interface.md 1.
    for name in ("live", "knockout"):
        newest = site.data(site.path(name, "/rounds"))[0]["roundId"]
        games = site.data(site.path(name, "/games?round=activeOrLatest"))
        assert {game["roundId"] for game in games} == {newest}
