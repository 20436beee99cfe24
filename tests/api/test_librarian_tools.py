"""The built-in librarian runs the tool that a message plainly asks for (decisions, 12)."""

import pytest

from checks import accepted
from events import text_of
from tools import new_agent, new_thread, of_kind, turns_of


def said(gateway, thread, content):
    with gateway.events(thread["id"]) as events:
        turn = accepted(gateway.http.post("/chat", json={"content": content, "threadId": thread["id"]}), 201)
        return events.run(turn["id"])


@pytest.fixture
def acting(gateway, name):
    return new_thread(gateway, new_agent(gateway, name("worker")))


def test_a_plain_wish_runs_the_tool(gateway, acting):
    run = said(gateway, acting, "list jobs")
    start = of_kind(run, "tool-start")[0]
    assert (start["toolName"], start["input"]) == ("ListExtensions", {"type": "job"})
    assert run[-1]["finishReason"] == "stop" and run[-1]["model"] == "offline/librarian"
    assert "`compile-knowledge`" in text_of(run) and "not a language model" in text_of(run)
    assert [turn["role"] for turn in turns_of(gateway, acting)] == ["user", "tool", "assistant"]


def test_it_says_when_the_mode_forbids_it(gateway, name):
    planning = new_thread(gateway, new_agent(gateway, name("planner"), mode="plan"))
    text = text_of(said(gateway, planning, "list jobs"))
    assert "plan mode" in text and "act mode" in text and "compile-knowledge" not in text


def test_it_is_deterministic(gateway, name):
    answers = {text_of(said(gateway, new_thread(gateway, new_agent(gateway, name("worker"))), "list themes"))
               for _ in range(3)}
    assert len(answers) == 1


def test_two_wishes_in_one_thread(gateway, acting):
    for wish in ("list themes", "list themes", "list themes", "list renderers"):
        run = said(gateway, acting, wish)
        assert run[-1]["finishReason"] == "stop" and len(of_kind(run, "tool-end")) == 1


def test_other_words_run_nothing(gateway, acting):
    assert not of_kind(said(gateway, acting, "Which jobs did I tell you about?"), "tool-start")
