"""The gateway's manifests, checked by the real linters and clients of their formats.

These are Node programs, installed by `npm ci` in tests/api/manifests. The tests are skipped if that fails.

See docs/contract/system.md#manifests.
"""

import fcntl
import json
import subprocess
from pathlib import Path

import pytest

from checks import PATIENCE, accepted

HERE = Path(__file__).parent / "manifests"
MODULES = HERE / "node_modules"


@pytest.fixture(scope="session")
def node():
    with (HERE / "package.json").open() as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not (MODULES / ".installed").exists():
            try:
                done = subprocess.run(["npm", "ci", "--no-audit", "--no-fund"], cwd=HERE, capture_output=True, text=True,
                                      timeout=300)
            except (FileNotFoundError, subprocess.TimeoutExpired) as error:
                pytest.skip(f"the clients cannot be installed: {error}")
            if done.returncode != 0:
                pytest.skip(f"the clients cannot be installed: {done.stderr[-500:]}")
            (MODULES / ".installed").touch()
    return MODULES / "node" / "bin" / "node"


@pytest.fixture(scope="module")
def documents(gateway, tmp_path_factory):
    folder = tmp_path_factory.mktemp("documents")
    for name in ("openapi.json", "asyncapi.json"):
        (folder / name).write_bytes(gateway.http.get("/" + name).content)
    return folder


def run(node, *arguments, text=""):
    done = subprocess.run([str(node), *map(str, arguments)], cwd=HERE, input=text, capture_output=True, text=True,
                          timeout=4 * PATIENCE)
    assert done.returncode == 0, f"{done.stdout}\n{done.stderr}"
    return done.stdout


def test_redocly_accepts_the_openapi_document(node, documents):
    run(node, MODULES / ".bin" / "redocly", "lint", documents / "openapi.json")


def test_spectral_accepts_the_openapi_document(node, documents):
    run(node, MODULES / ".bin" / "spectral", "lint", "--ruleset", HERE / "spectral.yaml", documents / "openapi.json")


def test_asyncapi_parser_accepts_the_document(node, documents):
    assert run(node, HERE / "asyncapi.mjs", documents / "asyncapi.json") == ""


def call(node, gateway, *calls):
    """Returns the names of the tools that the client registered, and the responses to the calls."""
    printed = json.loads(run(node, HERE / "utcp.mjs", gateway.url, gateway.token, text=json.dumps(calls)))
    return printed["tools"], printed["answers"]


def test_utcp_client_registers_every_tool(node, gateway):
    tools, _ = call(node, gateway)
    manual = accepted(gateway.http.get("/utcp"))["tools"]
    assert {name.removeprefix("gateway.") for name in tools} == {tool["name"] for tool in manual}


def test_utcp_client_calls_tools_of_each_method(node, gateway, new_name):
    thread = accepted(gateway.http.post("/threads", json={"title": "by hand"}), 201)
    body = {"content": "a & b/c?", "role": "user"}
    turn = accepted(gateway.http.post(f"/threads/{thread['id']}/turns", json=body), 201)
    soul = new_name("utcp")
    _, responses = call(
        node, gateway,
        ["get_health", {}],
        ["get_threads_id_turns", {"id": thread["id"], "limit": 1, "role": "user"}],
        ["post_threads", {"body": {"title": "by the client"}}],
        ["patch_threads_id", {"id": thread["id"], "body": {"title": "changed", "archived": True}}],
        ["put_agents_name_soul", {"name": soul, "body": {"content": "I am."}}],
        ["delete_turns_id", {"id": turn["id"]}],
        ["get_extensions_id", {"id": "nobody"}],
    )
    assert all("answer" in one for one in responses[:-1]), responses
    health, turns, made, changed, written, _, missing = responses
    assert health["answer"]["status"] == "ok" and [one["content"] for one in turns["answer"]] == ["a & b/c?"]
    assert made["answer"]["title"] == "by the client" and written["answer"] == {"status": "ok"}
    assert (changed["answer"]["title"], changed["answer"]["archived"]) == ("changed", True)
    assert accepted(gateway.http.get(f"/agents/{soul}/soul")) == {"content": "I am."}
    assert accepted(gateway.http.get(f"/threads/{thread['id']}/turns")) == []
    assert "extension not found" in missing["error"]
