"""HTTPS and WSS by the gateway itself (decisions, 10)."""

import asyncio
import os
import re
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
def secure(make_gateway, certificates):
    certificate, key = certificates
    return make_gateway(config={"tls": {"cert": str(certificate), "key": str(key)}}).start()


@pytest.fixture
def trusting(certificates):
    return ssl.create_default_context(cafile=str(certificates[0]))


@pytest.fixture
def client(secure, trusting):
    with httpx.Client(base_url=secure.url, headers=secure.authorization, verify=trusting, trust_env=False, timeout=PATIENCE) as client:
        yield client


def test_the_ready_line_says_https(secure):
    assert re.fullmatch(r"https://127\.0\.0\.1:\d+", secure.url)


def test_requests_are_answered(client):
    assert client.get("/health").json()["status"] == "ok"
    thread = client.post("/threads", json={"title": "ä" * 100_000}).json()
    assert client.get(f"/threads/{thread['id']}").json()["title"] == thread["title"]
    assert len({client.get("/threads").text for _ in range(20)}) == 1


def test_large_bodies_pass(client):
    content = bytes(range(256)) * 40_000
    uploaded = client.post("/files?name=a.bin", content=content)
    assert uploaded.status_code == 201 and uploaded.json()["size"] == len(content)


@pytest.mark.parametrize("version", [ssl.TLSVersion.TLSv1_2, ssl.TLSVersion.TLSv1_3])
def test_tls_1_2_and_1_3_are_spoken(secure, trusting, version):
    trusting.minimum_version = trusting.maximum_version = version
    with httpx.Client(verify=trusting, trust_env=False, timeout=PATIENCE) as client:
        assert client.get(secure.url + "/health").status_code == 200


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_older_versions_are_not(secure, trusting):
    trusting.minimum_version = ssl.TLSVersion.TLSv1
    trusting.maximum_version = ssl.TLSVersion.TLSv1_1
    trusting.set_ciphers("ALL:@SECLEVEL=0")
    with pytest.raises(ssl.SSLError):
        with socket.create_connection(("127.0.0.1", secure.port), timeout=PATIENCE) as plain:
            trusting.wrap_socket(plain, server_hostname="localhost")


def test_events_come_over_wss(secure, trusting, client):
    async def first_event():
        url = f"wss://127.0.0.1:{secure.port}/ws"
        async with websockets.connect(url, ssl=trusting, extra_headers=secure.authorization) as socket_:
            await socket_.send('{"type":"ping"}')
            assert await asyncio.wait_for(socket_.recv(), 10) == '{"type":"pong"}'
            await asyncio.to_thread(client.post, "/signals", json={"kind": "a", "message": "x" * 300_000})
            return await asyncio.wait_for(socket_.recv(), 10)
    assert "x" * 300_000 in asyncio.run(first_event())


def test_an_app_is_passed_on(secure, client, monkeypatch):
    monkeypatch.setattr(type(secure), "http", client)
    make_app(secure, "over-tls", routes="body = self.body()\nself.answer(body or self.headers['X-Forwarded-Proto'])")
    start(secure, "over-tls")
    assert client.get("/apps/over-tls/proxy/").text == "https"
    body = b"0123456789" * 500_000
    assert client.post("/apps/over-tls/proxy/", content=body).content == body


def test_an_origin_is_of_https(client, secure):
    assert client.get("/health", headers={"Origin": secure.url}).status_code == 200
    assert client.get("/health", headers={"Origin": secure.url.replace("https", "http")}).status_code == 403


def test_plain_http_is_not_answered_and_harms_nobody(secure, client):
    with socket.create_connection(("127.0.0.1", secure.port), timeout=PATIENCE) as plain:
        plain.sendall(b"GET /health HTTP/1.1\r\nHost: localhost\r\n\r\n")
        assert not plain.recv(100).startswith(b"HTTP/")
    with socket.create_connection(("127.0.0.1", secure.port), timeout=PATIENCE) as plain:
        plain.sendall(b"\x16\x03\x01\xff\xff" + b"\x00" * 3000)
    assert client.get("/health").status_code == 200


def test_the_command_line_reaches_it(secure):
    status = secure.command("status", "--json")
    assert status.returncode == 0, status.stderr
    said = secure.command("chat", "hello")
    assert said.returncode == 0 and said.stdout.strip(), said.stderr
    paired = secure.command("pair", "--json")
    assert paired.returncode == 0 and f'"url":"{secure.url}/ui/#code=' in paired.stdout


def test_the_command_line_sends_nothing_to_another_certificate(secure, tmp_path, make_gateway):
    certificate, key = make_certificate(tmp_path, "other")
    other = make_gateway(config={"tls": {"cert": str(certificate), "key": str(key)}}).start()
    lock = (secure.data / "gateway.lock").read_text()
    (secure.data / "gateway.lock").write_text(lock.replace(secure.url, other.url))
    status = secure.command("threads")
    assert status.returncode == 1 and "shows another certificate" in status.stderr
    (secure.data / "gateway.lock").write_text(lock)


def test_the_public_url_is_what_devices_get(make_gateway, certificates):
    certificate, key = certificates
    gateway = make_gateway(config={"tls": {"cert": str(certificate), "key": str(key)},
                                   "public_url": "https://gateway.example:8443"}).start()
    assert '"url":"https://gateway.example:8443/ui/#code=' in gateway.command("pair", "--json").stdout


def test_the_page_is_opened_at_the_public_url(make_gateway, certificates):
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
def test_files_that_cannot_be_used_are_named(make_gateway, tmp_path, case, expected):
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


def test_a_file_that_may_not_be_read_is_named(make_gateway, tmp_path):
    certificate, key = make_certificate(tmp_path)
    key.chmod(0)
    certificate.chmod(0o644)
    # Root may read everything.
    user = 65534 if os.geteuid() == 0 else None
    gateway = make_gateway(user=user, config={"tls": {"cert": str(certificate), "key": str(key)}})
    if user:
        subprocess.run(["chown", "-R", f"{user}:{user}", str(gateway.root)], check=True)
    failed = gateway.fails()
    assert failed.status == 2 and f"tls.key: {key}: Permission denied" in failed.stderr
