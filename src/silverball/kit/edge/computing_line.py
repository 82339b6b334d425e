"""The line of costly answers: two are computed at once, each in a process of its own beside the program.

Whatever these cost, the threads that serve everybody else are free, and the processes have a lower priority.
A task ends when nobody waits for it any more: its process is ended, and another one spawned for the next.
"""

import asyncio
import contextlib
import math
import pickle
from collections import deque
from collections.abc import Callable, Hashable, Mapping
from functools import partial
from typing import Any

import msgspec
from msgspec import Struct

from silverball.kit.edge.work_queue import Overloaded
from silverball.kit.errors import ServiceUnavailable
from silverball.kit.http.endpoints import HttpResponse, Request
from silverball.kit.http.refusals import AnswerInProgress, ServerStops
from silverball.kit.processes import ProcessEnded, SpawnedProcess
from silverball.kit.threads import ThreadPool

AT_ONCE = 2
WAITING_MAX = 16
IDLE_SECONDS = 60.0


class ComputedAnswer(Struct, frozen=True, kw_only=True, array_like=True):
    """An answer of the computing process."""

    response: HttpResponse
    # The version of its scope that was read, as a number of any size in digits; 0 where it changed meanwhile.
    version: str = "0"
    # Of the processor.
    seconds: float = 0.0
    # What the program behind the front door wants to know beside the answer.
    notes: bytes = b""

    @property
    def requests_more(self) -> int:
        """The requests that it costs beside the first: one for each further second that was started."""
        return max(0, math.ceil(self.seconds) - 1)


class Question(Struct, frozen=True, kw_only=True):
    """A question to the computing process: a request to the interface, or the scope of one for a page."""

    request: Request | None = None
    page: Mapping[str, Any] | None = None
    # The scope whose version the answer is kept under.
    scope_id: int = 0
    request_id: str = ""


class Cost(Struct, frozen=True, kw_only=True):
    """How a costly answer is counted, and for whom it is computed."""

    # Whether it costs a request for each second of the processor, which none of the specification does.
    is_by_second: bool = True
    # Whether the page is the same for everybody, whoever has signed in.
    is_for_everybody: bool = False


class Computing(Struct, frozen=True, kw_only=True):
    """The computing process as the program behind the front door provides it."""

    # The program of the process, and the first message that it gets.
    module: str
    setup: Callable[[], bytes]
    # Method, path, query, body -> what the answer costs; None for most answers, which threads compute.
    # Without its body a write costs nothing here.
    cost_of: Callable[[str, str, bytes, bytes], Cost | None]
    # Takes the notes of an answer.
    take_notes: Callable[[bytes], None] = lambda _notes: None


# The answer to a write that is no dry run: it is for the threads that write.
NO_DRY_RUN = HttpResponse(0, b"")
DECODER = msgspec.msgpack.Decoder(ComputedAnswer)


class _Task:
    """An answer that somebody waits for."""

    __slots__ = ("answer", "clients", "key", "owner", "place", "question")

    def __init__(self, key: Hashable, owner: Hashable, question: bytes) -> None:
        self.key = key
        # Who asked first.
        self.owner = owner
        self.question = question
        self.answer: asyncio.Future[ComputedAnswer] = asyncio.get_running_loop().create_future()
        self.clients = 0
        # None while it waits.
        self.place: SpawnedProcess | None = None

    def is_wanted(self) -> bool:
        """Whether anybody waits for it still."""
        return not self.answer.done()


class ComputingLine:
    """The tasks of one server. Used by one event loop at a time."""

    def __init__(self, computing: Computing) -> None:
        self._threads = ThreadPool(AT_ONCE, "silverball-computing")
        self._places = [SpawnedProcess(computing.module, computing.setup) for _ in range(AT_ONCE)]
        # The one that worked last comes last, and gets the next task.
        self._free = list(self._places)
        self._ends_idle: dict[SpawnedProcess, asyncio.TimerHandle] = {}
        self._tasks: dict[Hashable, _Task] = {}
        self._running: list[_Task] = []
        self._waiting: deque[_Task] = deque()
        self._is_closed = False

    @property
    def waiting(self) -> int:
        """The tasks that wait for a place."""
        return len(self._waiting)

    @property
    def process_ids(self) -> list[int]:
        """The ids of the processes that there are."""
        return [place.pid for place in self._places if place.pid is not None]

    async def compute(self, key: Hashable, owner: Hashable, question: Question) -> ComputedAnswer:
        """The answer to a question, the same for all who ask it with an equal key meanwhile.

        Raises Overloaded, AnswerInProgress, and ServiceUnavailable where the process ended.
        """
        task = self._tasks.get(key) or self._admit(key, owner, question)
        task.clients += 1
        try:
            return await asyncio.shield(task.answer)
        finally:
            task.clients -= 1
            if not task.clients and not task.answer.done():
                self._give_up(task)

    def end_all(self) -> None:
        """Refuse all that is computed or waits, and take nothing more: the program stops."""
        self._is_closed = True
        self._waiting.clear()
        for task in list(self._tasks.values()):
            self._finish(task, None, ServerStops())
        for place in self._places:
            place.kill()

    def close(self) -> None:
        """End the processes and their threads."""
        self.end_all()
        for timer in self._ends_idle.values():
            timer.cancel()
        self._threads.close()
        for place in self._places:
            place.close()

    def _admit(self, key: Hashable, owner: Hashable, question: Question) -> _Task:
        if self._is_closed:
            raise ServerStops
        is_busy = any(task.owner == owner for task in self._running)
        starts = bool(self._free) and not is_busy
        if not starts and any(task.owner == owner for task in self._waiting):
            raise AnswerInProgress
        if not starts and len(self._waiting) >= WAITING_MAX:
            raise Overloaded
        task = self._tasks[key] = _Task(key, owner, pickle.dumps(question))
        if starts:
            self._start(task)
        else:
            self._waiting.append(task)
        return task

    def _start(self, task: _Task) -> None:
        place = task.place = self._free.pop()
        timer = self._ends_idle.pop(place, None)
        if timer is not None:
            timer.cancel()
        self._running.append(task)
        self._threads.submit(partial(self._run, task, place, asyncio.get_running_loop()))

    def _run(self, task: _Task, place: SpawnedProcess, loop: asyncio.AbstractEventLoop) -> None:
        """Ask the process in a thread, and hand its answer to the loop in one step."""
        answer: ComputedAnswer | None = None
        error: ServiceUnavailable | None = None
        try:
            answer = DECODER.decode(place.ask(task.question, task.is_wanted))
        except ServiceUnavailable as ended:
            error = ended
        except Exception:  # noqa: BLE001  # whoever waits is told, and the thread goes on
            error = ProcessEnded()
        try:
            loop.call_soon_threadsafe(self._leave, task, place, answer, error)
        except RuntimeError:
            # A loop that has ended has nobody who waits; the next one finds the place free.
            self._running.remove(task)
            self._free.append(place)

    def _leave(
        self,
        task: _Task,
        place: SpawnedProcess,
        answer: ComputedAnswer | None,
        error: ServiceUnavailable | None,
    ) -> None:
        self._running.remove(task)
        self._free.append(place)
        self._finish(task, answer, error)
        if self._is_closed:
            return
        if place.pid is not None:
            loop = asyncio.get_running_loop()
            self._ends_idle[place] = loop.call_later(IDLE_SECONDS, self._end_idle, place)
        self._start_next()

    def _finish(self, task: _Task, answer: ComputedAnswer | None, error: ServiceUnavailable | None) -> None:
        if self._tasks.get(task.key) is task:
            del self._tasks[task.key]
        if task.answer.done():
            return
        if answer is not None:
            task.answer.set_result(answer)
        else:
            task.answer.set_exception(error or ProcessEnded())
            # Retrieved, or Python would report it as lost when the last client has gone meanwhile.
            task.answer.exception()

    def _give_up(self, task: _Task) -> None:
        """End a task that nobody waits for."""
        task.answer.cancel()
        if self._tasks.get(task.key) is task:
            del self._tasks[task.key]
        if task.place is None:
            self._waiting.remove(task)
        else:
            # Its thread notices, and gives the place back.
            task.place.kill()

    def _start_next(self) -> None:
        """Start the first who may: of each owner one task runs at a time."""
        busy = {task.owner for task in self._running}
        chosen = next((task for task in self._waiting if task.owner not in busy), None)
        if chosen is not None and self._free:
            self._waiting.remove(chosen)
            self._start(chosen)

    def _end_idle(self, place: SpawnedProcess) -> None:
        """End a process that had no task for a while; until it is gone its place takes none."""
        del self._ends_idle[place]
        self._free.remove(place)
        self._threads.submit(partial(self._end_process, place, asyncio.get_running_loop()))

    def _end_process(self, place: SpawnedProcess, loop: asyncio.AbstractEventLoop) -> None:
        place.close()
        with contextlib.suppress(RuntimeError):
            loop.call_soon_threadsafe(self._reopen, place)

    def _reopen(self, place: SpawnedProcess) -> None:
        # First: a process that runs already is chosen before it.
        self._free.insert(0, place)
        self._start_next()
