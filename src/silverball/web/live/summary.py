"""The summary of a completed tournament: podium, best game, machines played, biggest move, length.

Nothing here names anybody; names are those that everybody may see on the live page.
"""

import unicodedata
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from datetime import timedelta
from fractions import Fraction
from io import BytesIO
from statistics import median
from typing import Any
from xml.sax.saxutils import escape

from msgspec import Struct

from silverball.kit.errors import NotFound
from silverball.kit.http.endpoints import SVG
from silverball.rules.commands import tournament as tournament_commands
from silverball.rules.model.tournament import Game, SinglePlayerGame, Tournament
from silverball.web.forms import format_title
from silverball.web.live import tournament_view
from silverball.web.live.tournament_view import Mover, PublicTournament
from silverball.web.live.views import PODIUM_PNG, PODIUM_SVG
from silverball_wire.standings import Standing

PODIUM_PLACES = 3
# More players than this share the places of the podium only where whole groups are tied.
PODIUM_ROWS_MAX = 8
# Below this many scores a machine has no usual one.
SCORES_MIN = 3


class BestGame(Struct, frozen=True):
    """A score, and how often it has the machine's median score of this tournament."""

    player_id: int
    arena_id: int
    score: int
    times_median: Fraction

    @property
    def times_text(self) -> str:
        return f"{float(self.times_median):.1f}"


class TournamentSummary(Struct, frozen=True, kw_only=True):
    """A completed tournament in a few numbers."""

    podium: Sequence[Standing]
    best_game: BestGame | None
    # Arena id and completed games on it, the most played first.
    machines: Sequence[tuple[int, int]]
    biggest_climb: Mover | None
    game_count: int
    # From the first game or round to the last result; None without times.
    length: timedelta | None

    @property
    def winners(self) -> Sequence[Standing]:
        return [standing for standing in self.podium if standing.position == 1]

    @property
    def length_text(self) -> str:
        minutes = 0 if self.length is None else self.length // timedelta(minutes=1)
        hours, rest = divmod(minutes, 60)
        return f"{hours} h {rest} min" if hours else f"{rest} min"


def summarize(tournament: Tournament, standings: Sequence[Standing]) -> TournamentSummary:
    """The summary of a tournament with its final standings, by position."""
    played = Counter(
        game.arena_id for game in _counted_games(tournament) if game.arena_id is not None
    ) + Counter(game.arena_id for game in _counted_attempts(tournament) if game.arena_id is not None)
    podium = [standing for standing in standings if standing.position <= PODIUM_PLACES]
    return TournamentSummary(
        podium=podium[:PODIUM_ROWS_MAX],
        best_game=find_best_game(tournament),
        machines=sorted(played.items(), key=lambda item: (-item[1], item[0])),
        biggest_climb=find_biggest_climb(tournament, standings),
        game_count=len(list(_counted_games(tournament))) + len(list(_counted_attempts(tournament))),
        length=_length(tournament),
    )


def find_best_game(tournament: Tournament) -> BestGame | None:
    """The highest score relative to the median of its machine; None where no machine has enough scores."""
    scores: dict[int, list[tuple[int, int]]] = defaultdict(list)
    for game in _counted_games(tournament):
        for player_id, score in zip(game.player_ids, game.result_scores, strict=False):
            if game.arena_id is not None and score is not None:
                scores[game.arena_id].append((score, player_id))
    for attempt in _counted_attempts(tournament):
        if attempt.arena_id is not None and attempt.score is not None:
            scores[attempt.arena_id].append((attempt.score, attempt.player_id))
    best: BestGame | None = None
    for arena_id, listed in sorted(scores.items()):
        middle = Fraction(median(Fraction(score) for score, _ in listed))
        if len(listed) < SCORES_MIN or middle <= 0:
            continue
        score, player_id = max(listed, key=lambda item: (item[0], -item[1]))
        if best is None or score / middle > best.times_median:
            best = BestGame(player_id, arena_id, score, score / middle)
    return best


def find_biggest_climb(tournament: Tournament, standings: Sequence[Standing]) -> Mover | None:
    """The longest way up from a place after any round to the final place, where points decide places."""
    format_ = tournament_commands.format_of(tournament)
    if not format_.is_ranked_by_points:
        return None
    best: Mover | None = None
    for round_ in tournament_view.rounds_with_results(tournament)[1:]:
        before = tournament_view.as_before_round(tournament, round_.round_index)
        positions = {standing.player_id: standing.position for standing in format_.rank(before)}
        for standing in standings:
            places = positions.get(standing.player_id, standing.position) - standing.position
            if places > (0 if best is None else best.places):
                best = Mover(standing.player_id, standing.position, places)
    return best


def _counted_games(tournament: Tournament) -> Iterator[Game]:
    return (
        game
        for game in tournament.games
        if game.status == "completed" and not game.is_bye and not game.is_tiebreak
    )


def _counted_attempts(tournament: Tournament) -> Iterator[SinglePlayerGame]:
    return (
        attempt
        for attempt in tournament.single_player_games
        if attempt.status == "completed" and not attempt.is_voided
    )


def _length(tournament: Tournament) -> timedelta | None:
    games, attempts = list(_counted_games(tournament)), list(_counted_attempts(tournament))
    starts = [game.started_at for game in games] + [round_.created_at for round_ in tournament.rounds]
    starts += [attempt.started_at or attempt.created_at for attempt in attempts]
    ends = [game.completed_at for game in games] + [attempt.updated_at for attempt in attempts]
    known_starts, known_ends = [at for at in starts if at], [at for at in ends if at]
    if not known_starts or not known_ends:
        return None
    return max(max(known_ends) - min(known_starts), timedelta(0))


# The podium of a completed tournament as a picture: the same texts as SVG and as PNG.


# The size that services show shared links in.
WIDTH, HEIGHT = 1200, 630
TITLE_LETTERS_MAX, NAME_LETTERS_MAX = 44, 32
MARGIN = 80
FIRST_ROW, ROWS_HEIGHT = 190, 360
LINE_HEIGHT_MAX = 110
# Room for a name, beside its place and its points.
NAME_WIDTH = WIDTH - 2 * MARGIN - 90 - 130
# Widths of bold letters in the widest of the usual fonts, in hundredths of their size.
LETTER_WIDTH, WIDE_LETTER_WIDTH = 70, 100
FONT = "system-ui, sans-serif"
# Regular and bold, of Linux, macOS and Windows; those with the most letters first.
FONT_FILES = (
    ("DejaVuSans.ttf", "DejaVuSans-Bold.ttf"),
    ("NotoSans-Regular.ttf", "NotoSans-Bold.ttf"),
    ("LiberationSans-Regular.ttf", "LiberationSans-Bold.ttf"),
    ("Arial.ttf", "Arial Bold.ttf"),
    ("arial.ttf", "arialbd.ttf"),
)
GROUND, INK, SOFT, ACCENT = "#0f1217", "#f3f5f8", "#a9b4c2", "#8aa9ff"


class PictureText(Struct, frozen=True, kw_only=True):
    """A line of text in the picture; `x` is its beginning, or its end where `is_at_end`."""

    x: int
    y: int
    size: int
    color: str
    text: str
    is_bold: bool = False
    is_at_end: bool = False
    width_max: int = WIDTH - 2 * MARGIN


def podium_texts(title: str, rows: Sequence[tuple[int, str, str]], footer: str) -> list[PictureText]:
    """The texts of the picture of these places, names and points, below the title."""
    line_height = min(LINE_HEIGHT_MAX, ROWS_HEIGHT // max(1, len(rows)))
    shown_title = shorten(title, TITLE_LETTERS_MAX)
    title_size = _fitting_size(shown_title, 56, WIDTH - 2 * MARGIN)
    texts = [PictureText(x=MARGIN, y=110, size=title_size, color=INK, text=shown_title, is_bold=True)]
    for number, (position, name, points) in enumerate(rows):
        y = FIRST_ROW + line_height * number + line_height // 2
        size = min(52, line_height * 3 // 5)
        shown_name = shorten(name, NAME_LETTERS_MAX)
        texts += [
            PictureText(x=MARGIN, y=y, size=size, color=ACCENT, text=f"{position}."),
            PictureText(
                x=MARGIN + 90,
                y=y,
                size=_fitting_size(shown_name, size, NAME_WIDTH),
                color=ACCENT if position == 1 else INK,
                text=shown_name,
                is_bold=position == 1,
                width_max=NAME_WIDTH,
            ),
            PictureText(x=WIDTH - MARGIN, y=y, size=size, color=SOFT, text=points, is_at_end=True),
        ]
    shown_footer = shorten(footer, TITLE_LETTERS_MAX)
    return [*texts, PictureText(x=MARGIN, y=HEIGHT - 40, size=30, color=SOFT, text=shown_footer)]


def draw_svg(title: str, texts: Sequence[PictureText]) -> bytes:
    """The picture as SVG of plain text, without styles."""
    label = escape(f"Podium of {clean(title)}", {'"': "&quot;"})
    svg = (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" width="{WIDTH}"'
        f' height="{HEIGHT}" role="img" aria-label="{label}">'
        f'<rect width="{WIDTH}" height="{HEIGHT}" fill="{GROUND}"/>{"".join(map(_svg_text, texts))}</svg>\n'
    )
    return svg.encode()


def draw_png(texts: Sequence[PictureText], font_files: Sequence[tuple[str, str]] = FONT_FILES) -> bytes:
    """The picture as PNG, for services that preview links and show no SVG. Pillow is imported on use.

    Letters are those of the first of these fonts that the machine has, or Pillow's own Latin ones.
    """
    from PIL import Image, ImageDraw

    picture = Image.new("RGB", (WIDTH, HEIGHT), GROUND)
    pen = ImageDraw.Draw(picture)
    for text in texts:
        # "s": y is the baseline, as in SVG.
        anchor = "rs" if text.is_at_end else "ls"
        font = _fitting_font(font_files, text)
        pen.text((text.x, text.y), text.text, fill=text.color, font=font, anchor=anchor)
    content = BytesIO()
    picture.save(content, "PNG")
    return content.getvalue()


def _fitting_font(font_files: Sequence[tuple[str, str]], text: PictureText) -> Any:
    """The font in the size of the text, or smaller where it would be too wide."""
    font = _load_font(font_files, text.size, is_bold=text.is_bold)
    width = font.getlength(text.text)
    if width <= text.width_max:
        return font
    return _load_font(font_files, max(1, int(text.size * text.width_max / width)), is_bold=text.is_bold)


def _load_font(font_files: Sequence[tuple[str, str]], size: int, *, is_bold: bool) -> Any:
    from PIL import ImageFont

    for regular, bold in font_files:
        try:
            return ImageFont.truetype(bold if is_bold else regular, size)
        except OSError:
            continue
    return ImageFont.load_default(size)


def clean(text: str) -> str:
    """The text without letters that XML or a line of text cannot have."""
    return "".join(letter for letter in text if letter.isprintable())


def shorten(text: str, letters_max: int) -> str:
    """The text, cut with an ellipsis where it is longer than this."""
    cleaned = clean(text)
    return cleaned if len(cleaned) <= letters_max else f"{cleaned[: letters_max - 1].rstrip()}…"


def _fitting_size(text: str, size: int, width: int) -> int:
    """The size, or the smaller one in which the text is no wider than this."""
    widths = (
        WIDE_LETTER_WIDTH if unicodedata.east_asian_width(letter) in "WF" else LETTER_WIDTH for letter in text
    )
    return min(size, width * 100 // max(1, sum(widths)))


def _svg_text(text: PictureText) -> str:
    weight = ' font-weight="600"' if text.is_bold else ""
    anchor = "end" if text.is_at_end else "start"
    return (
        f'<text x="{text.x}" y="{text.y}" font-family="{FONT}" font-size="{text.size}" fill="{text.color}"'
        f'{weight} text-anchor="{anchor}" unicode-bidi="isolate">{escape(text.text)}</text>'
    )


# The summary of a completed tournament as a page to share, and its picture.


PICTURE_TYPES = {PODIUM_SVG: SVG, PODIUM_PNG: "image/png"}


def load_context(public: PublicTournament) -> dict[str, Any]:
    """The summary and a sentence about it. Raises NotFound while the tournament is not completed."""
    tournament = public.tournament
    if not public.is_completed:
        raise NotFound("Tournament", tournament.tournament_id)
    found = summarize(tournament, public.standings)
    names = [public.night.player_name(standing.player_id) for standing in found.winners]
    sentence = f"{format_title(tournament.type)} with {len(public.night.active_entrants)} players."
    if names:
        sentence = f"{' and '.join(names)} won. {sentence}"
    return {"summary": found, "sentence": clean(sentence)}


def draw_picture(public: PublicTournament, path: str) -> bytes:
    """The podium as SVG or PNG. Raises NotFound while the tournament is not completed."""
    found = load_context(public)["summary"]
    night = public.night
    rows = [(row.position, night.player_name(row.player_id), night.figure_text(row)) for row in found.podium]
    day = str(public.tournament.details["start_local"])[:10]
    footer = f"{format_title(public.tournament.type)}, {len(night.active_entrants)} players, {day}"
    texts = podium_texts(night.name, rows, footer)
    return draw_png(texts) if path == PODIUM_PNG else draw_svg(night.name, texts)
