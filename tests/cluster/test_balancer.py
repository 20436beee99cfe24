"""HAProxy in front of two nodes, with packaging/haproxy.cfg."""

import contextlib
import re
import shutil
import signal
import subprocess
import types

import http_client
import pytest

from certificates import make_certificate
from checks import accepted
from connection import free_port
from gateway import REPOSITORY
from test_changes import eventually
from test_drain import drain
from test_take_over import start_answer


@pytest.fixture
def balanced(make_node, tmp_path):
    """A balancer in front of two nodes with the same token, and a client of the balancer."""
    if not shutil.which("haproxy"):
        pytest.skip("haproxy is not installed (Debian's package of that name)")
    a = make_node("a", drain_seconds=600).start()
    b = make_node("b", drain_seconds=600)
    b.data.mkdir(mode=0o700, parents=True, exist_ok=True)
    shutil.copy(a.data / ".gateway-token", b.data / ".gateway-token")
    b.start()
    port = free_port()
    with balancing(port, (a, b), configuration(port, (a, b)).replace(ENCRYPTED, ""), tmp_path) as balancer:
        yield balancer


ENCRYPTED = " ssl verify required ca-file /certificates/ca.pem"


def configuration(port, nodes):
    """Returns packaging/haproxy.cfg for this port and these nodes."""
    text = (REPOSITORY / "packaging" / "haproxy.cfg").read_text().replace("bind :7420", f"bind 127.0.0.1:{port}")
    assert ENCRYPTED in text
    text = re.sub(r"^    server .*\n", "", text, flags=re.M)
    return text + "".join(f"    server {number} 127.0.0.1:{node.port}\n" for number, node in enumerate(nodes))


@contextlib.contextmanager
def balancing(port, nodes, text, directory):
    (directory / "haproxy.cfg").write_text(text)
    process = subprocess.Popen(["haproxy", "-db", "-f", directory / "haproxy.cfg"],
                               env={"AGW_TOKEN": nodes[0].token, "PATH": "/usr/sbin:/usr/bin"})
    client = http_client.new_client(base_url=f"http://127.0.0.1:{port}", headers=nodes[0].authorization)
    try:
        yield types.SimpleNamespace(nodes=nodes, client=client, process=process)
    finally:
        client.close()
        process.terminate()
        process.wait()


def status(balanced, method, path, **options):
    """Returns the status of a response; None if the balancer does not listen yet."""
    try:
        return balanced.client.request(method, path, **options).status_code
    except http_client.httpx.TransportError:
        return None


def test_requests_go_to_nodes_that_are_ready(balanced, stub):
    a, b = balanced.nodes
    eventually(lambda: status(balanced, "GET", "/ready"), 200)
    stub.hold("one ", "two")
    start_answer(a)
    drain(a)
    # Now the other node gets every request that begins a run.
    eventually(lambda: {status(balanced, "POST", "/run/no-such-job") for _ in range(8)}, {404})
    kept = accepted(balanced.client.post("/threads", json={"title": "kept"}), 201)
    a.process.send_signal(signal.SIGTERM)
    assert a.wait() == 0, a.stderr
    assert accepted(balanced.client.get(f"/threads/{kept['id']}"))["title"] == "kept"
    assert balanced.process.poll() is None and b.running


def test_nodes_are_reached_by_tls_and_browsers_use_the_balancer(make_node, tmp_path):
    if not shutil.which("haproxy"):
        pytest.skip("haproxy is not installed (Debian's package of that name)")
    certificate, key = make_certificate(tmp_path)
    port = free_port()
    balancer_url = f"http://127.0.0.1:{port}"
    a = make_node("a", keys={"tls": {"cert": str(certificate), "key": str(key)}, "origins": [balancer_url],
                             "public_url": balancer_url})
    a.start()
    text = configuration(port, (a,)).replace("/certificates/ca.pem", str(certificate))
    with balancing(port, (a,), text, tmp_path) as balanced:
        eventually(lambda: status(balanced, "GET", "/ready"), 200)
        accepted(balanced.client.post("/threads", json={"title": "kept"}, headers={"Origin": balancer_url}), 201)
        assert status(balanced, "POST", "/threads", json={}, headers={"Origin": "http://elsewhere.example"}) == 403
