"""Prechecks: commands that decide whether a job's run is needed.

See docs/contract/jobs.md#starting-a-job.
"""

from checks import accepted
from jobs import chat_stop, ended, new_job, rows, run, statuses, wait_for
from tools import turns_of


def test_exit_status_0_runs_the_job_with_the_output_in_its_prompt(own_talker, new_name):
    job = new_job(own_talker.gateway, new_name("mail"), prompt="Answer these.", precheck="echo 3 new messages")
    own_talker.answers("Answered.")
    started = run(own_talker.gateway, job)
    row, = ended(own_talker.gateway, job)
    assert row["status"] == "completed" and started["threadId"] == row["thread_id"]
    prompt, = turns_of(own_talker.gateway, {"id": row["thread_id"]}, "user")
    assert prompt["content"].startswith("Answer these.\n\n") and "\n\n3 new messages\n" in prompt["content"]
    assert own_talker.conversation()[-1] == ("user", prompt["content"])


def test_exit_status_1_skips_the_run_without_a_model(own_talker, new_name):
    job = new_job(own_talker.gateway, new_name("mail"), precheck="echo nothing; exit 1")
    with own_talker.gateway.events() as events:
        started = run(own_talker.gateway, job)
        event = events.until(lambda event: event["type"] == "job-finished")[-1]
    row, = ended(own_talker.gateway, job)
    assert (row["status"], row["error"]) == ("skipped", "the precheck found nothing to do")
    assert event["run"] == row, "clients that wait for the run must get the event"
    assert turns_of(own_talker.gateway, {"id": started["threadId"]}) == []
    assert own_talker.request_count() == 0


def test_another_exit_status_fails_the_run(own_talker, new_name):
    for command, why in (("echo broken; exit 2", "the precheck failed with exit status 2: broken"),
                         ("kill -9 $$", "the precheck failed with exit status 137")):
        job = new_job(own_talker.gateway, new_name("mail"), precheck=command)
        run(own_talker.gateway, job)
        row, = ended(own_talker.gateway, job)
        assert (row["status"], row["error"].strip()) == ("failed", why)
    assert own_talker.request_count() == 0


def test_precheck_runs_in_the_sandbox(own_talker, new_name):
    secret = own_talker.gateway.home / "secret.txt"
    secret.write_text("hush")
    job = new_job(own_talker.gateway, new_name("spy"), precheck=f"cat {secret} {own_talker.gateway.data}/token && exit 0; exit 1")
    run(own_talker.gateway, job)
    assert ended(own_talker.gateway, job)[0]["status"] == "skipped"


def test_precheck_reads_the_jobs_directory(own_talker, new_name):
    name = new_name("reader")
    job = new_job(own_talker.gateway, name, precheck='grep -q urgent "$JOB_DIRECTORY/list.txt"')
    directory = own_talker.gateway.data / "jobs" / name
    (directory / "list.txt").write_text("urgent\n")
    own_talker.answers("Done.")
    run(own_talker.gateway, job)
    assert ended(own_talker.gateway, job)[0]["status"] == "completed"


def test_stopping_a_run_ends_its_precheck(own_talker, new_name):
    marker = own_talker.gateway.data / "agents" / "assistant" / "workspace" / "began"
    job = new_job(own_talker.gateway, new_name("slow"), {"type": "event", "event": "thread.created"},
                  precheck="touch began; sleep 1000")
    accepted(own_talker.gateway.http.post("/threads", json={"title": "go"}), 201)
    wait_for(marker.exists)
    own_talker.gateway.stop()
    own_talker.gateway.start()
    row, = rows(own_talker.gateway, job)
    assert row["status"] == "stopped"


def test_stopping_the_thread_ends_a_precheck(own_talker, new_name):
    gateway = own_talker.gateway
    marker = gateway.data / "agents" / "assistant" / "workspace" / "began"
    job = new_job(gateway, new_name("slow"), precheck="touch began; sleep 1000")
    thread = run(gateway, job)["threadId"]
    wait_for(marker.exists)
    with gateway.events(thread) as events:
        assert chat_stop(gateway, thread) == {"status": "stopped", "threadId": thread}
        row = events.until(lambda event: event["type"] == "job-finished")[-1]["run"]
    assert row == rows(gateway, job)[0] and row["status"] == "stopped"
    assert chat_stop(gateway, thread) == {"status": "idle", "threadId": thread}
    assert own_talker.request_count() == 0


def test_replacing_a_run_ends_its_precheck(own_talker, new_name):
    gateway = own_talker.gateway
    marker = gateway.data / "agents" / "assistant" / "workspace" / "began"
    job = new_job(gateway, new_name("slow"), concurrency="replace", precheck="[ -e began ] || { touch began; sleep 1000; }")
    run(gateway, job)
    wait_for(marker.exists)
    run(gateway, job)
    assert statuses(ended(gateway, job, 2)) == ["completed", "stopped"]
    assert own_talker.request_count() == 1, "no model is asked for the replaced run"


def test_a_job_of_an_agent_has_no_precheck(own_talker, new_name):
    agent = next(one for one in accepted(own_talker.gateway.http.get("/extensions?type=agent")) if one["name"] == "assistant")
    body = {"type": "job", "name": new_name("own"), "description": "made by an agent", "enabled": True,
            "source": "agent", "owner_agent_id": agent["id"],
            "definition": {"agent_id": "assistant", "prompt": "Go.", "precheck": "exit 0"}}
    job = accepted(own_talker.gateway.http.post("/extensions", json=body), 201)
    run(own_talker.gateway, job)
    row, = ended(own_talker.gateway, job)
    assert row["status"] == "failed" and row["error"].startswith("a precheck runs only in jobs that a person made")
