"""The events of the service that runs a tournament, put into a queue by a thread of their own."""

import queue
import threading
import time
from collections.abc import Callable
from random import Random
from typing import Any

import httpx2
import msgspec
from msgspec import Struct

from silverball_client.clients import APP_KEY
from silverball_client.errors import SilverballError
from silverball_client.etags import StoredAnswers
from silverball_client.events import Disconnected, Event
from silverball_client.exchange import Session, Wait
from silverball_client.following import Emit, FeedSteps, Follower, Listen, Open, Say
from silverball_client.sockets import FeedSocket

SOCKET_SECONDS = 30.0


class Heard(Struct, frozen=True):
    """An event, and when it came; without a name the connection was lost or has come back."""

    name: str
    data: Any
    at: float


class BareFollower(Follower):
    """Follows the feed alone: what is compared and when is up to the mirror."""

    def _start_at_head(self) -> FeedSteps:
        self.is_numbered = False
        yield from ()

    def _compare(self) -> FeedSteps:
        # A subscription stands: what was said before it is unknown.
        yield Emit(Disconnected("subscribed anew"))


def listen(url: str, tournament_id: int, heard: "queue.Queue[Heard]", is_over: Callable[[], bool]) -> None:
    """Put events into the queue until it is over. Only the host of the address is asked."""
    session = Session(base_url=url, token="", wait_seconds_left=0.0, answers=StoredAnswers(0), now=time.time)
    # Spreads reconnects, and hides nothing.
    dice = Random()  # noqa: S311
    base = url.replace("http", "ws", 1)
    follower = BareFollower(session, tournament_id, f"{base}/app/{APP_KEY}", time.monotonic, dice)
    with httpx2.Client(follow_redirects=False, timeout=SOCKET_SECONDS) as http:
        socket = FeedSocket(http)
        steps = follower.steps()
        outcome: Any = None
        try:
            while not is_over():
                step = steps.send(outcome)
                outcome = None
                if isinstance(step, Emit):
                    _put(heard, step.item)
                elif isinstance(step, Open):
                    outcome = socket.open(step.url)
                elif isinstance(step, Say):
                    outcome = socket.say(step.text)
                elif isinstance(step, Listen):
                    outcome = socket.listen(step.seconds)
                elif isinstance(step, Wait):
                    time.sleep(step.seconds)
        except SilverballError:
            # Refused for good: the comparisons go on without it.
            heard.put(Heard("", None, time.monotonic()))
        finally:
            socket.close()


def listening_thread(
    url: str, tournament_id: int, heard: "queue.Queue[Heard]", is_over: Callable[[], bool]
) -> threading.Thread:
    """A started thread that listens."""
    thread = threading.Thread(target=listen, args=(url, tournament_id, heard, is_over), daemon=True)
    thread.start()
    return thread


def _put(heard: "queue.Queue[Heard]", item: Any) -> None:
    now = time.monotonic()
    if isinstance(item, Event):
        heard.put(Heard(item.name, msgspec.json.decode(item.json), now))
    elif isinstance(item, Disconnected):
        heard.put(Heard("", None, now))
