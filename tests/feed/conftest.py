"""Fixtures of the feed's tests."""

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from feed.redis_server import RedisServer


@pytest.fixture
def redis(tmp_path: Path) -> Iterator[RedisServer]:
    program = shutil.which("redis-server")
    if program is None:
        pytest.skip("Redis is not installed here (no redis-server)")
    own = RedisServer(program, tmp_path)
    own.start()
    yield own
    own.kill()
