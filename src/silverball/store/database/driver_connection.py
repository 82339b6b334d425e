"""Connections of psycopg whose batches leave PostgreSQL's clock for pauses running.

psycopg ends a batch (its pipeline mode) with a Sync, which tells the server that the batch is complete, and a
Flush behind it. The server takes that Flush for the next thing the client has to say: it stops the clock of
`idle_in_transaction_session_timeout` and starts it again only with the next Sync. A node that is paused
after a batch, in the middle of a transaction, would hold its locks for ever. The Flush is not needed, as a
Sync makes the server send everything, so ours end without it.

Only stores on PostgreSQL load this module, because it loads psycopg.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from typing import Any

import psycopg
from psycopg.abc import PQGen
from psycopg.generators import send


class BatchConnection(psycopg.Connection[Any]):
    """A connection whose pipelines end with a Sync alone, those of `executemany` too."""

    @contextmanager
    def pipeline(self) -> Iterator[psycopg.Pipeline]:
        """Begin a batch; its statements are sent together, and answered at the end of the block."""
        with super().pipeline() as pipeline:
            yield _without_flush(pipeline)

    @contextmanager
    def _pipeline_nolock(self) -> Iterator[psycopg.Pipeline]:
        """Begin the batch of `executemany`, which has the lock."""
        with super()._pipeline_nolock() as pipeline:
            yield _without_flush(pipeline)


def _without_flush(pipeline: psycopg.Pipeline) -> psycopg.Pipeline:
    # Pinned to psycopg's minor; tests/store/test_pauses.py holds what is replaced and that a pause ends.
    pipeline._exit_gen = partial(_end_batch, pipeline)  # type: ignore[method-assign]
    return pipeline


def _end_batch(pipeline: psycopg.Pipeline) -> PQGen[None]:
    """Send what is left and the Sync, and take all answers."""
    try:
        pipeline._enqueue_sync()
        yield from pipeline._communicate_gen()
    finally:
        # A batch larger than the socket's buffer is not on its way yet.
        yield from send(pipeline.pgconn)
        yield from pipeline._fetch_gen(flush=False)
