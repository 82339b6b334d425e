"""Standings that callers were given lately, which they are given again instead of being refused.

Many scoreboards ask every ten seconds and stop at the first refusal. Only references to finished answers
are held, within bounds of callers and bytes; who is forgotten gets a fresh answer.
"""

import hashlib
from collections import OrderedDict
from collections.abc import Callable, Hashable

from msgspec import Struct

from silverball.kit.edge.backend import Backend
from silverball.kit.edge.caller_cache import CachedCaller
from silverball.kit.edge.proxies import TrustedProxies
from silverball.kit.edge.response_cache import CachedResponse
from silverball.kit.http.asgi import Headers, Scope

CALLERS_MAX = 10_000
BYTES_MAX = 8_000_000
# The ending of the paths whose answers are given again.
ENDING = "/standings"
# Whoever sends one of these wants to know what is true now.
FRESH_HEADERS = (b"if-none-match", b"x-tournament-revision")


class GivenAnswer(Struct, frozen=True, eq=False):
    """An answer, to whom and when it was given, and what was hidden by then."""

    response: CachedResponse
    owner: Hashable
    given_at: float
    hidden_at: int


class GivenAnswers:
    """The answers that were given within an interval; 0 seconds: none. Used by the event loop only."""

    def __init__(
        self,
        program: Backend,
        proxies: TrustedProxies,
        seconds: float,
        *,
        callers_max: int = CALLERS_MAX,
        bytes_max: int = BYTES_MAX,
    ) -> None:
        self.bytes_used = 0
        self._seconds = seconds
        self._version_of: Callable[[int], int] = program.version_of
        self._revision_in = program.revision_in
        self._hidden_at = program.hidden_at
        self._scope_for = program.scope_for
        self._proxies = proxies
        self._callers_max, self._bytes_max = callers_max, bytes_max
        # The oldest first.
        self._answers: OrderedDict[bytes, GivenAnswer] = OrderedDict()
        # Account or address -> the keys of what it was given.
        self._keys_of: dict[Hashable, set[bytes]] = {}
        # Of each answer, its bytes and how many callers were given it.
        self._holders: dict[CachedResponse, tuple[int, int]] = {}

    def __len__(self) -> int:
        return len(self._answers)

    def find(
        self, caller: CachedCaller, scope: Scope, headers: dict[bytes, bytes], now: float
    ) -> GivenAnswer | None:
        """The answer that this caller was given lately; None when they get a fresh one."""
        if not self._answers or not self._is_given_again(scope, headers):
            return None
        scope_id = self._scope_for(scope["path"])
        key = self._key(caller, scope, headers, scope_id)
        given = self._answers.get(key)
        if given is None:
            return None
        if now - given.given_at >= self._seconds or given.hidden_at != self._hidden_at():
            self._drop(key)
            return None
        # While nothing is known of the tournament, nobody knows either whether something was hidden.
        return given if self._version_of(scope_id) else None

    def note(
        self,
        caller: CachedCaller,
        scope: Scope,
        headers: dict[bytes, bytes],
        response: CachedResponse,
        now: float,
    ) -> None:
        """Remember that this caller is given this answer, or has it already, if it is current."""
        is_current = response.version and response.version == self._version_of(response.scope_id)
        if not self._seconds or not is_current:
            return
        key = self._key(caller, scope, headers, response.scope_id)
        self._drop(key)
        owner = self._owner(caller, scope, headers)
        self._answers[key] = GivenAnswer(response, owner, now, self._hidden_at())
        self._keys_of.setdefault(owner, set()).add(key)
        held_bytes, holders = self._holders.get(response, (0, 0))
        # Compressed bytes are added to an answer later.
        self._holders[response] = (response.cost_bytes, holders + 1)
        self.bytes_used += response.cost_bytes - held_bytes
        while len(self._answers) > self._callers_max or self.bytes_used > self._bytes_max:
            self._drop(next(iter(self._answers)))

    def forget(self, caller: CachedCaller, scope: Scope, headers: dict[bytes, bytes]) -> None:
        """Forget what this caller was given: they have written, and see it at once."""
        self.forget_owner(self._owner(caller, scope, headers))

    def forget_owner(self, owner: Hashable) -> None:
        """Forget what this account or address was given."""
        for key in tuple(self._keys_of.get(owner, ())):
            self._drop(key)

    def headers(self, given: GivenAnswer, now: float) -> Headers:
        """The headers that say how old such an answer is, and what it shows."""
        revision = self._revision_in(given.response.version)
        return [(b"age", b"%d" % (now - given.given_at)), (b"x-tournament-revision", b"%d" % revision)]

    @staticmethod
    def _is_given_again(scope: Scope, headers: dict[bytes, bytes]) -> bool:
        path: str = scope["path"]
        return path.endswith(ENDING) and not any(name in headers for name in FRESH_HEADERS)

    def _owner(self, caller: CachedCaller, scope: Scope, headers: dict[bytes, bytes]) -> Hashable:
        return caller.user_id or self._proxies.client_address(scope, headers)

    def _key(self, caller: CachedCaller, scope: Scope, headers: dict[bytes, bytes], scope_id: int) -> bytes:
        """The digest of who asks with what for which tournament: two tools may share a token."""
        # Another role has another viewer, so it is given nothing from before.
        asker = headers.get(b"authorization") or self._proxies.client_address(scope, headers).encode()
        parts = (asker, headers.get(b"user-agent", b""), scope["query_string"], caller.viewer.encode())
        text = b"%d\n%b" % (scope_id, b"\n".join(parts))
        return hashlib.blake2b(text, digest_size=16).digest()

    def _drop(self, key: bytes) -> None:
        given = self._answers.pop(key, None)
        if given is None:
            return
        keys = self._keys_of[given.owner]
        keys.discard(key)
        if not keys:
            del self._keys_of[given.owner]
        held_bytes, holders = self._holders[given.response]
        if holders > 1:
            self._holders[given.response] = (held_bytes, holders - 1)
        else:
            del self._holders[given.response]
            self.bytes_used -= held_bytes
