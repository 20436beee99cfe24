"""Each acknowledged write is stored once, whatever fails or hangs: the server, connections, nodes or clocks."""

import collections
import concurrent.futures
import contextlib
import datetime
import itertools
import os
import random
import signal
import threading

import pytest

from checks import PATIENCE, accepted, refused
from events import text_of
from gateway import HAS_ADDRESS_SANITIZER
from jobs import new_job, rows
from stubs.provider import Reply
from talker import text_of as content_of
from test_changes import eventually
from test_events import ask, assistant_thread, worker_thread
from test_process import preloaded
from test_take_over import finish_reasons
from tools import calls, turns_of


# The server.

class Writer(threading.Thread):
    """Adds turns at a node, one after the other. Requests that get 503 are sent again with the same key."""

    def __init__(self, node, thread):
        super().__init__(daemon=True)
        self.node, self.thread, self.stored, self.is_over, self.problem = node, thread, [], False, None

    def run(self):
        try:
            for number in itertools.count():
                if self.is_over:
                    return
                self.store(f"{self.name} {number}")
        except Exception as problem:  # reported by the test's own thread
            self.problem = problem

    def store(self, content):
        body, key = {"role": "user", "content": content}, {"Idempotency-Key": content}
        path = f"/threads/{self.thread['id']}/turns"
        while (response := self.node.http.post(path, json=body, headers=key)).status_code == 503:
            pass
        accepted(response, 201)
        self.stored.append(content)

    def wait_for_progress(self):
        """Waits until it has stored five more turns."""
        before = len(self.stored)
        eventually(lambda: self.problem is not None or len(self.stored) >= before + 5, True)
        assert self.problem is None, self.problem


def restart(server, _database):
    server.stop()
    server.start()


def crash(server, _database):
    """Ends all processes of the server without a message to clients and without a checkpoint."""
    server.stop(by=signal.SIGQUIT)
    server.start()


def cut(server, database):
    """Terminates all connections, some of them in the middle of a commit."""
    for _ in range(5):
        server.psql(database, "SELECT pg_terminate_backend(pid) FROM pg_stat_activity "
                              "WHERE datname = current_database() AND pid <> pg_backend_pid()")


@pytest.mark.parametrize("fault", [restart, crash, cut])
def test_acknowledged_writes_are_stored_once(nodes, server, database, fault):
    writers = [Writer(node, assistant_thread(node, title="a title")) for node in nodes for _ in range(2)]
    for writer in writers:
        writer.start()
    for _ in range(3):
        for writer in writers:
            writer.wait_for_progress()
        fault(server, database)
    for writer in writers:
        writer.wait_for_progress()
        writer.is_over = True
    for writer in writers:
        writer.join(PATIENCE)
        assert not writer.is_alive() and writer.problem is None, writer.problem
    found = collections.Counter(content for content, in server.psql(database, "SELECT content FROM turns"))
    assert found == collections.Counter(content for writer in writers for content in writer.stored)


# Nodes.

def test_a_tool_call_that_a_kill_interrupts_is_not_repeated(make_node, messages, stub):
    a, b = (make_node(name, events=messages.url()).start() for name in ("a", "b"))
    thread = worker_thread(a, b)
    workspace = a.data / "agents" / "worker" / "workspace"
    stub.script(calls(("Bash", {"command": "echo begun >> begun; sleep 600"})))
    ask(a, thread)
    eventually((workspace / "begun").exists, True)
    a.kill()
    eventually(lambda: finish_reasons(b, thread), ["interrupted"])
    a.start()
    stub.hold("again").release()
    ask(b, thread)
    eventually(lambda: finish_reasons(a, thread)[0], "stop")
    assert (workspace / "begun").read_text() == "begun\n"


def due_times(node, job):
    return [datetime.datetime.fromisoformat(row["due_at"]) for row in rows(node, job, limit=500)]


def assert_due_each_second(node, job, until):
    """Waits until there is exactly one due time in each second before `until`."""
    def gaps():
        times = sorted(due_times(node, job))
        return [str(later) for earlier, later in zip(times, times[1:])
                if earlier < until and later - earlier != datetime.timedelta(seconds=1)]
    eventually(lambda: max(due_times(node, job)) > until and gaps(), [])


def now():
    return datetime.datetime.now(datetime.UTC)


@contextlib.contextmanager
def hung(node):
    node.process.send_signal(signal.SIGSTOP)
    try:
        yield
    finally:
        node.process.send_signal(signal.SIGCONT)


def test_no_due_time_is_missed_or_repeated_while_nodes_stop_and_start(make_node, stub):
    """The job is due each second, so that the test covers as many due times as a usual job has in a month."""
    stub.always(Reply(text="Done.", deltas=1))
    a, b, c = (make_node(name, arguments=["--restart", "exec"]).start() for name in ("a", "b", "c"))
    job = new_job(a, "ticking", {"type": "cron", "expression": "* * * * * *"}, concurrency="forbid")

    def ticks():
        count = len(due_times(c, job))
        eventually(lambda: len(due_times(c, job)) >= count + 3, True)
    eventually(lambda: c.http.get(f"/extensions/{job['id']}").status_code, 200)
    for node in (a, b):
        ticks()
        node.kill()
        ticks()
        node.start()
        ticks()
        assert node.stop() == 0
        ticks()
        node.start()
    with hung(a):
        ticks()
    until = now()
    ticks()
    assert_due_each_second(c, job, until)


DAYS, SPEED = int(os.environ.get("AGW_TEST_DAYS", 0)), 3600


def accelerated(tmp_path):
    """Returns the environment of nodes whose wall clock runs SPEED times as fast from now on."""
    return preloaded(tmp_path, f"#define SPEED {SPEED}L\n#define BEGAN {int(now().timestamp())}L\n" + """
#include <sys/timerfd.h>
#include <time.h>
static const long second = 1000000000;
static struct timespec of_nanoseconds(long since) {
  struct timespec time = {BEGAN + since / second, since % second};
  return time;
}
static long nanoseconds(const struct timespec *time) { return (time->tv_sec - BEGAN) * second + time->tv_nsec; }
int clock_gettime(clockid_t clock, struct timespec *time) {
  static int (*real)(clockid_t, struct timespec *);
  if (!real) real = (int (*)(clockid_t, struct timespec *))dlsym(RTLD_NEXT, "clock_gettime");
  int result = real(clock, time);
  if (clock == CLOCK_REALTIME) *time = of_nanoseconds(nanoseconds(time) * SPEED);
  return result;
}
int timerfd_settime(int timer, int flags, const struct itimerspec *wanted, struct itimerspec *before) {
  static int (*real)(int, int, const struct itimerspec *, struct itimerspec *);
  if (!real) real = (int (*)(int, int, const struct itimerspec *, struct itimerspec *))dlsym(RTLD_NEXT, "timerfd_settime");
  struct itimerspec slowed = *wanted;
  if ((flags & TFD_TIMER_ABSTIME) && slowed.it_value.tv_sec > BEGAN)
    slowed.it_value = of_nanoseconds(nanoseconds(&slowed.it_value) / SPEED);
  return real(timer, flags, &slowed, before);
}
""")


def disrupt(node, name, fault, server, database):
    if fault == "hung":
        with hung(node):
            lease = f"SELECT FROM gateway_owner WHERE node = '{name}' AND lease_until > clock_timestamp()"
            eventually(lambda: server.psql(database, lease), [])
        return
    node.kill() if fault == "killed" else node.stop()
    node.start()


@pytest.mark.skipif(HAS_ADDRESS_SANITIZER, reason="the sanitizer reads the clock before dlsym works")
@pytest.mark.skipif(not DAYS, reason="set AGW_TEST_DAYS to the number of days: each takes half a minute")
def test_days_of_due_times_pass_while_nodes_stop_and_start(make_node, server, database, stub, tmp_path):
    stub.always(Reply(text="Done.", deltas=1))
    environment, arguments = accelerated(tmp_path), ["--restart", "exec"]
    nodes = {name: make_node(name, environment=environment, arguments=arguments).start() for name in ("a", "b", "c")}
    expressions = {"hourly": "0 * * * *", "daily": "30 3 * * *", "weekly": "0 9 * * 1"}
    jobs = {name: new_job(nodes["a"], name, {"type": "cron", "expression": expression, "timezone": "UTC"})
            for name, expression in expressions.items()}

    def due(name):
        found = server.psql(database, f"SELECT due_at FROM job_runs WHERE job_id = '{jobs[name]['id']}' ORDER BY 1")
        return [datetime.datetime.fromtimestamp(int(row[0]) / 1000, datetime.UTC) for row in found if row[0]]
    eventually(lambda: len(due("hourly")) > 0, True)
    began = due("hourly")[0]
    until = began + datetime.timedelta(days=DAYS)
    rng, faults = random.Random(33), collections.Counter()
    while (seen := due("hourly"))[-1] < until:
        name, fault = rng.choice("abc"), rng.choice(["killed", "killed", "stopped", "stopped", "hung"])
        disrupt(nodes[name], name, fault, server, database)
        faults[fault] += 1
        eventually(lambda: len(due("hourly")) >= len(seen) + 2, True)

    def expected(step, fits):
        times = (began + step * number for number in range(int((until - began) / step) + 1))
        return [time for time in times if fits(time)]
    minutes = datetime.timedelta(minutes=30)
    eventually(lambda: [each for each in due("hourly") if each <= until], expected(2 * minutes, lambda _: True))
    assert [each for each in due("daily") if began <= each <= until] == expected(
        minutes, lambda time: (time.hour, time.minute) == (3, 30))
    assert [each for each in due("weekly") if began <= each <= until] == expected(
        minutes, lambda time: (time.weekday(), time.hour, time.minute) == (0, 9, 0))
    statuses = server.psql(database, "SELECT status, count(*) FROM job_runs WHERE due_at IS NOT NULL GROUP BY 1")
    print(f"{DAYS} days: {dict(faults)} in turn; {dict(statuses)}")


@pytest.mark.skipif(HAS_ADDRESS_SANITIZER, reason="the sanitizer reads the clock before dlsym works")
@pytest.mark.parametrize("seconds", [5, 300])
def test_a_clock_that_is_ahead_is_harmless(make_node, messages, stub, tmp_path, seconds):
    ahead = preloaded(tmp_path, f"#define AHEAD {seconds}\n" + """
#include <sys/timerfd.h>
#include <time.h>
int clock_gettime(clockid_t clock, struct timespec *time) {
  static int (*real)(clockid_t, struct timespec *);
  if (!real) real = (int (*)(clockid_t, struct timespec *))dlsym(RTLD_NEXT, "clock_gettime");
  int result = real(clock, time);
  if (clock == CLOCK_REALTIME) time->tv_sec += AHEAD;
  return result;
}
int timerfd_settime(int timer, int flags, const struct itimerspec *wanted, struct itimerspec *before) {
  static int (*real)(int, int, const struct itimerspec *, struct itimerspec *);
  if (!real) real = (int (*)(int, int, const struct itimerspec *, struct itimerspec *))dlsym(RTLD_NEXT, "timerfd_settime");
  struct itimerspec shifted = *wanted;
  if ((flags & TFD_TIMER_ABSTIME) && shifted.it_value.tv_sec > 1000000000) shifted.it_value.tv_sec -= AHEAD;
  return real(timer, flags, &shifted, before);
}
""")
    stub.always(Reply(text="Done.", deltas=1))
    a = make_node("a", events=messages.url()).start()
    b = make_node("b", events=messages.url(), environment=ahead).start()
    thread = assistant_thread(a, title="a title")
    for node, other in ((a, b), (b, a)):
        with other.events(thread["id"]) as there:
            turn = ask(node, thread)
            assert text_of(there.run(turn["id"])) == "Done."
    job = new_job(b, "ticking", {"type": "cron", "expression": "* * * * * *"}, concurrency="forbid")
    eventually(lambda: a.http.get(f"/extensions/{job['id']}").status_code, 200)
    eventually(lambda: len(due_times(a, job)) > 12, True)
    eventually(lambda: max(due_times(a, job)) > now() + datetime.timedelta(seconds=seconds // 2), True)
    if seconds < 10:
        assert_due_each_second(a, job, now())
    for node in (a, b):
        log = (node.data / "logs" / "gateway.log").read_text()
        assert "is lost" not in log and "this node restarts" not in log


# Chats.

CHATS = int(os.environ.get("AGW_TEST_CHATS", 60))


def test_answers_of_many_chats_are_received_unchanged_at_other_nodes(make_node, messages, stub):
    nodes = [make_node(name, events=messages.url()).start() for name in ("a", "b", "c")]
    stub.always(lambda request: Reply(text=f"{content_of(request.json['messages'][-1])}: ä 日本 \U0001f600 " * 5, deltas=10))
    threads = [assistant_thread(nodes[0], title="a title") for _ in range(CHATS)]
    sockets = [node.events() for node in nodes]

    def chat(number):
        return ask(nodes[number % 3], threads[number], f"question {number}")
    with concurrent.futures.ThreadPoolExecutor(8) as pool:
        turns = list(pool.map(chat, range(CHATS)))
    for number, turn in enumerate(turns):
        here, *there = (sockets[(number + step) % 3].run(turn["id"]) for step in range(3))
        assert there == [here, here]
        assert text_of(here) == f"question {number}: ä 日本 \U0001f600 " * 5
        assert [event["seq"] for event in here] == list(range(1, len(here) + 1))


def test_concurrent_turns_are_counted_in_their_threads(make_node):
    node = make_node("a").start()
    threads = [assistant_thread(node) for _ in range(40)]
    contents = [f"{number} ä\0" for number in range(20)]

    def fill(thread):
        for content in contents:
            body = {"role": "user", "content": content, "metadata": {"long": True} if "1" in content else None}
            accepted(node.http.post(f"/threads/{thread['id']}/turns", json=body), 201)
            refused(node.http.post("/threads/none/turns", json=body), 404, "thread not found")
    with concurrent.futures.ThreadPoolExecutor(len(threads)) as pool:
        list(pool.map(fill, threads))
    for thread in threads:
        record = accepted(node.http.get(f"/threads/{thread['id']}"))
        assert (record["turn_count"], record["title"]) == (len(contents), contents[0])
        turns = turns_of(node, thread)
        assert [turn["content"] for turn in turns] == contents
        assert [turn["metadata"] is not None for turn in turns] == ["1" in content for content in contents]
        assert record["updated_at"] >= turns[-1]["created_at"]
