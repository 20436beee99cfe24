"""Fixtures: a gateway that many tests share, and gateways of a test's own."""

import itertools
import signal

import pytest

pytest.register_assert_rewrite("checks", "contract")

from checks import accepted  # noqa: E402
from gateway import BINARY, Gateway  # noqa: E402
from jobs import delete, ended, new_job, rows, run  # noqa: E402
from stubs.provider import ProviderStub  # noqa: E402
from talker import Talker, configuration  # noqa: E402


def pytest_sessionstart(session):
    if not BINARY.exists():
        pytest.exit(f"{BINARY} is missing: build the preset `debug`, or name another binary in AGW", returncode=2)
    # Under nohup, or in the background of a shell, they are ignored; what ignores them is inherited, a handler is not.
    for number in (signal.SIGINT, signal.SIGHUP):
        if signal.getsignal(number) == signal.SIG_IGN:
            signal.signal(number, lambda *_: None)


@pytest.fixture(scope="session", autouse=True)
def declared(tmp_path_factory):
    """Has `contract` ask for the declared shapes here, and no gateway whose requests a test counts, or that it ends."""
    asked = Gateway(tmp_path_factory.mktemp("declared")).start()
    accepted(asked.http.get("/health"))
    asked.close()


@pytest.fixture(scope="session")
def gateway(tmp_path_factory):
    """One gateway for all tests that only look, or that touch nothing but what they make."""
    shared = Gateway(tmp_path_factory.mktemp("shared")).start()
    yield shared
    shared.close()


@pytest.fixture
def make_gateway(tmp_path):
    """Makes gateways, not yet started, of this test's own. They are ended with it."""
    made = []
    numbers = itertools.count()

    def make(**options):
        made.append(Gateway(tmp_path / f"gateway-{next(numbers)}", **options))
        return made[-1]

    yield make
    for gateway in made:
        gateway.close()


def with_no_job_due(gateway):
    """Has the shipped job that is due once an hour run only when a test says so: others count threads and runs."""
    accepted(gateway.http.patch("/extensions/compile-knowledge", json={"enabled": False}))
    return gateway


@pytest.fixture
def own(make_gateway):
    """A started gateway of this test's own."""
    return with_no_job_due(make_gateway().start())


@pytest.fixture(scope="session")
def shared_talker(tmp_path_factory):
    with ProviderStub() as stub:
        shared = Gateway(tmp_path_factory.mktemp("talker"), config=configuration(stub)).start()
        yield Talker(shared, stub)
        shared.close()


@pytest.fixture
def talker(shared_talker):
    """A shared gateway whose model is a stub that has been told nothing yet."""
    shared_talker.stub.reset()
    yield shared_talker
    put_away(shared_talker.gateway)


def put_away(gateway):
    """What tests add to an agent's tools takes from the window of its model, in every test that follows; and a job that
    goes on waiting for events or due times takes the answers that a later test has scripted."""
    for kind in ("integration", "action", "job"):
        for extension in accepted(gateway.http.get("/extensions", params={"type": kind})):
            waits = extension["trigger_def"] or extension["definition"].get("schedule")
            if extension["source"] != "built-in" and (waits or kind != "job"):
                delete(gateway, extension)


@pytest.fixture
def stub():
    with ProviderStub() as running:
        yield running


@pytest.fixture
def own_talker(make_gateway, stub):
    """A gateway of this test's own whose model is a stub."""
    return Talker(with_no_job_due(make_gateway(config=configuration(stub)).start()), stub)


@pytest.fixture
def thread(gateway):
    """A new thread of the built-in assistant on the shared gateway."""
    response = gateway.http.post("/threads", json={"title": "a thread"})
    assert response.status_code == 201, response.text
    return response.json()


@pytest.fixture(scope="session")
def name():
    """Makes names of extensions that no other test uses."""
    return fresh_name


@pytest.fixture
def held(talker, name):
    """A job of one run that is held back in the middle of its answer: gateway, job, row, the answer."""
    job = new_job(talker.gateway, name("held"))
    answer = talker.holds("Half of it")
    run(talker.gateway, job)
    assert answer.was_asked()
    yield talker.gateway, job, rows(talker.gateway, job)[0], answer
    answer.release()
    ended(talker.gateway, job)


_names = itertools.count(1)


def fresh_name(stem="extension"):
    return f"{stem}-{next(_names)}"
