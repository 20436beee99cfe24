"""The event that begins a run (docs/contract/websocket.md#events)."""

from checks import accepted
from events import text_of


def test_start_is_announced_before_the_first_delta(talker):
    thread = accepted(talker.gateway.http.post("/threads", json={"title": "a title"}), 201)
    answer = talker.holds()
    with talker.gateway.events(thread["id"]) as events:
        turn = accepted(talker.gateway.http.post("/chat", json={"content": "a", "threadId": thread["id"]}), 201)
        started = events.until(lambda event: event["type"] == "run-started")[-1]
        assert answer.was_asked()
        assert events.run_so_far(turn["id"]) == []
        active = accepted(talker.gateway.http.get(f"/threads/{thread['id']}"))["active_run"]
        assert started == {"type": "run-started", "threadId": thread["id"], "run": {
            "runId": active["runId"], "turnId": turn["id"], "threadId": thread["id"]}} and active["seq"] == 0
        answer.release("At last")
        assert text_of(events.run(turn["id"])) == "At last"
