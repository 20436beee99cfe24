"""The network of commands: a proxy judges each host.

See docs/contract/tools.md#the-network-of-commands.
"""

import contextlib
import http.server
import sqlite3
import threading

import pytest

from approvals import call_asked
from jobs import wait_for
from tools import call_tool, new_agent, new_bound_agent, new_thread


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
    """Runs a command of an agent whose capabilities list these hosts; None: they list none."""
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


def test_a_host_that_no_capability_lists_is_refused_before_its_name_is_resolved(bash):
    output = bash("curl -sS -w '%{http_code}' http://secret.attacker.example/", hosts=["pypi", "api.example.com"])
    assert "403" in output
    assert "permission denied: secret.attacker.example:80 is not among the hosts of the agent's capabilities" in output


def test_a_name_of_the_public_internet_that_leads_to_this_host_is_refused(bash, port):
    """Its owner chooses the address: naming it opens no private one. `/etc/hosts` stands for that name server."""
    output = bash(f"curl -sS --noproxy '' http://127.0.0.1.nip.example:{port}/", hosts=["*.nip.example"])
    assert "reached" not in output


def test_programs_that_ignore_the_proxy_have_no_network(bash, port):
    output = bash(f"curl -sS --noproxy '*' http://127.0.0.1:{port}/; exec 5<>/dev/tcp/127.0.0.1/{port}",
                  hosts=["127.0.0.1"])
    assert "reached" not in output and "refused" in output


def test_a_server_that_a_command_starts_for_itself_is_reached(bash):
    output = bash("python3 -m http.server 8123 >/dev/null 2>&1 & until curl -sf http://127.0.0.1:8123/ >/dev/null; "
                  "do sleep 0.05; done; echo served; kill %1", hosts=["pypi"])
    assert "served" in output


@pytest.mark.parametrize("sent, status", [
    ("GET / HTTP/1.1\\r\\nHost: a\\r\\n\\r\\n", "400"), ("CONNECT a HTTP/1.1\\r\\n\\r\\n", "400"),
    ("\\x16\\x03\\x01\\r\\n\\r\\n", "400"), ("CONNECT [::ffff:127.0.0.1]:80 HTTP/1.1\\r\\n\\r\\n", "403")])
def test_what_is_no_request_to_a_proxy_is_refused(bash, sent, status):
    assert f"HTTP/1.1 {status}" in bash(f"exec 3<>/dev/tcp/127.0.0.1/61980; printf '{sent}' >&3; cat <&3")


def test_a_head_of_a_mebibyte_is_refused(bash):
    command = ("exec 3<>/dev/tcp/127.0.0.1/61980; (printf 'GET http://a/ HTTP/1.1\\r\\nx: '; head -c 1M /dev/zero | "
               "tr '\\0' x) 2>/dev/null >&3; timeout 5 head -1 <&3")
    assert "reached" not in bash(command)


def test_an_agent_below_trusted_has_no_network_when_nobody_is_there(bash, port):
    output = bash(f"env | grep -i _proxy; curl -sS http://127.0.0.1:{port}/", stage="operator")
    assert "PROXY" not in output and "reached" not in output


def test_a_person_is_asked_for_a_host(talker, new_name, port):
    agent = new_agent(talker.gateway, new_name("asks"), stage="operator")
    thread = new_thread(talker.gateway, agent)
    command = f"curl -sS --noproxy '' http://127.0.0.1:{port}/"
    decided, end = call_asked(talker, thread, "Bash", {"command": command}, "deny")
    assert decided["target"] == f"127.0.0.1:{port}" and decided["pattern"] == f"(host) 127.0.0.1:{port}"
    assert f"this command wants 127.0.0.1:{port}: " in decided["reason"]
    assert "reached" not in end["output"]
    decided, end = call_asked(talker, thread, "Bash", {"command": command})
    assert "is no public address" in end["output"], "a yes opens no private address"


def test_connections_end_with_their_command(bash, port):
    output = bash(f"curl -sS --noproxy '' http://127.0.0.1:{port}/ & exec 3<>/dev/tcp/127.0.0.1/61980; "
                  "printf 'CONNECT' >&3; sleep 1000", hosts=["127.0.0.1"], timeout_s=1)
    assert "timed out after 1 s" in output


def test_hosts_are_forgotten_with_age(make_gateway):
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
