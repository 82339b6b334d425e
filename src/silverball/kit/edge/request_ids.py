"""The id of each request: in its answer and in its log line, so that a report can be found in the log."""

import itertools
import re
import secrets

REQUEST_ID = re.compile(rb"[A-Za-z0-9._\-]{1,64}")


class RequestIds:
    """Ids that no other process gives."""

    def __init__(self) -> None:
        self._numbers = itertools.count(1)
        self._process = secrets.token_hex(4).encode()

    def header(self, headers: dict[bytes, bytes]) -> tuple[bytes, bytes]:
        """The header with the client's request id, or with a new one, which `headers` then has too."""
        request_id = headers.get(b"x-request-id")
        if request_id is None or not REQUEST_ID.fullmatch(request_id):
            request_id = b"%b-%x" % (self._process, next(self._numbers))
            headers[b"x-request-id"] = request_id
        return (b"x-request-id", request_id)
