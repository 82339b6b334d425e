"""Decides which addresses named by users this program may connect to. Pure: does no lookups.

An address must fit one strict grammar: a lenient parser could disagree with the HTTP client about
the host of `https://good@127.0.0.1`. A host must be a name, never a number in any notation. The IP
address behind the name is checked just before the connection to that very address
(`require_allowed_ip`).
"""

import ipaddress
import re
from collections.abc import Callable, Collection, Iterable

from msgspec import Struct

URL_CHARACTERS_MAX = 500
HOST_CHARACTERS_MAX = 253
HTTPS_PORT = 443
# A range holds two numbers, a set of all ports 4 MB.
EVERY_PORT = range(1, 65536)
DEFAULT_PORTS = {"https": HTTPS_PORT, "http": 80}
EVERY_HOST = "*"
# Visible ASCII, without the characters that some parsers drop or read as a slash.
ALLOWED_CHARACTERS = re.compile(r"[!#$%&'()*+,\-./0-9:;=?@A-Z\[\]_a-z~]+")
URL = re.compile(r"(?P<scheme>[a-z]+)://(?P<authority>[^/?#]+)(?P<path>/[^?#]*)?(?P<query>\?[^#]*)?(?:#.*)?")
HOST_AND_PORT = re.compile(r"(?P<host>\[[0-9A-Fa-f:.]+\]|[^:\[\]]+)(?::(?P<port>[0-9]{1,5}))?")
HOST = re.compile(r"(?!-)[a-z0-9-]{1,63}(?<!-)(?:\.(?!-)[a-z0-9-]{1,63}(?<!-))+")
# A host name without dots, as used in the networks of venues.
SINGLE_LABEL_HOST = re.compile(r"(?!-)[a-z0-9-]{1,63}(?<!-)")
# `127.1`, `0x7f.1`: operating systems read a host with a numeric last label as an IP address.
NUMERIC_LABEL = re.compile(r"[0-9]+|0x[0-9a-f]*")
# Line ends and zero bytes are refused in a path, also percent-encoded.
ENCODED_LINE_BREAK = re.compile(r"%(?:0[ad]|00)", re.IGNORECASE)
# Top-level names without public hosts. Sources: RFC 2606, 6761, 6762, 7686, 8375, 9476; ICANN for `internal`.
LOCAL_ENDINGS = frozenset(
    {"localhost", "localdomain", "local", "internal", "intranet", "lan", "home", "corp", "private"}
    | {"test", "invalid", "example", "onion", "alt", "arpa"}
)
# Source: the registries of special-purpose addresses at IANA (RFC 6890 and its successors).
SPECIAL_IPV4 = tuple(
    ipaddress.IPv4Network(network)
    for network in (
        "0.0.0.0/8",
        "10.0.0.0/8",
        "100.64.0.0/10",
        "127.0.0.0/8",
        "169.254.0.0/16",
        "172.16.0.0/12",
        "192.0.0.0/24",
        "192.0.2.0/24",
        "192.88.99.0/24",
        "192.168.0.0/16",
        "198.18.0.0/15",
        "198.51.100.0/24",
        "203.0.113.0/24",
        "224.0.0.0/4",
        "240.0.0.0/4",
        # The metadata service of a large cloud, at an address that looks public.
        "168.63.129.16/32",
    )
)
# All assigned unicast addresses are in this network; some parts of it embed IPv4 addresses.
PUBLIC_IPV6 = ipaddress.IPv6Network("2000::/3")
SPECIAL_IPV6 = tuple(
    ipaddress.IPv6Network(network)
    for network in ("2001::/23", "2001:db8::/32", "2002::/16", "2620:4f:8000::/48", "3fff::/20")
)
# The networks of venues, where the site can allow connections.
PRIVATE_NETWORKS = tuple(
    ipaddress.ip_network(network) for network in ("10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16", "fc00::/7")
)
LOOPBACK_NETWORKS = tuple(ipaddress.ip_network(network) for network in ("127.0.0.0/8", "::1/128"))
LOOPBACK_NAME = "localhost"
# Metadata services of clouds, inside private networks.
CLOUD_METADATA_ADDRESSES = frozenset(
    ipaddress.ip_address(address) for address in ("fd00:ec2::254", "fd20:ce::254")
)
Address = ipaddress.IPv4Address | ipaddress.IPv6Address


class AddressForbidden(Exception):
    """Connections to this address are refused; `sentence` tells the user why."""

    def __init__(self, sentence: str) -> None:
        super().__init__(sentence)
        self.sentence = sentence


class AddressPolicy(Struct, frozen=True, kw_only=True):
    """The addresses that a site allows."""

    # Allowed host names; None allows every public name.
    hosts: frozenset[str] | None = None
    # The site's own host names.
    own_hosts: frozenset[str] = frozenset()
    schemes: tuple[str, ...] = ("https",)
    ports: Collection[int] = frozenset({HTTPS_PORT})
    # Whether hosts in private networks are allowed, by name or by IP address.
    allows_lan: bool = False
    # Whether this machine's loopback addresses are allowed, as in the demo.
    allows_loopback: bool = False
    # Whether an IP address belongs to this machine.
    is_own_address: Callable[[str], bool] = lambda _address: False


class AllowedAddress(Struct, frozen=True):
    """A parsed address whose host name is allowed; its IP address is not checked yet."""

    scheme: str
    host: str
    port: int
    # Path and query.
    path: str

    @property
    def host_and_port(self) -> str:
        """Host and port as in a Host header."""
        return self.host if self.port == DEFAULT_PORTS.get(self.scheme) else f"{self.host}:{self.port}"

    @property
    def url(self) -> str:
        """The address in canonical form, without the fragment."""
        return f"{self.scheme}://{self.host_and_port}{self.path}"


def parse_address(url: str, policy: AddressPolicy) -> AllowedAddress:
    """The parsed address. Raises AddressForbidden."""
    if len(url) > URL_CHARACTERS_MAX:
        raise AddressForbidden(f"The address must not be longer than {URL_CHARACTERS_MAX} characters.")
    if not ALLOWED_CHARACTERS.fullmatch(url):
        raise AddressForbidden(
            "The address has a character that is not allowed. Write international names in the form xn--..."
        )
    match = URL.fullmatch(url)
    if match is None or match["scheme"] not in policy.schemes:
        raise AddressForbidden(
            f"The address must begin with {_join_with_or(f'{scheme}://' for scheme in policy.schemes)}."
        )
    if "@" in match["authority"]:
        raise AddressForbidden("The address must not have a user name or password in it.")
    place = HOST_AND_PORT.fullmatch(match["authority"])
    if place is None:
        raise AddressForbidden("The address has no valid host name.")
    path = f"{match['path'] or '/'}{match['query'] or ''}"
    if ENCODED_LINE_BREAK.search(path):
        raise AddressForbidden("The address must not have line ends or zero bytes in it.")
    port = int(place["port"] or DEFAULT_PORTS[match["scheme"]])
    if port not in policy.ports:
        raise AddressForbidden(
            f"The port must be {_join_with_or(str(allowed) for allowed in sorted(policy.ports))}."
        )
    return AllowedAddress(match["scheme"], _checked_host(place["host"].lower(), policy), port, path)


def require_allowed_ip(address: str, policy: AddressPolicy, port: int = HTTPS_PORT) -> None:
    """Raise AddressForbidden unless connections to this IP address and port are allowed."""
    try:
        ip_address = ipaddress.ip_address(address)
    except ValueError as error:
        raise AddressForbidden("The host has an invalid IP address.") from error
    if policy.allows_loopback and _is_within(ip_address, LOOPBACK_NETWORKS):
        return
    if not (_is_public(ip_address) or (policy.allows_lan and _is_private(ip_address))):
        raise AddressForbidden("The host is not at a public address.")
    if policy.allows_loopback and not policy.allows_lan and port != HTTPS_PORT:
        raise AddressForbidden(f"Outside of this machine the port must be {HTTPS_PORT}.")
    # Other ports are meant for private networks only; elsewhere the HTTPS port is required.
    if policy.allows_lan and port != HTTPS_PORT and not _is_private(ip_address):
        raise AddressForbidden(f"Outside the private network the port must be {HTTPS_PORT}.")
    if policy.is_own_address(str(ip_address)):
        raise AddressForbidden("The host is this site itself.")


def parse_hosts(text: str) -> frozenset[str]:
    """The host names in a comma-separated setting; `*` stands for every public name."""
    return frozenset(word.strip().lower() for word in text.split(",") if word.strip())


def url_host(url: str) -> str:
    """The host in one of the site's own addresses, which may be private; empty when there is none."""
    match = URL.fullmatch(url)
    place = None if match is None else HOST_AND_PORT.fullmatch(match["authority"])
    return "" if place is None else place["host"].lower()


def _checked_host(host: str, policy: AddressPolicy) -> str:
    if len(host) > HOST_CHARACTERS_MAX:
        raise AddressForbidden(f"The host must not be longer than {HOST_CHARACTERS_MAX} characters.")
    if policy.allows_lan and _is_private_ip(host):
        return host
    if policy.allows_loopback and (host == LOOPBACK_NAME or _is_loopback_ip(host)):
        return host
    if host.startswith("[") or NUMERIC_LABEL.fullmatch(host.rpartition(".")[2]):
        raise AddressForbidden("The host must be a name, not a number.")
    if not HOST.fullmatch(host) and not (policy.allows_lan and SINGLE_LABEL_HOST.fullmatch(host)):
        raise AddressForbidden("The host must be a public name, like results.example.org.")
    if host.rpartition(".")[2] in LOCAL_ENDINGS and not policy.allows_lan:
        raise AddressForbidden("The host must be a public name, like results.example.org.")
    if host in policy.own_hosts:
        raise AddressForbidden("The host is this site itself.")
    if policy.hosts is not None and host not in policy.hosts:
        raise AddressForbidden(
            f"This site does not fetch from {host}. Ask its administrator to allow this host."
        )
    return host


def _is_private_ip(host: str) -> bool:
    address = _ip_in_host(host)
    return address is not None and _is_private(address)


def _is_loopback_ip(host: str) -> bool:
    address = _ip_in_host(host)
    return address is not None and _is_within(address, LOOPBACK_NETWORKS)


def _ip_in_host(host: str) -> Address | None:
    try:
        return ipaddress.ip_address(host.removeprefix("[").removesuffix("]"))
    except ValueError:
        return None


def _is_public(address: Address) -> bool:
    if isinstance(address, ipaddress.IPv4Address):
        return not any(address in network for network in SPECIAL_IPV4)
    # A zone id refers to an interface of this machine.
    is_unicast = address in PUBLIC_IPV6 and address.scope_id is None
    return is_unicast and not any(address in network for network in SPECIAL_IPV6)


def _is_private(address: Address) -> bool:
    return address not in CLOUD_METADATA_ADDRESSES and _is_within(address, PRIVATE_NETWORKS)


def _is_within(address: Address, networks: Iterable[ipaddress.IPv4Network | ipaddress.IPv6Network]) -> bool:
    if isinstance(address, ipaddress.IPv6Address) and address.scope_id is not None:
        return False
    return any(address.version == network.version and address in network for network in networks)


def _join_with_or(words: Iterable[str]) -> str:
    return " or ".join(words)
