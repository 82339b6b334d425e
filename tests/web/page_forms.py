"""Forms, alerts and text of an HTML page."""

import re
from dataclasses import dataclass, field
from html import unescape
from html.parser import HTMLParser

Fields = list[tuple[str, str]]
VOID = frozenset({"input", "meta", "link", "img", "br"})


@dataclass
class PageForm:
    """A form with the fields that it would send now, without a button."""

    id: str
    method: str
    action: str
    fields: Fields = field(default_factory=list)
    # Name and value of each submit button.
    buttons: Fields = field(default_factory=list)
    # Values of the options, by name of the select element.
    options: dict[str, list[str]] = field(default_factory=dict)
    # Values of checkboxes and radio buttons, by name.
    boxes: dict[str, list[str]] = field(default_factory=dict)

    def value(self, name: str) -> str:
        return next(value for sent, value in self.fields if sent == name)

    def filled(self, **given: object) -> Fields:
        """The fields with these values; a list is sent as several fields, None as none.

        `place_12` is the field `place-12`: a keyword cannot have the dash.
        """
        wanted = {re.sub(r"^(place|score|set|won)_", r"\1-", name): value for name, value in given.items()}
        rest = [pair for pair in self.fields if pair[0] not in wanted]
        for name, value in wanted.items():
            values = value if isinstance(value, list | tuple) else [value]
            rest += [(name, str(item)) for item in values if item is not None]
        return rest


class PageParser(HTMLParser):
    """A parser that collects the forms of a page."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.forms: dict[str, PageForm] = {}
        self._form: PageForm | None = None
        self._select: tuple[str, list[tuple[str, bool]]] | None = None
        self._area: tuple[str, list[str]] | None = None
        self.feed(html)

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        given = {name: value or "" for name, value in attributes}
        if tag == "form":
            key = given.get("id") or given["action"]
            assert key not in self.forms, f"two forms are called {key}"
            self._form = self.forms[key] = PageForm(key, given["method"], given["action"])
        form, name = self._form, given.get("name", "")
        if form is None or not name:
            pass
        elif tag == "input" and given.get("type") in {"checkbox", "radio"}:
            form.boxes.setdefault(name, []).append(given["value"])
            if "checked" in given:
                form.fields.append((name, given["value"]))
        elif tag == "input":
            form.fields.append((name, given.get("value", "")))
        elif tag == "button":
            form.buttons.append((name, given["value"]))
        elif tag == "select":
            self._select = (name, [])
        elif tag == "textarea":
            self._area = (name, [])
        if tag == "option" and self._select is not None:
            self._select[1].append((given["value"], "selected" in given))

    def handle_endtag(self, tag: str) -> None:
        if tag == "form":
            self._form = None
        if self._form is None:
            return
        if tag == "select" and self._select is not None:
            name, options = self._select
            chosen = [value for value, is_chosen in options if is_chosen] or [options[0][0]]
            self._form.fields.append((name, chosen[0]))
            self._form.options[name] = [value for value, _ in options]
            self._select = None
        if tag == "textarea" and self._area is not None:
            name, text = self._area
            self._form.fields.append((name, "".join(text)))
            self._area = None

    def handle_data(self, data: str) -> None:
        if self._area is not None:
            self._area[1].append(data)


def forms_on(html: str) -> dict[str, PageForm]:
    """The forms of a page by id."""
    return PageParser(html).forms


def alerts_on(html: str) -> list[str]:
    """The texts of the page's alerts."""
    found = re.findall(r'role="alert"[^>]*>(.*?)<(?:/p|a )', html, re.DOTALL)
    return [" ".join(unescape(alert).split()) for alert in found]


def text_of(html: str) -> str:
    """The visible text of the page."""
    bare = re.sub(r"<[^>]*>", " ", re.sub(r"<(script|style).*?</\1>", " ", html, flags=re.DOTALL))
    return " ".join(unescape(bare).split())


# The elements of our templates; any other comes from text that was not escaped.
OURS = (
    "html head meta title link body a header footer img nav main h1 h2 h3 p section form input button label"
    " select option textarea fieldset legend ul ol li dl dt dd div span bdi em strong small time"
    " details summary table caption thead tbody tr th td svg symbol use path circle rect pre code br"
)
ADDRESSES = frozenset({"href", "src", "action"})


class ForeignContent(HTMLParser):
    """A parser that collects elements, handlers and addresses that are not in our templates."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.found: list[str] = []
        self.feed(html)

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        if tag not in OURS.split() and not _is_module(tag, dict(attributes)):
            self.found.append(tag)
        for name, value in attributes:
            is_elsewhere = name in ADDRESSES and not (value or "").startswith(
                ("/", "#", "?", "http://silverball")
            )
            if name.startswith("on") or name == "style" or is_elsewhere:
                self.found.append(f"{tag} {name}={value}")


def _is_module(tag: str, given: dict[str, str | None]) -> bool:
    """Whether this is a module from our own static folder."""
    return tag == "script" and given.keys() == {"type", "src"} and (given["src"] or "").startswith("/static/")


def foreign_in(html: str) -> list[str]:
    """Elements, handlers and addresses of a page that are not in our templates."""
    return ForeignContent(html).found
