"""The machines of all formats, two thousand nights each."""

import pytest

from rules import test_machines
from rules.night_machine import machine_of

NIGHTS = 2000
pytestmark = pytest.mark.soak

globals().update(
    {
        name: machine_of(case.machine.moves, runs=NIGHTS)
        for name, case in vars(test_machines).items()
        if hasattr(case, "machine")
    }
)
