"""The built-in librarian runs the tool that a message clearly asks for.

See docs/contract/models.md#the-librarian.
"""

import pytest

from checks import accepted
from events import text_of
from tools import new_agent, new_thread, of_kind, turns_of


def send(gateway, thread, content):
    with gateway.events(thread["id"]) as events:
        turn = accepted(gateway.http.post("/chat", json={"content": content, "threadId": thread["id"]}), 201)
        return events.run(turn["id"])


@pytest.fixture
def worker_thread(gateway, new_name):
    return new_thread(gateway, new_agent(gateway, new_name("worker")))


def test_plain_request_runs_the_tool(gateway, worker_thread):
    run = send(gateway, worker_thread, "list jobs")
    start = of_kind(run, "tool-start")[0]
    assert (start["toolName"], start["input"]) == ("ListExtensions", {"type": "job"})
    assert run[-1]["finishReason"] == "stop" and run[-1]["model"] == "offline/librarian"
    assert "`compile-knowledge`" in text_of(run) and "not a language model" in text_of(run)
    assert [turn["role"] for turn in turns_of(gateway, worker_thread)] == ["user", "tool", "assistant"]


def test_tool_is_run_in_the_last_but_one_step(gateway, new_name):
    thread = new_thread(gateway, new_agent(gateway, new_name("worker"), max_steps=2))
    run = send(gateway, thread, "list jobs")
    assert run[-1]["finishReason"] == "stop" and "`compile-knowledge`" in text_of(run)


@pytest.mark.parametrize("request_for_a_tool", ["list jobs", "write hello to notes.md", "run `ls`"])
def test_tool_forbidden_by_the_mode_is_reported(gateway, new_name, request_for_a_tool):
    planning = new_thread(gateway, new_agent(gateway, new_name("planner"), mode="plan"))
    text = text_of(send(gateway, planning, request_for_a_tool))
    assert "plan mode" in text and "act mode" in text and "compile-knowledge" not in text


def test_file_is_written_as_far_as_the_stage_allows(gateway, worker_thread):
    end = of_kind(send(gateway, worker_thread, "write hello to notes.md"), "tool-end")[0]
    assert end["toolName"] == "Write" and "notes.md" in end["output"], end


def test_librarian_is_deterministic(gateway, new_name):
    answers = {text_of(send(gateway, new_thread(gateway, new_agent(gateway, new_name("worker"))), "list themes"))
               for _ in range(3)}
    assert len(answers) == 1


def test_each_request_in_a_thread_runs_its_tool(gateway, worker_thread):
    for message in ("list themes", "list themes", "list themes", "list renderers"):
        run = send(gateway, worker_thread, message)
        assert run[-1]["finishReason"] == "stop" and len(of_kind(run, "tool-end")) == 1


def test_other_messages_run_no_tool(gateway, worker_thread):
    assert not of_kind(send(gateway, worker_thread, "Which jobs did I tell you about?"), "tool-start")
