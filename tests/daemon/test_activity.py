from __future__ import annotations

import asyncio
import collections
import threading

from daemon import wire
from daemon.jobs.activity import BACKLOG, Activity, Channel


def notice(number: int) -> wire.Notice:
    return wire.Notice("info", str(number))


async def test_events_of_another_thread_come_in_order_and_end() -> None:
    channel = Channel()

    def fill() -> None:
        for number in range(1000):
            channel.put(notice(number))
        channel.end()

    threading.Thread(target=fill).start()
    assert [event async for event in channel.events()] == [notice(number) for number in range(1000)]


async def test_whoever_stops_listening_is_known() -> None:
    channel = Channel()
    channel.put(notice(1))
    events = channel.events()
    assert await anext(events) == notice(1)
    assert not channel.abandoned
    await events.aclose()
    assert channel.abandoned


async def test_a_slow_listener_loses_the_oldest_and_holds_nobody() -> None:
    activity = Activity()
    heard: list[wire.Event] = []

    async def listen() -> None:
        async for event in activity.listen():
            heard.append(event)

    listening = asyncio.create_task(listen())
    await asyncio.sleep(0)
    filler = threading.Thread(
        target=lambda: collections.deque(map(activity.publish, map(notice, range(BACKLOG * 3))), 0)
    )
    filler.start()
    filler.join(60)  # while the listener, in this thread, cannot listen
    assert not filler.is_alive()
    activity.close()
    await listening
    assert heard == [notice(number) for number in range(BACKLOG * 2, BACKLOG * 3)]


async def test_everybody_who_listens_hears_and_nobody_who_has_left() -> None:
    activity = Activity()
    activity.publish(notice(0))
    one, two = activity.listen(), activity.listen()
    first, second = asyncio.create_task(anext(one)), asyncio.create_task(anext(two))
    await asyncio.sleep(0)
    activity.publish(notice(1))
    assert (await first, await second) == (notice(1), notice(1))
    await one.aclose()
    activity.publish(notice(2))
    assert await anext(two) == notice(2)
