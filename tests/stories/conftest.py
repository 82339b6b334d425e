"""Every story of a format also shows that no draw holds up a transaction."""

import pytest

import draw_guard


@pytest.fixture(autouse=True)
def _no_draw_in_a_transaction(monkeypatch: pytest.MonkeyPatch) -> None:
    draw_guard.watch_draws(monkeypatch)
