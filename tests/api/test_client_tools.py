"""/client-tools: tools and files that a client provides for the runs it starts. See docs/contract/client-tools.md."""

import json
import uuid

import pytest

from checks import accepted, refused
from test_websocket import upgrade
from tools import calls, new_agent, new_thread

PATH = "/client-tools"
SCHEMA = {"type": "object", "properties": {"city": {"type": "string"}}}
WEATHER = {"name": "weather", "description": "Weather of a city", "input_schema": SCHEMA}
REQUESTS = ("call", "read", "write")


@pytest.fixture
def client(talker):
    with talker.gateway.events(path=PATH) as opened:
        yield opened


def offer(client, **members):
    client.send({"type": "offer", **members})
    reply = client.until(lambda message: message["type"] in ("offered", "error"))[-1]
    assert reply["type"] == "offered", reply
    return reply["id"]


def next_request(client):
    return client.until(lambda message: message["type"] in REQUESTS)[-1]


def result(client, request, **members):
    client.send({"type": "result", "callId": request["callId"], **members})


class Chat:
    """A message whose answer may use the tools and files of an offer."""

    def __init__(self, talker, offered, folder=None, stage="operator", **members):
        gateway = talker.gateway
        agent = new_agent(gateway, f"client-{uuid.uuid4().hex[:8]}", stage=stage)
        thread = {"mode": "act"}
        if folder:
            thread["project_id"] = accepted(gateway.http.post("/projects", json={
                "name": folder.name, "path": str(folder)}), 201)["id"]
        self.thread = new_thread(gateway, agent, **thread)
        self.events = gateway.events(self.thread["id"])
        body = {"content": "Go.", "threadId": self.thread["id"], "clientTools": offered, **members}
        self.turn = accepted(gateway.http.post("/chat", json=body), 201)

    def outputs(self):
        """Waits for the end of the answer and returns the results of its tools."""
        ends = self.events.run(self.turn["id"])
        self.events.close()
        assert ends[-1]["finishReason"] == "stop", ends
        return [(event["output"], event["isError"]) for event in ends if event["type"] == "tool-end"]


def test_client_runs_its_tool(talker, client):
    offered = offer(client, tools=[WEATHER], system="The person is in Rome.")
    talker.stub.script(calls(("weather", {"city": "Rome"})), "Sunny.")
    chat = Chat(talker, offered)
    request = next_request(client)
    assert (request["type"], request["tool"], request["input"]) == ("call", "weather", {"city": "Rome"})
    assert request["toolCallId"]
    result(client, request, output="sun")
    assert chat.outputs() == [("sun", False)]
    assert talker.system().endswith("The person is in Rome.")


def test_model_gets_the_error_of_a_client_tool(talker, client):
    talker.stub.script(calls(("weather", {})), "Hm.")
    chat = Chat(talker, offer(client, tools=[WEATHER]))
    result(client, next_request(client), output="no network", isError=True)
    assert chat.outputs() == [("no network", True)]


def test_pending_calls_fail_when_the_client_disconnects(talker):
    talker.stub.script(calls(("weather", {})), "Hm.")
    with talker.gateway.events(path=PATH) as client:
        chat = Chat(talker, offer(client, tools=[WEATHER]))
        next_request(client)
    assert chat.outputs() == [("the program that has this tool does not answer any more", True)]


def test_stopped_answer_cancels_the_call(talker, client):
    talker.stub.script(calls(("weather", {})), "Hm.")
    chat = Chat(talker, offer(client, tools=[WEATHER]))
    request = next_request(client)
    accepted(talker.gateway.http.post("/chat/stop", json={"threadId": chat.thread["id"]}))
    assert client.until(lambda message: message["type"] == "cancel")[-1]["callId"] == request["callId"]
    result(client, request, output="too late")
    chat.events.close()
    offer(client)


def test_other_runs_do_not_get_the_tools_of_the_client(talker, client):
    offer(client, tools=[WEATHER])
    thread = accepted(talker.gateway.http.post("/threads", json={"title": "others"}), 201)
    talker.says(thread, "Hi", answer="Hello.")
    assert "weather" not in [tool["function"]["name"] for tool in talker.stub.requests[-1].json.get("tools", [])]


def test_editor_reads_and_writes_open_text(talker, client, open_folder):
    path = open_folder / "a.txt"
    path.write_text("on disk\n")
    offered = offer(client, files={"read": True, "write": True})
    talker.stub.script(calls(("Read", {"path": "a.txt"})),
                       calls(("Edit", {"path": "a.txt", "old_string": "buffer", "new_string": "editor"})), "Done.")
    chat = Chat(talker, offered, open_folder)
    for _ in range(2):
        read = next_request(client)
        assert (read["type"], read["path"]) == ("read", str(path))
        result(client, read, content="in the buffer\n")
    write = next_request(client)
    assert (write["type"], write["path"], write["content"]) == ("write", str(path), "in the editor\n")
    result(client, write)
    (shown, _), (_, is_error) = chat.outputs()
    assert "in the buffer" in shown and not is_error
    assert path.read_text() == "on disk\n", "only the editor writes the file"


@pytest.mark.parametrize("answer", [{"content": None}, {"isError": True}, {"content": 7}], ids=str)
def test_file_that_the_editor_does_not_have_is_read_from_disk(talker, client, open_folder, answer):
    (open_folder / "a.txt").write_text("on disk\n")
    talker.stub.script(calls(("Read", {"path": "a.txt"})), "Done.")
    chat = Chat(talker, offer(client, files={"read": True}), open_folder)
    result(client, next_request(client), **answer)
    (shown, is_error), = chat.outputs()
    assert "on disk" in shown and not is_error


def test_file_that_the_editor_refuses_is_written_to_disk(talker, client, open_folder):
    talker.stub.script(calls(("Write", {"path": "new.txt", "content": "text"})), "Done.")
    chat = Chat(talker, offer(client, files={"write": True}), open_folder)
    result(client, next_request(client), isError=True)
    assert chat.outputs()[0][1] is False and (open_folder / "new.txt").read_text() == "text"


def test_client_gets_no_request_for_a_forbidden_path(talker, client, open_folder):
    """The usual permissions apply: an apprentice's write is staged, and no agent may touch protected paths or paths
    outside."""
    offered = offer(client, files={"read": True, "write": True})
    talker.stub.script(calls(("Write", {"path": "new.txt", "content": "text"}),
                             ("Write", {"path": ".git/hooks/pre-commit", "content": "text"}),
                             ("Read", {"path": "/etc/hostname"})), "Done.")
    chat = Chat(talker, offered, open_folder, stage="apprentice")
    staged, protected, outside = chat.outputs()
    assert staged[0].startswith("staged as proposal") and protected[1] and outside[1]
    offer(client)
    assert not [message for message in client.messages if message["type"] in REQUESTS]


def test_unknown_id_is_refused(gateway, talker):
    refused(gateway.http.post("/chat", json={"content": "Hi", "clientTools": "none"}), 400, "client tools not found")
    with talker.gateway.events(path=PATH) as client:
        offered = offer(client, tools=[WEATHER])
    client.closed()
    response = talker.gateway.http.post("/chat", json={"content": "Hi", "clientTools": offered})
    assert response.status_code == 400


def test_null_counts_as_omitted(talker):
    with talker.gateway.events(path=PATH) as client:
        assert offer(client, tools=None, system=None, files={"read": None, "write": None})


@pytest.mark.parametrize("message, why", [
    ("{", "JSON object"), ("[]", "JSON object"), ({"type": "nonsense"}, "offer or result"), ({}, "offer or result"),
    ({"type": "offer", "tools": 7}, "tools must be an array"), ({"type": "offer", "tools": [7]}, "tools[0]"),
    ({"type": "offer", "tools": [{**WEATHER, "name": "a b"}]}, "tools[0]: name"),
    ({"type": "offer", "tools": [{"name": "a"}]}, "tools[0]: input_schema"),
    ({"type": "offer", "tools": [WEATHER, WEATHER]}, "tools[1]: another tool"),
    ({"type": "offer", "system": 7}, "system must be a string"),
    ({"type": "offer", "files": "read"}, "files must be an object"),
    ({"type": "offer", "files": {"read": 1}}, "files.read must be a boolean"),
    ({"type": "offer", "tools": [{**WEATHER, "name": f"t{number}"} for number in range(513)]}, "at most 512"),
    ("[" * 100_000, "JSON object")], ids=lambda value: str(value)[:20])
def test_connection_survives_an_invalid_message(client, message, why):
    client.send(message)
    error = client.until(lambda found: found["type"] == "error")[-1]
    assert why in error["error"]
    offer(client, tools=[WEATHER])


def test_unexpected_results_are_ignored(client):
    for members in ({"callId": "none"}, {"callId": 7}, {}):
        client.send({"type": "result", **members})
    offer(client)


def test_socket_has_the_usual_checks(gateway):
    assert upgrade(gateway, path=PATH, token=False).status == 401
    assert upgrade(gateway, "Origin: http://evil.example", path=PATH).status == 403
    assert gateway.http.get(PATH).status_code == 426
    channel = accepted(gateway.http.get("/asyncapi.json"))["channels"]["client-tools"]
    assert json.dumps(channel).count(PATH) == 1
