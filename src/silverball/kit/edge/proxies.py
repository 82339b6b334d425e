"""Find the client of a request: the peer of the connection, or whom a trusted proxy names.

Anybody can send X-Forwarded-For, so only the proxies in the setting are believed. Each proxy appends
the address that it saw, so the client is the rightmost address that is no trusted proxy itself.
"""

import ipaddress
import re
from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache

from silverball.kit.http.asgi import Scope

Network = ipaddress.IPv4Network | ipaddress.IPv6Network
Address = ipaddress.IPv4Address | ipaddress.IPv6Address
# The word in the setting for connections over a Unix socket, which have no address.
UNIX = "unix"
SECURE_SCHEMES = frozenset({"https", "wss"})
# A venue, or a home, gets one such network; its devices choose addresses in it as they like.
IPV6_PREFIX = 64


class TrustedProxies:
    """The proxies whose X-Forwarded-For and X-Forwarded-Proto are believed."""

    def __init__(self, networks: Sequence[Network] = (), *, trusts_unix: bool = False) -> None:
        self._networks = tuple(networks)
        self._trusts_unix = trusts_unix
        # Asked for each anonymous request, nearly always about the same few peers.
        self.trusts = lru_cache(maxsize=1_024)(self._trusts)

    @classmethod
    def parse(cls, text: str) -> "TrustedProxies":
        """Parse addresses, networks and the word `unix`, with commas. Raises ValueError for anything else."""
        words = [word for word in (part.strip() for part in text.split(",")) if word]
        networks = [ipaddress.ip_network(word, strict=False) for word in words if word != UNIX]
        return cls(networks, trusts_unix=UNIX in words)

    def client_address(self, scope: Scope, headers: dict[bytes, bytes]) -> str:
        """The client's address: the peer's, unless trusted proxies name another."""
        peer = peer_address(scope)
        forwarded = headers.get(b"x-forwarded-for")
        return self.find_client(peer, forwarded) if forwarded else peer

    def find_client(self, peer: str, forwarded: bytes) -> str:
        """The rightmost address that is no trusted proxy; the peer's when the header is malformed."""
        if not self.trusts(peer):
            return peer
        address = peer
        for part in reversed(forwarded.decode("latin-1").split(",")):
            parsed = parse_address(part.strip())
            if parsed is None:
                return peer
            address = str(parsed)
            if not self.trusts(address):
                break
        return address

    def is_secure(self, peer: str, headers: dict[bytes, bytes], *, is_encrypted: bool) -> bool:
        """Whether the client uses TLS, as a trusted proxy reports it, or else as the connection does."""
        forwarded = headers.get(b"x-forwarded-proto")
        if forwarded is None or not self.trusts(peer):
            return is_encrypted
        return forwarded.decode("latin-1").split(",")[0].strip().lower() in SECURE_SCHEMES

    def _trusts(self, address: str) -> bool:
        if not address:
            return self._trusts_unix
        parsed = parse_address(address)
        return parsed is not None and any(
            parsed in network for network in self._networks if network.version == parsed.version
        )


NO_PROXIES = TrustedProxies()


def peer_address(scope: Scope) -> str:
    """The address of the connection's other end; empty for a Unix socket."""
    client = scope.get("client")
    return str(client[0]) if client else ""


def address_group(address: str) -> str:
    """The address that limits are counted by: an IPv6 address counts as its /64 network."""
    if ":" not in address:
        return address
    parsed = parse_address(address)
    if not isinstance(parsed, ipaddress.IPv6Address):
        return address if parsed is None else str(parsed)
    return str(ipaddress.IPv6Network((parsed, IPV6_PREFIX), strict=False))


def parse_address(text: str) -> Address | None:
    """The address in a text, without its zone; None for anything else."""
    try:
        parsed = ipaddress.ip_address(text.partition("%")[0])
    except ValueError:
        return None
    # A socket that listens for both kinds sees IPv4 clients as ::ffff:192.0.2.1.
    return getattr(parsed, "ipv4_mapped", None) or parsed


# The base URL that a client uses itself, from the Host header of its request.
#
# Anybody can make a Host header up, so links follow it only where the operator gave no base URL and no
# proxies, as on the local network of a venue; and cached answers are kept apart by it.


# A name or an IPv4 address, or an IPv6 address in brackets; then perhaps a port.
HOST = re.compile(rb"(?:[A-Za-z0-9][A-Za-z0-9.-]{0,252}|\[[0-9A-Fa-f:.]{2,45}\])(?::[0-9]{1,5})?")
# Takes the headers of a request, by lower-case name.
FindBaseUrl = Callable[[Mapping[bytes, bytes]], str]


def base_url_of(headers: Mapping[bytes, bytes]) -> str:
    """The URL with this Host; empty when it is missing or malformed."""
    host = headers.get(b"host", b"")
    return f"http://{host.decode('ascii').lower()}" if HOST.fullmatch(host) else ""


def no_base_url(_headers: Mapping[bytes, bytes]) -> str:
    """Nothing, whatever a request says: links begin with the configured URL."""
    return ""


def base_url_finder(*, follows_host: bool) -> FindBaseUrl:
    """The function that a server uses."""
    return base_url_of if follows_host else no_base_url
