"""Threads: create, read, list, change, fork, delete.

See docs/contract/chat.md#threads.
"""

import pytest

from checks import UNKNOWN_ID, accepted, at_once, ids, is_id, is_timestamp, refused
from jobs import wait_for

MEMBERS = {"id", "agent_id", "project_id", "job_id", "title", "archived", "mode", "created_at", "updated_at",
           "turn_count"}


@pytest.fixture
def agent(new_name):
    """An agent id without an extension, and without threads of other tests."""
    return new_name("agent")


def create(gateway, **members):
    return accepted(gateway.http.post("/threads", json=members), 201)


def get(gateway, thread):
    """Returns the thread as GET does, without the members that only this response has."""
    found = accepted(gateway.http.get(f"/threads/{thread['id']}"))
    return {member: found[member] for member in found if member not in ("active_run", "tasks")}


def patch(gateway, thread, **members):
    return gateway.http.patch(f"/threads/{thread['id']}", json=members)


def listed(gateway, **params):
    return accepted(gateway.http.get("/threads", params=params))


def add(gateway, thread, content, role="user", **members):
    body = {"content": content, "role": role, **members}
    return accepted(gateway.http.post(f"/threads/{thread['id']}/turns", json=body), 201)


def turns(gateway, thread, **params):
    return accepted(gateway.http.get(f"/threads/{thread['id']}/turns", params=params))


def assistant(gateway):
    return next(found for found in accepted(gateway.http.get("/extensions?type=agent")) if found["name"] == "assistant")


# Create and read.


def test_creating_returns_201_with_the_thread(gateway):
    made = create(gateway, title="Plans", agent_id="assistant")
    assert set(made) == MEMBERS
    assert is_id(made["id"]) and is_timestamp(made["created_at"]) and made["updated_at"] == made["created_at"]
    assert {member: made[member] for member in MEMBERS - {"id", "created_at", "updated_at"}} == {
        "agent_id": assistant(gateway)["id"], "project_id": None, "job_id": None, "title": "Plans", "archived": False,
        "mode": "plan", "turn_count": 0}


def test_thread_can_be_created_without_members(gateway):
    for response in (gateway.http.post("/threads"), gateway.http.post("/threads", json={})):
        made = accepted(response, 201)
        assert made["title"] == "New thread" and made["agent_id"] == assistant(gateway)["id"]


def test_thread_can_be_read(gateway):
    made = create(gateway, title="Plans")
    found = accepted(gateway.http.get(f"/threads/{made['id']}"))
    assert found == {**made, "active_run": None}


def test_agent_name_is_stored_as_its_id_and_an_unknown_one_as_given(gateway, agent):
    assert create(gateway, agent_id="assistant")["agent_id"] == assistant(gateway)["id"]
    assert create(gateway, agent_id=assistant(gateway)["id"])["agent_id"] == assistant(gateway)["id"]
    assert create(gateway, agent_id=agent)["agent_id"] == agent


def test_unknown_project_is_not_found(gateway, agent):
    refused(gateway.http.post("/threads", json={"project_id": UNKNOWN_ID, "agent_id": agent}), 404, "project not found")
    assert listed(gateway, agent_id=agent) == []


def test_new_thread_takes_the_mode_of_its_agent(gateway, new_name):
    body = {"type": "agent", "name": new_name("actor"), "description": "", "definition": {"mode": "act"}, "enabled": True}
    actor = accepted(gateway.http.post("/extensions", json=body), 201)
    assert create(gateway, agent_id=actor["name"])["mode"] == "act"
    assert create(gateway, agent_id=actor["id"])["mode"] == "act"


# List.


def test_list_is_newest_updated_first(gateway, agent):
    first, second, third = (create(gateway, agent_id=agent) for _ in range(3))
    assert ids(listed(gateway, agent_id=agent)) == ids([third, second, first])
    add(gateway, first, "hello")
    assert ids(listed(gateway, agent_id=agent)) == ids([first, third, second])
    accepted(patch(gateway, second, title="other"))
    assert ids(listed(gateway, agent_id=agent)) == ids([second, first, third])


def test_list_has_the_same_records_as_reading(gateway, agent):
    made = create(gateway, agent_id=agent)
    assert listed(gateway, agent_id=agent) == [get(gateway, made)] == [made]


def test_archived_threads_are_listed_on_request(gateway, agent):
    kept, archived = create(gateway, agent_id=agent), create(gateway, agent_id=agent)
    accepted(patch(gateway, archived, archived=True))
    assert ids(listed(gateway, agent_id=agent)) == ids([kept])
    assert ids(listed(gateway, agent_id=agent, archived="false")) == ids([kept])
    assert ids(listed(gateway, agent_id=agent, archived="true")) == ids([archived, kept])


def test_list_is_filtered_by_time_of_change(gateway, agent):
    old, new = create(gateway, agent_id=agent), create(gateway, agent_id=agent)
    new = accepted(patch(gateway, new, title="later")) if new["updated_at"] == old["updated_at"] else new
    assert ids(listed(gateway, agent_id=agent, since="2000-01-01")) == ids([new, old])
    assert new["id"] not in ids(listed(gateway, agent_id=agent, since=new["updated_at"]))
    assert listed(gateway, agent_id=agent, since="2999-01-01T00:00:00Z") == []


def test_agent_filter_takes_id_or_name(gateway):
    made = create(gateway)
    assert made["id"] in ids(listed(gateway, agent_id="assistant"))
    assert made["id"] in ids(listed(gateway, agent_id=made["agent_id"]))


def test_threads_that_named_an_agent_before_it_existed_are_its_own(gateway, agent):
    early = create(gateway, agent_id=agent)
    add(gateway, early, "an early plum")
    made = accepted(gateway.http.post("/extensions", json={
        "type": "agent", "name": agent, "description": "Late", "definition": {}, "enabled": True}), 201)
    late = create(gateway, agent_id=agent)
    assert (get(gateway, early)["agent_id"], late["agent_id"]) == (agent, made["id"])
    add(gateway, late, "a late plum")
    for named in (agent, made["id"]):
        assert ids(listed(gateway, agent_id=named)) == ids([late, early])
        assert ids(listed(gateway, agent_id=named, limit=1, before=late["id"])) == ids([early])
        search = {"q": "plum", "agent_id": named}
        found = accepted(gateway.http.get("/turns/search", params=search))
        assert {turn["content"] for turn in found} == {"an early plum", "a late plum"}
        found = accepted(gateway.http.get("/turns/search", params={**search, "thread_id": early["id"]}))
        assert [turn["content"] for turn in found] == ["an early plum"]
        activity = accepted(gateway.http.get(f"/agents/{named}/activity"))
        assert [row["snippet"] for row in activity] == ["a late plum", "an early plum"]


@pytest.mark.parametrize("name", ["agent_id", "project_id", "job_id"])
def test_unknown_id_in_a_filter_gives_an_empty_list(gateway, name):
    assert listed(gateway, **{name: UNKNOWN_ID}) == []
    assert listed(gateway, **{name: "no such thing"}) == []


def test_thread_belongs_to_no_job_until_one_ran(gateway):
    create(gateway)
    # A job without a schedule.
    assert listed(gateway, job_id="self-reflect") == []


def test_without_a_limit_all_are_listed(gateway, agent):
    made = at_once(8, lambda _: [create(gateway, agent_id=agent) for _ in range(15)])
    assert len(listed(gateway, agent_id=agent)) == sum(map(len, made)) == 120


def test_pages_by_limit_and_before_have_each_thread_once(gateway, agent):
    made = [create(gateway, agent_id=agent)["id"] for _ in range(7)]
    found, params = [], {"agent_id": agent, "limit": 3}
    while page := listed(gateway, **params):
        assert len(page) <= 3
        found += ids(page)
        params["before"] = found[-1]
    assert found == made[::-1]


# Change.


def test_change_touches_only_sent_members(gateway):
    made = create(gateway, title="first")
    changed = accepted(patch(gateway, made, title="second"))
    assert changed == {**made, "title": "second", "updated_at": changed["updated_at"]}
    assert changed["updated_at"] >= made["updated_at"] and get(gateway, made) == changed


def test_empty_change_changes_nothing(gateway):
    made = create(gateway)
    assert accepted(patch(gateway, made)) == made
    assert accepted(patch(gateway, made, title=None, archived=None, colour="red")) == made


def test_archive_and_unarchive(gateway):
    made = create(gateway)
    assert accepted(patch(gateway, made, archived=True))["archived"] is True
    assert accepted(patch(gateway, made, archived=True))["archived"] is True
    assert accepted(patch(gateway, made, archived=False))["archived"] is False


def test_mode_is_plan_or_act_and_null_is_plan(gateway):
    made = create(gateway)
    assert accepted(patch(gateway, made, mode="act"))["mode"] == "act"
    assert accepted(patch(gateway, made, title="mode stays"))["mode"] == "act"
    assert accepted(patch(gateway, made, mode=None))["mode"] == "plan"
    assert accepted(patch(gateway, made, mode="plan"))["mode"] == "plan"


@pytest.mark.parametrize("mode", ["quick", "complex", "Plan", "", "ACT", "a\u00e9"])
def test_unknown_mode_is_refused(gateway, mode):
    made = create(gateway)
    refused(patch(gateway, made, mode=mode, title="not taken"), 400, f"unknown mode: {mode}")
    assert get(gateway, made) == made


def test_agent_project_and_job_cannot_be_changed(gateway):
    made = create(gateway)
    assert accepted(patch(gateway, made, agent_id="x", project_id="x", job_id="x", id="x", turn_count=5)) == made


def test_updated_at_follows_turns_title_mode_and_archived(own_gateway):
    thread = create(own_gateway, title="first")
    times = [thread["updated_at"]]
    turn = add(own_gateway, thread, "hello")
    times.append(get(own_gateway, thread)["updated_at"])
    assert own_gateway.http.delete(f"/turns/{turn['id']}").status_code == 204
    times.append(get(own_gateway, thread)["updated_at"])
    for members in ({"title": "second"}, {"mode": "act"}, {"archived": True}):
        times.append(accepted(patch(own_gateway, thread, **members))["updated_at"])
    assert times == sorted(times) and times[-1] > times[0]


def test_turn_count_counts_turns(gateway, agent):
    made = create(gateway, agent_id=agent)
    kept = [add(gateway, made, "hello") for _ in range(3)]
    assert get(gateway, made)["turn_count"] == 3
    gateway.http.delete(f"/turns/{kept[0]['id']}")
    assert get(gateway, made)["turn_count"] == 2
    assert listed(gateway, agent_id=agent)[0]["turn_count"] == 2


# Titles.


def test_title_is_made_from_the_first_user_turn(gateway):
    made = create(gateway)
    assert made["title"] == "New thread"
    add(gateway, made, "I only speak", "assistant")
    assert get(gateway, made)["title"] == "New thread"
    add(gateway, made, "Where do penguins sleep in winter?")
    title = get(gateway, made)["title"]
    assert title != "New thread" and "penguins" in title.lower()
    add(gateway, made, "And where do giraffes?")
    assert get(gateway, made)["title"] == title


def test_generated_title_has_a_few_words_and_no_line_break(gateway):
    made = create(gateway)
    add(gateway, made, "First line\nsecond line\r\n" + "many words " * 500)
    title = get(gateway, made)["title"]
    assert 0 < len(title) <= 100 and "\n" not in title and "\r" not in title


def test_given_title_is_kept(gateway):
    made = create(gateway, title="Mine")
    add(gateway, made, "Where do penguins sleep?")
    assert get(gateway, made)["title"] == "Mine"


# Fork.


def test_fork_copies_all_turns_with_new_ids(gateway):
    made = create(gateway, title="origin")
    for number in range(3):
        add(gateway, made, f"turn {number}", "user" if number % 2 == 0 else "assistant", metadata={"n": number})
    fork = accepted(gateway.http.post(f"/threads/{made['id']}/fork"), 201)
    assert set(fork) == MEMBERS and fork["id"] != made["id"] and fork["turn_count"] == 3
    assert (fork["agent_id"], fork["mode"]) == (made["agent_id"], made["mode"])
    origin, copies = turns(gateway, made), turns(gateway, fork)
    assert [(turn["role"], turn["content"], turn["metadata"]) for turn in copies] == [
        (turn["role"], turn["content"], turn["metadata"]) for turn in origin]
    assert not set(ids(copies)) & set(ids(origin)) and {turn["thread_id"] for turn in copies} == {fork["id"]}


def test_fork_ends_with_the_given_turn(gateway):
    made = create(gateway)
    kept = [add(gateway, made, f"turn {number}") for number in range(4)]
    fork = accepted(gateway.http.post(f"/threads/{made['id']}/fork", json={"turnId": kept[1]["id"]}), 201)
    assert [turn["content"] for turn in turns(gateway, fork)] == ["turn 1", "turn 0"]
    assert get(gateway, made)["turn_count"] == 4


def test_fork_at_a_turn_of_another_thread_is_not_found(gateway):
    made, other = create(gateway), create(gateway)
    elsewhere = add(gateway, other, "elsewhere")
    for turn in (elsewhere["id"], UNKNOWN_ID, "x"):
        refused(gateway.http.post(f"/threads/{made['id']}/fork", json={"turnId": turn}), 404, "turn not found")


def test_fork_at_a_turn_deleted_at_the_same_time_ends_with_it_or_is_not_found(gateway):
    made = create(gateway)
    for _ in range(40):
        last = add(gateway, made, "last")

        def act(which, turn=last["id"]):
            if which == 0:
                return gateway.http.post(f"/threads/{made['id']}/fork", json={"turnId": turn})
            return gateway.http.delete(f"/turns/{turn}")

        forked, _ = at_once(2, act)
        if forked.status_code == 404:
            refused(forked, 404, "turn not found")
        else:
            assert [turn["content"] for turn in turns(gateway, accepted(forked, 201))] == ["last"]


def test_fork_is_independent(gateway):
    made = create(gateway)
    add(gateway, made, "shared")
    fork = accepted(gateway.http.post(f"/threads/{made['id']}/fork", json={}), 201)
    add(gateway, fork, "only here")
    assert gateway.http.delete(f"/threads/{made['id']}").status_code == 204
    assert [turn["content"] for turn in turns(gateway, fork)] == ["only here", "shared"]


# Delete.


def test_deleted_thread_is_gone_with_its_turns(gateway, agent):
    made = create(gateway, agent_id=agent)
    turn = add(gateway, made, "unforgettable")
    response = gateway.http.delete(f"/threads/{made['id']}")
    assert response.status_code == 204 and response.content == b""
    for later in (gateway.http.get(f"/threads/{made['id']}"), gateway.http.get(f"/threads/{made['id']}/turns"),
                  gateway.http.delete(f"/threads/{made['id']}"), patch(gateway, made, title="x")):
        refused(later, 404, "thread not found")
    refused(gateway.http.delete(f"/turns/{turn['id']}"), 404, "turn not found")
    assert listed(gateway, agent_id=agent) == []
    assert accepted(gateway.http.get("/turns/search", params={"q": "unforgettable", "agent_id": agent})) == []


LONG_MESSAGE = "Please tell me in all detail how often and with what I should feed the otters in winter"


def ask_in_a_new_thread(gateway):
    made = create(gateway)
    accepted(gateway.http.post("/chat", json={"content": LONG_MESSAGE, "threadId": made["id"]}), 201)
    return made


def delete_when_unused(gateway, thread):
    """Deletes the thread as soon as its run has ended."""
    while (response := gateway.http.delete(f"/threads/{thread['id']}")).status_code == 409:
        pass
    assert response.status_code == 204, response.text


def errors_in_the_log(gateway):
    """Stops the gateway, and returns the lines of its log that are errors."""
    assert gateway.stop() == 0
    return [line for line in gateway.stderr.splitlines() if " error " in line]


def test_thread_deleted_while_a_model_titles_it_is_no_error(own_talker):
    gateway, stub = own_talker.gateway, own_talker.stub
    stub.title = title = stub.hold("Otters")
    stub.reset()  # holds the title only
    made = ask_in_a_new_thread(gateway)
    assert title.was_asked()
    delete_when_unused(gateway, made)
    stub.title = "A title from the stub"
    title.release(" in winter")
    other = ask_in_a_new_thread(gateway)
    wait_for(lambda: get(gateway, other)["title"] == stub.title)
    assert errors_in_the_log(gateway) == []


def test_thread_deleted_at_the_end_of_its_run_is_no_error(own_talker):
    gateway = own_talker.gateway
    at_once(4, lambda _: [delete_when_unused(gateway, ask_in_a_new_thread(gateway)) for _ in range(25)])
    assert errors_in_the_log(gateway) == []


# Events.


def test_change_is_announced_with_the_thread(gateway):
    made = create(gateway)
    with gateway.events(made["id"]) as events:
        changed = accepted(patch(gateway, made, title="announced"))
        changes = [found for found in events.drain() if found["type"] == "thread-updated"]
    assert changes and changes[-1]["threadId"] == made["id"] and changes[-1]["thread"] == changed


@pytest.mark.parametrize("lists", [True, False])
def test_deletion_of_a_thread_is_reported(gateway, lists):
    thread, other = create(gateway)["id"], create(gateway)["id"]
    with gateway.events() as events:
        events.subscribe(*([] if lists else [thread]), lists=lists)
        for id in (thread, other):
            assert gateway.http.delete(f"/threads/{id}").status_code == 204
        expected = [thread, other] if lists else [thread]
        assert events.drain() == [{"type": "thread-deleted", "threadId": id} for id in expected]


def test_threads_survive_a_restart(own_gateway):
    for number in range(3):
        add(own_gateway, create(own_gateway, title=f"kept {number}"), f"turn {number}", metadata={"n": number})
    before = listed(own_gateway)
    kept = [turns(own_gateway, thread) for thread in before]
    own_gateway.restart()
    assert listed(own_gateway) == before and [turns(own_gateway, thread) for thread in before] == kept
