"""agw acp: invalid input, editors that crash, two editors on one thread, a gateway that stops.

See docs/contract/acp.md.
"""

import base64
import fcntl
import hashlib
import http.server
import json
import os
import signal
import socket
import socketserver
import subprocess
import threading
import time
from random import Random

import pytest

from checks import PATIENCE, UNKNOWN_ID, accepted
from editor import REQUESTS, Refused, select, stored
from gateway import BINARY, HAS_ADDRESS_SANITIZER
from jobs import wait_for
from tools import calls


def error_of(line):
    return line["error"]["code"], line["id"]


# Invalid input.

@pytest.mark.parametrize("line, code", [
    ("", None), ("nonsense", -32700), ("[" * 1000, -32700), ('{"a":"\\ud800"}', -32700), (b"\xff\xfe", -32700),
    ("[]", -32600), ('[{"jsonrpc":"2.0","id":1,"method":"initialize"}]', -32600), ("null", -32600), ("7", -32600),
    ("{}", -32600), ('{"jsonrpc":"1.0","id":1,"method":"initialize"}', -32600),
    ('{"jsonrpc":"2.0","id":1}', -32600), ('{"jsonrpc":"2.0","id":1,"method":7}', -32600),
    ('{"jsonrpc":"2.0","id":1,"method":"no/such"}', -32601), ('{"jsonrpc":"2.0","id":1,"method":""}', -32601),
    ('{"jsonrpc":"2.0","id":1,"method":"session/new","params":[]}', -32602),
    ('{"jsonrpc":"2.0","id":1,"method":"session/new","params":{"cwd":7}}', -32602),
    ('{"jsonrpc":"2.0","id":1,"method":"session/prompt","params":{"sessionId":{}}}', -32602),
])
def test_invalid_line_gets_one_error_and_the_connection_survives(editor, line, code):
    if code is None:
        editor.write(line)
    else:
        assert error_of(editor.raw(line))[0] == code
    assert editor.initialize()["protocolVersion"] == 1


@pytest.mark.parametrize("number", ['"text"', "0", "-1", "9007199254740993", "18446744073709551615", "null", '""'])
def test_valid_id_is_returned(editor, number):
    answer = editor.raw(f'{{"jsonrpc":"2.0","id":{number},"method":"no/such"}}')
    assert error_of(answer) == (-32601, json.loads(number))


@pytest.mark.parametrize("line, identity", [('{"id":1,"method":"initialize"}', 1), ('{"jsonrpc":"1.0","id":"x"}', "x"),
                                            ('{"id":{},"method":"initialize"}', None), ('{"id":1,"result":{}}', None)])
def test_error_for_another_version_has_the_id_of_the_request(editor, line, identity):
    assert error_of(editor.raw(line)) == (-32600, identity)


@pytest.mark.parametrize("number", ["1.5", "true", "{}", "[]", "1e400"])
def test_id_of_an_invalid_type_is_refused(editor, number):
    answer = editor.raw(f'{{"jsonrpc":"2.0","id":{number},"method":"no/such"}}')
    assert answer["error"]["code"] in (-32600, -32700) and answer["id"] is None


WORDS = ["", "x", "sessionId", "cwd", "/", "/nowhere", UNKNOWN_ID, "\u202e", "\0", "a" * 5_000]


def random_value(random, depth=0):
    kind = random.randrange(9 if depth < 4 else 6)
    if kind == 6:
        return [random_value(random, depth + 1) for _ in range(random.randrange(4))]
    if kind >= 7:
        names = ["sessionId", "cwd", "mcpServers", "prompt", "modeId", "configId", "cursor", "type", "text", "x"]
        return {name: random_value(random, depth + 1) for name in random.sample(names, random.randrange(5))}
    return [None, True, random.choice([0, -1, 1.5, 2 ** 63, 1e300]), random.choice(WORDS), {}, []][kind]


def random_line(random, number):
    """Returns a line, and its id if it is a request that must get a response."""
    message = {"jsonrpc": random.choice(["2.0"] * 9 + ["1.0", None, 2]),
               "method": random.choice([*REQUESTS] * 3 + ["no/such", "", None, 7]), "params": random_value(random)}
    if random.random() < 0.8:
        message["id"] = random.choice([number, f"text {number}"])
    for name in ("jsonrpc", "method", "params"):
        if random.random() < 0.05:
            del message[name]
    text = json.dumps(message if random.random() < 0.95 else [message])
    if random.random() < 0.1:
        cut = random.randrange(len(text))
        return text[:cut] + random.choice(["", "\\", '"', "}", "\udc80"]) + text[cut + 1:], None
    is_request = message.get("jsonrpc") == "2.0" and isinstance(message.get("method"), str) and text[0] == "{"
    return text, message.get("id") if is_request else None


@pytest.mark.parametrize("seed", range(4))
def test_each_random_request_gets_one_response(editor, seed):
    random, expected, answered = Random(seed), set(), []
    for number in range(1_000_000, 1_000_500):
        line, identity = random_line(random, number)
        editor.write(line.encode("utf-8", "surrogateescape"))
        if identity is not None:
            expected.add(identity)
    while not expected <= set(answered):
        message = editor.step()
        assert message is not None, "it ended"
        if "method" not in message and message["id"] is not None:
            answered.append(message["id"])
    assert len(answered) == len(set(answered))
    assert editor.initialize()["protocolVersion"] == 1


def test_id_in_use_is_refused(talker, editor, open_folder):
    session = editor.new(open_folder)
    answer = talker.holds("Half ")
    prompt = editor.begin_prompt(session, "Say it.")
    editor.until(lambda: editor.said(session))
    del editor.methods[prompt]
    assert error_of(editor.raw(json.dumps({"jsonrpc": "2.0", "id": prompt, "method": "initialize"})))[0] == -32600
    editor.methods[prompt] = "session/prompt"
    answer.release("done.")
    assert editor.end_of(prompt) == {"stopReason": "end_turn"}


def test_notifications_for_unknown_sessions_and_responses_to_nothing_are_ignored(editor):
    for params in ({}, [], {"sessionId": 7}, {"sessionId": UNKNOWN_ID}, {"sessionId": ""}):
        editor.notify("session/cancel", **(params if isinstance(params, dict) else {}))
        editor.send(method="session/cancel", params=params)
    for number in (1, "x", None, 1.5, {}, []):
        editor.send(method="$/cancel_request", params={"requestId": number})
        editor.send(id=number, result={})
        editor.send(id=number, error={"code": 1, "message": ""})
    editor.send(method="no/such")
    assert editor.initialize()["protocolVersion"] == 1


def test_line_of_100_mib_is_refused_without_being_buffered(editor):
    before = editor.resident_kib()
    part = b"x" * (1 << 20)
    for _ in range(2):
        for _ in range(100):
            editor.process.stdin.write(part)
        assert error_of(editor.raw(b"")) == (-32600, None)
        assert HAS_ADDRESS_SANITIZER or editor.resident_kib() < before + 48 * 1024
    assert editor.initialize()["protocolVersion"] == 1
    if not HAS_ADDRESS_SANITIZER:
        wait_until_below_4_mib(editor)


def test_more_than_16_concurrent_prompts_are_refused(talker, editor, open_folder):
    session = editor.new(open_folder)
    answer = talker.holds("Half ")
    prompts = [editor.begin_prompt(session, "Say it.") for _ in range(20)]
    refused = 0
    for prompt in prompts[16:]:
        with pytest.raises(Refused, match="too many prompts"):
            editor.end_of(prompt)
        refused += 1
    assert answer.was_asked()  # otherwise there is nothing to abort
    editor.notify("session/cancel", sessionId=session)
    assert [editor.end_of(prompt)["stopReason"] for prompt in prompts[:16]] == 16 * ["cancelled"] and refused == 4
    assert answer.was_aborted()


# Several editors, and editors and gateways that end.

def test_prompts_keep_their_order(talker, editor, open_folder):
    session = editor.new(open_folder)
    long = {"type": "resource", "resource": {"uri": "file:///a.txt", "text": "x" * 5_000_000}}
    for answer in ("One.", "Two."):
        talker.answers(answer)
    first, second = editor.begin_prompt(session, "First", long), editor.begin_prompt(session, "Second")
    editor.end_of(first), editor.end_of(second)
    sent = [content for role, content in stored(talker.gateway, session) if role == "user"]
    assert [content[:6] for content in sent] == ["First[", "Second"]


def test_two_editors_on_one_thread_see_the_same(talker, editor, start_editor, open_folder):
    session = editor.new(open_folder)
    other = start_editor()
    other.ask("session/resume", sessionId=session, cwd=str(open_folder))
    answer = talker.holds("First.")
    first = editor.begin_prompt(session, "One")
    editor.until(lambda: editor.said(session))
    second = other.begin_prompt(session, "Two")
    editor.until(lambda: editor.kinds(session, "user_message_chunk"))
    talker.answers("Second.")
    answer.release()
    assert editor.end_of(first) == other.end_of(second) == {"stopReason": "end_turn"}
    for one, own, foreign in ((editor, "One", "Two"), (other, "Two", "One")):
        one.until(lambda: one.said(session) == "First.Second.")
        assert [update["content"]["text"] for update in one.kinds(session, "user_message_chunk")] == [foreign], own


def test_one_of_two_editors_decides(talker, acting, start_editor, open_folder):
    editor, session = acting("apprentice")
    other = start_editor()
    other.decide = select("allow_once")
    other.ask("session/resume", sessionId=session, cwd=str(open_folder))
    talker.stub.script(calls(("Bash", {"command": "echo hello"})), "Done.")
    prompt = editor.begin_prompt(session, "Do it.")
    other.until(lambda: other.kinds(session, "tool_call_update"))
    assert editor.end_of(prompt) == {"stopReason": "end_turn"}
    assert "hello" in editor.kinds(session, "tool_call_update")[0]["rawOutput"]


def test_answer_continues_when_the_editor_dies(talker, editor, open_folder):
    session = editor.new(open_folder)
    answer = talker.holds("Half ")
    editor.begin_prompt(session, "Say it.")
    editor.until(lambda: editor.said(session))
    with talker.gateway.events(session) as events:
        assert editor.leave() == 0
        answer.release("done.")
        events.until(lambda event: event["type"] == "finish")
    assert stored(talker.gateway, session)[-1] == ("assistant", "Half done.")


def test_request_of_a_killed_editor_can_be_decided_elsewhere(talker, acting):
    editor, session = acting("apprentice")
    talker.stub.script(calls(("Bash", {"command": "echo hello"})), "Done.")
    editor.begin_prompt(session, "Do it.")
    editor.until(lambda: editor.asked)
    with talker.gateway.events(session) as events:
        editor.process.kill()
        request = accepted(talker.gateway.http.get("/permissions", params={"thread_id": session}))[0]
        accepted(talker.gateway.http.post(f"/permissions/{request['id']}", json={"decision": "allow"}))
        events.until(lambda event: event["type"] == "finish")


def half_answered(talker, start_editor):
    """Begins a prompt in an editor of its own, whose answer is held back. Returns the editor, the session, the prompt."""
    folder = talker.gateway.home / "site"
    folder.mkdir()
    editor = start_editor(gateway=talker.gateway)
    session = editor.new(folder)
    talker.holds("Half ")
    prompt = editor.begin_prompt(session, "Say it.")
    editor.until(lambda: editor.said(session))
    return editor, session, prompt


def test_session_continues_after_a_restart_of_the_gateway(own_talker, start_editor):
    talker = own_talker
    editor, session, prompt = half_answered(talker, start_editor)
    talker.gateway.restart()
    assert editor.end_of(prompt) == {"stopReason": "cancelled"} and editor.said(session) == "Half "
    talker.answers("Again.")
    assert editor.prompt(session, "Once more.") == "end_turn" and editor.said(session) == "Half Again."


def test_killed_gateway_ends_the_prompt_with_an_error(own_talker, start_editor):
    talker = own_talker
    editor, _, prompt = half_answered(talker, start_editor)
    talker.gateway.kill()
    talker.gateway.start()
    with pytest.raises(Refused, match="the gateway was ended while it answered"):
        editor.end_of(prompt)


class FleetingGateway(socketserver.ThreadingTCPServer):
    """What clients find if a gateway is gone again as soon as it sends events. Holds the lock of the data directory."""

    daemon_threads = True

    class Handler(http.server.BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_GET(self):
            self.close_connection = True
            if self.path != "/ws":
                return self.server.lost.append(self.path)
            key = self.headers["Sec-WebSocket-Key"] + "258EAFA5-E914-47DA-95CA-C5AB0DC85B11"
            self.send_response(101)
            for name, value in {"Upgrade": "websocket", "Connection": "Upgrade", "Sec-WebSocket-Accept":
                                base64.b64encode(hashlib.sha1(key.encode()).digest()).decode()}.items():
                self.send_header(name, value)
            self.end_headers()
            self.connection.recv(4096)  # the subscription
            message = b'{"type":"subscribed"}'
            self.wfile.write(bytes([0x81, len(message)]) + message)

        def log_message(self, *_):
            pass

    def __init__(self, data):
        super().__init__(("127.0.0.1", 0), self.Handler)
        self.lost = []  # requests without a response
        self.lock = (data / "gateway.lock").open("r+")
        fcntl.lockf(self.lock, fcntl.LOCK_EX)
        self.lock.write(json.dumps({"pid": os.getpid(), "url": f"http://127.0.0.1:{self.server_address[1]}"}).ljust(511))
        self.lock.flush()
        threading.Thread(target=self.serve_forever, daemon=True).start()

    def close(self):
        self.lock.close()
        self.shutdown()
        self.server_close()


def test_session_survives_a_gateway_that_is_gone_again_at_once(own_talker, start_editor):
    editor, _, prompt = half_answered(own_talker, start_editor)
    own_talker.gateway.kill()
    fleeting = FleetingGateway(own_talker.gateway.data)
    try:
        wait_for(lambda: len(fleeting.lost) > 1)
    finally:
        fleeting.close()
    own_talker.gateway.start()
    with pytest.raises(Refused, match="the gateway was ended while it answered"):
        editor.end_of(prompt)


@pytest.mark.slow
def test_session_can_be_closed_while_a_prompt_connects(own_talker, start_editor):
    """What the attempt had started once ended the bridge, and with it all sessions."""
    talker = own_talker
    editor, session, prompt = half_answered(talker, start_editor)
    talker.gateway.kill()
    with pytest.raises(Refused, match="does not respond"):
        editor.end_of(prompt)  # it has given up: the next prompt connects again
    gateway = talker.gateway.start().process
    gateway.send_signal(signal.SIGSTOP)  # it accepts the connection, but does not respond
    try:
        prompts = [editor.begin_prompt(session, "Say it.") for _ in range(2)]
        editor.ask("session/close", sessionId=session)
    finally:
        gateway.send_signal(signal.SIGCONT)
    assert [editor.end_of(prompt) for prompt in prompts] == [{"stopReason": "cancelled"}] * 2
    assert editor.leave() == 0


def test_pipelined_requests_are_answered_without_delay(editor):
    """Each request once took 0.2 seconds, because lines that had already been read were not processed."""
    lines = [json.dumps({"jsonrpc": "2.0", "id": number, "method": "no/such"}) for number in range(250)]
    began = time.monotonic()
    editor.write("\n".join(lines))
    assert sorted(editor.step()["id"] for _ in lines) == list(range(250))
    assert time.monotonic() - began < 25


def test_bridge_exits_at_the_end_of_input(start_editor):
    assert start_editor().leave() == 0


REQUEST = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "initialize"}) + "\n"


def end_with_output(talker, output):
    """Sends a request to a bridge with this output; returns the exit status and what it wrote to stderr."""
    gateway = talker.gateway
    ended = subprocess.run([str(BINARY), "acp", "--data-dir", str(gateway.data)], input=REQUEST, stdout=output,
                           stderr=subprocess.PIPE, env=gateway.variables(), cwd=gateway.home, text=True, timeout=PATIENCE)
    return ended.returncode, ended.stderr


@pytest.mark.parametrize("ends", [os.pipe, lambda: [end.detach() for end in socket.socketpair()]],
                         ids=["pipe", "socket"])
def test_editor_may_close_the_output_before_the_input(talker, ends):
    """As the protocol's own library does: the message after the last response once ended the bridge with status 1."""
    reader, writer = ends()
    os.close(reader)
    try:
        assert end_with_output(talker, writer) == (0, "")
    finally:
        os.close(writer)


def test_output_that_cannot_be_written_is_a_failure(talker):
    with open("/dev/full", "wb") as full:
        assert end_with_output(talker, full) == (1, "agw: cannot write the output: No space left on device\n")


@pytest.mark.skipif(HAS_ADDRESS_SANITIZER, reason="the limit applies only without sanitizers")
def test_idle_bridge_uses_less_than_4_mib(editor):
    wait_until_below_4_mib(editor)


@pytest.mark.skipif(HAS_ADDRESS_SANITIZER, reason="the limit applies only without sanitizers")
def test_idle_bridge_uses_less_than_4_mib_after_listing_5000_models(make_gateway, start_editor):
    gateway = make_gateway().start()
    definition = {"kind": "model", "api": "openai-chat", "base_url": "http://127.0.0.1:9/v1",
                  "models": [{"id": f"a-model-with-a-longer-name-{number:04}"} for number in range(5000)]}
    accepted(gateway.http.post("/extensions", json={"type": "integration", "name": "many", "description": "",
                                                    "enabled": True, "definition": definition}), 201)
    editor = start_editor(gateway=gateway)
    folder = gateway.home / "work"
    folder.mkdir()
    editor.new(folder)
    wait_until_below_4_mib(editor)


def wait_until_below_4_mib(editor):
    deadline = time.monotonic() + PATIENCE
    while editor.resident_kib() >= 4096 and time.monotonic() < deadline:
        time.sleep(0.05)
    assert editor.resident_kib() < 4096
