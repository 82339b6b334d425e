"""Values that a page shows again and again are rendered once, and escaped as everywhere."""

from typing import Any

import jinja2
from markupsafe import Markup

from silverball.web.public.views import RenderedOnce

PAGE = "{% macro cell(text) %}<td>{{ note(text) }}</td>{% endmacro %}{{ rendered_once(cell).join(texts) }}"


def test_a_value_is_rendered_once_and_escaped() -> None:
    rendered: list[str] = []

    def note(text: str) -> str:
        rendered.append(text)
        return text

    context: dict[str, Any] = {"note": note, "rendered_once": RenderedOnce, "texts": ["7", "<b>", "7", "<b>"]}
    page = jinja2.Environment(autoescape=True).from_string(PAGE).render(context)
    assert page == "<td>7</td><td>&lt;b&gt;</td>" * 2
    assert rendered == ["7", "<b>"]


def test_nothing_is_joined_to_nothing() -> None:
    assert RenderedOnce(Markup).join([]) == Markup("")
