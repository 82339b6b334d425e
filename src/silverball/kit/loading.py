"""The garbage collector while modules load."""

import gc
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def collector_paused() -> Iterator[None]:
    """Load modules without a scan for garbage, and exempt what they made from every later scan.

    Objects made while a module loads live as long as the process, so a scan of them finds next to nothing.
    """
    gc.disable()
    try:
        yield
    finally:
        gc.freeze()
        gc.enable()
