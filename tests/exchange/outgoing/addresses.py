"""Policies, and the addresses that none of them allows, in every notation of a URL."""

from exchange.outgoing.hosts import GOOD
from silverball.kit.security.addresses import AddressPolicy

# Without TLS and on any port, so that only the rules about hosts and addresses apply.
OPEN = AddressPolicy(schemes=("http", "https"), ports=frozenset(range(1, 65536)))
GUARDED = AddressPolicy(
    schemes=OPEN.schemes,
    ports=OPEN.ports,
    own_hosts=frozenset({"silverball.example.org"}),
    is_own_address=lambda address: address == "93.184.215.99",
)
SECONDS = 1.0

FORBIDDEN_HOSTS = (
    "127.0.0.1",
    "127.1",
    "0",
    "0.0.0.0",
    "2130706433",
    "0x7f000001",
    "0177.0.0.1",
    "[::1]",
    "[::]",
    "[::ffff:127.0.0.1]",
    "[64:ff9b::7f00:1]",
    "[2002:7f00:1::]",
    "localhost",
    "localhost.",
    "LOCALHOST",
    "①②⑦.0.0.1",
    "127。0。0。1",
    "169.254.169.254",
    "[fd00:ec2::254]",
    "metadata.google.internal",
    "100.100.100.200",
    "10.0.0.1",
    "172.16.0.1",
    "192.168.0.1",
    "100.64.0.1",
    "198.18.0.1",
    "224.0.0.1",
    "240.0.0.1",
    "255.255.255.255",
    "[fe80::1%25eth0]",
    "[fc00::1]",
    "silverball.example.org",
    "scoreboard",
    "scoreboard.lan",
    "good.example.org@127.0.0.1",
    "127.0.0.1#good.example.org",
    "good.example.org\\@127.0.0.1",
    "results.ex\u0430mple.org",
    "results.example.org\r\nHost: 127.0.0.1",
)
FORBIDDEN_URLS = (
    *(f"http://{host}:{{port}}/" for host in FORBIDDEN_HOSTS),
    "file:///etc/passwd",
    "gopher://127.0.0.1:{port}/_",
    "ftp://127.0.0.1:{port}/",
    "dict://127.0.0.1:{port}/d:a",
    "data:application/json,1",
    "http://results.example.org/a\r\nHost: 127.0.0.1",
)
# Address of a name -> a part of its refusal.
FORBIDDEN_MEANINGS: dict[str, list[str]] = {
    "a private address": ["10.0.0.7"],
    "loopback": ["127.0.0.1"],
    "loopback of IPv6": ["::1"],
    "the metadata of a cloud": ["169.254.169.254"],
    "a private address behind a public one": [GOOD, "192.168.0.1"],
    "a public address behind a private one": ["192.168.0.1", GOOD],
    "a public address and a private one of IPv6": [GOOD, "fc00::1"],
    "an address with a zone": ["fe80::1%1"],
    "IPv4 in disguise": ["::ffff:10.0.0.7"],
    "this machine by a public address": ["93.184.215.99"],
}
