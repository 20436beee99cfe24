"""An agent requests permission for calls that its stage does not allow, and a person decides.

See docs/contract/approvals.md.
"""

import json
import os
from datetime import datetime, timedelta

import pytest

from approvals import answer, call_asked, call_unasked, decide, pending, person
from checks import UNKNOWN_ID, accepted, at_once, invalid, is_id, is_timestamp, refused
from jobs import ended, new_job
from stubs.provider import Reply
from talker import Talker, configuration
from tools import call_tool, calls, new_agent, new_bound_agent, new_thread, of_kind, run_chat, turns_of


@pytest.fixture
def thread(thread_of):
    return thread_of()


def test_an_approved_command_runs(talker, thread):
    with person(talker, thread, calls(("Bash", {"command": "echo hello"})), "Done.") as user:
        request = user.asked()
        assert is_id(request["id"]) and is_timestamp(request["created_at"]) and is_timestamp(request["expires_at"])
        assert request["kind"] == "permission" and request["tool"] == "Bash" and request["agent_id"] == thread["agent_id"]
        assert request["input"] == {"command": "echo hello"} and request["target"] == "echo hello"
        assert request["thread_id"] == thread["id"] and request["diff"] is None and request["question"] is None
        assert request["reason"] == "Bash needs an agent of stage operator here, and this one is apprentice"
        assert request["can_propose"] is False and request["scopes"] == ["once", "thread", "agent"]
        assert request["pattern"] == "echo hello"
        assert [request[name] for name in ("decision", "scope", "by", "decision_reason", "decided_at")] == 5 * [None]
        assert pending(talker.gateway, thread) == [request]
        decided = accepted(decide(talker.gateway, request))
        assert decided["decision"] == "allow" and decided["scope"] == "once" and decided["by"] == "person"
        assert is_timestamp(decided["decided_at"])
        end = user.result()
        assert "hello" in end["output"] and not end["isError"]
    assert pending(talker.gateway, thread) == []


def test_events_are_numbered_and_can_be_fetched_later(talker, thread):
    with person(talker, thread, calls(("Bash", {"command": "true"})), "Done.") as user:
        request = user.asked()
        accepted(decide(talker.gateway, request))
        run = user.run()
        messages = [event for event in user.events.messages if event.get("runId") == run[0]["runId"]]
    assert [event["seq"] for event in messages] == list(range(1, len(messages) + 1))
    decided = next(event for event in messages if event["type"] == "permission-decided")
    assert decided["requestId"] == request["id"] and decided["threadId"] == thread["id"]
    assert (decided["decision"], decided["scope"], decided["by"]) == ("allow", "once", "person")
    caught_up = accepted(talker.gateway.http.get(f"/threads/{thread['id']}/events",
                                                 params={"runId": run[0]["runId"], "after": 0}))
    assert [event["type"] for event in caught_up] == [event["type"] for event in messages]


def test_the_model_gets_the_reason_for_a_denial(talker, thread):
    decided, end = call_asked(talker, thread, "Bash", {"command": "true"}, "deny", reason="not today")
    assert decided["decision_reason"] == "not today"
    assert end["isError"] and end["output"] == "permission denied: the person said no: not today"
    _, end = call_asked(talker, thread, "Bash", {"command": "true"}, "deny")
    assert end["output"] == "permission denied: the person said no"


@pytest.fixture
def impatient_talker(make_gateway, stub):
    """Its gateway waits only 0.12 s for a decision."""
    config = {**configuration(stub), "approvals": {"timeout_minutes": 0.002}}
    return Talker(make_gateway(config=config).start(), stub)


def test_an_expired_request_is_denied_and_the_agent_can_still_propose(impatient_talker):
    gateway = impatient_talker.gateway
    thread = new_thread(gateway, new_agent(gateway, "learner", "apprentice"))
    proposal = {"type": "soul", "title": "be patient", "target": "agents/learner/soul.md", "content": "Wait."}
    with person(impatient_talker, thread, calls(("Write", {"path": "notes.md", "content": "x"})),
                calls(("Propose", proposal)), calls(("AskUser", {"question": "Well?"})), "Done.") as user:
        request = user.asked()
        decided = user.events.until(lambda event: event["type"] == "permission-decided")[-1]
        assert (decided["requestId"], decided["decision"], decided["by"]) == (request["id"], "deny", "timeout")
        refused(decide(gateway, request), 409, "permission request already decided")
        written, proposed, answered = of_kind(user.run(), "tool-end")
    assert written["isError"] and written["output"] == "permission denied: nobody answered"
    assert not proposed["isError"], proposed
    assert answered["isError"] and answered["output"] == "nobody answered"
    assert pending(gateway) == []


def test_the_timeout_is_configurable(make_gateway, stub):
    gateway = make_gateway(config={**configuration(stub), "approvals": {"timeout_minutes": 2.5}}).start()
    thread = new_thread(gateway, new_agent(gateway, "learner", "apprentice"))
    with person(Talker(gateway, stub), thread, calls(("Bash", {"command": "true"})), "Done.") as user:
        request = user.asked()
        made, expires = (datetime.fromisoformat(request[name]) for name in ("created_at", "expires_at"))
        assert expires - made == timedelta(minutes=2.5)
        accepted(decide(gateway, request, "deny"))
        user.run()


def test_calls_are_denied_at_once_if_nobody_can_decide(talker, thread):
    end = call_tool(talker, thread, "Bash", {"command": "true"})
    assert end["isError"] and end["output"].startswith("permission denied: Bash needs an agent of stage operator")
    end = call_tool(talker, thread, "Write", {"path": "new.txt", "content": "x"})
    assert end["output"].startswith("staged as proposal ")


def test_a_client_without_the_flag_gets_no_requests(talker, thread):
    with talker.gateway.events() as events:
        events.subscribe(thread["id"], lists=True)
        assert call_tool(talker, thread, "Bash", {"command": "true"})["isError"]


def test_a_client_of_another_thread_gets_no_requests(talker, thread, thread_of):
    with talker.gateway.events() as events:
        events.subscribe(thread_of()["id"], approvals=True)
        assert call_tool(talker, thread, "Bash", {"command": "true"})["isError"]


def test_a_client_that_unsubscribes_the_flag_gets_no_requests(talker, thread):
    with talker.gateway.events() as events:
        events.subscribe(thread["id"], approvals=True)
        events.ask({"type": "unsubscribe", "approvals": True})
        assert call_tool(talker, thread, "Bash", {"command": "true"})["isError"]


def test_tools_that_need_approval_are_offered_only_if_somebody_can_decide(talker, thread):
    def offered():
        return {tool["function"]["name"] for tool in talker.stub.requests[-1].json["tools"]}

    run_chat(talker, thread, "Hello.")
    assert "Bash" not in offered()
    with person(talker, thread, "Hello.") as user:
        user.run()
    assert "Bash" in offered()


def test_a_write_is_shown_as_a_diff(talker, thread, folder):
    with person(talker, thread, calls(("Write", {"path": "a.txt", "content": "one\nthree\n"})), "Done.") as user:
        request = user.asked()
        assert request["target"] == str(folder / "a.txt") and request["can_propose"] is True
        assert request["diff"].splitlines()[2:] == ["@@ -1,2 +1,2 @@", " one", "-two", "+three"]
        assert request["pattern"] == f"{folder}/"
        accepted(decide(talker.gateway, request))
        assert not user.result()["isError"]
    assert (folder / "a.txt").read_text() == "one\nthree\n"


def test_a_new_file_and_an_edit_are_shown_as_diffs(talker, thread, folder):
    decided, _ = call_asked(talker, thread, "Write", {"path": "deep/new.txt", "content": "x\n"})
    assert decided["diff"].startswith("--- /dev/null\n") and "+x" in decided["diff"]
    decided, end = call_asked(talker, thread, "Edit", {"path": "a.txt", "old_string": "two", "new_string": "2"})
    assert "-two\n+2\n" in decided["diff"] and not end["isError"]
    assert (folder / "a.txt").read_text() == "one\n2\n"


def test_a_write_that_changes_no_line_is_shown_as_a_diff(talker, thread, folder):
    decided, end = call_asked(talker, thread, "Write", {"path": "empty.txt", "content": ""})
    assert decided["diff"] == f"--- /dev/null\n+++ {folder}/empty.txt\n" and not end["isError"]
    decided, _ = call_asked(talker, thread, "Write", {"path": "a.txt", "content": "one\ntwo\n"})
    assert decided["diff"] == f"--- {folder}/a.txt\n+++ {folder}/a.txt\n"


def test_propose_stages_the_write(talker, thread, folder):
    _, end = call_asked(talker, thread, "Write", {"path": "a.txt", "content": "x"}, "propose")
    assert end["output"].startswith("staged as proposal ") and not end["isError"]
    assert (folder / "a.txt").read_text() == "one\ntwo\n"


def test_impossible_decisions_are_refused(talker, thread):
    with person(talker, thread, calls(("Bash", {"command": "a; b"})), "Done.") as user:
        request = user.asked()
        assert request["scopes"] == ["once"] and request["pattern"] is None
        for body in ({"decision": "propose"}, {"decision": "allow", "scope": "thread"}, {"answer": "yes"},
                     {"decision": "answer"}, {"decision": "allow", "answer": "x"}):
            refused(talker.gateway.http.post(f"/permissions/{request['id']}", json=body), 400, "decision not possible")
        refused(decide(talker.gateway, request, "maybe"), 400, "invalid decision: maybe")
        refused(talker.gateway.http.post(f"/permissions/{request['id']}", json={}), 400, "decision is required")
        accepted(decide(talker.gateway, request, "deny"))
        refused(talker.gateway.http.post(f"/permissions/{request['id']}", json={}), 400, "decision is required")
        refused(decide(talker.gateway, request), 409, "permission request already decided")
        user.run()
    refused(decide(talker.gateway, {"id": UNKNOWN_ID}), 404, "permission request not found")


def test_one_of_several_concurrent_decisions_wins(talker, thread, folder):
    for number in range(5):
        with person(talker, thread, calls(("Write", {"path": f"{number}", "content": ""})), "Done.") as user:
            request = user.asked()
            decisions = ["allow", "deny", "propose", "allow"]
            answers = at_once(4, lambda index: decide(talker.gateway, request, decisions[index]))
            assert sorted(answer.status_code for answer in answers) == [200, 409, 409, 409]
            won = next(answer.json() for answer in answers if answer.status_code == 200)
            end = user.result()
            decided = [event for event in user.events.messages if event["type"] == "permission-decided"]
        assert [event["decision"] for event in decided] == [won["decision"]]
        assert (folder / str(number)).exists() == (won["decision"] == "allow"), end


def test_a_decision_after_the_stop_is_refused(talker, thread, folder):
    with person(talker, thread, calls(("Write", {"path": "new.txt", "content": ""})), "Done.") as user:
        request = user.asked()
        accepted(talker.gateway.http.post("/chat/stop", json={"threadId": thread["id"]}))
        refused(decide(talker.gateway, request), 409, "permission request already decided")
        run = user.run()
        decided = next(event for event in user.events.messages if event["type"] == "permission-decided")
    assert run[-1]["type"] == "stopped" and not (folder / "new.txt").exists()
    assert (decided["decision"], decided["by"]) == ("deny", "stop")


def test_a_thread_with_a_pending_request_cannot_be_deleted(talker, thread):
    with person(talker, thread, calls(("Bash", {"command": "true"})), "Done.") as user:
        user.asked()
        refused(talker.gateway.http.delete(f"/threads/{thread['id']}"), 409, "thread is in use")
        accepted(talker.gateway.http.post("/chat/stop", json={"threadId": thread["id"]}))
        user.run()
    assert talker.gateway.http.delete(f"/threads/{thread['id']}").status_code == 204
    assert pending(talker.gateway) == []


def test_a_path_replaced_by_a_symlink_before_the_decision_is_refused(talker, thread, folder):
    elsewhere = talker.gateway.home / (folder.name + "-elsewhere")
    elsewhere.mkdir()
    (folder / "docs").mkdir()
    with person(talker, thread, calls(("Write", {"path": "docs/new.txt", "content": "x"})), "Done.") as user:
        request = user.asked()
        (folder / "docs").rmdir()
        os.symlink(elsewhere, folder / "docs")
        accepted(decide(talker.gateway, request))
        end = user.result()
    assert end["isError"] and end["output"].startswith("permission denied: the path leads elsewhere")
    assert list(elsewhere.iterdir()) == []


def test_a_symlink_changed_within_the_project_is_refused(talker, thread, folder):
    for name in ("shown", "other"):
        (folder / name).mkdir()
    os.symlink("shown", folder / "link")
    with person(talker, thread, calls(("Write", {"path": "link/new.txt", "content": "x"})), "Done.") as user:
        request = user.asked()
        assert request["target"] == str(folder / "shown/new.txt")
        (folder / "link").unlink()
        os.symlink("other", folder / "link")
        accepted(decide(talker.gateway, request))
        assert user.result()["isError"]
    assert not (folder / "other/new.txt").exists() and not (folder / "shown/new.txt").exists()


def test_a_file_that_changed_since_the_request_is_not_overwritten(talker, thread, folder):
    edit = {"path": "a.txt", "old_string": "two", "new_string": "2"}
    with person(talker, thread, calls(("Edit", edit)), "Done.") as user:
        request = user.asked()
        (folder / "a.txt").write_text("mine\ntwo\n")
        accepted(decide(talker.gateway, request))
        assert "has changed since" in user.result()["output"]
    assert (folder / "a.txt").read_text() == "mine\ntwo\n"


def test_calls_that_no_stage_allows_are_denied_without_a_request(talker, thread, folder):
    for input in ({"path": "~/.ssh/id_ed25519", "content": "x"}, {"path": ".git/config", "content": "x"},
                  {"path": "server.pem", "content": "x"}):
        assert call_unasked(talker, thread, "Write", input)["isError"]
    assert call_unasked(talker, thread, "Write", {"path": "~/elsewhere.txt", "content": "x"})["isError"]


def test_limits_other_than_the_stage_deny_without_a_request(talker, project, new_name):
    gateway = talker.gateway

    def thread_with(**definition):
        agent = new_agent(gateway, new_name("bound"), "apprentice", **definition)
        return new_thread(gateway, agent, project_id=project["id"])

    assert call_unasked(talker, thread_with(mode="plan"), "Bash", {"command": "true"})["isError"]
    assert call_unasked(talker, thread_with(tools=["Read"]), "Bash", {"command": "true"})["isError"]
    agent = new_bound_agent(gateway, new_name, stage="apprentice")
    assert call_unasked(talker, new_thread(gateway, agent), "Bash", {"command": "true"})["isError"]


def test_an_agent_can_be_set_to_never_ask(talker, thread_of):
    end = call_unasked(talker, thread_of(approvals="never"), "Bash", {"command": "true"})
    assert end["output"].startswith("permission denied: Bash needs an agent of stage operator")
    body = {"type": "agent", "name": "x-never", "description": "", "definition": {"approvals": "perhaps"}}
    invalid(talker.gateway.http.post("/extensions", json=body), "approvals")


def test_approvals_can_be_disabled_in_the_configuration(make_gateway, stub):
    talker = Talker(make_gateway(config={**configuration(stub), "approvals": {"mode": "never"}}).start(), stub)
    agent = new_agent(talker.gateway, "quiet", "apprentice")
    assert call_unasked(talker, new_thread(talker.gateway, agent), "Bash", {"command": "true"})["isError"]


def test_an_approval_gives_only_the_rights_that_the_call_needs(talker, thread):
    """Bash of an apprentice then runs like that of an operator: without network."""
    _, end = call_asked(talker, thread, "Bash", {"command": "tail -n +3 /proc/net/dev"})
    interfaces = [line.split(":")[0].strip() for line in end["output"].splitlines() if ":" in line]
    assert set(interfaces) <= {"lo"}, end


def test_an_approved_extension_stays_disabled(talker, thread, new_name):
    name = new_name("made")
    body = {"type": "command", "name": name, "description": "", "definition": {"prompt": "x"}, "enabled": True}
    decided, end = call_asked(talker, thread, "CreateExtension", body)
    assert decided["scopes"] == ["once"] and decided["can_propose"] and not end["isError"], end
    assert accepted(talker.gateway.http.get(f"/extensions/{name}"))["enabled"] is False


def test_a_request_of_a_web_tool_shows_the_host(talker, thread):
    decided, end = call_asked(talker, thread, "WebFetch", {"url": "http://127.0.0.1:1/"}, "deny")
    assert decided["target"] == "127.0.0.1" and decided["pattern"] == "127.0.0.1" and end["isError"]
    decided, end = call_asked(talker, thread, "WebFetch", {"url": "http://127.0.0.1:1/"})
    assert "not one of the public internet" in end["output"], "an approval opens no private address"


def test_a_request_of_a_tool_without_target_shows_its_name(talker, thread):
    decided, end = call_asked(talker, thread, "Remember", {"text": "He likes tea."})
    assert decided["target"] == "Remember" and decided["pattern"] == "Remember" and not end["isError"]


def test_a_delegated_agent_makes_its_requests_on_the_persons_thread(talker, thread_of, new_name):
    thread = thread_of("operator")
    helper = new_agent(talker.gateway, new_name("helper"), "apprentice")
    replies = [calls(("Delegate", {"agent": helper["name"], "task": "Do."})), calls(("Remember", {"text": "x"})), "Ok.",
               "Done."]
    with person(talker, thread, *replies) as user:
        request = user.asked()
        assert request["agent"] == helper["name"] and request["thread_id"] == thread["id"]
        assert request["run_id"] == next(e for e in user.events.messages if "runId" in e)["runId"]
        assert pending(talker.gateway, thread) == [request]
        accepted(decide(talker.gateway, request))
        assert user.result()["output"] == "Ok."


def starts_a_job(job):
    """A model that starts the job in the person's run and then asks a question. In the job, it remembers two facts."""
    def reply(request):
        messages = request.json["messages"]
        step = sum(message["role"] == "tool" for message in messages)
        if "Work." in next(message["content"] for message in reversed(messages) if message["role"] == "user"):
            return calls(("Remember", {"text": f"Fact {step}."})) if step < 2 else Reply("Worked.")
        return [calls(("RunJob", {"job": job["name"]})), calls(("AskUser", {"question": "Well?"})), Reply("Done.")][step]
    return reply


def test_a_job_started_by_a_run_asks_on_the_persons_thread_until_the_run_ends(talker, thread_of, new_name):
    gateway, thread = talker.gateway, thread_of("operator")
    worker = new_agent(gateway, new_name("worker"), "apprentice")
    job = new_job(gateway, new_name("chore"), agent_id=worker["id"], prompt="Work.")
    talker.stub.always(starts_a_job(job))
    with person(talker, thread, content="Start it.") as user:
        asked = {request["kind"]: request for request in (user.asked(), user.asked())}
        permission, question = asked["permission"], asked["question"]
        assert permission["agent"] == worker["name"] and permission["thread_id"] == thread["id"]
        assert permission["run_id"] == question["run_id"]
        accepted(decide(gateway, permission))
        permission = user.asked()
        assert permission["input"] == {"text": "Fact 1."}
        accepted(answer(gateway, question, "Well."))
        run = user.run()
        refused(decide(gateway, permission), 409, "permission request already decided")
        decided = [event["by"] for event in of_kind(user.events.messages, "permission-decided")]
    assert decided == ["person", "person", "stop"] and run[-1]["type"] == "finish"
    row, = ended(gateway, job)
    results = [turn["content"] for turn in turns_of(gateway, {"id": row["thread_id"]}, "tool")]
    assert not results[0].startswith("permission denied") and results[1] == "permission denied: the run was stopped"


def test_the_time_limit_of_a_job_includes_the_wait_for_a_person(talker, thread_of, new_name):
    gateway, thread = talker.gateway, thread_of("operator")
    worker = new_agent(gateway, new_name("worker"), "apprentice")
    job = new_job(gateway, new_name("chore"), agent_id=worker["id"], prompt="Work.", timeout_s=1)
    talker.stub.always(starts_a_job(job))
    with person(talker, thread, content="Start it.") as user:
        asked = {request["kind"]: request for request in (user.asked(), user.asked())}
        decided = user.events.until(lambda event: event["type"] == "permission-decided")[-1]
        assert (decided["requestId"], decided["decision"], decided["by"]) == (asked["permission"]["id"], "deny", "stop")
        row, = ended(gateway, job)
        assert (row["status"], row["error"]) == ("failed", "timed out after 1 s")
        accepted(answer(gateway, asked["question"], "Well."))
        assert user.run()[-1]["finishReason"] == "stop", "the person's own answer goes on"


def test_a_job_makes_no_requests(talker, new_name):
    gateway = talker.gateway
    agent = new_agent(gateway, new_name("worker"), "apprentice")
    job = new_job(gateway, new_name("chore"), agent_id=agent["id"], prompt="Do it.")
    with gateway.events() as events:
        events.ask({"type": "subscribe", "lists": True, "approvals": True})
        talker.stub.script(calls(("Remember", {"text": "x"}), ("AskUser", {"question": "May I?"})), "Done.")
        accepted(gateway.http.post(f"/run/{job['name']}"), 202)
        ended(gateway, job)
        assert not [event for event in events.drain() if event["type"].startswith("permission")]
    messages = talker.stub.requests[-1].json["messages"]
    results = [message["content"] for message in messages if message["role"] == "tool"]
    assert "permission denied:" in results[0] and "nobody is there" in results[1]


def test_a_question_is_answered(talker, thread):
    ask = calls(("AskUser", {"question": "Which?", "options": ["a", "b"]}))
    with person(talker, thread, ask, "Done.") as user:
        request = user.asked()
        assert request["kind"] == "question" and request["scopes"] == [] and request["pattern"] is None
        assert request["question"] == {"question": "Which?", "options": ["a", "b"], "form": None}
        for body in ({"decision": "allow"}, {"answer": ""}, {"answer": {"x": 1}}, {"answer": "a", "decision": "deny"}, {}):
            refused(talker.gateway.http.post(f"/permissions/{request['id']}", json=body), 400, "decision not possible")
        decided = accepted(answer(talker.gateway, request, "b"))
        assert decided["decision"] == "answer" and decided["answer"] == "b" and decided["by"] == "person"
        assert user.result()["output"] == "b"


def test_a_form_is_checked(talker, thread):
    form = {"type": "object", "properties": {"count": {"type": "integer", "minimum": 1}}, "required": ["count"]}
    with person(talker, thread, calls(("AskUser", {"question": "How many?", "form": form})), "Done.") as user:
        request = user.asked()
        assert request["question"]["form"] == form
        for value in ("three", {"count": 0}, {}):
            refused(answer(talker.gateway, request, value), 400, "decision not possible")
        accepted(answer(talker.gateway, request, {"count": 3}))
        assert json.loads(user.result()["output"]) == {"count": 3}


def test_an_empty_form_counts_as_omitted(talker, thread):
    """Models fill in optional members with empty objects; a form without fields would leave no way to answer."""
    with person(talker, thread, calls(("AskUser", {"question": "How many?", "form": {}})), "Done.") as user:
        request = user.asked()
        assert request["question"]["form"] is None
        accepted(answer(talker.gateway, request, "three"))
        assert user.result()["output"] == "three"


def test_a_form_without_valid_answers_is_refused(talker, thread):
    """Answers to forms are objects, so every answer of the person would be refused."""
    forms = [{"type": "string"}, {"type": ["object", "null"]}, {"type": "array", "items": {"type": "object"}}]
    asked = calls(*[("AskUser", {"question": "How many?", "form": form}, f"form-{at}") for at, form in enumerate(forms)])
    with person(talker, thread, asked, "Done.") as user:
        for _ in forms:
            end = user.result()
            assert end["isError"] and end["output"].startswith("invalid input: form must be a JSON Schema of type object")


def test_a_question_can_be_declined(talker, thread):
    with person(talker, thread, calls(("AskUser", {"question": "Which?"})), "Done.") as user:
        user.decides("deny", reason="find out yourself")
        end = user.result()
    assert end["isError"] and end["output"] == "the person does not want to answer: find out yourself"


def test_a_question_fails_if_nobody_can_answer(talker, thread):
    end = call_tool(talker, thread, "AskUser", {"question": "Which?"})
    assert end["isError"] and end["output"] == "nobody is there"
