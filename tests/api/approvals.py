"""A user who sends a message and decides on the agent's permission requests."""

import contextlib

from checks import accepted
from events import ENDS
from tools import calls, of_kind


def pending(gateway, thread=None):
    return accepted(gateway.http.get("/permissions", params={"thread_id": thread["id"]} if thread else {}))


def decide(gateway, request, decision="allow", **members):
    return gateway.http.post(f"/permissions/{request['id']}", json={"decision": decision, **members})


def answer(gateway, request, value):
    return gateway.http.post(f"/permissions/{request['id']}", json={"answer": value})


class Person:
    """A user who has the thread open and has just sent a message."""

    def __init__(self, talker, thread, events, turn):
        self.gateway, self.thread, self.events, self.turn = talker.gateway, thread, events, turn

    def asked(self):
        """Waits for the next permission request and returns it."""
        found = self.events.until(lambda event: event["type"] == "permission-requested" or event["type"] in ENDS)[-1]
        assert found["type"] == "permission-requested", found
        return found["request"]

    def decides(self, decision="allow", **members):
        request = self.asked()
        return accepted(decide(self.gateway, request, decision, **members))

    def run(self):
        """Waits for the end of the run and returns its events."""
        return self.events.run(self.turn["id"])

    def result(self):
        """Waits for the end of the run and returns its first `tool-end` event."""
        return of_kind(self.run(), "tool-end")[0]


@contextlib.contextmanager
def person(talker, thread, *replies, content="Do it."):
    talker.stub.script(*replies)
    with talker.gateway.events() as events:
        events.subscribe(thread["id"], approvals=True)
        turn = accepted(talker.gateway.http.post("/chat", json={"content": content, "threadId": thread["id"]}), 201)
        yield Person(talker, thread, events, turn)


def call_asked(talker, thread, name, input, decision="allow", **members):
    """Has the model make one call and decides on it. Returns the decided request and the `tool-end` event."""
    with person(talker, thread, calls((name, input)), "Done.") as user:
        decided = user.decides(decision, **members)
        return decided, user.result()


def call_unasked(talker, thread, name, input):
    """Has the model make one call while a user has the thread open. Checks that no permission is requested; returns
    its `tool-end` event."""
    with person(talker, thread, calls((name, input)), "Done.") as user:
        run = user.run()
        kinds = [event["type"] for event in user.events.messages]
        assert "permission-requested" not in kinds, kinds
        return of_kind(run, "tool-end")[0]
