"""When a node is killed, hangs or loses its lease, another node ends its runs."""

import signal
import time

from checks import accepted
from jobs import new_job
from test_changes import eventually
from tools import new_thread

TAKE_OVER_SECONDS = 12 + 20  # 10 of the lease, and 2 to notice and to end runs; 20 more for a busy machine


def start_answer(node):
    """Has the node begin an answer, and returns its thread after the first delta."""
    thread = new_thread(node, accepted(node.http.get("/extensions/assistant")))
    with node.events(thread["id"]) as events:
        accepted(node.http.post("/chat", json={"content": "Count.", "threadId": thread["id"]}), 201)
        events.until(lambda event: event["type"] == "text-delta")
    return thread


def finish_reasons(node, thread):
    """Returns how each answer ended, newest first."""
    turns = accepted(node.http.get(f"/threads/{thread['id']}/turns"))
    return [turn["metadata"]["finish_reason"] for turn in turns if turn["role"] == "assistant"]


def test_the_runs_of_a_killed_node_end_at_another(nodes, stub):
    a, b = nodes
    threads = []
    for _ in range(5):
        stub.hold("one ", "two")
        threads.append(start_answer(a))
    stub.hold("one ", "two")
    job = new_job(a, "worker")
    accepted(a.http.post("/run/worker"), 202)
    eventually(lambda: accepted(a.http.get("/jobs/worker/runs"))[0]["status"], "started")
    run = accepted(a.http.get("/jobs/worker/runs"))[0]
    eventually(lambda: b.http.get(f"/jobs/{job['id']}/runs").status_code, 200)
    a.kill()
    waited = max(eventually(lambda thread=thread: finish_reasons(b, thread), ["interrupted"]) for thread in threads)
    print(f"taken over after {waited / 1000:.1f} s")
    assert waited < TAKE_OVER_SECONDS * 1000
    eventually(lambda: [(row["id"], row["status"]) for row in accepted(b.http.get("/jobs/worker/runs"))],
               [(run["id"], "interrupted")])
    a.start()
    assert all(finish_reasons(a, thread) == ["interrupted"] for thread in threads)
    assert accepted(b.http.get("/extensions/assistant"))


def test_a_hung_node_writes_nothing_and_restarts(make_node, stub):
    a = make_node("a", arguments=["--restart", "exec"]).start()
    b = make_node("b").start()
    held = stub.hold("one ", "two")
    thread = start_answer(a)
    a.process.send_signal(signal.SIGSTOP)
    eventually(lambda: finish_reasons(b, thread), ["interrupted"])
    held.release()
    a.process.send_signal(signal.SIGCONT)
    log = a.data / "logs" / "gateway.log"
    eventually(lambda: log.read_text().count("listening on"), 2)
    assert "this node restarts" in log.read_text()
    assert finish_reasons(a, thread) == finish_reasons(b, thread) == ["interrupted"]
    stub.hold("again").release()
    turn = accepted(a.http.post("/chat", json={"content": "Count.", "threadId": thread["id"]}), 201)
    eventually(lambda: finish_reasons(b, thread), ["stop", "interrupted"])
    assert turn["thread_id"] == thread["id"]


def test_a_restart_of_the_server_causes_no_take_over(nodes, server):
    a, b = nodes
    server.stop()
    began = time.monotonic()
    server.start()
    ids = [accepted(node.http.post("/threads", json={"title": f"after {time.monotonic() - began}"}), 201)["id"]
           for node in (a, b)]
    eventually(lambda: {thread["id"] for thread in accepted(b.http.get("/threads"))} >= set(ids), True)
    for node in (a, b):
        assert "this node restarts" not in (node.data / "logs" / "gateway.log").read_text()


def test_kills_in_a_loop_neither_lose_nor_duplicate_anything(make_node, stub):
    """In each round, one of two nodes is killed in the middle of an answer, and restarts or is taken over."""
    nodes = [make_node("a").start(), make_node("b").start()]
    threads = []
    for number in range(6):
        victim, other = nodes[number % 2], nodes[1 - number % 2]
        stub.hold("one ", "two")
        threads.append(start_answer(victim))
        created = accepted(victim.http.post("/threads", json={"title": f"kept {number}"}), 201)
        victim.kill()
        if number % 3 == 0:
            eventually(lambda: finish_reasons(other, threads[-1]), ["interrupted"])
        victim.start()
        eventually(lambda: finish_reasons(victim, threads[-1]), ["interrupted"])
        assert created["id"] in {thread["id"] for thread in accepted(other.http.get("/threads"))}
    assert all(finish_reasons(nodes[0], thread) == ["interrupted"] for thread in threads)
