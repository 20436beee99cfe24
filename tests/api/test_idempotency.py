"""Idempotency-Key: a request sent twice is executed once.

See docs/contract/requests.md#idempotency-key.
"""

import uuid

from checks import accepted, at_once, refused


def key():
    return {"Idempotency-Key": str(uuid.uuid4())}


def post_thread(gateway, headers, **members):
    return gateway.http.post("/threads", json={"agent_id": "keys", **members}, headers=headers)


def test_same_key_and_body_return_the_first_response(gateway):
    headers = key()
    first = post_thread(gateway, headers, title="once")
    again = post_thread(gateway, headers, title="once")
    assert (again.status_code, again.json()) == (201, first.json())
    assert again.headers["content-type"] == first.headers["content-type"]


def test_another_body_under_the_same_key_is_refused(gateway):
    headers = key()
    accepted(post_thread(gateway, headers, title="once"), 201)
    refused(post_thread(gateway, headers, title="twice"), 409, "idempotency key reused")


def test_key_is_checked_before_the_body(gateway):
    headers = key()
    accepted(post_thread(gateway, headers, title="once"), 201)
    refused(gateway.http.post("/threads", content=b"{", headers=headers), 409, "idempotency key reused")


def test_key_is_checked_before_the_record_in_the_path(gateway, thread):
    headers, path = key(), f"/threads/{thread['id']}/turns"
    body = {"content": "once", "role": "user"}
    first = accepted(gateway.http.post(path, json=body, headers=headers), 201)
    assert gateway.http.delete(f"/threads/{thread['id']}").status_code == 204
    assert accepted(gateway.http.post(path, json=body, headers=headers), 201) == first


def test_key_is_checked_after_the_token(gateway):
    headers = key()
    accepted(post_thread(gateway, headers), 201)
    refused(gateway.anonymous.post("/threads", json={"agent_id": "keys"}, headers=headers), 401, "unauthorized")


def test_simultaneous_duplicates_wait_for_the_first(gateway):
    headers = key()
    responses = at_once(20, lambda _: post_thread(gateway, headers, agent_id="twins", title="one"))
    assert {response.status_code for response in responses} == {201}
    assert len({response.json()["id"] for response in responses}) == 1
    assert len(accepted(gateway.http.get("/threads", params={"agent_id": "twins"}))) == 1


def test_one_of_simultaneous_different_bodies_wins(gateway):
    headers = key()
    responses = at_once(10, lambda number: post_thread(gateway, headers, agent_id="rivals", title=f"title {number}"))
    assert sorted(response.status_code for response in responses) == [201] + [409] * 9
    assert len(accepted(gateway.http.get("/threads", params={"agent_id": "rivals"}))) == 1


def test_errors_are_not_stored(gateway):
    headers = key()
    refused(post_thread(gateway, headers, title=5), 400, "title must be a string")
    accepted(post_thread(gateway, headers, title="now right"), 201)


def test_conflict_is_not_stored(gateway, new_name):
    headers, extension = key(), new_name("idempotent")
    body = {"type": "theme", "name": extension, "description": "", "definition": {}}
    kept = accepted(gateway.http.post("/extensions", json=body), 201)
    refused(gateway.http.post("/extensions", json=body, headers=headers), 409, "extension name already exists")
    assert gateway.http.delete(f"/extensions/{kept['id']}").status_code == 204
    accepted(gateway.http.post("/extensions", json=body, headers=headers), 201)


def test_key_belongs_to_its_path(gateway, thread):
    headers, body = key(), {"content": "the same", "role": "user"}
    other = accepted(gateway.http.post("/threads", json={}), 201)
    first = accepted(gateway.http.post(f"/threads/{thread['id']}/turns", json=body, headers=headers), 201)
    second = accepted(gateway.http.post(f"/threads/{other['id']}/turns", json=body, headers=headers), 201)
    assert first["id"] != second["id"] and second["thread_id"] == other["id"]


def test_without_a_key_every_request_is_executed(gateway):
    first, second = (accepted(post_thread(gateway, {}, title="plain"), 201) for _ in range(2))
    assert first["id"] != second["id"]


def test_chat_sent_twice_runs_once(gateway, thread):
    headers, body = key(), {"content": "hello", "threadId": thread["id"]}
    with gateway.events(thread["id"]) as events:
        first, second = (accepted(gateway.http.post("/chat", json=body, headers=headers), 201) for _ in range(2))
        assert first == second
        run = events.run(first["id"])
        assert accepted(gateway.http.post("/chat", json=body, headers=headers), 201) == first
        events.drain()
        assert events.run_so_far(first["id"]) == run
    turns = accepted(gateway.http.get(f"/threads/{thread['id']}/turns"))
    assert sorted(turn["role"] for turn in turns) == ["assistant", "user"]


def test_toggle_sent_twice_flips_once(gateway, new_name):
    body = {"type": "theme", "name": new_name("toggled"), "description": "", "definition": {}}
    extension, headers = accepted(gateway.http.post("/extensions", json=body), 201), key()
    path = f"/extensions/{extension['id']}/toggle"
    assert [accepted(gateway.http.post(path, headers=headers))["enabled"] for _ in range(3)] == [True, True, True]


def test_response_survives_a_restart_and_a_kill(own_gateway):
    before_stop, before_kill = key(), key()
    first = accepted(post_thread(own_gateway, before_stop, title="a"), 201)
    own_gateway.restart()
    assert accepted(post_thread(own_gateway, before_stop, title="a"), 201) == first
    refused(post_thread(own_gateway, before_stop, title="b"), 409, "idempotency key reused")
    second = accepted(post_thread(own_gateway, before_kill, title="c"), 201)
    own_gateway.kill()
    own_gateway.start()
    assert accepted(post_thread(own_gateway, before_kill, title="c"), 201) == second
    assert len(accepted(own_gateway.http.get("/threads", params={"agent_id": "keys"}))) == 2
