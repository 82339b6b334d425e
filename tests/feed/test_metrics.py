"""The metrics of the feed."""

from datetime import timedelta

from hypothesis import given
from hypothesis import strategies as st

from feed.feed_server import NOON, next_message, run_scenario, running_feed
from silverball.feed.messages import FrameEncoding, OutgoingEvent
from silverball.kit.measures import SECONDS, Histogram
from silverball.store.tournament.announcements import Announcement


def test_a_delivery_is_counted_for_each_client_and_timed_once() -> None:
    async def scenario() -> None:
        async with (
            running_feed(42, 43) as server,
            server.follower(42) as first,
            server.follower(42, 43) as second,
        ):
            server.events.publish(42)
            server.events.publish(43)
            # Tournament 44 has no follower, so nothing is delivered.
            server.events.heads[44] = server.events.heads[43]
            for client in (first, second, second):
                await next_message(client)
            metrics = server.hub.metrics
            assert (metrics.connections, metrics.subscriptions) == (2, 3)
            assert (metrics.events_total, metrics.deliveries_total) == (2, 3)
            assert sum(metrics.delivery_seconds.counts) == 2

    run_scenario(scenario())


def test_a_delivery_is_timed_from_the_change() -> None:
    async def scenario() -> None:
        async with running_feed(42) as server, server.follower(42) as client:
            late = server.events.append(42)
            server.hub.publish(
                Announcement(42, late.epoch, late.seq, late.name, late.data, late.at - timedelta(seconds=3))
            )
            await next_message(client)
            assert 3 <= server.hub.metrics.delivery_seconds.sum < 4
            assert dict(server.hub.metrics.delivery_seconds.cumulative_counts())["2.5"] == 0

    run_scenario(scenario())


@given(st.lists(st.floats(-1, 100)))
def test_a_duration_counts_in_its_bucket_and_in_all_larger_ones(times: list[float]) -> None:
    histogram = Histogram()
    for seconds in times:
        histogram.observe(seconds)
    rows = histogram.cumulative_counts()
    assert [bound for bound, _ in rows] == [*map(str, SECONDS), "+Inf"]
    assert rows[-1][1] == len(times)
    for bound, count in rows:
        assert count == sum(seconds <= float(bound) for seconds in times)


def test_an_event_is_encoded_once_for_each_encoding() -> None:
    event = OutgoingEvent(Announcement(42, "k3f9", 1, "GameCreatedOrUpdated", '{"gameId":1}', NOON))
    plain, laravel = FrameEncoding("plain"), FrameEncoding("laravel")
    assert event.encode(plain) is event.encode(FrameEncoding("plain"))
    assert b"App\\\\Events\\\\GameCreatedOrUpdated" in event.encode(laravel)
    assert event.encode(plain) != event.encode(laravel)
