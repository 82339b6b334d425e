"""The garbage collector rests while modules load."""

import gc
from collections.abc import Iterator

import pytest

from silverball.kit import loading


@pytest.fixture(autouse=True)
def _scanned_as_before() -> Iterator[None]:
    yield
    gc.unfreeze()


def test_the_collector_rests_while_modules_load_and_works_afterwards() -> None:
    with loading.collector_paused():
        assert not gc.isenabled()
    assert gc.isenabled()


def test_the_collector_works_again_after_a_module_that_cannot_be_loaded() -> None:
    with pytest.raises(ImportError), loading.collector_paused():
        raise ImportError
    assert gc.isenabled()


def test_objects_made_while_modules_load_are_left_out_of_later_scans() -> None:
    with loading.collector_paused():
        loaded = [{"module": number} for number in range(1_000)]
    assert gc.get_freeze_count() >= len(loaded)
    scanned = {id(found) for found in gc.get_objects()}
    assert not any(id(made) in scanned for made in loaded)
