"""Approvals: their cost for calls that need none, and the latency of a person's decision."""

import socket
import sys
import threading
import time
from types import SimpleNamespace

from bench.harness import ROOT, Row, folder, median, milliseconds
from bench.tools import Chats, gaps, model_that_calls

sys.path.insert(0, str(ROOT / "tests/api"))

from events import Events  # noqa: E402
from stubs.provider import ProviderStub, Reply, ToolCall  # noqa: E402

ROUNDS = 20
DECISIONS = 40  # of each of 5 runs
CONCURRENT = 8  # questions of one step that wait simultaneously


def event_client(chats):
    gateway = chats.gateway
    return Events(SimpleNamespace(port=gateway.port, token=gateway.token,
                                  authorization={"Authorization": f"Bearer {gateway.token}"}))


def set_stage(chats, stage):
    chats.gateway.request("PATCH", "/agents/assistant/stage", {"stage": stage, "reason": "a measurement"})


def unapproved_gaps(chats):
    """Returns the median gaps between calls that need no approval, with a client that decides and with one that only
    listens, and the median of their ratios. The two alternate, so that other load on the machine affects both. The agent
    may call all tools, so that both cases offer the same tools."""
    found = {True: [], False: []}
    set_stage(chats, "sovereign")
    chats.stub.always(model_that_calls(40))
    with event_client(chats) as decider, event_client(chats) as observer:
        for number in range(2 * ROUNDS):
            decides = number % 4 in (0, 3)
            thread, = chats.threads(1)
            if decides:
                decider.subscribe(thread, approvals=True)
            else:
                observer.subscribe(thread)
            chats.stub.requests.clear()
            chats.ask(thread)
            chats.wait([thread])
            found[decides].append(median(gaps(chats.stub)))
    set_stage(chats, "apprentice")
    ratios = [deciding / listening for deciding, listening in zip(found[True], found[False])]
    return median(found[True]), median(found[False]), median(ratios)


class CallRecorder(threading.Thread):
    """A server that records when each request begins to arrive: the start of the tool that calls it."""

    def __init__(self):
        super().__init__(daemon=True)
        self.listening = socket.create_server(("127.0.0.1", 0))
        self.url = f"http://127.0.0.1:{self.listening.getsockname()[1]}/"
        self.times = []

    def run(self):
        while True:
            connection = self.listening.accept()[0]
            while connection.recv(65536):
                self.times.append(time.perf_counter())
                connection.sendall(b"HTTP/1.1 200 OK\r\ncontent-type: text/plain\r\ncontent-length: 2\r\n\r\nok")
            connection.close()


def call_out_repeatedly(request):
    number = sum(message["role"] == "tool" for message in request.json["messages"])
    if number >= DECISIONS:
        return Reply("Done.")
    return Reply("", tool_calls=[ToolCall("call-out", {"number": str(number)}, f"call_{number}")])


def decisions(chats):
    """Returns the seconds from the decision's request to the start of the tool, and to the event of its end."""
    started, ended = [], []
    recorder = CallRecorder()
    recorder.start()
    chats.gateway.request("POST", "/extensions", {
        "type": "action", "name": "call-out", "description": "Calls out.", "enabled": True,
        "definition": {"kind": "http", "method": "GET", "url": recorder.url}})
    chats.stub.always(call_out_repeatedly)
    with event_client(chats) as events:
        for thread in chats.threads(5):
            events.subscribe(thread, approvals=True)
            chats.ask(thread)
            for _ in range(DECISIONS):
                request = events.until(lambda event: event["type"] == "permission-requested")[-1]["request"]
                began = time.perf_counter()
                answer = threading.Thread(target=chats.gateway.request, args=(
                    "POST", f"/permissions/{request['id']}", {"decision": "allow"}))
                answer.start()
                end = events.until(lambda event: event["type"] == "tool-end")[-1]
                ended.append(time.perf_counter() - began)
                answer.join()
                if end["isError"]:
                    raise SystemExit(f"the call failed: {end['output']}")
                started.append(recorder.times[-1] - began)
            chats.wait([thread])
    return sorted(started), sorted(ended)


def ask_questions(_):
    return Reply("", tool_calls=[ToolCall("AskUser", {"question": f"Question {number}?"}, f"call_{number}")
                                 for number in range(CONCURRENT)])


def measure_listing(chats):
    """Returns the number of waiting requests, and the median seconds of a listing."""
    chats.stub.always(ask_questions)
    with event_client(chats) as events:
        threads = chats.threads(200 // CONCURRENT)
        events.subscribe(*threads, approvals=True)
        for thread in threads:
            chats.ask(thread)
        for _ in range(200):
            events.until(lambda event: event["type"] == "permission-requested")
        times = []
        for _ in range(200):
            began = time.perf_counter()
            waiting = chats.gateway.request("GET", "/permissions")
            times.append(time.perf_counter() - began)
        return len(waiting), median(times)


def approvals():
    """Calls that need no approval, with a person connected; a click until the tool starts; a list of 200"""
    with folder() as home, ProviderStub() as stub, Chats(home, stub) as chats:
        with_decider, without, ratio = unapproved_gaps(chats)
        started, ended = decisions(chats)
        count, listed = measure_listing(chats)
    slowest = started[len(started) * 99 // 100]
    yield Row("call that needs no approval, p50", milliseconds(with_decider), milliseconds(without), f"{ratio:.3f}",
              "< 1.02", ratio < 1.02)
    yield Row("click until the tool starts, p50", milliseconds(median(started)), "-", "-", "-", None)
    yield Row("click until the tool starts, p99", milliseconds(slowest), "-", "-", "< 5 ms", slowest < 0.005)
    yield Row("click until its end is heard, p50", milliseconds(median(ended)), "-", "-", "-", None)
    yield Row(f"{count} requests that wait, listed", milliseconds(listed), "-", "-", "< 2 ms", count == 200 and listed < 0.002)
