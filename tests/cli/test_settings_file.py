"""The settings file: read by the program alone, and every wrong line named with what is right."""

import os
import pwd
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest
from click.testing import CliRunner, Result
from hypothesis import given
from hypothesis import strategies as st
from sqlalchemy import make_url

from silverball import settings
from silverball.cli.main import silverball_group
from silverball.settings import SettingError

ODD = "pa$$w&rd x\"'\\#%@:/;`$(id) ß"


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "silverball.toml"
    path.touch(0o600)
    return path


def load(file: Path, text: str, **variables: str) -> settings.Settings:
    file.write_text(text)
    return settings.load({"SILVERBALL_CONFIG": str(file), **variables})


def literal(text: str) -> str:
    """Text in quotation marks, as somebody writes it into a file of TOML."""
    escaped = text.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'


def test_there_are_no_more_settings_than_a_person_reads() -> None:
    assert len(settings.SETTINGS) <= 24


def test_tables_lists_and_variables_make_one_set_of_settings(file: Path) -> None:
    loaded = load(
        file,
        'base_url = "https://pinball.example/"\n'
        'trusted_proxies = ["10.0.0.0/8", "unix"]\nwebhook_lan = true\n'
        f'[mail]\nserver = "smtp://night@club.example@smtp.example:2525"\npassword = {literal(ODD)}\n'
        'sender = "night@club.example"\n',
        SILVERBALL_BASE_URL="https://other.example",
    )
    assert loaded.base_url == "https://other.example"
    assert (loaded.trusted_proxies, loaded.webhook_lan) == ("10.0.0.0/8,unix", True)
    assert loaded.mail == ("smtp.example", 2525, "night@club.example", True)
    assert loaded.mail_password == ODD


@given(password=st.text(st.characters(codec="utf-8", exclude_categories=["Cc", "Cs"]), min_size=1))
def test_a_password_of_the_database_arrives_as_it_was_typed(password: str) -> None:
    loaded = settings.load(
        {
            "SILVERBALL_DATABASE_URL": "postgresql+psycopg://silver@db.example/site",
            "SILVERBALL_DATABASE_PASSWORD": f"x{password}x",
        }
    )
    url = make_url(loaded.database_url)
    assert (url.username, url.password, url.host) == ("silver", f"x{password}x", "db.example")
    assert "x***x" not in repr(loaded)


def test_a_secret_in_a_file_is_its_first_line(file: Path, tmp_path: Path) -> None:
    secret = tmp_path / "secret"
    secret.write_text(f"{ODD}\nsomething else\n")
    loaded = load(file, f'data_folder = "{tmp_path}"\n[backup]\npassphrase_file = "secret"\n')
    assert loaded.backup_passphrase == ODD
    # The variable wins, and the file is not read.
    loaded = load(file, '[backup]\npassphrase_file = "/nowhere"\n', SILVERBALL_BACKUP_PASSPHRASE="x")
    assert loaded.backup_passphrase == "x"
    with pytest.raises(SettingError, match="passphrase is given, too"):
        load(file, '[backup]\npassphrase = "x"\npassphrase_file = "secret"\n')
    with pytest.raises(SettingError, match=r"line 2: .*nowhere cannot be read: No such file"):
        load(file, '[backup]\npassphrase_file = "/nowhere"\n')


def test_relative_paths_count_from_the_data_folder(file: Path) -> None:
    loaded = load(file, 'data_folder = "/srv/site"\nsecret_file = "key"\nexports_folder = "/srv/public"\n')
    assert loaded.database_url == "sqlite:////srv/site/silverball.db"
    assert (loaded.secret_file, loaded.exports_folder) == ("/srv/site/key", "/srv/public")
    assert loaded.backup_folder == "/srv/site/backups"


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("[mail\n", "Expected ']'"),
        ('base_url = "x"\nbase_url = "y"\n', "line 2"),
        ("base_url = 5\n", "line 1: base_url must be text in quotation marks, not 5"),
        ('\nstand_in = "perhaps"\n', "line 2: stand_in must be true or false, not 'perhaps'"),
        ('[mail]\n# x\nsevrer = "x"\n', "line 3: mail_sevrer is no setting; did you mean mail_server?"),
        ("[coffee]\nhot = true\n", "line 2: coffee_hot is no setting of this program"),
        ("rate_limit_per_minute = 5\n", "is no setting any more: a preset, `quotas`, sets it"),
        ('smtp_host = "x"\n', "any more: `mail_server` has it: smtp://USER@HOST:PORT"),
        ('quotas = "huge"\n', "line 1: quotas must be one of club, federation, open, not 'huge'"),
        ('egress_proxy = "nowhere"\n', "line 1: egress_proxy must be HOST:PORT"),
        ('[database]\npassword = "x"\n', "needs a user in the address of the database"),
        ('[mail]\nserver = "smtp.example"\n', "line 2: mail_server must be smtp://USER@HOST:PORT"),
        ('[backup]\nby = "hand"\n', "line 2: backup_by must be litestream"),
    ],
)
def test_a_wrong_line_is_named_with_what_is_right(file: Path, text: str, words: str) -> None:
    with pytest.raises(SettingError) as refused:
        load(file, text)
    assert str(file) in str(refused.value)
    assert words in str(refused.value)


def config(file: Path, **variables: str) -> Result:
    given = {"SILVERBALL_CONFIG": str(file), **variables}
    return CliRunner(env=given).invoke(silverball_group, ["config"])


def test_config_prints_what_holds_and_whence_without_passwords(file: Path, tmp_path: Path) -> None:
    passphrase = tmp_path / "passphrase"
    passphrase.write_text("seven brass bumpers")
    passphrase.chmod(0o644)
    file.write_text(
        'redis_url = "redis://:ball@saver@redis.example/0"\n'
        '[database]\nurl = "postgresql+psycopg://silver@db.example/site"\npassword = "ball saver"\n'
        f'[backup]\npassphrase_file = "{passphrase}"\n'
    )
    done = config(file, SILVERBALL_PUBLIC_READ="yes")
    assert done.exit_code == 0, done.output
    lines = {line.split()[0]: line.split()[1:] for line in done.stdout.splitlines()}
    assert lines["redis_url"] == ["redis://:***@redis.example/0", f"{file},", "line", "1"]
    assert lines["database_url"][0] == "postgresql+psycopg://silver:***@db.example/site"
    assert lines["database_password"] == ["***", f"{file},", "line", "4"]
    assert lines["backup_passphrase"] == ["***", f"{file},", "line", "6"]
    assert lines["public_read"] == ["True", "SILVERBALL_PUBLIC_READ"]
    assert lines["quotas"] == ["club", "default"]
    for secret in ("ball saver", "ball@saver", "ball%20saver", "brass"):
        assert secret not in done.stdout
    assert f"{passphrase} has a password in it, and others can read it" in done.stderr
    assert str(file) not in done.stderr
    file.chmod(0o644)
    assert f"{file} has a password in it" in config(file).stderr


def run(*words: str) -> "subprocess.CompletedProcess[str]":
    given = {name: value for name, value in os.environ.items() if not name.startswith("SILVERBALL_")}
    command = [sys.executable, "-m", "silverball.cli.main", *words]
    return subprocess.run(command, env=given, capture_output=True, text=True, timeout=60, check=False)


def test_a_password_with_every_odd_character_breaks_no_command(file: Path, tmp_path: Path) -> None:
    file.write_text(
        f'base_url = "https://x.example"\ndata_folder = "{tmp_path}"\n'
        'app_origins = "silverball=https://a.example https://b.example"\n'
        f'[mail]\nserver = "smtp://night@x.example"\npassword = {literal(ODD)}\nsender = "n@x.example"\n'
        f"[backup]\npassphrase = {literal(ODD)}\n"
    )
    for words in (("migrate",), ("config",), ("user", "list"), ("backup",)):
        done = run("--config", str(file), *words)
        assert done.returncode == 0, done.stderr
    assert list((tmp_path / "backups").glob("silverball-*.tar.age"))


# The Python of the tests may be where only root reads, so everything is loaded before.
BECOME = """
import os, sys
from silverball.cli import migrate
from silverball.kit import privileges
privileges.become_owner(sys.argv[1])
open(os.path.join(sys.argv[1], "made"), "w").close()
print(os.getuid(), os.geteuid(), os.getgid(), sorted(os.getgroups()))
"""


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can become somebody else")
def test_root_becomes_the_owner_of_the_data_folder() -> None:
    other = pwd.getpwnam("nobody")
    # Every user may go there.
    with tempfile.TemporaryDirectory(prefix="silverball-") as name:
        os.chown(name, other.pw_uid, other.pw_gid)
        command = [sys.executable, "-c", BECOME, name]
        done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
        groups = sorted(os.getgrouplist("nobody", other.pw_gid))
        assert done.stdout == f"{other.pw_uid} {other.pw_uid} {other.pw_gid} {groups}\n", done.stderr
        made = (Path(name) / "made").stat()
        assert (made.st_uid, made.st_gid, made.st_mode & 0o777) == (other.pw_uid, other.pw_gid, 0o600)


def test_what_only_shows_something_needs_no_settings_file() -> None:
    for words in (("--help",), ("--version",), ("backup", "--help"), ("ready", "--help")):
        assert run("--config", "/nowhere", *words).returncode == 0
    done = run("--config", "/nowhere", "config")
    assert (done.returncode, done.stderr) == (
        2,
        "Error: /nowhere cannot be read: No such file or directory.\n",
    )
