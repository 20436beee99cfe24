"""agw acp: tool calls, approvals and questions in an editor.

See docs/contract/acp.md.
"""

import pytest

from checks import accepted
from editor import select
from tools import calls


# Tools.

def test_edit_is_shown_as_a_diff(talker, acting, open_folder):
    editor, session = acting()
    (open_folder / "a.txt").write_text("one\n")
    talker.stub.script(calls(("Read", {"path": "a.txt"})),
                       calls(("Edit", {"path": "a.txt", "old_string": "one", "new_string": "two"})), "Done.")
    assert editor.prompt(session, "Change it.") == "end_turn"
    read, edit = editor.kinds(session, "tool_call")
    path = str(open_folder / "a.txt")
    assert (read["kind"], read["locations"], read["status"]) == ("read", [{"path": path}], "in_progress")
    assert edit["content"] == [{"type": "diff", "path": path, "oldText": "one", "newText": "two"}]
    assert edit["rawInput"]["old_string"] == "one" and edit["title"] == "Edit a.txt"
    ends = {update["toolCallId"]: update["status"] for update in editor.kinds(session, "tool_call_update")}
    assert ends == {read["toolCallId"]: "completed", edit["toolCallId"]: "completed"}


def test_calls_with_equal_ids_are_told_apart_also_when_they_are_replayed(talker, acting, start_editor, open_folder):
    """Some services number the calls of each answer anew."""
    editor, session = acting("apprentice")
    editor.decide = select("allow_once")
    talker.stub.script(calls(("Write", {"path": "a.txt", "content": "a"}, "call_1")), "Done.",
                       calls(("Write", {"path": "b.txt", "content": "b"}, "call_1")), "Done.")
    for prompt in ("One.", "Two."):
        assert editor.prompt(session, prompt) == "end_turn"
    begun = [(update["toolCallId"], update["title"]) for update in editor.kinds(session, "tool_call")]
    assert [title for _, title in begun] == ["Write a.txt", "Write b.txt"] and len(dict(begun)) == 2
    ids = list(dict(begun))
    assert [update["toolCallId"] for update in editor.kinds(session, "tool_call_update")] == ids
    assert [asked["params"]["toolCall"]["toolCallId"] for asked in editor.asked] == ids
    other = start_editor()
    other.ask("session/load", sessionId=session, cwd=str(open_folder), mcpServers=[])
    assert [(update["toolCallId"], update["title"]) for update in other.kinds(session, "tool_call")] == begun


def test_failed_call_includes_the_reason(talker, acting):
    editor, session = acting()
    talker.stub.script(calls(("Read", {"path": "absent.txt"})), "Done.")
    editor.prompt(session, "Read it.")
    end = editor.kinds(session, "tool_call_update")[0]
    assert end["status"] == "failed" and end["content"][0]["content"]["text"] == end["rawOutput"]


def test_tasks_are_shown_as_a_plan(talker, acting):
    editor, session = acting()
    talker.stub.script(calls(("Tasks", {"items": [{"text": "Look", "status": "done"},
                                                  {"text": "Write", "status": "active"},
                                                  {"text": "Test", "status": "pending"}]})), "Done.")
    editor.prompt(session, "Plan it.")
    plan = editor.kinds(session, "plan")[-1]["entries"]
    assert [(entry["content"], entry["status"]) for entry in plan] == \
        [("Look", "completed"), ("Write", "in_progress"), ("Test", "pending")]


# Approvals and questions.

@pytest.mark.parametrize("option, output", [("allow_once", "hello"), ("reject_once", "the person said no")])
def test_call_beyond_the_stage_needs_permission(talker, acting, option, output):
    editor, session = acting("apprentice")
    editor.decide = select(option)
    talker.stub.script(calls(("Bash", {"command": "echo hello"})), "Done.")
    assert editor.prompt(session, "Do it.") == "end_turn"
    asked = editor.asked[0]["params"]
    assert {entry["optionId"]: entry["kind"] for entry in asked["options"]} == {
        "allow_once": "allow_once", "allow_thread": "allow_always", "allow_agent": "allow_always",
        "reject_once": "reject_once", "reject_always": "reject_always"}
    assert asked["toolCall"]["toolCallId"] == editor.kinds(session, "tool_call")[0]["toolCallId"]
    assert "echo hello" in asked["toolCall"]["content"][0]["content"]["text"]
    assert output in editor.kinds(session, "tool_call_update")[0]["rawOutput"]


def test_request_to_write_a_file_shows_its_present_content(talker, acting, open_folder):
    editor, session = acting("apprentice")
    editor.decide = select("allow_once")
    (open_folder / "old.txt").write_text("before\n")
    talker.stub.script(calls(("Write", {"path": "old.txt", "content": "after\n"})),
                       calls(("Write", {"path": "new.txt", "content": "first\n"})), "Done.")
    editor.prompt(session, "Write both.")
    diffs = [asked["params"]["toolCall"]["content"][-1] for asked in editor.asked]
    assert [(diff["oldText"], diff["newText"]) for diff in diffs] == [("before\n", "after\n"), (None, "first\n")]


def test_call_that_is_always_allowed_is_asked_for_once(talker, acting):
    editor, session = acting("apprentice")
    editor.decide = select("allow_thread")
    talker.stub.script(calls(("Bash", {"command": "echo hello"})), calls(("Bash", {"command": "echo hello"})), "Done.")
    editor.prompt(session, "Do it.")
    assert len(editor.asked) == 1
    assert [end["status"] for end in editor.kinds(session, "tool_call_update")] == 2 * ["completed"]


def test_call_that_is_always_rejected_is_asked_for_once(talker, acting):
    editor, session = acting("apprentice")
    editor.decide = select("reject_always")
    talker.stub.script(calls(("Bash", {"command": "echo hello"})), calls(("Bash", {"command": "echo hello"})), "Done.")
    editor.prompt(session, "Do it.")
    assert len(editor.asked) == 1
    assert [end["status"] for end in editor.kinds(session, "tool_call_update")] == 2 * ["failed"]


def test_request_decided_elsewhere_is_cancelled(talker, acting):
    editor, session = acting("apprentice")
    talker.stub.script(calls(("Bash", {"command": "echo hello"})), "Done.")
    prompt = editor.begin_prompt(session, "Do it.")
    asked = editor.until(lambda: editor.asked)[0]
    request = accepted(talker.gateway.http.get("/permissions", params={"thread_id": session}))[0]
    accepted(talker.gateway.http.post(f"/permissions/{request['id']}", json={"decision": "allow"}))
    cancelled = editor.until(lambda: next((line for line in iter(editor.step, None)
                                           if line.get("method") == "$/cancel_request"), None))
    assert cancelled["params"] == {"requestId": asked["id"]}
    assert editor.end_of(prompt) == {"stopReason": "end_turn"}


def test_call_is_denied_if_the_client_cannot_ask(talker, acting):
    editor, session = acting("apprentice")
    talker.stub.script(calls(("Bash", {"command": "echo hello"})), "Done.")
    prompt = editor.begin_prompt(session, "Do it.")
    asked = editor.until(lambda: editor.asked)[0]
    editor.send(id=asked["id"], error={"code": -32601, "message": "not here"})
    assert editor.end_of(prompt) == {"stopReason": "end_turn"}
    assert "the editor could not ask" in editor.kinds(session, "tool_call_update")[0]["rawOutput"]


def test_cancel_withdraws_a_pending_request(talker, acting):
    editor, session = acting("apprentice")
    talker.stub.script(calls(("Bash", {"command": "echo hello"})), "Done.")
    prompt = editor.begin_prompt(session, "Do it.")
    asked = editor.until(lambda: editor.asked)[0]
    editor.notify("session/cancel", sessionId=session)
    editor.send(id=asked["id"], result={"outcome": {"outcome": "cancelled"}})
    assert editor.end_of(prompt) == {"stopReason": "cancelled"}
    assert accepted(talker.gateway.http.get("/permissions", params={"thread_id": session})) == []


def test_question_is_an_elicitation(talker, acting):
    editor, session = acting()
    editor.decide = lambda method, params: {"action": "accept", "content": {"answer": "blue"}}
    talker.stub.script(calls(("AskUser", {"question": "Which?", "options": ["red", "blue"]})), "Done.")
    editor.prompt(session, "Ask me.")
    asked = editor.asked[0]
    assert asked["method"] == "elicitation/create" and asked["params"]["sessionId"] == session
    assert asked["params"]["requestedSchema"]["properties"]["answer"]["enum"] == ["red", "blue"]
    assert editor.kinds(session, "tool_call_update")[0]["rawOutput"] == "blue"


def test_client_without_forms_is_offered_the_options(talker, acting):
    editor, session = acting(capabilities={})
    editor.decide = select("1")
    talker.stub.script(calls(("AskUser", {"question": "Which?", "options": ["red", "blue"]})), "Done.")
    editor.prompt(session, "Ask me.")
    assert editor.asked[0]["method"] == "session/request_permission"
    assert editor.kinds(session, "tool_call_update")[0]["rawOutput"] == "blue"
