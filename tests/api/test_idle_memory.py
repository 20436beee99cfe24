"""What a gateway holds in memory while it has nothing to do."""

import pytest

from gateway import HAS_ADDRESS_SANITIZER
from jobs import wait_for


def resident_kib(gateway, kind="VmRSS"):
    with open(f"/proc/{gateway.process.pid}/status") as status:
        return next(int(line.split()[1]) for line in status if line.startswith(kind))


@pytest.mark.skipif(HAS_ADDRESS_SANITIZER, reason="the figure is of a program without sanitizers")
def test_an_idle_gateway_gives_back_what_its_work_took(make_gateway):
    gateway = make_gateway().start()
    for number in range(300):
        body = {"type": "theme", "name": f"theme-{number}", "description": "d" * 10_000, "definition": {"colors": {}}}
        assert gateway.http.post("/extensions", json=body).status_code == 201
    assert len(gateway.http.get("/extensions").content) > 3_000_000
    busy = resident_kib(gateway)
    wait_for(lambda: resident_kib(gateway) < 0.9 * busy and resident_kib(gateway, "RssFile") < 6 * 1024)
    assert gateway.http.get("/health").is_success
