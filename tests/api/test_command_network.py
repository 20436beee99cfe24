"""Network access of commands: a proxy decides for each host.

See docs/contract/tools.md#the-network-of-commands.
"""

import contextlib
import http.server
import os
import shutil
import socket
import sqlite3
import threading
import time
from pathlib import Path

import pytest

from approvals import call_asked, decide, person
from checks import PATIENCE, accepted
from jobs import chat_stop, new_extension, wait_for
from story import fault_library
from talker import Talker, configuration
from tools import call_tool, calls, new_agent, new_bound_agent, new_thread, of_kind


class ReplyingHandler(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        self.send_response(200)
        self.end_headers()
        self.wfile.write(f"reached {self.path} of {self.headers['Host']}".encode())

    def log_message(self, *_):
        pass


@pytest.fixture
def port():
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), ReplyingHandler) as running:
        threading.Thread(target=running.serve_forever, daemon=True).start()
        yield running.server_address[1]
        running.shutdown()


@pytest.fixture
def bash(talker, new_name):
    """Returns a function that runs a command of an agent whose capability lists `hosts`. None: the agent has no
    capability."""
    def bash(command, hosts=None, stage="trusted", **input):
        if hosts is None:
            agent = new_agent(talker.gateway, new_name(stage), stage=stage)
        else:
            agent = new_bound_agent(talker.gateway, new_name, hosts=hosts)
        bash.thread = new_thread(talker.gateway, agent)
        end = call_tool(talker, bash.thread, "Bash", {"command": command, **input})
        bash.changes = talker.gateway.http.get(f"/runs/{end['runId']}/changes").json() if "runId" in end else None
        return end["output"]
    return bash


def test_a_named_loopback_address_is_reached_through_the_proxy(bash, port):
    output = bash(f"NO_PROXY= no_proxy= curl -sS http://127.0.0.1:{port}/path", hosts=[f"127.0.0.1:{port}"])
    assert f"reached /path of 127.0.0.1:{port}" in output
    assert bash.changes["hosts"] == [{"host": "127.0.0.1", "port": port, "allowed": True, "reason": "",
                                      "connections": 1}]


def test_a_tunnel_reaches_a_named_host(bash, port):
    output = bash(f"curl -sS -p --noproxy '' http://localhost:{port}/tunnel", hosts=["localhost"])
    assert f"reached /tunnel of localhost:{port}" in output


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost", "[::ffff:127.0.0.1]", "0.0.0.0", "127.1", "[::1]",
                                  "169.254.169.254", "10.0.0.1", "2130706433"])
@pytest.mark.parametrize("hosts", [None, ["*"]])
def test_addresses_that_are_not_public_are_refused(bash, port, host, hosts):
    output = bash(f"curl -sS -w '%{{http_code}}' --noproxy '' 'http://{host}:{port}/'", hosts=hosts)
    assert "reached" not in output and "403" in output and "is no public address" in output
    assert [(each["allowed"], each["port"]) for each in bash.changes["hosts"]] == [(False, port)]


def test_an_unlisted_host_is_refused_before_its_name_is_resolved(bash):
    output = bash("curl -sS -w '%{http_code}' http://secret.attacker.example/", hosts=["pypi", "api.example.com"])
    assert "403" in output
    assert "permission denied: secret.attacker.example:80 is not among the hosts of the agent's capabilities" in output


def test_a_preset_is_a_capability_that_lists_its_hosts(talker, new_name):
    agent = new_agent(talker.gateway, new_name("builder"), stage="trusted", capabilities=["npm"])
    thread = new_thread(talker.gateway, agent)
    command = "curl -sS -w '%{http_code}' http://secret.attacker.example/"
    output = call_tool(talker, thread, "Bash", {"command": command})["output"]
    assert "permission denied: secret.attacker.example:80 is not among the hosts of the agent's capabilities" in output


def test_a_public_name_that_resolves_to_this_host_is_refused(make_gateway, stub, new_name, port, tmp_path):
    """The owner of a domain chooses its addresses, so listing it must not allow private ones."""
    library = fault_library("names_of_this_host", tmp_path)
    if not library:
        pytest.skip("AddressSanitizer must be the first library that is loaded")
    gateway = make_gateway(config=configuration(stub))
    gateway.environment = {"LD_PRELOAD": str(library)}
    talker = Talker(gateway.start(), stub)
    agent = new_bound_agent(gateway, new_name, hosts=["*.nip.example"])
    command = f"curl -sS -w '%{{http_code}}' --noproxy '' http://127.0.0.1.nip.example:{port}/"
    output = call_tool(talker, new_thread(gateway, agent), "Bash", {"command": command})["output"]
    assert "reached" not in output and "403" in output and "is no public address" in output


def test_programs_that_ignore_the_proxy_have_no_network(bash, port):
    output = bash(f"curl -sS --noproxy '*' http://127.0.0.1:{port}/; exec 5<>/dev/tcp/127.0.0.1/{port}",
                  hosts=["127.0.0.1"])
    assert "reached" not in output and "refused" in output


def test_a_command_can_reach_a_server_that_it_started(bash):
    output = bash("python3 -m http.server 8123 >/dev/null 2>&1 & until curl -sf http://127.0.0.1:8123/ >/dev/null; "
                  "do sleep 0.05; done; echo served; kill %1", hosts=["pypi"])
    assert "served" in output


@pytest.mark.parametrize("sent, status", [
    ("GET / HTTP/1.1\\r\\nHost: a\\r\\n\\r\\n", "400"), ("CONNECT a HTTP/1.1\\r\\n\\r\\n", "400"),
    ("\\x16\\x03\\x01\\r\\n\\r\\n", "400"), ("CONNECT [::ffff:127.0.0.1]:80 HTTP/1.1\\r\\n\\r\\n", "403")])
def test_invalid_proxy_requests_are_refused(bash, sent, status):
    assert f"HTTP/1.1 {status}" in bash(f"exec 3<>/dev/tcp/127.0.0.1/61980; printf '{sent}' >&3; cat <&3")


def test_a_head_of_a_mebibyte_is_refused(bash):
    command = ("exec 3<>/dev/tcp/127.0.0.1/61980; (timeout 30 head -1 <&3) & (printf 'GET http://a/ HTTP/1.1\\r\\nx: '; "
               "head -c 1M /dev/zero | tr '\\0' x) 2>/dev/null >&3; wait")
    assert "HTTP/1.1 431" in bash(command)


def test_an_agent_below_trusted_has_no_network_if_nobody_can_decide(bash, port):
    output = bash(f"env | grep -i _proxy; curl -sS http://127.0.0.1:{port}/", stage="operator")
    assert "PROXY" not in output and "reached" not in output


def test_a_host_needs_permission(talker, new_name, port):
    agent = new_agent(talker.gateway, new_name("asks"), stage="operator")
    thread = new_thread(talker.gateway, agent)
    command = f"curl -sS --noproxy '' http://127.0.0.1:{port}/"
    decided, end = call_asked(talker, thread, "Bash", {"command": command}, "deny")
    assert decided["target"] == f"127.0.0.1:{port}" and decided["pattern"] == f"(host) 127.0.0.1:{port}"
    assert f"this command wants 127.0.0.1:{port}: " in decided["reason"]
    assert "reached" not in end["output"]
    decided, end = call_asked(talker, thread, "Bash", {"command": command})
    assert "is no public address" in end["output"], "an approval opens no private address"


@pytest.fixture
def fetch_action(talker, new_name, port):
    """A shell action whose command reaches two hosts."""
    command = "echo {{word}}; for host in 127.0.0.1 localhost; do curl -sS --noproxy '' http://$host:%d/; done" % port
    return new_extension(talker.gateway, "action", new_name("fetching"), {"kind": "shell", "command": command},
                         enabled=True)


def decide_all(user, decisions):
    """Decides the requests in order, with pairs of a decision and a scope. Returns the targets of the requests."""
    return [user.decides(decision, scope=scope)["target"] for decision, scope in decisions]


@pytest.mark.parametrize("stage", ["apprentice", "operator"])
def test_an_approval_of_a_shell_action_opens_no_host(talker, new_name, port, fetch_action, stage):
    thread = new_thread(talker.gateway, new_agent(talker.gateway, new_name(stage), stage=stage))
    made = calls((fetch_action["name"], {"word": "hello"}))
    hosts = [f"127.0.0.1:{port}", f"localhost:{port}"]
    approval = [("allow", "once")] if stage == "apprentice" else []
    with person(talker, thread, made, "Done.") as user:
        targets = decide_all(user, [*approval, ("deny", "once"), ("deny", "once")])
        output = user.result()["output"]
    assert targets[-2:] == hosts and "hello" in output and output.count("permission denied") == 2
    assert targets[:-2] == ([fetch_action["definition"]["command"]] if approval else []), "the whole command is shown"


def test_a_grant_for_a_shell_action_opens_no_host(talker, new_name, port, fetch_action):
    gateway = talker.gateway
    thread = new_thread(gateway, new_agent(gateway, new_name("apprentice"), stage="apprentice"))
    made = calls((fetch_action["name"], {"word": "hello"}))
    hosts = [f"127.0.0.1:{port}", f"localhost:{port}"]
    with person(talker, thread, made, "Done.") as user:
        decide_all(user, [("allow", "thread"), ("deny", "once"), ("deny", "once")])
        user.run()
    with person(talker, thread, made, "Done.") as user:
        assert decide_all(user, [("allow", "thread"), ("deny", "once")]) == hosts, "the action itself is granted"
        user.run()
    with person(talker, thread, made, "Done.") as user:
        assert decide_all(user, [("deny", "once")]) == hosts[1:], "the other host still needs permission"
        user.run()
    grants = accepted(gateway.http.get(f"/agents/{thread['agent_id']}/grants"))
    assert [grant["pattern"] for grant in grants] == [fetch_action["name"], f"(host) {hosts[0]}"]


def test_the_timeout_of_a_command_excludes_the_wait_for_a_decision(talker, new_name, port):
    agent = new_agent(talker.gateway, new_name("asks"), stage="operator")
    command = f"curl -sS --noproxy '' http://127.0.0.1:{port}/; echo went on"
    with person(talker, new_thread(talker.gateway, agent), calls(("Bash", {"command": command, "timeout_s": 4})),
                "Done.") as user:
        request = user.asked()
        asked_at = time.monotonic()
        wait_for(lambda: time.monotonic() > asked_at + 5)
        decide(talker.gateway, request, "deny")
        output = user.result()["output"]
    assert "went on" in output and "timed out" not in output


@contextlib.contextmanager
def silent_server():
    """A server that accepts connections and sends nothing."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        listener.settimeout(PATIENCE)
        yield listener


def is_closed(connection):
    """Waits until the peer closes the connection."""
    connection.settimeout(PATIENCE)
    try:
        while connection.recv(1000):
            pass
    except ConnectionResetError:
        pass
    return True


def command_that_connects(listener):
    return f"curl -sS --noproxy '' http://127.0.0.1:{listener.getsockname()[1]}/; sleep 1000"


def test_connections_end_with_their_command(bash):
    with silent_server() as listener:
        assert "timed out after 1 s" in bash(command_that_connects(listener), hosts=["127.0.0.1"], timeout_s=1)
        assert is_closed(listener.accept()[0])


def test_connections_end_when_a_command_is_stopped(talker, new_name):
    agent = new_bound_agent(talker.gateway, new_name, hosts=["127.0.0.1"])
    thread = new_thread(talker.gateway, agent)
    with silent_server() as listener, talker.gateway.events(thread["id"]) as events:
        talker.stub.script(calls(("Bash", {"command": command_that_connects(listener)})))
        turn = accepted(talker.gateway.http.post("/chat", json={"content": "Do it.", "threadId": thread["id"]}), 201)
        connection = listener.accept()[0]
        chat_stop(talker.gateway, thread["id"])
        assert is_closed(connection)
        assert events.run(turn["id"])[-1]["type"] == "stopped"


def test_connections_end_with_a_killed_gateway(own_talker, new_name):
    gateway = own_talker.gateway
    thread = new_thread(gateway, new_bound_agent(gateway, new_name, hosts=["127.0.0.1"]))
    with silent_server() as listener:
        own_talker.stub.script(calls(("Bash", {"command": command_that_connects(listener)})))
        accepted(gateway.http.post("/chat", json={"content": "Do it.", "threadId": thread["id"]}), 201)
        connection = listener.accept()[0]
        gateway.kill()
        assert is_closed(connection)


SLOW_CONNECTS = r"""
import socket, sys
slow = [socket.create_connection(("127.0.0.1", 61980)) for _ in range(300)]
for one in slow:
    one.sendall(b"CONNECT exam")
good = socket.create_connection(("127.0.0.1", 61980))
good.sendall(b"GET http://127.0.0.1:%d/after HTTP/1.1\r\n\r\n" % int(sys.argv[1]))
print(good.makefile().read())
"""


@pytest.mark.slow
def test_slow_clients_of_the_proxy_do_not_block_others(bash, port):
    output = bash(f"/usr/bin/python3 - {port} <<'END'\n{SLOW_CONNECTS}\nEND", hosts=["127.0.0.1"])
    assert "reached /after" in output


MANY_CONNECTIONS = r"""
import errno, resource, select, socket, sys
resource.setrlimit(resource.RLIMIT_NOFILE, (11_000, 11_000))
many = []
for _ in range(10_000):
    one = socket.socket()
    one.setblocking(False)
    one.connect_ex(("127.0.0.1", 61980))
    many.append(one)
for one in many:
    try:
        one.send(b"CONNECT 127.0.0.1:%s HTTP/1.1\r\n" % sys.argv[1].encode())
    except OSError:
        pass
print(len(many), "opened")
open("opened", "w").close()
import os, time
while not os.path.exists("measured"):
    time.sleep(0.01)
"""


def test_memory_for_ten_thousand_connections_is_bounded(own_talker, new_name, port):
    gateway = own_talker.gateway
    agent = new_bound_agent(gateway, new_name, hosts=["127.0.0.1"])
    thread = new_thread(gateway, agent)
    workspace = gateway.data / "agents" / agent["name"] / "workspace"
    before = resident_bytes(gateway)
    command = (f"/usr/bin/python3 - {port} <<'END'\n{MANY_CONNECTIONS}\nEND\n"
               f"curl -sS --noproxy '' http://127.0.0.1:{port}/after")
    own_talker.stub.script(calls(("Bash", {"command": command})), "Done.")
    with gateway.events(thread["id"]) as events:
        turn = accepted(gateway.http.post("/chat", json={"content": "Do it.", "threadId": thread["id"]}), 201)
        wait_for((workspace / "opened").exists)
        assert gateway.http.get("/health").status_code == 200
        assert resident_bytes(gateway) - before < 64 * 2**20
        (workspace / "measured").touch()
        output = of_kind(events.run(turn["id"]), "tool-end")[0]["output"]
    assert "10000 opened" in output and "reached /after" in output


def resident_bytes(gateway):
    pages = int(Path(f"/proc/{gateway.process.pid}/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE")


def test_a_command_can_neither_send_datagrams_nor_resolve_names(bash):
    output = bash("/usr/bin/python3 -c 'import socket; print(socket.getaddrinfo(\"secret.attacker.example\", 80))'; "
                  "(exec 3<>/dev/udp/192.0.2.1/53 && echo x >&3 && echo sent); ip link 2>/dev/null | grep -v -w lo")
    assert "gaierror" in output and "unreachable" in output and "sent" not in output


def test_a_named_loopback_address_is_reached_through_the_proxy_by_default(bash, port):
    output = bash(f"curl -sS http://127.0.0.1:{port}/plain; curl -sS http://localhost:{port}/", hosts=["127.0.0.1"])
    assert "reached /plain" in output and "permission denied: localhost" in output


SSH_SERVER = "SSH-2.0-test\r\n"


def test_git_over_ssh_uses_the_proxy(bash):
    """The server only exchanges the first lines of the protocol: it has no keys."""
    if not shutil.which("ssh", path="/usr/bin:/bin"):
        pytest.skip("ssh is not installed")
    received = []

    def serve(listener):
        connection = listener.accept()[0]
        connection.sendall(SSH_SERVER.encode())
        received.append(connection.makefile("rb").readline())
        connection.close()

    with silent_server() as listener:
        thread = threading.Thread(target=serve, args=(listener,))
        thread.start()
        output = bash(f"git clone ssh://git@127.0.0.1:{listener.getsockname()[1]}/x.git", hosts=["127.0.0.1"])
        thread.join()
    assert received and received[0].startswith(b"SSH-2.0-"), output
    assert bash.changes["hosts"][0]["allowed"]


def test_old_records_of_hosts_are_deleted(make_gateway):
    gateway = make_gateway().start()
    gateway.stop()
    with contextlib.closing(sqlite3.connect(gateway.data / "gateway.db")) as database:
        for host, created_at in [("old.example", 0), ("new.example", 8_000_000_000_000)]:
            database.execute("INSERT INTO contacted_hosts VALUES ('run', ?, 443, 1, '', 1, ?)", (host, created_at))
        database.commit()
    gateway.start()

    def hosts():
        with contextlib.closing(sqlite3.connect(gateway.data / "gateway.db")) as database:
            return [host for host, in database.execute("SELECT host FROM contacted_hosts")]

    wait_for(lambda: hosts() == ["new.example"])
