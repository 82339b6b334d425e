"""Where this program may connect to when somebody else names the address. Pure: nothing is asked here.

An address is read by one strict grammar, and what does not fit is refused: a lenient reader here and
another one further down would disagree about whose host `https://good@127.0.0.1` names. A host is a
name and never a number, however the number is written; what the name stands for is judged again when
it is known (`require_address`), just before the connection and for the very address it goes to.
"""

import ipaddress
import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass

URL_CHARACTERS_MAX = 500
HOST_CHARACTERS_MAX = 253
HTTPS_PORT = 443
DEFAULT_PORTS = {"https": HTTPS_PORT, "http": 80}
EVERY_HOST = "*"
# Visible ASCII without what some readers of addresses take for a slash or drop.
ALLOWED_CHARACTERS = re.compile(r"[!#$%&'()*+,\-./0-9:;=?@A-Z\[\]_a-z~]+")
URL = re.compile(r"(?P<scheme>[a-z]+)://(?P<place>[^/?#]+)(?P<path>/[^?#]*)?(?P<query>\?[^#]*)?(?:#.*)?")
HOST_AND_PORT = re.compile(r"(?P<host>\[[0-9A-Fa-f:.]+\]|[^:\[\]]+)(?::(?P<port>[0-9]{1,5}))?")
HOST = re.compile(r"(?!-)[a-z0-9-]{1,63}(?<!-)(?:\.(?!-)[a-z0-9-]{1,63}(?<!-))+")
# One word for a machine of the own network, as venues have it.
SINGLE_LABEL_HOST = re.compile(r"(?!-)[a-z0-9-]{1,63}(?<!-)")
# `127.1`, `0x7f.1`: systems take a host whose last part is a number for an address.
NUMERIC_LABEL = re.compile(r"[0-9]+|0x[0-9a-f]*")
# Line ends and the zero byte have no business in a path, not even written in hexadecimals.
ENCODED_LINE_BREAK = re.compile(r"%(?:0[ad]|00)", re.IGNORECASE)
# Endings that no public name has. Sources: RFC 2606, 6761, 6762, 7686, 8375, 9476; ICANN for `internal`.
LOCAL_ENDINGS = frozenset(
    {"localhost", "localdomain", "local", "internal", "intranet", "lan", "home", "corp", "private"}
    | {"test", "invalid", "example", "onion", "alt", "arpa"}
)
# Source: the registries of special-purpose addresses at IANA (RFC 6890 and its successors).
SPECIAL_IPV4 = tuple(
    ipaddress.IPv4Network(one)
    for one in (
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
        # Answers about the machine itself in a large cloud, at an address that looks public.
        "168.63.129.16/32",
    )
)
# All unicast addresses that are given out begin so; within, some carry an IPv4 address in disguise.
PUBLIC_IPV6 = ipaddress.IPv6Network("2000::/3")
SPECIAL_IPV6 = tuple(
    ipaddress.IPv6Network(one)
    for one in ("2001::/23", "2001:db8::/32", "2002::/16", "2620:4f:8000::/48", "3fff::/20")
)
# What a venue's own network has, when the site allows to connect there.
PRIVATE_NETWORKS = tuple(
    ipaddress.ip_network(one) for one in ("10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16", "fc00::/7")
)
# Clouds answer questions about the machine itself here, within what is otherwise a private network.
CLOUD_METADATA_ADDRESSES = frozenset(ipaddress.ip_address(one) for one in ("fd00:ec2::254", "fd20:ce::254"))
Address = ipaddress.IPv4Address | ipaddress.IPv6Address


class AddressForbidden(Exception):
    """This program does not connect there; the message is a sentence for who named the address."""

    def __init__(self, sentence: str) -> None:
        super().__init__(sentence)
        self.sentence = sentence


@dataclass(frozen=True, kw_only=True)
class AddressPolicy:
    """What a site allows."""

    # Names that may be connected to; None when every public one may.
    hosts: frozenset[str] | None = None
    # Names of this site itself.
    own_hosts: frozenset[str] = frozenset()
    schemes: tuple[str, ...] = ("https",)
    ports: frozenset[int] = frozenset({HTTPS_PORT})
    # Whether machines of a private network may be connected to, by name or by number.
    allows_lan: bool = False
    # Whether an address is one of this machine's own.
    is_own_address: Callable[[str], bool] = lambda _address: False


@dataclass(frozen=True)
class AllowedAddress:
    """An address that was read and found allowed, as far as its words go."""

    scheme: str
    host: str
    port: int
    # Path and query.
    path: str

    @property
    def host_and_port(self) -> str:
        """Host and port, as a Host header names them."""
        return self.host if self.port == DEFAULT_PORTS.get(self.scheme) else f"{self.host}:{self.port}"

    @property
    def url(self) -> str:
        """The address again, in one form only, without what stood behind a `#`."""
        return f"{self.scheme}://{self.host_and_port}{self.path}"


def parse_address(url: str, policy: AddressPolicy) -> AllowedAddress:
    """The address, read. Raises Forbidden."""
    if len(url) > URL_CHARACTERS_MAX:
        raise AddressForbidden(f"The address must not be longer than {URL_CHARACTERS_MAX} characters.")
    if not ALLOWED_CHARACTERS.fullmatch(url):
        raise AddressForbidden(
            "The address has a character that none may have. A name with other letters is written as xn--..."
        )
    read = URL.fullmatch(url)
    if read is None or read["scheme"] not in policy.schemes:
        raise AddressForbidden(
            f"The address must begin with {_join_with_or(f'{one}://' for one in policy.schemes)}."
        )
    if "@" in read["place"]:
        raise AddressForbidden("The address must not have a user name or password in it.")
    place = HOST_AND_PORT.fullmatch(read["place"])
    if place is None:
        raise AddressForbidden("The address has no host name that can be read.")
    path = f"{read['path'] or '/'}{read['query'] or ''}"
    if ENCODED_LINE_BREAK.search(path):
        raise AddressForbidden("The address must not have line ends or zero bytes in it.")
    port = int(place["port"] or DEFAULT_PORTS[read["scheme"]])
    if port not in policy.ports:
        raise AddressForbidden(f"The port must be {_join_with_or(str(one) for one in sorted(policy.ports))}.")
    return AllowedAddress(read["scheme"], _checked_host(place["host"].lower(), policy), port, path)


def require_allowed_ip(address: str, policy: AddressPolicy, port: int = HTTPS_PORT) -> None:
    """Raises Forbidden unless this numeric address may be connected to, at this port."""
    try:
        read = ipaddress.ip_address(address)
    except ValueError as error:
        raise AddressForbidden("The host has an address that cannot be read.") from error
    if not (_is_public(read) or (policy.allows_lan and _is_private(read))):
        raise AddressForbidden("The host is not at a public address.")
    # Other ports are allowed for the sake of the own network; the world is still knocked at one door only.
    if policy.allows_lan and port != HTTPS_PORT and not _is_private(read):
        raise AddressForbidden(f"Outside of the own network the port must be {HTTPS_PORT}.")
    if policy.is_own_address(str(read)):
        raise AddressForbidden("The host is this site itself.")


def parse_hosts(text: str) -> frozenset[str]:
    """The names in a setting, separated by commas; `*` among them stands for every public one."""
    return frozenset(word.strip().lower() for word in text.split(",") if word.strip())


def url_host(url: str) -> str:
    """The host in an address of this site's own, however it is written; nothing when there is none."""
    read = URL.fullmatch(url)
    place = None if read is None else HOST_AND_PORT.fullmatch(read["place"])
    return "" if place is None else place["host"].lower()


def _checked_host(host: str, policy: AddressPolicy) -> str:
    if len(host) > HOST_CHARACTERS_MAX:
        raise AddressForbidden(f"The host must not be longer than {HOST_CHARACTERS_MAX} characters.")
    if policy.allows_lan and _is_private_ip(host):
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
            f"This site does not fetch from {host}. Whoever runs it decides from where it does."
        )
    return host


def _is_private_ip(host: str) -> bool:
    try:
        return _is_private(ipaddress.ip_address(host.removeprefix("[").removesuffix("]")))
    except ValueError:
        return False


def _is_public(address: Address) -> bool:
    if isinstance(address, ipaddress.IPv4Address):
        return not any(address in one for one in SPECIAL_IPV4)
    # A zone names an interface of this machine.
    is_unicast = address in PUBLIC_IPV6 and address.scope_id is None
    return is_unicast and not any(address in one for one in SPECIAL_IPV6)


def _is_private(address: Address) -> bool:
    if isinstance(address, ipaddress.IPv6Address) and address.scope_id is not None:
        return False
    return address not in CLOUD_METADATA_ADDRESSES and any(
        address.version == one.version and address in one for one in PRIVATE_NETWORKS
    )


def _join_with_or(words: Iterable[str]) -> str:
    return " or ".join(words)
