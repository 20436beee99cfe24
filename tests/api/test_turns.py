"""Turns: insert, list, delete.

See docs/contract/chat.md#turns.
"""

import pytest

from checks import UNKNOWN_ID, accepted, at_once, ids, is_id, is_timestamp, refused

MEMBERS = {"id", "thread_id", "role", "content", "metadata", "created_at"}
ROLES = ["user", "assistant", "system", "tool"]


@pytest.fixture
def path(thread):
    return f"/threads/{thread['id']}/turns"


def add(gateway, path, content="hello", role="user", **members):
    return accepted(gateway.http.post(path, json={"content": content, "role": role, **members}), 201)


def listed(gateway, path, **params):
    return accepted(gateway.http.get(path, params=params))


# Insert.


@pytest.mark.parametrize("role", ROLES)
def test_inserting_returns_201_with_the_turn(gateway, thread, path, role):
    turn = add(gateway, path, "words", role, metadata={"mine": [1, {"a": None}]})
    assert set(turn) == MEMBERS and is_id(turn["id"]) and is_timestamp(turn["created_at"])
    assert (turn["thread_id"], turn["role"], turn["content"]) == (thread["id"], role, "words")
    assert turn["metadata"] == {"mine": [1, {"a": None}]}
    assert listed(gateway, path) == [turn]


def test_omitted_metadata_is_null(gateway, path):
    assert add(gateway, path)["metadata"] is None
    assert add(gateway, path, metadata={})["metadata"] == {}


@pytest.mark.parametrize("role", ["robot", "User", "", "USER", "user ", "r\u00f4le"])
def test_invalid_role_is_refused(gateway, path, role):
    refused(gateway.http.post(path, json={"content": "a", "role": role}), 400, f"invalid role: {role}")
    assert listed(gateway, path) == []


def test_inserting_a_turn_runs_no_agent(gateway, thread, path):
    with gateway.events(thread["id"]) as events:
        turn = add(gateway, path)
        received = events.drain()
    assert [found["turn"] for found in received if found["type"] == "turn-created"] == [turn]
    assert {found["type"] for found in received} <= {"turn-created", "thread-updated"}
    assert listed(gateway, path) == [turn]


def test_acknowledged_turn_can_be_read_at_once(gateway, path):
    for number in range(30):
        turn = add(gateway, path, str(number))
        assert listed(gateway, path, limit=1) == [turn]


# List.


def test_list_is_strictly_newest_first(gateway, path):
    made = [add(gateway, path, str(number))["id"] for number in range(30)]
    assert ids(listed(gateway, path)) == made[::-1]


def test_simultaneous_inserts_are_kept_in_one_order(gateway, path):
    made = at_once(16, lambda number: ids([add(gateway, path, f"{number} {each}") for each in range(10)]))
    found = ids(listed(gateway, path, limit=200))
    assert sorted(found) == sorted(sum(made, []))
    for sequence in made:
        assert [turn for turn in found if turn in sequence] == sequence[::-1]
    assert ids(listed(gateway, path, limit=200)) == found


def test_default_page_has_50_turns(gateway, path):
    at_once(5, lambda _: [add(gateway, path) for _ in range(11)])
    assert len(listed(gateway, path)) == 50
    assert len(listed(gateway, path, limit=7)) == 7
    assert len(listed(gateway, path, limit=1000)) == 55


def test_page_has_at_most_1000_turns(gateway, path):
    at_once(16, lambda _: [add(gateway, path) for _ in range(63)])
    assert len(listed(gateway, path, limit=5000)) == 1000


def test_pages_by_before_have_each_turn_once(gateway, path):
    made = [add(gateway, path)["id"] for _ in range(7)]
    found, params = [], {"limit": 3}
    while page := ids(listed(gateway, path, **params)):
        found += page
        params["before"] = page[-1]
    assert found == made[::-1]
    assert ids(listed(gateway, path, before=made[0])) == []


def test_before_must_be_a_turn_of_this_thread(gateway, path):
    other = accepted(gateway.http.post("/threads", json={}), 201)
    elsewhere = add(gateway, f"/threads/{other['id']}/turns")
    for before in (elsewhere["id"], UNKNOWN_ID, "x"):
        refused(gateway.http.get(path, params={"before": before}), 400, "before must be a turn of this thread")


def test_list_is_filtered_by_role(gateway, path):
    for role in ROLES * 2:
        add(gateway, path, role, role)
    assert [turn["content"] for turn in listed(gateway, path, role="user")] == ["user", "user"]
    assert [turn["content"] for turn in listed(gateway, path, role="assistant", limit=1)] == ["assistant"]
    assert len(listed(gateway, path)) == 8


def test_list_is_filtered_by_time(gateway, path):
    turn = add(gateway, path)
    assert ids(listed(gateway, path, since="2000-01-01")) == [turn["id"]]
    assert listed(gateway, path, since="2999-01-01") == []


def test_empty_thread_has_no_turns(gateway, path):
    assert listed(gateway, path) == []


# Delete.


def test_deleted_turn_is_gone(gateway, path):
    first, second = add(gateway, path), add(gateway, path)
    response = gateway.http.delete(f"/turns/{first['id']}")
    assert response.status_code == 204 and response.content == b""
    assert listed(gateway, path) == [second]
    refused(gateway.http.delete(f"/turns/{first['id']}"), 404, "turn not found")
    refused(gateway.http.get(path, params={"before": first["id"]}), 400, "before must be a turn of this thread")


def test_one_of_many_simultaneous_deletions_succeeds(gateway, path):
    turn = add(gateway, path)
    responses = at_once(8, lambda _: gateway.http.delete(f"/turns/{turn['id']}"))
    assert sorted(response.status_code for response in responses) == [204] + [404] * 7
