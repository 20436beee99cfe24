"""Memory use of an idle gateway."""

import pytest

from channels import connect
from gateway import HAS_ADDRESS_SANITIZER
from jobs import wait_for
from stubs.prosody import DOMAIN, PASSWORD, Prosody


def resident_kib(gateway, kind="VmRSS"):
    with open(f"/proc/{gateway.process.pid}/status") as status:
        return next(int(line.split()[1]) for line in status if line.startswith(kind))


@pytest.mark.skipif(HAS_ADDRESS_SANITIZER, reason="the limit is for builds without sanitizers")
def test_an_idle_gateway_returns_memory_to_the_system(make_gateway):
    gateway = make_gateway().start()
    for number in range(300):
        body = {"type": "theme", "name": f"theme-{number}", "description": "d" * 10_000, "definition": {"colors": {}}}
        assert gateway.http.post("/extensions", json=body).status_code == 201
    assert len(gateway.http.get("/extensions").content) > 3_000_000
    busy = resident_kib(gateway)
    wait_for(lambda: resident_kib(gateway) < 0.9 * busy and resident_kib(gateway, "RssFile") < 6 * 1024)
    assert gateway.http.get("/health").is_success


@pytest.mark.skipif(HAS_ADDRESS_SANITIZER, reason="the limit is for builds without sanitizers")
def test_a_busy_gateway_returns_the_memory_of_its_start(make_gateway):
    gateway = make_gateway().start()

    def file_pages_during_work():
        for _ in range(200):
            assert gateway.http.get("/health").is_success
            yield resident_kib(gateway, "RssFile")

    before = max(file_pages_during_work())  # on a slow machine, the work takes until after the release
    wait_for(lambda: list(file_pages_during_work())[-1] < 0.7 * before)


@pytest.mark.skipif(HAS_ADDRESS_SANITIZER, reason="the limit is for builds without sanitizers")
def test_an_idle_channel_uses_little_memory(talking):
    """Each connection to an XMPP server once held its own copy of the host's CA certificates, about 1 MiB."""
    gateway, count = talking.gateway, 20
    gateway.http.put("/secrets/XMPP", json={"value": PASSWORD})
    before = resident_kib(gateway, "RssAnon")
    with Prosody() as prosody:
        for name in (f"agent{number}" for number in range(count)):
            prosody.register(name, PASSWORD)
            connect(gateway, prosody, service="xmpp", token="${secret:XMPP}", user=f"{name}@{DOMAIN}", allow=[f"ann@{DOMAIN}"])
        wait_for(lambda: all(one["state"] == "connected" for one in gateway.http.get("/channels").json()))
        # The first connection also loads libraries. bench/channels.py measures a single connection.
        wait_for(lambda: resident_kib(gateway, "RssAnon") - before < count * 500)
