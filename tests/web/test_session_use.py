"""The network and the kind of browser of a session, as its owner reads them."""

import pytest

from silverball.web import sessions


@pytest.mark.parametrize(
    ("address", "shown"),
    [
        ("192.0.2.77", "192.0.2.0/24"),
        ("2001:db8:1:2::3", "2001:db8:1::/48"),
        ("::ffff:192.0.2.77", "192.0.2.0/24"),
        ("fe80::1%eth0", "fe80::/48"),
        ("testclient", "testclient"),
        ("", ""),
        ("x" * 99, "x" * 45),
    ],
)
def test_an_address_is_shown_without_its_end(address: str, shown: str) -> None:
    assert sessions.shorten_address(address) == shown


@pytest.mark.parametrize(
    ("user_agent", "shown"),
    [
        ("Mozilla/5.0 (X11; Linux x86_64; rv:145.0) Gecko/20100101 Firefox/145.0", "Firefox on Linux"),
        ("Mozilla/5.0 (Windows NT 10.0) Chrome/142.0.0.0 Safari/537.36 Edg/142.0.0.0", "Edge on Windows"),
        (
            "Mozilla/5.0 (iPhone; CPU iPhone OS 18_0 like Mac OS X) Version/18.0 Safari/604.1",
            "Safari on iPhone",
        ),
        ("Mozilla/5.0 (Linux; Android 16) Chrome/142.0.0.0 Mobile Safari/537.36", "Chrome on Android"),
        ("curl/8.0", ""),
        ("<script>alert(1)</script>\x00", ""),
        ("", ""),
    ],
)
def test_a_browser_is_named_by_its_kind_and_system(user_agent: str, shown: str) -> None:
    assert sessions.name_browser(user_agent) == shown
