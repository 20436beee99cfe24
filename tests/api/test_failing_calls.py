"""A system call fails, whichever it is: the gateway goes on, loses nothing it acknowledged, and leaves no descriptor open.

tests/faults/failing_call.cpp has one fail. See docs/contract/process.md#after-a-kill.
"""

import errno
import os
import random
import shutil

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
MORE_DESCRIPTORS = 3  # kept-alive connections and readers of the database differ


@pytest.fixture(scope="session")
def failing_call(tmp_path_factory):
    library = fault_library("failing_call", tmp_path_factory.mktemp("faults"))
    return library or pytest.skip("AddressSanitizer must be the first library that is loaded")


def descriptors(gateway):
    return len(os.listdir(f"/proc/{gateway.process.pid}/fd"))


@pytest.fixture
def tell_with(make_gateway, failing_call, stub, tmp_path):
    """Tells the story to a gateway for which one call fails, and checks it. Returns the number of calls of each function
    and of open descriptors, if none fails."""
    def tell(name="", at=0, most=None):
        counts = tmp_path / "counts"
        gateway = make_gateway(config=configuration(stub))
        stub.reset()
        gateway.environment = {"LD_PRELOAD": str(failing_call), "FAILING_CALL": name, "FAILING_AT": str(at),
                               "FAILING_ERRNO": str(ERRORS.get(name, errno.EIO)), "FAILING_COUNTS": str(counts)}
        story = Story(gateway, stub)
        used = 0
        try:
            gateway.start()
            try:
                story.tell()
            except GONE:
                if not at:
                    raise
            assert gateway.running, f"it ended with {gateway.process.returncode}: {gateway.stderr}"
            story.verify()
            # The call may be one of the first of these.
            answers = [gateway.http.post("/threads", json={"title": "afterwards"}) for _ in range(2)]
            accepted(answers[-1], 201)
            gateway._leave()
            used = descriptors(gateway)
            if most:
                wait_for(lambda: descriptors(gateway) <= most + MORE_DESCRIPTORS)
            gateway.stop()
            assert gateway.process.returncode == 0, gateway.stderr
        except StartFailed as failed:
            # A start that fails says why.
            if not at or failed.status < 0 or "agw: " not in failed.stderr:
                raise
        gateway.environment = {}
        gateway.start()
        story.verify()
        gateway.close()
        shutil.rmtree(gateway.root, ignore_errors=True)
        return dict(line.split() for line in counts.read_text().splitlines()), used
    return tell


def test_a_gateway_that_cannot_write_where_it_listens_does_not_start(make_gateway, failing_call):
    """The lock's file is written twice: who holds it, and where that gateway listens."""
    gateway = make_gateway()
    usual = gateway.environment
    failing = {"LD_PRELOAD": str(failing_call), "FAILING_CALL": "pwrite", "FAILING_ERRNO": str(errno.ENOSPC)}
    for at in (1, 2):
        gateway.environment = {**usual, **failing, "FAILING_AT": str(at)}
        failed = gateway.fails()
        assert failed.status == 1 and "gateway.lock: No space left on device" in failed.stderr, failed.stderr
    gateway.environment = usual
    gateway.start()


@pytest.mark.slow
def test_failing_system_call_ends_and_loses_nothing(tell_with):
    counts, used = tell_with()
    calls = [(name, at) for name, count in sorted(counts.items()) for at in range(1, int(count) + 1)]
    chance = random.Random(20261124)
    # Each function as often as any other, however often it is called.
    names = sorted({name for name, _ in calls})
    problems = []
    for number in range(SAMPLES):
        name = names[number % len(names)]
        at = chance.choice([at for of, at in calls if of == name])
        try:
            tell_with(name, at, used)
        except Exception as problem:
            problems.append(f"call {at} of {name}: {problem}")
    assert not problems, "\n".join(problems)
