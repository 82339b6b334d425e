"""Checks of a stored sign-up list. Who paid what, and when, follows from the journal."""

from silverball.rules.model.tournament import Tournament


def sign_up_faults(tournament: Tournament) -> list[str]:
    """People who wait and play at once, places that are taken twice, and payments that cannot be."""
    faults = []
    entered = {entrant.player_id for entrant in tournament.entrants}
    places = [entry.waiting_place for entry in tournament.sign_ups if entry.waiting_place is not None]
    if len(places) != len(set(places)):
        faults.append("Two people have the same place on the waiting list.")
    for entry in tournament.sign_ups:
        waits = entry.waiting_place is not None
        if waits and entry.player_id in entered:
            faults.append(f"Player {entry.player_id} is in the tournament and waits for a place.")
        if not waits and entry.player_id not in entered and entry.payment is None:
            faults.append(f"Player {entry.player_id} is on the sign-up list and not in the tournament.")
        if entry.payment is not None and entry.payment.cents <= 0:
            faults.append(f"Player {entry.player_id} paid {entry.payment.cents} cents.")
    limit = (tournament.details.get("rsvp_configuration") or {}).get("playerLimit")
    playing = sum(entrant.is_active for entrant in tournament.entrants)
    if places and tournament.status == "planned" and (limit is None or playing < limit):
        faults.append("Somebody waits while a place is free.")
    return faults
