"""Whom a request comes from."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from silverball.kit.edge.proxies import NO_PROXIES, TrustedProxies, address_group

PROXIES = TrustedProxies.parse("127.0.0.1, ::1, 10.0.0.0/8, 2001:db8:1::/48, unix")


@pytest.mark.parametrize(
    ("peer", "forwarded", "client"),
    [
        # The rightmost address that is no trusted proxy: what is left of it is the client's own word.
        ("127.0.0.1", "198.51.100.1", "198.51.100.1"),
        ("127.0.0.1", "203.0.113.9, 198.51.100.1", "198.51.100.1"),
        ("127.0.0.1", "203.0.113.9, 198.51.100.1, 10.1.2.3", "198.51.100.1"),
        ("::1", "198.51.100.1,2001:db8:1::7", "198.51.100.1"),
        ("::ffff:127.0.0.1", "198.51.100.1", "198.51.100.1"),
        ("127.0.0.1", "::ffff:198.51.100.1", "198.51.100.1"),
        ("127.0.0.1", "2001:DB8::1", "2001:db8::1"),
        ("", "198.51.100.1", "198.51.100.1"),
        # Trusted proxies all the way: the first of them asks for itself.
        ("127.0.0.1", "10.1.2.3, 10.1.2.4", "10.1.2.3"),
        # A stranger's word is not taken.
        ("198.51.100.7", "203.0.113.9", "198.51.100.7"),
        ("2001:db8:2::1", "203.0.113.9", "2001:db8:2::1"),
        # Malformed: the peer.
        ("127.0.0.1", "unknown", "127.0.0.1"),
        ("127.0.0.1", "203.0.113.9, nonsense, 10.1.2.3", "127.0.0.1"),
        ("127.0.0.1", "198.51.100.1:443", "127.0.0.1"),
        ("127.0.0.1", "203.0.113.9,", "127.0.0.1"),
        ("127.0.0.1", " ", "127.0.0.1"),
    ],
)
def test_the_client_is_the_rightmost_address_that_is_no_trusted_proxy(
    peer: str, forwarded: str, client: str
) -> None:
    scope = {"client": (peer, 5000) if peer else None}
    assert PROXIES.client_address(scope, {b"x-forwarded-for": forwarded.encode()}) == client


@given(st.text(st.characters(max_codepoint=255), max_size=80))
def test_without_trusted_proxies_the_client_is_the_peer_whatever_it_sends(forwarded: str) -> None:
    headers = {b"x-forwarded-for": forwarded.encode("latin-1")}
    assert NO_PROXIES.client_address({"client": ("127.0.0.1", 1)}, headers) == "127.0.0.1"
    assert NO_PROXIES.client_address({"client": None}, headers) == ""


@given(st.text(st.characters(max_codepoint=255), max_size=80))
def test_whatever_stands_left_of_the_client_changes_nothing(claimed: str) -> None:
    headers = {b"x-forwarded-for": claimed.encode("latin-1") + b", 198.51.100.1, 10.9.9.9"}
    assert PROXIES.client_address({"client": ("127.0.0.1", 1)}, headers) == "198.51.100.1"


@pytest.mark.parametrize(
    ("peer", "forwarded", "is_encrypted", "is_secure"),
    [
        ("127.0.0.1", None, False, False),
        ("127.0.0.1", None, True, True),
        ("127.0.0.1", b"https", False, True),
        ("127.0.0.1", b"wss", False, True),
        ("127.0.0.1", b"HTTPS, http", False, True),
        ("127.0.0.1", b"http", True, False),
        ("198.51.100.7", b"https", False, False),
        ("198.51.100.7", b"http", True, True),
    ],
)
def test_only_a_trusted_proxy_says_which_scheme_the_client_uses(
    peer: str, forwarded: bytes | None, is_encrypted: bool, is_secure: bool
) -> None:
    headers = {} if forwarded is None else {b"x-forwarded-proto": forwarded}
    assert PROXIES.is_secure(peer, headers, is_encrypted=is_encrypted) is is_secure


@pytest.mark.parametrize(
    ("address", "group"),
    [
        ("198.51.100.1", "198.51.100.1"),
        ("::ffff:198.51.100.1", "198.51.100.1"),
        ("2001:db8:1:2:3:4:5:6", "2001:db8:1:2::/64"),
        ("fe80::1%eth0", "fe80::/64"),
        ("", ""),
        ("testclient", "testclient"),
    ],
)
def test_an_ipv6_address_counts_as_its_network(address: str, group: str) -> None:
    assert address_group(address) == group


@pytest.mark.parametrize("text", ["nonsense", "127.0.0.1/99", "10.0.0.0/8 172.16.0.0/12"])
def test_a_setting_that_names_no_network_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="does not appear to be"):
        TrustedProxies.parse(text)
