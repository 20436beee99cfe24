"""Schedules: punctuality, and the cost of thousands of them."""

import datetime
import subprocess
import time

from bench.harness import PROGRAMS, Gateway, Row, Upstream, folder, median, milliseconds

JOBS = 10_000
DUE_AT_ONCE = 1_000
SECONDS = 60
CHATS = 50
STARTS = 10


def new_job(gateway, name, expression, **members):
    return gateway.request("POST", "/extensions", {
        "type": "job", "name": name, "description": "a job", "enabled": True,
        "definition": {"agent_id": "assistant", "prompt": "Say hello.", **members},
        "trigger_def": {"type": "cron", "expression": expression}})


def runs_of(gateway, job):
    return gateway.request("GET", f"/jobs/{job}/runs?limit=1000")


def seconds_of(timestamp):
    return datetime.datetime.fromisoformat(timestamp.replace("Z", "+00:00")).timestamp()


def lateness(rows):
    return [seconds_of(row["started_at"]) - seconds_of(row["due_at"]) for row in rows if row["started_at"]]


def run_every_second(gateway):
    """Runs a job every second for a minute, and returns its runs."""
    new_job(gateway, "each-second", "* * * * * *", concurrency="queue", model="offline/librarian")
    time.sleep(SECONDS + 1)
    gateway.request("PATCH", "/extensions/each-second", {"enabled": False})
    return runs_of(gateway, "each-second")


def rows_of_lateness(rows, when):
    late = lateness(rows)
    due = sorted(seconds_of(row["due_at"]) for row in rows)
    complete = len(due) >= SECONDS and all(later - earlier == 1 for earlier, later in zip(due, due[1:]))
    yield Row(f"runs in a minute{when}, none missed or doubled", str(len(rows)), "-", "-", ">= 60", complete)
    mean = sum(late) / len(late)
    yield Row(f"lateness of a run{when}, mean", milliseconds(mean), "-", "-", "< 20 ms", mean < 0.020)
    yield Row(f"lateness of a run{when}, maximum", milliseconds(max(late)), "-", "-", "<= 250 ms", max(late) <= 0.250)


def punctual():
    """A job every second for a minute, also while 50 chats stream: the delay of its runs"""
    with folder() as home, Gateway(home) as gateway:
        yield from rows_of_lateness(run_every_second(gateway), "")
    with folder() as home, Upstream() as upstream, Gateway(home, upstream.port) as gateway:
        command = [PROGRAMS / "load_chat", gateway.port, gateway.token, f"bench/20x{20 * (SECONDS + 4)}", CHATS]
        with subprocess.Popen([str(part) for part in command], stdin=subprocess.PIPE, stdout=subprocess.DEVNULL,
                              text=True) as chats:
            chats.stdin.write("\n".join(gateway.new_threads(CHATS)))
            chats.stdin.close()
            rows = run_every_second(gateway)
            streamed = chats.poll() is None
            chats.wait()
        yield from rows_of_lateness(rows, f" during {CHATS} chats")
        yield Row(f"{CHATS} chats streamed the whole time", "yes" if streamed else "no", "-", "-", "yes", streamed)


def scheduled():
    """10,000 scheduled jobs: the start, the idle CPU; 1,000 of them due in the same second"""
    with folder() as home:
        with Gateway(home) as gateway:
            for number in range(JOBS):
                new_job(gateway, f"job-{number}", f"{number % 60} {number // 60 % 24} 1 1 *")
        starts = []
        for _ in range(STARTS):
            with Gateway(home) as gateway:
                starts.append(gateway.seconds_to_ready)
        yield Row("start with 10,000 jobs", milliseconds(median(starts)), "-", "-", "< 150 ms", median(starts) < 0.150)
        with Gateway(home) as gateway:
            gateway.wait_until_quiet()
            before = gateway.cpu_seconds()
            time.sleep(30)
            cpu = gateway.cpu_seconds() - before
            yield Row("idle CPU in 30 s with 10,000 jobs", milliseconds(cpu), "-", "-", "< 5 ms", cpu < 0.005)
            yield from run_simultaneously(gateway)


def run_simultaneously(gateway):
    due = datetime.datetime.now(datetime.timezone.utc) + datetime.timedelta(seconds=30)
    expression = f"{due.second} {due.minute} {due.hour} {due.day} {due.month} *"
    for number in range(DUE_AT_ONCE):
        new_job(gateway, f"due-{number}", expression)
    time.sleep(max(0, due.timestamp() - time.time()) + 10)
    rows = [row for number in range(DUE_AT_ONCE) for row in runs_of(gateway, f"due-{number}")]
    late = lateness(rows)
    complete = len(late) == DUE_AT_ONCE
    yield Row("1,000 due in one second: all started after", milliseconds(max(late)), "-", "-", "< 2 s",
              complete and max(late) < 2)
