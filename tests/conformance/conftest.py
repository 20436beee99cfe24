import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "api"))

from gateway import Gateway  # noqa: E402
from stubs.provider import ProviderStub  # noqa: E402
from talker import Talker, configuration  # noqa: E402


@pytest.fixture
def talker(tmp_path):
    """A gateway whose models are a stub."""
    with ProviderStub() as stub:
        gateway = Gateway(tmp_path / "gateway", config=configuration(stub)).start()
        yield Talker(gateway, stub)
        gateway.close()
