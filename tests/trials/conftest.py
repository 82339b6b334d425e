"""Trials that this machine cannot run are listed beside the figures of the others, each with its reason."""

from typing import Any

import pytest

from feed.conftest import redis
from trials import figures

__all__ = ["redis"]


def pytest_runtest_makereport(item: pytest.Item, call: pytest.CallInfo[Any]) -> None:
    """Note a skipped trial in the file of this run."""
    if call.excinfo is not None and call.excinfo.errisinstance(pytest.skip.Exception):
        name = item.name.removeprefix("test_").replace("_", " ")
        figures.add_line({"skipped": name, "reason": str(call.excinfo.value)})
