"""Following over hours, with a clock of the test: pings, the comparison each minute, and coming back."""

import json
from collections import deque
from dataclasses import dataclass, field
from random import Random
from typing import Any

import pytest

from silverball_client import Connected, Disconnected, Event
from silverball_client.etags import StoredAnswers
from silverball_client.exchange import Loss, Reply, Send, Session, Wait
from silverball_client.following import PING, Emit, Follower, Listen, Open, Say
from typed_client.foreign_night import TOURNAMENT_ID, ForeignNight, a_game

SUBSCRIBED = json.dumps({"event": "pusher_internal:subscription_succeeded", "data": "{}"})
PONG = json.dumps({"event": "pusher:pong", "data": {}})


@dataclass
class Evening:
    """A follower between a silent feed and the answers of a service; `now` is its clock."""

    night: ForeignNight
    now: float = 0.0
    # Texts of the feed that the follower has not heard yet.
    texts: deque[str] = field(default_factory=deque)
    is_reachable: bool = True
    answers_pings: bool = False
    # With the time of each.
    items: list[tuple[float, Any]] = field(default_factory=list)
    sent: list[tuple[float, str]] = field(default_factory=list)
    opened: list[float] = field(default_factory=list)

    def __post_init__(self) -> None:
        session = Session("http://127.0.0.1", "", 600, StoredAnswers(0), now=lambda: self.now)
        clock = lambda: self.now  # noqa: E731  # as short as it can be
        self.follower = Follower(session, TOURNAMENT_ID, "ws://127.0.0.1/app/key", clock, Random(3))
        self._steps = self.follower.steps()
        self._outcome: Any = None

    def run_until(self, end: float) -> None:
        while self.now < end:
            step = self._steps.send(self._outcome)
            self._outcome = self._do(step)

    def _do(self, step: Any) -> Any:
        match step:
            case Emit(item) if isinstance(item, Event | Connected | Disconnected):
                self.items.append((self.now, item))
            case Wait(seconds):
                self.now += seconds
            case Open():
                self.opened.append(self.now)
                return None if self.is_reachable else Loss("nothing listens", was_refused=True)
            case Say(text):
                self.sent.append((self.now, text))
                if "subscribe" in text:
                    self.texts.append(SUBSCRIBED)
                elif self.answers_pings:
                    self.texts.append(PONG)
            case Listen(seconds):
                if self.texts:
                    return self.texts.popleft()
                self.now += seconds
            case Send():
                return self._reply(step.target.partition("?")[0])
        return None

    def _reply(self, path: str) -> Reply:
        head, _, body = (self.night.answers[path][0].content or b"").partition(b"\r\n\r\n")
        return Reply(int(head.split()[1]), {}, body)

    @property
    def pings(self) -> list[float]:
        return [at for at, text in self.sent if text == PING]


@pytest.fixture
def evening() -> Evening:
    night = ForeignNight(games=[a_game(31)])
    night.publish()
    return Evening(night)


def test_a_silent_service_is_pinged_and_then_given_up(evening: Evening) -> None:
    evening.run_until(64)
    assert evening.pings == [46]
    assert [(at, type(item)) for at, item in evening.items[:2]] == [(0, Connected), (62, Disconnected)]
    assert evening.items[1][1].reason == "the service does not answer"
    # It is opened again by itself.
    assert len(evening.opened) == 2


def test_a_service_that_answers_pings_is_not_given_up(evening: Evening) -> None:
    evening.answers_pings = True
    evening.run_until(3_600)
    assert evening.pings[:3] == [46, 92, 138]
    assert evening.items == [(0, Connected())]


def test_what_no_event_has_said_is_found_within_a_minute(evening: Evening) -> None:
    evening.answers_pings = True
    evening.run_until(30)
    evening.night.games = [a_game(31, "completed")]
    evening.night.publish()
    evening.run_until(130)
    (_, found) = evening.items
    assert 60 < found[0] <= 64
    assert (found[1].name, found[1].data.status) == ("GameCreatedOrUpdated", "completed")


def test_a_busy_hour_is_compared_each_minute_too(evening: Evening) -> None:
    evening.run_until(1)
    evening.night.games = [a_game(31, "completed")]
    evening.night.publish()
    for second in range(2, 120):
        evening.texts.append(json.dumps({"event": "Beat", "data": "{}"}))
        evening.run_until(second)
    names = [item.name for _, item in evening.items[1:]]
    assert names.count("GameCreatedOrUpdated") == 1
    assert names.count("Beat") > 50


def test_a_service_that_is_away_is_asked_less_and_less_often(evening: Evening) -> None:
    evening.is_reachable = False
    evening.run_until(120)
    waits = [later - earlier for earlier, later in zip(evening.opened, evening.opened[1:], strict=False)]
    bounds = [0.5, 1, 2, 4, 8, *[10] * len(waits)]
    assert all(bound / 2 <= wait <= bound for wait, bound in zip(waits, bounds, strict=False))
    assert len(set(waits)) == len(waits), "waits are spread, so that clients do not come back together"


@pytest.mark.parametrize(
    ("tick", "is_behind"),
    [
        ({"epoch": "e1", "seq": 5}, False),
        ({"epoch": "e1", "seq": 6}, True),
        # Numbering has begun again.
        ({"epoch": "e2", "seq": 1}, True),
    ],
)
def test_a_tick_says_whether_something_is_missing(tick: dict[str, Any], is_behind: bool) -> None:
    night = ForeignNight()
    evening = Evening(night)
    evening.follower.epoch, evening.follower.seq = "e1", 5
    evening.run_until(1)
    assert json.loads(evening.sent[0][1])["data"]["resume"] == {"epoch": "e1", "seq": 5}
    evening.texts.append(json.dumps({"event": "silverball:tick", "data": json.dumps(tick)}))
    evening.run_until(4)
    assert len(evening.sent) == 1 + is_behind
