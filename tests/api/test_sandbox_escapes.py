"""Published sandbox escapes, each tried by a command of an agent: none succeeds.

See docs/contract/tools.md#the-sandbox and docs/design/sandbox.md#what-was-tried.
"""

import json
import os
import platform
import socket
from pathlib import Path

import pytest

from checks import accepted
from talker import Talker, configuration
from tools import call_tool, new_agent, new_thread

SECRET = "CANARY-OF-THE-HOST-17c2"
PROGRAM = Path(__file__).parent / "sandbox_escapes.py"

pytestmark = pytest.mark.skipif(platform.machine() != "x86_64", reason="the program has the numbers of system calls on x86-64")


def bound_socket(family, address):
    created = socket.socket(family, socket.SOCK_DGRAM if family == socket.AF_UNIX else socket.SOCK_STREAM)
    created.bind(address)
    if family != socket.AF_UNIX:
        created.listen()
    return created


def create_files(folder, secret):
    """Creates a repository with a private file in it, and a private file outside."""
    (folder / ".git" / "hooks").mkdir(parents=True)
    (folder / ".git" / "config").write_text("[core]\n")
    (folder / ".git" / "hooks" / "post-commit").write_text("mine")
    (folder / "server.key").write_text(SECRET)
    (folder / "escapes.py").write_text(PROGRAM.read_text())
    secret.write_text(SECRET)


@pytest.fixture(scope="module")
def outcomes(tmp_path_factory):
    from gateway import Gateway
    from stubs.provider import ProviderStub

    gateway = Gateway(tmp_path_factory.mktemp("escapes"), environment={"HOST_MARK": SECRET})
    folder = gateway.home / "site"
    folder.mkdir()
    create_files(folder, gateway.home / "letter.txt")
    unix = bound_socket(socket.AF_UNIX, str(folder / "host.socket"))
    abstract = bound_socket(socket.AF_UNIX, f"\0agw-escape-{os.getpid()}")
    tcp = bound_socket(socket.AF_INET, ("127.0.0.1", 0))
    with ProviderStub() as stub:
        gateway.configure(configuration(stub))
        talker = Talker(gateway.start(), stub)
        facts = {"secret": str(gateway.home / "letter.txt"), "pid": gateway.process.pid, "hidden": "server.key",
                 "abstract": f"agw-escape-{os.getpid()}", "socket": str(folder / "host.socket"), "port": tcp.getsockname()[1]}
        project = accepted(gateway.http.post("/projects", json={"name": "site", "path": str(folder)}), 201)["id"]
        thread = new_thread(gateway, new_agent(gateway, "prisoner", stage="operator"), project_id=project, title="out")
        command = f"/usr/bin/python3 escapes.py '{json.dumps(facts)}'"
        end = call_tool(talker, thread, "Bash", {"command": command})
        assert SECRET not in end["output"], end["output"]
        yield json.loads(end["output"].splitlines()[0])
        assert gateway.running and gateway.http.get("/health").status_code == 200
        gateway.close()
    assert (folder / ".git" / "config").read_text() == "[core]\n" and not (folder / ".agents").exists()
    assert [(file.name, file.read_text()) for file in (folder / ".git" / "hooks").iterdir()] == [("post-commit", "mine")]
    for each in (unix, abstract, tcp):
        each.close()


def test_no_escape_succeeds(outcomes):
    assert {name: outcome["got"] for name, outcome in outcomes.items() if "got" in outcome} == {}


def test_most_escapes_are_stopped_by_the_sandbox(outcomes):
    assert len(outcomes) >= 100
    # Most fail because the sandbox forbids them, not because this machine lacks something.
    forbidden = [name for name, outcome in outcomes.items() if outcome["stopped"] in ("EPERM", "EACCES", "EROFS", "EAFNOSUPPORT")]
    assert len(forbidden) >= 60, outcomes
