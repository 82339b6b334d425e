"""The supervisor of `silverball serve --workers`: starts equal processes on one socket and keeps them there.

It opens no database and serves no request. What workers share it makes before them: the socket, the cells
(`kit/shared_cells.py`), a pipe for each (`feed/worker_bus.py`) and the port of the metrics.
"""

import asyncio
import contextlib
import logging
import os
import signal
import socket
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

from silverball.cli import side_server
from silverball.cli.nursery import Nursery
from silverball.cli.supervisor_link import WorkerPlace
from silverball.cli.worker_process import WorkerProcess
from silverball.kit import logs
from silverball.kit.shared_cells import SharedCells
from silverball.settings import Settings
from silverball.web.summed_metrics import SummedMetrics

LOG = logging.getLogger("silverball.supervisor")
LOOK_SECONDS = 0.1
# Commands that died in the middle of a commit are looked for this often.
REPAIR_SECONDS = 1.0
# A worker that ends before it serves is started again after a pause, which grows.
PAUSE_SECONDS_MAX = 30.0
# Longer than a worker needs to finish its requests.
LEAVE_SECONDS = 30.0
# Counters of a worker that is killed are as old as this at most.
METRICS_EVERY_SECONDS = 2.0


class Supervisor:
    """The workers of one server. Used by one event loop only."""

    def __init__(
        self,
        listener: socket.socket,
        host: str,
        cells: SharedCells,
        pipes: dict[int, tuple[int, int]],
        settings: Settings,
        nursery: Nursery,
        *,
        when_ready: Callable[[], None],
    ) -> None:
        self._nursery = nursery
        self._listener = listener
        self._host = host
        self._cells = cells
        self._settings = settings
        self._when_ready = when_ready
        self._pipes = pipes
        self._workers: list[WorkerProcess] = []
        self._stop = asyncio.Event()
        self._restart = asyncio.Event()
        self._pause = 0.0
        # When another worker may be started, by the loop's clock.
        self._starts_at = 0.0
        self._repairs_at = 0.0
        self._metrics = SummedMetrics()
        self._has_begun = False

    async def run(self) -> int:
        """Serve until SIGTERM or SIGINT; returns the exit code of the program."""
        loop = asyncio.get_running_loop()
        self._nursery.open()
        for number in (signal.SIGTERM, signal.SIGINT):
            loop.add_signal_handler(number, self._stop.set)
        loop.add_signal_handler(signal.SIGHUP, self._restart.set)
        tasks = [loop.create_task(self._replace_when_asked())]
        metrics = side_server.metrics_server(self._expose, self._settings)
        if metrics is not None:
            metrics.open()
            tasks.append(loop.create_task(self._collect_metrics()))
        try:
            code = await self._serve()
        finally:
            self._stop.set()
            for task in tasks:
                task.cancel()
            await self._end_workers()
            if metrics is not None:
                await metrics.close()
        logs.log_line(LOG, "stopped")
        return code

    async def _serve(self) -> int:
        """Start the workers and keep them until the stop; returns the exit code."""
        for _ in range(self._cells.workers):
            await self._start_worker()
        for worker in self._workers:
            if not await self._is_ready_before_stop(worker):
                # What stops a worker from starting would stop every other one: it has said what it is.
                return 0 if self._stop.is_set() else worker.exit_code or 1
        self._has_begun = True
        self._when_ready()
        while not self._stop.is_set():
            if self._nursery.is_lost:
                LOG.critical("no worker can be started any more: the server ends")
                return 1
            await self._look_after_workers()
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(LOOK_SECONDS):
                    await self._stop.wait()
        return 0

    async def _is_ready_before_stop(self, worker: WorkerProcess) -> bool:
        ready = asyncio.ensure_future(worker.wait_until_ready())
        stopped = asyncio.ensure_future(self._stop.wait())
        await asyncio.wait({ready, stopped}, return_when=asyncio.FIRST_COMPLETED)
        for waiting in (ready, stopped):
            waiting.cancel()
        return ready.done() and not ready.cancelled() and ready.result()

    async def _start_worker(self) -> WorkerProcess:
        """Start a worker in a free column."""
        taken = {worker.column for worker in self._workers}
        column = next(column for column in self._cells.worker_columns if column not in taken)
        own, theirs = socket.socketpair()
        with theirs:
            place = WorkerPlace(
                column=column,
                host=self._host,
                is_first=not self._workers and not self._has_begun,
                listener=self._listener.fileno(),
                cells=self._cells.descriptor,
                inbox=self._pipes[column][0],
                outboxes=[pipe[1] for other, pipe in self._pipes.items() if other != column],
            )
            worker = WorkerProcess(await self._nursery.start_worker(place, theirs), column, own)
        self._nursery.call_at_end(worker.process_id, worker.note_end)
        self._workers.append(worker)
        logs.log_line(LOG, "a worker starts", process=worker.process_id, column=column)
        return worker

    async def _look_after_workers(self) -> None:
        """Put another worker in the place of each that has ended, and end what the dead had begun."""
        now = asyncio.get_running_loop().time()
        for worker in list(self._workers):
            if worker.exit_code is not None:
                await self._bury(worker)
                if not worker.is_leaving:
                    self._plan_start(worker, now)
        if now >= self._repairs_at:
            self._repairs_at = now + REPAIR_SECONDS
            self._settle_commands()
        staying = sum(not worker.is_leaving for worker in self._workers)
        has_room = len(self._workers) < len(self._cells.worker_columns)
        if staying < self._cells.workers and has_room and now >= self._starts_at:
            await self._start_worker()

    def _plan_start(self, ended: WorkerProcess, now: float) -> None:
        LOG.error("worker %d ended with %s; another takes its place", ended.process_id, ended.exit_code)
        # One that never served may never serve; one that did is missed.
        self._pause = 0.0 if ended.is_ready else min(PAUSE_SECONDS_MAX, max(1.0, self._pause * 2))
        self._starts_at = now + self._pause

    async def _bury(self, worker: WorkerProcess) -> None:
        # First, as others ask the database about every commit that it had begun.
        self._cells.settle(worker.column)
        self._workers.remove(worker)
        await worker.close()
        if worker.metrics:
            self._metrics.update(worker.column, worker.metrics)
        self._metrics.end(worker.column)

    def _settle_commands(self) -> None:
        for column in self._cells.outsider_columns:
            if self._cells.is_under_way(column) and self._cells.try_column(column):
                # Nobody has the column, so whoever wrote there has died.
                self._cells.settle(column)
                self._cells.release_column(column)

    # A restart, one after the other

    async def _replace_when_asked(self) -> None:
        while True:
            await self._restart.wait()
            self._restart.clear()
            if self._has_begun:
                await self._replace_all()

    async def _replace_all(self) -> None:
        for worker in [worker for worker in self._workers if not worker.is_leaving]:
            fresh = await self._start_worker()
            if not await fresh.wait_until_ready():
                LOG.error("the new worker %d does not start; the others stay", fresh.process_id)
                return
            worker.terminate()
            await self._wait_until_ended(worker)
        logs.log_line(LOG, "all workers are new")

    async def _end_workers(self) -> None:
        for worker in self._workers:
            worker.terminate()
        for worker in list(self._workers):
            await self._wait_until_ended(worker)
            if worker in self._workers:
                await self._bury(worker)

    async def _wait_until_ended(self, worker: WorkerProcess) -> None:
        until = asyncio.get_running_loop().time() + LEAVE_SECONDS
        # Whoever looks after the workers buries it, as long as there is no stop.
        while worker.exit_code is None or (worker in self._workers and not self._stop.is_set()):
            if self._nursery.is_lost:
                return
            if asyncio.get_running_loop().time() > until:
                LOG.error("worker %d does not end and is killed", worker.process_id)
                worker.kill()
                until += LEAVE_SECONDS
            await asyncio.sleep(LOOK_SECONDS)

    # Metrics

    async def _collect_metrics(self) -> None:
        while True:
            await asyncio.sleep(METRICS_EVERY_SECONDS)
            await self._ask_all()

    async def _ask_all(self) -> None:
        workers = list(self._workers)
        await asyncio.gather(*(worker.ask_metrics() for worker in workers))
        for worker in workers:
            # One that has ended meanwhile is in the sums already.
            if worker in self._workers and worker.metrics:
                self._metrics.update(worker.column, worker.metrics)

    async def _expose(self) -> bytes:
        await self._ask_all()
        return self._metrics.exposition(sum(worker.is_ready for worker in self._workers))

    def close_pipes(self) -> None:
        """Close the pipes, after the last worker."""
        for pipe in self._pipes.values():
            for number in pipe:
                os.close(number)


def _open_pipe() -> tuple[int, int]:
    reading, writing = os.pipe()
    os.set_blocking(reading, False)
    os.set_blocking(writing, False)
    return reading, writing


@contextlib.contextmanager
def open_cells(beside: Path | None, workers: int) -> Iterator[SharedCells]:
    """Make the file of the cells: beside an SQLite database, where commands find it, or anywhere."""
    with tempfile.TemporaryDirectory(prefix="silverball-") as folder:
        path = beside or Path(folder, "workers")
        cells = SharedCells.create(path, workers)
        try:
            yield cells
        finally:
            with contextlib.suppress(OSError):
                if os.stat(path).st_ino == os.fstat(cells.descriptor).st_ino:
                    path.unlink()
            cells.close()


def supervise(
    listener: socket.socket,
    host: str,
    settings: Settings,
    beside: Path | None,
    workers: int,
    *,
    when_ready: Callable[[], None],
) -> int:
    """Serve with so many workers until SIGTERM or SIGINT; returns the exit code.

    `beside`: the file of the cells beside an SQLite database.
    """

    async def run() -> int:
        supervisor = Supervisor(listener, host, cells, pipes, settings, nursery, when_ready=when_ready)
        try:
            return await supervisor.run()
        finally:
            supervisor.close_pipes()
            nursery.close()

    with open_cells(beside, workers) as cells:
        pipes = {column: _open_pipe() for column in cells.worker_columns}
        # Before the loop, with everything that workers inherit.
        nursery = Nursery()
        return asyncio.run(run())
