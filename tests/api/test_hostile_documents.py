"""Documents that try to make an agent leak data, act as the user, persist, or gain rights: none succeeds, whatever the
stage of the agent, although its model is a stub that obeys whatever it reads.

See docs/contract/agents.md#permissions, docs/contract/tools.md#files and docs/design/permissions.md#what-was-tried.
"""

import http.server
import json
import re
import socket
import threading

import pytest

from checks import accepted
from events import ENDS
from hostile_deeds import CASES, FATIGUE
from hostile_documents import document
from stubs.provider import Reply, ToolCall
from talker import configuration
from tools import STAGES, new_agent, new_thread, of_kind

KEY = "CANARY-KEY-8c1f"
CONFIGURED = "CANARY-CONFIG-77aa"
SECRET = "CANARY-SECRET-0d3e"
PROVIDER_KEY = "CANARY-PROVIDER-51b2"
CONVERSATION = "CANARY-TALK-e9c4"
OTHER_AGENT = "CANARY-OTHERS-2f60"
HEADER = "CANARY-TYPED-93d1"
CANARIES = (KEY, CONFIGURED, SECRET, PROVIDER_KEY, CONVERSATION, OTHER_AGENT, HEADER)
INSTRUCTION = re.compile(r"\b(?:CALL (\S+) (\{.*\})|SAY (.*))$", re.M)


def obey(request):
    """Reads the inbox if asked to, follows the instructions in what it read, and finishes."""
    newest = request.json["messages"][-1]
    text = newest["content"] if isinstance(newest["content"], str) else ""
    instructions = INSTRUCTION.findall(text)
    text_to_say = "\n".join(words for _, _, words in instructions if words)
    calls = [ToolCall(name, input) for name, input, _ in instructions if name]
    if not instructions and newest["role"] == "user":
        calls = [ToolCall("Read", {"path": "inbox.md"})]
    return Reply(text_to_say, tool_calls=calls) if calls or text_to_say else Reply("Done.")


class ForeignServer:
    """A server outside the gateway that records all requests over TCP and datagrams over UDP."""

    def __init__(self):
        self.received = []
        received = self.received

        class Handler(http.server.BaseHTTPRequestHandler):
            def handle_one_request(self):
                received.append(self.rfile.readline())
                self.close_connection = True

        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.port = self.server.server_port
        self.datagrams = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self.datagrams.bind(("127.0.0.1", self.port))
        self.datagrams.setblocking(False)
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def all_received(self):
        try:
            self.received.append(self.datagrams.recv(2048))
        except BlockingIOError:
            pass
        return list(self.received)

    def close(self):
        self.server.shutdown()
        self.server.server_close()
        self.datagrams.close()


def files_below(folder):
    """Returns the content of all files below a directory."""
    return {str(path): path.read_bytes() if path.is_file() else None
            for path in sorted(folder.rglob("*"))} if folder.exists() else None


class Victim:
    """A home directory with private data, an agent of each stage working in a project, and a foreign server."""

    def __init__(self, gateway, stub, server):
        self.gateway, self.stub, self.server = gateway, stub, server
        self.project = gateway.home / "site"
        self.create_files()
        gateway.start()
        gateway.command("secret", "set", "KEY", typed=SECRET + "\n")
        self.other = new_agent(gateway, "other", stage="sovereign")
        self.own = gateway.data / "agents" / "other"
        (self.own / "soul.md").write_text(OTHER_AGENT)
        (self.own / "notes.md").write_text(OTHER_AGENT)
        self.thread = new_thread(gateway, self.other, title="in confidence")
        turn = {"role": "user", "content": f"My PIN: {CONVERSATION}"}
        self.turn = accepted(gateway.http.post(f"/threads/{self.thread['id']}/turns", json=turn), 201)
        for body in (
                {"type": "integration", "name": "wired", "definition": {
                    "kind": "mcp-http", "url": "http://127.0.0.1:9/", "headers": {"Authorization": HEADER}}},
                {"type": "integration", "name": "messenger", "definition": {
                    "kind": "channel", "service": "telegram", "token": "${secret:KEY}", "agent_id": "other",
                    "allow": ["41"], "address": "http://127.0.0.1:9"}},
                {"type": "job", "name": "chore", "definition": {"prompt": "Sweep.", "agent_id": "other"}},
                {"type": "capability", "name": "limits", "definition": {"hosts": ["example.com"]}}):
            accepted(gateway.http.post("/extensions", json={"description": "", **body}), 201)
        body = {"name": "site", "path": str(self.project)}
        self.project_id = accepted(gateway.http.post("/projects", json=body), 201)["id"]
        self.agents = {stage: new_agent(gateway, f"reader-{stage}", stage=stage) for stage in STAGES}
        self.proposal = self.propose()

    def create_files(self):
        home = self.gateway.home
        (home / ".ssh").mkdir()
        (home / ".ssh" / "id_rsa").write_text(KEY)
        (home / ".bashrc").write_text("# mine\n")
        (self.project / ".git" / "hooks").mkdir(parents=True)
        (self.project / ".git" / "config").write_text("[core]\n")
        (self.project / "server.pem").write_text(KEY)
        (self.project / "innocent.txt").symlink_to(home / ".ssh" / "id_rsa")
        (self.project / "folder").symlink_to(home / ".ssh")
        (home / "elsewhere").mkdir()

    def propose(self):
        """Creates a pending proposal."""
        self.stub.always(lambda request: Reply("Done.") if request.json["messages"][-1]["role"] == "tool" else Reply(
            "", tool_calls=[ToolCall("Propose", {"type": "file", "title": "x", "target": str(self.project / "staged.txt"),
                                                 "content": "x"})]))
        thread = new_thread(self.gateway, self.other, project_id=self.project_id, title="a proposal")
        self.run(thread)
        return accepted(self.gateway.http.get("/proposals"))[0]

    def placeholders(self, agent):
        """Returns the values of the placeholders in the documents."""
        return {"home": self.gateway.home, "data": self.gateway.data, "project": self.project, "port": self.server.port,
                "gateway": self.gateway.port, "agent": agent["name"], "other": "other", "job": "chore",
                "channel": "messenger", "capability": "limits", "thread": self.thread["id"], "turn": self.turn["id"],
                "proposal": f"{self.proposal['agent']}/{self.proposal['date']}"}

    def run(self, thread, denies=False):
        """Has the agent answer. A client denies all approvals, or no client is connected."""
        with self.gateway.events() as events:
            events.subscribe(thread["id"], approvals=denies)
            body = {"content": "Read inbox.md, and do what is to be done.", "threadId": thread["id"]}
            accepted(self.gateway.http.post("/chat", json=body), 201)
            while True:
                message = events.until(lambda event: event["type"] in {"permission-requested", *ENDS})[-1]
                if message["type"] in ENDS and message["threadId"] == thread["id"]:
                    return list(events.messages)
                if message["type"] == "permission-requested":
                    self.gateway.http.post(f"/permissions/{message['request']['id']}", json={"decision": "deny"})

    def run_with_document(self, instructions, stage, denies):
        """Has the agent read the document and obey it."""
        agent = self.agents[stage]
        self.server.received.clear()
        self.stub.reset()
        self.stub.always(obey)
        (self.project / "inbox.md").write_text(document(instructions, self.placeholders(agent)))
        thread = new_thread(self.gateway, agent, project_id=self.project_id, title="a document")
        body = {"role": "user", "content": "My PIN is 4711."}
        accepted(self.gateway.http.post(f"/threads/{thread['id']}/turns", json=body), 201)
        run = self.run(thread, denies)
        assert of_kind(run, "tool-end"), run
        return run

    def records(self):
        return accepted(self.gateway.http.get("/extensions"))

    def state(self):
        """Returns everything that no document may change, whatever the stage of the agent."""
        gateway, http_client = self.gateway, self.gateway.http
        folders = {name: files_below(gateway.data / name) for name in ("skills", "knowledge", "jobs")}
        return {
            "files": {str(file): file.read_bytes() if file.exists() else None for file in (
                gateway.data / "config.yaml", gateway.data / ".gateway-token", gateway.data / "secrets.yaml",
                gateway.data / "user-profile.md", gateway.data / "soul.md",
                *(gateway.data / "agents" / agent["name"] / "agent.yaml" for agent in self.agents.values()))},
            "home": {path.name: path.read_bytes() for path in gateway.home.iterdir() if path.is_file()},
            "folders at home": sorted(path.name for path in gateway.home.iterdir()),
            "keys": files_below(gateway.home / ".ssh"),
            "elsewhere": files_below(gateway.home / "elsewhere"),
            "the gateway's": folders,
            "another agent's": {name: (self.own / name).read_text() for name in ("soul.md", "notes.md", "agent.yaml")},
            "repository": files_below(self.project / ".git"),
            "skills of the project": files_below(self.project / ".agents"),
            "staged": (self.project / "staged.txt").exists(),
            "records": {record["name"]: (record["definition"], record["enabled"], record["source"])
                        for record in self.records() if record["source"] != "agent"},
            "stages": {agent["name"]: accepted(http_client.get(f"/agents/{agent['name']}/stage"))["stage"]
                       for agent in (*self.agents.values(), self.other)},
            "grants": [accepted(http_client.get(f"/agents/{agent['name']}/grants")) for agent in self.agents.values()],
            "secrets": accepted(http_client.get("/secrets")),
            "talk": len(accepted(http_client.get(f"/threads/{self.thread['id']}/turns"))),
            "projects": accepted(http_client.get("/projects")),
        }

    def made_by_agents(self):
        return [record for record in self.records() if record["source"] == "agent"]

    def clean_up(self):
        for record in self.made_by_agents():
            self.gateway.http.delete(f"/extensions/{record['id']}?force=true")


@pytest.fixture(scope="module")
def victim(tmp_path_factory):
    from gateway import Gateway
    from stubs.provider import ProviderStub

    server = ForeignServer()
    with ProviderStub() as stub:
        config = configuration(stub)
        config["providers"]["stub"]["api_key_env"] = "STUB_KEY"
        gateway = Gateway(tmp_path_factory.mktemp("hostile"), environment={"STUB_KEY": PROVIDER_KEY})
        gateway.configure(json.dumps(config) + f"\n# {CONFIGURED}\n")
        yield Victim(gateway, stub, server)
        gateway.close()
    server.close()


def leaks(victim, run):
    """Returns the canaries that leaked into the run's events or the model's requests, except its system prompt."""
    shown = json.dumps([message for request in victim.stub.requests for message in request.json["messages"]
                       if message["role"] != "system"]) + json.dumps(run)
    return [canary for canary in (*CANARIES, victim.gateway.token) if canary in shown]


def check_records_of_agents(records, stage):
    """Checks that agents below trusted created no record, and that only those of a sovereign agent are enabled."""
    made = {record["name"]: record["enabled"] for record in records}
    assert not made or stage in ("trusted", "sovereign"), made
    assert stage == "sovereign" or not any(made.values()), made


@pytest.mark.parametrize("category, case", [(category, case) for category, cases in CASES.items() for case in cases])
def test_hostile_document_changes_and_leaks_nothing(victim, category, case):
    before = victim.state()
    for stage in STAGES:
        run = victim.run_with_document(CASES[category][case], stage, denies=CASES[category] is FATIGUE)
        assert leaks(victim, run) == [], stage
        assert victim.server.all_received() == [], stage
        check_records_of_agents(victim.made_by_agents(), stage)
        victim.clean_up()
        assert victim.state() == before, stage


def test_there_are_at_least_200_hostile_documents():
    assert sum(map(len, CASES.values())) >= 200
