"""Write the generated modules of the published shapes and of the typed client: `make generated`.

The shapes have closed sets and settings from the rules; the client's operations follow from the endpoint
table, from which openapi.json is built too. With `--check` nothing is written, and the exit status says
whether all is up to date.
"""

import subprocess
import sys
import tempfile
from pathlib import Path

from generator import from_formats

ROOT = Path(__file__).parents[3]
SOURCE = ROOT / "clients" / "python" / "src"
METHODS = ROOT / "clients" / "python" / "METHODS.md"
# What is generated below the source, and nothing else is in these folders.
SHAPES = ("silverball_wire/generated/*.py",)
CLIENT = ("silverball_client/operations/*.py", "silverball_client/bodies.py", "silverball_client/options.py")


def shapes_of_rules() -> dict[str, str]:
    """Return the generated modules of the published shapes, formatted: file below the source -> text."""
    return _formatted(from_formats.modules())


def client_of_interface() -> dict[str, str]:
    """Return the generated modules of the typed client, formatted: file below the source -> text."""
    # These import the published shapes, whose generated modules are written first.
    from generator.bodies import Bodies
    from generator.operations import OperationWriter, describe
    from silverball import slices
    from silverball.kit.http.endpoints import collect_endpoints

    bodies = Bodies()
    writer = OperationWriter(bodies)
    written = writer.modules(describe(collect_endpoints(*slices.ROUTE_MODULES)))
    return _formatted({**written, "silverball_client/bodies.py": bodies.module()})


def methods_page() -> str:
    """Return the page of every method: `client.tournaments.get`, its route and what it does."""
    from generator.operations import describe
    from silverball import slices
    from silverball.kit.http.endpoints import collect_endpoints

    lines = ["# Every method of the client", "", "Written by `make generated`.", ""]
    lines += ["| Method | Route | Answer |", "|---|---|---|"]
    lines += [
        f"| `client.{each.resource}.{each.method}` | `{each.route}` | {each.endpoint.title} |"
        for each in describe(collect_endpoints(*slices.ROUTE_MODULES))
    ]
    follow = "The changes of a tournament as they happen"
    lines.append(f"| `client.follow` | `/app/KEY`, `GET /tournaments/{{tournamentId}}/events` | {follow}. |")
    return "\n".join(lines) + "\n"


def _formatted(written: dict[str, str]) -> dict[str, str]:
    ruff = str(Path(sys.executable).with_name("ruff"))
    with tempfile.TemporaryDirectory() as folder:
        source = Path(folder) / "clients" / "python" / "src"
        for name, text in written.items():
            path = source / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")
        # Otherwise ruff takes the packages, which are elsewhere, for those of others.
        own = "lint.isort.known-first-party = ['silverball_client', 'silverball_wire']"
        config = ["--quiet", "--no-cache", "--config", str(ROOT / "pyproject.toml"), "--config", own]
        subprocess.run(  # noqa: S603  # our own formatter
            [ruff, "check", *config, "--fix-only", "--select", "F401,I", folder], cwd=folder, check=True
        )
        subprocess.run([ruff, "format", *config, folder], cwd=folder, check=True)  # noqa: S603  # as above
        return {name: (source / name).read_text(encoding="utf-8") for name in written}


def outdated_files(generated: dict[str, str], patterns: tuple[str, ...]) -> list[str]:
    """Return the files that differ from what would be generated, are missing or are too many."""
    existing = {
        path.relative_to(SOURCE).as_posix(): path.read_text(encoding="utf-8")
        for pattern in patterns
        for path in SOURCE.glob(pattern)
    }
    names = {*generated, *existing}
    return sorted(name for name in names if generated.get(name) != existing.get(name))


def write(generated: dict[str, str], patterns: tuple[str, ...]) -> None:
    """Write the files that are outdated, and delete those that are too many."""
    for name in outdated_files(generated, patterns):
        path = SOURCE / name
        if name in generated:
            path.parent.mkdir(exist_ok=True)
            path.write_text(generated[name], encoding="utf-8")
        else:
            path.unlink()
        sys.stdout.write(f"{path.relative_to(ROOT)}\n")


def main() -> None:
    """Write what changed, or with `--check` only say so."""
    if "--check" in sys.argv[1:]:
        outdated = outdated_files(shapes_of_rules(), SHAPES) + outdated_files(client_of_interface(), CLIENT)
        outdated += [] if METHODS.read_text(encoding="utf-8") == methods_page() else [METHODS.name]
        sys.exit(f"Run `make generated`: {', '.join(outdated)}" if outdated else 0)
    write(shapes_of_rules(), SHAPES)
    write(client_of_interface(), CLIENT)
    METHODS.write_text(methods_page(), encoding="utf-8")


if __name__ == "__main__":
    main()
