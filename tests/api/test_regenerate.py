"""Regenerated answers, and forks at superseded ones.

See docs/contract/chat.md#answering-again.
"""

from checks import accepted, refused
from extensions import toggle


def new_thread(gateway):
    """Creates a thread with a title, so that no model is asked for one."""
    return accepted(gateway.http.post("/threads", json={"title": "a title"}), 201)


def turns(gateway, thread):
    return accepted(gateway.http.get(f"/threads/{thread['id']}/turns"))


def regenerate(talker, turn_id, question, **body):
    """Regenerates the answer to the turn and waits for it."""
    talker.answers("again")
    with talker.gateway.events(question["thread_id"]) as events:
        turn = accepted(talker.gateway.http.post(f"/turns/{turn_id}/regenerate", json=body), 201)
        run = events.run(turn["id"])
    assert run[-1]["type"] == "finish" and run[-1]["finishReason"] == "stop", run
    return run


def test_answer_is_regenerated_by_its_agent_and_model(talker, new_name):
    body = {"type": "agent", "name": new_name("bard"), "description": "", "enabled": True,
            "definition": {"systemPrompt": "Speak only in verse."}}
    bard = accepted(talker.gateway.http.post("/extensions", json=body), 201)
    thread = new_thread(talker.gateway)
    turn = talker.says(thread, "hello", answer="O!", agentId=bard["name"], model=f"{talker.provider}/chosen-1")
    answer = turns(talker.gateway, thread)[0]
    assert answer["metadata"]["agent_id"] == bard["id"]
    assert answer["metadata"]["named_model"] == f"{talker.provider}/chosen-1"
    for turn_id in (turn["id"], turn["id"], answer["id"]):
        regenerate(talker, turn_id, turn)
        assert "Speak only in verse." in talker.system() and talker.asked_model() == "chosen-1"
    toggle(talker.gateway, bard)
    regenerate(talker, turn["id"], turn)
    assert "Speak only in verse." not in talker.system() and talker.asked_model() == "chosen-1"


def test_answer_is_regenerated_by_the_agents_current_model(talker):
    thread = new_thread(talker.gateway)
    turn = talker.says(thread, "hello", answer="hi")
    regenerate(talker, turn["id"], turn)
    assert talker.asked_model() == "talker-1" and "named_model" not in turns(talker.gateway, thread)[0]["metadata"]


def test_answer_to_a_deleted_question_cannot_be_regenerated(talker):
    thread = new_thread(talker.gateway)
    talker.says(thread, "first", answer="one")
    second = talker.says(thread, "second", answer="two")
    answer = turns(talker.gateway, thread)[0]
    assert talker.gateway.http.delete(f"/turns/{second['id']}").status_code == 204
    refused(talker.gateway.http.post(f"/turns/{answer['id']}/regenerate"), 404, "turn not found")


def test_fork_at_a_superseded_answer_continues_from_it(talker):
    thread = new_thread(talker.gateway)
    turn = talker.says(thread, "one", answer="first try")
    old = turns(talker.gateway, thread)[0]
    regenerate(talker, turn["id"], turn)
    fork = accepted(talker.gateway.http.post(f"/threads/{thread['id']}/fork", json={"turnId": old["id"]}), 201)
    assert [copy["metadata"] and copy["metadata"].get("superseded") for copy in turns(talker.gateway, fork)] == [None] * 2
    talker.says(fork, "two", answer="yes")
    assert talker.conversation() == [("user", "one"), ("assistant", "first try"), ("user", "two")]


def test_chosen_model_is_used_by_later_regenerations(talker):
    thread = new_thread(talker.gateway)
    turn = talker.says(thread, "hello", answer="hi")
    regenerate(talker, turn["id"], turn, model=f"{talker.provider}/chosen-1")
    assert talker.asked_model() == "chosen-1"
    regenerate(talker, turn["id"], turn)
    assert talker.asked_model() == "chosen-1"


def test_edited_question_replaces_the_original(talker):
    thread = new_thread(talker.gateway)
    talker.says(thread, "hello", answer="hi")
    turn = talker.says(thread, "a plum?", answer="no")
    answer = turns(talker.gateway, thread)[0]
    with talker.gateway.events(thread["id"]) as events:
        talker.answers("yes")
        edited = accepted(talker.gateway.http.post(f"/turns/{answer['id']}/regenerate", json={"content": "a pear?"}), 201)
        created = events.until(lambda event: event["type"] == "turn-created")[-1]
        events.run(edited["id"])
    assert created["turn"] == edited and edited["content"] == "a pear?"
    assert edited["id"] != turn["id"] and edited["metadata"] == {"replaces": turn["id"]}
    assert talker.conversation() == [("user", "hello"), ("assistant", "hi"), ("user", "a pear?")]
    listed = turns(talker.gateway, thread)
    assert [(each["content"], (each["metadata"] or {}).get("superseded", False)) for each in listed] == [
        ("yes", False), ("a pear?", False), ("no", True), ("a plum?", True), ("hi", False), ("hello", False)]


def test_edited_question_keeps_its_files(talker):
    thread = new_thread(talker.gateway)
    file = accepted(talker.gateway.http.post("/files?name=list.txt", content=b"pears",
                                             headers={"content-type": "text/plain"}), 201)
    turn = talker.says(thread, "how many?", answer="one", attachments=[file["id"]])
    regenerate(talker, turn["id"], turn, content="which ones?")
    assert turns(talker.gateway, thread)[1]["metadata"] == {**turn["metadata"], "replaces": turn["id"]}
    assert "pears" in talker.conversation()[-1][1]


def test_new_answer_is_read_instead_of_a_summary_of_the_former_one(talker):
    thread = new_thread(talker.gateway)
    for number in range(30):
        body = {"role": "assistant" if number % 2 else "user", "content": f"{number}: {'x' * 3000}"}
        accepted(talker.gateway.http.post(f"/threads/{thread['id']}/turns", json=body), 201)
    talker.says(thread, "Go on.", answer="Done.")
    first_kept = talker.conversation()[1][1]
    questions = [turn for turn in reversed(turns(talker.gateway, thread)) if turn["role"] == "user"]
    last_summarised = questions[[turn["content"] for turn in questions].index(first_kept) - 1]
    regenerate(talker, last_summarised["id"], last_summarised)
    talker.says(thread, "And now?", answer="Done.")
    assert ("assistant", "again") in talker.conversation()


def test_bad_bodies_are_refused(talker):
    turn = talker.says(new_thread(talker.gateway), "hello", answer="hi")
    for body, error in (({"content": 7}, "content must be a string"), ({"model": []}, "model must be a string")):
        refused(talker.gateway.http.post(f"/turns/{turn['id']}/regenerate", json=body), 400, error)
