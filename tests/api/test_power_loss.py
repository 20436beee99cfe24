"""Power failures before any change of a file: acknowledged changes are there after the next start.

tests/faults/power_loss.cpp simulates them. See docs/contract/process.md#after-a-kill.
"""

import os
import random
import shutil
import signal

import pytest

from gateway import StartFailed
from story import GONE, Story, fault_library
from talker import configuration

CUTS = int(os.environ.get("AGW_POWER_CUTS", 16))


@pytest.fixture(scope="session")
def power_loss(tmp_path_factory):
    """The library that simulates power failures."""
    library = fault_library("power_loss", tmp_path_factory.mktemp("faults"))
    return library or pytest.skip("AddressSanitizer must be the first library that is loaded")


@pytest.fixture
def lose_power(make_gateway, power_loss, stub, tmp_path):
    """Runs the story on a gateway that loses power before its change number `at` of a file, restarts it and verifies its
    state. If `at` is 0, the story runs to its end; returns the number of changes."""
    def lose(at, seed=0):
        saved = tmp_path / f"saved-{at}"
        saved.mkdir()
        count = tmp_path / "count"
        gateway = make_gateway(config=configuration(stub))
        stub.reset()
        gateway.environment = {"LD_PRELOAD": str(power_loss), "POWER_LOSS_ROOT": str(gateway.home),
                               "POWER_LOSS_SAVED": str(saved), "POWER_LOSS_AT": str(at), "POWER_LOSS_SEED": str(seed),
                               "POWER_LOSS_COUNT": str(count)}
        story = Story(gateway, stub)
        try:
            gateway.start()
            story.tell()
            gateway.stop()
        except (*GONE, StartFailed):
            if not at or gateway.wait() != -signal.SIGKILL:
                raise
        gateway.kill()
        gateway.environment = {}
        gateway.start()
        story.verify()
        assert gateway.command("doctor").returncode == 0
        gateway.close()
        shutil.rmtree(gateway.root, ignore_errors=True)
        return int(count.read_text()) if not at else None
    return lose


@pytest.mark.slow
def test_acknowledged_changes_survive_a_loss_of_power(lose_power):
    changes = lose_power(0)
    rng = random.Random(20261124)
    problems = []
    for cut in sorted(rng.sample(range(1, changes), min(CUTS, changes - 1))):
        try:
            lose_power(cut, seed=cut)
        except Exception as problem:
            problems.append(f"before change {cut}: {problem}")
    assert not problems, "\n".join(problems)
