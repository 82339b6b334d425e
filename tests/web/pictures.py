"""Pictures of pages and components that are kept, and how far a new one may differ.

The server's clock and dice are fixed, the font is pinned, and what moves stands still. Pictures of another
Chromium or of other fonts would differ everywhere: `kept.json` says which these are of.
"""

import hashlib
import json
import os
import shutil
import subprocess
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import timedelta
from io import BytesIO
from pathlib import Path
from typing import Any

from PIL import Image, ImageChops
from playwright.sync_api import Browser, Locator, Page, Route, sync_playwright

import build
from web.chromium import ARGUMENTS

FOLDER = Path(__file__).parent / "kept_pictures"
MADE_WITH = FOLDER / "kept.json"
# Whether pictures that differ are renewed instead of refused.
IS_RECORDING = bool(os.environ.get("SILVERBALL_RECORD_PICTURES"))
# Only a site of one machine shows its components.
SITE = "http://localhost"
FONT = "Liberation Sans"
# What text is drawn with, in the order of falling back.
FONTS = (FONT, f"{FONT}:bold", "DejaVu Sans", "DejaVu Sans:bold")
STILL = ("--font-render-hinting=none", "--disable-lcd-text", "--force-color-profile=srgb")
# How a page follows its night depends on the moment.
PINNED = (
    f"*, ::before, ::after {{ font-family: '{FONT}' !important }} #feed {{ visibility: hidden !important }}"
)
COLOURS_MAX, COARSE = 256, 8
# A longer page is a picture of its beginning.
HEIGHT_MAX = 1_800
# A pixel that differs by more than this counts; so many may, and nowhere a patch wider or higher than this.
STEPS_MAX, SHARE_MAX, PATCH_MAX = 24, 0.002, 12
# Pixels so close together belong to one patch.
REACH = range(-4, 5)
# Path -> type and body.
FindPage = Callable[[str], tuple[str, bytes]]


@contextmanager
def still_browser() -> Iterator[Browser]:
    """Chromium as the pictures are made with it. It must be installed."""
    with sync_playwright() as playwright:
        opened = playwright.chromium.launch(
            executable_path=shutil.which("chromium"), args=[*ARGUMENTS, *STILL]
        )
        yield opened
        opened.close()


@contextmanager
def page_of(
    browser: Browser,
    find_page: FindPage,
    width: int,
    height: int,
    *,
    scheme: Any = "light",
    runs_scripts: bool = False,
    more_rules: str = "",
) -> Iterator[Page]:
    """A window whose pages are those that are found, with rules after those of the style sheet."""
    context = browser.new_context(
        viewport={"width": width, "height": height},
        color_scheme=scheme,
        java_script_enabled=runs_scripts,
        reduced_motion="reduce",
        locale="en-GB",
        timezone_id="UTC",
    )

    def answer(route: Route) -> None:
        path = route.request.url.removeprefix(SITE)
        if path.startswith("/api"):
            # A page that follows its night waits here for ever.
            route.abort()
            return
        kind, body = find_page(path)
        if kind.startswith("text/css"):
            body += f"{PINNED}\n{more_rules}".encode()
        route.fulfill(content_type=kind, body=body)

    context.route("**/*", answer)
    page = context.new_page()
    if runs_scripts:
        page.clock.install(time=build.NOW - timedelta(minutes=1))
        page.clock.pause_at(build.NOW)
    yield page
    context.close()


def picture_of(shown: Page | Locator) -> Image.Image:
    """The page from its beginning, or a part of it."""
    if isinstance(shown, Page):
        taken = shown.screenshot(full_page=True, animations="disabled", scale="css")
    else:
        taken = shown.screenshot(animations="disabled", scale="css")
    picture = Image.open(BytesIO(taken)).convert("RGB")
    return picture.crop((0, 0, picture.width, min(picture.height, HEIGHT_MAX)))


def differences(kept: Image.Image, now: Image.Image) -> list[str]:
    """In what a picture differs more than it may."""
    if kept.size != now.size:
        return [f"{now.size[0]} x {now.size[1]} instead of {kept.size[0]} x {kept.size[1]}"]
    red, green, blue = ImageChops.difference(kept, now).split()
    worst = ImageChops.lighter(ImageChops.lighter(red, green), blue)
    differing = worst.point([255 if step > STEPS_MAX else 0 for step in range(256)])
    share = differing.histogram()[255] / (now.width * now.height)
    faults = [f"{share:.2%} of the pixels"] if share > SHARE_MAX else []
    if not faults:
        faults += [
            f"a patch of {right - left} x {low - top} at {left}, {top}"
            for left, top, right, low in _patches(differing)
            if right - left > PATCH_MAX or low - top > PATCH_MAX
        ]
    return faults


def _patches(differing: Image.Image) -> Iterator[tuple[int, int, int, int]]:
    """The boxes around pixels that lie together, as left, top, right and bottom."""
    width, bytes_ = differing.width, differing.tobytes()
    left_over = {(at % width, at // width) for at, value in enumerate(bytes_) if value}
    while left_over:
        patch = waiting = {left_over.pop()}
        while waiting:
            near = {(x + across, y + down) for x, y in waiting for across in REACH for down in REACH}
            waiting = near & left_over
            left_over -= waiting
            patch = patch | waiting
        across, down = [x for x, _ in patch], [y for _, y in patch]
        yield min(across), min(down), max(across) + 1, max(down) + 1


def compare(name: str, now: Image.Image, failed: Path) -> list[str]:
    """What differs from the kept picture; when recording, nothing, as the new one is kept in its place."""
    file = FOLDER / f"{name}.png"
    faults = ["not kept yet"]
    if file.exists():
        with Image.open(file) as opened:
            faults = differences(opened.convert("RGB"), now)
    if not faults:
        return []
    if IS_RECORDING:
        _compact(now).save(file, optimize=True)
        print(f"{name}: {'; '.join(faults)}")  # noqa: T201
        return []
    now.save(failed / file.name)
    return [f"{name}: {fault} ({failed / file.name})" for fault in faults]


def _compact(picture: Image.Image) -> Image.Image:
    """The picture in slightly coarser colours, and with a palette where one has room."""
    coarse = picture.point([min(255, step // COARSE * COARSE + COARSE // 2) for step in range(256)] * 3)
    if coarse.getcolors(COLOURS_MAX) is None:
        return coarse
    return coarse.convert("P", palette=Image.Palette.ADAPTIVE, colors=COLOURS_MAX)


def made_with(browser: Browser) -> dict[str, Any]:
    """What the pictures depend on besides the pages: Chromium's major version and the fonts' digests."""
    fonts = {}
    for font in FONTS:
        command = ["fc-match", "--format=%{file}", font]
        file = Path(subprocess.run(command, capture_output=True, text=True, check=True).stdout)
        fonts[font] = f"{file.name} {hashlib.sha256(file.read_bytes()).hexdigest()[:16]}"
    return {"chromium": browser.version.partition(".")[0], "fonts": fonts}


def what_differs_here(browser: Browser) -> str:
    """Why pictures of this machine cannot be compared with those that are kept, or nothing."""
    if shutil.which("fc-match") is None:
        return "fc-match is not installed here"
    here = made_with(browser)
    if IS_RECORDING:
        MADE_WITH.write_text(json.dumps(here, indent=2) + "\n", encoding="utf-8")
    kept = json.loads(MADE_WITH.read_text(encoding="utf-8"))
    return "" if here == kept else f"the kept pictures are of {kept}, here are {here}"
