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
    process_id: int, calls: str, error: str, when: str, files: Sequence[Path]
) -> Iterator[None]:
    """Let these calls of a process fail on these files; `when` is `3` for the third call, `3+` from it on."""
    names = [word for file in files for word in ("-P", str(file))]
    faults = ["-e", f"trace={calls}", "-e", f"inject={calls}:error={error}:when={when}"]
    tracer = subprocess.Popen(
        [need_strace(), "-f", "-o", os.devnull, *names, *faults, "-p", str(process_id)],
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
