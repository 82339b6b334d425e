"""The check of a handshake by its address and headers."""

import resource

import pytest
from hypothesis import given
from hypothesis import strategies as st

from silverball.feed import feed
from silverball.feed.feed import App, Handshake, HandshakeRules, limits_from_settings, rules_from_settings
from silverball.feed.protocol import Close
from silverball.settings import SettingError, Settings

RULES = HandshakeRules(feed.parse_apps("silverball=plain,silverball-laravel=laravel,old=disabled"))
QUERY = "?protocol=7&client=js&version=8.5.0&flash=false"


def _close_code(knock: Handshake, rules: HandshakeRules = RULES) -> int | None:
    verdict = feed.check_handshake(knock, rules)
    return verdict.code if isinstance(verdict, Close) else None


@pytest.mark.parametrize(
    ("target", "code"),
    [
        ("/app/silverball" + QUERY, None),
        ("/app/silverball", None),
        ("/app/silverball/", None),
        ("/app/silverball/" + QUERY, None),
        ("/app/silver%62all" + QUERY, None),
        ("/app/silverball?protocol=5", None),
        ("/app/silverball?protocol=6&client=Pysher&version=1.0", None),
        ("/app/silverball?unknown=1&protocol=7", None),
        ("/app/nobody" + QUERY, 4001),
        ("/app/" + "x" * 65, 4001),
        ("/app/old" + QUERY, 4003),
        ("/" + QUERY, 4005),
        ("/app" + QUERY, 4005),
        ("/app/" + QUERY, 4005),
        ("/app/silverball/more" + QUERY, 4005),
        ("/apps/silverball" + QUERY, 4005),
        ("/pusher/app/silverball" + QUERY, 4005),
        ("/app/silverball?protocol=", 4006),
        ("/app/silverball?protocol=seven", 4006),
        ("/app/silverball?protocol=7.0", 4006),
        ("/app/silverball?protocol=%D9%A7", 4006),
        ("/app/silverball?" + "a=1&" * 60, 4006),
        ("/app/silverball?protocol=4", 4007),
        ("/app/silverball?protocol=8", 4007),
        ("/app/silverball?protocol=-7", 4007),
        ("/app/silverball?protocol=" + "9" * 14, 4007),
        ("/app/silverball?protocol=" + "9" * 5_000, 4007),
    ],
)
def test_an_address_is_admitted_or_refused_with_a_code(target: str, code: int | None) -> None:
    assert _close_code(Handshake(target)) == code


@pytest.mark.parametrize(
    ("headers", "is_secure", "code"),
    [
        ({}, False, 4000),
        ({}, True, None),
        # Which proxies may say so is decided before the handshake is checked.
        ({"x-forwarded-proto": "https"}, False, 4000),
    ],
)
def test_a_plain_connection_is_refused_where_tls_is_required(
    headers: dict[str, str], is_secure: bool, code: int | None
) -> None:
    knock = Handshake("/app/silverball" + QUERY, headers, is_secure)
    assert _close_code(knock, HandshakeRules(RULES.apps, requires_tls=True)) == code
    assert _close_code(knock) is None


@pytest.mark.parametrize(
    ("origin", "code"),
    [("https://a.example", None), ("https://b.example", None), ("https://c.example", 4009), (None, 4009)],
)
def test_pages_of_other_origins_may_not_connect(origin: str | None, code: int | None) -> None:
    apps = feed.parse_apps("silverball=plain,open=plain", "silverball=https://a.example https://b.example")
    headers = {} if origin is None else {"origin": origin}
    assert _close_code(Handshake("/app/silverball", headers), HandshakeRules(apps)) == code
    assert _close_code(Handshake("/app/open", headers), HandshakeRules(apps)) is None


def test_a_star_admits_every_page() -> None:
    apps = feed.parse_apps("silverball=plain", "silverball=*")
    assert (
        _close_code(Handshake("/app/silverball", {"origin": "https://c.example"}), HandshakeRules(apps))
        is None
    )


def test_the_style_belongs_to_the_key() -> None:
    verdict = feed.check_handshake(Handshake("/app/silverball-laravel"), RULES)
    assert isinstance(verdict, App)
    assert verdict.style == "laravel"


@pytest.mark.parametrize(
    ("apps", "origins", "sentence"),
    [
        ("silverball", "", "'silverball' is not of the form key=value"),
        ("silverball=fancy", "", "must be plain, laravel or disabled, not 'fancy'"),
        ("silver ball=plain", "", "an app key has"),
        ("=plain", "", "an app key has"),
        ("a=plain,a=laravel", "", "a key is named twice"),
        ("a=plain", "b=https://x.example", "there is no app 'b'"),
    ],
)
def test_a_faulty_setting_is_refused_with_a_sentence(apps: str, origins: str, sentence: str) -> None:
    with pytest.raises(SettingError, match="SILVERBALL_APPS or SILVERBALL_APP_ORIGINS") as caught:
        rules_from_settings(Settings(apps=apps, app_origins=origins))
    assert sentence in str(caught.value)


def test_the_default_keys_are_one_of_each_style() -> None:
    styles = {key: app.style for key, app in rules_from_settings(Settings()).apps.items()}
    assert styles == {"silverball": "plain", "silverball-laravel": "laravel"}


def test_the_connection_limit_leaves_files_for_the_rest_of_the_program() -> None:
    assert limits_from_settings(Settings(feed_connections_max=7)).connections_max == 7
    files, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    assert limits_from_settings(Settings()).connections_max == files * 4 // 5


@given(st.text(max_size=60))
def test_any_address_gets_a_verdict(path: str) -> None:
    verdict = feed.check_handshake(Handshake("/app/" + path), RULES)
    assert isinstance(verdict, App) or 4000 <= verdict.code <= 4009


def test_a_server_in_the_place_of_another_takes_any_key_and_names_events_as_its_clients_expect() -> None:
    rules = HandshakeRules(RULES.apps, takes_any_key=True)
    keys = ("nobody", "a", "x" * 64, "silverball", "silverball-laravel")
    apps = [
        feed.check_handshake(Handshake(f"/app/{key}{QUERY}", {"origin": "https://x.example"}), rules)
        for key in keys
    ]
    shown = [(app.key, app.style) for app in apps if isinstance(app, App)]
    assert shown == [("other", "laravel")] * 3 + [("silverball", "plain"), ("silverball-laravel", "laravel")]
    refused = {"old": 4003, "x" * 65: 4001, "a b": 4001, "": 4005}
    for key, code in refused.items():
        assert _close_code(Handshake(f"/app/{key}{QUERY}"), rules) == code, key
    assert rules_from_settings(Settings(stand_in=True)).takes_any_key
    assert not rules_from_settings(Settings()).takes_any_key
