"""Permission requests and questions on the command line: agw chat, agw permissions, agw mcp.

See docs/command-line.md#permissions and docs/contract/approvals.md.
"""

import json
import re

import pytest

from checks import PATIENCE, accepted
from gateway import BINARY
from stubs.provider import Reply, ToolCall
from terminal import Terminal
from test_cli_mcp import Server

PROMPT = "> "
CHOICES = "[n]o: "


def write(path="notes.md", content="Buy milk.\n"):
    return ToolCall("Write", {"path": path, "content": content})


def script_calls(talker, *calls, answer="Well."):
    """Scripts an answer with these calls, and the text after them."""
    talker.stub.script(Reply("", tool_calls=list(calls)), Reply(answer))


def acting_thread(gateway):
    thread = accepted(gateway.http.post("/threads", json={"title": "a title"}), 201)
    return accepted(gateway.http.patch(f"/threads/{thread['id']}", json={"mode": "act"}))


@pytest.fixture
def start_chat(talker):
    """Starts `agw chat` on terminals. Returns the terminal and the thread."""
    terminals = []

    def start(*arguments, thread=None):
        thread = thread or acting_thread(talker.gateway)
        command = [str(BINARY), "chat", "--thread", thread["id"], *arguments]
        running = Terminal(command, talker.gateway.variables() | {"TERM": "xterm"}, talker.gateway.home)
        terminals.append(running)
        return running, thread

    yield start
    for running in terminals:
        running.__exit__()


def pending(gateway):
    return accepted(gateway.http.get("/permissions"))


def result_of(talker):
    """Returns the result of the last call in the last request to the model."""
    content = next(message["content"] for message in reversed(talker.stub.requests[-1].json["messages"])
                   if message["role"] == "tool")
    return content.removeprefix("Error: ")


def test_call_is_approved_on_the_terminal(talker, start_chat):
    script_calls(talker, write())
    running, _ = start_chat("Write it down")
    running.wait_for("[agw] assistant asks to write a file:")
    running.wait_for("+Buy milk.")
    running.wait_for(CHOICES)
    running.type("y\n")
    running.wait_for("Well.")
    assert running.exit_status() == 0
    assert not result_of(talker).startswith("permission denied") and pending(talker.gateway) == []


def test_model_gets_the_reason_for_a_denial(talker, start_chat):
    script_calls(talker, write())
    running, _ = start_chat("Write it down")
    running.wait_for(CHOICES)
    running.type("n, use the calendar\n")
    running.wait_for("Well.")
    assert running.exit_status() == 0
    assert result_of(talker).startswith("permission denied") and "use the calendar" in result_of(talker)


def test_grant_for_the_thread_is_remembered(talker, start_chat):
    thread = acting_thread(talker.gateway)
    script_calls(talker, write("list/one.md"), write("list/two.md"))
    running, _ = start_chat("Write it down", thread=thread)
    running.wait_for(CHOICES)
    running.type("t\n")
    running.wait_for("Well.")
    assert running.exit_status() == 0 and CHOICES not in running.shown
    grants = accepted(talker.gateway.http.get("/agents/assistant/grants"))
    assert [(one["tool"], one["thread_id"]) for one in grants] == [("Write", thread["id"])]
    assert talker.gateway.http.delete(f"/agents/assistant/grants/{grants[0]['id']}").status_code == 204


def test_call_can_be_staged_as_a_proposal(chat_with_write):
    talker, running = chat_with_write
    running.wait_for("[p]ropose, " + CHOICES)
    running.type("p\n")
    running.wait_for("Well.")
    assert running.exit_status() == 0
    assert result_of(talker).startswith("staged as proposal")


@pytest.fixture
def chat_with_write(talker, start_chat):
    script_calls(talker, write("staged.md"))
    running, _ = start_chat("Write it down")
    return talker, running


def test_only_the_offered_choices_are_accepted(talker, start_chat):
    script_calls(talker, write())
    running, _ = start_chat("Write it down")
    running.wait_for(CHOICES)
    for typed in ("yes, but later", "", "ok"):
        running.type(f"{typed}\n")
        running.wait_for(CHOICES)
    assert len(pending(talker.gateway)) == 1
    running.type("\x04")
    running.wait_for("Well.")
    assert running.exit_status() == 0 and result_of(talker).startswith("permission denied")


def test_input_typed_before_the_question_does_not_answer_it(talker, start_chat):
    talker.stub.script(Reply("Hm, I think about it", deltas=10, rate=20, tool_calls=[write()]), Reply("Well."))
    running, _ = start_chat()
    running.wait_for_prompt(PROMPT)
    running.type("Write it down\n")
    running.wait_for("Hm")
    running.type("y\ny\n")
    running.wait_for("[agw]")
    running.type("y\n")
    running.wait_for(CHOICES)
    assert len(pending(talker.gateway)) == 1
    running.type("n\n")
    running.wait_for("Well.")
    running.wait_for_prompt(PROMPT)
    running.type("\x04")
    assert running.exit_status() == 0


def test_ctrl_c_cancels_the_request_and_the_answer(talker, start_chat):
    script_calls(talker, write())
    running, _ = start_chat("Write it down")
    running.wait_for(CHOICES)
    running.type("\x03")
    assert running.exit_status() == 130
    assert pending(talker.gateway) == []


def test_request_decided_elsewhere_is_withdrawn(talker, start_chat):
    script_calls(talker, write())
    running, _ = start_chat("Write it down")
    running.wait_for(CHOICES)
    request = pending(talker.gateway)[0]
    accepted(talker.gateway.http.post(f"/permissions/{request['id']}", json={"decision": "deny"}))
    running.wait_for("(denied elsewhere)")
    running.wait_for("Well.")
    assert running.exit_status() == 0


def test_no_request_is_made_without_a_terminal(talker):
    thread = acting_thread(talker.gateway)
    script_calls(talker, write("nobody.md"))
    done = talker.gateway.command("chat", "--thread", thread["id"], "Write it down", typed="y\ny\n")
    assert done.returncode == 0 and "[n]o" not in done.stdout + done.stderr
    assert result_of(talker).startswith("staged as proposal")


@pytest.mark.parametrize("stream", ["stdin", "stderr"])
def test_no_request_is_made_if_stdin_or_stderr_is_not_a_terminal(talker, stream):
    thread = acting_thread(talker.gateway)
    script_calls(talker, write(f"no-{stream}.md"))
    redirection = "< /dev/null" if stream == "stdin" else "2> errors"
    command = ["/bin/sh", "-c", f"exec {BINARY} chat --thread {thread['id']} 'Write it down' {redirection}"]
    with Terminal(command, talker.gateway.variables() | {"TERM": "xterm"}, talker.gateway.home) as running:
        assert running.exit_status() == 0
        assert "[n]o" not in running.shown
    assert result_of(talker).startswith("staged as proposal")


HOSTILE = {
    "control characters": ("ls \x1b[2K\rrm -rf ~", "ls ⟨U+001B⟩[2K⟨U+000D⟩rm -rf ~"),
    "bidirectional text": ("rm \u202e~ fr- sl", "rm ⟨U+202E⟩~ fr- sl"),
    "10000 spaces": (f"ls{' ' * 10_000}; rm -rf ~", "ls⟨10000 spaces⟩; rm -rf ~"),
    "a look-alike host": ("curl https://аpple.com", "leads to xn--pple-43d.com"),
    "500 line breaks": (f"ls{chr(10) * 500}rm -rf ~", "⟨500 line breaks⟩"),
}


@pytest.mark.parametrize("what", HOSTILE)
def test_hidden_parts_of_a_command_are_made_visible(talker, start_chat, what):
    command, shown = HOSTILE[what]
    script_calls(talker, ToolCall("Bash", {"command": command}))
    running, _ = start_chat("Do it")
    running.wait_for("asks to run a command:")
    before = running.wait_for(CHOICES)
    assert shown in before
    assert not re.search("[\x00-\x08\x0b\x0c\x0e-\x1a\x1c-\x1f\u202a-\u202e]", before)
    running.type("n\n")
    assert running.exit_status() == 0


def test_fake_request_in_an_answer_is_escaped(talker, start_chat):
    talker.answers("\x1b[1;7m[agw] assistant asks to run a command:\x1b[0m\n  │ ls\n[y]es, [n]o: ")
    running, _ = start_chat("Do it")
    assert running.exit_status() == 0
    assert "\x1b[1;7m" not in running.shown and "\\x1b[1;7m[agw]" in running.shown


def test_question_is_answered_by_a_number_or_in_own_words(talker, start_chat):
    ask = ToolCall("AskUser", {"question": "Which colour?", "options": ["Red", "Blue"]})
    for typed, expected in (("2", "Blue"), ("Green, please", "Green, please")):
        script_calls(talker, ask)
        running, _ = start_chat("Paint it")
        running.wait_for("[agw] assistant asks you:")
        running.wait_for("2) Blue")
        running.wait_for("own words (Ctrl-D: none): ")
        running.type(f"{typed}\n")
        running.wait_for("Well.")
        assert running.exit_status() == 0 and expected in result_of(talker)


def test_question_with_a_form_is_filled_in(talker, start_chat):
    form = {"type": "object", "required": ["name"],
            "properties": {"name": {"type": "string"}, "count": {"type": "integer", "default": 2}}}
    script_calls(talker, ToolCall("AskUser", {"question": "Who?", "form": form}))
    running, _ = start_chat("Ask me")
    running.wait_for("name: ")
    running.type("Ada\n")
    running.wait_for("count [2] (optional): ")
    running.type("many\n")
    running.wait_for("count [2] (optional): ")
    running.type("3\n")
    running.wait_for("Well.")
    assert running.exit_status() == 0
    assert '"name":"Ada"' in result_of(talker).replace(" ", "") and '"count":3' in result_of(talker).replace(" ", "")


# agw permissions


@pytest.fixture
def request_of(talker):
    """Has an agent make a request while a client takes approvals. Returns the request and a function that waits for the
    end of the run."""
    streams = []

    def make(call):
        thread = acting_thread(talker.gateway)
        script_calls(talker, call)
        stream = talker.gateway.events()
        streams.append(stream)
        stream.subscribe(thread["id"], approvals=True)
        turn = accepted(talker.gateway.http.post("/chat", json={"content": "Do it", "threadId": thread["id"]}), 201)
        request = stream.until(lambda event: event["type"] == "permission-requested")[-1]["request"]
        return request, lambda: stream.run(turn["id"])

    yield make
    for stream in streams:
        stream.close()


def run(gateway, *arguments, status=0):
    done = gateway.command(*arguments)
    assert done.returncode == status, f"exit status {done.returncode}\n{done.stdout}\n{done.stderr}"
    return done.stdout if status == 0 else done.stderr


def test_pending_requests_are_listed_and_shown(talker, request_of):
    request, end = request_of(write("listed.md"))
    listed = run(talker.gateway, "permissions", "list", "--thread", request["thread_id"])
    assert request["id"] in listed and "Write" in listed and "listed.md" in listed
    assert [one["id"] for one in json.loads(run(talker.gateway, "permissions", "list", "--json"))] == [request["id"]]
    assert "+Buy milk." in run(talker.gateway, "permissions", "show", request["id"])
    run(talker.gateway, "permissions", "deny", request["id"], "--reason", "too early")
    end()
    assert "too early" in result_of(talker)
    done = talker.gateway.command("permissions", "list")
    assert done.stdout == "" and "no requests" in done.stderr


def test_request_is_decided_only_once(talker, request_of):
    request, end = request_of(write("allowed.md"))
    assert "allow" in talker.gateway.command("permissions", "allow", request["id"]).stderr
    end()
    assert not result_of(talker).startswith("permission denied")
    assert "already decided" in run(talker.gateway, "permissions", "allow", request["id"], status=1)
    assert "permissions list" in run(talker.gateway, "permissions", "show", request["id"], status=1)


def test_unknown_request_is_reported(gateway):
    assert "permission request not found" in run(gateway, "permissions", "allow", "nonsense", status=1)


def test_request_is_staged(talker, request_of):
    request, end = request_of(write("proposed.md"))
    run(talker.gateway, "permissions", "propose", request["id"])
    end()
    assert result_of(talker).startswith("staged as proposal")


def test_question_is_answered(talker, request_of):
    request, end = request_of(ToolCall("AskUser", {"question": "Which colour?"}))
    assert "Which colour?" in run(talker.gateway, "permissions", "list")
    run(talker.gateway, "permissions", "answer", request["id"], "Green")
    end()
    assert "Green" in result_of(talker)


def test_grants_are_listed_and_revoked(talker, request_of):
    request, end = request_of(ToolCall("Write", {"path": "kept/list.md", "content": "x"}))
    run(talker.gateway, "permissions", "allow", request["id"], "--scope", "agent")
    end()
    granted, = json.loads(run(talker.gateway, "permissions", "grants", "--json"))
    listed = run(talker.gateway, "permissions", "grants", "--agent", "assistant")
    assert granted["id"] in listed and "Write" in listed and "/kept/" in listed and "everywhere" in listed
    assert "agent not found" in run(talker.gateway, "permissions", "grants", "--agent", "nobody-here", status=1)
    run(talker.gateway, "permissions", "revoke", granted["id"])
    assert "grant not found" in run(talker.gateway, "permissions", "revoke", granted["id"], status=1)
    assert "no grants of assistant" in talker.gateway.command("permissions", "grants").stderr


# agw mcp


@pytest.fixture
def client(talker):
    """`agw mcp` with a client that supports elicitation."""
    server = Server(talker.gateway)
    server.ask("initialize", protocolVersion="2025-11-25", capabilities={"elicitation": {}},
               clientInfo={"name": "test", "version": "1"})
    yield server
    server.process.kill()
    server.process.wait()


def chat(server, thread):
    arguments = {"message": "Do it", "thread": thread["id"]}
    server.send(id="chat", method="tools/call", params={"name": "chat", "arguments": arguments})


def test_request_is_sent_to_the_mcp_client(talker, client):
    script_calls(talker, write("by-mcp.md"))
    chat(client, acting_thread(talker.gateway))
    asked = client.receive()
    assert asked["method"] == "elicitation/create"
    assert "+Buy milk." in asked["params"]["message"] and "asks to write a file" in asked["params"]["message"]
    schema = asked["params"]["requestedSchema"]
    assert schema["properties"]["decision"]["enum"][0] == "allow once"
    client.send(id=asked["id"], result={"action": "accept", "content": {"decision": "allow once"}})
    assert "Well." in client.receive()["result"]["content"][0]["text"]
    assert not result_of(talker).startswith("permission denied")


@pytest.mark.parametrize("result", [
    {"action": "decline"}, {"action": "cancel"}, {}, {"action": "accept", "content": {"decision": "allow everything"}},
    {"action": "accept", "content": {"decision": "deny", "reason": "too early"}},
], ids=str)
def test_any_other_response_of_an_mcp_client_is_a_denial(talker, client, result):
    script_calls(talker, write("no-mcp.md"))
    chat(client, acting_thread(talker.gateway))
    asked = client.receive()
    client.send(id=asked["id"], result=result)
    assert "Well." in client.receive()["result"]["content"][0]["text"]
    assert result_of(talker).startswith("permission denied")


def test_question_is_sent_to_the_mcp_client(talker, client):
    script_calls(talker, ToolCall("AskUser", {"question": "Which colour?", "options": ["Red", "Blue"]}))
    chat(client, acting_thread(talker.gateway))
    asked = client.receive()
    assert asked["params"]["requestedSchema"]["properties"]["answer"]["enum"] == ["Red", "Blue"]
    client.send(id=asked["id"], result={"action": "accept", "content": {"answer": "Blue"}})
    assert "Well." in client.receive()["result"]["content"][0]["text"]
    assert "Blue" in result_of(talker)


def test_mcp_client_is_notified_of_a_decision_elsewhere(talker, client):
    script_calls(talker, write("elsewhere.md"))
    chat(client, acting_thread(talker.gateway))
    asked = client.receive()
    request = pending(talker.gateway)[0]
    accepted(talker.gateway.http.post(f"/permissions/{request['id']}", json={"decision": "deny"}))
    cancelled, response = client.receive(), client.receive()
    assert cancelled["method"] == "notifications/cancelled" and cancelled["params"]["requestId"] == asked["id"]
    assert response["id"] == "chat"


def test_request_is_denied_when_the_mcp_client_disconnects(talker, client):
    script_calls(talker, write("gone.md"))
    chat(client, acting_thread(talker.gateway))
    client.receive()
    client.process.stdin.close()
    assert "Well." in client.receive()["result"]["content"][0]["text"]
    assert client.process.wait(PATIENCE) == 0
    assert result_of(talker).startswith("permission denied")


def test_mcp_client_without_elicitation_gets_no_requests(talker):
    server = Server(talker.gateway)
    try:
        server.shake_hands()
        script_calls(talker, write("silent.md"))
        chat(server, acting_thread(talker.gateway))
        assert server.receive()["id"] == "chat"
        assert result_of(talker).startswith("staged as proposal")
    finally:
        server.process.kill()
        server.process.wait()
