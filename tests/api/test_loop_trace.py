"""What holds up the event loop, and what no longer does.

See docs/troubleshoot.md and docs/contract/process.md#starting.
"""

import json
import re

import pytest

from checks import TRIES, UNKNOWN_ID, accepted, invalid
from events import ENDS
from gateway import HAS_ADDRESS_SANITIZER
from stubs.provider import ProviderStub, Raw
from talker import MODEL, configuration

HELD = re.compile(r"a callback held the loop for \d+\.\d ms, computing for (\d+\.\d): (.*)")
VARIABLES = 500_000
LIMIT = 10  # milliseconds


def large(name, count=VARIABLES):
    variables = {f"V{number}": "v" for number in range(count)}
    return {"type": "integration", "name": name, "description": "", "definition": {
        "kind": "mcp-stdio", "command": "true", "env": variables}}


def longest_hold(gateway, act):
    """How long a callback computed at most while that was done, and which: what it waits for a processor says nothing."""
    known = len(HELD.findall(gateway.stderr))
    act()
    gateway.http.get("/health")  # when it is answered, everything before is over
    holds = [(float(milliseconds), calls) for milliseconds, calls in HELD.findall(gateway.stderr)[known:]]
    return max(holds, default=(0.0, ""))


def never_holds(gateway, act):
    """Another program may take the processor away, so that one of several tries has to be quick. `act` takes their number."""
    holds = []
    for number in range(TRIES):
        holds.append(longest_hold(gateway, lambda tried=number: act(tried)))
        if holds[-1][0] < LIMIT:
            return
    pytest.fail(f"the loop was held each time: {holds}")


optimised_only = pytest.mark.skipif(HAS_ADDRESS_SANITIZER, reason="the figures are of a program without sanitizers")


@pytest.fixture
def traced(make_gateway):
    return make_gateway(arguments=["--trace-loop"]).start()


def test_callbacks_that_hold_the_loop_are_logged(make_gateway):
    gateway = make_gateway(arguments=["--trace-loop"]).start()
    for number in range(3):
        accepted(gateway.http.post("/extensions", json=large(f"large-{number}", 200_000)), 201)
    accepted(gateway.http.get("/extensions"))
    assert gateway.stop() == 0
    assert re.search(r"a callback held the loop for \d+\.\d ms, computing for \d+\.\d: \S+\+0x[0-9a-f]+ ", gateway.stderr)


@optimised_only
@pytest.mark.parametrize("key", [False, True], ids=["once", "repeatable"])
def test_half_a_million_variables_do_not_hold_the_loop(traced, key):
    gateway = traced

    def create(number):
        headers = {"Idempotency-Key": f"large-{number}"} if key else {}
        made = accepted(gateway.http.post("/extensions", json=large(f"large-{number}"), headers=headers), 201)
        assert len(made["definition"]["env"]) == VARIABLES
    never_holds(gateway, create)


@optimised_only
def test_half_a_million_wrong_variables_do_not_hold_the_loop(traced):
    wrong = large("wrong")
    wrong["definition"]["env"] = {f"V {number}": 1 for number in range(VARIABLES)}
    never_holds(traced, lambda _: invalid(traced.http.post("/extensions", json=wrong), "definition.env"))


@optimised_only
def test_changing_half_a_million_variables_does_not_hold_the_loop(traced):
    gateway = traced
    accepted(gateway.http.post("/extensions", json=large("large")), 201)

    def change(number):
        definition = large("large")["definition"] | {"command": f"true-{number}"}
        accepted(gateway.http.patch("/extensions/large", json={"definition": definition}))
    never_holds(gateway, change)


@optimised_only
def test_reading_forty_mebibytes_does_not_hold_the_loop(traced):
    thread = accepted(traced.http.post("/threads", json={}), 201)["id"]
    for _ in range(5):
        accepted(traced.http.post(f"/threads/{thread}/turns", json={"role": "user", "content": "x" * (8 << 20)}), 201)

    def read(_):
        turns = accepted(traced.http.get(f"/threads/{thread}/turns"))
        assert sum(len(turn["content"]) for turn in turns) == 40 << 20
    never_holds(traced, read)


def stream_of(deltas):
    """The bytes of an answer, which come faster than a service could write them piece by piece."""
    chunks = [{"choices": [{"index": 0, "delta": {"content": delta}}]} for delta in deltas]
    chunks.append({"choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}]})
    body = "".join(f"data: {json.dumps(chunk)}\n\n" for chunk in chunks) + "data: [DONE]\n\n"
    head = f"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ncontent-length: {len(body)}\r\n\r\n"
    return Raw((head + body).encode())


@optimised_only
@pytest.mark.parametrize("size", [16 << 10, 64], ids=["large-deltas", "small-deltas"])
def test_an_answer_of_many_mebibytes_does_not_hold_the_loop(make_gateway, size):
    count = 2560 if size > 1024 else 100_000
    with ProviderStub() as stub:
        gateway = make_gateway(config=configuration(stub), arguments=["--trace-loop"]).start()
        stub.script(*[stream_of(["x" * size] * count)] * TRIES)
        end = {}

        def answer(_):
            nonlocal end
            with gateway.events() as events:
                events.subscribe(UNKNOWN_ID, lists=True)  # of the answer itself, only that it has ended
                asked = {"content": "Tell me all", "model": MODEL}
                turn = accepted(gateway.http.post("/chat", json=asked), 201)
                end = events.until(lambda event: event.get("turnId") == turn["id"] and event["type"] in ENDS)[-1]
                assert end["finishReason"] == "stop"
        never_holds(gateway, answer)
        turns = accepted(gateway.http.get(f"/threads/{end['threadId']}/turns"))
        assert [len(turn["content"]) for turn in turns if turn["role"] == "assistant"] == [size * count]
