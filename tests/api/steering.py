"""Runs that are paused at each step, and messages that steer them."""

from checks import accepted
from events import wait_for_text
from stubs.provider import ToolCall
from talker import text_of as message_text
from tools import turns_of


def new_thread(gateway, **members):
    """Creates a thread with a title, so that the model is not asked for one."""
    return accepted(gateway.http.post("/threads", json={"title": "a title", **members}), 201)


def chat(gateway, thread, content, delivery=None, **members):
    body = {"content": content, "threadId": thread["id"], **members}
    return accepted(gateway.http.post("/chat", json={**body, "delivery": delivery} if delivery else body), 201)


def steer(gateway, thread, content="Only the otters.", **members):
    return chat(gateway, thread, content, "steer", **members)


def regenerate(talker, turn, *replies):
    """Regenerates the answer to the turn. Returns the run's events."""
    talker.stub.script(*replies)
    with talker.gateway.events(turn["thread_id"]) as events:
        question = accepted(talker.gateway.http.post(f"/turns/{turn['id']}/regenerate"), 201)
        return events.run(question["id"])


def glob(number=1):
    return ToolCall("Glob", {"pattern": f"*.{number}"})


def stored(gateway, turn):
    return next(found for found in turns_of(gateway, {"id": turn["thread_id"]}) if found["id"] == turn["id"])


def answers_to(gateway, turn):
    return [found for found in turns_of(gateway, {"id": turn["thread_id"]}, "assistant")
            if found["metadata"]["in_reply_to"] == turn["id"]]


class Run:
    """A run whose model pauses each step until `step` or `finish` is called."""

    def __init__(self, talker, thread, events, **members):
        self.talker, self.thread, self.events = talker, thread, events
        self.number = 0
        self.held = self._hold()
        self.turn = chat(talker.gateway, thread, "Which animals swim?", **members)
        wait_for_text(events, self.turn, "Step 1.")

    def _hold(self):
        self.number += 1
        return self.talker.stub.hold(f"Step {self.number}.", tool_calls=[glob(self.number)])

    def step(self):
        """Ends the step: the run calls its tool and asks the model again. Returns the messages of that request."""
        held, self.held = self.held, self._hold()
        held.release()
        assert self.held.was_asked()
        return messages_of(self.held.request)

    def finish(self, *more):
        """Ends the run with an answer without a tool call. Returns its events. `more`: answers to later requests."""
        held, self.held = self.held, self.talker.stub.hold("Done.")
        self.talker.stub.script(*more)
        held.release()
        assert self.held.was_asked()
        self.held.release()
        return self.events.run(self.turn["id"])


def messages_of(request):
    """Returns the messages of a request as (role, text), without system messages."""
    return [(message["role"], message_text(message)) for message in request.json["messages"]
            if message["role"] != "system"]


def roles(messages):
    return [role for role, _ in messages]
