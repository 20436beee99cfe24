"""Creates jobs, runs them and waits for them."""

import time

from checks import PATIENCE, accepted

ENDED = {"completed", "failed", "stopped", "skipped", "interrupted"}
ROW = {"id", "job", "thread_id", "trigger", "dry", "status", "due_at", "started_at", "finished_at", "duration_ms",
       "error", "usage", "cost_usd"}


def new_extension(gateway, type, name, definition, **members):
    body = {"type": type, "name": name, "description": f"the {name}", "definition": definition, **members}
    return accepted(gateway.http.post("/extensions", json=body), 201)


def new_agent(gateway, name, enabled=True, **definition):
    return new_extension(gateway, "agent", name, definition, enabled=enabled)


def new_job(gateway, name, trigger=None, enabled=True, **definition):
    """Creates a job, by default of the assistant and with a prompt."""
    definition = {"agent_id": "assistant", "prompt": f"Do the work of {name}.", **definition}
    members = {"trigger_def": trigger} if trigger else {}
    return new_extension(gateway, "job", name, definition, enabled=enabled, **members)


def new_job_of_deleted_agent(gateway, name, agent, trigger=None):
    """Creates a job whose agent, `agent`, has been deleted."""
    made = new_agent(gateway, agent)
    job = new_job(gateway, name, trigger, enabled=False, agent_id=agent)
    delete(gateway, made)
    return accepted(gateway.http.patch(f"/extensions/{job['id']}", json={"enabled": True}))


def run(gateway, job, **params):
    return accepted(gateway.http.post(f"/run/{job['name']}", params=params), 202)


def rows(gateway, job, **params):
    """Newest first."""
    return accepted(gateway.http.get(f"/jobs/{job['name']}/runs", params=params))


def stop_run(gateway, row):
    return accepted(gateway.http.post(f"/runs/{row['id']}/stop"))


def turns(gateway, thread_id):
    """Newest first."""
    return accepted(gateway.http.get(f"/threads/{thread_id}/turns", params={"limit": 1000}))


def delete(gateway, extension):
    response = gateway.http.delete(f"/extensions/{extension['id']}")
    assert response.status_code == 204, response.text


def wait_for(poll, seconds=PATIENCE):
    """Calls `poll` until it returns a true value, and returns that value. The interval grows with the time waited,
    because each call takes CPU that other tests need."""
    began = time.monotonic()
    while not (result := poll()):
        waited = time.monotonic() - began
        assert waited < seconds, f"not true within {seconds} s"
        time.sleep(min(0.005 + waited / 10, 0.1))
    return result


def ended(gateway, job, count=1, seconds=PATIENCE):
    """Waits until the job has at least `count` runs and all of them have ended. Returns the rows, newest first."""
    def all_ended():
        found = rows(gateway, job, limit=1000)
        return found if len(found) >= count and all(row["status"] in ENDED for row in found) else None

    return wait_for(all_ended, seconds)


def statuses(found):
    return [row["status"] for row in found]


def thread(gateway, thread_id):
    return accepted(gateway.http.get(f"/threads/{thread_id}"))


def chat_stop(gateway, thread_id):
    return accepted(gateway.http.post("/chat/stop", json={"threadId": thread_id}))


def job_directory(gateway, job):
    directory = gateway.data / "jobs" / job["name"]
    directory.mkdir(parents=True, exist_ok=True)
    return directory
