"""Results of a rating period from approved submissions. Source: ratings, section A.8."""

from collections.abc import Iterator
from datetime import date

from sqlalchemy import Connection

from silverball.rules.ratings.events import GameSeats, RatedEvent, RatedPerson
from silverball.service.periods import people
from silverball.service.submissions.reads import events
from silverball.store import confirmed_numbers, names
from silverball.store.confirmed_numbers import ConfirmedNumbers

KIND = "submission"


class SubmissionResults:
    """The results from submissions, for one run."""

    def first_day(self, db: Connection) -> date | None:
        """The day of the oldest submission that counts."""
        return events.first_day(db)

    def events(self, db: Connection, first: date, last: date) -> Iterator[RatedEvent]:
        """The events of these days, by day and id."""
        confirmed = confirmed_numbers.all_confirmed(db)
        for day in events.event_days(db, first, last):
            for event in events.counting_events(db, day):
                present = _event_people(event, confirmed)
                yield RatedEvent(KIND, event.event_id, event.name, event.day, present, _event_games(event))


def _event_people(event: events.SubmittedEvent, confirmed: ConfirmedNumbers) -> dict[int, RatedPerson]:
    """Place in the document -> the person. A bare name stands for a player of the submitter's book."""
    return {
        place: people.with_confirmed_number(
            RatedPerson(
                name=player.name,
                user_id=player.user_id,
                ifpa_id=player.ifpa_id,
                organizer_id=event.submitter_id,
                name_key=names.name_key(player.name),
            ),
            confirmed,
        )
        for place, player in enumerate(event.players)
    }


def _event_games(event: events.SubmittedEvent) -> GameSeats:
    games = GameSeats()
    for groups in event.games:
        games.add({player: place for place, group in enumerate(groups) for player in group})
    return games
