"""Published clients as programs of their own: tests read what they heard, and tell them what to do."""

import asyncio
import json
import os
import shutil
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from feed.feed_server import FeedServer
from patience import PATIENCE_SECONDS

CLIENTS = Path(__file__).parents[1] / "clients"
NODE = shutil.which("node")
needs_node = pytest.mark.skipif(
    NODE is None or not (CLIENTS / "node_modules").is_dir(),
    reason="node or tests/clients/node_modules is missing (npm ci --prefix tests/clients)",
)
PLAIN, LARAVEL = "silverball", "silverball-laravel"


class Program:
    """A client program that prints the messages it receives as lines of JSON."""

    def __init__(self, process: asyncio.subprocess.Process) -> None:
        self._process = process

    async def read_words(self, *first: object) -> list[Any]:
        """The next line that begins with these words."""
        assert self._process.stdout is not None
        heard: list[Any] = []
        try:
            async with asyncio.timeout(PATIENCE_SECONDS):
                while line := await self._process.stdout.readline():
                    heard.append(json.loads(line))
                    if heard[-1][: len(first)] == list(first):
                        words: list[Any] = heard[-1]
                        return words
        except TimeoutError:
            pass
        assert self._process.stderr is not None
        raise AssertionError(f"heard {heard} instead of {first}")

    def send_word(self, word: str) -> None:
        assert self._process.stdin is not None
        self._process.stdin.write(f"{word}\n".encode())


@asynccontextmanager
async def run_program(server: FeedServer, name: str, key: str, channel: str) -> AsyncIterator[Program]:
    """Run a client of `tests/clients` until the block ends."""
    runner = sys.executable if name.endswith(".py") else str(NODE)
    process = await asyncio.create_subprocess_exec(
        runner,
        *(["-W", "ignore"] if name.endswith(".py") else []),
        str(CLIENTS / name),
        str(server.port),
        key,
        channel,
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
        env={**os.environ, "NO_PROXY": "127.0.0.1"},
    )
    try:
        yield Program(process)
    finally:
        assert process.stdin is not None
        process.stdin.close()
        async with asyncio.timeout(PATIENCE_SECONDS):
            await process.communicate()
