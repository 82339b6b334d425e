"""Write the generated modules of the typed client: `make client`.

They follow from the endpoint table and its Structs, from which openapi.json is built too. With `--check`
nothing is written, and the exit status says whether the client is up to date.
"""

import subprocess
import sys
import tempfile
from pathlib import Path

from generator import format_settings
from generator.operations import OperationWriter, describe
from generator.shapes import Structs
from silverball import slices
from silverball.kit.http.endpoints import collect_endpoints
from silverball_wire import events

ROOT = Path(__file__).parents[3]
PACKAGE = ROOT / "clients" / "python" / "src" / "silverball_client"
# Folders and files of the package that are generated, and nothing else is in them.
FOLDERS = ("operations", "shapes")
SETTINGS_FILE = PACKAGE.with_name("silverball_wire") / "format_settings.py"
FILES = ("bodies.py", "options.py", "words.py")
BASE = '''"""The base class of all answers."""

from msgspec import Struct


# gc=False: answers are trees, so the garbage collector need not search long lists for cycles.
class Shape(Struct, rename="camel", frozen=True, kw_only=True, gc=False):
    """A part of an answer. Fields that a newer service adds are ignored; absent fields are UNSET."""
'''


def sources() -> dict[str, str]:
    """Return the generated modules, formatted: file below the package -> text."""
    structs = Structs()
    writer = OperationWriter(structs)
    written = writer.modules(describe(collect_endpoints(*slices.ROUTE_MODULES)))
    for kind in [*events.EVENTS.values(), events.EventsPage]:
        structs.add_answer(kind)
    written |= structs.answer_modules()
    written |= {"bodies.py": structs.body_module(), "words.py": structs.word_module()}
    written |= {"shapes/base.py": BASE, "shapes/__init__.py": '"""The shapes of answers."""\n'}
    return _formatted(written)


def _formatted(written: dict[str, str]) -> dict[str, str]:
    ruff = str(Path(sys.executable).with_name("ruff"))
    with tempfile.TemporaryDirectory() as folder:
        package = Path(folder) / "clients" / "python" / "src" / "silverball_client"
        for name, text in written.items():
            path = package / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")
        # Otherwise ruff takes the package, which is elsewhere, for one of others.
        own = "lint.isort.known-first-party = ['silverball_client']"
        config = ["--quiet", "--no-cache", "--config", str(ROOT / "pyproject.toml"), "--config", own]
        subprocess.run(  # noqa: S603  # our own formatter
            [ruff, "check", *config, "--fix-only", "--select", "F401,I", folder], cwd=folder, check=True
        )
        subprocess.run([ruff, "format", *config, folder], cwd=folder, check=True)  # noqa: S603  # as above
        return {name: (package / name).read_text(encoding="utf-8") for name in written}


def settings_module() -> str:
    """Return the server's `silverball_wire/format_settings.py`, formatted."""
    return _formatted({SETTINGS_FILE.name: format_settings.source()})[SETTINGS_FILE.name]


def existing_files() -> set[str]:
    """Return the generated files that are in the package now."""
    found = {str(path.relative_to(PACKAGE)) for folder in FOLDERS for path in (PACKAGE / folder).glob("*.py")}
    return found | {name for name in FILES if (PACKAGE / name).exists()}


def outdated_files(generated: dict[str, str]) -> list[str]:
    """Return the files that differ from what would be generated, are missing or are too many."""
    return sorted(
        name
        for name in {*generated, *existing_files()}
        if not (PACKAGE / name).exists()
        or (PACKAGE / name).read_text(encoding="utf-8") != generated.get(name)
    )


def main() -> None:
    """Write what changed, or with `--check` only say so."""
    if "--settings" in sys.argv[1:]:
        SETTINGS_FILE.write_text(settings_module(), encoding="utf-8")
        return
    generated = sources()
    outdated = outdated_files(generated)
    if "--check" in sys.argv[1:]:
        sys.exit(f"Run `make client`: {', '.join(outdated)}" if outdated else 0)
    for name in outdated:
        path = PACKAGE / name
        if name in generated:
            path.parent.mkdir(exist_ok=True)
            path.write_text(generated[name], encoding="utf-8")
        else:
            path.unlink()
        sys.stdout.write(f"{path.relative_to(ROOT)}\n")


if __name__ == "__main__":
    main()
