"""Every setting: name, type, default, meaning. The only reader of the environment and of the settings file.

    base_url = "https://pinball.example.org"     SILVERBALL_BASE_URL=https://pinball.example.org
    [mail]
    server = "smtp://night@smtp.example.org"     SILVERBALL_MAIL_SERVER=smtp://night@smtp.example.org

A variable wins over the file. The tables in `docs/settings.md` and the file `deploy/silverball.toml` are
generated from `SETTINGS`; house tests keep them equal.
"""

import ipaddress
import os
import re
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, fields, replace
from importlib.util import find_spec
from pathlib import Path
from typing import Any, NamedTuple, TypeVar
from urllib.parse import quote, unquote, urlsplit

from msgspec import Struct, ValidationError, convert

T = TypeVar("T")
PREFIX = "SILVERBALL_"
# The variable that names the settings file, and where an installed program finds it by itself.
CONFIG = f"{PREFIX}CONFIG"
CONFIG_FILE = Path("/etc/silverball/silverball.toml")
# A clone that somebody works in has this file beside `src`.
IS_INSTALLED = not (Path(__file__).parents[2] / "pyproject.toml").exists()
# The ending of the setting that names a file with a secret, instead of the secret itself.
IN_FILE = "_file"
# The tables of the settings file. A setting that begins with such a name is written below it.
TABLES = ("database", "mail", "backup")
MAIL_SENDER = re.compile(r"{0}|[^<>@\r\n]+ <{0}>".format(r"[^\s@<>,]+@[^\s@<>,]+"), re.ASCII)
HOST_AND_PORT = re.compile(r"[^\s:/@]+:[0-9]{1,5}|\[[0-9a-fA-F:]+\]:[0-9]{1,5}")
WEB_ADDRESS = re.compile(r"https?://[^\s/?#]+(/[^\s?#]*)?")
PASSWORD_IN_URL = re.compile(r"(://[^:/@]*:).*@")
PORT_MAX = 65_535
STAND_IN_PER_MINUTE = 120
MAIL_PORT = 587
# How alike an unknown name and a setting must be for a hint, from 0 to 1.
SIMILARITY_MIN = 0.8
KINDS = {"str": "text in quotation marks", "int": "a whole number"}
TRUE_WORDS = frozenset({"1", "true", "on", "yes"})
FALSE_WORDS = frozenset({"0", "false", "off", "no", ""})
TABLE_LINE = re.compile(r"\s*\[([^\[\]]+)\]")
KEY_LINE = re.compile(r"\s*([\w.-]+)\s*=")
OPEN_TO_OTHERS = 0o007
# What one user, account or address may take, by the name of the preset: fields and values of Settings.
# Nothing is limited where the value is 0.
QUOTAS: dict[str, dict[str, int]] = {
    "club": {},
    "federation": {
        "rate_limit_per_minute": 240,
        "pages_per_minute": 4_800,
        "connections_per_address": 4_000,
        "feed_connections_per_address": 4_000,
        "tournaments_per_account": 100_000,
        "players_per_account": 500_000,
        "webhooks_per_account": 10_000,
        "journal_megabytes_per_account": 20_000,
        "replies_megabytes_per_account": 5_000,
    },
    "open": {
        "rate_limit_per_minute": 0,
        "standings_interval_seconds": 0,
        "pages_per_minute": 0,
        "connections_per_address": 1_000_000,
        "feed_connections_per_address": 0,
        "tournaments_per_account": 0,
        "players_per_account": 0,
        "webhooks_per_account": 0,
        "journal_megabytes_per_account": 0,
        "replies_megabytes_per_account": 0,
    },
}
BY_PRESET = "a preset, `quotas`, sets it"
IS_CONSTANT = "it can no longer be set"
BY_MAIL_SERVER = "`mail_server` has it: smtp://USER@HOST:PORT"
# Settings of earlier versions, and what is in their place.
REMOVED = {
    **dict.fromkeys(QUOTAS["open"], BY_PRESET),
    **dict.fromkeys(("smtp_host", "smtp_port", "smtp_user"), BY_MAIL_SERVER),
    "smtp_starttls": "`mail_server` has it: smtp://HOST:PORT?tls=off speaks without",
    "smtp_password": "it is `mail_password`",
    "smtp_sender": "it is `mail_sender`",
    **dict.fromkeys(("metrics_host", "metrics_port"), "it is `metrics_address`, HOST:PORT"),
    "security_contact": "an administrator sets the contact at /account/site",
    **dict.fromkeys(
        ("cache_megabytes", "redis_prefix", "sign_in_days", "sign_in_idle_hours", "audit_days"), IS_CONSTANT
    ),
    **dict.fromkeys(("feed_require_tls", "feed_connections_max", "feed_compression"), IS_CONSTANT),
    **dict.fromkeys(
        ("rating_default", "rating_rd_default", "rating_rd_max", "rating_rd_min", "rating_c"), IS_CONSTANT
    ),
    **dict.fromkeys(("rating_round_expected", "rating_delay_days"), IS_CONSTANT),
}


class SettingError(ValueError):
    """An invalid setting; the message names it."""


class MailAddress(NamedTuple):
    """Where the mail server is, and how to talk to it."""

    host: str
    port: int
    user: str
    is_encrypted: bool


def _setting(default: T, meaning: str, *, is_secret: bool = False) -> T:
    """A setting that operators set."""
    setting: T = field(
        default=default, repr=not is_secret, metadata={"meaning": meaning, "is_secret": is_secret}
    )
    return setting


@dataclass(frozen=True, kw_only=True)
class Settings:
    """The settings of one process. The variable of `base_url` is `SILVERBALL_BASE_URL`, and so on."""

    base_url: str = _setting(
        "",
        "Base URL of links in answers; empty means the bind address, or beyond loopback the"
        " address that each client uses.",
    )
    data_folder: str = _setting(
        "",
        "Folder that relative paths count from, and whose owner a command of root becomes; empty means the"
        " present folder.",
    )
    database_url: str = _setting(
        "sqlite:///silverball.db", "The database: `sqlite:///FILE` or `postgresql+psycopg://USER@HOST/NAME`."
    )
    database_password: str = _setting("", "Password of PostgreSQL, as it is.", is_secret=True)
    secret_file: str = _setting(
        "",
        "File of the key that encrypts secrets in the database; empty means, for SQLite, a"
        " file beside the database. PostgreSQL needs one, the same for all nodes: `silverball secret`"
        " makes it.",
    )
    redis_url: str = _setting(
        "",
        "Redis that notifies several nodes of changes and shares allowances among them:"
        " `redis://HOST:PORT/0`.",
        is_secret=True,
    )
    public_read: bool = _setting(
        False, "Allow reading tournaments, series, users and search without a token."
    )
    stand_in: bool = _setting(
        False,
        "Take the place of another service: any app key, reading without a token, tokens of others read as"
        " nobody, 120 requests a minute.",
    )
    quotas: str = _setting(
        "club", "What one user, account or address may take: `club`, `federation`, `open`."
    )
    trusted_proxies: str = _setting(
        "127.0.0.0/8,::1,unix",
        "Proxies whose `X-Forwarded-For` and `X-Forwarded-Proto` are believed: addresses,"
        " networks and `unix`, with commas; empty means none.",
    )
    mail_server: str = _setting(
        "",
        "Mail server, for links to new passwords: `smtp://USER@HOST:587`; empty means none. `?tls=off` at its"
        " end speaks without TLS.",
    )
    mail_password: str = _setting("", "Password at the mail server, as it is.", is_secret=True)
    mail_sender: str = _setting("", "Address that mails come from, or `NAME <ADDRESS>`.")
    backup_folder: str = _setting("backups", "Folder of backups, where a command names no other.")
    backup_passphrase: str = _setting(
        "", "Passphrase that backups are encrypted with, 12 characters or more.", is_secret=True
    )
    backup_by: str = _setting("", "`litestream` where that makes the backups; `doctor` misses none then.")
    metrics_address: str = _setting(
        "", "`HOST:PORT` of `/metrics` for Prometheus, apart from the site; empty means none."
    )
    apps: str = _setting(
        "silverball=plain,silverball-laravel=laravel",
        "App keys of the feed, `key=style` with commas; styles `plain`, `laravel`, `disabled`.",
    )
    app_origins: str = _setting(
        "", "Origins of pages that may use an app key, `key=ORIGIN ORIGIN` with commas; else all."
    )
    submission_hosts: str = _setting(
        "*",
        "Hosts that rating submissions may be fetched from, with commas; `*` means every"
        " public host, empty means only the trusted ones.",
    )
    submission_hosts_trusted: str = _setting(
        "", "Hosts whose rating submissions are approved automatically, with commas."
    )
    egress_proxy: str = _setting(
        "", "`HOST:PORT` of an HTTP proxy for connections to addresses from users; empty means none."
    )
    webhook_lan: bool = _setting(
        False, "Allow webhooks to private networks, there also without TLS and at any port; for venues."
    )
    exports_folder: str = _setting(
        "", "Folder of the bulk files, written daily and served publicly under `/exports/`; empty means none."
    )
    # What follows is not set by operators: the preset of quotas sets some, programs and tests the rest.
    rate_limit_per_minute: int = 60
    standings_interval_seconds: int = 15
    pages_per_minute: int = 1_200
    connections_per_address: int = 1_000
    feed_connections_per_address: int = 1_000
    tournaments_per_account: int = 10_000
    players_per_account: int = 50_000
    webhooks_per_account: int = 1_000
    journal_megabytes_per_account: int = 2_000
    replies_megabytes_per_account: int = 500
    cache_megabytes: int = 64
    redis_prefix: str = "silverball"
    sign_in_days: int = 14
    sign_in_idle_hours: int = 72
    audit_days: int = 365
    # Refuse sockets whose `X-Forwarded-Proto` is not `https`.
    feed_require_tls: bool = False
    # 0 means four fifths of the open file limit.
    feed_connections_max: int = 0
    feed_compression: bool = False
    # Only `silverball demo` sends webhooks to programs on its own machine.
    allow_loopback: bool = False

    @property
    def is_open_to_readers(self) -> bool:
        """Whether tournaments, series, users and search are read without a token."""
        return self.public_read or self.stand_in

    @property
    def mail(self) -> MailAddress | None:
        """Where the mail server is; None without one."""
        if not self.mail_server:
            return None
        # A name at a mail server is often an address.
        account, _, place = self.mail_server.removeprefix("smtp://").rpartition("@")
        parts = urlsplit(f"smtp://{place}")
        return MailAddress(
            parts.hostname or "",
            MAIL_PORT if parts.port is None else parts.port,
            unquote(account),
            parts.query != "tls=off",
        )

    @property
    def metrics(self) -> tuple[str, int] | None:
        """Host and port of the metrics; None without them."""
        host, _, port = self.metrics_address.rpartition(":")
        return (host.strip("[]"), int(port)) if self.metrics_address else None


class SettingDescription(Struct, frozen=True):
    """A setting as documented."""

    name: str
    # As it is written in the settings file: `server`, below the table `mail`.
    table: str
    key: str
    kind: str
    default: str
    meaning: str
    is_secret: bool

    @property
    def variable(self) -> str:
        """The variable of the environment that sets it."""
        return PREFIX + self.name.upper()


class SettingInUse(Struct, frozen=True):
    """A setting, its value as it may be shown, and whence it comes."""

    name: str
    value: str
    origin: str


class GivenValue(NamedTuple):
    """A value as it was written, and where: `SILVERBALL_BASE_URL`, or a line of the settings file."""

    value: object
    origin: str


# A field without a meaning is handed by a command or a preset, and not set by operators.
SETTING_FIELDS = tuple(setting for setting in fields(Settings) if "meaning" in setting.metadata)


def _table_of(name: str) -> str:
    return next((table for table in TABLES if name.startswith(f"{table}_")), "")


SETTINGS: tuple[SettingDescription, ...] = tuple(
    SettingDescription(
        name=setting.name,
        table=_table_of(setting.name),
        key=setting.name.removeprefix(f"{_table_of(setting.name)}_"),
        kind=str(setting.type.__name__ if isinstance(setting.type, type) else setting.type),
        default=str(setting.default).lower() if isinstance(setting.default, bool) else str(setting.default),
        meaning=str(setting.metadata["meaning"]),
        is_secret=bool(setting.metadata["is_secret"]),
    )
    for setting in SETTING_FIELDS
)
KNOWN = tuple(
    name
    for setting in SETTINGS
    for name in (setting.name, *([f"{setting.name}{IN_FILE}"] if setting.is_secret else []))
)


def settings_table() -> str:
    """The table of settings in the docs."""
    rows = [
        f"| {_place_cell(setting)} | `{setting.variable}` | {_default_cell(setting)} | {setting.meaning} |"
        for setting in SETTINGS
    ]
    return "\n".join(["| In the file | Variable | Default | Meaning |", "|---|---|---|---|", *rows])


def quotas_table() -> str:
    """The table of the presets of quotas in the docs."""
    presets = {name: Settings(**values) for name, values in QUOTAS.items()}  # type: ignore[arg-type]  # all are int
    rows = []
    for name in QUOTAS["open"]:
        cells = [f"{getattr(preset, name):,}" for preset in presets.values()]
        cells[-1] = "no limit"
        rows.append(f"| {name.replace('_', ' ')} | {' | '.join(cells)} |")
    head = f"| At most | {' | '.join(f'`{name}`' for name in presets)} |"
    return "\n".join([head, f"|---|{'---|' * len(presets)}", *rows])


def settings_file(installed: Mapping[str, str]) -> str:
    """A settings file with every setting below what it means; `installed` has those without a `#`."""
    lines = [
        "# /etc/silverball/silverball.toml: the settings of the site. Those behind a # have their default.",
        "# Only the program reads this file. What holds, and whence: sudo silverball config",
        "# The service reads it when it starts: sudo systemctl restart silverball",
    ]
    for table in ("", *TABLES):
        lines += ["", f"[{table}]"] if table else []
        for setting in SETTINGS:
            if setting.table == table:
                lines += ["", f"# {setting.meaning}", *_file_lines(setting, installed)]
    return "\n".join(lines) + "\n"


def _file_lines(setting: SettingDescription, installed: Mapping[str, str]) -> list[str]:
    value = installed.get(setting.name)
    written = setting.default if value is None else value
    line = f"{setting.key} = {written}" if setting.kind == "bool" else f'{setting.key} = "{written}"'
    lines = [line if value is not None else f"#{line}"]
    if setting.is_secret:
        file = installed.get(f"{setting.name}{IN_FILE}")
        lines.append(f'{"#" if file is None else ""}{setting.key}{IN_FILE} = "{file or ""}"')
    return lines


def _place_cell(setting: SettingDescription) -> str:
    return f"`[{setting.table}] {setting.key}`" if setting.table else f"`{setting.key}`"


def _default_cell(setting: SettingDescription) -> str:
    return f"`{setting.default}`" if setting.default else "(empty)"


def with_quotas(loaded: Settings, preset: str) -> Settings:
    """The settings with a preset of quotas."""
    return replace(loaded, quotas=preset, **QUOTAS[preset])  # type: ignore[arg-type]  # all are int


def name_file(file: str) -> None:
    """Read this settings file from now on, here and in processes that are started from here."""
    os.environ[CONFIG] = file


def load(environment: Mapping[str, str] | None = None) -> Settings:
    """The settings from the environment and the settings file. Raises SettingError for an invalid one."""
    return _build(_given_values(environment))


def load_data_folder(environment: Mapping[str, str] | None = None) -> str:
    """The data folder alone, whether or not the other settings are valid. Raises SettingError."""
    given = _given_values(environment).get("data_folder")
    return "" if given is None else str(given.value)


def in_use(environment: Mapping[str, str] | None = None) -> list[SettingInUse]:
    """Every setting as it holds, without passwords, and whence it comes. Raises SettingError."""
    given = _given_values(environment)
    loaded = _build(given)
    listed = []
    for setting in SETTINGS:
        shown = str(getattr(loaded, setting.name))
        if setting.name == "redis_url" or not setting.is_secret:
            shown = PASSWORD_IN_URL.sub(r"\1***@", shown)
        elif shown:
            shown = "***"
        source = given.get(setting.name) or given.get(f"{setting.name}{IN_FILE}")
        listed.append(SettingInUse(setting.name, shown, "default" if source is None else source.origin))
    return listed


def warnings(environment: Mapping[str, str] | None = None) -> list[str]:
    """A sentence for each variable that looks like a setting and is none, and for each open file."""
    variables = os.environ if environment is None else environment
    sentences = [
        unknown_name_sentence(name, name.upper().removeprefix(PREFIX).lower())
        for name in sorted(variables)
        if name.upper().startswith(PREFIX)
        and name != CONFIG
        and name not in {PREFIX + known.upper() for known in KNOWN}
    ]
    return [*sentences, *_open_file_sentences(variables)]


def unknown_name_sentence(written: str, name: str) -> str:
    """Say that a name is no setting, and what was meant or is in its place."""
    if name in REMOVED:
        return f"{written} is no setting any more: {REMOVED[name]}."
    import difflib

    (meant,) = difflib.get_close_matches(name, KNOWN, n=1, cutoff=SIMILARITY_MIN) or [""]
    if meant and written.upper().startswith(PREFIX):
        meant = PREFIX + meant.upper()
    return f"{written} is no setting{f'; did you mean {meant}?' if meant else ' of this program.'}"


def notify_socket(environment: Mapping[str, str] | None = None) -> str:
    """The socket of the service manager that has started the program; empty without one."""
    variables = os.environ if environment is None else environment
    return variables.get("NOTIFY_SOCKET", "")


def passed_listeners(environment: Mapping[str, str] | None = None) -> int:
    """How many listening sockets systemd has opened for this process, from its first free number."""
    variables = os.environ if environment is None else environment
    count = variables.get("LISTEN_FDS", "")
    is_for_us = variables.get("LISTEN_PID") == str(os.getpid())
    return int(count) if is_for_us and count.isascii() and count.isdigit() else 0


# The values as they are written.


def _given_values(environment: Mapping[str, str] | None) -> dict[str, GivenValue]:
    """The values of the file, and in their place those of the environment. Raises SettingError."""
    variables = os.environ if environment is None else environment
    file = _file_of(variables)
    given = {} if file is None else _file_values(file)
    for name in KNOWN:
        variable = PREFIX + name.upper()
        if variable in variables:
            # A secret in one place is not mixed with its file in another.
            for other in (f"{name}{IN_FILE}", name.removesuffix(IN_FILE)):
                if other in given and not given[other].origin.startswith(PREFIX):
                    given.pop(other)
            given[name] = GivenValue(variables[variable].strip(), variable)
    return given


def _file_of(variables: Mapping[str, str]) -> Path | None:
    if variables.get(CONFIG):
        return Path(variables[CONFIG])
    if variables is not os.environ or not IS_INSTALLED:
        return None
    try:
        CONFIG_FILE.lstat()
    except FileNotFoundError:
        return None
    except OSError:
        # Reading it says what is wrong.
        pass
    return CONFIG_FILE


def _file_values(file: Path) -> dict[str, GivenValue]:
    """The values of a settings file by the names of the fields. Raises SettingError."""
    try:
        text = file.read_text("utf-8")
        values = tomllib.loads(text)
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else error
        hint = " Use sudo." if isinstance(error, PermissionError) else ""
        raise SettingError(f"{file} cannot be read: {reason}.{hint}") from error
    lines = _key_lines(text)
    given = {}
    for name, value in _flat(values):
        place = f"{file}, line {lines.get(name, 0)}"
        if name not in KNOWN:
            raise SettingError(f"{place}: {unknown_name_sentence(name, name)}")
        given[name] = GivenValue(value, place)
    return given


def _flat(values: Mapping[str, Any]) -> Iterator[tuple[str, object]]:
    """Names and values, those of tables with the table's name before them."""
    for key, value in values.items():
        if isinstance(value, dict):
            yield from ((f"{key}_{inner}", content) for inner, content in value.items())
        else:
            yield key, value


def _key_lines(text: str) -> dict[str, int]:
    """The number of the line that each value is on."""
    lines: dict[str, int] = {}
    table = ""
    for number, line in enumerate(text.splitlines(), 1):
        if header := TABLE_LINE.match(line):
            table = f"{header[1].strip()}_"
        elif key := KEY_LINE.match(line):
            lines.setdefault(f"{table}{key[1].replace('.', '_')}", number)
    return lines


def _open_file_sentences(variables: Mapping[str, str]) -> list[str]:
    """A sentence for each file with a password that every account of this machine can read."""
    try:
        given, config = _given_values(variables), _file_of(variables)
    except SettingError:
        return []
    secrets = [setting.name for setting in SETTINGS if setting.is_secret and setting.name != "redis_url"]
    files = [
        Path(str(given[name].value)) for name in (f"{each}{IN_FILE}" for each in secrets) if name in given
    ]
    if config is not None and any(
        f"{config}, line" in given[name].origin for name in secrets if name in given
    ):
        files.append(config)
    return [
        f"{file} has a password in it, and others can read it: chmod o-rwx {file}"
        for file in files
        if file.is_file() and file.stat().st_mode & OPEN_TO_OTHERS
    ]


# The settings that follow from them.


def _build(given: Mapping[str, GivenValue]) -> Settings:
    values: dict[str, Any] = {}
    for setting in SETTINGS:
        in_file = given.get(f"{setting.name}{IN_FILE}") if setting.is_secret else None
        if setting.name in given and in_file is not None:
            raise SettingError(f"{in_file.origin}: {setting.name} is given, too. Give one of them.")
        if in_file is not None:
            folder = given.get("data_folder", GivenValue("", ""))
            values[setting.name] = _read_secret(in_file, Path(str(folder.value)))
        elif setting.name in given:
            values[setting.name] = _parse(setting, given[setting.name])
    if "base_url" in values:
        # Paths begin with a slash, so the base URL must not end with one.
        values["base_url"] = values["base_url"].rstrip("/")
    preset = values.get("quotas", "club")
    if preset not in QUOTAS:
        raise SettingError(f"{_label(given, 'quotas')} must be one of {', '.join(QUOTAS)}, not {preset!r}.")
    values |= QUOTAS[preset]
    if values.get("stand_in") and preset != "open":
        # Clients pace themselves by the service whose place this is.
        values["rate_limit_per_minute"] = max(STAND_IN_PER_MINUTE, values.get("rate_limit_per_minute", 0))
    loaded = _with_places(Settings(**values))
    _refuse_impossible(loaded, given)
    return loaded


def _with_places(loaded: Settings) -> Settings:
    """The settings with absolute paths, where there is a data folder, and with the password in its URL."""
    folder = loaded.data_folder
    file = loaded.database_url.removeprefix("sqlite:///").partition("?")[0]
    is_file = loaded.database_url.startswith("sqlite:///") and not file.startswith((":memory:", "file:"))
    # Without a data folder, what a command makes by itself is beside the database, wherever it is given.
    beside = folder or (os.path.dirname(file) if is_file else "")
    loaded = replace(loaded, backup_folder=os.path.join(beside, loaded.backup_folder))
    if folder:
        placed = {
            name: os.path.join(folder, value)
            for name in ("secret_file", "exports_folder")
            if (value := getattr(loaded, name))
        }
        if is_file and file:
            placed["database_url"] = f"sqlite:///{os.path.join(folder, loaded.database_url[10:])}"
        loaded = replace(loaded, **placed)  # type: ignore[arg-type]  # all are text
    if loaded.database_password:
        scheme, _, rest = loaded.database_url.partition("://")
        account, _, place = rest.rpartition("@")
        password = quote(loaded.database_password, safe="")
        loaded = replace(loaded, database_url=f"{scheme}://{account}:{password}@{place}")
    return loaded


def _read_secret(given: GivenValue, folder: Path) -> str:
    """The first line of the file that a setting names."""
    file = folder / str(given.value)
    try:
        lines = file.read_text("utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else "it is no text"
        raise SettingError(f"{given.origin}: {file} cannot be read: {reason}.") from error
    return lines[0] if lines else ""


def _parse(setting: SettingDescription, given: GivenValue) -> object:
    value = given.value
    label = given.origin if given.origin.startswith(PREFIX) else f"{given.origin}: {setting.name}"
    if setting.kind == "bool":
        if isinstance(value, bool):
            return value
        word = str(value).lower()
        if isinstance(value, str) and word in TRUE_WORDS | FALSE_WORDS:
            return word in TRUE_WORDS
        raise SettingError(f"{label} must be true or false, not {value!r}.")
    if isinstance(value, list) and all(isinstance(each, str) for each in value):
        value = ",".join(value)
    try:
        # A variable has text for a number, too.
        return convert(value, type=type(Settings.__dataclass_fields__[setting.name].default), strict=False)
    except ValidationError as error:
        raise SettingError(f"{label} must be {KINDS[setting.kind]}, not {value!r}.") from error


def _label(given: Mapping[str, GivenValue], name: str) -> str:
    """How a sentence names a setting: as it was written, or by its variable."""
    source = given.get(name) or given.get(f"{name}{IN_FILE}")
    if source is None or source.origin.startswith(PREFIX):
        return PREFIX + name.upper()
    return f"{source.origin}: {name}"


def _refuse_impossible(loaded: Settings, given: Mapping[str, GivenValue]) -> None:
    """Raise SettingError for values that mean nothing, alone or together."""
    if loaded.base_url and not WEB_ADDRESS.fullmatch(loaded.base_url):
        label = _label(given, "base_url")
        raise SettingError(f"{label} must be like https://pinball.example.org, not {loaded.base_url!r}.")
    for name in ("egress_proxy", "metrics_address"):
        value = getattr(loaded, name)
        if value and (
            not HOST_AND_PORT.fullmatch(value) or not 0 < int(value.rpartition(":")[2]) <= PORT_MAX
        ):
            raise SettingError(f"{_label(given, name)} must be HOST:PORT, not {value!r}.")
    if loaded.backup_by not in ("", "litestream"):
        raise SettingError(f"{_label(given, 'backup_by')} must be litestream, not {loaded.backup_by!r}.")
    if loaded.database_password and not urlsplit(loaded.database_url).username:
        label = _label(given, "database_password")
        raise SettingError(f"{label} needs a user in the address of the database: //USER@HOST/NAME.")
    _refuse_missing_library(loaded, given)
    if loaded.mail_server:
        _refuse_impossible_mail(loaded, given)
    for proxy in filter(None, (part.strip() for part in loaded.trusted_proxies.split(","))):
        if proxy != "unix" and not _is_network(proxy):
            label = _label(given, "trusted_proxies")
            raise SettingError(f"{label}: {proxy!r} is no address, network or `unix`.")


def _refuse_missing_library(loaded: Settings, given: Mapping[str, GivenValue]) -> None:
    """Raise SettingError for a value that needs what only several nodes have installed."""
    for name, library in (("database_url", "psycopg"), ("redis_url", "redis")):
        is_needed = not getattr(loaded, name).startswith("sqlite:") and getattr(loaded, name)
        if is_needed and find_spec(library) is None:
            raise SettingError(
                f"{_label(given, name)} needs {library}, which is not installed: python -m pip install"
                " --require-hashes -r requirements/nodes.txt"
            )


def _refuse_impossible_mail(loaded: Settings, given: Mapping[str, GivenValue]) -> None:
    label = _label(given, "mail_server")
    try:
        address = loaded.mail
    except ValueError:
        address = None
    is_known = (
        loaded.mail_server.startswith("smtp://") and address is not None and address.host and address.port
    )
    if address is None or not is_known:
        raise SettingError(f"{label} must be smtp://USER@HOST:PORT, not {loaded.mail_server!r}.")
    if not loaded.base_url:
        raise SettingError(f"{label} needs {PREFIX}BASE_URL: links in mails begin with it.")
    if not MAIL_SENDER.fullmatch(loaded.mail_sender):
        label = _label(given, "mail_sender")
        raise SettingError(f"{label} must be a mail address, not {loaded.mail_sender!r}.")
    if address.user and not address.is_encrypted:
        raise SettingError(f"{label} has a name and no TLS: a password is not sent in plain.")


def _is_network(text: str) -> bool:
    try:
        ipaddress.ip_network(text, strict=False)
    except ValueError:
        return False
    return True
