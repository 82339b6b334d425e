"""Every setting: name, type, default, meaning. The only reader of the environment.

The table in the README and in `docs/` is generated from `SETTINGS`; a house test keeps them equal.
"""

import os
import re
from collections.abc import Mapping
from dataclasses import dataclass, field, fields

PREFIX = "SILVERBALL_"
HOST_AND_PORT = re.compile(r"[^\s:/@]+:[0-9]{1,5}")
TRUE_WORDS = frozenset({"1", "true", "on", "yes"})
NUMBER = re.compile(r"[0-9]{1,6}(\.[0-9]{1,6})?", re.ASCII)
FALSE_WORDS = frozenset({"0", "false", "off", "no", ""})


class SettingError(ValueError):
    """A setting that cannot be understood; the message names it."""


@dataclass(frozen=True, kw_only=True)
class Settings:
    """The settings of one process. Field `base_url` is read from `SILVERBALL_BASE_URL`, and so on."""

    database_url: str = field(
        default="sqlite:///silverball.db",
        metadata={
            "meaning": "Where the data lives: `sqlite:///FILE` or `postgresql+psycopg://USER@HOST/NAME`."
        },
    )
    base_url: str = field(
        default="",
        metadata={"meaning": "Address that links in answers begin with; empty means the bind address."},
    )
    public_read: bool = field(
        default=False,
        metadata={"meaning": "Let tournaments, series, users and search be read without a token."},
    )
    rate_limit_per_minute: int = field(
        default=60, metadata={"meaning": "Requests a minute for one user; 0 means no limit."}
    )
    standings_interval_seconds: int = field(
        default=15,
        metadata={
            "meaning": "Least time between two reads of a running tournament's standings; 0 means none."
        },
    )
    cache_megabytes: int = field(
        default=64, metadata={"meaning": "Memory for finished answers, in megabytes; 0 keeps none."}
    )
    redis_url: str = field(
        default="",
        metadata={"meaning": "Redis by which several nodes nudge each other: `redis://HOST:PORT/0`."},
    )
    redis_prefix: str = field(
        default="silverball", metadata={"meaning": "What the names in Redis begin with."}
    )
    rating_default: float = field(
        default=1500.0, metadata={"meaning": "Rating of somebody who has not played yet."}
    )
    rating_rd_default: float = field(
        default=75.0, metadata={"meaning": "Deviation (RD) of somebody who has not played yet."}
    )
    rating_rd_max: float = field(default=75.0, metadata={"meaning": "The largest deviation."})
    rating_rd_min: float = field(default=20.0, metadata={"meaning": "The smallest deviation."})
    rating_c: float = field(
        default=2.137,
        metadata={"meaning": "How fast a deviation grows: its square is added to the squared RD every day."},
    )
    rating_round_expected: bool = field(
        default=True, metadata={"meaning": "Round expected scores to four decimals, as existing ratings are."}
    )
    rating_delay_days: int = field(
        default=7, metadata={"meaning": "Days that results may be corrected before they are rated."}
    )
    apps: str = field(
        default="silverball=plain,silverball-laravel=laravel",
        metadata={
            "meaning": "App keys of the feed, `key=style` with commas; styles `plain`, `laravel`, `disabled`."
        },
    )
    app_origins: str = field(
        default="",
        metadata={"meaning": "Pages that may use an app key, `key=ORIGIN ORIGIN` with commas; others: all."},
    )
    feed_require_tls: bool = field(
        default=False,
        metadata={"meaning": "Refuse sockets whose `X-Forwarded-Proto` is not https."},
    )
    feed_connections_max: int = field(
        default=0,
        metadata={"meaning": "Sockets of one process; 0 means four fifths of the files it may open."},
    )
    feed_connections_per_address: int = field(
        default=0, metadata={"meaning": "Sockets from one address; 0 means any number."}
    )
    feed_compression: bool = field(
        default=False, metadata={"meaning": "Compress messages of the feed for clients that offer it."}
    )
    feed_asgi: bool = field(
        default=False,
        metadata={"meaning": "Run sockets through plain ASGI: slower, but with no internals of the server."},
    )
    submission_hosts: str = field(
        default="",
        metadata={
            "meaning": "Hosts that rating submissions may be fetched from, with commas; `*` means every"
            " public one, empty none but the trusted."
        },
    )
    submission_hosts_trusted: str = field(
        default="",
        metadata={"meaning": "Hosts whose rating submissions are approved without a moderator, with commas."},
    )
    egress_proxy: str = field(
        default="",
        metadata={
            "meaning": "`HOST:PORT` of an HTTP proxy for connections to addresses that users name; empty"
            " means none."
        },
    )
    webhook_lan: bool = field(
        default=False,
        metadata={
            "meaning": "Let webhooks reach machines of private networks too, there also without TLS and at"
            " any port: for a venue."
        },
    )
    exports_folder: str = field(
        default="",
        metadata={
            "meaning": "Folder for the bulk files, written once a day and served to anyone under `/exports/`;"
            " empty means none."
        },
    )


@dataclass(frozen=True)
class SettingDescription:
    """One row of the documentation."""

    name: str
    kind: str
    default: str
    meaning: str


SETTINGS: tuple[SettingDescription, ...] = tuple(
    SettingDescription(
        name=PREFIX + one.name.upper(),
        kind=str(one.type.__name__ if isinstance(one.type, type) else one.type),
        default=str(one.default).lower() if isinstance(one.default, bool) else str(one.default),
        meaning=str(one.metadata["meaning"]),
    )
    for one in fields(Settings)
)


def settings_table() -> str:
    """The settings as the table that the README shows."""
    rows = [f"| `{one.name}` | {one.kind} | {_default_cell(one)} | {one.meaning} |" for one in SETTINGS]
    return "\n".join(["| Setting | Type | Default | Meaning |", "|---|---|---|---|", *rows])


def _default_cell(one: SettingDescription) -> str:
    return f"`{one.default}`" if one.default else "(empty)"


def load(environment: Mapping[str, str] | None = None) -> Settings:
    """The settings of this process. Raises SettingError with the name of a bad one."""
    given = os.environ if environment is None else environment
    values: dict[str, str | float | bool] = {}
    for one in fields(Settings):
        name = PREFIX + one.name.upper()
        if name in given:
            values[one.name] = _parse(name, given[name].strip(), one.default)
    if values.get("egress_proxy") and not HOST_AND_PORT.fullmatch(str(values["egress_proxy"])):
        raise SettingError(f"{PREFIX}EGRESS_PROXY must be HOST:PORT, not {values['egress_proxy']!r}.")
    if "base_url" in values:
        # Paths begin with a slash.
        values["base_url"] = str(values["base_url"]).rstrip("/")
    loaded = Settings(**values)  # type: ignore[arg-type]  # _parsed gives the type of the default
    _refuse_impossible(loaded)
    return loaded


def _refuse_impossible(loaded: Settings) -> None:
    """Raises SettingError for values that each could be but not together."""
    if not 0 < loaded.rating_rd_min <= loaded.rating_rd_default <= loaded.rating_rd_max:
        raise SettingError(
            "SILVERBALL_RATING_RD_MIN must be above 0, _RD_DEFAULT not below it and not above _RD_MAX."
        )


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
