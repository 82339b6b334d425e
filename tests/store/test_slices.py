"""Long jobs in slices: whoever writes meanwhile, in another process too, gets a turn."""

import threading
import time

import pytest
from sqlalchemy import Connection, text

from silverball.store.database import slices
from silverball.store.database.engine import Store

SLICE_SECONDS = 0.1
SLICES = 30


@pytest.mark.parametrize("database_url", ["sqlite"], indirect=True)
def test_a_writer_of_another_process_gets_a_turn_between_two_slices(store: Store) -> None:
    slices_left = [SLICES]

    def run_slice(_db: Connection) -> int:
        time.sleep(SLICE_SECONDS)
        slices_left[0] -= 1
        return max(0, slices_left[0])

    job = threading.Thread(target=slices.run_slices, args=(store, run_slice))
    # A store of its own takes its turn as another process does: by SQLite's lock of the file.
    other = Store(str(store.engine.url))
    job.start()
    try:
        time.sleep(SLICE_SECONDS / 2)
        for _ in range(3):
            with other.write(quiet=True) as transaction:
                transaction.connection.execute(text("SELECT 1"))
            # It did not have to wait for the end of the job.
            assert slices_left[0] > 0
    finally:
        job.join()
        other.close()
    assert slices_left[0] == 0
