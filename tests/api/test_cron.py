"""Schedules: the times of an expression, jobs that fire, and missed due times.

See docs/contract/jobs.md#schedules.
"""

import time
from datetime import datetime, timedelta, timezone

import pytest

from checks import PATIENCE, accepted, invalid
from extensions import toggle
from jobs import delete, ended, new_agent, new_job, new_job_of_deleted_agent, rows, wait_for

EACH_SECOND = {"type": "cron", "expression": "* * * * * *"}


def parsed(timestamp):
    return datetime.fromisoformat(timestamp.replace("Z", "+00:00"))


def times(gateway, expression, zone=None):
    params = {"expression": expression, **({"timezone": zone} if zone else {})}
    return accepted(gateway.http.get("/cron", params=params))["next"]


def fired(gateway, job, count, seconds=PATIENCE):
    """Waits until the job has completed this many scheduled runs. Returns all rows, oldest first."""
    def enough_rows():
        found = rows(gateway, job, limit=1000)
        return found if sum(row["status"] == "completed" for row in found) >= count else None

    return wait_for(enough_rows, seconds)[::-1]


def is_on_time(row):
    return row["started_at"] and parsed(row["started_at"]) - parsed(row["due_at"]) <= timedelta(seconds=1)


def disable(gateway, job):
    accepted(gateway.http.patch(f"/extensions/{job['id']}", json={"enabled": False}))


# GET /cron.


def test_expression_has_its_next_five_times(gateway):
    found = times(gateway, "*/5 * * * * *")
    assert len(found) == 5 and parsed(found[0]) > datetime.now(timezone.utc) - timedelta(seconds=1)
    assert all(parsed(later) - parsed(sooner) == timedelta(seconds=5) for sooner, later in zip(found, found[1:]))


def test_number_of_times_can_be_chosen(gateway):
    found = accepted(gateway.http.get("/cron", params={"expression": "@hourly", "limit": 30}))["next"]
    assert len(found) == 30 and parsed(found[-1]) - parsed(found[0]) == timedelta(hours=29)


def test_times_of_a_rare_day_end_with_the_year_9999(gateway):
    found = accepted(gateway.http.get("/cron", params={"expression": "0 0 * 2 0#5", "limit": 1000}))["next"]
    assert found == sorted(found) and len(found) > 200 and "9900" < found[-1] < "9999-12-31", found[-1]


def test_times_follow_the_given_zone(gateway):
    assert all(found.endswith("T03:30:00.000Z") for found in times(gateway, "0 9 * * *", "Asia/Kolkata"))
    assert all(found.endswith("T09:00:00.000Z") for found in times(gateway, "0 9 * * *"))


def test_unknown_host_zone_is_reported(make_gateway):
    def log_of(started):
        return "".join(file.read_text() for file in (started.data / "logs").iterdir())

    unusual = make_gateway(environment={"TZ": "EST5EDT,M3.2.0,M11.1.0"}).start()
    assert all(found.endswith("T09:00:00.000Z") for found in times(unusual, "0 9 * * *"))
    unusual.stop()
    stopped = make_gateway(environment={"TZ": "EST5EDT,M3.2.0,M11.1.0"}).start()
    stopped.stop()
    # The warning is logged even if the gateway is stopped immediately.
    assert "TZ is EST5EDT,M3.2.0,M11.1.0, which is not in the time zone database" in log_of(stopped)
    usual = make_gateway(environment={"TZ": ":Europe/Berlin"}).start()
    usual.stop()
    assert "time zone database" not in log_of(usual)


def test_macro_is_an_expression(gateway):
    assert all(found.endswith("T00:00:00.000Z") for found in times(gateway, "@daily"))


@pytest.mark.parametrize("expression", ["", "* * * *", "60 * * * *", "@reboot", "0 0 30 2 *", "0 0 31 4,6,9,11 *", "x"])
def test_invalid_or_never_firing_expression_is_refused(gateway, expression):
    invalid(gateway.http.get("/cron", params={"expression": expression}), "expression")


def test_expression_is_required(gateway):
    invalid(gateway.http.get("/cron"), "expression")


@pytest.mark.parametrize("zone", ["Mars/Olympus", "../../etc/passwd", "/etc/localtime", "utc+1"])
def test_unknown_zone_is_refused(gateway, zone):
    invalid(gateway.http.get("/cron", params={"expression": "@daily", "timezone": zone}), "timezone")


# Firing.


def test_job_fires_once_per_due_time(gateway, new_name):
    job = new_job(gateway, new_name("job"), EACH_SECOND, concurrency="queue")
    fired(gateway, job, 4)
    # Later runs may be delayed on a busy machine.
    wait_for(lambda: any(is_on_time(row) for row in rows(gateway, job, limit=1000)))
    disable(gateway, job)
    found = rows(gateway, job, limit=1000)[::-1]
    due = [parsed(row["due_at"]) for row in found]
    assert all(later - sooner == timedelta(seconds=1) for sooner, later in zip(due, due[1:]))
    assert all(row["trigger"] == "cron" and not row["dry"] and row["due_at"].endswith(":00.000Z"[3:]) for row in found)


def test_schedule_in_the_definition_fires(gateway, new_name):
    job = new_job(gateway, new_name("job"), schedule="* * * * * *")
    fired(gateway, job, 1)
    disable(gateway, job)


def test_trigger_overrides_the_schedule(gateway, new_name):
    job = new_job(gateway, new_name("job"), {"type": "cron", "expression": "0 0 1 1 *"}, schedule="* * * * * *")
    other = new_job(gateway, new_name("job"), EACH_SECOND)
    fired(gateway, other, 2)
    disable(gateway, other)
    assert rows(gateway, job) == []


def test_only_enabled_jobs_fire(gateway, new_name):
    off = new_job(gateway, new_name("job"), EACH_SECOND, enabled=False)
    on = new_job(gateway, new_name("job"), EACH_SECOND)
    fired(gateway, on, 2)
    assert rows(gateway, off) == []
    accepted(toggle(gateway, off))
    fired(gateway, off, 1)
    for job in (on, off):
        disable(gateway, job)


def test_disabled_deleted_or_changed_job_stops_firing(gateway, new_name):
    disabled, deleted, changed = (new_job(gateway, new_name("job"), EACH_SECOND) for _ in range(3))
    for job in (disabled, deleted, changed):
        fired(gateway, job, 1)
    disable(gateway, disabled)
    delete(gateway, deleted)
    accepted(gateway.http.patch(f"/extensions/{changed['id']}", json={"trigger": None}))
    before = [ended(gateway, job) for job in (disabled, changed)]
    control = new_job(gateway, new_name("job"), EACH_SECOND)
    fired(gateway, control, 2)
    disable(gateway, control)
    assert [ended(gateway, job) for job in (disabled, changed)] == before


def test_due_time_during_a_run_leaves_a_row(talker, new_name):
    gateway = talker.gateway
    answer = talker.holds("slow")
    job = new_job(gateway, new_name("job"), EACH_SECOND)
    assert answer.was_asked()
    skipped = wait_for(lambda: [row for row in rows(gateway, job) if row["status"] == "skipped"])[0]
    disable(gateway, job)
    assert (skipped["error"], skipped["trigger"]) == ("job is already running", "cron")
    assert skipped["thread_id"] is None and skipped["started_at"] is None and skipped["due_at"]
    answer.release()
    ended(gateway, job)


def test_missing_or_disabled_agent_or_owner_leaves_a_row(gateway, new_name):
    off = new_agent(gateway, new_name("off"), enabled=False)
    gone = new_name("gone")
    broken = {f"agent not found: {gone}": new_job_of_deleted_agent(gateway, new_name("job"), gone, EACH_SECOND),
              f"agent is disabled: {off['name']}": new_job(gateway, new_name("job"), EACH_SECOND, agent_id=off["name"]),
              "agent not found: none": new_job(gateway, new_name("job"), EACH_SECOND, owner_agent_id="none")}
    for error, job in broken.items():
        row = ended(gateway, job)[-1]
        disable(gateway, job)
        assert (row["status"], row["error"], row["trigger"]) == ("failed", error, "cron")


# Missed times.


def pause(gateway, job, seconds, meanwhile=lambda: None):
    """Stops the gateway for some seconds after the job's first run, and calls `meanwhile` in that time. Returns when it
    was stopped and when it was restarted."""
    fired(gateway, job, 1)
    gateway.stop()
    down = datetime.now(timezone.utc)
    meanwhile()
    time.sleep(seconds)  # Due times must pass on the wall clock.
    up = datetime.now(timezone.utc)
    gateway.start()
    return down, up


def rows_due(gateway, job, down, up):
    """Returns the rows that were due during the pause, oldest first. Excludes its edges: the times at which the gateway
    itself stopped and started are slightly inside."""
    return [row for row in rows(gateway, job, limit=1000)[::-1]
            if down + timedelta(seconds=0.5) < parsed(row["due_at"]) < up]


def test_missed_time_leaves_a_skipped_row(own_gateway, new_name):
    job = new_job(own_gateway, new_name("job"), EACH_SECOND, concurrency="queue")
    down, up = pause(own_gateway, job, 3)
    missed = wait_for(lambda: rows_due(own_gateway, job, down, up))
    assert [row["status"] for row in missed] == ["skipped"] * len(missed) and len(missed) >= 2
    assert all("missed while the gateway was down" in row["error"] for row in missed)
    found = fired(own_gateway, job, 3)
    due = [parsed(row["due_at"]) for row in found]
    assert all(later - sooner == timedelta(seconds=1) for sooner, later in zip(due, due[1:]))


def test_job_edited_on_disk_has_missed_times(own_gateway, new_name):
    job = new_job(own_gateway, new_name("job"), EACH_SECOND, concurrency="queue")
    file = own_gateway.data / "jobs" / job["name"] / "job.yaml"
    down, up = pause(own_gateway, job, 3, lambda: file.write_text(file.read_text() + "timeout_s: 60\n"))
    assert accepted(own_gateway.http.get(f"/extensions/{job['id']}"))["definition"]["timeout_s"] == 60
    missed = wait_for(lambda: rows_due(own_gateway, job, down, up))
    assert [row["status"] for row in missed] == ["skipped"] * len(missed) and len(missed) >= 2


def test_job_enabled_on_disk_has_no_missed_times(own_gateway, new_name):
    job = new_job(own_gateway, new_name("job"), EACH_SECOND, concurrency="queue")
    fired(own_gateway, job, 1)
    disable(own_gateway, job)
    file = own_gateway.data / "jobs" / job["name"] / "job.yaml"
    before = len(ended(own_gateway, job))
    pause(own_gateway, job, 2, lambda: file.write_text(file.read_text().replace("enabled: false", "enabled: true")))
    found = fired(own_gateway, job, before + 1)
    assert "skipped" not in [row["status"] for row in found]


def test_catch_up_once_runs_the_last_missed_time(own_gateway, new_name):
    job = new_job(own_gateway, new_name("job"), EACH_SECOND, concurrency="queue", missed="once")
    pause(own_gateway, job, 3)
    # Which missed time is the last depends on how long the gateway takes to start. Its rows show that.
    error = "missed while the gateway was down; a later missed time was run"
    missed = wait_for(lambda: [row for row in rows(own_gateway, job, limit=1000)
                               if (row["error"] or "").startswith(error)])
    last = parsed(missed[0]["due_at"]) + timedelta(seconds=1)
    ran = wait_for(lambda: [row for row in rows(own_gateway, job, limit=1000)
                            if parsed(row["due_at"]) == last and row["finished_at"]])
    assert len(missed) >= 2 and [row["status"] for row in ran] == ["completed"]


def test_disabled_job_has_no_missed_times(own_gateway, new_name):
    job = new_job(own_gateway, new_name("job"), EACH_SECOND, enabled=False)
    other = new_job(own_gateway, new_name("job"), EACH_SECOND)
    pause(own_gateway, other, 2)
    fired(own_gateway, other, 2)
    assert rows(own_gateway, job) == []
    accepted(toggle(own_gateway, job))
    assert fired(own_gateway, job, 1)[0]["status"] == "completed"


@pytest.mark.slow
def test_no_due_time_fires_twice_across_kills(own_gateway, new_name):
    job = new_job(own_gateway, new_name("job"), EACH_SECOND, concurrency="queue")
    for count in range(1, 21):
        fired(own_gateway, job, count)
        own_gateway.kill()
        own_gateway.start()
    found = fired(own_gateway, job, 21)
    disable(own_gateway, job)
    due = [parsed(row["due_at"]) for row in found]
    assert all(later - sooner == timedelta(seconds=1) for sooner, later in zip(due, due[1:])), due
