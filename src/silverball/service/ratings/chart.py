"""A year of a rating as a picture. pygal is imported on first use."""

import sys
from collections.abc import Sequence
from typing import Any

from silverball_wire.ratings import Rating, RatingHistoryPoint

WIDTH, HEIGHT = 800, 360
LABELS = 12
# The page around the picture may be dark.
STYLE = (
    "svg{{--ink:#1f2328;--faint:#d0d7de;--line:#0b62c4}}"
    "@media (prefers-color-scheme: dark){{svg{{--ink:#e6edf3;--faint:#3d444d;--line:#6cb6ff}}}}"
    "{id}.background,{id}.plot>.background{{fill:none}}"
    "{id}text,{id}.title,{id}.axis text,{id}.legends text{{fill:var(--ink)!important}}"
    "{id}.axis .line,{id}.axis .guides{{stroke:var(--faint)!important}}"
    "{id}.serie-0 .line{{stroke:var(--line)!important;stroke-width:2.5}}"
    "{id}.serie-1 .line,{id}.serie-2 .line{{stroke:var(--line)!important;stroke-opacity:.5}}"
    "{id}.serie-1 .line,{id}.serie-2 .line{{stroke-dasharray:4 4}}"
    "{id}.legend .reactive{{fill:var(--line)!important;stroke:none}}"
)
NAME = "chart-rating"


def render_chart(rating: Rating, history: Sequence[RatingHistoryPoint]) -> bytes:
    """The rating and its band as an SVG, without scripts and external resources."""
    pygal, style_of = _import_pygal()
    style = f"inline:{STYLE.format(id=f'#{NAME} ')}"
    chart = pygal.Line(
        style=style_of(font_family="sans-serif", background="transparent", plot_background="transparent"),
        width=WIDTH,
        height=HEIGHT,
        css=["file://style.css", "file://graph.css", style],
        js=[],
        show_dots=False,
        legend_at_bottom=True,
        x_label_rotation=30,
        show_minor_x_labels=False,
        disable_xml_declaration=True,
        title=f"Rating of {rating.name}",
        no_data_text="No period yet",
    )
    # pygal picks a random id; with a fixed one, equal ratings make equal pictures.
    chart.uuid = NAME.removeprefix("chart-")
    chart.x_labels = [point.rating_period for point in history]
    chart.x_labels_major = [point.rating_period for point in history[:: max(1, len(history) // LABELS)]]
    chart.add("Rating", [point.rating for point in history])
    chart.add("Upper bound", [point.upper_bound for point in history])
    chart.add("Lower bound", [point.lower_bound for point in history])
    chart.add_xml_filter(_without_scripts)
    svg: str = chart.render()
    return svg.encode()


def _import_pygal() -> tuple[Any, Any]:
    """Import pygal and its style class, and remove the import hook that pygal leaves behind.

    The hook serves maps. It is of a deprecated kind, so Python warns at every import that fails.
    """
    import pygal
    from pygal.style import Style

    sys.meta_path[:] = [finder for finder in sys.meta_path if type(finder).__module__ != "pygal"]
    return pygal, Style


def _without_scripts(root: Any) -> Any:
    """The picture without scripts, and without comments on the date and the generator."""
    for parent in list(root.iter()):
        for child in list(parent):
            if not isinstance(child.tag, str) or child.tag.rpartition("}")[2] == "script":
                parent.remove(child)
    return root
