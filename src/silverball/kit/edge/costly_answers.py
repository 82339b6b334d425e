"""Costly answers for the front door: computed in the line of the computing process, and kept like others."""

from silverball.kit.edge.backend import Backend
from silverball.kit.edge.computing_line import ComputingLine, Cost, Question
from silverball.kit.edge.response_cache import (
    CachedResponse,
    CacheKey,
    CommonHeaders,
    ResponseCache,
    interface_headers,
)
from silverball.kit.edge.work_queue import Importance, WorkQueue
from silverball.kit.http.asgi import Receive, Scope
from silverball.kit.http.endpoints import HttpResponse, run_while_connected


class CostlyAnswers:
    """The costly answers of one server. Used by the event loop only."""

    def __init__(self, program: Backend, cache: ResponseCache, writers: WorkQueue) -> None:
        self._writers = writers
        self._computing = program.computing
        self._cache = cache
        self._version_of = program.version_of
        self.line = None if program.computing is None else ComputingLine(program.computing)

    @property
    def waiting(self) -> int:
        """The answers that wait for a place."""
        return 0 if self.line is None else self.line.waiting

    def cost_of(self, scope: Scope, body: bytes = b"") -> Cost | None:
        """The cost of answering this request; None unless it is computed in the line.

        That of a dry run is told by its body.
        """
        if self._computing is None:
            return None
        method = "GET" if scope["method"] == "HEAD" else scope["method"]
        return self._computing.cost_of(method, scope["path"], scope["query_string"], body)

    async def load(
        self,
        key: CacheKey,
        question: Question,
        receive: Receive,
        *,
        payer: int | str,
        is_kept: bool,
        common_headers: CommonHeaders = interface_headers,
    ) -> tuple[CachedResponse | HttpResponse, int]:
        """The answer, kept under the version that was read, and the requests that it costs beside its own.

        Raises ClientDisconnected when the client leaves, whereupon the task ends unless others wait for it,
        and what `ComputingLine.compute` raises.
        """
        assert self.line is not None
        assert self._computing is not None
        at_version = self._version_of(question.scope_id)
        answer = await run_while_connected(self.line.compute((key, at_version), payer, question), receive)
        if answer.notes:
            # Some are stored.
            await self._writers.submit(Importance.WRITER, self._computing.take_notes, answer.notes)
        response = answer.response
        is_kept = is_kept and all(name != b"set-cookie" for name, _ in response.headers)
        if response.status != 200 or not is_kept:
            return response, answer.requests_more
        version = int(answer.version) if response.is_cacheable else 0
        cached = CachedResponse(
            response, scope_id=question.scope_id, version=version, common_headers=common_headers
        )
        if version:
            self._cache.store(key, cached)
        return cached, answer.requests_more
