"""The WebSocket at /v1/responses. See docs/contract/clients.md#the-websocket."""

import json

import pytest

from checks import accepted
from connection import TEXT
from gateway import HAS_ADDRESS_SANITIZER
from stubs.provider import Fault, Reply, ToolCall, down
from talker import MODEL, configuration
from test_open_responses import EVENTS, schema
from test_openai_responses import WEATHER, text_of
from test_process import preloaded
from test_websocket import upgrade

PATH = "/v1/responses"
ERROR = schema({"$ref": "#/$defs/SocketError"})
ENDS = {"response.completed", "response.incomplete", "response.failed", "error"}
MIB = 1024 * 1024


@pytest.fixture
def socket(talker):
    with talker.gateway.events(path=PATH) as opened:
        yield opened


def create(socket, **members):
    socket.send({"type": "response.create", "model": MODEL, "input": "Hi", **members})


def read_response(socket, stream_id=None):
    """Returns the events up to the end of a response or an error, after validating each against its schema."""
    events = socket.until(lambda event: event["type"] in ENDS and event.get("stream_id") == stream_id)
    for event in events:
        (ERROR if event["type"] == "error" else EVENTS[event["type"]]).validate(event)
    return [event for event in events if event.get("stream_id") == stream_id]


def answer(socket, **members):
    create(socket, **members)
    events = read_response(socket)
    assert events[-1]["type"] == "response.completed", events[-1]
    return events[-1]["response"]


def refusal(socket, **members):
    create(socket, **members)
    error, = read_response(socket)
    assert error["error"]["code"] == error["code"] and error["error"]["message"] == error["message"]
    return error


def test_events_are_those_of_a_stream(talker, socket):
    talker.stub.script(Reply("one two", deltas=2, reasoning="Hm."))
    create(socket, stream=True)
    events = read_response(socket)
    assert [event["sequence_number"] for event in events] == list(range(len(events)))
    assert events[0]["type"] == "response.created" and text_of(events[-1]["response"]) == "one two"
    assert "stream_id" not in events[0]


def test_members_may_be_nested_in_response(talker, socket):
    socket.send({"type": "response.create", "response": {"model": MODEL, "input": "Hi"}})
    assert read_response(socket)[-1]["type"] == "response.completed"


def test_response_continues_the_previous_one(talker, socket):
    talker.stub.script(Reply("", tool_calls=[ToolCall("weather", {}, id="call_1")]), "Sunny.")
    first = answer(socket, input="Weather?", tools=[WEATHER])
    result = {"type": "function_call_output", "call_id": "call_1", "output": "sun"}
    second = answer(socket, input=[result], tools=[WEATHER], previous_response_id=first["id"])
    assert text_of(second) == "Sunny." and second["previous_response_id"] == first["id"]
    sent = [message["role"] for message in talker.stub.requests[-1].json["messages"]]
    assert sent == ["user", "assistant", "tool"]


def test_response_that_is_not_stored_is_continued_on_its_connection_only(talker, socket):
    talker.stub.script("First.", "Second.")
    first = answer(socket, input="One", store=False)
    answer(socket, input="Two", store=False, previous_response_id=first["id"])
    assert talker.conversation() == [("user", "One"), ("assistant", "First."), ("user", "Two")]
    assert talker.gateway.http.get(f"{PATH}/{first['id']}").status_code == 404
    with talker.gateway.events(path=PATH) as other:
        error = refusal(other, previous_response_id=first["id"])
    assert (error["status"], error["code"]) == (400, "previous_response_not_found")
    assert error["param"] == "previous_response_id"


def test_failed_response_removes_the_unstored_one_that_it_continued(talker, socket):
    first = answer(socket, store=False)
    talker.stub.script(Fault(400, message="no"))
    assert refusal(socket, previous_response_id=first["id"])["status"] == 400
    assert refusal(socket, previous_response_id=first["id"])["code"] == "previous_response_not_found"


def test_stored_response_of_http_is_continued(talker, socket):
    first = accepted(talker.gateway.http.post(PATH, json={"model": MODEL, "input": "One"}))
    second = answer(socket, input="Two", previous_response_id=first["id"])
    assert accepted(talker.gateway.http.get(f"{PATH}/{second['id']}")) == second
    assert [text for _, text in talker.conversation()][::2] == ["One", "Two"]


def test_warm_up_generates_nothing(talker, socket):
    warm = answer(socket, input="One", generate=False, store=False)
    assert warm["output"] == [] and talker.stub.requests == []
    answer(socket, input="Two", previous_response_id=warm["id"])
    assert talker.conversation() == [("user", "One"), ("user", "Two")]


def test_agent_answers_on_its_thread(talker, socket):
    talker.stub.script("First.", "Second.")
    first = answer(socket, model="assistant", input="One", store=False)
    second = answer(socket, model="assistant", input="Two", store=False, previous_response_id=first["id"])
    assert first["conversation"] == second["conversation"]


def test_requests_are_answered_in_order(talker, socket):
    first, second = talker.stub.hold("one"), talker.stub.hold("two")
    create(socket, input="One")
    create(socket, input="Two")
    assert first.was_asked() and not second.was_asked(0.2)
    first.release()
    assert text_of(read_response(socket)[-1]["response"]) == "one"
    second.release()
    assert text_of(read_response(socket)[-1]["response"]) == "two"


def test_streams_are_answered_in_parallel(talker, socket):
    left, right = talker.stub.hold("left"), talker.stub.hold("right")
    create(socket, stream_id="a")
    assert left.was_asked()
    create(socket, stream_id="b")
    assert right.was_asked()
    right.release()
    assert text_of(read_response(socket, "b")[-1]["response"]) == "right"
    left.release()
    assert text_of(read_response(socket, "a")[-1]["response"]) == "left"


def test_seventeenth_stream_is_too_many(talker, socket):
    for number in range(16):
        create(socket, stream_id=f"s{number}")
        read_response(socket, f"s{number}")
    create(socket, stream_id="s16")
    assert read_response(socket, "s16")[-1]["code"] == "websocket_stream_limit_reached"


def test_seventeenth_waiting_request_is_too_many(talker, socket):
    held = talker.stub.hold("one")
    create(socket)
    assert held.was_asked()
    for _ in range(17):
        create(socket)
    assert read_response(socket)[-1]["code"] == "rate_limit_exceeded"
    held.release()
    assert {read_response(socket)[-1]["type"] for _ in range(17)} == {"response.completed"}


@pytest.mark.parametrize("message, param", [
    ("{", None), ("[]", None), ("{}", "type"), ({"type": "response.steer"}, "type"), ('{"type": "\\ud800"}', None),
    ("[" * 100_000, None)], ids=["broken", "array", "empty", "unknown", "surrogate", "nested"])
def test_bad_message_is_refused_and_harms_nothing(talker, socket, message, param):
    socket.send(message)
    error, = read_response(socket)
    assert error["status"] == 400 and error["param"] == param
    answer(socket)


@pytest.mark.parametrize("members, param", [
    ({"background": True}, "background"), ({"model": "nobody/m"}, "model"), ({"generate": "no"}, "generate"),
    ({"input": 7}, "input"), ({"frobnicate": 1}, "frobnicate"), ({"generate": False, "model": "nobody"}, "model")])
def test_bad_parameter_is_named(talker, socket, members, param):
    assert refusal(socket, **members)["param"] == param
    assert talker.stub.requests == []


def test_service_that_is_down_is_an_error(talker, socket):
    talker.stub.script(*down())
    assert refusal(socket)["status"] == 503


def test_failure_during_an_answer_is_its_only_end(talker, socket):
    talker.stub.script(Reply("one two three", deltas=3, after=2, fault="error"))
    create(socket)
    assert read_response(socket)[-1]["type"] == "response.failed"
    answer(socket)


def test_client_that_disconnects_stops_the_model(talker):
    held = talker.stub.hold("one ")
    with talker.gateway.events(path=PATH) as socket:
        create(socket)
        socket.until(lambda event: event["type"] == "response.output_text.delta")
    assert held.was_aborted()


def test_client_that_does_not_read_is_disconnected_and_stops_the_model(talker):
    held = talker.stub.hold(*["x" * MIB] * 24)
    with talker.gateway.frames(path=PATH, receive_buffer=4096) as slow:
        slow.frame(TEXT, json.dumps({"type": "response.create", "model": MODEL, "input": "Hi"}))
        assert held.was_aborted()
        assert slow.close_code() == 1013 and slow.closed()


def test_message_over_the_limit_of_bodies_closes_the_socket(talker, socket):
    answer(socket, input="x" * (9 * MIB))
    with talker.gateway.frames(path=PATH) as frames:
        frames.frame(TEXT, "x", length=11 * MIB)
        assert frames.close_code() == 1009


def move_clock(file, minutes):
    """Replaces the file atomically, because the gateway may read it at any time."""
    draft = file.with_suffix(".draft")
    draft.write_text(str(minutes * 60))
    draft.rename(file)


@pytest.mark.skipif(HAS_ADDRESS_SANITIZER, reason="the sanitizer reads the clock before dlsym works")
def test_requests_are_refused_after_60_minutes(make_gateway, stub, tmp_path):
    ahead = tmp_path / "seconds"
    clock = preloaded(tmp_path, """
#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>
static int ahead(void) {
  int before = errno, file = open(getenv("CLOCK_AHEAD"), O_RDONLY | O_CLOEXEC);
  char text[16] = "";
  if (file >= 0 && read(file, text, sizeof text - 1) < 0) text[0] = 0;
  if (file >= 0) close(file);
  errno = before;
  return atoi(text);
}
int clock_gettime(clockid_t clock, struct timespec *time) {
  static int (*real)(clockid_t, struct timespec *);
  if (!real) real = (int (*)(clockid_t, struct timespec *))dlsym(RTLD_NEXT, "clock_gettime");
  int result = real(clock, time);
  if (clock == CLOCK_MONOTONIC) time->tv_sec += ahead();
  return result;
}
/* The kernel's clock does not move, so a thread would wait for an hour. */
int pthread_cond_clockwait(pthread_cond_t *condition, pthread_mutex_t *mutex, clockid_t clock,
                           const struct timespec *until) {
  static __typeof__(&pthread_cond_clockwait) real;
  if (!real) real = (__typeof__(real))dlsym(RTLD_NEXT, "pthread_cond_clockwait");
  struct timespec moved = *until;
  if (clock == CLOCK_MONOTONIC) moved.tv_sec -= ahead();
  return real(condition, mutex, clock, &moved);
}
""")
    gateway = make_gateway(config=configuration(stub), environment={**clock, "CLOCK_AHEAD": str(ahead)}).start()
    with gateway.events(path=PATH) as socket:
        gateway.http.get("/health")  # while a connection is open, the gateway checks the clock every second
        move_clock(ahead, minutes=59.5)
        answer(socket)
        gateway.http.get("/health")
        move_clock(ahead, minutes=61)
        error, = read_response(socket)
        assert error["code"] == "websocket_connection_limit_reached" and "open another one" in error["message"]
        assert socket.closed() == 1000


def test_socket_is_closed_when_the_gateway_stops(own_talker):
    held = own_talker.stub.hold("one ")
    with own_talker.gateway.events(path=PATH) as socket:
        create(socket)
        assert held.was_asked()
        own_talker.gateway.stop()
        assert socket.closed() == 1001
    assert held.was_aborted()


def test_token_host_and_origin_are_checked_as_for_other_sockets(gateway):
    unauthorized = upgrade(gateway, path=PATH, token=False)
    assert unauthorized.status == 401 and json.loads(unauthorized.body)["error"]["code"] == "invalid_api_key"
    assert upgrade(gateway, path=f"{PATH}?token={gateway.token}", token=False).status == 101
    assert upgrade(gateway, f"Sec-WebSocket-Protocol: bearer, {gateway.token}", path=PATH, token=False).status == 101
    refused = upgrade(gateway, "Origin: http://evil.example", path=PATH)
    assert refused.status == 403 and json.loads(refused.body)["error"]["type"] == "permission_error"
    assert gateway.http.get(PATH).status_code == 405


def test_document_declares_the_socket(gateway):
    channel = accepted(gateway.http.get("/asyncapi.json"))["channels"]["responses"]
    assert channel["address"] == PATH and len(channel["messages"]) == 2
