"""Addresses that this program may connect to: URLs and IP addresses. Source: reliability, section 5.1."""

import ipaddress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from silverball.kit.security import addresses
from silverball.kit.security.addresses import AddressForbidden, AddressPolicy

PUBLIC = ("93.184.215.14", "8.8.8.8", "1.1.1.1", "192.0.78.9", "2606:2800:21f:cb07:6820:80da:af6b:8b2c")
SPECIAL = {
    "0.0.0.0": "this network",
    "0.1.2.3": "this network",
    "10.0.0.1": "private",
    "10.255.255.255": "private",
    "100.64.0.1": "carrier",
    "100.100.100.200": "metadata of a cloud",
    "100.127.255.255": "carrier",
    "127.0.0.1": "loopback",
    "127.255.255.254": "loopback",
    "168.63.129.16": "metadata of a cloud",
    "169.254.0.1": "link",
    "169.254.169.254": "metadata of clouds",
    "172.16.0.1": "private",
    "172.31.255.255": "private",
    "192.0.0.1": "protocols",
    "192.0.2.7": "documents",
    "192.88.99.1": "relays",
    "192.168.0.1": "private",
    "192.168.255.255": "private",
    "198.18.0.1": "measuring",
    "198.19.255.255": "measuring",
    "198.51.100.7": "documents",
    "203.0.113.7": "documents",
    "224.0.0.1": "many",
    "239.255.255.250": "many",
    "240.0.0.1": "reserved",
    "255.255.255.255": "everybody",
    "::": "nobody",
    "::1": "loopback",
    "::7f00:1": "IPv4 in disguise",
    "::ffff:127.0.0.1": "IPv4 in disguise",
    "::ffff:93.184.215.14": "IPv4 in disguise",
    "64:ff9b::7f00:1": "IPv4 in disguise",
    "64:ff9b:1::a00:1": "IPv4 in disguise",
    "100::1": "nothing",
    "2001::1": "Teredo",
    "2001:db8::1": "documents",
    "2002:7f00:1::": "IPv4 in disguise",
    "2002:5db8:d70e::1": "IPv4 in disguise",
    "3fff::1": "documents",
    "5f00::1": "segments",
    "fc00::1": "private",
    "fd00:ec2::254": "metadata of a cloud",
    "fd20:ce::254": "metadata of a cloud",
    "fe80::1": "link",
    "fe80::1%eth0": "link",
    "2606:4700:4700::1111%eth0": "an interface of this machine",
    "fec0::1": "site",
    "ff02::1": "many",
}
# Address -> a part of the refusal's sentence.
REFUSED = {
    "http://results.example.org/": "must begin with https://",
    "ftp://results.example.org/": "must begin with https://",
    "file:///etc/passwd": "must begin with https://",
    "gopher://results.example.org/": "must begin with https://",
    "dict://results.example.org:2628/": "must begin with https://",
    "data:application/json,1": "must begin with https://",
    "javascript:alert(1)": "must begin with https://",
    "//results.example.org/": "must begin with https://",
    "HTTPS://results.example.org/": "must begin with https://",
    "https:results.example.org/": "must begin with https://",
    "https:///results.json": "must begin with https://",
    "": "a character that is not allowed",
    "https://": "must begin with https://",
    "https://127.0.0.1": "a name, not a number",
    "https://127.0.0.1#good.example.org": "a name, not a number",
    "https://127.0.0.1?good.example.org": "a name, not a number",
    "https://127.1": "a name, not a number",
    "https://0": "a name, not a number",
    "https://0.0.0.0": "a name, not a number",
    "https://2130706433": "a name, not a number",
    "https://0x7f000001": "a name, not a number",
    "https://0x7f.1": "a name, not a number",
    "https://results.example.0x7f": "a name, not a number",
    "https://0177.0.0.1": "a name, not a number",
    "https://8.8.8.8": "a name, not a number",
    "https://[::1]": "a name, not a number",
    "https://[::]": "a name, not a number",
    "https://[::ffff:127.0.0.1]": "a name, not a number",
    "https://[64:ff9b::7f00:1]": "a name, not a number",
    "https://[2002:7f00:1::]": "a name, not a number",
    "https://[fd00:ec2::254]": "a name, not a number",
    "https://[2606:4700:4700::1111]": "a name, not a number",
    "https://[fe80::1%25eth0]": "no valid host name",
    "https://[::1": "no valid host name",
    "https://localhost": "a public name",
    "https://localhost.": "a public name",
    "https://LOCALHOST": "a public name",
    "https://LocalHost/": "a public name",
    "https://foo.localhost": "a public name",
    "https://metadata.google.internal/computeMetadata/v1/": "a public name",
    "https://printer.local": "a public name",
    "https://nas.lan": "a public name",
    "https://intranet": "a public name",
    "https://hidden.onion": "a public name",
    "https://1.0.0.127.in-addr.arpa": "a public name",
    "https://results.example.org.": "a public name",
    "https://results..example.org": "a public name",
    "https://-results.example.org": "a public name",
    "https://results_1.example.org": "a public name",
    "https://%6c%6f%63%61%6c%68%6f%73%74": "a public name",
    "https://①②⑦.0.0.1": "a character that is not allowed",
    "https://127。0。0。1": "a character that is not allowed",
    "https://results.ex\u0430mple.org": "a character that is not allowed",
    "https://good.example.org@127.0.0.1": "user name or password",
    "https://user:password@results.example.org": "user name or password",
    "https://@results.example.org": "user name or password",
    "https://good.example.org\\@127.0.0.1": "a character that is not allowed",
    "https://127.0.0.1\\.example.org": "a character that is not allowed",
    "https://results.example.org/a\r\nHost: 127.0.0.1": "a character that is not allowed",
    "https://results.example.org\r\n.evil.example.org/": "a character that is not allowed",
    "https://results.example.org/a b": "a character that is not allowed",
    "https://results.example.org/\x00": "a character that is not allowed",
    "https://results.example.org/%0d%0aX: y": "a character that is not allowed",
    "https://results.example.org/%0D%0aHost:127.0.0.1": "line ends",
    "https://results.example.org/?a=%00": "line ends",
    "https://results.example.org:22": "port must be 443",
    "https://results.example.org:25": "port must be 443",
    "https://results.example.org:80": "port must be 443",
    "https://results.example.org:5432": "port must be 443",
    "https://results.example.org:6379": "port must be 443",
    "https://results.example.org:0": "port must be 443",
    "https://results.example.org:99999": "port must be 443",
    "https://results.example.org:": "no valid host name",
    "https://results.example.org:443:22": "no valid host name",
    "https://results.example.org:443@127.0.0.1:6379": "user name or password",
    f"https://{'a' * 64}.example.org": "a public name",
    f"https://{'a.' * 130}org": "not be longer",
    f"https://results.example.org/{'a' * 500}": "not be longer",
}


@pytest.mark.parametrize("address", PUBLIC)
def test_a_public_address_may_be_connected_to(address: str) -> None:
    addresses.require_allowed_ip(address, AddressPolicy())


@pytest.mark.sample(20)
@pytest.mark.parametrize("address", SPECIAL)
def test_no_special_address_may_be_connected_to(address: str) -> None:
    with pytest.raises(AddressForbidden, match="not at a public address"):
        addresses.require_allowed_ip(address, AddressPolicy())


@given(st.ip_addresses())
def test_no_address_that_python_knows_as_special_is_public(
    address: ipaddress.IPv4Address | ipaddress.IPv6Address,
) -> None:
    try:
        addresses.require_allowed_ip(str(address), AddressPolicy())
    except AddressForbidden:
        return
    assert address.is_global
    assert not address.is_multicast
    assert not address.is_reserved


@pytest.mark.parametrize("text", ["", "results.example.org", "127.1", "0x7f000001", "1.2.3.4.5", "[::1]"])
def test_text_that_is_no_ip_address_is_refused(text: str) -> None:
    with pytest.raises(AddressForbidden, match="invalid IP address"):
        addresses.require_allowed_ip(text, AddressPolicy(allows_lan=True))


def test_a_public_address_of_this_machine_is_refused() -> None:
    policy = AddressPolicy(is_own_address=lambda address: address == "93.184.215.14")
    with pytest.raises(AddressForbidden, match="this site itself"):
        addresses.require_allowed_ip("93.184.215.14", policy)
    addresses.require_allowed_ip("8.8.8.8", policy)


@pytest.mark.parametrize(("url", "sentence"), REFUSED.items())
def test_a_url_is_refused_with_a_reason(url: str, sentence: str) -> None:
    with pytest.raises(AddressForbidden, match=sentence):
        addresses.parse_address(url, AddressPolicy())


@pytest.mark.parametrize(
    ("url", "canonical"),
    [
        ("https://results.example.org", "https://results.example.org/"),
        ("https://Results.Example.ORG:443/A?b=c#d", "https://results.example.org/A?b=c"),
        ("https://results.example.org?b", "https://results.example.org/?b"),
        ("https://results.example.org/a//b/../c", "https://results.example.org/a//b/../c"),
        ("https://xn--exmple-cua.org/%7Ea", "https://xn--exmple-cua.org/%7Ea"),
        ("https://results.example.org/#@127.0.0.1", "https://results.example.org/"),
        ("https://results.example.org/@127.0.0.1", "https://results.example.org/@127.0.0.1"),
    ],
)
def test_an_allowed_address_has_one_canonical_form(url: str, canonical: str) -> None:
    assert addresses.parse_address(url, AddressPolicy()).url == canonical
    assert addresses.parse_address(canonical, AddressPolicy()).url == canonical


@given(st.text(max_size=60), st.text(max_size=20))
def test_every_allowed_url_has_a_public_name_and_an_allowed_port(text: str, path: str) -> None:
    for url in (text, f"https://{text}", f"https://results.example.org{text}", f"https://{text}/{path}"):
        try:
            target = addresses.parse_address(url, AddressPolicy())
        except AddressForbidden:
            continue
        assert addresses.HOST.fullmatch(target.host)
        assert (target.scheme, target.port) == ("https", 443)
        assert target.path.startswith("/")
        assert target.path.isascii()
        assert target.path.isprintable()


def test_only_listed_hosts_are_allowed_and_no_look_alikes() -> None:
    policy = AddressPolicy(hosts=frozenset({"results.example.org"}))
    assert addresses.parse_address("https://results.example.org/", policy).host == "results.example.org"
    for host in (
        "example.org",
        "evil.results.example.org",
        "results.example.org.evil.org",
        "results-example.org",
        # The same letters with a Cyrillic one among them.
        "xn--results-exmple-0vi.org",
    ):
        with pytest.raises(AddressForbidden, match=f"does not fetch from {host}"):
            addresses.parse_address(f"https://{host}/", policy)


def test_the_site_itself_is_refused_by_name() -> None:
    policy = AddressPolicy(own_hosts=frozenset({"silverball.example.org"}))
    with pytest.raises(AddressForbidden, match="this site itself"):
        addresses.parse_address("https://Silverball.example.org/", policy)


@pytest.mark.parametrize(
    ("text", "hosts"),
    [
        ("", frozenset()),
        (" A.example.org , b.example.org,", frozenset({"a.example.org", "b.example.org"})),
        ("a.example.org, *", frozenset({"a.example.org", "*"})),
    ],
)
def test_hosts_are_separated_by_commas(text: str, hosts: frozenset[str]) -> None:
    assert addresses.parse_hosts(text) == hosts


@pytest.mark.parametrize(
    ("url", "host"),
    [
        ("https://Pinball.example.org/x", "pinball.example.org"),
        ("http://127.0.0.1:8000", "127.0.0.1"),
        ("http://[::1]:8000", "[::1]"),
        ("", ""),
        ("nonsense", ""),
    ],
)
def test_the_host_of_the_sites_own_url_is_found(url: str, host: str) -> None:
    assert addresses.url_host(url) == host


LAN = AddressPolicy(schemes=("https", "http"), ports=frozenset({443, 80, 8080}), allows_lan=True)


@pytest.mark.parametrize(
    "url",
    ["http://192.168.1.20:8080/hook", "http://[fd12::1]/hook", "http://scoreboard/hook", "http://nas.lan/"],
)
def test_a_venue_can_allow_hosts_in_its_network(url: str) -> None:
    assert addresses.parse_address(url, LAN).url == url


@pytest.mark.parametrize("address", ["10.0.0.1", "172.16.0.1", "192.168.1.20", "fd12::1", "93.184.215.14"])
def test_a_venue_can_allow_private_addresses(address: str) -> None:
    addresses.require_allowed_ip(address, LAN)


@pytest.mark.parametrize(
    "address", ["127.0.0.1", "::1", "0.0.0.0", "169.254.169.254", "fd00:ec2::254", "fe80::1", "fd12::1%eth0"]
)
def test_loopback_link_local_and_metadata_addresses_are_always_refused(address: str) -> None:
    with pytest.raises(AddressForbidden):
        addresses.require_allowed_ip(address, LAN)


@pytest.mark.parametrize("url", ["http://127.0.0.1/", "http://127.1/", "http://[::1]/", "http://2130706433/"])
def test_an_ip_address_in_a_url_must_be_private_even_at_a_venue(url: str) -> None:
    with pytest.raises(AddressForbidden, match="a name, not a number"):
        addresses.parse_address(url, LAN)


@pytest.mark.parametrize("port", [22, 25, 80, 6379, 8080])
def test_outside_the_private_network_only_the_https_port_is_allowed(port: int) -> None:
    addresses.require_allowed_ip("192.168.1.20", LAN, port)
    addresses.require_allowed_ip("93.184.215.14", LAN, 443)
    with pytest.raises(AddressForbidden, match="Outside the private network the port must be 443"):
        addresses.require_allowed_ip("93.184.215.14", LAN, port)


DEMO = AddressPolicy(
    schemes=("https", "http"),
    ports=frozenset({443, 80, 9000}),
    own_hosts=frozenset({"127.0.0.1"}),
    allows_loopback=True,
    is_own_address=lambda _address: True,
)


@pytest.mark.parametrize("url", ["http://127.0.0.1:9000/in", "http://localhost:9000/in", "http://[::1]/in"])
def test_the_demo_reaches_programs_on_its_own_machine(url: str) -> None:
    assert addresses.parse_address(url, DEMO).url == url


@pytest.mark.parametrize("address", ["127.0.0.1", "127.1.2.3", "::1"])
def test_the_demo_connects_to_loopback_addresses_on_any_port(address: str) -> None:
    addresses.require_allowed_ip(address, DEMO, 9000)


@pytest.mark.parametrize("address", ["10.0.0.1", "169.254.169.254", "0.0.0.0", "::ffff:127.0.0.1", "::1%1"])
def test_the_demo_reaches_no_other_address_that_is_not_public(address: str) -> None:
    with pytest.raises(AddressForbidden, match="not at a public address"):
        addresses.require_allowed_ip(address, DEMO, 9000)


def test_the_demo_reaches_public_hosts_on_the_https_port_only() -> None:
    with pytest.raises(AddressForbidden, match="Outside of this machine the port must be 443"):
        addresses.require_allowed_ip("93.184.215.14", DEMO, 80)


@pytest.mark.parametrize(
    "url", ["http://127.1/", "http://2130706433/", "http://[::ffff:127.0.0.1]/", "http://foo.localhost/"]
)
def test_the_demo_takes_loopback_addresses_in_plain_notation_only(url: str) -> None:
    with pytest.raises(AddressForbidden):
        addresses.parse_address(url, DEMO)
