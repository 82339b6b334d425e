"""Build and pack the TypeScript client without a network: `python scripts/build_typescript.py FOLDER`.

Its types are generated from the descriptions of this program, with the tools of tests/clients. Prints the
path of the package.
"""

import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from silverball import app
from silverball.settings import Settings
from silverball.store.database.engine import Store

ROOT = Path(__file__).parents[1]
SOURCE = ROOT / "clients" / "typescript"
TOOLS = ROOT / "tests" / "clients" / "node_modules"
SETTINGS = Settings(base_url="http://127.0.0.1:8000")


def main() -> int:
    """Build the package, print its path, and return the exit status."""
    options = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    options.add_argument("folder", type=Path, help="where the package is put")
    options.add_argument(
        "--tools", type=Path, default=TOOLS, help="folder with the node_modules to build with"
    )
    given = options.parse_args()
    if not (given.tools / ".bin" / "tsc").exists():
        sys.exit(f"{given.tools} has no TypeScript: npm ci --prefix tests/clients")
    print(build_package(given.folder, given.tools))
    return 0


def build_package(folder: Path, tools: Path) -> Path:
    """Build the client in an empty folder, and return the package in this one."""
    folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix="silverball-typescript-") as work:
        copy = Path(work) / "package"
        shutil.copytree(SOURCE, copy, ignore=shutil.ignore_patterns("node_modules", "dist", "generated"))
        (copy / "node_modules").symlink_to(tools.resolve())
        (copy / "src" / "generated").mkdir()
        for name, document in (("openapi", openapi()), ("events", event_shapes())):
            (Path(work) / f"{name}.json").write_text(json.dumps(document), encoding="utf-8")
            words = [f"../{name}.json", "-o", f"src/generated/{name}.ts"]
            run_node_tool(tools / ".bin" / "openapi-typescript", *words, folder=copy)
        run_node_tool(tools / ".bin" / "tsc", "-p", ".", folder=copy)
        words = ["pack", "--offline", "--json", "--pack-destination", str(folder.resolve())]
        packed = run_node_tool(Path("npm"), *words, folder=copy)
    return folder / str(json.loads(packed)[0]["filename"])


def openapi() -> Any:
    """The description of the interface."""
    store = Store("sqlite://")
    try:
        return json.loads(app.openapi_document(app.build_api(store, SETTINGS), SETTINGS))
    finally:
        store.close()


def event_shapes() -> Any:
    """The shapes of the events as a description of its own: some differ from those of the interface."""
    schemas = json.loads(app.asyncapi_document(SETTINGS))["components"]["schemas"]
    info = {"title": "Events", "version": "1"}
    return {"openapi": "3.1.0", "info": info, "paths": {}, "components": {"schemas": schemas}}


def run_node_tool(tool: Path, *words: str, folder: Path) -> str:
    """The output of a tool that succeeds; otherwise the script ends with what it printed."""
    environment = {**os.environ, "npm_config_update_notifier": "false"}
    done = subprocess.run(
        [str(tool), *words], cwd=folder, env=environment, capture_output=True, text=True, check=False
    )
    if done.returncode:
        sys.exit(done.stdout + done.stderr)
    return done.stdout


if __name__ == "__main__":
    sys.exit(main())
