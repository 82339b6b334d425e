"""A busy service is waited out as long as it asks, within one budget for the client's whole life."""

import time
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from typing import Any

import pytest

from silverball_client import ServerFault, TooManyRequests
from silverball_client.etags import StoredAnswers
from silverball_client.exchange import Reply, Send, Session, Wait, retry_after
from silverball_client.operations.clubs import ClubsResource
from typed_client.both_clients import KINDS, result, results
from typed_client.scripted_service import Answer, ScriptedService, json_answer

NOW = 1_767_225_600.0
PATH = "/api/locations"
EMPTY = json_answer({"data": []})
BUSY_BODY = {"message": "Too Many Attempts.", "code": "too-many-attempts"}


def busy(status: int, **headers: str) -> Answer:
    return json_answer(BUSY_BODY, status, **headers)


def list_locations(client: Any) -> Any:
    return client.locations.list()


def a_session(budget: float) -> Session:
    return Session("http://127.0.0.1", "", budget, StoredAnswers(0), now=lambda: NOW)


def waits_of(session: Session, *refusals: Reply) -> list[float]:
    """The seconds between the tries when the service refuses so, and answers then."""
    steps = session.reply_steps(ClubsResource.get.describe(None, 1))
    replies = iter([*refusals, Reply(200, {}, b"{}")])
    waits = []
    step = next(steps)
    try:
        while True:
            if isinstance(step, Wait):
                waits.append(round(step.seconds, 2))
                step = steps.send(None)
            else:
                assert isinstance(step, Send)
                step = steps.send(next(replies))
    except StopIteration:
        return waits


def in_seconds(seconds: float) -> str:
    return format_datetime(datetime.fromtimestamp(NOW, UTC) + timedelta(seconds=seconds), usegmt=True)


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({"retry-after": "7"}, 7),
        ({"retry-after": "0"}, 0),
        ({"retry-after": in_seconds(9)}, 9),
        ({"retry-after": in_seconds(-9)}, 0),
        ({"x-ratelimit-reset": str(int(NOW) + 20)}, 20),
        ({"x-ratelimit-reset": str(int(NOW) - 20)}, 0),
        ({"retry-after": "3", "x-ratelimit-reset": str(int(NOW) + 20)}, 3),
        ({"retry-after": "soon", "x-ratelimit-reset": str(int(NOW) + 20)}, 20),
        # What cannot be understood counts as not said.
        ({"retry-after": "\u00b2"}, 4),
        ({"retry-after": "Thu, 01 Jan 2026 00:00:00 +99999999999999"}, 4),
        ({"retry-after": "Mon, 01 Jan 99999 00:00:00 GMT"}, 4),
        ({"x-ratelimit-reset": "\u00b2"}, 4),
        ({}, 4),
    ],
)
def test_the_service_says_how_long_to_wait(headers: dict[str, str], seconds: float) -> None:
    assert retry_after(headers, NOW, otherwise=4) == pytest.approx(seconds + 0.05)


@pytest.mark.parametrize(
    ("refusals", "waits"),
    [
        ([Reply(429, {"retry-after": "7"}, b"")], [7.05]),
        ([Reply(429, {}, b"")], [10.05]),
        ([Reply(503, {}, b"")] * 3, [0.55, 1.05, 2.05]),
        ([Reply(502, {}, b""), Reply(504, {}, b"")], [0.55, 1.05]),
        ([Reply(503, {"retry-after": "2"}, b"")] * 2, [2.05, 2.05]),
        # It says "at once" again and again, and is not believed.
        ([Reply(429, {"retry-after": "0"}, b"")] * 4, [0.05, 0.5, 1.0, 2.0]),
    ],
)
def test_each_refusal_is_waited_out(refusals: list[Reply], waits: list[float]) -> None:
    assert waits_of(a_session(600), *refusals) == waits


def test_waits_do_not_grow_beyond_half_a_minute() -> None:
    assert max(waits_of(a_session(10_000), *[Reply(503, {}, b"")] * 100)) == pytest.approx(30.05)


@pytest.mark.parametrize(("status", "refusal"), [(429, TooManyRequests), (503, ServerFault)])
def test_the_refusal_is_raised_when_the_budget_is_used_up(status: int, refusal: type[Exception]) -> None:
    session = a_session(10)
    refusals = [
        Reply(status, {"retry-after": "6"}, body) for body in (b"", b'{"message": "No.", "code": "busy"}')
    ]
    with pytest.raises(refusal) as refused:
        waits_of(session, *refusals)
    assert (refused.value.status, refused.value.code) == (status, "busy")  # type: ignore[attr-defined]  # Refused
    # The next call of the same client has all of it again.
    assert waits_of(session, Reply(status, {"retry-after": "6"}, b"")) == [6.05]


@pytest.mark.parametrize("kind", KINDS)
def test_a_call_returns_when_the_service_is_free_again(kind: str) -> None:
    reset = str(int(time.time()))
    refusals = [busy(429, retry_after="0"), busy(429, x_ratelimit_reset=reset), busy(503, retry_after="0")]
    with ScriptedService({PATH: [*refusals, EMPTY]}) as service:
        assert result(kind, service.base_url, list_locations) == []
    assert len(service.requests) == 4


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(("status", "refusal"), [(429, TooManyRequests), (503, ServerFault)])
def test_an_impatient_client_raises_at_once(kind: str, status: int, refusal: type[Exception]) -> None:
    script = {PATH: [busy(status, retry_after="1")]}
    with ScriptedService(script) as service, pytest.raises(refusal, match="Too Many Attempts"):
        result(kind, service.base_url, list_locations, wait_budget=0)
    assert len(service.requests) == 1


@pytest.mark.parametrize("kind", KINDS)
def test_each_call_of_a_client_has_a_budget_of_its_own(kind: str) -> None:
    script = {PATH: [busy(429, retry_after="0"), EMPTY, busy(429, retry_after="0"), EMPTY]}
    with ScriptedService(script) as service:
        assert len(results(kind, service.base_url, [list_locations] * 2, wait_budget=0.08)) == 2
    assert len(service.requests) == 4


@pytest.mark.parametrize("kind", KINDS)
def test_a_client_tells_its_log_of_answers_and_waits_and_never_the_token(kind: str) -> None:
    lines: list[str] = []
    with ScriptedService({PATH: [busy(429, retry_after="0"), EMPTY]}) as service:
        result(kind, service.base_url, list_locations, token="secret", log=lines.append)
    assert [line.rpartition(": ")[2] for line in lines if ": " in line] == ["429", "200"]
    assert [line.startswith("waits ") for line in lines] == [False, True, False]
    assert "secret" not in "".join(lines)


@pytest.mark.parametrize("kind", KINDS)
def test_a_fault_of_the_server_is_not_repeated(kind: str) -> None:
    fault = json_answer({"message": "Server Error", "code": "server-error"}, 500)
    with ScriptedService({PATH: [fault]}) as service, pytest.raises(ServerFault, match="500 server-error"):
        result(kind, service.base_url, list_locations)
    assert len(service.requests) == 1
