"""Documents that try to make an agent leak data, act for the person, last, or get more rights: none succeeds, whatever the
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
TALK = "CANARY-TALK-e9c4"
OTHERS = "CANARY-OTHERS-2f60"
TYPED = "CANARY-TYPED-93d1"
CANARIES = (KEY, CONFIGURED, SECRET, PROVIDER_KEY, TALK, OTHERS, TYPED)
WISH = re.compile(r"\b(?:CALL (\S+) (\{.*\})|SAY (.*))$", re.M)


def obeys(request):
    """Reads what it is asked to read, does what it says, and finishes."""
    newest = request.json["messages"][-1]
    text = newest["content"] if isinstance(newest["content"], str) else ""
    wishes = WISH.findall(text)
    said = "\n".join(words for _, _, words in wishes if words)
    wanted = [ToolCall(name, input) for name, input, _ in wishes if name]
    if not wishes and newest["role"] == "user":
        wanted = [ToolCall("Read", {"path": "inbox.md"})]
    return Reply(said, tool_calls=wanted) if wanted or said else Reply("Done.")


class ForeignServer:
    """Listens to everybody, over TCP and UDP."""

    def __init__(self):
        self.heard = []
        heard = self.heard

        class Handler(http.server.BaseHTTPRequestHandler):
            def handle_one_request(self):
                heard.append(self.rfile.readline())
                self.close_connection = True

        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.port = self.server.server_port
        self.datagrams = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self.datagrams.bind(("127.0.0.1", self.port))
        self.datagrams.setblocking(False)
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def everything_heard(self):
        try:
            self.heard.append(self.datagrams.recv(2048))
        except BlockingIOError:
            pass
        return list(self.heard)

    def close(self):
        self.server.shutdown()
        self.server.server_close()
        self.datagrams.close()


def texts_below(folder):
    """The files of a folder that nobody may change, with their contents."""
    return {str(path): path.read_bytes() if path.is_file() else None
            for path in sorted(folder.rglob("*"))} if folder.exists() else None


class Victim:
    """A person's home with private data, an agent of each stage working in a project, and a foreign server."""

    def __init__(self, gateway, stub, server):
        self.gateway, self.stub, self.server = gateway, stub, server
        self.project = gateway.home / "site"
        self.lay_out()
        gateway.start()
        gateway.command("secret", "set", "KEY", typed=SECRET + "\n")
        self.other = new_agent(gateway, "other", stage="sovereign")
        self.own = gateway.data / "agents" / "other"
        (self.own / "soul.md").write_text(OTHERS)
        (self.own / "notes.md").write_text(OTHERS)
        self.talk = new_thread(gateway, self.other, title="in confidence")
        turn = {"role": "user", "content": f"My PIN: {TALK}"}
        self.turn = accepted(gateway.http.post(f"/threads/{self.talk['id']}/turns", json=turn), 201)
        for body in (
                {"type": "integration", "name": "wired", "definition": {
                    "kind": "mcp-http", "url": "http://127.0.0.1:9/", "headers": {"Authorization": TYPED}}},
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

    def lay_out(self):
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
        """A proposal that waits for the person."""
        self.stub.always(lambda request: Reply("Done.") if request.json["messages"][-1]["role"] == "tool" else Reply(
            "", tool_calls=[ToolCall("Propose", {"type": "file", "title": "x", "target": str(self.project / "staged.txt"),
                                                 "content": "x"})]))
        thread = new_thread(self.gateway, self.other, project_id=self.project_id, title="a proposal")
        self.run(thread)
        return accepted(self.gateway.http.get("/proposals"))[0]

    def names(self, agent):
        """What the names in braces of the documents stand for."""
        return {"home": self.gateway.home, "data": self.gateway.data, "project": self.project, "port": self.server.port,
                "gateway": self.gateway.port, "agent": agent["name"], "other": "other", "job": "chore",
                "channel": "messenger", "capability": "limits", "thread": self.talk["id"], "turn": self.turn["id"],
                "proposal": f"{self.proposal['agent']}/{self.proposal['date']}"}

    def run(self, thread, denies=False):
        """Has the agent answer. A person who denies everything is there, or nobody."""
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

    def reads(self, wishes, stage, denies):
        """Has the agent read the document and obey it."""
        agent = self.agents[stage]
        self.server.heard.clear()
        self.stub.reset()
        self.stub.always(obeys)
        (self.project / "inbox.md").write_text(document(wishes, self.names(agent)))
        thread = new_thread(self.gateway, agent, project_id=self.project_id, title="a document")
        body = {"role": "user", "content": "My PIN is 4711."}
        accepted(self.gateway.http.post(f"/threads/{thread['id']}/turns", json=body), 201)
        run = self.run(thread, denies)
        assert of_kind(run, "tool-end"), run
        return run

    def records(self):
        return accepted(self.gateway.http.get("/extensions"))

    def state(self):
        """Everything that no document may change, whatever the stage."""
        gateway, http_client = self.gateway, self.gateway.http
        folders = {name: texts_below(gateway.data / name) for name in ("skills", "knowledge", "jobs")}
        return {
            "files": {str(file): file.read_bytes() if file.exists() else None for file in (
                gateway.data / "config.yaml", gateway.data / ".gateway-token", gateway.data / "secrets.yaml",
                gateway.data / "user-profile.md", gateway.data / "soul.md",
                *(gateway.data / "agents" / agent["name"] / "agent.yaml" for agent in self.agents.values()))},
            "home": {path.name: path.read_bytes() for path in gateway.home.iterdir() if path.is_file()},
            "folders at home": sorted(path.name for path in gateway.home.iterdir()),
            "keys": texts_below(gateway.home / ".ssh"),
            "elsewhere": texts_below(gateway.home / "elsewhere"),
            "the gateway's": folders,
            "another agent's": {name: (self.own / name).read_text() for name in ("soul.md", "notes.md", "agent.yaml")},
            "repository": texts_below(self.project / ".git"),
            "skills of the project": texts_below(self.project / ".agents"),
            "staged": (self.project / "staged.txt").exists(),
            "records": {record["name"]: (record["definition"], record["enabled"], record["source"])
                        for record in self.records() if record["source"] != "agent"},
            "stages": {agent["name"]: accepted(http_client.get(f"/agents/{agent['name']}/stage"))["stage"]
                       for agent in (*self.agents.values(), self.other)},
            "grants": [accepted(http_client.get(f"/agents/{agent['name']}/grants")) for agent in self.agents.values()],
            "secrets": accepted(http_client.get("/secrets")),
            "talk": len(accepted(http_client.get(f"/threads/{self.talk['id']}/turns"))),
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
    """Below trusted none is made, and only a sovereign agent's are enabled."""
    made = {record["name"]: record["enabled"] for record in records}
    assert not made or stage in ("trusted", "sovereign"), made
    assert stage == "sovereign" or not any(made.values()), made


@pytest.mark.parametrize("category, what", [(category, what) for category, cases in CASES.items() for what in cases])
def test_nothing_happens_that_no_person_allowed(victim, category, what):
    before = victim.state()
    for stage in STAGES:
        run = victim.reads(CASES[category][what], stage, denies=CASES[category] is FATIGUE)
        assert leaks(victim, run) == [], stage
        assert victim.server.everything_heard() == [], stage
        check_records_of_agents(victim.made_by_agents(), stage)
        victim.clean_up()
        assert victim.state() == before, stage


def test_number_of_hostile_documents():
    assert sum(map(len, CASES.values())) >= 200
