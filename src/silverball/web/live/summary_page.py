"""The summary of a completed tournament as a page to share, and its picture."""

from typing import Any

from silverball.kit.errors import NotFound
from silverball.kit.http.endpoints import SVG
from silverball.web.format_titles import format_title
from silverball.web.live import podium, summary, tournament_view
from silverball.web.live.tournament_view import PublicTournament
from silverball.web.live.views import PODIUM_PNG, PODIUM_SVG

PICTURE_TYPES = {PODIUM_SVG: SVG, PODIUM_PNG: "image/png"}


def load_context(public: PublicTournament) -> dict[str, Any]:
    """The summary and a sentence about it. Raises NotFound while the tournament is not completed."""
    tournament = public.tournament
    if not public.is_completed:
        raise NotFound("Tournament", tournament.tournament_id)
    found = summary.summarize(tournament, public.standings)
    names = [public.night.player_name(standing.player_id) for standing in found.winners]
    sentence = f"{format_title(tournament.type)} with {len(public.night.active_entrants)} players."
    if names:
        sentence = f"{' and '.join(names)} won. {sentence}"
    return {"summary": found, "sentence": podium.clean(sentence)}


def draw_picture(public: PublicTournament, path: str) -> bytes:
    """The podium as SVG or PNG. Raises NotFound while the tournament is not completed."""
    found = load_context(public)["summary"]
    night = public.night
    rows = [
        (row.position, night.player_name(row.player_id), tournament_view.points_text(row.points))
        for row in found.podium
    ]
    day = str(public.tournament.details["start_local"])[:10]
    footer = f"{format_title(public.tournament.type)}, {len(night.active_entrants)} players, {day}"
    texts = podium.podium_texts(night.name, rows, footer)
    return podium.draw_png(texts) if path == PODIUM_PNG else podium.draw_svg(night.name, texts)
