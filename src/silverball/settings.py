"""Every setting: name, type, default, meaning. The only reader of the environment.

The table in the README and in `docs/` is generated from `SETTINGS`; a house test keeps them equal.
"""

import os
from collections.abc import Mapping
from dataclasses import dataclass, field, fields

PREFIX = "SILVERBALL_"
TRUE_WORDS = frozenset({"1", "true", "on", "yes"})
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


@dataclass(frozen=True)
class Described:
    """One row of the documentation."""

    name: str
    kind: str
    default: str
    meaning: str


SETTINGS: tuple[Described, ...] = tuple(
    Described(
        name=PREFIX + one.name.upper(),
        kind=str(one.type.__name__ if isinstance(one.type, type) else one.type),
        default=str(one.default).lower() if isinstance(one.default, bool) else str(one.default),
        meaning=str(one.metadata["meaning"]),
    )
    for one in fields(Settings)
)


def table() -> str:
    """The settings as the table that the README shows."""
    rows = [f"| `{one.name}` | {one.kind} | {_default(one)} | {one.meaning} |" for one in SETTINGS]
    return "\n".join(["| Setting | Type | Default | Meaning |", "|---|---|---|---|", *rows])


def _default(one: Described) -> str:
    return f"`{one.default}`" if one.default else "(empty)"


def load(environment: Mapping[str, str] | None = None) -> Settings:
    """The settings of this process. Raises SettingError with the name of a bad one."""
    given = os.environ if environment is None else environment
    values: dict[str, str | int | bool] = {}
    for one in fields(Settings):
        name = PREFIX + one.name.upper()
        if name in given:
            values[one.name] = _parsed(name, given[name].strip(), one.default)
    if "base_url" in values:
        # Paths begin with a slash.
        values["base_url"] = str(values["base_url"]).rstrip("/")
    return Settings(**values)  # type: ignore[arg-type]  # _parsed gives the type of the default


def _parsed(name: str, text: str, default: object) -> str | int | bool:
    if isinstance(default, bool):
        return _flag(name, text)
    if isinstance(default, int):
        return _count(name, text)
    return text


def _flag(name: str, text: str) -> bool:
    if text.lower() in TRUE_WORDS:
        return True
    if text.lower() in FALSE_WORDS:
        return False
    raise SettingError(f"{name} must be true or false, not {text!r}.")


def _count(name: str, text: str) -> int:
    if text.isascii() and text.isdigit() and len(text) < 10:
        return int(text)
    raise SettingError(f"{name} must be a whole number from 0, not {text!r}.")
