"""The events over plain HTTP: pages, long-polling, server-sent events."""

import asyncio
import contextlib
import json
from collections.abc import Iterator
from typing import Any
from urllib.parse import urlencode

import httpx2
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import build
from feed.feed_server import run_scenario
from feed.running_program import RunningProgram, announce, running_program, wait_until
from selection import examples
from silverball import app
from silverball.feed.feed import FeedService
from silverball.kit.errors import Gone, Invalid
from silverball.kit.http.endpoints import Request
from silverball.settings import Settings
from silverball.store import tables
from silverball.store.database.engine import Store
from silverball.store.tournament import announcements


def _events_path(tournament_id: int) -> str:
    return f"/api/tournaments/{tournament_id}/events"


def test_pages_lead_from_any_number_to_the_newest_event(store: Store) -> None:
    first_epoch = build.public_epoch(store)
    tournament_id = build.a_tournament(store).tournament_id
    announce(store, tournament_id, 7)

    async def scenario() -> None:
        async with running_program(store) as program:
            seen: list[int] = []
            after, is_complete = 2, False
            while not is_complete:
                params: Any = {"after": after, "epoch": first_epoch, "limit": 2}
                page = (await program.http.get(_events_path(tournament_id), params=params)).json()
                seen += [event["seq"] for event in page["data"]]
                after, is_complete = seen[-1], page["complete"]
            assert seen == [3, 4, 5, 6, 7]
            assert (page["epoch"], page["seq"], page["low"]) == (first_epoch, 7, 0)

    run_scenario(scenario())


@pytest.mark.both_databases
def test_a_page_holds_a_megabyte_and_at_least_one_event(store: Store) -> None:
    tournament_id = build.a_tournament(store).tournament_id
    sizes = (400_000, 400_000, 400_000, 1_200_000, 10)
    with store.write(tournament_id) as transaction:
        announcements.append(
            transaction, tournament_id, [("TournamentUpdated", json.dumps("x" * size)) for size in sizes]
        )

    async def scenario() -> None:
        async with running_program(store) as program:
            pages: list[list[int]] = []
            is_complete = False
            while not is_complete:
                params = {"after": pages[-1][-1] if pages else 0}
                page = (await program.http.get(_events_path(tournament_id), params=params)).json()
                pages.append([event["seq"] for event in page["data"]])
                is_complete = page["complete"]
            assert pages == [[1, 2], [3], [4], [5]]

    run_scenario(scenario())


def test_an_event_is_the_same_as_over_the_socket(store: Store) -> None:
    first_epoch = build.public_epoch(store)
    tournament_id = build.a_tournament(store).tournament_id
    announce(store, tournament_id)

    async def scenario() -> None:
        async with (
            running_program(store) as program,
            program.follower(tournament_id, epoch=first_epoch, seq=0) as client,
        ):
            await client.recv()
            sent = json.loads(await client.recv())
            page = (await program.http.get(_events_path(tournament_id), params={"after": 0})).json()
            assert page["data"] == [sent]

    run_scenario(scenario())


def test_without_a_number_the_answer_gives_the_channels_position(store: Store) -> None:
    first_epoch = build.public_epoch(store)
    tournament_id = build.a_tournament(store).tournament_id
    announce(store, tournament_id, 3)

    async def scenario() -> None:
        async with running_program(store) as program:
            page = (await program.http.get(_events_path(tournament_id))).json()
            assert page == {
                "data": [],
                "epoch": first_epoch,
                "seq": 3,
                "low": 0,
                "complete": True,
            }

    run_scenario(scenario())


def test_no_token_is_needed_and_requests_count_for_the_address(store: Store) -> None:
    tournament_id = build.a_tournament(store).tournament_id

    async def scenario() -> None:
        async with running_program(store, rate_limit_per_minute=2) as program:
            base = str(program.http.base_url)
            async with httpx2.AsyncClient(base_url=base, trust_env=False) as stranger:
                answers = [await stranger.get(_events_path(tournament_id)) for _ in range(3)]
            assert [answer.status_code for answer in answers] == [200, 200, 429]
            assert answers[1].headers["x-ratelimit-remaining"] == "0"
            assert answers[2].headers["retry-after"]

    run_scenario(scenario())


def test_a_known_page_answers_304(store: Store) -> None:
    tournament_id = build.a_tournament(store).tournament_id
    announce(store, tournament_id)

    async def scenario() -> None:
        async with running_program(store) as program:
            first = await program.http.get(_events_path(tournament_id), params={"after": 0})
            again = await program.http.get(
                _events_path(tournament_id),
                params={"after": 0},
                headers={"If-None-Match": first.headers["etag"]},
            )
            assert (first.status_code, again.status_code, again.content) == (200, 304, b"")

    run_scenario(scenario())


def test_a_long_poll_ends_with_the_next_event(store: Store) -> None:
    first_epoch = build.public_epoch(store)
    tournament_id = build.a_tournament(store).tournament_id
    announce(store, tournament_id, 2)

    async def scenario() -> None:
        async with running_program(store) as program:
            params: Any = {"after": 2, "epoch": first_epoch, "wait": 25}
            waiting = asyncio.ensure_future(program.http.get(_events_path(tournament_id), params=params))
            await wait_until(lambda: program.broadcast.relay.waiting_count == 1)
            await asyncio.to_thread(announce, store, tournament_id)
            page = (await waiting).json()
            assert [event["seq"] for event in page["data"]] == [3]
            assert program.broadcast.relay.waiting_count == 0

    run_scenario(scenario())


def test_a_long_poll_without_events_ends_empty(store: Store) -> None:
    tournament_id = build.a_tournament(store).tournament_id

    async def scenario() -> None:
        async with running_program(store) as program:
            page = (
                await program.http.get(_events_path(tournament_id), params={"after": 0, "wait": 1})
            ).json()
            assert page["data"] == []
            assert page["complete"] is True

    run_scenario(scenario())


def test_trimmed_events_and_those_of_another_epoch_are_gone(store: Store) -> None:
    tournament_id = build.a_tournament(store).tournament_id
    announce(store, tournament_id, 5)
    with store.write() as transaction:
        own = tables.tournament.c.tournament_id == tournament_id
        transaction.connection.execute(tables.tournament.update().where(own).values(seq_low=3))

    async def scenario() -> None:
        async with running_program(store) as program:
            lost: list[Any] = [{"after": 2}, {"after": 6}, {"after": 4, "epoch": "other"}]
            for params in lost:
                answer = await program.http.get(_events_path(tournament_id), params=params)
                assert answer.status_code == 410, params
                assert "Read the tournament again." in answer.json()["message"]
            page = (await program.http.get(_events_path(tournament_id), params={"after": 3})).json()
            assert [event["seq"] for event in page["data"]] == [4, 5]

    run_scenario(scenario())


def test_a_bad_parameter_is_refused_by_name(store: Store) -> None:
    tournament_id = build.a_tournament(store).tournament_id

    async def scenario() -> None:
        async with running_program(store) as program:
            for params, field in (
                ({"after": "-1"}, "after"),
                ({"after": "x"}, "after"),
                ({"limit": "501"}, "limit"),
                ({"limit": "0"}, "limit"),
                ({"wait": "26"}, "wait"),
                ({"epoch": "e" * 65}, "epoch"),
            ):
                answer = await program.http.get(_events_path(tournament_id), params=params)
                assert answer.status_code == 422, params
                assert list(answer.json()["errors"]) == [field]
            assert (await program.http.get(_events_path(99_999))).status_code == 404
            assert (await program.http.get("/api/tournaments/99999/stream")).status_code == 404
            assert (await program.http.post(_events_path(tournament_id))).status_code == 405
            assert (await program.http.options(_events_path(tournament_id))).headers["allow"] == "GET,HEAD"
            head = await program.http.head(f"/api/tournaments/{tournament_id}/stream")
            assert head.headers["content-type"].startswith("text/event-stream")

    run_scenario(scenario())


@given(
    query=st.dictionaries(
        st.sampled_from(["after", "epoch", "limit", "page", "\x00"]),
        st.one_of(st.text(max_size=30), st.integers().map(str), st.sampled_from(["-0", "1e3", "+5", "٣"])),
    ),
    last=st.text(st.characters(min_codepoint=32, max_codepoint=126), max_size=60),
)
@settings(max_examples=examples(200), deadline=None, suppress_health_check=list(HealthCheck))
def test_any_parameters_are_answered_or_refused(
    anonymous_client: Any, query: dict[str, str], last: str
) -> None:
    encoded = urlencode(query, errors="surrogatepass").encode()
    for path in ("events", "stream"):
        sent = Request(
            method="GET",
            path=f"/api/tournaments/1/{path}",
            query=encoded,
            last_event_id=last.encode(),
        )
        with contextlib.suppress(Gone, Invalid):
            asyncio.run(anonymous_client(sent))


@pytest.fixture
def anonymous_client(store: Store) -> Iterator[Any]:
    """An anonymous client of a program without a running feed."""
    assert build.a_tournament(store).tournament_id == 1
    announce(store, 1, 5)
    broadcast = FeedService(store, Settings())
    yield app.build_api(store, Settings(), feed=broadcast).answer_async
    broadcast.stored_events.close()


class EventBlocks:
    """The blocks of a stream of server-sent events, as dictionaries of their fields."""

    def __init__(self, program: RunningProgram, tournament_id: int, last_event_id: str | None = None) -> None:
        headers = {} if last_event_id is None else {"Last-Event-ID": last_event_id}
        self._stream = program.http.stream("GET", f"/api/tournaments/{tournament_id}/stream", headers=headers)

    async def __aenter__(self) -> "EventBlocks":
        self.answer = await self._stream.__aenter__()
        self._lines = self.answer.aiter_lines()
        return self

    async def __aexit__(self, *error: Any) -> None:
        await self._stream.__aexit__(*error)

    async def next(self) -> dict[str, str]:
        fields: dict[str, str] = {}
        async with asyncio.timeout(20):
            async for line in self._lines:
                if not line:
                    return fields
                name, _, value = line.partition(": ")
                fields[name] = value
        raise AssertionError("the stream ended")


def test_a_stream_starts_with_its_position_and_goes_on_with_events(store: Store) -> None:
    first_epoch = build.public_epoch(store)
    tournament_id = build.a_tournament(store).tournament_id
    announce(store, tournament_id, 3)

    async def scenario() -> None:
        async with running_program(store) as program, EventBlocks(program, tournament_id) as blocks:
            assert blocks.answer.headers["content-type"] == "text/event-stream; charset=utf-8"
            assert blocks.answer.headers["access-control-allow-origin"] == "*"
            assert await blocks.next() == {"id": f"{first_epoch}:3"}
            await program.write("PATCH", f"/api/tournaments/{tournament_id}", {"name": "Streamed"})
            block = await blocks.next()
            assert (block["id"], block["event"]) == (f"{first_epoch}:4", "TournamentUpdated")
            assert json.loads(block["data"])["name"] == "Streamed"

    run_scenario(scenario())


def test_a_resumed_stream_sends_the_missed_events(store: Store) -> None:
    first_epoch = build.public_epoch(store)
    tournament_id = build.a_tournament(store).tournament_id
    announce(store, tournament_id, 5)

    async def scenario() -> None:
        async with (
            running_program(store) as program,
            EventBlocks(program, tournament_id, f"{first_epoch}:3") as blocks,
        ):
            assert await blocks.next() == {"id": f"{first_epoch}:3"}
            assert [(await blocks.next())["id"] for _ in range(2)] == [
                f"{first_epoch}:4",
                f"{first_epoch}:5",
            ]

    run_scenario(scenario())


def test_a_stream_that_cannot_be_resumed_is_gone(store: Store) -> None:
    first_epoch = build.public_epoch(store)
    tournament_id = build.a_tournament(store).tournament_id
    announce(store, tournament_id, 5)
    epoch = first_epoch

    async def scenario() -> None:
        async with running_program(store) as program:
            for lost in ("other:3", f"{epoch}:6", "nonsense", f"{epoch}:-1", f"{epoch}:" + "9" * 30):
                answer = await program.http.get(
                    f"/api/tournaments/{tournament_id}/stream", headers={"Last-Event-ID": lost}
                )
                assert (answer.status_code, "Read the tournament again" in answer.text) == (410, True), lost

    run_scenario(scenario())


def test_a_stream_ends_when_its_client_disconnects(store: Store) -> None:
    tournament_id = build.a_tournament(store).tournament_id

    async def scenario() -> None:
        async with running_program(store) as program:
            async with EventBlocks(program, tournament_id) as blocks:
                await blocks.next()
                await wait_until(lambda: program.broadcast.relay.waiting_count == 1)
            await wait_until(lambda: program.broadcast.relay.waiting_count == 0)

    run_scenario(scenario())


def test_shutdown_ends_streams_and_long_polls(store: Store) -> None:
    tournament_id = build.a_tournament(store).tournament_id

    async def scenario() -> None:
        async with running_program(store) as program, EventBlocks(program, tournament_id) as blocks:
            await blocks.next()
            waiting = asyncio.ensure_future(
                program.http.get(_events_path(tournament_id), params={"after": 0, "wait": 25})
            )
            await wait_until(lambda: program.broadcast.relay.waiting_count == 2)
            program.broadcast.relay.end_waiting()
            assert (await waiting).json()["data"] == []
            assert [line async for line in blocks._lines] == []

    run_scenario(scenario())
