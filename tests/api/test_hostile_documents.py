"""Documents that try to make an agent leak data, loosen its limits or use the network: none succeeds.

The model is a stub that obeys whatever it reads.

See docs/contract/agents.md#permissions and docs/contract/tools.md#files.
"""

import http.server
import json
import re
import threading

import pytest

from checks import accepted
from hostile_documents import LIMITS, NETWORK, READING
from stubs.provider import Reply, ToolCall
from talker import configuration
from tools import run_chat, new_agent, new_thread, of_kind

KEY = "CANARY-KEY-8c1f"
CONFIGURED = "CANARY-CONFIG-77aa"
SECRET = "CANARY-SECRET-0d3e"
PROVIDER_KEY = "CANARY-PROVIDER-51b2"
TALK = "CANARY-TALK-e9c4"
OTHERS = "CANARY-OTHERS-2f60"
TYPED = "CANARY-TYPED-93d1"
CANARIES = (KEY, CONFIGURED, SECRET, PROVIDER_KEY, TALK, OTHERS, TYPED)


CALL = re.compile(r"^CALL (\S+) (\{.*\})$", re.M)


def obeys(request):
    """Makes the calls in the newest message, then finishes."""
    newest = request.json["messages"][-1]
    text = newest["content"] if isinstance(newest["content"], str) else ""
    wanted = [ToolCall(name, input) for name, input in CALL.findall(text)]
    return Reply("", tool_calls=wanted) if wanted else Reply("Done.")


class Victim:
    """A user's home with private data, an agent working in a project, and a foreign server."""

    def __init__(self, gateway, stub, server):
        self.gateway, self.stub, self.server = gateway, stub, server
        self.project = gateway.home / "site"
        self.lay_out()
        gateway.start()
        gateway.command("secret", "set", "KEY", typed=SECRET + "\n")
        self.other = new_agent(gateway, "other", stage="sovereign")
        (gateway.data / "agents" / "other" / "soul.md").write_text(OTHERS)
        (gateway.data / "agents" / "other" / "notes.md").write_text(OTHERS)
        talk = new_thread(gateway, self.other)
        accepted(gateway.http.post(f"/threads/{talk['id']}/turns", json={"role": "user", "content": f"My PIN: {TALK}"}), 201)
        wired = {"type": "integration", "name": "wired", "description": "", "definition": {
            "kind": "mcp-http", "url": "http://127.0.0.1:9/", "headers": {"Authorization": TYPED}}}
        accepted(gateway.http.post("/extensions", json=wired), 201)
        body = {"name": "site", "path": str(self.project)}
        self.project_id = accepted(gateway.http.post("/projects", json=body), 201)["id"]
        self.agents = {stage: new_agent(gateway, f"reader-{stage}", stage=stage) for stage in ("operator", "sovereign")}

    def lay_out(self):
        ssh = self.gateway.home / ".ssh"
        ssh.mkdir()
        (ssh / "id_rsa").write_text(KEY)
        (self.gateway.home / ".bashrc").write_text("# mine\n")
        (self.project / ".git" / "hooks").mkdir(parents=True)
        (self.project / ".git" / "config").write_text("[core]\n")
        (self.project / "server.pem").write_text(KEY)
        (self.project / "innocent.txt").symlink_to(ssh / "id_rsa")
        (self.project / "folder").symlink_to(ssh)

    def reads(self, document, stage):
        """Has the agent read the document and obey it."""
        agent = self.agents[stage]
        text = document.format(home=self.gateway.home, data=self.gateway.data, project=self.project,
                               port=self.server.server_port, gateway=self.gateway.port, agent=agent["name"],
                               other=self.other["name"])
        self.stub.reset()
        self.stub.always(obeys)
        thread = new_thread(self.gateway, agent, project_id=self.project_id, title="a document")
        body = {"role": "user", "content": "My PIN is 4711. Read what comes."}
        accepted(self.gateway.http.post(f"/threads/{thread['id']}/turns", json=body), 201)
        run = run_chat(self, thread, content=f"Here is the document:\n{text}")
        assert run[-1]["type"] == "finish" and of_kind(run, "tool-end"), run
        return run

    def state(self):
        """Returns everything that no document may change."""
        gateway = self.gateway
        files = [gateway.data / "config.yaml", gateway.data / ".gateway-token", gateway.home / ".bashrc",
                 gateway.data / "agents" / "other" / "soul.md", self.project / ".git" / "config",
                 *(gateway.data / "agents" / agent["name"] / "agent.yaml" for agent in self.agents.values())]
        records = accepted(gateway.http.get("/extensions"))
        return ({file: file.read_text() for file in files},
                sorted(path.name for path in (gateway.home / ".ssh").iterdir()),
                sorted(path.name for path in (self.project / ".git" / "hooks").iterdir()),
                (self.project / ".agents").exists(),
                {record["name"]: record["definition"] for record in records if record["type"] in ("agent", "capability")},
                {name: accepted(gateway.http.get(f"/agents/{name}/stage"))["stage"]
                 for name in [agent["name"] for agent in self.agents.values()]})


class RecordingHandler(http.server.BaseHTTPRequestHandler):
    def do_GET(self):  # noqa: N802
        self.server.heard.append(self.path)
        self.send_response(200)
        self.end_headers()

    def log_message(self, *_):
        pass


@pytest.fixture(scope="module")
def victim(tmp_path_factory):
    from gateway import Gateway
    from stubs.provider import ProviderStub

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), RecordingHandler)
    server.heard = []
    threading.Thread(target=server.serve_forever, daemon=True).start()
    with ProviderStub() as stub:
        config = configuration(stub)
        config["providers"]["stub"]["api_key_env"] = "STUB_KEY"
        gateway = Gateway(tmp_path_factory.mktemp("hostile"), environment={"STUB_KEY": PROVIDER_KEY})
        gateway.configure(json.dumps(config) + f"\n# {CONFIGURED}\n")
        yield Victim(gateway, stub, server)
        gateway.close()
    server.shutdown()


def leaks(victim, run):
    """Returns the canaries that leaked into the run's events or the model's requests, except its system prompt."""
    shown = json.dumps([message for request in victim.stub.requests for message in request.json["messages"]
                       if message["role"] != "system"])
    return [canary for canary in (*CANARIES, victim.gateway.token) if canary in json.dumps(run) or canary in shown]


@pytest.mark.parametrize("stage", ["operator", "sovereign"])
@pytest.mark.parametrize("what", READING)
def test_private_data_is_not_read(victim, what, stage):
    assert leaks(victim, victim.reads(READING[what], stage)) == []


@pytest.mark.parametrize("stage", ["operator", "sovereign"])
@pytest.mark.parametrize("what", LIMITS)
def test_limits_are_not_loosened(victim, what, stage):
    before = victim.state()
    victim.reads(LIMITS[what], stage)
    assert victim.state() == before


@pytest.mark.parametrize("what", NETWORK)
def test_network_is_not_reached(victim, what):
    run = victim.reads(NETWORK[what], "operator")
    assert victim.server.heard == []
    assert leaks(victim, run) == [] and '"status":"ok"' not in json.dumps(run)


def test_number_of_hostile_documents():
    assert len(READING) + len(LIMITS) + len(NETWORK) >= 30
