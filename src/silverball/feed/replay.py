"""The feed events over plain HTTP: by pages, with long-polling, and as a stream of server-sent events.

The same events as over the socket, for clients that missed some or have no socket. No token is
needed, as the channel is public.
"""

from collections.abc import AsyncIterator
from typing import Annotated

from msgspec import UNSET, Meta

from silverball.feed import messages
from silverball.feed.feed import FeedService
from silverball.feed.stored_events import EventsUnavailable
from silverball.kit.edge.work_queue import Importance
from silverball.kit.errors import Gone, NotFound, ServiceUnavailable
from silverball.kit.http.endpoints import AsyncCall, Stream, get_async
from silverball.kit.http.query import Query
from silverball.kit.values import replace
from silverball.store.tournament.announcements import Announcement, ChannelHead
from silverball_wire.events import EventsPage, FeedEvent

EVENTS_MAX = 500
WAIT_SECONDS_MAX = 25
BYTES_MAX = 1_000_000
# Comments keep the connection open through proxies that close idle ones after a minute.
COMMENT_EVERY_SECONDS = 15.0
# Long-polls and streams that may wait at the same time.
WAITING_MAX = 5_000
COMMENT = b": still here\n\n"


class EpochEnded(Gone):
    sentence = "The channel began anew: its epoch is {epoch}. Read the tournament again."


class EventsTrimmed(Gone):
    sentence = "Events are kept from {first} to {last}. Read the tournament again."


class EventsQuery(Query, frozen=True, kw_only=True):
    """Parameters of the events of a tournament."""

    after: Annotated[int, Meta(ge=0, le=2**63 - 1)] | None = None
    """Number of the newest event that the client has; without it, the answer only says where the channel is.
    """
    epoch: Annotated[str, Meta(max_length=64)] | None = None
    """Numbering that `after` belongs to; when it has changed, the client must read everything anew."""
    limit: Annotated[int, Meta(ge=1, le=EVENTS_MAX)] = EVENTS_MAX
    """Greatest number of events in the answer."""
    wait: Annotated[int, Meta(ge=0, le=WAIT_SECONDS_MAX)] = 0
    """Seconds to wait for a new event before an empty answer."""


@get_async("/api/tournaments/{tournament_id}/events", query=EventsQuery, returns=EventsPage)
async def list_feed_events(call: AsyncCall[EventsQuery]) -> EventsPage:
    """The feed events after a number, oldest first; waits for new ones if asked to."""
    feed: FeedService = call.feed
    tournament_id, query = call.ids["tournament_id"], call.query
    head, events = await _load_page(feed, tournament_id, query.after, query.limit)
    after = head.seq if query.after is None else query.after
    _refuse_trimmed(head, query.epoch, after)
    if not events and query.wait:
        _refuse_overload(feed)
        await feed.relay.wait(tournament_id, (head.epoch, head.seq), query.wait)
        # Number `after` may belong to an epoch that has ended meanwhile.
        epoch = head.epoch
        head, events = await _load_page(feed, tournament_id, after, query.limit)
        _refuse_trimmed(head, epoch, after)
    page = _first_within(events, BYTES_MAX)
    newest = page[-1].seq if page else after
    return EventsPage(
        data=tuple(_feed_event(event) for event in page),
        epoch=head.epoch,
        seq=head.seq,
        low=head.low,
        complete=newest >= head.seq,
    )


@get_async("/api/tournaments/{tournament_id}/stream", returns=Stream)
async def stream_feed_events(call: AsyncCall[Query]) -> Stream:
    """The feed events as server-sent events; Last-Event-ID brings what was missed."""
    feed: FeedService = call.feed
    tournament_id = call.ids["tournament_id"]
    head, _ = await _load_page(feed, tournament_id, None, 1)
    _refuse_overload(feed)
    start = head
    if call.last_event_id:
        epoch, _, number = call.last_event_id.partition(":")
        after = int(number) if number.isascii() and number.isdigit() and len(number) < 19 else -1
        _refuse_trimmed(head, epoch, after)
        start = replace(head, seq=after)
    return Stream(_stream_blocks(feed, tournament_id, start))


async def _stream_blocks(
    feed: FeedService, tournament_id: int, position: ChannelHead
) -> AsyncIterator[bytes]:
    """The blocks of a stream: the events that follow a position, and then new ones as they happen."""
    yield _id_block(position)
    while True:
        try:
            head, events = await feed.stored_events.events_page(
                tournament_id, position.seq, EVENTS_MAX, Importance.VISITOR
            )
        except EventsUnavailable:
            # The client comes back with the id of its newest event.
            return
        if head is None:
            return
        if head.epoch != position.epoch or position.seq < head.low:
            position = head
            yield _reset_block(head)
        elif events:
            position = ChannelHead(head.epoch, events[-1].seq, head.low)
            yield b"".join(_event_block(event) for event in events)
        elif not await feed.relay.wait(tournament_id, (position.epoch, position.seq), COMMENT_EVERY_SECONDS):
            if feed.relay.is_over:
                return
            yield COMMENT


async def _load_page(
    feed: FeedService, tournament_id: int, after: int | None, limit: int
) -> tuple[ChannelHead, list[Announcement]]:
    try:
        head, events = await feed.stored_events.events_page(
            tournament_id, after or 0, 0 if after is None else limit, Importance.VISITOR
        )
    except EventsUnavailable as error:
        raise ServiceUnavailable from error
    if head is None:
        raise NotFound("Tournament", tournament_id)
    return head, events


def _refuse_trimmed(head: ChannelHead, epoch: str | None, after: int) -> None:
    if epoch not in (None, head.epoch):
        raise EpochEnded(epoch=head.epoch)
    if not head.low <= after <= head.seq:
        raise EventsTrimmed(first=head.low + 1, last=head.seq)


def _refuse_overload(feed: FeedService) -> None:
    if feed.relay.waiting_count >= WAITING_MAX:
        raise ServiceUnavailable


def _first_within(events: list[Announcement], bytes_max: int) -> list[Announcement]:
    """The first events that fit, but always the first."""
    page: list[Announcement] = []
    room = bytes_max
    for event in events:
        room -= len(event.data)
        if page and room < 0:
            break
        page.append(event)
    return page


def _feed_event(event: Announcement) -> FeedEvent:
    return FeedEvent(
        event=event.name,
        data=event.data,
        channel=messages.channel_name(event.tournament_id),
        id=f"{event.epoch}:{event.seq}",
        seq=event.seq,
        epoch=event.epoch,
        revision=UNSET if event.revision is None else event.revision,
        journal_head=UNSET if event.journal_head is None else event.journal_head,
    )


# A block with an id only: the client remembers the id and reports no event.
def _id_block(head: ChannelHead) -> bytes:
    return f"id: {head.epoch}:{head.seq}\n\n".encode()


def _reset_block(head: ChannelHead) -> bytes:
    """The block that tells the client to read the tournament again."""
    data = f'{{"epoch":"{head.epoch}","seq":{head.seq}}}'
    return f"id: {head.epoch}:{head.seq}\nevent: reset\ndata: {data}\n\n".encode()


def _event_block(event: Announcement) -> bytes:
    # Our JSON has no line breaks. Readers of streams leave out fields that they do not know.
    revision = "" if event.revision is None else f"revision: {event.revision}\n"
    return f"id: {event.epoch}:{event.seq}\nevent: {event.name}\n{revision}data: {event.data}\n\n".encode()
