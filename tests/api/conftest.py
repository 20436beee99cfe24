"""Fixtures: a shared gateway, and gateways for a single test."""

import importlib
import itertools
import os
import signal
import sys
import time
from pathlib import Path

import pytest

pytest.register_assert_rewrite("checks", "contract")

import databases  # noqa: E402
import http_client  # noqa: E402
import steering  # noqa: E402
from checks import accepted  # noqa: E402
from editor import EVERYTHING, Editor  # noqa: E402
from gateway import BINARY, HAS_ADDRESS_SANITIZER, REPOSITORY, Gateway  # noqa: E402
from jobs import ended, new_job, rows, run  # noqa: E402
from stubs.provider import ProviderStub  # noqa: E402
from story import fault_library  # noqa: E402
from stubs.telegram import TOKEN, TelegramStub  # noqa: E402
from talker import Talker, configuration  # noqa: E402
from tools import new_agent, new_thread  # noqa: E402


# Rewriting the assertions of all modules takes pytest 5 s of CPU: other workers and later runs share the result.
sys.dont_write_bytecode = False
sys.pycache_prefix = str(REPOSITORY / "build" / "pycache")


def pytest_collection(session):
    """Imports the test modules, in a different order in each worker, so that workers don't rewrite the same module at
    once."""
    worker = getattr(session.config, "workerinput", None)
    if worker:
        modules = sorted(path.stem for path in (REPOSITORY / "tests" / "api").glob("test_*.py"))
        first = len(modules) * int(worker["workerid"].removeprefix("gw")) // worker["workercount"]
        for module in modules[first:] + modules[:first]:
            importlib.import_module(module)


def pytest_collection_modifyitems(config, items):
    """Schedules slow tests first on each worker: a slow test that starts last would delay the end of the session."""
    workers = getattr(config, "workerinput", {}).get("workercount", 1)
    slow = [item for item in items if item.get_closest_marker("slow")]
    items[:] = [item for item in items if item not in slow]
    first_share = len(items) // workers // 4  # the number of tests in xdist's first batch for each worker
    for number, item in enumerate(slow):
        items.insert(number % workers * first_share, item)
    if "AGW_TEST_POSTGRES" in os.environ:
        for item in items:
            if why := databases.why_excluded(item.nodeid):
                item.add_marker(pytest.mark.skip(reason=f"not with PostgreSQL: {why}"))


def pytest_runtest_setup():
    """Skips the rest of the tests with sanitizers when script/test has no time left for them, because on some machines they
    take an hour. All tests run without sanitizers."""
    if HAS_ADDRESS_SANITIZER and time.time() > float(os.environ.get("AGW_SANITIZED_UNTIL") or "inf"):
        pytest.skip("no time left for tests with sanitizers")


def pytest_sessionstart(session):
    if not BINARY.exists():
        pytest.exit(f"{BINARY} is missing: build the preset `debug`, or name another binary in AGW", returncode=2)
    # nohup and background shells ignore these signals, which child processes inherit; they do not inherit a handler.
    for number in (signal.SIGINT, signal.SIGHUP):
        if signal.getsignal(number) == signal.SIG_IGN:
            signal.signal(number, lambda *_: None)


@pytest.fixture(scope="session", autouse=True)
def fetch_declared_shapes(tmp_path_factory):
    """Makes `contract` fetch the declared shapes from a separate gateway, so that it never adds a request to a gateway
    whose requests a test counts, or fetches from one that a test ends."""
    gateway = Gateway(tmp_path_factory.mktemp("declared")).start()
    accepted(gateway.http.get("/health"))
    gateway.close()


def without_scheduled_jobs(gateway):
    """Disables the built-in hourly job, because tests count threads, runs and events."""
    accepted(gateway.http.patch("/extensions/compile-knowledge", json={"enabled": False}))
    return gateway


@pytest.fixture(scope="session")
def gateway(tmp_path_factory):
    """A gateway shared by all tests that only read, or that change only records they create."""
    shared = without_scheduled_jobs(Gateway(tmp_path_factory.mktemp("shared")).start())
    yield shared
    shared.close()


@pytest.fixture
def make_gateway(tmp_path):
    """Creates gateways for a single test, not yet started. They are stopped after the test."""
    made = []
    numbers = itertools.count()

    def make(**options):
        made.append(Gateway(tmp_path / f"gateway-{next(numbers)}", **options))
        return made[-1]

    yield make
    for gateway in made:
        gateway.close()


@pytest.fixture
def own_gateway(make_gateway):
    """A started gateway that only this test uses."""
    return without_scheduled_jobs(make_gateway().start())


@pytest.fixture(scope="session")
def shared_talker(tmp_path_factory):
    with ProviderStub() as stub:
        shared = without_scheduled_jobs(Gateway(tmp_path_factory.mktemp("talker"), config=configuration(stub)).start())
        yield Talker(shared, stub)
        shared.close()


@pytest.fixture
def talker(shared_talker):
    """A shared gateway whose model is a stub, reset for each test."""
    shared_talker.stub.reset()
    yield shared_talker
    remove_test_extensions(shared_talker.gateway)


def remove_test_extensions(gateway):
    """Deletes extensions that would affect later tests: tools take up the model's context window, and a job with a
    trigger or schedule would consume answers scripted for another test."""
    with http_client.new_client(base_url=gateway.url, headers=gateway.authorization) as http:
        for kind in ("integration", "action", "job"):
            for extension in accepted(http.get("/extensions", params={"type": kind})):
                has_trigger = extension["trigger_def"] or extension["definition"].get("schedule")
                if extension["source"] != "built-in" and (has_trigger or kind != "job"):
                    assert http.delete(f"/extensions/{extension['id']}").status_code == 204


@pytest.fixture
def stub():
    with ProviderStub() as running:
        yield running


@pytest.fixture
def own_talker(make_gateway, stub):
    """A gateway whose model is a stub and that only this test uses."""
    return Talker(without_scheduled_jobs(make_gateway(config=configuration(stub)).start()), stub)


@pytest.fixture
def thread(gateway):
    """A new thread of the built-in assistant on the shared gateway."""
    response = gateway.http.post("/threads", json={"title": "a thread"})
    assert response.status_code == 201, response.text
    return response.json()


@pytest.fixture(scope="session")
def new_name():
    """Returns a function that creates unique extension names."""
    return fresh_name


@pytest.fixture
def streaming_job_run(talker, new_name):
    """A job with one run whose answer is paused halfway: gateway, job, row, answer."""
    job = new_job(talker.gateway, new_name("held"))
    answer = talker.holds("Half of it")
    run(talker.gateway, job)
    assert answer.was_asked()
    yield talker.gateway, job, rows(talker.gateway, job)[0], answer
    answer.release()
    ended(talker.gateway, job)


@pytest.fixture
def project(talker, new_name):
    """A project on the shared gateway, with one file."""
    path = talker.gateway.home / new_name("site")
    path.mkdir()
    (path / "a.txt").write_text("one\ntwo\n")
    return accepted(talker.gateway.http.post("/projects", json={"name": path.name, "path": str(path)}), 201)


@pytest.fixture
def folder(project):
    return Path(project["path"])


@pytest.fixture
def thread_of(talker, project, new_name):
    """Creates a thread in the project, with a new agent of this stage."""
    def make(stage="apprentice", **definition):
        agent = new_agent(talker.gateway, new_name(stage), stage=stage, **definition)
        return new_thread(talker.gateway, agent, project_id=project["id"])
    return make


@pytest.fixture
def running(talker):
    """A run that waits in its first step."""
    thread = steering.new_thread(talker.gateway)
    with talker.gateway.events(thread["id"]) as events:
        yield steering.Run(talker, thread, events)
        accepted(talker.gateway.http.post("/chat/stop", json={"threadId": thread["id"]}))


@pytest.fixture
def open_folder(talker, new_name):
    """The folder that an editor has open."""
    path = talker.gateway.home / new_name("site")
    path.mkdir()
    return path


@pytest.fixture
def start_editor(talker):
    """Starts editors, which are closed after the test."""
    editors = []

    def start(*arguments, gateway=None, capabilities=EVERYTHING):
        editors.append(Editor(gateway or talker.gateway, *arguments, capabilities=capabilities))
        editors[-1].initialize()
        return editors[-1]

    yield start
    for editor in editors:
        editor.close()


@pytest.fixture
def editor(start_editor):
    return start_editor()


@pytest.fixture
def acting(talker, new_name, start_editor, open_folder):
    """Starts an editor with a session whose agent may act. Returns the editor and the session."""
    def make(stage="operator", capabilities=EVERYTHING):
        agent = new_agent(talker.gateway, new_name("coder"), stage=stage)
        started = start_editor("--agent", agent["name"], capabilities=capabilities)
        return started, started.new(open_folder)
    return make


_names = itertools.count(1)


def fresh_name(stem="extension"):
    return f"{stem}-{next(_names)}"


@pytest.fixture(scope="session")
def kill_at(tmp_path_factory):
    """A library that kills a process at a given step, see kill_steps."""
    library = fault_library("kill_at", tmp_path_factory.mktemp("faults"))
    return library or pytest.skip("AddressSanitizer must be loaded before any other library")


@pytest.fixture
def telegram():
    with TelegramStub() as stub:
        yield stub


@pytest.fixture
def talking(make_gateway):
    """A gateway with a scripted model, which has the Telegram bot's token as a secret."""
    with ProviderStub() as stub:
        gateway = without_scheduled_jobs(make_gateway(config=configuration(stub)).start())
        gateway.http.put("/secrets/TELEGRAM", json={"value": TOKEN})
        yield Talker(gateway, stub)
