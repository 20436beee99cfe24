"""Real programs in the sandbox download through its proxy from servers of the test.

See docs/files-and-commands.md#the-sandbox. An agent of stage trusted runs them, with a capability for the loopback.
Tests of programs that are not installed where the sandbox sees them are skipped.
"""

import functools
import gzip
import hashlib
import http.server
import io
import json
import re
import shutil
import ssl
import subprocess
import tarfile
import threading
import zipfile
from pathlib import Path

import pytest

from certificates import make_certificate
from tools import call_tool, new_bound_agent, new_thread

SYSTEM_PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
NODE_OF_THE_PAGE = Path(__file__).parents[2] / "web/node_modules/node/bin/node"
COMMAND_TIMEOUT = 300  # seconds, on a busy machine


class Files(http.server.SimpleHTTPRequestHandler):
    """Serves files and records the requested paths."""
    protocol_version = "HTTP/1.1"

    def log_message(self, *_):
        pass

    def send_head(self):
        self.server.paths.append(self.path)
        return super().send_head()


def serve(directory, certificate=None):
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(Files, directory=str(directory)))
    server.paths = []
    server.daemon_threads = True
    if certificate:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(*certificate)
        server.socket = context.wrap_socket(server.socket, server_side=True)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    return server


@pytest.fixture
def start_server(tmp_path):
    """Starts servers for the directory `tmp_path/site`; with `certificate=…`, they speak HTTPS."""
    servers = []
    site = tmp_path / "site"
    site.mkdir()

    def start(**options):
        servers.append(serve(site, **options))
        return servers[-1]
    start.site = site
    yield start
    for server in servers:
        server.shutdown()
        server.server_close()


@pytest.fixture
def certificate(tmp_path):
    return make_certificate(tmp_path)


@pytest.fixture
def bash(talker, new_name):
    """Runs commands of a trusted agent in its workspace, which is `bash.workspace`."""
    agent = new_bound_agent(talker.gateway, new_name, hosts=["127.0.0.1", "localhost"])
    thread = new_thread(talker.gateway, agent)

    def run(command):
        end = call_tool(talker, thread, "Bash", {"command": command, "timeout_s": COMMAND_TIMEOUT})
        run.hosts = talker.gateway.http.get(f"/runs/{end['runId']}/changes").json()["hosts"]
        return end["output"]
    run.workspace = talker.gateway.data / "agents" / agent["name"] / "workspace"
    run.workspace.mkdir(parents=True, exist_ok=True)
    return run


def require_program(program):
    if not shutil.which(program, path=SYSTEM_PATH):
        pytest.skip(f"{program} is not installed for all users")


def require_module(module):
    if subprocess.run(["/usr/bin/python3", "-c", f"import {module}"], capture_output=True).returncode != 0:
        pytest.skip(f"/usr/bin/python3 has no {module}")


def url_of(server, scheme="http"):
    return f"{scheme}://127.0.0.1:{server.server_address[1]}"


def assert_downloaded_by_proxy(bash, server):
    """Asserts that the server got requests, and only through the proxy."""
    assert server.paths
    assert [(each["host"], each["port"], each["allowed"]) for each in bash.hosts] == [
        ("127.0.0.1", server.server_address[1], True)]


def test_curl_and_wget(bash, start_server, certificate):
    (start_server.site / "a.txt").write_text("fetched")
    server = start_server(certificate=certificate)
    shutil.copy(certificate[0], bash.workspace / "ca.crt")
    for program in "curl -sS --cacert ca.crt", "wget -q -O - --ca-certificate ca.crt":
        if program.startswith("wget") and not shutil.which("wget", path=SYSTEM_PATH):
            continue
        output = bash(f"{program} {url_of(server, 'https')}/a.txt")
        assert output.startswith("fetched"), output
        assert_downloaded_by_proxy(bash, server)


def test_git_clone_over_https(bash, start_server, certificate, tmp_path):
    require_program("git")
    source = tmp_path / "source"
    identity = ["-c", "user.name=t", "-c", "user.email=t@example.org", "-c", "init.defaultBranch=main"]
    subprocess.run(["git", *identity, "init", "-q", source], check=True)
    (source / "read.me").write_text("cloned")
    subprocess.run(["git", *identity, "-C", source, "add", "."], check=True)
    subprocess.run(["git", *identity, "-C", source, "commit", "-qm", "One"], check=True)
    subprocess.run(["git", "clone", "-q", "--bare", source, start_server.site / "x.git"], check=True)
    subprocess.run(["git", "-C", start_server.site / "x.git", "update-server-info"], check=True)
    server = start_server(certificate=certificate)
    shutil.copy(certificate[0], bash.workspace / "ca.crt")
    output = bash(f"GIT_SSL_CAINFO=$PWD/ca.crt git clone -q {url_of(server, 'https')}/x.git && cat x/read.me")
    assert "cloned" in output, output
    assert_downloaded_by_proxy(bash, server)


def tar(members):
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w:gz") as archive:
        for name, text in members.items():
            entry = tarfile.TarInfo(name)
            entry.size = len(text)
            archive.addfile(entry, io.BytesIO(text.encode()))
    return packed.getvalue()


def test_npm_install(bash, start_server):
    require_program("npm")
    server = start_server()
    package = {"name": "tiny-thing", "version": "1.0.0", "main": "index.js"}
    packed = tar({"package/package.json": json.dumps(package), "package/index.js": "console.log('installed')"})
    (start_server.site / "tiny-thing-1.0.0.tgz").write_bytes(packed)
    tarball = f"{url_of(server)}/tiny-thing-1.0.0.tgz"
    (start_server.site / "tiny-thing").write_text(json.dumps({
        "name": "tiny-thing", "dist-tags": {"latest": "1.0.0"},
        "versions": {"1.0.0": {**package, "dist": {"tarball": tarball, "shasum": hashlib.sha1(packed).hexdigest()}}}}))
    output = bash(f"npm i --registry {url_of(server)} --cache ./cache --no-audit --no-fund --no-update-notifier tiny-thing "
                  "2>&1 && node node_modules/tiny-thing")
    assert "installed" in output, output
    assert_downloaded_by_proxy(bash, server)


def test_pip_install(bash, start_server):
    require_module("pip")
    server = start_server()
    wheel = io.BytesIO()
    with zipfile.ZipFile(wheel, "w") as archive:
        archive.writestr("tiny_thing.py", "print('installed')")
        archive.writestr("tiny_thing-1.0.dist-info/METADATA", "Metadata-Version: 2.1\nName: tiny-thing\nVersion: 1.0\n")
        archive.writestr("tiny_thing-1.0.dist-info/WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n")
        archive.writestr("tiny_thing-1.0.dist-info/RECORD", "")
    index = start_server.site / "simple/tiny-thing"
    index.mkdir(parents=True)
    name = "tiny_thing-1.0-py3-none-any.whl"
    (index / name).write_bytes(wheel.getvalue())
    (index / "index.html").write_text(f'<a href="{name}">{name}</a>')
    output = bash("/usr/bin/python3 -m pip install -q --disable-pip-version-check --no-cache-dir --target there --index-url "
                  f"{url_of(server)}/simple tiny-thing 2>&1 && PYTHONPATH=there /usr/bin/python3 -m tiny_thing")
    assert "installed" in output, output
    assert_downloaded_by_proxy(bash, server)


def test_cargo_build(bash, start_server):
    require_program("cargo")
    version = subprocess.run(["cargo", "--version"], env={"PATH": SYSTEM_PATH}, capture_output=True, text=True).stdout
    if [int(part) for part in re.findall(r"\d+", version)[:2]] < [1, 68]:
        pytest.skip(f"{version.strip()} cannot read registries over HTTP")
    server = start_server()
    packed = tar({"tiny-thing-1.0.0/Cargo.toml": '[package]\nname = "tiny-thing"\nversion = "1.0.0"\nedition = "2021"\n',
                  "tiny-thing-1.0.0/src/lib.rs": 'pub fn say() { println!("built"); }\n'})
    (start_server.site / "files/tiny-thing/1.0.0").mkdir(parents=True)
    (start_server.site / "files/tiny-thing/1.0.0/download").write_bytes(packed)
    (start_server.site / "config.json").write_text(json.dumps({"dl": f"{url_of(server)}/files"}))
    (start_server.site / "ti/ny").mkdir(parents=True)
    (start_server.site / "ti/ny/tiny-thing").write_text(json.dumps({
        "name": "tiny-thing", "vers": "1.0.0", "deps": [], "cksum": hashlib.sha256(packed).hexdigest(), "features": {},
        "yanked": False}) + "\n")
    project = bash.workspace / "uses"
    (project / "src").mkdir(parents=True)
    (project / ".cargo").mkdir()
    (project / ".cargo/config.toml").write_text(
        f'[registries.own]\nindex = "sparse+{url_of(server)}/"\n[http]\nmultiplexing = false\n')
    (project / "Cargo.toml").write_text(
        '[package]\nname = "uses"\nversion = "0.1.0"\nedition = "2021"\n'
        '[dependencies]\ntiny-thing = {version = "1", registry = "own"}\n')
    (project / "src/main.rs").write_text("fn main() { tiny_thing::say(); }\n")
    output = bash("cd uses && CARGO_HOME=$PWD/home cargo run -q 2>&1")
    assert "built" in output, output
    assert_downloaded_by_proxy(bash, server)


def test_apt_get_download(bash, start_server, tmp_path):
    require_program("apt-get")
    require_program("dpkg-deb")
    contents = tmp_path / "package"
    (contents / "DEBIAN").mkdir(parents=True)
    (contents / "DEBIAN/control").write_text(
        "Package: tiny-thing\nVersion: 1.0\nArchitecture: all\nMaintainer: t <t@example.org>\nDescription: tiny\n")
    package = start_server.site / "tiny-thing_1.0_all.deb"
    subprocess.run(["dpkg-deb", "--build", "--root-owner-group", contents, package], check=True, capture_output=True)
    content = package.read_bytes()
    index = (contents / "DEBIAN/control").read_text() + (
        f"Filename: ./{package.name}\nSize: {len(content)}\nSHA256: {hashlib.sha256(content).hexdigest()}\n")
    (start_server.site / "Packages").write_text(index)
    (start_server.site / "Packages.gz").write_bytes(gzip.compress(index.encode()))
    server = start_server()
    for directory in "state/lists/partial", "cache/archives/partial":
        (bash.workspace / directory).mkdir(parents=True)
    (bash.workspace / "status").touch()
    (bash.workspace / "sources.list").write_text(f"deb [trusted=yes] {url_of(server)} ./\n")
    options = ("-qq -o Dir::Etc::sourcelist=$PWD/sources.list -o Dir::Etc::sourceparts=/dev/null -o Dir::State=$PWD/state "
               "-o Dir::State::status=$PWD/status -o Dir::Cache=$PWD/cache -o APT::Sandbox::User=root "
               "-o Debug::NoLocking=true")
    output = bash(f"apt-get {options} update 2>&1 && apt-get {options} download tiny-thing 2>&1 && ls *.deb")
    assert package.name in output, output
    assert_downloaded_by_proxy(bash, server)


def test_requests_of_python(bash, start_server):
    require_module("requests")
    (start_server.site / "a.txt").write_text("fetched")
    server = start_server()
    output = bash(f"/usr/bin/python3 -c 'import requests; print(requests.get(\"{url_of(server)}/a.txt\").text)'")
    assert "fetched" in output, output
    assert_downloaded_by_proxy(bash, server)


def test_urllib_of_python(bash, start_server):
    (start_server.site / "a.txt").write_text("fetched")
    server = start_server()
    output = bash(f"/usr/bin/python3 -c 'import urllib.request as u; print(u.urlopen(\"{url_of(server)}/a.txt\").read())'")
    assert "fetched" in output, output
    assert_downloaded_by_proxy(bash, server)


def test_fetch_of_node(bash, start_server):
    """Node supports proxies since 22.21 and 24.0; the one that builds the page does."""
    node = next((path for path in (shutil.which("node", path=SYSTEM_PATH), NODE_OF_THE_PAGE) if supports_proxies(path)), None)
    if not node:
        pytest.skip("no node from version 22.21 on is installed")
    shutil.copy(node, bash.workspace / "node")
    (start_server.site / "a.txt").write_text("fetched")
    server = start_server()
    output = bash(f"./node -e 'fetch(\"{url_of(server)}/a.txt\").then((r) => r.text()).then(console.log)' 2>&1")
    assert "fetched" in output, output
    assert_downloaded_by_proxy(bash, server)


def supports_proxies(node):
    if not node or not Path(node).exists():
        return False
    printed = subprocess.run([node, "--version"], capture_output=True, text=True, check=True).stdout
    major, minor, _ = map(int, printed.strip().removeprefix("v").split("."))
    return (major, minor) >= (22, 21) and major != 23
