"""The announcements over plain HTTP: by pages, with waiting, and as a stream of server-sent events.

The same events as over the socket, for who has missed some and for who has no socket. No token is
needed, as the channel is public.
"""

from collections.abc import AsyncIterator
from typing import Annotated, Protocol

from msgspec import Meta

from silverball.feed import messages
from silverball.feed.log import EventsUnavailable
from silverball.feed.relay import Relay
from silverball.feed.stored_events import StoredEvents
from silverball.kit.errors import Gone, NotFound, ServiceUnavailable
from silverball.kit.http.async_routes import AsyncCall, Stream, get_async
from silverball.kit.http.query import Query
from silverball.store.announcements import Announcement, ChannelHead
from silverball.wire.events import EventsPage, FeedEvent

EVENTS_MAX = 500
WAIT_SECONDS_MAX = 25
BYTES_MAX = 1_000_000
# Comments keep the line open through proxies that close idle ones after a minute.
COMMENT_EVERY_SECONDS = 15.0
# Pages and streams that wait at the same time.
WAITING_MAX = 5_000
COMMENT = b": still here\n\n"


class EventSource(Protocol):
    """What these routes need of the feed."""

    @property
    def stored_events(self) -> StoredEvents: ...

    @property
    def relay(self) -> Relay: ...


class EventsQuery(Query, frozen=True, kw_only=True):
    """Parameters of the events of a tournament."""

    # The newest number that is known already; without it the answer says where the channel stands.
    after: Annotated[int, Meta(ge=0, le=2**63 - 1)] | None = None
    epoch: Annotated[str, Meta(max_length=64)] | None = None
    limit: Annotated[int, Meta(ge=1, le=EVENTS_MAX)] = EVENTS_MAX
    # Seconds to wait for something new.
    wait: Annotated[int, Meta(ge=0, le=WAIT_SECONDS_MAX)] = 0


@get_async("/api/tournaments/{tournament_id}/events", query=EventsQuery, returns=EventsPage)
async def list_events(call: AsyncCall[EventsQuery]) -> EventsPage:
    """The feed events after a number, oldest first; waits for new ones if asked to."""
    feed: EventSource = call.feed
    tournament_id, query = call.ids["tournament_id"], call.query
    head, found = await _load_page(feed, tournament_id, query.after, query.limit)
    after = head.seq if query.after is None else query.after
    _refuse_trimmed(head, query.epoch, after)
    if not found and query.wait:
        _refuse_overload(feed)
        await feed.relay.wait(tournament_id, (head.epoch, head.seq), query.wait)
        # Number `after` may be of an epoch that has ended meanwhile.
        epoch = head.epoch
        head, found = await _load_page(feed, tournament_id, after, query.limit)
        _refuse_trimmed(head, epoch, after)
    told = _first_within(found, BYTES_MAX)
    newest = told[-1].seq if told else after
    return EventsPage(
        data=tuple(_feed_event(one) for one in told),
        epoch=head.epoch,
        seq=head.seq,
        low=head.low,
        complete=newest >= head.seq,
    )


@get_async("/api/tournaments/{tournament_id}/stream", returns=Stream)
async def stream_events(call: AsyncCall[Query]) -> Stream:
    """The feed events as they happen, as server-sent events; Last-Event-ID brings what was missed."""
    feed: EventSource = call.feed
    tournament_id = call.ids["tournament_id"]
    head, _ = await _load_page(feed, tournament_id, None, 1)
    _refuse_overload(feed)
    epoch, _, number = call.last_event_id.partition(":")
    after = int(number) if number.isascii() and number.isdigit() and len(number) < 19 else -1
    is_resumed = epoch == head.epoch and head.low <= after <= head.seq
    begins = ChannelHead(head.epoch, after if is_resumed else head.seq, head.low)
    opening = _id_block(begins) if is_resumed or not call.last_event_id else _reset_block(begins)
    return Stream(_stream_blocks(feed, tournament_id, begins, opening))


async def _stream_blocks(
    feed: EventSource, tournament_id: int, at: ChannelHead, opening: bytes
) -> AsyncIterator[bytes]:
    """What a stream sends: what follows the place where it begins, and then whatever happens."""
    yield opening
    while True:
        try:
            head, found = await feed.stored_events.events_page(tournament_id, at.seq, EVENTS_MAX)
        except EventsUnavailable:
            # The client comes back with the id of what it has.
            return
        if head is None:
            return
        if head.epoch != at.epoch or at.seq < head.low:
            at = head
            yield _reset_block(head)
        elif found:
            at = ChannelHead(head.epoch, found[-1].seq, head.low)
            yield b"".join(_event_block(one) for one in found)
        elif not await feed.relay.wait(tournament_id, (at.epoch, at.seq), COMMENT_EVERY_SECONDS):
            if feed.relay.is_over:
                return
            yield COMMENT


async def _load_page(
    feed: EventSource, tournament_id: int, after: int | None, limit: int
) -> tuple[ChannelHead, list[Announcement]]:
    found: list[Announcement] = []
    try:
        if after is None:
            head = await feed.stored_events.head(tournament_id)
        else:
            head, found = await feed.stored_events.events_page(tournament_id, after, limit)
    except EventsUnavailable as error:
        raise ServiceUnavailable from error
    if head is None:
        raise NotFound("Tournament", tournament_id)
    return head, found


def _refuse_trimmed(head: ChannelHead, epoch: str | None, after: int) -> None:
    if epoch not in (None, head.epoch):
        raise Gone(f"The channel began anew: its epoch is {head.epoch}. Read the tournament again.")
    if not head.low <= after <= head.seq:
        raise Gone(f"Events are kept from {head.low + 1} to {head.seq}. Read the tournament again.")


def _refuse_overload(feed: EventSource) -> None:
    if feed.relay.waiting_count >= WAITING_MAX:
        raise ServiceUnavailable


def _first_within(found: list[Announcement], bytes_max: int) -> list[Announcement]:
    """The first of these that fit, and one at least."""
    told: list[Announcement] = []
    room = bytes_max
    for one in found:
        room -= len(one.data)
        if told and room < 0:
            break
        told.append(one)
    return told


def _feed_event(one: Announcement) -> FeedEvent:
    return FeedEvent(
        event=one.name,
        data=one.data,
        channel=messages.channel_name(one.tournament_id),
        id=f"{one.epoch}:{one.seq}",
        seq=one.seq,
        epoch=one.epoch,
    )


# A block with an id only: the client remembers it and is told nothing.
def _id_block(head: ChannelHead) -> bytes:
    return f"id: {head.epoch}:{head.seq}\n\n".encode()


def _reset_block(head: ChannelHead) -> bytes:
    """Whoever reads this has to read the tournament again."""
    told = f'{{"epoch":"{head.epoch}","seq":{head.seq}}}'
    return f"id: {head.epoch}:{head.seq}\nevent: reset\ndata: {told}\n\n".encode()


def _event_block(one: Announcement) -> bytes:
    # JSON of the house is one line.
    return f"id: {one.epoch}:{one.seq}\nevent: {one.name}\ndata: {one.data}\n\n".encode()
