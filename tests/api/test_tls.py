"""HTTPS and WSS served by the gateway itself.

See docs/contract/access.md#remote-access.
"""

import asyncio
import os
import re
import signal
import socket
import ssl
import subprocess

import httpx
import pytest
import websockets

from apps import make_app, start
from certificates import make_certificate
from checks import PATIENCE


@pytest.fixture(scope="module")
def certificates(tmp_path_factory):
    return make_certificate(tmp_path_factory.mktemp("certificates"))


@pytest.fixture
def tls_gateway(make_gateway, certificates):
    certificate, key = certificates
    return make_gateway(config={"tls": {"cert": str(certificate), "key": str(key)}}).start()


@pytest.fixture
def trusting_context(certificates):
    return ssl.create_default_context(cafile=str(certificates[0]))


@pytest.fixture
def client(tls_gateway, trusting_context):
    with httpx.Client(base_url=tls_gateway.url, headers=tls_gateway.authorization, verify=trusting_context,
                      trust_env=False, timeout=PATIENCE) as client:
        yield client


def test_ready_line_says_https(tls_gateway):
    assert re.fullmatch(r"https://127\.0\.0\.1:\d+", tls_gateway.url)


def test_requests_are_answered(client):
    assert client.get("/health").json()["status"] == "ok"
    thread = client.post("/threads", json={"title": "ä" * 100_000}).json()
    assert client.get(f"/threads/{thread['id']}").json()["title"] == thread["title"]
    assert len({client.get("/threads").text for _ in range(20)}) == 1


@pytest.mark.slow
def test_suspended_gateway_is_reported(tls_gateway, client):
    """Opening a WebSocket once waited for ever."""
    thread = client.post("/threads", json={}).json()["id"]
    tls_gateway.process.send_signal(signal.SIGSTOP)
    try:
        listing = tls_gateway.command("threads")
        chatting = tls_gateway.command("chat", "hello", "--thread", thread)
    finally:
        tls_gateway.process.send_signal(signal.SIGCONT)
    assert listing.returncode == 1 and "does not answer: it is suspended" in listing.stderr
    assert chatting.returncode == 1 and "did not open a WebSocket: no response within 10 s" in chatting.stderr


def test_large_bodies_are_sent_and_received(client):
    content = bytes(range(256)) * 40_000
    uploaded = client.post("/files?name=a.bin", content=content)
    assert uploaded.status_code == 201 and uploaded.json()["size"] == len(content)


@pytest.mark.parametrize("version", [ssl.TLSVersion.TLSv1_2, ssl.TLSVersion.TLSv1_3])
def test_tls_1_2_and_1_3_are_supported(tls_gateway, trusting_context, version):
    trusting_context.minimum_version = trusting_context.maximum_version = version
    with httpx.Client(verify=trusting_context, trust_env=False, timeout=PATIENCE) as client:
        assert client.get(tls_gateway.url + "/health").status_code == 200


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_older_versions_are_refused(tls_gateway, trusting_context):
    trusting_context.minimum_version = ssl.TLSVersion.TLSv1
    trusting_context.maximum_version = ssl.TLSVersion.TLSv1_1
    trusting_context.set_ciphers("ALL:@SECLEVEL=0")
    with pytest.raises(ssl.SSLError):
        with socket.create_connection(("127.0.0.1", tls_gateway.port), timeout=PATIENCE) as plain:
            trusting_context.wrap_socket(plain, server_hostname="localhost")


def test_events_are_received_over_wss(tls_gateway, trusting_context, client):
    async def first_event():
        url = f"wss://127.0.0.1:{tls_gateway.port}/ws"
        async with websockets.connect(url, ssl=trusting_context, extra_headers=tls_gateway.authorization) as socket_:
            await socket_.send('{"type":"ping"}')
            assert await asyncio.wait_for(socket_.recv(), 10) == '{"type":"pong"}'
            await asyncio.to_thread(client.post, "/signals", json={"kind": "a", "message": "x" * 300_000})
            return await asyncio.wait_for(socket_.recv(), 10)
    assert "x" * 300_000 in asyncio.run(first_event())


def test_app_is_proxied(tls_gateway, client, monkeypatch):
    monkeypatch.setattr(type(tls_gateway), "http", client)
    make_app(tls_gateway, "over-tls", routes="body = self.body()\nself.answer(body or self.headers['X-Forwarded-Proto'])")
    start(tls_gateway, "over-tls")
    assert client.get("/apps/over-tls/proxy/").text == "https"
    body = b"0123456789" * 500_000
    assert client.post("/apps/over-tls/proxy/", content=body).content == body


def test_origin_must_be_https(client, tls_gateway):
    assert client.get("/health", headers={"Origin": tls_gateway.url}).status_code == 200
    assert client.get("/health", headers={"Origin": tls_gateway.url.replace("https", "http")}).status_code == 403


def test_plain_http_gets_no_response_and_is_harmless(tls_gateway, client):
    with socket.create_connection(("127.0.0.1", tls_gateway.port), timeout=PATIENCE) as plain:
        plain.sendall(b"GET /health HTTP/1.1\r\nHost: localhost\r\n\r\n")
        assert not plain.recv(100).startswith(b"HTTP/")
    with socket.create_connection(("127.0.0.1", tls_gateway.port), timeout=PATIENCE) as plain:
        plain.sendall(b"\x16\x03\x01\xff\xff" + b"\x00" * 3000)
    assert client.get("/health").status_code == 200


def test_command_line_connects(tls_gateway):
    status = tls_gateway.command("status", "--json")
    assert status.returncode == 0, status.stderr
    chat = tls_gateway.command("chat", "hello")
    assert chat.returncode == 0 and chat.stdout.strip(), chat.stderr
    paired = tls_gateway.command("pair", "--json")
    assert paired.returncode == 0 and f'"url":"{tls_gateway.url}/ui/#code=' in paired.stdout


def test_command_line_sends_nothing_to_another_certificate(tls_gateway, tmp_path, make_gateway):
    certificate, key = make_certificate(tmp_path, "other")
    other = make_gateway(config={"tls": {"cert": str(certificate), "key": str(key)}}).start()
    lock = (tls_gateway.data / "gateway.lock").read_text()
    (tls_gateway.data / "gateway.lock").write_text(lock.replace(tls_gateway.url, other.url))
    status = tls_gateway.command("threads")
    assert status.returncode == 1 and "has a different certificate" in status.stderr
    (tls_gateway.data / "gateway.lock").write_text(lock)


def test_public_url_is_given_to_devices(make_gateway, certificates):
    certificate, key = certificates
    gateway = make_gateway(config={"tls": {"cert": str(certificate), "key": str(key)},
                                   "public_url": "https://gateway.example:8443"}).start()
    assert '"url":"https://gateway.example:8443/ui/#code=' in gateway.command("pair", "--json").stdout


def test_page_is_opened_at_the_public_url(make_gateway, certificates):
    certificate, key = certificates
    gateway = make_gateway(config={"tls": {"cert": str(certificate), "key": str(key)},
                                   "public_url": "https://gateway.example:8443/"}).start()
    assert gateway.command("open", "--no-browser").returncode == 0
    assert "https://gateway.example:8443/ui/#code=" in (gateway.data / "open.html").read_text()


@pytest.mark.parametrize("case, expected", [
    ("no certificate", "tls.cert: {dir}/missing.pem: No such file or directory"),
    ("no key", "tls.key: {dir}/missing.key: No such file or directory"),
    ("certificate is a directory", "tls.cert: {dir}: is a directory"),
    ("broken certificate", "tls.cert: {dir}/broken.pem: holds no certificate in PEM form"),
    ("broken key", "tls.key: {dir}/broken.pem: holds no private key in PEM form without a passphrase"),
    ("locked key", "tls.key: {dir}/locked.key: holds no private key in PEM form without a passphrase"),
    ("mismatch", "tls.key: {dir}/other.key: does not belong to the certificate {dir}/gateway.pem"),
])
def test_unusable_files_are_reported(make_gateway, tmp_path, case, expected):
    certificate, key = make_certificate(tmp_path)
    broken = tmp_path / "broken.pem"
    broken.write_text("no PEM")
    chosen = {
        "no certificate": (tmp_path / "missing.pem", key), "no key": (certificate, tmp_path / "missing.key"),
        "certificate is a directory": (tmp_path, key), "broken certificate": (broken, key),
        "broken key": (certificate, broken), "locked key": (certificate, tmp_path / "locked.key"),
        "mismatch": (certificate, tmp_path / "other.key"),
    }[case]
    if case == "locked key":
        make_certificate(tmp_path, "locked", passphrase="secret")
    if case == "mismatch":
        make_certificate(tmp_path, "other")
    failed = make_gateway(config={"tls": {"cert": str(chosen[0]), "key": str(chosen[1])}}).fails()
    assert failed.status == 2
    line = 2 if expected.startswith("tls.cert") else 3
    assert f"config.yaml:{line}: {expected.format(dir=tmp_path)}" in failed.stderr


def test_unreadable_file_is_reported(make_gateway, tmp_path):
    certificate, key = make_certificate(tmp_path)
    key.chmod(0)
    certificate.chmod(0o644)
    # Root can read everything.
    user = 65534 if os.geteuid() == 0 else None
    gateway = make_gateway(user=user, config={"tls": {"cert": str(certificate), "key": str(key)}})
    if user:
        subprocess.run(["chown", "-R", f"{user}:{user}", str(gateway.root)], check=True)
    failed = gateway.fails()
    assert failed.status == 2 and f"tls.key: {key}: Permission denied" in failed.stderr
