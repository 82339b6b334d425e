"""The session of one connection, without a socket: texts in, texts and a close out."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from silverball.feed import messages
from silverball.feed.protocol import (
    DEFERRED_MESSAGES_MAX,
    ID_MAX,
    MESSAGE_BYTES_MAX,
    Close,
    PusherSession,
    Resume,
    SessionOutput,
    Subscribe,
    Unsubscribe,
)

NOW = 1_000.0
MALFORMED = '{"event":"pusher:error","data":{"code":null,"message":"The message is malformed."}}'


def _session() -> PusherSession:
    return PusherSession("12.34", NOW)


def _receive(text: str | bytes, now: float = NOW) -> SessionOutput:
    return _session().receive(text if isinstance(text, bytes) else text.encode(), now)


def _error_code(out: SessionOutput) -> int | None:
    (text,) = out.texts
    message = json.loads(text)
    assert message["event"] == "pusher:error"
    assert isinstance(message["data"], dict)
    code: int | None = message["data"]["code"]
    return code


def test_the_first_text_is_the_one_that_libraries_wait_for() -> None:
    assert _session().greeting() == (
        b'{"event":"pusher:connection_established",'
        b'"data":"{\\"socket_id\\":\\"12.34\\",\\"activity_timeout\\":30}"}'
    )


@pytest.mark.parametrize(
    "text",
    [
        '{"event":"pusher:ping"}',
        '{"event":"pusher:ping","data":{}}',
        '{"event":"pusher:ping","data":""}',
        '{"data":{},"event":"pusher:ping","channel":null}',
    ],
)
def test_a_ping_is_answered_with_the_exact_text(text: str) -> None:
    assert _receive(text).texts == [b'{"event":"pusher:pong","data":"{}"}']


@pytest.mark.parametrize(
    ("data", "wish"),
    [
        ('{"channel":"tournaments.42"}', Subscribe(42)),
        ('{"auth":"","channel":"tournaments.42"}', Subscribe(42)),
        ('{"auth":null,"channel":"tournaments.42","channel_data":null}', Subscribe(42)),
        ('"{\\"channel\\":\\"tournaments.42\\"}"', Subscribe(42)),
        (
            '{"channel":"tournaments.42","resume":{"epoch":"k3f9","seq":4700}}',
            Subscribe(42, Resume("k3f9", 4700)),
        ),
        ('{"channel":"tournaments.42","resume":{}}', Subscribe(42, Resume("", -1))),
        ('{"channel":"tournaments.42","resume":null}', Subscribe(42)),
        (f'{{"channel":"tournaments.{ID_MAX}"}}', Subscribe(ID_MAX)),
    ],
)
def test_a_subscription_is_read_in_every_form_that_libraries_send(data: str, wish: Subscribe) -> None:
    out = _receive(f'{{"event":"pusher:subscribe","data":{data}}}')
    assert (out.texts, out.subscription_requests, out.close) == ([], [wish], None)


@pytest.mark.parametrize("channel", ["tournaments.42", "tournaments.0042"])
def test_leaving_a_channel_has_no_answer(channel: str) -> None:
    out = _receive(f'{{"event":"pusher:unsubscribe","data":{{"channel":"{channel}"}}}}')
    assert (out.texts, out.subscription_requests) == ([], [Unsubscribe(42)])


@pytest.mark.parametrize("channel", ["private-x", "x" * 5_000, "tournaments.x", "tournaments." + "9" * 30])
def test_leaving_a_channel_that_cannot_be_followed_is_ignored(channel: str) -> None:
    out = _receive(f'{{"event":"pusher:unsubscribe","data":{{"channel":"{channel}"}}}}')
    assert (out.texts, out.subscription_requests, out.close) == ([], [], None)


@pytest.mark.parametrize(
    ("channel", "kind", "status"),
    [
        ("private-tournaments.42", "AuthError", 403),
        ("presence-tournaments.42", "AuthError", 403),
        ("private-encrypted-x", "AuthError", 403),
        ("#server-to-user-7", "AuthError", 403),
        ("players.42", "AuthError", 403),
        ("tournaments.", "AuthError", 403),
        ("tournaments.-1", "AuthError", 403),
        ("tournaments.0", "NotFound", 404),
        ("tournaments.042", "NotFound", 404),
        (f"tournaments.{ID_MAX + 1}", "NotFound", 404),
        ("tournaments." + "9" * 100, "NotFound", 404),
        ("", "InvalidName", 400),
        ("tournaments 42", "InvalidName", 400),
        ("Türkei", "InvalidName", 400),
        ("tournaments.٤٢", "InvalidName", 400),
        ("x" * 201, "InvalidName", 400),
    ],
)
def test_every_other_channel_is_refused_and_the_connection_stays(
    channel: str, kind: str, status: int
) -> None:
    request = json.dumps({"event": "pusher:subscribe", "data": {"channel": channel}})
    out = _receive(request)
    (text,) = out.texts
    message = json.loads(text)
    assert list(message) == ["event", "channel", "data"]
    assert message["event"] == "pusher:subscription_error"
    assert message["channel"] == channel[:200]
    assert (message["data"]["type"], message["data"]["status"]) == (kind, status)
    assert message["data"]["error"].endswith((".", ";"))
    assert (out.subscription_requests, out.close) == ([], None)


def test_a_client_event_is_refused_and_the_connection_stays() -> None:
    out = _receive('{"event":"client-typing","channel":"tournaments.42","data":{"x":1}}')
    assert _error_code(out) == 4301
    assert out.close is None


def test_a_sign_in_is_refused_by_an_event_of_its_own() -> None:
    (text,) = _receive('{"event":"pusher:signin","data":{"auth":"a:b","user_data":"{}"}}').texts
    assert json.loads(text)["event"] == "pusher:signin_error"
    assert json.loads(text)["data"]["status"] == 403


def test_unknown_pusher_events_are_ignored() -> None:
    assert _receive('{"event":"pusher:something_new","data":[1,2]}') == SessionOutput()


def test_any_other_unknown_event_is_an_error_without_a_code() -> None:
    out = _receive('{"event":"GameCreatedOrUpdated","channel":"tournaments.42","data":"{}"}')
    assert _error_code(out) is None
    assert out.close is None


@pytest.mark.parametrize(
    "text",
    [
        "",
        "x",
        "[]",
        "null",
        "{}",
        '{"data":{}}',
        '{"event":null}',
        '{"event":7}',
        '{"event":"pusher:ping"',
        '{"event":"pusher:ping"}x',
        '{"event":"' + "x" * 201 + '"}',
        '{"event":"pusher:subscribe"}',
        '{"event":"pusher:subscribe","data":null}',
        '{"event":"pusher:subscribe","data":[]}',
        '{"event":"pusher:subscribe","data":{"channel":42}}',
        '{"event":"pusher:subscribe","data":{"channel":null}}',
        '{"event":"pusher:subscribe","data":"tournaments.42"}',
        '{"event":"pusher:subscribe","data":{"channel":"tournaments.42","resume":7}}',
        '{"event":"pusher:subscribe","data":{"channel":"tournaments.42","resume":{"seq":"7"}}}',
        '{"event":"pusher:subscribe","data":{"channel":"tournaments.42","resume":{"seq":-1}}}',
        '{"event":"pusher:subscribe","data":{"channel":"tournaments.42","resume":{"epoch":7,"seq":1}}}',
        '{"event":"pusher:unsubscribe","data":{}}',
        '{"event":"\\ud800"}',
        '{"event":"\\udc00"}',
        '{"event":"pusher:subscribe","data":{"channel":"\\udfff"}}',
        '{"event":"x","data":' + "[" * 8_000 + "]" * 8_000 + "}",
        '{"event":"pusher:subscribe","data":' + '{"a":' * 3_000 + "1" + "}" * 3_000 + "}",
    ],
)
def test_a_malformed_message_is_an_error_without_a_code(text: str) -> None:
    out = _receive(text)
    assert [text.decode() for text in out.texts] == [MALFORMED]
    assert (out.subscription_requests, out.close) == ([], None)


def test_the_last_of_two_members_with_the_same_name_counts() -> None:
    assert _receive('{"event":"pusher:subscribe","event":"pusher:ping"}').texts == [messages.PONG]


def test_ten_malformed_messages_in_a_minute_end_the_connection() -> None:
    session = _session()
    for number in range(9):
        assert session.receive(b"x", NOW + number).close is None
    out = session.receive(b"x", NOW + 59)
    assert [text.decode() for text in out.texts] == [MALFORMED]
    assert out.close == Close(1008, "Too many malformed messages.")


def test_malformed_messages_are_forgiven_after_a_minute() -> None:
    session = _session()
    for number in range(100):
        assert session.receive(b"x", NOW + number * 7).close is None


def test_a_text_that_is_not_utf8_ends_the_connection() -> None:
    out = _receive(b'{"event":"\xff"}')
    assert out.close is not None
    assert out.close.code == 1007


def test_sixty_messages_come_through_at_once_and_then_twenty_a_second() -> None:
    session = _session()
    answered = [len(session.receive(b'{"event":"pusher:ping"}', NOW).texts) for _ in range(200)]
    assert answered == [1] * 60 + [0] * 140
    assert session.next_check_at <= NOW
    # Messages beyond the burst are deferred; none is lost.
    later = [len(session.check_timeouts(NOW + second, NOW).texts) for second in range(1, 9)]
    assert later == [20] * 7 + [0]


def test_a_client_may_subscribe_to_the_maximum_of_channels_at_once() -> None:
    session = _session()
    wishes = []
    for number in range(1, 257):
        out = session.receive(
            b'{"event":"pusher:subscribe","data":{"channel":"tournaments.%d"}}' % number, NOW
        )
        wishes += out.subscription_requests
        assert out.close is None
    for second in range(1, 11):
        wishes += session.check_timeouts(NOW + second, NOW).subscription_requests
    assert wishes == [Subscribe(number) for number in range(1, 257)]


def test_a_flood_ends_the_connection() -> None:
    session = _session()
    closes = []
    for number in range(1, 100_001):
        out = session.receive(b'{"event":"pusher:subscribe","data":{"channel":"tournaments.1"}}', NOW)
        if out.close is not None:
            closes.append((number, out.close.code))
            break
    assert closes == [(60 + DEFERRED_MESSAGES_MAX + 1, 1008)]


def test_deferred_bytes_are_limited_too() -> None:
    session = _session()
    large = b'{"event":"pusher:ping","data":"' + b"x" * (MESSAGE_BYTES_MAX - 40) + b'"}'
    for _ in range(60):
        assert session.receive(large, NOW).close is None
    for _ in range(4):
        out = session.receive(large, NOW)
    assert out.close is None or out.close.code == 1008
    assert session.receive(large, NOW).close is not None or out.close is not None


def test_a_flood_of_control_frames_ends_the_connection() -> None:
    session = _session()
    closes = [session.receive_control(NOW).close for _ in range(61)]
    assert closes[:60] == [None] * 60
    assert closes[60] is not None
    assert closes[60].code == 1008


def test_a_silent_client_gets_a_ping_frame_then_a_text_ping_then_a_close() -> None:
    session = _session()
    assert session.next_check_at == NOW + 25
    assert session.check_timeouts(NOW + 24.9, NOW) == SessionOutput()
    assert session.check_timeouts(NOW + 25, NOW) == SessionOutput(sends_ping=True)
    assert session.check_timeouts(NOW + 39.9, NOW) == SessionOutput()
    assert session.check_timeouts(NOW + 40, NOW).texts == [b'{"event":"pusher:ping"}']
    assert session.check_timeouts(NOW + 69.9, NOW) == SessionOutput()
    out = session.check_timeouts(NOW + 70, NOW)
    assert out.close is not None
    assert out.close.code == 4201
    assert _error_code(out) == 4201


@pytest.mark.parametrize("answer", ["text", "control"])
def test_a_client_that_answers_stays(answer: str) -> None:
    session = _session()
    now = NOW
    for _ in range(500):
        now += 41
        out = session.check_timeouts(now, NOW)
        assert out.close is None
        if answer == "text":
            session.receive(b'{"event":"pusher:pong"}', now + 29)
        else:
            session.receive_control(now + 29)
        now += 29


def test_a_client_silent_for_a_day_is_closed_unless_it_got_events() -> None:
    session = _session()
    day = 86_400.0
    for hour in range(24 * 60 * 2):
        session.receive_control(NOW + hour * 30)
    assert session.check_timeouts(NOW + day, last_event_at=NOW + 1).close is None
    out = session.check_timeouts(NOW + day, last_event_at=NOW)
    assert out.close is not None
    assert out.close.code == 4202


@given(st.binary(max_size=300) | st.text(max_size=300).map(lambda text: text.encode("utf-8", "replace")))
def test_no_text_breaks_a_session(data: bytes) -> None:
    out = _receive(data)
    for text in out.texts:
        assert isinstance(json.loads(text)["event"], str)
    if out.close is not None:
        assert len(out.close.reason.encode()) <= 123


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=8,
)
EVENTS = st.sampled_from(
    ["pusher:ping", "pusher:pong", "pusher:subscribe", "pusher:unsubscribe", "pusher:signin", "client-x", "x"]
)


@given(
    EVENTS | JSON, JSON | st.fixed_dictionaries({"channel": JSON}, optional={"resume": JSON, "auth": JSON})
)
def test_any_members_get_an_answer_of_the_protocol(event: object, data: object) -> None:
    out = _receive(json.dumps({"event": event, "data": data}))
    assert out.close is None or out.close.code == 1007
    for text in out.texts:
        assert json.loads(text)["event"] in {
            "pusher:error",
            "pusher:pong",
            "pusher:subscription_error",
            "pusher:signin_error",
        }
