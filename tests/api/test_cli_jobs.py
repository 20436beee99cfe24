"""agw run and agw jobs.

See docs/jobs.md and docs/command-line.md#commands.
"""

import json
import re
import subprocess

import pytest

from checks import PATIENCE
from gateway import BINARY
from jobs import ended, new_job, rows, run, turns
from stubs.provider import Fault


def command(gateway, *arguments, status=0):
    done = gateway.command(*arguments)
    assert done.returncode == status, f"exit status {done.returncode}\n{done.stdout}\n{done.stderr}"
    return done.stdout if status == 0 else done.stderr


def follow(gateway, job, *options):
    return subprocess.Popen([str(BINARY), "run", job["name"], "--follow", *options], stdout=subprocess.PIPE,
                            stderr=subprocess.PIPE, text=True, env=gateway.variables())


@pytest.mark.parametrize("arguments", [["run", "x"], ["jobs"]], ids=" ".join)
def test_exit_status_without_a_gateway_is_4(make_gateway, arguments):
    assert "agw serve" in command(make_gateway(), *arguments, status=4)


@pytest.mark.parametrize("arguments", [["run"], ["run", "a", "b"], ["jobs", "a", "b"], ["jobs", "--limit", "0"]],
                         ids=" ".join)
def test_exit_status_of_wrong_usage_is_2(gateway, arguments):
    command(gateway, *arguments, status=2)


def test_job_is_started(gateway, new_name):
    job = new_job(gateway, new_name("started"))
    started = json.loads(command(gateway, "run", job["name"], "--json"))
    assert (started["job"], started["dry"], started["status"]) == (job["name"], False, "started")
    row = ended(gateway, job)[0]
    assert (row["status"], row["trigger"], row["thread_id"]) == ("completed", "manual", started["threadId"])


def test_job_dry_run(gateway, new_name):
    job = new_job(gateway, new_name("dry"))
    command(gateway, "run", job["id"], "--dry")
    assert ended(gateway, job)[0]["dry"] is True


def test_unknown_job_is_reported(gateway):
    assert "job not found" in command(gateway, "run", "nobody-knows-it", status=1)
    assert "job not found" in command(gateway, "run", "nobody-knows-it", "--follow", status=1)


def test_output_of_a_run_is_followed(talker, new_name):
    job = new_job(talker.gateway, new_name("followed"))
    held = talker.holds("Half", " of")
    running = follow(talker.gateway, job)
    assert running.stdout.read(len("Half of")) == "Half of"
    held.release(" it \x1b[31m")
    out, _ = running.communicate(timeout=PATIENCE)
    assert running.returncode == 0 and out == " it \\x1b[31m\n"


def test_runs_started_at_once_are_each_followed_by_their_own_command(gateway, new_name):
    job = new_job(gateway, new_name("followed"), concurrency="queue")
    running = [follow(gateway, job, "--json") for _ in range(4)]
    followed = {json.loads(each.communicate(timeout=PATIENCE)[0])["id"] for each in running}
    assert followed == {row["id"] for row in rows(gateway, job)} and len(followed) == 4


def test_failed_run_is_exit_status_1(talker, new_name):
    talker.stub.script(Fault(401, "who are you"))
    job = new_job(talker.gateway, new_name("failing"))
    assert "who are you" in command(talker.gateway, "run", job["name"], "--follow", status=1)


def test_run_skipped_by_its_precheck_is_not_a_failure(gateway, new_name):
    job = new_job(gateway, new_name("skipped"), precheck="exit 1")
    done = gateway.command("run", job["name"], "--follow")
    assert done.returncode == 0 and "The run was skipped: the precheck found nothing to do" in done.stderr, done.stderr


def test_followed_run_as_json(talker, new_name):
    job = new_job(talker.gateway, new_name("followed"))
    output = json.loads(command(talker.gateway, "run", job["name"], "--follow", "--json"))
    assert output == rows(talker.gateway, job)[0] and output["status"] == "completed"
    talker.stub.script(Fault(401, "who are you"))
    failed = talker.gateway.command("run", job["name"], "--follow", "--json")
    assert failed.returncode == 1 and "who are you" in failed.stderr
    assert json.loads(failed.stdout) == rows(talker.gateway, job)[0]


def test_stopped_run_is_exit_status_1(talker, new_name):
    job = new_job(talker.gateway, new_name("stopped"))
    talker.holds("Half")
    running = follow(talker.gateway, job)
    assert running.stdout.read(4) == "Half"
    row = rows(talker.gateway, job)[0]
    talker.gateway.http.post(f"/runs/{row['id']}/stop")
    _, errors = running.communicate(timeout=PATIENCE)
    assert running.returncode == 1 and "stopped" in errors


def test_run_is_followed_across_a_gateway_restart(own_talker, new_name):
    gateway = own_talker.gateway
    job = new_job(gateway, new_name("cut"))
    own_talker.holds("Half")
    running = follow(gateway, job)
    assert running.stdout.read(4) == "Half"
    gateway.kill()
    gateway.start()
    _, errors = running.communicate(timeout=PATIENCE)
    assert running.returncode == 1 and "interrupted" in errors


def test_jobs_are_listed_with_times_and_results(gateway, new_name):
    job = new_job(gateway, new_name("listed"), trigger={"type": "cron", "expression": "0 9 * * *"})
    output = command(gateway, "jobs")
    line = next(line for line in output.splitlines() if job["name"] in line)
    assert "0 9 * * *" in line and "never ran" in line
    assert re.search(r" 20\d\d-\d\d-\d\d 09:00, (20\d\d-)?\d\d-\d\d 09:00, (20\d\d-)?\d\d-\d\d 09:00 ", line), line
    listed = {one["name"]: one for one in json.loads(command(gateway, "jobs", "--json"))}
    assert len(listed[job["name"]]["next_due"]) == 5


def test_jobs_are_listed_with_their_triggers(gateway, new_name):
    starts = {
        "on turn.created": {"type": "event", "event": "turn.created", "filter": {"thread_id": "none"}},
        "webhook": {"type": "webhook", "secret": "It's a secret"},
    }
    for text, trigger in starts.items():
        on, off = (new_job(gateway, new_name("job"), trigger, enabled=enabled) for enabled in (True, False))
        lines = command(gateway, "jobs").splitlines()
        assert any(re.fullmatch(f"{on['name']} +{text} +never ran *", line) for line in lines), lines
        assert any(re.fullmatch(f"{off['name']} +{text} \\(disabled\\) +never ran *", line) for line in lines), lines
    manual = new_job(gateway, new_name("job"), enabled=False)
    lines = command(gateway, "jobs").splitlines()
    assert any(re.fullmatch(f"{manual['name']} +\\(disabled\\) +never ran *", line) for line in lines), lines


def test_job_list_shows_success_rate_and_duration(gateway, new_name):
    good, bad = new_job(gateway, new_name("good")), new_job(gateway, new_name("bad"), prompt_file="gone.md")
    for job in (good, bad, good):
        run(gateway, job)
        ended(gateway, job)
    ended(gateway, good, 2)
    lines = command(gateway, "jobs").splitlines()
    line = {job["name"]: next(line for line in lines if line.startswith(job["name"] + " ")) for job in (good, bad)}
    assert re.search(r"completed +100 % +[▁▂▃▄▅▆▇█]{2}$", line[good["name"]]), line
    assert re.search(r"failed +0 % +[▁▂▃▄▅▆▇█]$", line[bad["name"]]), line


def test_runs_of_a_job_are_listed(gateway, new_name):
    job = new_job(gateway, new_name("ran"))
    command(gateway, "run", job["name"])
    row = ended(gateway, job)[0]
    assert row["id"] in command(gateway, "jobs", job["name"]) and turns(gateway, row["thread_id"])
    assert json.loads(command(gateway, "jobs", job["name"], "--json", "--limit", "5")) == [row]
    assert "job not found" in command(gateway, "jobs", "nobody-knows-it", status=1)
