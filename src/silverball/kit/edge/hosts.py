"""The base URL that a client uses itself, from the Host header of its request.

Anybody can make a Host header up, so links follow it only where the operator gave no base URL and no
proxies, as on the local network of a venue; and cached answers are kept apart by it.
"""

import re
from collections.abc import Callable, Mapping

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
