"""Idempotency-Key: what a client sends twice happens once (decisions, 2)."""

import uuid

from checks import accepted, at_once, refused


def key():
    return {"Idempotency-Key": str(uuid.uuid4())}


def post_thread(gateway, headers, **members):
    return gateway.http.post("/threads", json={"agent_id": "keys", **members}, headers=headers)


def test_the_same_key_and_body_answer_the_first_answer_again(gateway):
    headers = key()
    first = post_thread(gateway, headers, title="once")
    again = post_thread(gateway, headers, title="once")
    assert (again.status_code, again.json()) == (201, first.json())
    assert again.headers["content-type"] == first.headers["content-type"]


def test_another_body_under_the_same_key_is_refused(gateway):
    headers = key()
    accepted(post_thread(gateway, headers, title="once"), 201)
    refused(post_thread(gateway, headers, title="twice"), 409, "idempotency key reused")


def test_the_key_is_looked_up_before_the_body_is_judged(gateway):
    headers = key()
    accepted(post_thread(gateway, headers, title="once"), 201)
    refused(gateway.http.post("/threads", content=b"{", headers=headers), 409, "idempotency key reused")


def test_the_key_is_looked_up_before_the_record_of_the_path(gateway, thread):
    headers, path = key(), f"/threads/{thread['id']}/turns"
    body = {"content": "once", "role": "user"}
    first = accepted(gateway.http.post(path, json=body, headers=headers), 201)
    assert gateway.http.delete(f"/threads/{thread['id']}").status_code == 204
    assert accepted(gateway.http.post(path, json=body, headers=headers), 201) == first


def test_the_key_is_looked_up_after_the_token(gateway):
    headers = key()
    accepted(post_thread(gateway, headers), 201)
    refused(gateway.anonymous.post("/threads", json={"agent_id": "keys"}, headers=headers), 401, "unauthorized")


def test_twins_at_the_same_time_wait_for_the_first(gateway):
    headers = key()
    answers = at_once(20, lambda _: post_thread(gateway, headers, agent_id="twins", title="one"))
    assert {answer.status_code for answer in answers} == {201}
    assert len({answer.json()["id"] for answer in answers}) == 1
    assert len(accepted(gateway.http.get("/threads", params={"agent_id": "twins"}))) == 1


def test_of_different_bodies_at_the_same_time_one_wins(gateway):
    headers = key()
    answers = at_once(10, lambda number: post_thread(gateway, headers, agent_id="rivals", title=f"title {number}"))
    assert sorted(answer.status_code for answer in answers) == [201] + [409] * 9
    assert len(accepted(gateway.http.get("/threads", params={"agent_id": "rivals"}))) == 1


def test_an_error_is_not_kept(gateway):
    headers = key()
    refused(post_thread(gateway, headers, title=5), 400, "title must be a string")
    accepted(post_thread(gateway, headers, title="now right"), 201)


def test_a_refusal_by_the_record_is_not_kept(gateway, name):
    headers, extension = key(), name("idempotent")
    body = {"type": "theme", "name": extension, "description": "", "definition": {}}
    kept = accepted(gateway.http.post("/extensions", json=body), 201)
    refused(gateway.http.post("/extensions", json=body, headers=headers), 409, "extension name already exists")
    assert gateway.http.delete(f"/extensions/{kept['id']}").status_code == 204
    accepted(gateway.http.post("/extensions", json=body, headers=headers), 201)


def test_a_key_belongs_to_its_path(gateway, thread):
    headers, body = key(), {"content": "the same", "role": "user"}
    other = accepted(gateway.http.post("/threads", json={}), 201)
    first = accepted(gateway.http.post(f"/threads/{thread['id']}/turns", json=body, headers=headers), 201)
    second = accepted(gateway.http.post(f"/threads/{other['id']}/turns", json=body, headers=headers), 201)
    assert first["id"] != second["id"] and second["thread_id"] == other["id"]


def test_without_a_key_everything_happens_each_time(gateway):
    first, second = (accepted(post_thread(gateway, {}, title="plain"), 201) for _ in range(2))
    assert first["id"] != second["id"]


def test_a_chat_sent_twice_runs_once(gateway, thread):
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


def test_a_toggle_sent_twice_flips_once(gateway, name):
    body = {"type": "theme", "name": name("toggled"), "description": "", "definition": {}}
    extension, headers = accepted(gateway.http.post("/extensions", json=body), 201), key()
    path = f"/extensions/{extension['id']}/toggle"
    assert [accepted(gateway.http.post(path, headers=headers))["enabled"] for _ in range(3)] == [True, True, True]


def test_an_answer_is_kept_over_a_restart_and_a_kill(own):
    stopped, killed = key(), key()
    first = accepted(post_thread(own, stopped, title="a"), 201)
    own.restart()
    assert accepted(post_thread(own, stopped, title="a"), 201) == first
    refused(post_thread(own, stopped, title="b"), 409, "idempotency key reused")
    second = accepted(post_thread(own, killed, title="c"), 201)
    own.kill()
    own.start()
    assert accepted(post_thread(own, killed, title="c"), 201) == second
    assert len(accepted(own.http.get("/threads", params={"agent_id": "keys"}))) == 2
