"""What a node had begun is ended by another one when it is killed, hangs, or loses its place."""

import signal
import time

from checks import accepted
from jobs import new_job
from test_changes import eventually
from tools import new_thread

SECONDS_OF_A_TAKE_OVER = 12 + 20  # ten that a lease is good, two to look and to end runs; what a busy machine takes


def started(node):
    """A thread in which the node answers, after the first piece of the answer."""
    thread = new_thread(node, accepted(node.http.get("/extensions/assistant")))
    with node.events(thread["id"]) as events:
        accepted(node.http.post("/chat", json={"content": "Count.", "threadId": thread["id"]}), 201)
        events.until(lambda event: event["type"] == "text-delta")
    return thread


def answers(node, thread):
    """How each answer ended, the newest first."""
    turns = accepted(node.http.get(f"/threads/{thread['id']}/turns"))
    return [turn["metadata"]["finish_reason"] for turn in turns if turn["role"] == "assistant"]


def test_the_runs_of_a_killed_node_end_at_another(nodes, stub):
    a, b = nodes
    threads = []
    for _ in range(5):
        stub.hold("one ", "two")
        threads.append(started(a))
    stub.hold("one ", "two")
    job = new_job(a, "worker")
    accepted(a.http.post("/run/worker"), 202)
    eventually(lambda: accepted(a.http.get("/jobs/worker/runs"))[0]["status"], "started")
    run = accepted(a.http.get("/jobs/worker/runs"))[0]
    eventually(lambda: b.http.get(f"/jobs/{job['id']}/runs").status_code, 200)
    a.kill()
    waited = max(eventually(lambda thread=thread: answers(b, thread), ["interrupted"]) for thread in threads)
    print(f"taken over after {waited / 1000:.1f} s")
    assert waited < SECONDS_OF_A_TAKE_OVER * 1000
    eventually(lambda: [(row["id"], row["status"]) for row in accepted(b.http.get("/jobs/worker/runs"))],
               [(run["id"], "interrupted")])
    a.start()
    assert all(answers(a, thread) == ["interrupted"] for thread in threads)
    assert accepted(b.http.get("/extensions/assistant"))


def test_a_node_that_hung_writes_nothing_and_starts_anew(make_node, stub):
    a = make_node("a", arguments=["--restart", "exec"]).start()
    b = make_node("b").start()
    held = stub.hold("one ", "two")
    thread = started(a)
    a.process.send_signal(signal.SIGSTOP)
    eventually(lambda: answers(b, thread), ["interrupted"])
    held.release()
    a.process.send_signal(signal.SIGCONT)
    log = a.data / "logs" / "gateway.log"
    eventually(lambda: "this node restarts" in log.read_text(), True)

    def is_there():
        try:
            return a.http.get("/threads").status_code
        except OSError:
            return None
        except Exception as error:  # httpx has no class of its own for a server that has just gone
            return type(error).__name__
    eventually(is_there, 200)
    assert answers(a, thread) == answers(b, thread) == ["interrupted"]
    stub.hold("again").release()
    turn = accepted(a.http.post("/chat", json={"content": "Count.", "threadId": thread["id"]}), 201)
    eventually(lambda: answers(b, thread), ["stop", "interrupted"])
    assert turn["thread_id"] == thread["id"]


def test_nodes_are_not_taken_over_because_the_server_was_away(nodes, server):
    a, b = nodes
    server.stop()
    began = time.monotonic()
    server.start()
    names = [accepted(node.http.post("/threads", json={"title": f"after {time.monotonic() - began}"}), 201)["id"]
             for node in (a, b)]
    eventually(lambda: {thread["id"] for thread in accepted(b.http.get("/threads"))} >= set(names), True)
    for node in (a, b):
        assert "this node restarts" not in (node.data / "logs" / "gateway.log").read_text()


def test_kills_in_a_loop_lose_and_double_nothing(make_node, stub):
    """Each round one of two nodes is killed in the middle of an answer, and starts again or is taken over."""
    nodes = [make_node("a").start(), make_node("b").start()]
    threads = []
    for number in range(6):
        victim, other = nodes[number % 2], nodes[1 - number % 2]
        stub.hold("one ", "two")
        threads.append(started(victim))
        kept = accepted(victim.http.post("/threads", json={"title": f"kept {number}"}), 201)
        victim.kill()
        if number % 3 == 0:
            eventually(lambda: answers(other, threads[-1]), ["interrupted"])
        victim.start()
        eventually(lambda: answers(victim, threads[-1]), ["interrupted"])
        assert kept["id"] in {thread["id"] for thread in accepted(other.http.get("/threads"))}
    assert all(answers(nodes[0], thread) == ["interrupted"] for thread in threads)
