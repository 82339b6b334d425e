"""The data of the page Settings."""

from typing import Any

from silverball.service.devices import reads as device_reads
from silverball.service.locations import reads as location_reads
from silverball.service.series.reads import series as series_reads
from silverball.web import qr_codes
from silverball.web.console import details, door, impossible_choices, people_and_machines, settings_form
from silverball.web.page_request import PageRequest
from silverball.web.tournament_night import TournamentNight


def load_context(request: PageRequest, night: TournamentNight) -> dict[str, Any]:
    """The settings and details, with the organizer's locations, series and tournaments to choose from."""
    tournament = night.tournament
    stored = tournament.details
    with request.site.store.read() as db:
        locations = location_reads.location_names(db, stored["organizer_id"])
        series = series_reads.series_names(db, stored["organizer_id"])
        others = people_and_machines.organizer_tournaments(db, request, stored["organizer_id"])
        codes = device_reads.current_codes(db, night.id)
        devices = device_reads.active_devices(db, night.id)
    excluded = {night.id, *(link["linked_tournament_id"] for link in stored["links"])}
    return {
        "fields": impossible_choices.possible_fields(
            tournament.type,
            settings_form.setting_fields(tournament.type, tournament.settings, stored["points_map_custom"]),
        ),
        "impossible": impossible_choices.as_data(tournament.type),
        "locations": details.with_current(locations, stored["location_id"]),
        "series": details.with_current(series, stored["series_id"]),
        "linkable": [
            (other.tournament_id, other.name) for other in others if other.tournament_id not in excluded
        ],
        "link_types": details.LINK_TYPES,
        "registration": details.registration_values(stored),
        "flags": details.REGISTRATION_FLAGS,
        "prices": details.price_values(stored),
        "sign_up_link": door.sign_up_link(request, tournament),
        "qr_code": qr_codes.draw_qr_code,
        "devices": devices,
        "codes": codes,
    }
