"""An event that follows from an acknowledged request is as durable as the request: its job has a row."""

import json
import threading
from concurrent.futures import ThreadPoolExecutor

import httpx

from checks import PATIENCE, accepted
from jobs import new_job, rows, statuses

CLIENTS = 8
SIGNALS = 60
KILLS = 5


def job_of(gateway, name, **definition):
    """A job that waits for a kind of signal, and the body of a request that raises one."""
    kind = name("kind")
    job = new_job(gateway, name("job"), {"type": "event", "event": f"signal.{kind}"}, **definition)
    return job, {"kind": kind, "message": "look", "severity": "info"}


def send_signal(connection, signal):
    body = json.dumps(signal).encode()
    connection.request("POST /signals HTTP/1.1", "Content-Type: application/json", f"Content-Length: {len(body)}",
                       body=body)


def statuses_right_behind(gateway, signal, job):
    """Raises the signal and reads the job's rows by one pipeline: nothing comes between the two answers."""
    with gateway.connect() as connection:
        send_signal(connection, signal)
        connection.request(f"GET /jobs/{job['name']}/runs HTTP/1.1")
        assert connection.answer().status == 201
        return statuses(connection.answer().json())


def test_the_row_is_there_when_the_request_that_caused_the_event_is_answered(talker, name):
    job, signal = job_of(talker.gateway, name)
    answer = talker.holds("one")
    assert statuses_right_behind(talker.gateway, signal, job) == ["started"]
    answer.release()


def test_the_row_of_a_skipped_run_is_there_as_well(talker, name):
    job, signal = job_of(talker.gateway, name, concurrency="forbid")
    answer = talker.holds("one")
    assert statuses_right_behind(talker.gateway, signal, job) == ["started"]
    assert statuses_right_behind(talker.gateway, signal, job) == ["skipped", "started"]
    answer.release()


def test_a_kill_right_behind_the_answer_leaves_the_row(own, name):
    job, signal = job_of(own, name)
    for count in range(1, KILLS + 1):
        connection = own.connect()
        send_signal(connection, signal)
        assert connection.socket.recv(1) == b"H"
        own.kill()
        connection.close()
        own.start()
        assert len(rows(own, job)) == count


def test_each_event_of_a_request_that_is_answered_while_the_gateway_stops_has_its_row(own, name):
    job, signal = job_of(own, name)
    enough = threading.Event()
    with ThreadPoolExecutor(1) as pool:
        raising = pool.submit(signals_until_it_is_gone, own, signal, enough)
        assert enough.wait(PATIENCE)
        assert own.stop() == 0
        acknowledged = raising.result()
    own.start()
    found = rows(own, job, limit=1000)
    assert acknowledged <= len(found) <= acknowledged + CLIENTS
    assert set(statuses(found)) <= {"completed", "stopped", "skipped"}
    assert {row["error"] for row in found if row["status"] == "skipped"} <= {"the gateway was stopping", "job is already running"}


def signals_until_it_is_gone(gateway, signal, enough):
    """Clients that each raise one signal after the other. Answers how many were acknowledged; `enough` is set once
    there were SIGNALS of them."""
    acknowledged = []

    def client(_):
        with httpx.Client(base_url=gateway.url, headers=gateway.authorization, trust_env=False, timeout=PATIENCE) as http:
            try:
                while True:
                    acknowledged.append(accepted(http.post("/signals", json=signal), 201)["id"])
                    if len(acknowledged) >= SIGNALS:
                        enough.set()
            except httpx.TransportError:
                pass

    with ThreadPoolExecutor(CLIENTS) as pool:
        list(pool.map(client, range(CLIENTS)))
    return len(acknowledged)
