"""Every setting: name, type, default, meaning. The only reader of the environment.

The table in `docs/settings.md` is generated from `SETTINGS`; a house test keeps them equal.
"""

import ipaddress
import os
import re
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from typing import TypeVar

from msgspec import Struct

T = TypeVar("T")
PREFIX = "SILVERBALL_"
MAIL_SENDER = re.compile(r"{0}|[^<>@\r\n]+ <{0}>".format(r"[^\s@<>,]+@[^\s@<>,]+"), re.ASCII)
HOST_AND_PORT = re.compile(r"[^\s:/@]+:[0-9]{1,5}")
WEB_ADDRESS = re.compile(r"https?://[^\s/?#]+(/[^\s?#]*)?")
# What a line of security.txt can hold (RFC 9116); no e-mail address without `mailto:`.
CONTACT = re.compile(r"mailto:[^\s@]+@[^\s@]+|https://\S+", re.ASCII)
PORT_MAX = 65_535
STAND_IN_PER_MINUTE = 120
# How alike an unknown name and a setting must be for a hint, from 0 to 1.
SIMILARITY_MIN = 0.8
TRUE_WORDS = frozenset({"1", "true", "on", "yes"})
NUMBER = re.compile(r"[0-9]{1,6}(\.[0-9]{1,6})?", re.ASCII)
FALSE_WORDS = frozenset({"0", "false", "off", "no", ""})


class SettingError(ValueError):
    """An invalid setting; the message names it."""


def _setting(default: T, meaning: str, *, is_secret: bool = False) -> T:
    """A setting that is read from the environment."""
    setting: T = field(default=default, repr=not is_secret, metadata={"meaning": meaning})
    return setting


@dataclass(frozen=True, kw_only=True)
class Settings:
    """The settings of one process. The field `base_url` is read from `SILVERBALL_BASE_URL`, and so on."""

    database_url: str = _setting(
        "sqlite:///silverball.db", "The database: `sqlite:///FILE` or `postgresql+psycopg://USER@HOST/NAME`."
    )
    secret_file: str = _setting(
        "",
        "File of the key that encrypts secrets in the database; empty means, for SQLite, a"
        " file beside the database. PostgreSQL needs one, the same for all nodes: `silverball secret`"
        " makes it.",
    )
    base_url: str = _setting(
        "",
        "Base URL of links in answers; empty means the bind address, or beyond loopback the"
        " address that each client uses.",
    )
    public_read: bool = _setting(
        False, "Allow reading tournaments, series, users and search without a token."
    )
    stand_in: bool = _setting(
        False,
        "Take the place of another service: any app key, reading without a token, tokens of others read as"
        " nobody, 120 requests a minute.",
    )
    rate_limit_per_minute: int = _setting(60, "Requests per minute for one user; 0 means no limit.")
    standings_interval_seconds: int = _setting(
        15, "Seconds for which a caller is given a running tournament's standings again; 0 means none."
    )
    cache_megabytes: int = _setting(64, "Size of the response cache in megabytes; 0 disables it.")
    redis_url: str = _setting(
        "",
        "Redis that notifies several nodes of changes and shares allowances among them: `redis://HOST:PORT/0`.",
    )
    redis_prefix: str = _setting("silverball", "Prefix of the names in Redis.")
    rating_default: float = _setting(1500.0, "Rating of a new player.")
    rating_rd_default: float = _setting(75.0, "Rating deviation (RD) of a new player.")
    rating_rd_max: float = _setting(75.0, "Maximum rating deviation.")
    rating_rd_min: float = _setting(20.0, "Minimum rating deviation.")
    rating_c: float = _setting(
        2.137, "Growth of the deviation: the square of this is added to the squared RD every day."
    )
    rating_round_expected: bool = _setting(
        True, "Round expected scores to four decimals, as in existing ratings."
    )
    rating_delay_days: int = _setting(7, "Days for corrections before results are rated.")
    connections_per_address: int = _setting(
        1_000,
        "Maximum connections, and event streams, of one account, or of strangers at one address, for IPv6 in"
        " one /64 network; never more than two fifths of the open file limit. Trusted proxies are not"
        " limited.",
    )
    pages_per_minute: int = _setting(
        1_200,
        "Pages, calendars and profiles computed per minute for one account or device, or for strangers at one"
        " address; cached ones are free, and 0 means no limit.",
    )
    tournaments_per_account: int = _setting(10_000, "Maximum tournaments of one account; 0 means no limit.")
    players_per_account: int = _setting(50_000, "Maximum players in one account's book; 0 means no limit.")
    webhooks_per_account: int = _setting(
        1_000, "Maximum webhooks of all tournaments of one account; 0 means no limit."
    )
    journal_megabytes_per_account: int = _setting(
        2_000, "Maximum megabytes of the history of all tournaments of one account; 0 means no limit."
    )
    replies_megabytes_per_account: int = _setting(
        500,
        "Maximum megabytes of replies kept for a day for one account's requests with"
        " `Idempotency-Key`; 0 means no limit.",
    )
    trusted_proxies: str = _setting(
        "127.0.0.0/8,::1,unix",
        "Proxies whose `X-Forwarded-For` and `X-Forwarded-Proto` are believed: addresses,"
        " networks and `unix`, with commas; empty means none.",
    )
    security_contact: str = _setting(
        "",
        "Where to report security problems: `mailto:` or `https:` addresses with commas,"
        " shown at `/.well-known/security.txt`; empty means no such page.",
    )
    sign_in_days: int = _setting(14, "Days after which a sign-in ends in any case; at least 1.")
    sign_in_idle_hours: int = _setting(72, "Hours without a request after which a sign-in ends; at least 1.")
    audit_days: int = _setting(365, "Days that entries of the audit log are kept; at least 1.")
    smtp_host: str = _setting("", "SMTP server that mails links to new passwords; empty means none.")
    smtp_port: int = _setting(587, "Port of the SMTP server.")
    smtp_user: str = _setting("", "Name at the SMTP server; empty means none.")
    smtp_password: str = _setting("", "Password for `SMTP_USER`.", is_secret=True)
    smtp_starttls: bool = _setting(True, "Speak TLS with the SMTP server, by STARTTLS.")
    smtp_sender: str = _setting("", "Address that mails come from, or `NAME <ADDRESS>`.")
    metrics_port: int = _setting(0, "Port of `/metrics` for Prometheus, apart from the site; 0 means none.")
    metrics_host: str = _setting("127.0.0.1", "Address that `/metrics` listens on.")
    apps: str = _setting(
        "silverball=plain,silverball-laravel=laravel",
        "App keys of the feed, `key=style` with commas; styles `plain`, `laravel`, `disabled`.",
    )
    app_origins: str = _setting(
        "", "Origins of pages that may use an app key, `key=ORIGIN ORIGIN` with commas; else all."
    )
    feed_require_tls: bool = _setting(False, "Refuse sockets whose `X-Forwarded-Proto` is not `https`.")
    feed_connections_max: int = _setting(0, "Maximum sockets; 0 means four fifths of the open file limit.")
    feed_connections_per_address: int = _setting(
        1_000, "Maximum sockets from one address, for IPv6 from one /64 network; 0 means no limit."
    )
    feed_compression: bool = _setting(False, "Compress feed messages for clients that support it.")
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
    # Not read from the environment: only `silverball demo` sends webhooks to programs on its own machine.
    allow_loopback: bool = False

    @property
    def is_open_to_readers(self) -> bool:
        """Whether tournaments, series, users and search are read without a token."""
        return self.public_read or self.stand_in

    @property
    def security_contacts(self) -> tuple[str, ...]:
        """Return where to report security problems."""
        return tuple(filter(None, (part.strip() for part in self.security_contact.split(","))))


class SettingDescription(Struct, frozen=True):
    """A setting as documented."""

    name: str
    kind: str
    default: str
    meaning: str


# A field without a meaning is handed by a command, and never read from the environment.
ENVIRONMENT_FIELDS = tuple(setting for setting in fields(Settings) if "meaning" in setting.metadata)
SETTINGS: tuple[SettingDescription, ...] = tuple(
    SettingDescription(
        name=PREFIX + setting.name.upper(),
        kind=str(setting.type.__name__ if isinstance(setting.type, type) else setting.type),
        default=str(setting.default).lower() if isinstance(setting.default, bool) else str(setting.default),
        meaning=str(setting.metadata["meaning"]),
    )
    for setting in ENVIRONMENT_FIELDS
)


def settings_table() -> str:
    """The table of settings in the docs."""
    rows = [
        f"| `{setting.name}` | {setting.kind} | {_default_cell(setting)} | {setting.meaning} |"
        for setting in SETTINGS
    ]
    return "\n".join(["| Setting | Type | Default | Meaning |", "|---|---|---|---|", *rows])


def _default_cell(setting: SettingDescription) -> str:
    return f"`{setting.default}`" if setting.default else "(empty)"


def load(environment: Mapping[str, str] | None = None) -> Settings:
    """The settings from the environment. Raises SettingError for an invalid one."""
    variables = os.environ if environment is None else environment
    values: dict[str, str | float | bool] = {}
    for setting in ENVIRONMENT_FIELDS:
        name = PREFIX + setting.name.upper()
        if name in variables:
            values[setting.name] = _parse(name, variables[name].strip(), setting.default)
    if values.get("egress_proxy") and not HOST_AND_PORT.fullmatch(str(values["egress_proxy"])):
        raise SettingError(f"{PREFIX}EGRESS_PROXY must be HOST:PORT, not {values['egress_proxy']!r}.")
    if "base_url" in values:
        # Paths begin with a slash, so the base URL must not end with one.
        values["base_url"] = str(values["base_url"]).rstrip("/")
    if values.get("stand_in"):
        # Clients pace themselves by the service whose place this is.
        values.setdefault("rate_limit_per_minute", STAND_IN_PER_MINUTE)
    loaded = Settings(**values)  # type: ignore[arg-type]  # _parse returns the type of the default
    _refuse_impossible(loaded)
    return loaded


def notify_socket(environment: Mapping[str, str] | None = None) -> str:
    """The socket of the service manager that has started the program; empty without one."""
    variables = os.environ if environment is None else environment
    return variables.get("NOTIFY_SOCKET", "")


def unknown_names(environment: Mapping[str, str] | None = None) -> dict[str, str]:
    """The variables that look like settings and are none, each with the setting that was meant, or empty."""
    variables = os.environ if environment is None else environment
    known = [setting.name for setting in SETTINGS]
    unknown = [name for name in variables if name.upper().startswith(PREFIX) and name not in known]
    return {name: _most_alike(name.upper(), known) for name in sorted(unknown)}


def passed_listeners(environment: Mapping[str, str] | None = None) -> int:
    """How many listening sockets systemd has opened for this process, from its first free number."""
    variables = os.environ if environment is None else environment
    count = variables.get("LISTEN_FDS", "")
    is_for_us = variables.get("LISTEN_PID") == str(os.getpid())
    return int(count) if is_for_us and count.isascii() and count.isdigit() else 0


def _most_alike(name: str, known: list[str]) -> str:
    """The known name that is nearly this one, or empty."""
    import difflib

    return next(iter(difflib.get_close_matches(name, known, n=1, cutoff=SIMILARITY_MIN)), "")


def unknown_name_sentence(name: str, meant: str) -> str:
    """Say that a variable is no setting."""
    return f"{name} is no setting{f'; did you mean {meant}?' if meant else ' of this program.'}"


def _refuse_impossible(loaded: Settings) -> None:
    """Raise SettingError for values that are valid alone but not together."""
    if not 0 < loaded.rating_rd_min <= loaded.rating_rd_default <= loaded.rating_rd_max:
        raise SettingError(
            "SILVERBALL_RATING_RD_MIN must be above 0, and _RD_DEFAULT between it and _RD_MAX."
        )
    if loaded.base_url and not WEB_ADDRESS.fullmatch(loaded.base_url):
        raise SettingError(
            f"{PREFIX}BASE_URL must be like https://pinball.example.org, not {loaded.base_url!r}."
        )
    for name in ("audit_days", "sign_in_days", "sign_in_idle_hours"):
        if getattr(loaded, name) < 1:
            raise SettingError(f"{PREFIX}{name.upper()} must be at least 1.")
    if loaded.metrics_port > PORT_MAX:
        raise SettingError(f"{PREFIX}METRICS_PORT must be a port from 1 to {PORT_MAX}, or 0.")
    if loaded.smtp_host:
        _refuse_impossible_mail(loaded)
    for contact in loaded.security_contacts:
        if not CONTACT.fullmatch(contact):
            raise SettingError(
                f"{PREFIX}SECURITY_CONTACT: {contact!r} is no address with `mailto:` or `https:` before it."
            )
    for proxy in filter(None, (part.strip() for part in loaded.trusted_proxies.split(","))):
        if proxy != "unix" and not _is_network(proxy):
            raise SettingError(f"SILVERBALL_TRUSTED_PROXIES: {proxy!r} is no address, network or `unix`.")


def _refuse_impossible_mail(loaded: Settings) -> None:
    if not loaded.base_url:
        raise SettingError("SILVERBALL_SMTP_HOST needs SILVERBALL_BASE_URL: links in mails begin with it.")
    if not MAIL_SENDER.fullmatch(loaded.smtp_sender):
        raise SettingError(f"SILVERBALL_SMTP_SENDER must be a mail address, not {loaded.smtp_sender!r}.")
    if not 0 < loaded.smtp_port <= PORT_MAX:
        raise SettingError(f"SILVERBALL_SMTP_PORT must be a port from 1 to {PORT_MAX}.")
    if loaded.smtp_user and not loaded.smtp_starttls:
        raise SettingError(
            "SILVERBALL_SMTP_USER needs SILVERBALL_SMTP_STARTTLS: a password is not sent in plain."
        )


def _is_network(text: str) -> bool:
    try:
        ipaddress.ip_network(text, strict=False)
    except ValueError:
        return False
    return True


def _parse(name: str, text: str, default: object) -> str | float | bool:
    if isinstance(default, bool):
        return _parse_flag(name, text)
    if isinstance(default, float):
        return _parse_number(name, text)
    if isinstance(default, int):
        return _parse_count(name, text)
    return text


def _parse_flag(name: str, text: str) -> bool:
    if text.lower() in TRUE_WORDS:
        return True
    if text.lower() in FALSE_WORDS:
        return False
    raise SettingError(f"{name} must be true or false, not {text!r}.")


def _parse_count(name: str, text: str) -> int:
    if text.isascii() and text.isdigit() and len(text) < 10:
        return int(text)
    raise SettingError(f"{name} must be a whole number from 0, not {text!r}.")


def _parse_number(name: str, text: str) -> float:
    if NUMBER.fullmatch(text):
        return float(text)
    raise SettingError(f"{name} must be a number from 0, not {text!r}.")
