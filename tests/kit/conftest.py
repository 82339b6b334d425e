"""Fixtures of the front door's tests."""

import pytest

from kit.stub_backend import Clock, StubBackend


@pytest.fixture
def backend() -> StubBackend:
    return StubBackend()


@pytest.fixture
def clock() -> Clock:
    return Clock()
