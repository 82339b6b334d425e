"""The sentences below the fields of a Struct, which the published descriptions show.

    class Arena(Wire, frozen=True, kw_only=True):
        \"\"\"An arena of an organizer.\"\"\"

        name: str
        \"\"\"Name of the arena, as its organizer wrote it.\"\"\"

Python keeps no such texts, so they are read from the source, when the first description is built.
"""

import ast
import inspect
import sys
from functools import cache

# What follows these in a docstring is for the project's own readers.
OWN_NOTES = (" Source: ", " Our addition")


def field_texts(struct: type) -> dict[str, str]:
    """Field name -> the sentence below it, in this class or in one that it inherits from."""
    texts: dict[str, str] = {}
    for kind in reversed(getattr(struct, "__origin__", struct).__mro__):
        texts |= _texts_of_module(kind.__module__).get(kind.__qualname__, {})
    return texts


def summary_text(docstring: str) -> str:
    """The first paragraph of a docstring on one line, without the note of its source."""
    paragraph = " ".join(inspect.cleandoc(docstring).split("\n\n")[0].split())
    for note in OWN_NOTES:
        paragraph = paragraph.partition(note)[0]
    return paragraph


def details_text(docstring: str) -> str:
    """The paragraphs after the first."""
    return "\n\n".join(inspect.cleandoc(docstring).split("\n\n")[1:])


@cache
def _texts_of_module(name: str) -> dict[str, dict[str, str]]:
    """Class name -> field name -> text, for the classes of one module."""
    try:
        source = inspect.getsource(sys.modules[name])
    except (KeyError, OSError, TypeError):
        # A module without source: the interpreter's own, or one typed into it.
        return {}
    classes = [node for node in ast.parse(source).body if isinstance(node, ast.ClassDef)]
    return {node.name: _texts_of_class(node) for node in classes}


def _texts_of_class(node: ast.ClassDef) -> dict[str, str]:
    texts = {}
    for field, below in zip(node.body, node.body[1:], strict=False):
        if not isinstance(field, ast.AnnAssign) or not isinstance(field.target, ast.Name):
            continue
        match below:
            case ast.Expr(value=ast.Constant(value=str(text))):
                texts[field.target.id] = " ".join(text.split())
    return texts
