"""Processes of ours beside this one: spawned, not forked, and asked one question after the other.

    process = SpawnedProcess("silverball.cli.computing", setup)
    answer = process.ask(question)

Its program calls `serve`. Questions and answers are bytes, each after its length, on the standard input and
output of the process; it ends when its input does, so none outlives the program that spawned it.
"""

import contextlib
import os
import subprocess
import sys
import threading
import weakref
from collections.abc import Callable
from queue import SimpleQueue
from typing import IO

from silverball.kit.errors import ServiceUnavailable

LENGTH_BYTES = 8
# What a killed process is waited for, so that it does not stay in the table of processes.
REAP_SECONDS = 5.0


class ProcessEnded(ServiceUnavailable):
    """The process could not be started, or ended before it had answered."""

    sentence = "This could not be computed just now. Try again in a moment."


class SpawnedProcess:
    """One process at a time: spawned by the first question, and by the first after it ended."""

    def __init__(self, module: str, setup: Callable[[], bytes]) -> None:
        """`module` is run as a program; `setup` returns the first message that it gets."""
        self._command = [sys.executable, "-P", "-m", module]
        self._setup = setup
        self._lock = threading.Lock()
        self._process: subprocess.Popen[bytes] | None = None

    @property
    def pid(self) -> int | None:
        """The id of the process; None while there is none."""
        process = self._process
        return None if process is None else process.pid

    def ask(self, question: bytes, is_wanted: Callable[[], bool] = lambda: True) -> bytes:
        """The answer of the process. Raises ProcessEnded, also when nobody wants the answer any more."""
        with self._lock:
            # Asked under the lock: whoever wants nothing any more kills what is running by then.
            if not is_wanted():
                raise ProcessEnded
            if self._process is not None and self._process.poll() is not None:
                # It ended while nobody asked; the system may have needed its memory.
                self._let_go(self._process)
            process = self._process = self._process or self._spawn()
        assert process.stdin is not None
        assert process.stdout is not None
        try:
            write_message(process.stdin, question)
            answer = read_message(process.stdout)
        except (OSError, ValueError):
            answer = None
        if answer is None:
            self._let_go(process)
            raise ProcessEnded
        return answer

    def kill(self) -> None:
        """End the process at once, whatever it is doing."""
        with self._lock:
            if self._process is not None:
                self._process.kill()

    def end_input(self) -> None:
        """Let the process end when it has finished what it does."""
        with self._lock:
            if self._process is not None and self._process.stdin is not None:
                # What was not written yet is lost with its reader.
                with contextlib.suppress(OSError):
                    self._process.stdin.close()

    def close(self) -> None:
        """Kill the process, and wait until it is gone."""
        self.kill()
        process = self._process
        if process is not None:
            self._let_go(process)

    def _spawn(self) -> "subprocess.Popen[bytes]":
        try:
            # In a session of its own: an interrupt from the terminal is for the program that serves.
            process = subprocess.Popen(  # noqa: S603  # our own program
                self._command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, start_new_session=True
            )
        except OSError as error:
            raise ProcessEnded from error
        assert process.stdin is not None
        try:
            write_message(process.stdin, self._setup())
        except OSError as error:
            self._let_go(process)
            raise ProcessEnded from error
        # Whoever forgets to close this leaves no process behind.
        weakref.finalize(self, _end, process).atexit = False
        return process

    def _let_go(self, process: "subprocess.Popen[bytes]") -> None:
        """Forget a process that has ended, or does so now."""
        if self._process is process:
            self._process = None
        _end(process)


def _end(process: "subprocess.Popen[bytes]") -> None:
    process.kill()
    for pipe in (process.stdin, process.stdout):
        assert pipe is not None
        # What was not written yet is lost with its reader.
        with contextlib.suppress(OSError):
            pipe.close()
    process.wait(REAP_SECONDS)


def serve(
    build: Callable[[bytes], Callable[[bytes], bytes]], *, at_end: Callable[[], None] = lambda: os._exit(0)
) -> None:
    """Answer questions on the standard input, as the program of a spawned process.

    `build` makes the function that answers of the first message. `at_end` is called in another thread
    when the input ends, whatever is being answered.
    """
    answers = os.fdopen(os.dup(1), "wb")
    # What anything prints would be taken for an answer.
    os.dup2(2, 1)
    questions: SimpleQueue[bytes | None] = SimpleQueue()

    def listen() -> None:
        while (question := read_message(sys.stdin.buffer)) is not None:
            questions.put(question)
        at_end()
        questions.put(None)

    setup = read_message(sys.stdin.buffer)
    if setup is None:
        return
    threading.Thread(target=listen, name="silverball-questions", daemon=True).start()
    answer = build(setup)
    while (question := questions.get()) is not None:
        write_message(answers, answer(question))


def write_message(pipe: IO[bytes], message: bytes) -> None:
    """Write a message with its length."""
    pipe.write(len(message).to_bytes(LENGTH_BYTES) + message)
    pipe.flush()


def read_message(pipe: IO[bytes]) -> bytes | None:
    """The next message; None at the end of the input, or in the middle of a message."""
    length = pipe.read(LENGTH_BYTES)
    if len(length) < LENGTH_BYTES:
        return None
    size = int.from_bytes(length)
    message = pipe.read(size)
    return message if len(message) == size else None
