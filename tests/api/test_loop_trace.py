"""Callbacks that hold the event loop are logged, and large requests and answers do not hold it.

See docs/troubleshoot.md and docs/contract/process.md#starting.
"""

import contextlib
import json
import mmap
import re
import sqlite3
import time

import pytest

import jobs
import knowledge
import mcp_client
from checks import TRIES, UNKNOWN_ID, accepted, invalid
from events import ENDS
from gateway import HAS_ADDRESS_SANITIZER
from stubs.provider import ProviderStub, Raw
from talker import MODEL, configuration

TRACE = re.compile(r"a callback held the loop for \d+\.\d ms, computing for (\d+\.\d): (.*)")
VARIABLES = 500_000
LIMIT = 10  # milliseconds, plus milliseconds_for_memory


def large(name, count=VARIABLES):
    variables = {f"V{number}": "v" for number in range(count)}
    return {"type": "integration", "name": name, "description": "", "definition": {
        "kind": "mcp-stdio", "command": "true", "env": variables}}


def longest_hold(gateway, act):
    """Returns the longest time that a callback computed during `act`, and its name, without waits for a processor."""
    logged_before = len(TRACE.findall(gateway.stderr))
    act()
    gateway.http.get("/health")  # is answered when all earlier callbacks have ended
    holds = [(float(milliseconds), calls) for milliseconds, calls in TRACE.findall(gateway.stderr)[logged_before:]]
    return max(holds, default=(0.0, ""))


def milliseconds_for_memory():
    """Returns how long the system computes to provide 8 MiB, as callbacks may use: from 1 ms to 30 ms on some virtual
    machines."""
    with mmap.mmap(-1, 8 << 20, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS) as memory:
        began = time.thread_time()
        for page in range(0, len(memory), mmap.PAGESIZE):
            memory[page] = 1
        return (time.thread_time() - began) * 1000


def check_never_holds(gateway, act, limit=LIMIT):
    """Expects one of several attempts to be quick, as other programs may use the processor. `act` gets its number."""
    holds = []
    for number in range(TRIES):
        allowed = limit + milliseconds_for_memory()
        holds.append(longest_hold(gateway, lambda attempt=number: act(attempt)))
        if holds[-1][0] < allowed:
            return
    pytest.fail(f"the loop was held each time, with {allowed:.1f} ms allowed at last: {holds}")


without_sanitizers = pytest.mark.skipif(HAS_ADDRESS_SANITIZER, reason="the limit is for builds without sanitizers")


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


@without_sanitizers
@pytest.mark.parametrize("key", [False, True], ids=["once", "repeatable"])
def test_half_a_million_variables_do_not_hold_the_loop(traced, key):
    gateway = traced

    def create(number):
        headers = {"Idempotency-Key": f"large-{number}"} if key else {}
        made = accepted(gateway.http.post("/extensions", json=large(f"large-{number}"), headers=headers), 201)
        assert len(made["definition"]["env"]) == VARIABLES
    check_never_holds(gateway, create)


@without_sanitizers
def test_half_a_million_invalid_variables_do_not_hold_the_loop(traced):
    invalid_record = large("wrong")
    invalid_record["definition"]["env"] = {f"V {number}": 1 for number in range(VARIABLES)}
    check_never_holds(traced, lambda _: invalid(traced.http.post("/extensions", json=invalid_record), "definition.env"))


@without_sanitizers
def test_listing_large_extensions_does_not_hold_the_loop(traced):
    for number in range(6):
        accepted(traced.http.post("/extensions", json=large(f"large-{number}")), 201)

    def list_all(_):
        listed = accepted(traced.http.get("/extensions?type=integration"))
        assert [extension["name"] for extension in listed] == [f"large-{number}" for number in reversed(range(6))]
        assert all(len(extension["definition"]["env"]) == VARIABLES for extension in listed)
    check_never_holds(traced, list_all)


@without_sanitizers
@pytest.mark.parametrize("query", [{}, {"type": "command"}], ids=["all", "commands"])
def test_listing_ten_thousand_extensions_does_not_hold_the_loop(traced, query):
    assert traced.stop() == 0
    with contextlib.closing(sqlite3.connect(traced.data / "gateway.db")) as database, database:
        database.execute("""
            WITH RECURSIVE numbers(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM numbers WHERE n < 10000)
            INSERT INTO extensions SELECT NULL, printf('01890000-0000-7000-8000-%012d', n), 'command', 'command-' || n, 'One',
              json_object('prompt', printf('%.300c', 'x')), NULL, 'user', 1, NULL, 0, n, n FROM numbers""")
    traced.start()

    def list_all(_):
        assert len(accepted(traced.http.get("/extensions", params=query))) >= 10_000
    check_never_holds(traced, list_all, limit=2)


@pytest.mark.slow
@without_sanitizers
def test_changing_half_a_million_variables_does_not_hold_the_loop(traced):
    gateway = traced
    accepted(gateway.http.post("/extensions", json=large("large")), 201)

    def change(number):
        definition = large("large")["definition"] | {"command": f"true-{number}"}
        accepted(gateway.http.patch("/extensions/large", json={"definition": definition}))
    check_never_holds(gateway, change)


@without_sanitizers
def test_showing_a_large_page_of_knowledge_does_not_hold_the_loop(traced):
    text = "Some words.\n\n" * 300_000
    knowledge.page(traced, "large", text)
    check_never_holds(traced, lambda _: knowledge.article(traced, "large")["content"] == text)


@without_sanitizers
def test_a_proposal_of_a_mebibyte_of_yaml_does_not_hold_the_loop(traced):
    content = "type: artifact\ncontent:\n" + "- x\n" * 250_000

    def decide(number):
        body = {"agent": "assistant", "type": "extension", "title": f"List {number}", "content": content,
                "target": f"extensions/list-{number}.yaml"}
        proposed = accepted(traced.http.post("/propose", json=body), 201)
        accepted(traced.http.post(f"/proposals/assistant/{proposed['date']}/{proposed['name']}/apply", json={}))
    check_never_holds(traced, decide)


@without_sanitizers
def test_reading_forty_mebibytes_does_not_hold_the_loop(traced):
    thread = accepted(traced.http.post("/threads", json={}), 201)["id"]
    for _ in range(5):
        accepted(traced.http.post(f"/threads/{thread}/turns", json={"role": "user", "content": "x" * (8 << 20)}), 201)

    def read(_):
        turns = accepted(traced.http.get(f"/threads/{thread}/turns"))
        assert sum(len(turn["content"]) for turn in turns) == 40 << 20
    check_never_holds(traced, read)


def turns_of(count):
    return [{"key": f"turn-{number}", "role": ["user", "assistant"][number % 2], "content": "Some words, \"quoted\".\n" * 10,
             "metadata": {"usage": {"inputTokens": number}}} for number in range(count)]


@without_sanitizers
def test_importing_five_thousand_turns_does_not_hold_the_loop(traced):
    def import_all(number):
        batch = {"source": "notes", "threads": [{"key": f"thread-{number}", "turns": turns_of(5000)}]}
        [made] = accepted(traced.http.post("/import", json=batch))["threads"]
        assert made["turns_created"] == 5000
    check_never_holds(traced, import_all)


@without_sanitizers
def test_a_request_of_many_mebibytes_to_a_model_does_not_hold_the_loop(make_gateway):
    question = "A line.\n" * (1 << 20)
    with ProviderStub() as stub:
        gateway = make_gateway(config=configuration(stub), arguments=["--trace-loop"]).start()

        def ask(_):
            body = {"model": MODEL, "messages": [{"role": "user", "content": question}]}
            response = accepted(gateway.http.post("/v1/chat/completions", json=body))
            assert response["choices"][0]["finish_reason"] == "stop"
            assert stub.requests[-1].json["messages"][-1]["content"] == question
        check_never_holds(gateway, ask)


@without_sanitizers
@pytest.mark.parametrize("path", ["/chat", "/threads/{}/turns"], ids=["chat", "turn"])
def test_a_message_of_many_mebibytes_does_not_hold_the_loop(make_gateway, path):
    text = "A \"quoted\" line.\n" * 400_000
    with ProviderStub() as stub:
        gateway = make_gateway(config=configuration(stub), arguments=["--trace-loop"]).start()
        thread = accepted(gateway.http.post("/threads", json={}), 201)["id"]

        def send(_):
            with gateway.events(thread) as events:
                body = {"content": text, "role": "user"} if "turns" in path else {"content": text, "threadId": thread}
                turn = accepted(gateway.http.post(path.format(thread), json=body), 201)
                created = events.until(lambda event: event["type"] == "turn-created")[-1]
                assert created["turn"]["id"] == turn["id"] and created["turn"]["content"] == turn["content"] == text
                if path == "/chat":
                    events.run(turn["id"])
        check_never_holds(gateway, send)


@without_sanitizers
def test_a_proposal_of_many_mebibytes_over_mcp_does_not_hold_the_loop(traced):
    content = "A \"quoted\" line.\n" * 200_000
    with mcp_client.Client(traced) as client:
        def propose(number):
            result = client.call("propose", type="knowledge", title=f"Page {number}", content=content,
                                 target=f"knowledge/wiki/page-{number}.md")
            assert not result["isError"], result
        check_never_holds(traced, propose)


@without_sanitizers
def test_reading_a_large_page_as_a_resource_does_not_hold_the_loop(traced):
    knowledge.page(traced, "large", "Some words.\n\n" * 300_000)
    with mcp_client.Client(traced) as client:
        def read(_):
            [content] = client.result("resources/read", uri="agw://knowledge/large")["contents"]
            assert len(content["text"]) > 3_000_000
        check_never_holds(traced, read)


def stream_of(deltas):
    """Returns an answer in one piece, which arrives faster than a service could write single deltas."""
    chunks = [{"choices": [{"index": 0, "delta": {"content": delta}}]} for delta in deltas]
    chunks.append({"choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}]})
    stream = "".join(f"data: {json.dumps(chunk)}\n\n" for chunk in chunks) + "data: [DONE]\n\n"
    head = f"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ncontent-length: {len(stream)}\r\n\r\n"
    return Raw((head + stream).encode())


@without_sanitizers
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
                events.subscribe(UNKNOWN_ID, lists=True)  # receives only the end of the answer, not its deltas
                body = {"content": "Tell me all", "model": MODEL}
                turn = accepted(gateway.http.post("/chat", json=body), 201)
                end = events.until(lambda event: event.get("turnId") == turn["id"] and event["type"] in ENDS)[-1]
                assert end["finishReason"] == "stop"
        check_never_holds(gateway, answer)
        turns = accepted(gateway.http.get(f"/threads/{end['threadId']}/turns"))
        assert [len(turn["content"]) for turn in turns if turn["role"] == "assistant"] == [size * count]


@without_sanitizers
def test_long_list_of_proposals_does_not_hold_the_loop(traced):
    folder = traced.data / "autoresearch" / "proposals" / "assistant" / "many"
    folder.mkdir(parents=True)
    for number in range(20_000):
        (folder / f"p{number}.md").write_text("---\ntarget: notes/a.md\n---\n\nText\n")
    check_never_holds(traced, lambda _: accepted(traced.http.get("/proposals")))


@without_sanitizers
def test_a_webhook_with_many_mebibytes_does_not_hold_the_loop(traced):
    job = jobs.new_job(traced, "hooked", trigger={"type": "webhook"})
    lines = ["A \"quoted\" line."] * 400_000

    def call(number):
        accepted(traced.http.post("/hooks/hooked", json={"lines": lines}), 202)
        row = jobs.ended(traced, job, count=number + 1)[0]
        question = jobs.turns(traced, row["thread_id"])[-1]["content"]
        assert "bytes left out" in question and len(question) < 110_000
    check_never_holds(traced, call)
