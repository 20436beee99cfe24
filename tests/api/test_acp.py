"""agw acp, the gateway as an agent of editors: the connection, sessions, prompts, options.

See docs/editors.md and docs/contract/acp.md.
"""

import base64
import json
import os
import signal

import pytest

from checks import UNKNOWN_ID, accepted
from editor import Editor, Refused, select, stored, text
from stubs.provider import Reply
from talker import PROVIDER, Talker, configuration
from tools import calls, new_agent

PICTURE = base64.b64encode(bytes.fromhex(
    "89504e470d0a1a0a0000000d49484452000000010000000108060000001f15c4890000000d49444154789c6360606060000000050001a5f64540"
    "0000000049454e44ae426082")).decode()


# The handshake.

@pytest.mark.parametrize("version", [0, 1, 2, 65535])
def test_response_has_version_1_for_any_requested_version(start_editor, version):
    assert start_editor().initialize(version)["protocolVersion"] == 1


def test_capabilities_are_declared(editor):
    declared = editor.initialize()
    assert declared["agentInfo"]["name"] == "agent-gateway"
    capabilities = declared["agentCapabilities"]
    assert capabilities["loadSession"] and capabilities["promptCapabilities"]["image"]
    assert set(capabilities["sessionCapabilities"]) == {
        "list", "delete", "resume", "close", "additionalDirectories"}
    assert capabilities["mcpCapabilities"] == {"http": True, "sse": True}


def test_connection_must_be_initialized_first(talker, open_folder):
    editor = Editor(talker.gateway)
    try:
        for method, params in (("session/new", {"cwd": str(open_folder), "mcpServers": []}), ("session/list", {}),
                               ("logout", {}), ("authenticate", {"methodId": "agent-gateway"})):
            with pytest.raises(Refused, match="initialize first") as refused:
                editor.ask(method, **params)
            assert refused.value.code == -32600
        editor.initialize()
        assert editor.new(open_folder)
    finally:
        editor.close()


def test_logged_out_client_must_authenticate(editor, open_folder):
    method = editor.initialize()["authMethods"][0]["id"]
    session = editor.new(open_folder)
    assert editor.ask("logout") == {}
    for attempt in (lambda: editor.new(open_folder), lambda: editor.prompt(session, "Hi")):
        with pytest.raises(Refused) as refused:
            attempt()
        assert refused.value.code == -32000
    with pytest.raises(Refused) as refused:
        editor.ask("authenticate", methodId="another")
    assert refused.value.code == -32602
    assert editor.ask("authenticate", methodId=method) == {}
    assert editor.new(open_folder) != session


def test_gateway_without_a_token_requires_authentication(make_gateway, start_editor):
    gateway = make_gateway(arguments=["--no-token"]).start()
    editor = start_editor(gateway=gateway)
    with pytest.raises(Refused) as refused:
        editor.ask("authenticate", methodId="agent-gateway")
    assert refused.value.code == -32000


def test_gateway_is_started_if_it_is_not_running(make_gateway, start_editor):
    gateway = make_gateway(config={"port": 0})
    folder = gateway.home / "site"
    folder.mkdir()
    editor = start_editor(gateway=gateway)
    session = editor.new(folder)
    pid = json.loads((gateway.data / "gateway.lock").read_text())["pid"]
    try:
        assert editor.prompt(session, "What can you do?") == "end_turn" and "librarian" in editor.said(session)
        assert editor.leave() == 0
        os.kill(pid, 0)
    finally:
        os.kill(pid, signal.SIGTERM)


def test_gateway_that_cannot_start_is_reported(make_gateway, start_editor):
    gateway = make_gateway(config="port: many\n")
    with pytest.raises(Refused, match="the gateway does not start: .*port"):
        start_editor(gateway=gateway).ask("session/list")


# Sessions.

def test_answer_is_streamed(talker, editor, open_folder):
    session = editor.new(open_folder)
    answer = talker.holds("Half ")
    prompt = editor.begin_prompt(session, "Say it.")
    editor.until(lambda: editor.said(session) == "Half ")
    answer.release("done.")
    assert editor.end_of(prompt) == {"stopReason": "end_turn"} and editor.said(session) == "Half done."
    assert len({update["messageId"] for update in editor.kinds(session, "agent_message_chunk")}) == 1
    assert stored(talker.gateway, session) == [("user", "Say it."), ("assistant", "Half done.")]


def test_directory_becomes_an_untrusted_project_once(talker, editor, open_folder):
    sessions = [editor.new(open_folder), editor.new(str(open_folder) + "/.")]
    threads = [accepted(talker.gateway.http.get(f"/threads/{session}")) for session in sessions]
    projects = [project for project in accepted(talker.gateway.http.get("/projects")) if project["path"] == str(open_folder)]
    assert [project["trusted"] for project in projects] == [False] and projects[0]["name"] == open_folder.name
    assert {thread["project_id"] for thread in threads} == {projects[0]["id"]}


@pytest.mark.parametrize("answer, trusted", [("trust", True), ("ignore", False)])
def test_folder_with_instructions_is_trusted_only_with_consent(talker, editor, open_folder, answer, trusted):
    (open_folder / ".agents").mkdir()
    editor.decide = select(answer)
    session = editor.new(open_folder)
    for _ in range(2):
        talker.answers("Hello.")
        assert editor.prompt(session, "Hi") == "end_turn"
    assert [asked["method"] for asked in editor.asked] == ["session/request_permission"]
    project = accepted(talker.gateway.http.get(f"/threads/{session}"))["project_id"]
    assert accepted(talker.gateway.http.get(f"/projects/{project}"))["trusted"] is trusted


def test_question_of_trust_is_withdrawn_with_the_prompt_and_asked_again(talker, editor, open_folder):
    (open_folder / ".agents").mkdir()
    session = editor.new(open_folder)
    prompt = editor.begin_prompt(session, "Hi")
    editor.until(lambda: editor.asked)
    editor.notify("$/cancel_request", requestId=prompt)
    assert editor.end_of(prompt) == {"stopReason": "cancelled"}
    editor.decide = select("ignore")
    talker.answers("Hello.")
    assert editor.prompt(session, "Hi") == "end_turn"
    assert [asked["method"] for asked in editor.asked] == ["session/request_permission"] * 2
    assert stored(talker.gateway, session) == [("user", "Hi"), ("assistant", "Hello.")]


@pytest.mark.parametrize("directory, why", [("relative", "cwd is an absolute path"),
                                            ("/a\0b", "cwd is an absolute path"), ("/etc", "outside home")])
def test_directory_that_cannot_be_a_project_is_refused(editor, directory, why):
    with pytest.raises(Refused, match=why):
        editor.ask("session/new", cwd=directory, mcpServers=[])


def test_unknown_agent_is_refused(start_editor, open_folder):
    with pytest.raises(Refused, match="agent not found or disabled: nobody"):
        start_editor("--agent", "nobody").new(open_folder)


def test_missing_directory_is_refused(editor, open_folder):
    open_folder.rmdir()
    with pytest.raises(Refused) as refused:
        editor.new(open_folder)
    assert refused.value.code == -32002


def test_prompt_with_a_link_a_resource_and_a_picture(make_gateway, stub, start_editor):
    config = configuration(stub)
    config["providers"][PROVIDER]["default_model"] = "vision-1"
    talker = Talker(make_gateway(config=config).start(), stub)
    folder = talker.gateway.home / "site"
    folder.mkdir()
    editor = start_editor(gateway=talker.gateway)
    session = editor.new(folder)
    talker.answers("Fine.")
    blocks = ["Compare ", {"type": "resource_link", "name": "a](b.txt", "uri": "file:///x/a b.txt"}, " with ",
              {"type": "resource", "resource": {"uri": "file:///x/notes.md", "text": "the notes"}},
              {"type": "image", "mimeType": "image/png", "data": PICTURE}]
    assert editor.prompt(session, *blocks) == "end_turn"
    assert stored(talker.gateway, session)[0][1] == \
        "Compare [@a(b.txt](<file:///x/a%20b.txt>) with [@notes.md](<file:///x/notes.md>)"
    asked = json.dumps(talker.stub.requests[-1].json["messages"])
    assert "the notes" in asked and PICTURE in asked


@pytest.mark.parametrize("blocks", [
    [], [text(" ")], [{"type": "audio", "mimeType": "audio/wav", "data": ""}],
    [{"type": "image", "mimeType": "image/png", "data": "not base64!"}],
])
def test_prompt_that_cannot_be_sent_is_refused(talker, editor, open_folder, blocks):
    session = editor.new(open_folder)
    with pytest.raises(Refused) as refused:
        editor.prompt(session, *blocks)
    assert refused.value.code == -32602 and stored(talker.gateway, session) == []


def test_cancel_stops_the_answer(talker, editor, open_folder):
    session = editor.new(open_folder)
    answer = talker.holds("Half ")
    prompt = editor.begin_prompt(session, "Say it.")
    editor.until(lambda: editor.said(session))
    editor.notify("session/cancel", sessionId=session)
    assert editor.end_of(prompt) == {"stopReason": "cancelled"} and answer.was_aborted()


def test_cancel_right_after_the_prompt(talker, editor, open_folder):
    session = editor.new(open_folder)
    talker.holds()
    prompt = editor.begin_prompt(session, "Say it.")
    editor.notify("session/cancel", sessionId=session)
    assert editor.end_of(prompt) == {"stopReason": "cancelled"}


def test_cancelled_request_ends_as_cancelled(talker, editor, open_folder):
    session = editor.new(open_folder)
    answer = talker.holds("Half ")
    prompt = editor.begin_prompt(session, "Say it.")
    editor.until(lambda: editor.said(session))
    editor.notify("$/cancel_request", requestId=prompt)
    assert editor.end_of(prompt) == {"stopReason": "cancelled"} and answer.was_aborted()


def test_model_failure_is_an_error(talker, editor, open_folder):
    session = editor.new(open_folder)
    talker.stub.script(Reply("Half ", fault="error", after=1))
    with pytest.raises(Refused) as refused:
        editor.prompt(session, "Say it.")
    assert refused.value.code == -32603 and refused.value.message


def test_stop_reason_of_an_answer_that_is_too_long(talker, editor, open_folder):
    session = editor.new(open_folder)
    talker.stub.script(Reply("Half", stop="length"))
    assert editor.prompt(session, "Say it.") == "max_tokens"


def test_usage_and_title_are_reported(talker, editor, open_folder):
    session = editor.new(open_folder)
    talker.answers("Fine.")
    editor.prompt(session, "A question about usage")
    editor.until(lambda: [update for update in editor.kinds(session, "session_info_update") if "title" in update])
    usage = editor.kinds(session, "usage_update")[-1]
    assert 0 < usage["used"] < usage["size"] and usage["cost"]["currency"] == "USD"


def test_loaded_session_is_replayed(talker, acting, start_editor, open_folder):
    editor, session = acting()
    (open_folder / "a.txt").write_text("one\n")
    talker.stub.script(calls(("Read", {"path": "a.txt"}, "c1"), text="Let me look."), "It says one.")
    assert editor.prompt(session, "Read it.") == "end_turn"
    other = start_editor()
    other.ask("session/load", sessionId=session, cwd=str(open_folder), mcpServers=[])
    shown = [(update["sessionUpdate"], update.get("content", {}).get("text") if "chunk" in update["sessionUpdate"]
              else update.get("status")) for owner, update in other.updates
             if "chunk" in update["sessionUpdate"] or "tool" in update["sessionUpdate"]]
    assert shown == [("user_message_chunk", "Read it."), ("agent_message_chunk", "Let me look."),
                     ("tool_call", "completed"), ("agent_message_chunk", "It says one.")]
    assert other.said(session) == editor.said(session)
    talker.answers("More.")
    assert other.prompt(session, "Go on.") == "end_turn"


def test_replay_has_the_pictures_of_prompts_and_the_thoughts(make_gateway, stub, start_editor):
    config = configuration(stub)
    config["providers"][PROVIDER]["default_model"] = "vision-1"
    talker = Talker(make_gateway(config=config).start(), stub)
    folder = talker.gateway.home / "site"
    folder.mkdir()
    editor = start_editor(gateway=talker.gateway)
    session = editor.new(folder)
    stub.script(Reply("A red dot.", reasoning="Hm, red."))
    picture = {"type": "image", "mimeType": "image/png", "data": PICTURE}
    assert editor.prompt(session, "What is it?", picture, picture) == "end_turn"
    live = [update["content"] for update in editor.kinds(session, "agent_thought_chunk")]
    other = start_editor(gateway=talker.gateway)
    other.ask("session/load", sessionId=session, cwd=str(folder), mcpServers=[])
    prompt = other.kinds(session, "user_message_chunk")
    assert [update["content"] for update in prompt] == [text("What is it?"), picture, picture]
    assert len({update["messageId"] for update in prompt}) == 1
    assert "".join(content["text"] for content in live) == "Hm, red."
    assert [update["content"] for update in other.kinds(session, "agent_thought_chunk")] == [text("Hm, red.")]
    kinds = [update["sessionUpdate"] for owner, update in other.updates if "chunk" in update["sessionUpdate"]]
    assert kinds == ["user_message_chunk"] * 3 + ["agent_thought_chunk", "agent_message_chunk"]


def test_resumed_session_is_not_replayed(talker, editor, start_editor, open_folder):
    session = editor.new(open_folder)
    talker.answers("Fine.")
    editor.prompt(session, "Hi")
    other = start_editor()
    assert other.ask("session/resume", sessionId=session, cwd=str(open_folder))["modes"]["currentModeId"] == "plan"
    talker.answers("Again.")
    assert other.prompt(session, "Go on.") == "end_turn" and other.said(session) == "Again."


def test_loaded_session_includes_its_active_answer(talker, editor, start_editor, open_folder):
    session = editor.new(open_folder)
    answer = talker.holds("Half ")
    prompt = editor.begin_prompt(session, "Say it.")
    editor.until(lambda: editor.said(session))
    other = start_editor()
    other.ask("session/load", sessionId=session, cwd=str(open_folder), mcpServers=[])
    assert other.said(session) == "Half "
    answer.release("done.")
    editor.end_of(prompt)
    other.until(lambda: other.said(session) == "Half done.")


def test_sessions_are_listed_by_directory(editor, open_folder):
    session = editor.new(open_folder)
    listed = editor.ask("session/list", cwd=str(open_folder))["sessions"]
    assert [(entry["sessionId"], entry["cwd"]) for entry in listed] == [(session, str(open_folder))]
    assert editor.ask("session/list", cwd="/nonexistent") == {"sessions": []}
    assert session in {entry["sessionId"] for entry in editor.ask("session/list")["sessions"]}


def test_sessions_are_listed_in_pages(talker, editor, open_folder):
    editor.new(open_folder)
    project = next(project for project in accepted(talker.gateway.http.get("/projects"))
                   if project["path"] == str(open_folder))
    for _ in range(51):
        accepted(talker.gateway.http.post("/threads", json={"project_id": project["id"]}), 201)
    first = editor.ask("session/list", cwd=str(open_folder))
    rest = editor.ask("session/list", cwd=str(open_folder), cursor=first["nextCursor"])
    assert len(first["sessions"]) == 50 and len(rest["sessions"]) == 2 and "nextCursor" not in rest
    editor.ask("session/delete", sessionId=first["sessions"][-1]["sessionId"])
    for cursor in (first["nextCursor"], UNKNOWN_ID, ""):
        with pytest.raises(Refused) as refused:
            editor.ask("session/list", cwd=str(open_folder), cursor=cursor)
        assert refused.value.code == -32602, "an empty page would be the end of the list"


def test_closed_session_is_stopped_but_not_deleted(talker, editor, open_folder):
    session = editor.new(open_folder)
    answer = talker.holds("Half ")
    prompt = editor.begin_prompt(session, "Say it.")
    editor.until(lambda: editor.said(session))
    assert editor.ask("session/close", sessionId=session) == {}
    assert editor.end_of(prompt) == {"stopReason": "cancelled"} and answer.was_aborted()
    with pytest.raises(Refused) as refused:
        editor.prompt(session, "More")
    assert refused.value.code == -32002
    assert accepted(talker.gateway.http.get(f"/threads/{session}"))["id"] == session


def test_deleted_session_is_gone(talker, editor, open_folder):
    session = editor.new(open_folder)
    assert editor.ask("session/delete", sessionId=session) == {}
    assert talker.gateway.http.get(f"/threads/{session}").status_code == 404
    assert editor.ask("session/delete", sessionId=session) == {}  # deleting a missing session succeeds
    assert editor.ask("session/delete", sessionId=UNKNOWN_ID) == {}


@pytest.mark.parametrize("method, params", [
    ("session/prompt", {"prompt": [text("Hi")]}), ("session/load", {"cwd": "/", "mcpServers": []}),
    ("session/resume", {"cwd": "/"}), ("session/close", {}),
    ("session/set_mode", {"modeId": "act"}), ("session/set_config_option", {"configId": "model", "value": "x"}),
])
def test_unknown_session_is_not_found(editor, method, params):
    with pytest.raises(Refused) as refused:
        editor.ask(method, sessionId=UNKNOWN_ID, **params)
    assert refused.value.code == -32002


# Options of a session.

def test_mode_of_a_session_is_that_of_its_thread(talker, editor, open_folder):
    session = editor.new(open_folder)
    assert editor.ask("session/set_mode", sessionId=session, modeId="act") == {}
    assert accepted(talker.gateway.http.get(f"/threads/{session}"))["mode"] == "act"
    assert [update["currentModeId"] for update in editor.kinds(session, "current_mode_update")] == ["act"]
    accepted(talker.gateway.http.patch(f"/threads/{session}", json={"mode": "plan"}))
    editor.until(lambda: len(editor.kinds(session, "current_mode_update")) == 2)
    with pytest.raises(Refused, match='unknown mode "other"'):
        editor.ask("session/set_mode", sessionId=session, modeId="other")


def test_options_are_mode_model_and_agent(talker, editor, open_folder, new_name):
    agent = new_agent(talker.gateway, new_name("chosen"))
    session = editor.new(open_folder)

    def choose(option, value):
        changed = editor.ask("session/set_config_option", sessionId=session, configId=option, value=value)
        return {entry["id"]: entry["currentValue"] for entry in changed["configOptions"]}

    assert choose("agent", agent["id"])["agent"] == agent["id"]
    assert choose("model", talker.model)["model"] == talker.model
    assert choose("mode", "act")["mode"] == "act"
    talker.answers("Fine.")
    editor.prompt(session, "Hi")
    assert talker.asked_model() == "talker-1"
    for option, value in [("agent", "nobody"), ("model", "none/x"), ("mode", "x"), ("colour", "red")]:
        with pytest.raises(Refused) as refused:
            choose(option, value)
        assert refused.value.code == -32602


def test_commands_are_listed_and_expanded(talker, editor, open_folder):
    session = editor.new(open_folder)
    commands = {command["name"]: command
                for command in editor.kinds(session, "available_commands_update")[0]["availableCommands"]}
    assert commands["search"]["input"] == {"hint": "arguments"} and commands["search"]["description"]
    talker.answers("Found.")
    editor.prompt(session, "/search the boats")
    assert "SearchTurns" in talker.conversation()[-1][1]
