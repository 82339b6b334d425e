"""A robot's connection to a server on a socket, as the organizer's own tools have it."""

import json
import urllib.error
import urllib.request
from dataclasses import dataclass
from typing import Any

from silverball.demo.robots import RequestRefused


@dataclass(frozen=True)
class HttpClient:
    """The organizer, who sends their requests to the server."""

    base_url: str
    token: str

    def send(self, method: str, path: str, body: Any = None) -> Any:
        """The decoded answer. Raises RequestRefused."""
        data = None if body is None else json.dumps(body).encode()
        headers = {"Authorization": f"Bearer {self.token}", "Content-Type": "application/json"}
        asked = urllib.request.Request(f"{self.base_url}{path}", data, headers, method=method)
        try:
            with urllib.request.urlopen(asked) as answer:
                return json.loads(answer.read() or b"null")
        except urllib.error.HTTPError as error:
            refusal = json.loads(error.read())
            raise RequestRefused(error.code, refusal["message"], path, refusal.get("code", "")) from error
