"""What approved submissions of other software give a rating period. Source: ratings, section A.8."""

from collections.abc import Iterator
from datetime import date

from sqlalchemy import Connection

from silverball.rules.ratings.events import GameSeats, RatedEvent, RatedPerson
from silverball.service.submissions.reads import events
from silverball.store import names

KIND = "submission"


class SubmissionResults:
    """Reads the submissions of one run."""

    def first_day(self, db: Connection) -> date | None:
        """The day of the oldest submission that counts."""
        return events.first_day(db)

    def events(self, db: Connection, first: date, last: date) -> Iterator[RatedEvent]:
        """The events of these days, by day and id."""
        for day in events.event_days(db, first, last):
            for one in events.counting_events(db, day):
                yield RatedEvent(KIND, one.event_id, one.name, one.day, _event_people(one), _event_games(one))


def _event_people(event: events.SubmittedEvent) -> dict[int, RatedPerson]:
    """Place in the document -> who it is. Who is a name only is somebody of the submitter's book."""
    return {
        place: RatedPerson(
            name=one.name,
            user_id=one.user_id,
            ifpa_id=one.ifpa_id,
            organizer_id=event.submitter_id,
            name_key=names.name_key(one.name),
        )
        for place, one in enumerate(event.players)
    }


def _event_games(event: events.SubmittedEvent) -> GameSeats:
    found = GameSeats()
    for groups in event.games:
        found.add({player: place for place, group in enumerate(groups) for player in group})
    return found
