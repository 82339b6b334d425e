"""Values that a page shows again and again, such as the same points in many cells of a table."""

from collections.abc import Callable, Iterable
from typing import Any

from markupsafe import Markup


class RenderedOnce(dict[Any, Markup]):
    """Value -> its markup, made by a macro when the value first comes."""

    def __init__(self, macro: Callable[[Any], Markup]) -> None:
        super().__init__()
        self._macro = macro

    def __missing__(self, value: Any) -> Markup:
        self[value] = rendered = self._macro(value)
        return rendered

    def join(self, values: Iterable[Any]) -> Markup:
        """Render the values, one after the other."""
        return Markup("".join(map(self.__getitem__, values)))  # noqa: S704  # a macro has escaped it
