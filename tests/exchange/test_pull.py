"""`silverball pull`: everything that a source publishes, once, politely and as it is there."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

import build
from exchange import bundles, pull_world
from exchange.pull_world import Site, StoppedClock, interrupted, published, scripted
from servers import Servers
from silverball.cli.main import silverball_group
from silverball.exchange.pull.reading import Wanted
from silverball.exchange.pull.source import Answer, PullSource, RequestPace
from silverball.exchange.pull.taking import LEGS, ROLLS
from silverball.kit.values import replace
from silverball.store import tables
from silverball.store.database.engine import Store
from test_app import a_token

JSON = {"content-type": "application/json"}
# One night of each family of formats.
NIGHTS = tuple(
    path for path in bundles.INVENTED if path.name.partition("-")[0] in ("60", "61", "62", "63", "65", "70")
)


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory, empty_sqlite: Path) -> Iterator[Site]:
    """An organizer's nights in seven formats."""
    file = tmp_path_factory.mktemp("source") / "source.db"
    file.write_bytes(empty_sqlite.read_bytes())
    with pull_world.site(file, *NIGHTS, bundles.NIGHTS[0]) as opened:
        # Two nights are enough for most questions.
        opened.since = "2026-02-08"
        yield opened


@pytest.fixture
def local(tmp_path: Path, empty_sqlite: Path) -> Iterator[Store]:
    """The empty database that is pulled into."""
    opened = pull_world.new_store(empty_sqlite, tmp_path / "local.db")
    yield opened
    opened.close()


def row_counts(store: Store) -> dict[str, int]:
    with store.read() as db:
        return {
            table.name: len(db.execute(table.select()).all())
            for table in tables.metadata.sorted_tables
            if table is not tables.world
        }


def test_every_night_is_here_as_it_is_there(site: Site, local: Store) -> None:
    reports = site.pull(local, wanted=Wanted(owners=[site.owner_id]))
    assert [report.outcome for report in reports] == ["new"] * (len(NIGHTS) + 1)
    for report in reports:
        assert report.tournament_id == report.remote_id
        assert (report.differences, report.unknown_fields) == ((), ())
        theirs, ours = (published(store, report.remote_id) for store in (site.store, local))
        assert bundles.find_losses(theirs, ours) == []


def test_a_second_pull_reads_nothing_again_and_a_full_one_changes_nothing(site: Site, local: Store) -> None:
    site.pull(local)
    before = row_counts(local)
    site.asked.clear()
    assert {report.outcome for report in site.pull(local)} == {"unchanged"}
    assert len(site.asked) == 1
    assert {report.outcome for report in site.pull(local, is_full=True)} == {"unchanged"}
    assert row_counts(local) == before


def test_a_pull_that_is_stopped_at_any_request_goes_on(
    tmp_path: Path, empty_sqlite: Path, site: Site
) -> None:
    whole = pull_world.new_store(empty_sqlite, tmp_path / "whole.db")
    site.asked.clear()
    expected = {report.remote_id: published(whole, report.remote_id) for report in site.pull(whole)}
    requests = len(site.asked)
    assert len(expected) == 2
    whole.close()
    for at in range(1, requests + 1):
        store = pull_world.new_store(empty_sqlite, tmp_path / f"{at}.db")
        with pytest.raises(KeyboardInterrupt):
            site.pull(store, interrupted(site.ask, at))
        site.asked.clear()
        reports = site.pull(store)
        assert {report.remote_id: published(store, report.remote_id) for report in reports} == expected
        # What was taken before is not read again: at most one tournament was lost.
        assert len(site.asked) <= requests - at + 8
        store.close()


def test_things_that_have_the_same_id_here_stay_as_they_are(site: Site, store: Store) -> None:
    taken = site.new_pull(store).tournaments()[0].tournament_id
    own = build.a_tournament(store, tournament_id=taken, name="Ours")
    before = published(store, own.tournament_id)
    report = next(report for report in site.pull(store) if report.remote_id == taken)
    assert (report.outcome, report.differences) == ("new", ())
    assert report.tournament_id not in (None, taken)
    assert published(store, own.tournament_id) == before
    assert {report.outcome for report in site.pull(store)} == {"unchanged"}


def test_what_changed_there_is_taken_again_and_what_changed_here_is_kept(
    tmp_path: Path, empty_sqlite: Path, local: Store
) -> None:
    file = tmp_path / "source.db"
    file.write_bytes(empty_sqlite.read_bytes())
    with pull_world.site(file, *NIGHTS[:2]) as source:
        first, second = (report.remote_id for report in source.pull(local))
        for tournament_id in (first, second):
            path = f"/api/tournaments/{tournament_id}"
            assert build.do(source.store, "POST", f"{path}/reopen", by=source.owner_id)[0] == 200
            renamed = {"name": "Renamed there"}
            assert build.do(source.store, "PATCH", path, renamed, by=source.owner_id)[0] == 200
        path = f"/api/tournaments/{second}/reopen"
        assert build.do(local, "POST", path, by=source.owner_id)[0] == 200
        outcomes = {report.remote_id: report for report in source.pull(local)}
    assert outcomes[first].outcome == "replaced"
    assert published(local, first)["tournament"]["name"] == "Renamed there"
    assert outcomes[second].outcome == "refused"
    assert "it has changed since its import" in str(outcomes[second].reason)
    assert published(local, second)["tournament"]["name"] != "Renamed there"


def test_a_sample_finds_corrections_that_the_source_does_not_date(site: Site, local: Store) -> None:
    site.pull(local)
    renamed = site.new_pull(local).tournaments()[0].tournament_id

    def corrected(target: str) -> Answer:
        answer = site.ask(target)
        if not target.startswith(f"/api/tournaments/{renamed}?"):
            return answer
        raw = json.loads(answer.body)
        raw["data"]["name"] = "Corrected late"
        return replace(answer, body=json.dumps(raw).encode())

    reports = site.pull(local, corrected, sample_share=1.0)
    assert all(report.is_sample for report in reports)
    assert {report.remote_id: report.outcome for report in reports}[renamed] == "replaced"
    assert [report.outcome for report in reports].count("unchanged") == len(reports) - 1


def test_an_account_there_becomes_an_account_here(site: Site, local: Store) -> None:
    me = build.a_user(local, user_id=77, name="Olga Here", role="organizer", email="olga@silverball.test")
    report, *_ = site.pull(local, accounts={site.owner_id: me})
    tournament = published(local, report.remote_id)["tournament"]
    assert tournament["organizerId"] == me
    assert {arena["organizerId"] for arena in tournament["arenas"]} == {me}
    with local.read() as db:
        assert db.execute(tables.user.select().where(tables.user.c.user_id == me)).one().name == "Olga Here"


def test_a_dry_run_stores_nothing_and_says_what_a_run_would(site: Site, local: Store) -> None:
    before = row_counts(local)
    dry = site.pull(local, is_dry_run=True, accounts={})
    assert row_counts(local) == before
    assert [replace(report, differences=()) for report in site.pull(local)] == dry


def test_only_what_was_asked_for_is_read(site: Site, local: Store) -> None:
    listed = site.new_pull(local, wanted=Wanted(owners=[site.owner_id])).tournaments()
    only = listed[-1].tournament_id
    assert [report.remote_id for report in site.pull(local, wanted=Wanted(tournaments=[only, only]))] == [
        only
    ]
    assert site.pull(local, wanted=Wanted(owners=[site.owner_id], since="2099-01-01")) == []
    # Without a wish: everything of the account of the token.
    assert site.new_pull(local, wanted=Wanted()).tournaments() == listed


def test_a_field_that_nobody_knows_is_listed(site: Site, local: Store) -> None:
    def with_weather(target: str) -> Answer:
        answer = site.ask(target)
        if not target.endswith("/games"):
            return answer
        raw = json.loads(answer.body)
        for game in raw["data"]:
            game["weather"] = "rain"
        return replace(answer, body=json.dumps(raw).encode())

    reports = site.pull(local, with_weather)
    assert {report.unknown_fields for report in reports} == {("games.weather",), ()}


def test_what_is_not_published_is_said(site: Site, local: Store) -> None:
    parts = {part for report in site.pull(local) for part in report.not_published}
    assert "the journal, its draws and undo" in parts
    assert ROLLS not in parts


def test_manual_seeds_are_those_of_the_source(tmp_path: Path, empty_sqlite: Path, local: Store) -> None:
    file = tmp_path / "source.db"
    file.write_bytes(empty_sqlite.read_bytes())
    with pull_world.site(file) as source:
        body = {"name": "Seeded", "type": "bracket", "seeding": "manual"}
        _, made, _ = build.do(source.store, "POST", "/api/tournaments", body, by=source.owner_id)
        tournament_id = made["data"]["tournamentId"]
        names = ("Ada Quill", "Bo Larkin", "Cleo Marsh")
        entrants = {"players": [{"name": name, "seed": 2 - n} for n, name in enumerate(names)]}
        path = f"/api/tournaments/{tournament_id}/players"
        assert build.do(source.store, "POST", path, entrants, by=source.owner_id)[0] == 201
        (report,) = source.pull(local)
        assert report.outcome == "new", report

        def seeds(store: Store) -> list[Any]:
            players = published(store, tournament_id)["tournament"]["players"]
            return [player["tournamentPlayer"]["seed"] for player in players]

        assert seeds(local) == seeds(source.store) == [3, 2, 1]


def test_the_single_games_of_matches_come_along_where_the_source_has_them(
    tmp_path: Path, empty_sqlite: Path, local: Store
) -> None:
    file = tmp_path / "source.db"
    file.write_bytes(empty_sqlite.read_bytes())
    with pull_world.site(file) as source:
        body = {"name": "Matches", "type": "bracket", "gamesPerRound": 3}
        _, made, _ = build.do(source.store, "POST", "/api/tournaments", body, by=source.owner_id)
        path = f"/api/tournaments/{made['data']['tournamentId']}"
        names = {"players": [{"name": name} for name in ("Ada Quill", "Bo Larkin", "Cleo Marsh", "Di Oakes")]}
        assert build.do(source.store, "POST", path + "/players", names, by=source.owner_id)[0] == 201
        assert build.do(source.store, "POST", path + "/start", by=source.owner_id)[0] == 200
        _, listed, _ = build.do(source.store, "GET", path + "/games", by=source.owner_id)
        game = next(game for game in listed["data"] if game["status"] == "started")
        won = {"resultPositions": game["playerIds"]}
        legs = f"{path}/games/{game['gameId']}/legs"
        assert build.do(source.store, "POST", legs, won, by=source.owner_id)[0] == 201

        def without_legs(target: str) -> Answer:
            return Answer(404, JSON, b"{}") if target.endswith("/legs") else source.ask(target)

        (report,) = source.pull(local, without_legs)
        assert (report.outcome, LEGS in report.not_published) == ("new", True)
        source.asked.clear()
        (report,) = source.pull(local, is_full=True)
        assert (report.outcome, LEGS in report.not_published) == ("replaced", False)
        # A match that has not begun is not asked for.
        assert len([target for target in source.asked if target.endswith("/legs")]) == 1
        remote_id = made["data"]["tournamentId"]
        theirs, ours = (published(store, remote_id)["legs"] for store in (source.store, local))
        assert theirs == ours
        assert ours[0]["resultPositions"] == game["playerIds"]


@pytest.mark.parametrize("is_completed", [False, True])
def test_pinbowling_counts_the_frames_that_the_source_publishes(
    tmp_path: Path, empty_sqlite: Path, local: Store, is_completed: bool
) -> None:
    file = tmp_path / "source.db"
    file.write_bytes(empty_sqlite.read_bytes())
    with pull_world.site(file) as source:
        body = {"name": "Pins", "type": "bowling", "golfDuration": 3}
        _, made, _ = build.do(source.store, "POST", "/api/tournaments", body, by=source.owner_id)
        tournament_id = made["data"]["tournamentId"]
        path = f"/api/tournaments/{tournament_id}"
        names = {"players": [{"name": name} for name in ("Ada Quill", "Bo Larkin", "Cleo Marsh")]}
        assert build.do(source.store, "POST", path + "/players", names, by=source.owner_id)[0] == 201
        assert build.do(source.store, "POST", path + "/start", by=source.owner_id)[0] == 200
        frames = build.ask(source.store, path + "/single-player-games?limit=100", by=source.owner_id)[1][
            "data"
        ]
        lines = [[10], [5, 5], [10, 3, 4]], [[9, 0], [10], [2, 3]], [[0, 0], [8, 1]]
        for at, line in enumerate(lines):
            player_id = sorted({frame["playerId"] for frame in frames})[at]
            own = [frame["singlePlayerGameId"] for frame in frames if frame["playerId"] == player_id]
            for frame_id, rolls in zip(sorted(own), line, strict=False):
                frame = f"{path}/single-player-games/{frame_id}"
                status, answer, _ = build.do(
                    source.store, "PATCH", frame, {"rolls": rolls}, by=source.owner_id
                )
                assert status == 200, answer
        if is_completed:
            assert build.do(source.store, "POST", path + "/complete", by=source.owner_id)[0] == 200
        (report,) = source.pull(local)
        assert (report.outcome, report.differences, ROLLS in report.not_published) == ("new", (), True)

        def totals(store: Store) -> list[tuple[int, str]]:
            rows = build.ask(store, path + "/standings", by=source.owner_id)[1]
            return [(row["position"], row["points"]) for row in rows]

        assert totals(local) == totals(source.store) == [(1, "57.00"), (2, "29.00"), (3, "9.00")]
        if is_completed:
            # Ranked here from then on.
            for action in ("reopen", "complete"):
                assert build.do(local, "POST", f"{path}/{action}", by=source.owner_id)[0] == 200
            assert totals(local) == [(1, "57.00"), (2, "29.00"), (3, "9.00")]


def test_the_source_is_asked_once_a_second_and_left_alone_when_it_says_so() -> None:
    clock = StoppedClock()
    answers = (
        Answer(429, {"retry-after": "7"}, b""),
        Answer(503, {}, b""),
        Answer(200, {**JSON, "x-ratelimit-remaining": "0", "x-ratelimit-reset": "1000040"}, b'{"data":1}'),
        Answer(200, JSON, b'{"data":2}'),
        Answer(200, JSON, b'{"data":3}'),
    )
    source = PullSource("x", scripted(*answers), RequestPace(now=clock.now, sleep=clock.sleep))
    assert [source.read_data("/api/x") for _ in range(3)] == [1, 2, 3]
    # Seven seconds as asked for, four of our own after the second refusal, until the reset, one second.
    assert clock.waits == [7.0, 4.0, 1_000_040 - 1_000_011, 1.0]


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory, empty_sqlite: Path) -> Iterator[tuple[str, str]]:
    """The address of a server on this machine with two nights, and a token."""
    file = tmp_path_factory.mktemp("served") / "source.db"
    store = pull_world.new_store(empty_sqlite, file)
    owner_id = build.a_user(store, user_id=9_001, name="Olga Ramp", role="organizer")
    for night in NIGHTS[:2]:
        bundles.import_bundle(store, night, owner_id=owner_id)
    token = a_token(store, owner_id)
    store.close()
    servers = Servers.without_limits(f"sqlite:///{file}")
    servers.start()
    yield f"http://127.0.0.1:{servers.port}", token
    servers.close()


def test_the_command_pulls_from_a_server_and_reports(server: tuple[str, str], local: Store) -> None:
    url, token = server
    run = CliRunner(env={"SILVERBALL_DATABASE_URL": local.url.render_as_string(hide_password=False)})

    def command(*words: str) -> Any:
        given = ["pull", f"{url}/api/", "--token", token, "--per-minute", "6000", *words]
        return run.invoke(silverball_group, given)

    dry = command("--dry-run")
    assert (dry.exit_code, "2 taken. Nothing was stored: this was a dry run." in dry.stdout) == (0, True)
    done = command()
    assert (done.exit_code, "2 taken." in done.stdout) == (0, True), done.output
    assert "Not published there: purchases.\n" in done.stdout
    again = command("--json")
    report = json.loads(again.stdout)
    assert (again.exit_code, report["isWhole"]) == (0, True)
    assert [row["outcome"] for row in report["tournaments"]] == ["unchanged"] * 2
    assert set(report["tournaments"][0]) >= {"remoteId", "tournamentId", "notPublished", "unknownFields"}
    stranger = run.invoke(silverball_group, ["pull", url, "--token", "1|wrong"])
    assert (stranger.exit_code, "does not accept the token." in stranger.stderr) == (1, True)
    assert command("--me", "1=").exit_code == 2
    nobody = command("--me", "1=99999")
    assert (nobody.exit_code, nobody.stderr) == (1, "Error: There is no such account here.\n")
