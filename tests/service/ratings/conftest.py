"""Fixtures of the ratings."""

import pytest

from service.ratings.circuit import Circuit
from silverball.store.database.engine import Store


@pytest.fixture
def circuit(store: Store) -> Circuit:
    """Ada beats Bo and Cy on the first, Cy beats Bo on the fourth; rated up to the sixth."""
    made = Circuit(store)
    made.player("Ada", ifpa_id=11)
    made.player("Bo", ifpa_id=22)
    made.night(1, ["Ada", "Bo", "Cy"], ["Ada", "Bo"])
    made.night(4, ["Cy", "Bo"])
    made.confirm(made.claim("Bo"), 22)
    made.rate(6)
    return made
