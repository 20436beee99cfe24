"""An event caused by an acknowledged request is as durable as the request: its job has a row.

See docs/contract/jobs.md#events.
"""

import json
import threading
from concurrent.futures import ThreadPoolExecutor

import httpx

import http_client
from checks import PATIENCE, accepted
from jobs import new_job, rows, statuses

CLIENTS = 8
SIGNALS = 60
KILLS = 5


def job_for_signal(gateway, new_name, **definition):
    """Returns a job triggered by a kind of signal, and the body of a request that raises one."""
    kind = new_name("kind")
    job = new_job(gateway, new_name("job"), {"type": "event", "event": f"signal.{kind}"}, **definition)
    return job, {"kind": kind, "message": "look", "severity": "info"}


def send_signal(connection, signal):
    body = json.dumps(signal).encode()
    connection.request("POST /signals HTTP/1.1", "Content-Type: application/json", f"Content-Length: {len(body)}",
                       body=body)


def statuses_right_after(gateway, signal, job):
    """Raises the signal and reads the job's rows in one pipeline, so that nothing happens between the two responses."""
    with gateway.connect() as connection:
        send_signal(connection, signal)
        connection.request(f"GET /jobs/{job['name']}/runs HTTP/1.1")
        assert connection.response().status == 201
        return statuses(connection.response().json())


def test_row_exists_when_the_triggering_request_is_answered(talker, new_name):
    job, signal = job_for_signal(talker.gateway, new_name)
    answer = talker.holds("one")
    assert statuses_right_after(talker.gateway, signal, job) == ["started"]
    answer.release()


def test_row_of_a_skipped_run_exists_too(talker, new_name):
    job, signal = job_for_signal(talker.gateway, new_name, concurrency="forbid")
    answer = talker.holds("one")
    assert statuses_right_after(talker.gateway, signal, job) == ["started"]
    assert statuses_right_after(talker.gateway, signal, job) == ["skipped", "started"]
    answer.release()


def test_row_survives_a_kill_after_the_response(own_gateway, new_name):
    job, signal = job_for_signal(own_gateway, new_name)
    for count in range(1, KILLS + 1):
        connection = own_gateway.connect()
        send_signal(connection, signal)
        assert connection.socket.recv(1) == b"H"
        own_gateway.kill()
        connection.close()
        own_gateway.start()
        assert len(rows(own_gateway, job)) == count


def test_requests_answered_while_stopping_have_their_rows(own_gateway, new_name):
    job, signal = job_for_signal(own_gateway, new_name)
    enough = threading.Event()
    with ThreadPoolExecutor(1) as pool:
        sending = pool.submit(send_signals_until_the_gateway_stops, own_gateway, signal, enough)
        assert enough.wait(PATIENCE)
        assert own_gateway.stop() == 0
        acknowledged = sending.result()
    own_gateway.start()
    found = rows(own_gateway, job, limit=1000)
    assert acknowledged <= len(found) <= acknowledged + CLIENTS
    assert set(statuses(found)) <= {"completed", "stopped", "skipped"}
    assert {row["error"] for row in found if row["status"] == "skipped"} <= {"the gateway was stopping", "job is already running"}


def send_signals_until_the_gateway_stops(gateway, signal, enough):
    """Has clients raise signals one after the other. Returns how many were acknowledged; sets `enough` after SIGNALS of
    them."""
    acknowledged = []

    def client(_):
        with http_client.new_client(base_url=gateway.url, headers=gateway.authorization) as http:
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
