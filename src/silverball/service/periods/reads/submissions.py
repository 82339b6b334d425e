"""What approved submissions of other software give a rating period. Source: ratings, section A.8."""

from collections.abc import Iterator
from datetime import date

from sqlalchemy import Connection

from silverball.rules.ratings.events import Event, Games, Person
from silverball.service.submissions.reads import events
from silverball.store import names

KIND = "submission"


class Reader:
    """Reads the submissions of one run."""

    def first_day(self, db: Connection) -> date | None:
        """The day of the oldest submission that counts."""
        return events.first_day(db)

    def events(self, db: Connection, first: date, last: date) -> Iterator[Event]:
        """The events of these days, by day and id."""
        for day in events.days(db, first, last):
            for one in events.approved_for(db, day):
                yield Event(KIND, one.event_id, one.name, one.day, _people(one), _games(one))


def _people(event: events.Event) -> dict[int, Person]:
    """Place in the document -> who it is. Who is a name only is somebody of the submitter's book."""
    return {
        place: Person(
            name=one.name,
            user_id=one.user_id,
            ifpa_id=one.ifpa_id,
            organizer_id=event.submitter_id,
            name_key=names.key(one.name),
        )
        for place, one in enumerate(event.players)
    }


def _games(event: events.Event) -> Games:
    found = Games()
    for groups in event.games:
        found.add({player: place for place, group in enumerate(groups) for player in group})
    return found
