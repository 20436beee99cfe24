"""HAProxy in front of two nodes, with the file of packaging/."""

import re
import shutil
import signal
import subprocess
import types

import http_client
import pytest

from checks import accepted
from connection import free_port
from gateway import REPOSITORY
from test_changes import eventually
from test_drain import drains
from test_take_over import started


@pytest.fixture
def balanced(make_node, tmp_path):
    """Two nodes with one token, and a client that asks the balancer."""
    if not shutil.which("haproxy"):
        pytest.skip("haproxy is not installed (Debian's package of that name)")
    a = make_node("a", drain_seconds=600).start()
    b = make_node("b", drain_seconds=600)
    b.data.mkdir(mode=0o700, parents=True, exist_ok=True)
    shutil.copy(a.data / ".gateway-token", b.data / ".gateway-token")
    b.start()
    port = free_port()
    text = (REPOSITORY / "packaging" / "haproxy.cfg").read_text().replace("bind :7420", f"bind 127.0.0.1:{port}")
    text = re.sub(r"^    server .*\n", "", text, flags=re.M)
    text += f"    server a 127.0.0.1:{a.port}\n    server b 127.0.0.1:{b.port}\n"
    (tmp_path / "haproxy.cfg").write_text(text)
    process = subprocess.Popen(["haproxy", "-db", "-f", tmp_path / "haproxy.cfg"],
                               env={"AGW_TOKEN": a.token, "PATH": "/usr/sbin:/usr/bin"})
    client = http_client.new_client(base_url=f"http://127.0.0.1:{port}", headers=a.authorization)
    try:
        yield types.SimpleNamespace(nodes=(a, b), client=client, process=process)
    finally:
        client.close()
        process.terminate()
        process.wait()


def status(balanced, method, path, **more):
    """The status of a response; None if the balancer does not listen yet."""
    try:
        return balanced.client.request(method, path, **more).status_code
    except http_client.httpx.TransportError:
        return None


def test_requests_go_to_nodes_that_are_ready(balanced, stub):
    a, b = balanced.nodes
    eventually(lambda: status(balanced, "GET", "/ready"), 200)
    stub.hold("one ", "two")
    started(a)
    drains(a)
    # Each of a row of requests that begins a run is answered by the other node.
    eventually(lambda: {status(balanced, "POST", "/run/no-such-job") for _ in range(8)}, {404})
    kept = accepted(balanced.client.post("/threads", json={"title": "kept"}), 201)
    a.process.send_signal(signal.SIGTERM)
    assert a.wait() == 0, a.stderr
    assert accepted(balanced.client.get(f"/threads/{kept['id']}"))["title"] == "kept"
    assert balanced.process.poll() is None and b.running
