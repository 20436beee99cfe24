"""Debian's XMPP server Prosody on the loopback interface, with its own data directory and certificate."""

import re
import shutil
import signal
import socket
import subprocess
import tempfile
import time
from pathlib import Path

import pytest

from certificates import make_certificate

DOMAIN = "localhost"
ACCOUNT, PASSWORD = f"agent@{DOMAIN}", "the account's password"
ROOM = f"team@rooms.{DOMAIN}"
PEOPLE = ("ann", "bob", "eve")
PATIENCE = 20

CONFIGURATION = """
run_as_root = true
data_path = "{root}"
pidfile = "{root}/prosody.pid"
plugin_paths = {{}}
log = {{ {{ levels = {{ min = "info" }}, to = "file", filename = "{root}/prosody.log" }} }}
modules_enabled = {{ "roster", "saslauth", "tls", "disco", "ping", "presence", "message", "iq", {modules} }}
modules_disabled = {{ "s2s" }}
interfaces = {{ "127.0.0.1" }}
c2s_ports = {{ {port} }}
c2s_direct_tls_ports = {{ }}
http_ports = {{ {http_port} }}
http_interfaces = {{ "127.0.0.1" }}
https_ports = {{ }}
c2s_require_encryption = {encryption}
allow_unencrypted_plain_auth = {plain}
authentication = "internal_plain"
storage = "internal"
ssl = {{ certificate = "{certificate}", key = "{key}" }}

VirtualHost "{domain}"

Component "rooms.{domain}" "muc"
  modules_enabled = {{ }}
  restrict_room_creation = false
  muc_room_default_public_jids = true
  muc_room_locking = false
"""
UPLOAD = """
Component "upload.{domain}" "http_file_share"
  modules_enabled = {{ }}
  http_host = "{domain}"
  http_external_url = "http://{domain}:{http_port}/"
"""


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


class Prosody:
    """Offers TLS, and requires it with `encryption`. With `accepts_files`, files can be uploaded (XEP-0363).
    `certificate` is the certificate of the authority that signed the server's."""

    def __init__(self, modules=("smacks", "offline"), encryption=False, accepts_files=False):
        if not shutil.which("prosody"):
            pytest.skip("prosody is not installed: script/bootstrap installs it")
        self.root = Path(tempfile.mkdtemp(prefix="prosody-"))
        self.root.chmod(0o755)
        self.certificate, key = make_certificate(self.root, "prosody")
        self.port = free_port()
        listed = ", ".join(f'"{module}"' for module in modules)
        (self.root / "prosody.cfg.lua").write_text(
            (CONFIGURATION + (UPLOAD if accepts_files else "")).format(
                root=self.root, port=self.port, http_port=free_port() if accepts_files else "", domain=DOMAIN,
                certificate=self.certificate, key=key, modules=listed, encryption=str(encryption).lower(),
                plain=str(not encryption).lower()))
        self.url = f"xmpp://127.0.0.1:{self.port}"
        self.process = None
        self.register("agent", PASSWORD)
        for name in PEOPLE:
            self.register(name, f"password of {name}")

    def register(self, name, password):
        accounts = self.root / DOMAIN / "accounts"
        accounts.mkdir(parents=True, exist_ok=True)
        (accounts / f"{name}.dat").write_text(f'return {{ ["password"] = "{password}"; }};\n')

    def start(self):
        command = ["prosody", "--config", str(self.root / "prosody.cfg.lua"), "-F"]
        self.process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        deadline = time.monotonic() + PATIENCE
        while True:
            try:
                socket.create_connection(("127.0.0.1", self.port), timeout=1).close()
                return self
            except OSError:
                assert self.process.poll() is None and time.monotonic() < deadline, self.log()
                time.sleep(0.02)  # Prosody does not report when it listens

    def stop(self):
        if self.process:
            self.process.send_signal(signal.SIGTERM)
            try:
                self.process.wait(PATIENCE)
            except subprocess.TimeoutExpired:
                self.process.kill()
                self.process.wait()
            self.process = None

    def log(self):
        path = self.root / "prosody.log"
        return path.read_text() if path.exists() else "no log"

    def waiting_messages(self):
        """Returns the number of messages stored for the account while it is offline."""
        path = self.root / DOMAIN / "offline" / "agent.list"
        return len(re.findall(r"^item\(", path.read_text(), re.M)) if path.exists() else 0

    def __enter__(self):
        return self.start()

    def __exit__(self, *_):
        self.stop()
        shutil.rmtree(self.root, ignore_errors=True)
