"""People who were here lately are told from those who make up a cookie."""

from silverball.web.site import COOKIES_MAX, KnownCookies


def test_a_cookie_is_known_once_it_was_valid() -> None:
    cookies = KnownCookies()
    cookies.add("secret")
    assert "secret" in cookies
    assert "other" not in cookies


def test_the_oldest_cookies_are_forgotten_first() -> None:
    cookies = KnownCookies()
    cookies.add("first")
    cookies.add("second")
    cookies.add("first")
    for number in range(COOKIES_MAX - 1):
        cookies.add(str(number))
    assert "first" in cookies
    assert "second" not in cookies
