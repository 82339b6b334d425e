"""System calls of a running server that fail: strace injects the error, at the call that a trial chooses."""

import os
import shutil
import subprocess
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import pytest

ATTACHED = "attached"
STRACE = shutil.which("strace")


def need_strace() -> str:
    """The path of strace; skips the test where it is not installed, or may not look at other processes."""
    if STRACE is None:
        pytest.skip("strace is not installed here")
    allowed = subprocess.run(
        [STRACE, "-o", os.devnull, "-e", "trace=none", "true"], capture_output=True, check=False
    )
    if allowed.returncode:
        pytest.skip("strace may not look at other processes here")
    return STRACE


@contextmanager
def failing_calls(
    process_ids: int | Sequence[int], calls: str, error: str, when: str, files: Sequence[Path] = ()
) -> Iterator[None]:
    """Let these calls fail, on these files if any are named; `when` is `3` for the third, `3+` from it on.

    Each thread counts its own calls, and so do processes that are started meanwhile.
    """
    with _injected(process_ids, calls, f"error={error}:when={when}", files):
        yield


@contextmanager
def hanging_calls(process_id: int, calls: str, seconds: int, files: Sequence[Path]) -> Iterator[None]:
    """Let these calls of a process hang on these files, for so long or until the block ends."""
    with _injected(process_id, calls, f"delay_enter={seconds * 1_000_000}", files):
        yield


@contextmanager
def _injected(
    process_ids: int | Sequence[int], calls: str, effect: str, files: Sequence[Path]
) -> Iterator[None]:
    names = [word for file in files for word in ("-P", str(file))]
    ids = [process_ids] if isinstance(process_ids, int) else process_ids
    attached = [word for process_id in ids for word in ("-p", str(process_id))]
    faults = ["-e", f"trace={calls}", "-e", f"inject={calls}:{effect}"]
    tracer = subprocess.Popen(
        [need_strace(), "-f", "-o", os.devnull, *names, *faults, *attached],
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        assert tracer.stderr is not None
        # Nothing fails before it is attached.
        assert ATTACHED in tracer.stderr.readline()
        yield
    finally:
        tracer.terminate()
        tracer.communicate()
