"""POST /import and GET /threads/:id/transcript.

See docs/contract/transfer.md.
"""

import pytest

from checks import UNKNOWN_ID, accepted, is_id, refused
from threads import add_turn, new_thread


def batch(source, *threads):
    return {"source": source, "threads": list(threads)}


def thread(key, *contents, **members):
    turns = [{"key": f"{key}-{number}", "role": "user" if number % 2 == 0 else "assistant", "content": content,
              "created_at": f"2024-05-01T10:00:{number:02}.000Z"} for number, content in enumerate(contents)]
    return {"key": key, "title": f"About {key}", "turns": turns, **members}


def send(gateway, *threads, source="notes"):
    return accepted(gateway.http.post("/import", json=batch(source, *threads)))["threads"]


def transcript(gateway, thread_id, **query):
    return accepted(gateway.http.get(f"/threads/{thread_id}/transcript", params=query))


def test_threads_keep_their_times_order_title_and_state(gateway, new_name):
    key = new_name("boat")
    [made] = send(gateway, thread(key, "How?", "So.", archived=True, mode="act", created_at="2024-05-01T09:59:00.000Z",
                                  updated_at="2024-05-02T00:00:00.000Z"))
    assert is_id(made["id"]) and made["created"] and made["turns_created"] == 2
    page = transcript(gateway, made["id"])
    record = page["thread"]
    assert (record["title"], record["archived"], record["mode"]) == (f"About {key}", True, "act")
    assert record["created_at"] == "2024-05-01T09:59:00.000Z" and record["updated_at"] == "2024-05-02T00:00:00.000Z"
    assert record["turn_count"] == 2
    assert [(turn["role"], turn["content"], turn["created_at"]) for turn in page["turns"]] == [
        ("user", "How?", "2024-05-01T10:00:00.000Z"), ("assistant", "So.", "2024-05-01T10:00:01.000Z")]
    assert page["next"] is None


def test_tasks_are_imported_for_new_threads_only(gateway, new_name):
    key = new_name("list")
    tasks = [{"text": "Saw", "status": "done"}, {"text": "Sand", "status": "pending"}]
    [made] = send(gateway, thread(key, "a", tasks=tasks))
    assert transcript(gateway, made["id"])["thread"]["tasks"] == tasks
    send(gateway, thread(key, "a", tasks=[]))
    assert accepted(gateway.http.get(f"/threads/{made['id']}"))["tasks"] == tasks
    [bare] = send(gateway, thread(new_name("bare"), "a"))
    assert "tasks" not in transcript(gateway, bare["id"])["thread"]


@pytest.mark.parametrize("tasks", [[{"text": "x", "status": "done"}] * 101, [{"text": "x" * 200, "status": "done"}] * 100])
def test_lists_of_tasks_are_bounded(gateway, new_name, tasks):
    response = gateway.http.post("/import", json=batch("notes", thread(new_name("long"), "a", tasks=tasks)))
    refused(response, 400, "threads[0].tasks must be at most 100, with 16 KiB of text")


def test_a_repeated_batch_creates_nothing(gateway, new_name):
    one = thread(new_name("again"), "a", "b")
    [first] = send(gateway, one)
    [second] = send(gateway, one)
    assert second == {**first, "created": False, "turns_created": 0, "turns_kept": 2}
    assert len(transcript(gateway, first["id"])["turns"]) == 2


def test_a_later_batch_appends_the_turns_that_are_missing(gateway, new_name):
    key = new_name("grows")
    [first] = send(gateway, thread(key, "a"))
    [second] = send(gateway, thread(key, "a", "b", "c"))
    assert (second["id"], second["turns_created"], second["turns_kept"]) == (first["id"], 2, 1)
    page = transcript(gateway, first["id"])
    assert [turn["content"] for turn in page["turns"]] == ["a", "b", "c"] and page["thread"]["turn_count"] == 3


def test_later_changes_by_the_user_are_kept(gateway, new_name):
    one = thread(new_name("mine"), "a")
    [made] = send(gateway, one)
    accepted(gateway.http.patch(f"/threads/{made['id']}", json={"title": "Renamed"}))
    send(gateway, one)
    assert transcript(gateway, made["id"])["thread"]["title"] == "Renamed"


def test_keys_of_different_sources_are_independent(gateway, new_name):
    one = thread(new_name("both"), "a")
    assert send(gateway, one, source="x")[0]["id"] != send(gateway, one, source="y")[0]["id"]


def test_imported_turns_are_searchable_immediately(gateway, new_name):
    word = new_name("xylophone").replace("-", "")
    [made] = send(gateway, thread(new_name("music"), f"the {word} plays"))
    found = accepted(gateway.http.get("/turns/search", params={"q": word, "agent_id": "assistant"}))
    assert [turn["thread_id"] for turn in found] == [made["id"]]


def test_threads_of_the_same_time_are_all_listed_page_by_page(own_gateway):
    send(own_gateway, *(thread(f"k{number}", "a", updated_at="2024-01-01T00:00:00.000Z") for number in range(50)))
    seen, before = [], None
    while page := accepted(own_gateway.http.get("/threads", params={"limit": 7, **({"before": before} if before else {})})):
        seen += [one["id"] for one in page]
        before = seen[-1]
    assert len(seen) == 50 == len(set(seen))


def test_a_time_in_the_future_is_now(gateway, new_name):
    [made] = send(gateway, thread(new_name("late"), "a", updated_at="9999-01-01T00:00:00.000Z"))
    assert transcript(gateway, made["id"])["thread"]["updated_at"] < "9000"


def test_a_time_before_the_year_0_is_its_beginning(gateway, new_name):
    [made] = send(gateway, thread(new_name("early"), "a", created_at="0000-01-01T00:00:00+14:00"))
    assert transcript(gateway, made["id"])["thread"]["created_at"] == "0000-01-01T00:00:00.000Z"


def test_a_superseded_turn_stays_superseded(gateway, new_name):
    one = thread(new_name("edit"), "a", "b")
    one["turns"][1]["metadata"] = {"superseded": True, "model": "m"}
    [made] = send(gateway, one)
    assert transcript(gateway, made["id"])["turns"][1]["metadata"] == {"model": "m", "superseded": True}


def test_an_answer_refers_to_its_question(gateway, new_name):
    one = thread(new_name("reply"), "a", "b")
    one["turns"][1]["in_reply_to"] = one["turns"][0]["key"]
    [made] = send(gateway, one)
    first, second = transcript(gateway, made["id"])["turns"]
    assert second["in_reply_to"] == first["id"] and first["in_reply_to"] is None


def test_deleted_thread_can_be_imported_again(gateway, new_name):
    one = thread(new_name("gone"), "a", "b")
    [made] = send(gateway, one)
    assert gateway.http.delete(f"/threads/{made['id']}").status_code == 204
    [again] = send(gateway, one)
    assert again == made and len(transcript(gateway, made["id"])["turns"]) == 2


def test_an_export_cannot_put_a_turn_of_one_thread_into_another(gateway):
    owner, other = new_thread(gateway), new_thread(gateway)
    turn = add_turn(gateway, owner)
    stolen = {"key": other, "turns": [{"key": turn["id"], "role": "user", "content": "x"}]}
    refused(gateway.http.post("/import", json=batch("agent-gateway", stolen)), 409, "turn belongs to another thread",
            id=turn["id"])
    assert transcript(gateway, other)["turns"] == []


@pytest.mark.parametrize(("body", "error"), [
    (batch("", thread("a")), "source must have 1 to 64 bytes"),
    (batch("x" * 65, thread("a")), "source must have 1 to 64 bytes"),
    (batch("notes", thread("")), "threads[0].key must have 1 to 512 bytes"),
    (batch("notes", thread("k" * 513)), "threads[0].key must have 1 to 512 bytes"),
    (batch("notes", {"key": "a", "turns": [{"key": "", "role": "user", "content": ""}]}),
     "threads[0].turns[0].key must have 1 to 512 bytes"),
    (batch("agent-gateway", thread("no-id")), "threads[0].key must be an id of this program"),
    (batch("notes", *[{"key": str(number), "turns": []} for number in range(1001)]), "threads must be at most 1000"),
], ids=["no source", "long source", "no key", "long key", "no turn key", "foreign id", "many threads"])
def test_an_invalid_batch_is_refused(gateway, body, error):
    refused(gateway.http.post("/import", json=body), 400, error)


def test_an_unknown_project_is_404_and_nothing_is_written(gateway, new_name):
    one, other = thread(new_name("first"), "a"), thread(new_name("second"), "a", project_id=UNKNOWN_ID)
    refused(gateway.http.post("/import", json=batch("notes", one, other)), 404, "project not found")
    assert send(gateway, one)[0]["created"]


def test_import_needs_the_token(gateway):
    assert gateway.anonymous.post("/import", json=batch("notes")).status_code == 401


def test_a_transcript_is_read_page_by_page_oldest_first(gateway, new_name):
    [made] = send(gateway, thread(new_name("long"), *(str(number) for number in range(40))))
    seen, after = [], None
    while True:
        page = transcript(gateway, made["id"], limit=7, **({"after": after} if after else {}))
        assert len(page["turns"]) <= 7
        seen += [turn["content"] for turn in page["turns"]]
        after = page["next"]
        if after is None:
            break
    assert seen == [str(number) for number in range(40)]


def test_a_transcript_holds_turns_that_were_added_one_by_one(gateway):
    thread_id = new_thread(gateway)
    for number in range(35):
        add_turn(gateway, thread_id, str(number))
    page = transcript(gateway, thread_id, limit=20)
    rest = transcript(gateway, thread_id, after=page["next"])
    assert [turn["content"] for turn in page["turns"] + rest["turns"]] == [str(number) for number in range(35)]


def test_after_must_be_a_turn_of_the_thread(gateway):
    thread_id = new_thread(gateway)
    refused(gateway.http.get(f"/threads/{thread_id}/transcript", params={"after": UNKNOWN_ID}), 400,
            "after must be a turn of this thread")
    refused(gateway.http.get(f"/threads/{UNKNOWN_ID}/transcript"), 404, "thread not found")
