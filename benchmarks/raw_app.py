"""The upper limit: a uvicorn ASGI app that only sends bytes it already has.

It is given recorded answers (status, headers, body by request path) and sends just those.
"""

import json
import os
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

Send = Callable[[dict[str, Any]], Awaitable[None]]
Receive = Callable[[], Awaitable[dict[str, Any]]]


def _load_answers() -> dict[tuple[str, bool], tuple[dict[str, Any], dict[str, Any]]]:
    recorded = json.loads(Path(os.environ["SILVERBALL_BENCH_ANSWERS"]).read_text(encoding="utf-8"))
    answers = {}
    for answer in recorded:
        headers = [(name.encode(), value.encode()) for name, value in answer["headers"]]
        start = {"type": "http.response.start", "status": answer["status"], "headers": headers}
        body = {"type": "http.response.body", "body": answer["body"].encode()}
        answers[answer["path"], answer["status"] == 304] = (start, body)
    return answers


ANSWERS = _load_answers() if "SILVERBALL_BENCH_ANSWERS" in os.environ else {}


async def app(scope: dict[str, Any], receive: Receive, send: Send) -> None:
    """Find the recorded answer by path and send it, after the body of a PUT."""
    while scope["method"] == "PUT" and (await receive()).get("more_body"):
        pass
    is_conditional = any(name == b"if-none-match" for name, _ in scope["headers"])
    start, body = ANSWERS[scope["path"], is_conditional]
    await send(start)
    await send(body)
