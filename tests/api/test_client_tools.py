"""/client-tools: what a program lends to the answers that it asks for. See docs/contract/client-tools.md."""

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
def lender(talker):
    with talker.gateway.events(path=PATH) as opened:
        yield opened


def offer(lender, **members):
    lender.send({"type": "offer", **members})
    reply = lender.until(lambda message: message["type"] in ("offered", "error"))[-1]
    assert reply["type"] == "offered", reply
    return reply["id"]


def next_request(lender):
    return lender.until(lambda message: message["type"] in REQUESTS)[-1]


def result(lender, request, **members):
    lender.send({"type": "result", "callId": request["callId"], **members})


class Chat:
    """A message whose answer may use what is lent."""

    def __init__(self, talker, lent, folder=None, stage="operator", **members):
        gateway = talker.gateway
        agent = new_agent(gateway, f"lender-{uuid.uuid4().hex[:8]}", stage=stage)
        thread = {"mode": "act"}
        if folder:
            thread["project_id"] = accepted(gateway.http.post("/projects", json={
                "name": folder.name, "path": str(folder)}), 201)["id"]
        self.thread = new_thread(gateway, agent, **thread)
        self.events = gateway.events(self.thread["id"])
        body = {"content": "Go.", "threadId": self.thread["id"], "clientTools": lent, **members}
        self.turn = accepted(gateway.http.post("/chat", json=body), 201)

    def outputs(self):
        """The results of the tools, once the answer has ended."""
        ends = self.events.run(self.turn["id"])
        self.events.close()
        assert ends[-1]["finishReason"] == "stop", ends
        return [(event["output"], event["isError"]) for event in ends if event["type"] == "tool-end"]


def test_tool_of_the_program_is_run_by_it(talker, lender):
    lent = offer(lender, tools=[WEATHER], system="The person is in Rome.")
    talker.stub.script(calls(("weather", {"city": "Rome"})), "Sunny.")
    chat = Chat(talker, lent)
    request = next_request(lender)
    assert (request["type"], request["tool"], request["input"]) == ("call", "weather", {"city": "Rome"})
    assert request["toolCallId"]
    result(lender, request, output="sun")
    assert chat.outputs() == [("sun", False)]
    assert talker.system().endswith("The person is in Rome.")


def test_failure_of_the_program_is_the_models_to_read(talker, lender):
    talker.stub.script(calls(("weather", {})), "Hm.")
    chat = Chat(talker, offer(lender, tools=[WEATHER]))
    result(lender, next_request(lender), output="no network", isError=True)
    assert chat.outputs() == [("no network", True)]


def test_program_that_goes_away_fails_its_calls(talker):
    talker.stub.script(calls(("weather", {})), "Hm.")
    with talker.gateway.events(path=PATH) as lender:
        chat = Chat(talker, offer(lender, tools=[WEATHER]))
        next_request(lender)
    assert chat.outputs() == [("the program that has this tool does not answer any more", True)]


def test_stopped_answer_cancels_the_call(talker, lender):
    talker.stub.script(calls(("weather", {})), "Hm.")
    chat = Chat(talker, offer(lender, tools=[WEATHER]))
    request = next_request(lender)
    accepted(talker.gateway.http.post("/chat/stop", json={"threadId": chat.thread["id"]}))
    assert lender.until(lambda message: message["type"] == "cancel")[-1]["callId"] == request["callId"]
    result(lender, request, output="too late")
    chat.events.close()
    offer(lender)


def test_other_answers_have_no_tools_of_the_program(talker, lender):
    offer(lender, tools=[WEATHER])
    thread = accepted(talker.gateway.http.post("/threads", json={"title": "others"}), 201)
    talker.says(thread, "Hi", answer="Hello.")
    assert "weather" not in [tool["function"]["name"] for tool in talker.stub.requests[-1].json.get("tools", [])]


def test_open_text_is_read_and_written_by_the_editor(talker, lender, open_folder):
    path = open_folder / "a.txt"
    path.write_text("on disk\n")
    lent = offer(lender, files={"read": True, "write": True})
    talker.stub.script(calls(("Read", {"path": "a.txt"})),
                       calls(("Edit", {"path": "a.txt", "old_string": "buffer", "new_string": "editor"})), "Done.")
    chat = Chat(talker, lent, open_folder)
    for _ in range(2):
        read = next_request(lender)
        assert (read["type"], read["path"]) == ("read", str(path))
        result(lender, read, content="in the buffer\n")
    write = next_request(lender)
    assert (write["type"], write["path"], write["content"]) == ("write", str(path), "in the editor\n")
    result(lender, write)
    (shown, _), (_, is_error) = chat.outputs()
    assert "in the buffer" in shown and not is_error
    assert path.read_text() == "on disk\n", "the editor writes it"


@pytest.mark.parametrize("answer", [{"content": None}, {"isError": True}, {"content": 7}], ids=str)
def test_text_that_the_editor_does_not_have_is_on_disk(talker, lender, open_folder, answer):
    (open_folder / "a.txt").write_text("on disk\n")
    talker.stub.script(calls(("Read", {"path": "a.txt"})), "Done.")
    chat = Chat(talker, offer(lender, files={"read": True}), open_folder)
    result(lender, next_request(lender), **answer)
    (shown, is_error), = chat.outputs()
    assert "on disk" in shown and not is_error


def test_write_that_the_editor_refuses_goes_to_disk(talker, lender, open_folder):
    talker.stub.script(calls(("Write", {"path": "new.txt", "content": "text"})), "Done.")
    chat = Chat(talker, offer(lender, files={"write": True}), open_folder)
    result(lender, next_request(lender), isError=True)
    assert chat.outputs()[0][1] is False and (open_folder / "new.txt").read_text() == "text"


def test_file_that_the_agent_may_not_write_is_not_asked_for(talker, lender, open_folder):
    """The stage decides as ever: an apprentice stages, and nobody may touch what is guarded or outside."""
    lent = offer(lender, files={"read": True, "write": True})
    talker.stub.script(calls(("Write", {"path": "new.txt", "content": "text"}),
                             ("Write", {"path": ".git/hooks/pre-commit", "content": "text"}),
                             ("Read", {"path": "/etc/hostname"})), "Done.")
    chat = Chat(talker, lent, open_folder, stage="apprentice")
    staged, guarded, outside = chat.outputs()
    assert staged[0].startswith("staged as proposal") and guarded[1] and outside[1]
    offer(lender)
    assert not [message for message in lender.messages if message["type"] in REQUESTS]


def test_unknown_id_is_refused(gateway, talker):
    refused(gateway.http.post("/chat", json={"content": "Hi", "clientTools": "none"}), 400, "client tools not found")
    with talker.gateway.events(path=PATH) as lender:
        lent = offer(lender, tools=[WEATHER])
    lender.closed()
    response = talker.gateway.http.post("/chat", json={"content": "Hi", "clientTools": lent})
    assert response.status_code == 400


@pytest.mark.parametrize("message, why", [
    ("{", "JSON object"), ("[]", "JSON object"), ({"type": "nonsense"}, "offer or result"), ({}, "offer or result"),
    ({"type": "offer", "tools": 7}, "tools must be an array"), ({"type": "offer", "tools": [7]}, "tools[0]"),
    ({"type": "offer", "tools": [{**WEATHER, "name": "a b"}]}, "tools[0]: name"),
    ({"type": "offer", "tools": [{"name": "a"}]}, "tools[0]: input_schema"),
    ({"type": "offer", "tools": [WEATHER, WEATHER]}, "tools[1]: another tool"),
    ({"type": "offer", "tools": [{**WEATHER, "name": f"t{number}"} for number in range(513)]}, "at most 512"),
    ("[" * 100_000, "JSON object")], ids=lambda value: str(value)[:20])
def test_bad_message_is_refused_and_harms_nothing(lender, message, why):
    lender.send(message)
    error = lender.until(lambda found: found["type"] == "error")[-1]
    assert why in error["error"]
    offer(lender, tools=[WEATHER])


def test_results_that_nobody_waits_for_are_ignored(lender):
    for members in ({"callId": "none"}, {"callId": 7}, {}):
        lender.send({"type": "result", **members})
    offer(lender)


def test_socket_has_the_checks_of_the_others(gateway):
    assert upgrade(gateway, path=PATH, token=False).status == 401
    assert upgrade(gateway, "Origin: http://evil.example", path=PATH).status == 403
    assert gateway.http.get(PATH).status_code == 426
    channel = accepted(gateway.http.get("/asyncapi.json"))["channels"]["client-tools"]
    assert json.dumps(channel).count(PATH) == 1
