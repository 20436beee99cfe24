"""Threads that outgrow a model's window, and titles that a model finds (decisions, 5 and 13)."""

import pytest

from checks import accepted
from jobs import wait_for
from stubs.provider import Fault, Reply, down
from tools import asked, calls, new_agent, new_thread, of_kind, turns_of

SUMMARY = "They spoke of otters."


def is_summary(request):
    return "Sum it up" in str(request.json["messages"][0]["content"])


def summaries_of(talker):
    return [request for request in talker.stub.requests if is_summary(request)]


@pytest.fixture
def talker(own_talker):
    """The model sums up when it is asked to, and says `Done.` else."""
    own_talker.stub.always(lambda request: Reply(SUMMARY if is_summary(request) else "Done."))
    return own_talker


@pytest.fixture
def thread(talker):
    return new_thread(talker.gateway, new_agent(talker.gateway, "worker"), title="long")


def fill(gateway, thread, count, size=3000):
    for number in range(count):
        for role in ("user", "assistant"):
            text = f"{role} says number {number}. " + "x" * size
            accepted(gateway.http.post(f"/threads/{thread['id']}/turns", json={"role": role, "content": text}), 201)


def told(talker):
    return [message for message in talker.stub.requests[-1].json["messages"] if message["role"] != "system"]


def test_a_short_thread_is_shown_whole(talker, thread):
    fill(talker.gateway, thread, 3)
    asked(talker, thread)
    assert len(told(talker)) == 7 and not summaries_of(talker)


def test_older_turns_are_summed_up_for_the_model_and_stay(talker, thread):
    gateway = talker.gateway
    fill(gateway, thread, 14)
    with gateway.events(thread["id"]) as events:
        asked(talker, thread)
        updates = [event for event in events.drain() if event["type"] == "thread-updated"]
    assert any(event.get("compacted") is True and event["thread"]["id"] == thread["id"] for event in updates)
    messages = told(talker)
    assert SUMMARY in messages[0]["content"] and messages[0]["role"] == "user"
    assert "number 13" in str(messages) and "number 0." not in str(messages)
    assert "number 0." in str(talker.stub.requests[0].json["messages"])
    assert len(turns_of(gateway, thread)) == 30


def test_a_summary_is_made_once_and_used_again(talker, thread):
    fill(talker.gateway, thread, 14)
    for _ in range(3):
        asked(talker, thread)
        assert SUMMARY in told(talker)[0]["content"]
    assert len(summaries_of(talker)) == 1
    talker.gateway.restart()
    asked(talker, thread)
    assert len(summaries_of(talker)) == 1


def test_a_summary_is_summed_up_with_what_came_since(talker, thread):
    fill(talker.gateway, thread, 14)
    asked(talker, thread)
    fill(talker.gateway, thread, 14)
    asked(talker, thread)
    summaries = summaries_of(talker)
    assert len(summaries) == 2 and SUMMARY in str(summaries[1].json["messages"])


def test_what_a_person_deletes_is_not_in_a_summary_any_more(talker, thread):
    fill(talker.gateway, thread, 14)
    asked(talker, thread)
    first = turns_of(talker.gateway, thread)[0]
    assert talker.gateway.http.delete(f"/turns/{first['id']}").status_code == 204
    asked(talker, thread)
    summaries = summaries_of(talker)
    assert len(summaries) == 2 and "user says number 0." not in str(summaries[1].json["messages"])
    assert SUMMARY not in str(summaries[1].json["messages"])


def asks(talker, thread):
    """Asks in a long thread, and has the summary wait. Answers it, its request and the question."""
    held = talker.stub.hold()
    body = {"content": "Do it.", "threadId": thread["id"]}
    turn = accepted(talker.gateway.http.post("/chat", json=body), 201)
    request = talker.stub.wait_for_requests(1)[0]
    assert is_summary(request)
    return held, request, turn


@pytest.mark.parametrize("place", [0, -1])
def test_what_a_person_deletes_while_it_is_summed_up_is_in_no_later_summary(talker, thread, place):
    gateway = talker.gateway
    fill(gateway, thread, 14)
    with gateway.events(thread["id"]) as events:
        held, request, question = asks(talker, thread)
        beginnings = {turn["id"]: turn["content"].split(".")[0] + "." for turn in turns_of(gateway, thread)}
        told_of = [id for id, beginning in beginnings.items() if beginning in str(request.json["messages"])]
        assert gateway.http.delete(f"/turns/{told_of[place]}").status_code == 204
        held.release(SUMMARY)
        assert events.run(question["id"])[-1]["finishReason"] == "stop"
        assert not any(event.get("compacted") for event in events.drain())
    assert asked(talker, thread)[-1]["finishReason"] == "stop"
    again = str(summaries_of(talker)[1].json["messages"])
    assert beginnings[told_of[place]] not in again and SUMMARY not in again
    assert SUMMARY in told(talker)[0]["content"]


def test_a_stop_while_older_turns_are_summed_up_leaves_no_summary(talker, thread):
    gateway = talker.gateway
    fill(gateway, thread, 14)
    with gateway.events(thread["id"]) as events:
        held, _, question = asks(talker, thread)
        accepted(gateway.http.post("/chat/stop", json={"threadId": thread["id"]}))
        assert events.run(question["id"])[-1]["type"] == "stopped"
        assert not any(event.get("compacted") for event in events.drain())
    assert held.was_aborted() and len(talker.stub.requests) == 1
    asked(talker, thread)
    assert len(summaries_of(talker)) == 2
    assert "summary of what came before" not in str(summaries_of(talker)[1].json["messages"])
    assert SUMMARY in told(talker)[0]["content"]


def test_one_big_turn_hides_nothing_that_was_said_before_it(talker, thread):
    gateway = talker.gateway
    fill(gateway, thread, 2, size=10)
    body = {"role": "assistant", "content": "Here is all of it. " + "ü" * 200_000}
    accepted(gateway.http.post(f"/threads/{thread['id']}/turns", json=body), 201)
    fill(gateway, thread, 1, size=20)
    assert asked(talker, thread)[-1]["finishReason"] == "stop"
    summed_up = str(summaries_of(talker)[0].json["messages"])
    assert "user says number 0. " + "x" * 10 in summed_up and "Here is all of it." in summed_up
    messages = told(talker)
    assert SUMMARY in messages[0]["content"] and "Here is all of it." not in str(messages)
    assert "user says number 0. " + "x" * 20 in str(messages)
    asked(talker, thread)
    assert len(summaries_of(talker)) == 1 and SUMMARY in told(talker)[0]["content"]


def test_what_a_person_deletes_behind_the_summed_up_turns_leaves_the_summary(talker, thread):
    gateway = talker.gateway
    fill(gateway, thread, 14)
    asked(talker, thread)
    answer = turns_of(gateway, thread)[-1]
    assert gateway.http.delete(f"/turns/{answer['id']}").status_code == 204
    asked(talker, thread)
    assert len(summaries_of(talker)) == 1 and SUMMARY in told(talker)[0]["content"]


def test_a_fork_goes_on_from_the_summary_of_its_thread(talker, thread):
    gateway = talker.gateway
    fill(gateway, thread, 14)
    asked(talker, thread)
    fork = accepted(gateway.http.post(f"/threads/{thread['id']}/fork", json={}), 201)
    asked(talker, fork)
    messages = told(talker)
    assert SUMMARY in messages[0]["content"] and "number 13" in str(messages) and "number 0." not in str(messages)
    assert len(summaries_of(talker)) == 1
    first = turns_of(gateway, fork)[0]
    assert gateway.http.delete(f"/turns/{first['id']}").status_code == 204
    asked(talker, fork)
    assert len(summaries_of(talker)) == 2 and SUMMARY not in str(summaries_of(talker)[1].json["messages"])
    asked(talker, thread)
    assert len(summaries_of(talker)) == 2


def test_a_fork_at_a_turn_that_was_summed_up_has_no_summary_of_later_ones(talker, thread):
    gateway = talker.gateway
    fill(gateway, thread, 14)
    asked(talker, thread)
    point = turns_of(gateway, thread)[1]
    fork = accepted(gateway.http.post(f"/threads/{thread['id']}/fork", json={"turnId": point["id"]}), 201)
    asked(talker, fork)
    assert len(told(talker)) == 3 and SUMMARY not in str(told(talker))


def test_a_summary_says_how_many_turns_are_too_far_back_for_it(talker, thread):
    fill(talker.gateway, thread, 60)
    asked(talker, thread)
    assert SUMMARY in told(talker)[0]["content"]
    assert "turns of the conversation are too far back for this summary" in told(talker)[0]["content"]


def attached(gateway, size):
    response = gateway.http.post("/files", params={"name": "notes.txt"}, headers={"Content-Type": "text/plain"},
                                 content=b"Tom is a cat. " + b"y" * size)
    return accepted(response, 201)["id"]


def test_a_file_that_leaves_older_turns_no_room_has_them_summed_up(talker, thread):
    gateway = talker.gateway
    fill(gateway, thread, 8)
    asked(talker, thread, content="Read it.", attachments=[attached(gateway, 25_000)])
    messages = told(talker)
    assert SUMMARY in messages[0]["content"] and "Tom is a cat." in messages[-1]["content"]
    assert "number 7." in str(messages) and "number 0." not in str(messages)
    assert "number 0." in str(summaries_of(talker)[0].json["messages"])


def test_files_of_older_turns_give_way_before_any_turn_does(talker, thread):
    gateway = talker.gateway
    asked(talker, thread, content="Read it.", attachments=[attached(gateway, 25_000)])
    fill(gateway, thread, 8)
    asked(talker, thread)
    messages = told(talker)
    assert messages[0]["content"].startswith("Read it.") and len(messages) == 19 and not summaries_of(talker)
    assert "Tom is a cat." not in str(messages) and "notes.txt" in messages[0]["content"]


@pytest.fixture
def robust(talker):
    """A long thread of an agent whose fallback has a smaller window."""
    agent = new_agent(talker.gateway, "robust", model="stub/gpt-5", fallback_models=["stub/small"])
    thread = new_thread(talker.gateway, agent, title="long")
    fill(talker.gateway, thread, 14)
    return thread


def test_a_fallback_with_a_smaller_window_is_shown_what_fits_it(talker, robust):
    run = asked(talker, robust, *down())
    assert run[-1]["finishReason"] == "stop" and run[-1]["model"] == "stub/small"
    first, last = talker.stub.requests[0], talker.stub.requests[-1]
    assert first.json["model"] == "gpt-5" and "number 0." in str(first.json["messages"])
    assert last.json["model"] == "small" and SUMMARY in told(talker)[0]["content"]
    assert "number 13." in str(told(talker)) and "number 0." not in str(told(talker))
    asked(talker, robust)
    assert talker.stub.requests[-1].json["model"] == "gpt-5" and "number 0." in str(told(talker))


def test_a_fallback_with_a_smaller_window_goes_on_with_the_calls_that_were_made(talker, robust):
    run = asked(talker, robust, calls(("SearchTurns", {"query": "says"})), *down())
    assert run[-1]["finishReason"] == "stop" and run[-1]["model"] == "stub/small"
    messages = told(talker)
    assert SUMMARY in messages[0]["content"] and "number 0." not in str(messages[:-2])
    assert [message["role"] for message in messages[-3:]] == ["user", "assistant", "tool"]


# Models that take less than is known of them.


def size_of(request):
    return sum(len(str(message["content"])) for message in request.json["messages"] if message["role"] != "system")


def takes(talker, most):
    """Has the model refuse what is longer, and say what it sums up and what it is asked."""
    def answer(request):
        if size_of(request) > most:
            return Fault(400, "This model's maximum context length is 8192 tokens.", "context_length_exceeded")
        return Reply(SUMMARY if is_summary(request) else "Done.")
    talker.stub.always(answer)


@pytest.fixture
def overrated(talker):
    """A long thread of an agent whose model is said to have a large window."""
    thread = new_thread(talker.gateway, new_agent(talker.gateway, "overrated", model="stub/gpt-5"), title="long")
    fill(talker.gateway, thread, 14)
    return thread


def test_a_model_that_finds_the_conversation_too_long_is_shown_less_of_it(talker, overrated):
    gateway = talker.gateway
    takes(talker, 60_000)
    with gateway.events(overrated["id"]) as events:
        run = asked(talker, overrated)
        assert any(event.get("compacted") is True for event in events.drain())
    assert run[-1]["finishReason"] == "stop" and run[-1]["usage"]["input_tokens"] == 20
    assert [is_summary(request) for request in talker.stub.requests] == [False, True, False]
    assert SUMMARY in told(talker)[0]["content"] and "number 13." in str(told(talker))
    assert len([turn for turn in turns_of(gateway, overrated) if turn["role"] != "tool"]) == 30
    asked(talker, overrated)
    assert len(talker.stub.requests) == 4 and SUMMARY in told(talker)[0]["content"]


def test_what_a_model_was_found_to_take_is_remembered(talker, overrated):
    takes(talker, 60_000)
    asked(talker, overrated)
    other = new_thread(talker.gateway, new_agent(talker.gateway, "other", model="stub/gpt-5"), title="other")
    fill(talker.gateway, other, 14)
    talker.stub.requests.clear()
    assert asked(talker, other)[-1]["finishReason"] == "stop"
    assert [is_summary(request) for request in talker.stub.requests] == [True, False]
    assert all(size_of(request) <= 60_000 for request in talker.stub.requests)


def test_a_window_that_is_much_smaller_is_found_in_halves(talker, overrated):
    takes(talker, 20_000)
    assert asked(talker, overrated)[-1]["finishReason"] == "stop"
    refused = [size_of(request) for request in talker.stub.requests if size_of(request) > 20_000]
    assert refused == sorted(refused, reverse=True) and len(refused) <= 8
    assert "number 13." in str(told(talker)) and size_of(talker.stub.requests[-1]) <= 20_000


def test_what_an_answer_has_found_stays_when_the_conversation_is_cut(talker, overrated):
    takes(talker, 60_000)
    run = asked(talker, overrated, calls(("SearchTurns", {"query": "says"})))
    assert run[-1]["finishReason"] == "stop"
    messages = told(talker)
    assert SUMMARY in messages[0]["content"]
    assert [message["role"] for message in messages[-3:]] == ["user", "assistant", "tool"]


def test_a_model_to_which_everything_is_too_long_is_not_asked_for_ever(talker, overrated):
    takes(talker, 0)
    run = asked(talker, overrated)
    assert run[-1]["finishReason"] == "error"
    assert "maximum context length is 8192 tokens" in turns_of(talker.gateway, overrated)[-1]["metadata"]["error"]
    assert len([request for request in talker.stub.requests if not is_summary(request)]) <= 9


def test_a_question_that_is_too_long_alone_is_refused(talker):
    takes(talker, 1_000)
    thread = new_thread(talker.gateway, new_agent(talker.gateway, "overrated", model="stub/gpt-5"), title="new")
    assert asked(talker, thread, content="x" * 30_000)[-1]["finishReason"] == "error"
    assert len(talker.stub.requests) == 1


def test_a_model_whose_window_an_answer_alone_would_fill_is_asked_for_a_shorter_one(talker):
    """Some servers count what an answer may come to into the request."""
    def answer(request):
        most = request.json.get("max_completion_tokens") or request.json["max_tokens"]
        return Fault(400, "Please reduce the length of the messages or completion.") if most > 3_000 else Reply("Done.")

    talker.stub.always(answer)
    thread = new_thread(talker.gateway, new_agent(talker.gateway, "worker"), title="new")
    assert asked(talker, thread)[-1]["finishReason"] == "stop"
    assert len(talker.stub.requests) == 3
    assert asked(talker, thread)[-1]["finishReason"] == "stop"
    assert len(talker.stub.requests) == 4, "it is remembered"


def test_a_summary_counts_into_the_run(talker, thread):
    fill(talker.gateway, thread, 14)
    assert asked(talker, thread)[-1]["usage"]["input_tokens"] == 20


def test_without_a_model_older_turns_are_summed_up_by_rule(gateway, name):
    thread = new_thread(gateway, new_agent(gateway, name("offline")), title="long")
    fill(gateway, thread, 60)
    with gateway.events(thread["id"]) as events:
        turn = accepted(gateway.http.post("/chat", json={"content": "hello", "threadId": thread["id"]}), 201)
        assert events.run(turn["id"])[-1]["finishReason"] == "stop"


def test_a_run_whose_results_outgrow_the_window_goes_on(talker, thread):
    gateway = talker.gateway
    other = new_thread(gateway, {"id": thread["agent_id"]}, title="source")
    fill(gateway, other, 60, size=200)
    replies = [calls(("SearchTurns", {"query": "says", "limit": 100 - number})) for number in range(10)]
    run = asked(talker, thread, *replies)
    assert run[-1]["finishReason"] == "stop" and len(of_kind(run, "tool-end")) == 10
    assert sum(len(str(message["content"])) for message in told(talker)) < 100_000


def test_a_run_whose_own_calls_outgrow_the_window_goes_on(talker):
    """What a model writes into files is in its conversation too."""
    def size_with_calls(request):
        calls_made = [call for message in request.json["messages"] for call in message.get("tool_calls", [])]
        return size_of(request) + sum(len(call["function"]["arguments"]) for call in calls_made)

    written = iter(range(8))

    def answer(request):
        if size_with_calls(request) > 60_000:
            return Fault(400, "This model's maximum context length is 8192 tokens.", "context_length_exceeded")
        number = None if is_summary(request) else next(written, None)
        return "Done." if number is None else calls(("Write", {"path": f"{number}.txt", "content": "w" * 15_000}))

    thread = new_thread(talker.gateway, new_agent(talker.gateway, "writer", model="stub/gpt-5"), title="writing")
    talker.stub.always(answer)
    run = asked(talker, thread)
    assert run[-1]["finishReason"] == "stop" and len(of_kind(run, "tool-end")) == 8
    assert asked(talker, thread)[-1]["finishReason"] == "stop"


def test_of_a_large_result_the_model_is_shown_as_much_as_fits(talker):
    gateway = talker.gateway
    folder = gateway.home / "plant"
    folder.mkdir()
    (folder / "large.txt").write_text("".join(f"line {number} of the file, {'x' * 60}\n" for number in range(2000)))
    (folder / "small.txt").write_text("Tom is a cat.")
    project = accepted(gateway.http.post("/projects", json={"name": "plant", "path": str(folder)}), 201)
    thread = new_thread(gateway, new_agent(gateway, "reader"), project_id=project["id"])
    run = asked(talker, thread, calls(("Read", {"path": "large.txt"}), ("Read", {"path": "small.txt"})))
    large, small = [message["content"] for message in told(talker) if message["role"] == "tool"]
    assert run[-1]["finishReason"] == "stop" and len(large) < max(len(end["output"]) for end in of_kind(run, "tool-end"))
    assert "line 0 of" in large and "line 200 of" in large and "bytes were left out here" in large
    assert len(large) > 20_000 and "Tom is a cat." in small and "left out" not in small
    thread = new_thread(gateway, {"id": thread["agent_id"]}, project_id=project["id"])
    asked(talker, thread, calls(("Read", {"path": "large.txt"})), calls(("Read", {"path": "large.txt", "offset": 500})))
    first, second = [message["content"] for message in told(talker) if message["role"] == "tool"]
    assert len(first) < 1_000 < 20_000 < len(second) and "line 499 of" in second


# Titles.


LONG = "Please tell me in all detail how often and with what I should feed the otters in winter"


def test_a_long_first_message_gets_its_title_from_the_model(talker):
    gateway = talker.gateway
    agent = new_agent(gateway, "worker")
    thread = new_thread(gateway, agent)
    talker.stub.title = "\"Feeding the otters.\""
    with gateway.events(thread["id"]) as events:
        asked(talker, thread, content=LONG)
        told = events.until(lambda event: event["type"] == "thread-updated" and
                            event["thread"]["title"] == "Feeding the otters")
    before, titled = [event["thread"] for event in told if event["type"] == "thread-updated"][-2:]
    assert titled["updated_at"] == before["updated_at"]
    asked(talker, thread, content=LONG)
    assert len(talker.stub.title_requests) == 1


def is_titled(talker, thread):
    return accepted(talker.gateway.http.get(f"/threads/{thread['id']}"))["title"] == "A title from the stub"


def test_an_answer_that_ran_out_of_steps_has_its_thread_titled(talker):
    thread = new_thread(talker.gateway, new_agent(talker.gateway, "worker", max_steps=1))
    run = asked(talker, thread, calls(("SearchTurns", {"query": "otters"})), content=LONG)
    assert run[-1]["finishReason"] == "max-steps"
    wait_for(lambda: is_titled(talker, thread))


def test_a_thread_whose_first_answer_failed_is_titled_after_the_next(talker):
    thread = new_thread(talker.gateway, new_agent(talker.gateway, "worker"))
    assert asked(talker, thread, Fault(400), content=LONG)[-1]["finishReason"] == "error"
    assert talker.stub.title_requests == []
    asked(talker, thread, content="Try again.")
    wait_for(lambda: is_titled(talker, thread))
    assert LONG in str(talker.stub.title_requests[0].json["messages"])


def test_a_title_that_the_model_could_not_make_is_looked_for_again(talker):
    thread = new_thread(talker.gateway, new_agent(talker.gateway, "worker"))
    talker.stub.title = lambda request: Fault(500)
    asked(talker, thread, content=LONG)
    wait_for(lambda: len(talker.stub.title_requests) == 1)
    talker.stub.title = "A title from the stub"
    wait_for(lambda: bool(asked(talker, thread)) and is_titled(talker, thread))


def test_a_short_first_message_is_the_title(talker):
    thread = new_thread(talker.gateway, new_agent(talker.gateway, "worker"))
    asked(talker, thread, content="Feed the otters")
    assert accepted(talker.gateway.http.get(f"/threads/{thread['id']}"))["title"] == "Feed the otters"
    assert talker.stub.title_requests == []


def test_no_title_is_asked_for_where_a_persons_ends_like_one_that_was_cut(talker):
    named = accepted(talker.gateway.http.post("/threads", json={"title": "Plans…"}), 201)
    asked(talker, named, content=LONG)
    other = accepted(talker.gateway.http.post("/threads", json={}), 201)
    asked(talker, other, content="Another: " + LONG)
    wait_for(lambda: is_titled(talker, other))
    assert len(talker.stub.title_requests) == 1
    assert accepted(talker.gateway.http.get(f"/threads/{named['id']}"))["title"] == "Plans…"


def test_a_persons_title_stays(talker, thread):
    gateway = talker.gateway
    asked(talker, thread, content=LONG)
    assert accepted(gateway.http.get(f"/threads/{thread['id']}"))["title"] == "long"


def test_a_title_costs_what_it_costs(make_gateway, stub):
    stub.always(Reply("Done."))
    gateway = make_gateway(config={"providers": {"stub": {"kind": "openai", "base_url": stub.openai_url,
                                                          "default_model": "talker-1"}}})
    (gateway.data / "prices.yaml").write_text("stub/talker-1: {input: 1000000, output: 0, cache_read: 0, cache_write: 0}\n")
    gateway.start()

    class talker:
        pass

    talker.gateway, talker.stub = gateway, stub
    run = asked(talker, new_thread(gateway, new_agent(gateway, "worker")), content=LONG)
    assert run[-1]["costUsd"] == 10
    wait_for(lambda: accepted(gateway.http.get("/costs"))["today"] == 20)
