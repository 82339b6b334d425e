"""Networks whose requests are refused before anything else is done for them."""

import ipaddress
from collections.abc import Callable, Collection
from functools import lru_cache

from silverball.kit.edge.proxies import Network, TrustedProxies, parse_address, peer_address
from silverball.kit.errors import NotAllowed
from silverball.kit.http.asgi import NO_PAGE, AsgiApp, Receive, Scope, Send, body_message, start_message
from silverball.kit.http.refusals import refusal_response


class NetworkBlocked(NotAllowed):
    sentence = "Requests from your network are refused here. Ask whoever runs this site."


REFUSED = refusal_response(NetworkBlocked())


class BlockedNetworks:
    """The blocked networks as they were loaded last."""

    def __init__(self, load: Callable[[], Collection[str]]) -> None:
        self._load = load
        self._networks: tuple[Network, ...] = ()
        # Asked for each request, nearly always about the same few clients.
        self._is_in_any = lru_cache(maxsize=4_096)(self._search)
        self.reload()

    def reload(self) -> bool:
        """Load the networks now. Returns False: there is nothing more to do at once."""
        networks = tuple(ipaddress.ip_network(text) for text in self._load())
        if networks != self._networks:
            self._networks = networks
            self._is_in_any.cache_clear()
        return False

    def is_any(self) -> bool:
        """Whether any network is blocked."""
        return bool(self._networks)

    def is_blocked(self, address: str) -> bool:
        """Whether a client with this address is refused."""
        return bool(self._networks) and self._is_in_any(address)

    def _search(self, address: str) -> bool:
        parsed = parse_address(address)
        return parsed is not None and any(
            parsed in network for network in self._networks if network.version == parsed.version
        )


class BlockedNetworksDoor:
    """The ASGI application before the program: it refuses clients of blocked networks."""

    def __init__(self, program: AsgiApp, blocked: BlockedNetworks, proxies: TrustedProxies) -> None:
        self._program = program
        self._blocked = blocked
        self._proxies = proxies

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if self._blocked.is_any() and scope["type"] != "lifespan" and await self._refuses(scope, send):
            return
        await self._program(scope, receive, send)

    async def _refuses(self, scope: Scope, send: Send) -> bool:
        address = peer_address(scope)
        if self._proxies.trusts(address):
            address = self._proxies.client_address(scope, dict(scope["headers"]))
        if not self._blocked.is_blocked(address):
            return False
        if scope["type"] == "websocket":
            await send({"type": "websocket.close", "code": 1008})
            return True
        length = b"%d" % len(REFUSED.body)
        headers = [(b"content-type", REFUSED.content_type.encode()), (b"content-length", length), NO_PAGE]
        await send(start_message(REFUSED.status, headers))
        await send(body_message(b"" if scope["method"] == "HEAD" else REFUSED.body))
        return True
