"""Any single system call may fail: the gateway keeps running, loses nothing it acknowledged, and leaks no descriptor.

tests/faults/failing_call.cpp injects the failure. See docs/contract/process.md#after-a-kill.
"""

import contextlib
import errno
import os
import random
import shutil

import httpx
import pytest

from checks import accepted
from gateway import StartFailed
from jobs import wait_for
from story import GONE, Story, fault_library
from talker import configuration

SAMPLES = int(os.environ.get("AGW_FAILING_CALLS", 24))
ERRORS = {
    "write": errno.ENOSPC, "pwrite": errno.ENOSPC, "pwrite64": errno.ENOSPC, "ftruncate64": errno.ENOSPC, "mkdirat": errno.ENOSPC,
    "open": errno.EMFILE, "open64": errno.EMFILE, "openat": errno.EMFILE, "socket": errno.EMFILE, "pipe2": errno.EMFILE,
    "accept": errno.EMFILE, "accept4": errno.EMFILE, "dup": errno.EMFILE, "eventfd": errno.EMFILE,
    "socketpair": errno.EMFILE, "syscall": errno.EMFILE, "epoll_ctl": errno.ENOMEM, "connect": errno.ECONNREFUSED,
    "recv": errno.ECONNRESET, "recvmsg": errno.ECONNRESET, "send": errno.ECONNRESET, "sendmsg": errno.ECONNRESET,
}
MORE_DESCRIPTORS = 3  # the number of idle connections varies


@pytest.fixture(scope="session")
def failing_call(tmp_path_factory):
    library = fault_library("failing_call", tmp_path_factory.mktemp("faults"))
    return library or pytest.skip("AddressSanitizer must be the first library that is loaded")


def descriptors(gateway):
    """Counts the open descriptors, except those of the database: the number of its readers depends on the load."""
    folder = f"/proc/{gateway.process.pid}/fd"
    targets = []
    for descriptor in os.listdir(folder):
        with contextlib.suppress(FileNotFoundError):
            targets.append(os.readlink(f"{folder}/{descriptor}"))
    return sum("/gateway.db" not in target for target in targets)


def verify(story, failure):
    """Verifies the story. A failed check is repeated only if the call failed during it, and the gateway said so: with an
    error or by closing the connection. An answer that is wrong without an error is a bug."""
    had_failed = failure.exists()
    errors = []

    def note(response):
        if response.is_server_error:
            errors.append(response)

    hooks = story.http.event_hooks["response"]
    hooks.append(note)
    try:
        story.verify()
    except AssertionError as broken:
        is_reported = errors or isinstance(broken.__cause__, httpx.TransportError)
        if had_failed or not failure.exists() or not is_reported:
            raise
        story.verify()
    finally:
        hooks.remove(note)


@pytest.fixture
def run_story(make_gateway, failing_call, stub, tmp_path):
    """Runs the story on a gateway for which one call fails, and checks it. Returns the number of calls of each function
    and of open descriptors of a run without a failure."""
    def run(name="", at=0, max_descriptors=None):
        counts, failure = tmp_path / "counts", tmp_path / "failure"
        failure.unlink(missing_ok=True)
        gateway = make_gateway(config=configuration(stub))
        stub.reset()
        gateway.environment = {"LD_PRELOAD": str(failing_call), "FAILING_CALL": name, "FAILING_AT": str(at),
                               "FAILING_ERRNO": str(ERRORS.get(name, errno.EIO)), "FAILING_COUNTS": str(counts),
                               "FAILING_FAILED": str(failure)}
        story = Story(gateway, stub)
        open_descriptors = 0
        try:
            gateway.start()
            try:
                story.tell()
            except GONE:
                if not at:
                    raise
            assert gateway.running, f"it ended with {gateway.process.returncode}: {gateway.stderr}"
            verify(story, failure)
            # The failing call may be one that the first of these requests makes.
            with contextlib.suppress(httpx.TransportError):
                gateway.http.post("/threads", json={"title": "afterwards"})
            accepted(gateway.http.post("/threads", json={"title": "afterwards"}), 201)
            gateway._leave()
            open_descriptors = descriptors(gateway)
            if max_descriptors:
                wait_for(lambda: descriptors(gateway) <= max_descriptors + MORE_DESCRIPTORS)
            gateway.stop()
            assert gateway.process.returncode == 0, gateway.stderr
        except StartFailed as failed:
            # A start that fails must log the reason.
            if not at or failed.status < 0 or "agw: " not in failed.stderr:
                raise
        gateway.environment = {}
        gateway.start()
        story.verify()
        gateway.close()
        shutil.rmtree(gateway.root, ignore_errors=True)
        return dict(line.split() for line in counts.read_text().splitlines()), open_descriptors
    return run


class Checked:
    """A story whose first check gets this response."""

    def __init__(self, response, failure):
        self.http = httpx.Client(transport=httpx.MockTransport(self.respond))
        self.response, self.failure = response, failure
        self.checks = 0

    def respond(self, request):
        self.checks += 1
        self.failure.touch()
        if self.checks > 1:
            return httpx.Response(200, json=[])
        if isinstance(self.response, Exception):
            raise self.response
        return httpx.Response(self.response, json=[])

    def verify(self):
        try:
            accepted(self.http.get("http://gateway/threads"))
        except GONE as broken:
            raise AssertionError("after the step") from broken


@pytest.mark.parametrize("response, checks", [
    (500, 2), (507, 2), (httpx.ReadError("closed"), 2), (404, 1), (201, 1)])
def test_check_is_repeated_only_after_a_reported_failure(tmp_path, response, checks):
    story = Checked(response, tmp_path / "failure")
    with contextlib.nullcontext() if checks == 2 else pytest.raises(AssertionError):
        verify(story, story.failure)
    assert story.checks == checks


def test_gateway_that_cannot_write_its_address_does_not_start(make_gateway, failing_call):
    """The lock file is written twice: with the owner, and with the address on which that gateway listens."""
    gateway = make_gateway()
    original = gateway.environment
    failing = {"LD_PRELOAD": str(failing_call), "FAILING_CALL": "pwrite", "FAILING_ERRNO": str(errno.ENOSPC)}
    for at in (1, 2):
        gateway.environment = {**original, **failing, "FAILING_AT": str(at)}
        failed = gateway.fails()
        assert failed.status == 1 and "gateway.lock: No space left on device" in failed.stderr, failed.stderr
    gateway.environment = original
    gateway.start()


@pytest.mark.slow
def test_failing_system_call_loses_nothing(run_story):
    counts, open_descriptors = run_story()
    calls = [(name, at) for name, count in sorted(counts.items()) for at in range(1, int(count) + 1)]
    rng = random.Random(20261124)
    # Sample every function equally often, however often it is called.
    names = sorted({name for name, _ in calls})
    errors = []
    for number in range(SAMPLES):
        name = names[number % len(names)]
        at = rng.choice([at for of, at in calls if of == name])
        try:
            run_story(name, at, open_descriptors)
        except Exception as error:
            errors.append(f"call {at} of {name}: {error}")
    assert not errors, "\n".join(errors)
