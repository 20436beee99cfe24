"""The list of tasks that an agent keeps for a thread.

See docs/contract/chat.md#tasks.
"""

import pytest

from checks import accepted
from tools import call_tool, calls, new_agent, new_thread, run_chat

ITEMS = [{"text": "Read the notes", "status": "done"}, {"text": "Write the page", "status": "active"},
         {"text": "Tell them", "status": "pending"}]


@pytest.fixture
def thread(talker, new_name):
    """A thread of an agent of the lowest stage."""
    return new_thread(talker.gateway, new_agent(talker.gateway, new_name("planner"), "apprentice"), title="a title")


def tasks_of(gateway, thread):
    return accepted(gateway.http.get(f"/threads/{thread['id']}")).get("tasks", [])


def test_new_thread_has_no_tasks(talker, thread):
    assert tasks_of(talker.gateway, thread) == []


def test_list_is_stored_and_announced(talker, thread):
    with talker.gateway.events(thread["id"]) as events:
        run = run_chat(talker, thread, calls(("Tasks", {"items": ITEMS})), "Done.")
        event = events.until(lambda event: event["type"] == "tasks-updated")[-1]
    assert event == {"type": "tasks-updated", "threadId": thread["id"], "runId": run[0]["runId"], "tasks": ITEMS}
    assert tasks_of(talker.gateway, thread) == ITEMS
    assert [event["output"] for event in run if event["type"] == "tool-end"] == ["The list has 3 tasks, 1 of them done."]


def test_each_call_replaces_the_list(talker, thread):
    call_tool(talker, thread, "Tasks", {"items": ITEMS})
    call_tool(talker, thread, "Tasks", {"items": ITEMS[:1]})
    assert tasks_of(talker.gateway, thread) == ITEMS[:1]
    call_tool(talker, thread, "Tasks", {"items": []})
    assert accepted(talker.gateway.http.get(f"/threads/{thread['id']}"))["tasks"] == []


def test_last_of_two_calls_in_one_step_counts(talker, thread):
    run_chat(talker, thread, calls(("Tasks", {"items": ITEMS}), ("Tasks", {"items": ITEMS[:2]})), "Done.")
    assert tasks_of(talker.gateway, thread) == ITEMS[:2]


@pytest.mark.parametrize("items", [
    [{"text": "x", "status": "pending"}] * 101,
    [{"text": "x" * 501, "status": "pending"}],
    [{"text": "x" * 500, "status": "pending"}] * 33,
    [{"text": "", "status": "pending"}],
    [{"text": "x", "status": "later"}],
    [{"text": "x"}],
    "everything",
], ids=["too many", "a long one", "too many bytes", "an empty one", "unknown status", "no status", "no list"])
def test_list_out_of_bounds_is_an_error_and_changes_nothing(talker, thread, items):
    call_tool(talker, thread, "Tasks", {"items": ITEMS})
    end = call_tool(talker, thread, "Tasks", {"items": items})
    assert end["isError"] and end["output"].startswith("invalid input: ")
    assert tasks_of(talker.gateway, thread) == ITEMS


def test_tool_is_not_available_in_plan_mode(talker, thread):
    accepted(talker.gateway.http.patch(f"/threads/{thread['id']}", json={"mode": "plan"}))
    end = call_tool(talker, thread, "Tasks", {"items": ITEMS})
    assert end["isError"] and "not available in plan mode" in end["output"]
    assert tasks_of(talker.gateway, thread) == []


def test_complete_fork_copies_the_list_and_a_fork_at_a_turn_does_not(talker, thread):
    run = run_chat(talker, thread, calls(("Tasks", {"items": ITEMS})), "Done.")
    path = f"/threads/{thread['id']}/fork"
    assert tasks_of(talker.gateway, accepted(talker.gateway.http.post(path), 201)) == ITEMS
    fork = accepted(talker.gateway.http.post(path, json={"turnId": run[0]["turnId"]}), 201)
    assert tasks_of(talker.gateway, fork) == []


def test_list_survives_a_kill(own_talker, new_name):
    agent = new_agent(own_talker.gateway, new_name("planner"), "apprentice")
    thread = new_thread(own_talker.gateway, agent, title="a title")
    call_tool(own_talker, thread, "Tasks", {"items": ITEMS})
    own_talker.gateway.kill()
    own_talker.gateway.start()
    assert tasks_of(own_talker.gateway, thread) == ITEMS
