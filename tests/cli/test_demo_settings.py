"""The demo starts under every setting, or says in one sentence why not; and its folder starts again."""

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from cli.test_demo import READY_SECONDS, running
from silverball.cli.main import main
from silverball.settings import PREFIX, SETTINGS

LINES_MAX = 3
# Setting -> a value that is no default, then values that are refused. Most need nothing else.
VALUES: dict[str, tuple[str, ...]] = {
    "DATABASE_URL": ("sqlite:///elsewhere.db",),
    "SECRET_FILE": ("",),
    "BASE_URL": ("https://pinball.example", "pinball.example", "ftp://pinball.example"),
    "PUBLIC_READ": ("true", "perhaps"),
    "STAND_IN": ("true", "perhaps"),
    "RATE_LIMIT_PER_MINUTE": ("1", "-1"),
    "STANDINGS_INTERVAL_SECONDS": ("0", "often"),
    "CACHE_MEGABYTES": ("0", "-1"),
    "REDIS_URL": ("redis://127.0.0.1:1", "nonsense"),
    "REDIS_PREFIX": ("other",),
    "RATING_DEFAULT": ("1000", "good"),
    "RATING_RD_DEFAULT": ("50", "10"),
    "RATING_RD_MAX": ("100", "10"),
    "RATING_RD_MIN": ("30", "0"),
    "RATING_C": ("3", "x"),
    "RATING_ROUND_EXPECTED": ("false", "perhaps"),
    "RATING_DELAY_DAYS": ("0", "-7"),
    "CONNECTIONS_PER_ADDRESS": ("5", "x"),
    "PAGES_PER_MINUTE": ("1", "x"),
    "TOURNAMENTS_PER_ACCOUNT": ("1", "x"),
    "PLAYERS_PER_ACCOUNT": ("1", "x"),
    "WEBHOOKS_PER_ACCOUNT": ("1", "x"),
    "JOURNAL_MEGABYTES_PER_ACCOUNT": ("1", "x"),
    "REPLIES_MEGABYTES_PER_ACCOUNT": ("1", "x"),
    "TRUSTED_PROXIES": ("10.0.0.0/8", "proxy"),
    "SECURITY_CONTACT": ("mailto:security@pinball.example", "security@pinball.example"),
    "SIGN_IN_DAYS": ("1", "0"),
    "SIGN_IN_IDLE_HOURS": ("1", "0"),
    "AUDIT_DAYS": ("1", "0"),
    # Mail needs a base URL and a sender.
    "SMTP_HOST": ("", "127.0.0.1"),
    "SMTP_PORT": ("25", "x"),
    "SMTP_USER": ("olga",),
    "SMTP_PASSWORD": ("secret",),
    "SMTP_STARTTLS": ("false", "perhaps"),
    "SMTP_SENDER": ("pinball@pinball.example",),
    "METRICS_PORT": ("0", "99999"),
    "METRICS_HOST": ("127.0.0.2",),
    "APPS": ("mine=plain", "mine"),
    "APP_ORIGINS": ("silverball=https://a.example", "nonsense"),
    "FEED_REQUIRE_TLS": ("true", "perhaps"),
    "FEED_CONNECTIONS_MAX": ("1", "x"),
    "FEED_CONNECTIONS_PER_ADDRESS": ("1", "x"),
    "FEED_COMPRESSION": ("true", "perhaps"),
    "SUBMISSION_HOSTS": ("results.example",),
    "SUBMISSION_HOSTS_TRUSTED": ("results.example",),
    "EGRESS_PROXY": ("127.0.0.1:1", "nonsense"),
    "WEBHOOK_LAN": ("true", "perhaps"),
    "EXPORTS_FOLDER": ("exports",),
}
STARTS = [(name, values[0]) for name, values in VALUES.items()]
REFUSED = [(name, value) for name, values in VALUES.items() for value in values[1:] if value]


def start(folder: Path, name: str, value: str) -> tuple[str, str, int]:
    """Start the demo with this setting and stop it: its line when it is ready, its errors, its exit code."""
    command = [sys.executable, "-m", "silverball.cli.main", "demo", "--json", "--no-robots", "--port", "0"]
    with subprocess.Popen(
        [*command, "--data", str(folder)],
        cwd=folder.parent,
        env={**os.environ, PREFIX + name: value},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as process:
        assert process.stdout is not None
        ready = process.stdout.readline()
        if ready:
            process.send_signal(signal.SIGTERM)
        _, errors = process.communicate(timeout=READY_SECONDS)
    return ready, errors, process.returncode


@pytest.fixture(scope="module")
def loaded(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a demo that was made under a public base URL."""
    folder = tmp_path_factory.mktemp("demo") / "data"
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("SILVERBALL_BASE_URL", "https://pinball.example")
        with running(folder, "--json", "--no-robots") as lines:
            assert json.loads(lines[0])["baseUrl"] == "https://pinball.example"
    return folder


def test_every_setting_is_tried() -> None:
    assert {PREFIX + name for name in VALUES} == {setting.name for setting in SETTINGS}


@pytest.mark.parametrize(("name", "value"), STARTS)
def test_the_demo_starts_again_under_another_value_of_each_setting(
    loaded: Path, name: str, value: str
) -> None:
    ready, errors, code = start(loaded, name, value)
    assert (code, "Traceback" in errors) == (0, False), errors
    assert json.loads(ready)["liveTournamentId"] == 1


@pytest.mark.parametrize(("name", "value"), REFUSED)
def test_a_wrong_value_is_named_in_one_sentence_before_anything_is_made(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    name: str,
    value: str,
) -> None:
    monkeypatch.setenv(PREFIX + name, value)
    folder = tmp_path / "data"
    monkeypatch.setattr(sys, "argv", ["silverball", "demo", "--port", "0", "--data", str(folder)])
    with pytest.raises(SystemExit) as ended:
        main()
    printed, errors = capsys.readouterr()
    assert (printed, ended.value.code) == ("", 2), errors
    assert PREFIX + name in errors or "_" + name.removeprefix("RATING_") in errors
    assert len(errors.strip().splitlines()) <= LINES_MAX
    assert not (folder / "silverball.db").exists()
