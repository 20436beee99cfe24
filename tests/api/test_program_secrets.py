"""Secrets that programs use but never hold: `secrets` in a definition.

See docs/contract/tools.md#secrets-of-programs.
"""

import base64
import shutil

import pytest

from apps import make_app, proxy_request, start
from certificates import make_certificate
from checks import accepted, invalid
from gateway import Gateway
from integrations import new_integration
from jobs import wait_for
from stubs.provider import ProviderStub
from stubs.web import WebStub
from talker import Talker, configuration
from test_actions import new_action
from tools import call_tool, new_bound_agent, new_thread

SECRET = "ghp_The1Real2Value3That4No5Program6Holds"
# Has programs use the proxy for servers on this machine, too.
PROXIED = "export NO_PROXY= no_proxy=; "


def store_secret(gateway, name, value):
    assert gateway.http.put(f"/secrets/{name}", json={"value": value}).status_code == 204


@pytest.fixture(scope="module")
def certificates(tmp_path_factory):
    """A certificate that the host trusts, one that it does not trust, and the file of trusted certificates."""
    directory = tmp_path_factory.mktemp("certificates")
    good, bad = make_certificate(directory, "good"), make_certificate(directory, "bad")
    return good, bad, good[0]


@pytest.fixture(scope="module")
def module_talker(tmp_path_factory, certificates):
    with ProviderStub() as stub:
        gateway = Gateway(tmp_path_factory.mktemp("secretive"), config=configuration(stub),
                          environment={"SSL_CERT_FILE": str(certificates[2])}).start()
        yield Talker(gateway, stub)
        gateway.close()


@pytest.fixture
def talker(module_talker):
    module_talker.stub.reset()
    store_secret(module_talker.gateway, "GH", SECRET)
    return module_talker


@pytest.fixture
def server(certificates):
    with WebStub(*certificates[0]) as running:
        running.answers("/", "fine", "text/plain")
        yield running


@pytest.fixture
def other(certificates):
    """A second server, for which no secret is declared."""
    with WebStub(*certificates[0]) as running:
        running.answers("/", "fine", "text/plain")
        yield running


@pytest.fixture
def run(talker, new_name, server):
    """Runs the command of an action that may use the secret for `server`, and returns the output."""
    def run(command, secrets=None, **definition):
        secrets = secrets or {"TOKEN": {"secret": "GH", "hosts": [f"localhost:{server.port}"]}}
        action = new_action(talker.gateway, new_name("use"), "shell", command=PROXIED + command, secrets=secrets,
                            **definition)
        agent = new_bound_agent(talker.gateway, new_name, hosts=["localhost", "127.0.0.1"])
        run.thread = new_thread(talker.gateway, agent)
        end = call_tool(talker, run.thread, action["name"], {})
        run.id = end["runId"]
        return end["output"]
    return run


def only_request(server):
    assert len(server.requests) == 1, server.requests
    return server.requests[0]


def stand_in_of(request):
    scheme, stand_in = request.headers["authorization"].split()
    assert scheme == "Bearer" and stand_in.startswith("ghp_") and len(stand_in) == 40 and stand_in != SECRET
    return stand_in


# Clients.


def test_curl_uses_a_secret_that_it_does_not_hold(run, server):
    output = run(f'echo "holds $TOKEN"; curl -sS -H "Authorization: Bearer $TOKEN" {server.url(host="localhost")}')
    assert only_request(server).headers["authorization"] == f"Bearer {SECRET}"
    assert "fine" in output and "holds ghp_" in output and SECRET not in output and "[secret]" not in output


def test_curl_sends_credentials_and_queries(run, server):
    run(f'curl -sS -u "me:$TOKEN" "{server.url("/?key=", host="localhost")}$TOKEN"')
    request = only_request(server)
    assert request.path == f"/?key={SECRET}"
    assert base64.b64decode(request.headers["authorization"].split()[1]).decode() == f"me:{SECRET}"


def test_python_uses_a_secret(run, server):
    script = ("import os, urllib.request as u; print(u.urlopen(u.Request(os.environ['URL'], "
              "headers={'Authorization': 'Bearer ' + os.environ['TOKEN']})).read())")
    assert "fine" in run(f'URL={server.url(host="localhost")} /usr/bin/python3 -c "{script}"')
    assert only_request(server).headers["authorization"] == f"Bearer {SECRET}"


@pytest.mark.skipif(not shutil.which("node", path="/usr/bin:/usr/local/bin"), reason="there is no node")
def test_node_uses_a_secret(run, server):
    script = ("const {request} = require('http'), {connect} = require('tls'), host = process.env.SERVER; "
              "request({port: 61980, method: 'CONNECT', path: host}).on('connect', (_, socket) => { "
              "const tls = connect({socket, servername: 'localhost'}, () => tls.write(['GET / HTTP/1.1', 'Host: ' + host, "
              "'Authorization: Bearer ' + process.env.TOKEN, 'Connection: close', '', ''].join('\\r\\n'))); "
              "tls.pipe(process.stdout); }).end()")
    assert "fine" in run(f'SERVER=localhost:{server.port} node -e "{script}"')
    assert only_request(server).headers["authorization"] == f"Bearer {SECRET}"


def test_git_uses_a_secret(run, server):
    server.answers("/repo/info/refs", "0" * 40 + "\trefs/heads/main\n", "text/plain")
    output = run(f'GIT_TERMINAL_PROMPT=0 git -c http.extraHeader="Authorization: Bearer $TOKEN" ls-remote '
                 f'{server.url("/repo", host="localhost")}')
    assert "refs/heads/main" in output
    assert {request.headers["authorization"] for request in server.requests} == {f"Bearer {SECRET}"}


@pytest.mark.skipif(not shutil.which("wget"), reason="there is no wget")
def test_wget_trusts_the_proxy_without_an_environment_variable(run, server):
    assert "fine" in run(f'wget -qO- --header="Authorization: Bearer $TOKEN" {server.url(host="localhost")}')
    assert only_request(server).headers["authorization"] == f"Bearer {SECRET}"


def test_large_bodies_pass_in_both_directions(run, server):
    server.answers("/large", b"x" * 5_000_000, "text/plain")
    output = run(f'head -c 3000000 /dev/zero | curl -sS -T - -X POST -H "X: $TOKEN" '
                 f'{server.url("/", host="localhost")}; curl -sS {server.url("/large", host="localhost")} | wc -c')
    assert "5000000" in output and len(server.requests[0].body) == 3_000_000
    assert server.requests[0].headers["x"] == SECRET


# Requests that do not get the secret.


def test_other_host_gets_the_stand_in(run, server, other):
    run(f'curl -sS -H "Authorization: Bearer $TOKEN" {other.url(host="localhost")}')
    stand_in_of(only_request(other))


def test_redirect_to_another_host_does_not_get_the_secret(run, server, other):
    server.answers("/go", "", status=302, location=other.url(host="localhost"))
    run(f'curl -sS -L --location-trusted -H "Authorization: Bearer $TOKEN" {server.url("/go", host="localhost")}')
    assert only_request(server).headers["authorization"] == f"Bearer {SECRET}"
    stand_in_of(only_request(other))


def test_the_same_server_by_another_name_gets_the_stand_in(run, server):
    run(f'curl -sS -H "Authorization: Bearer $TOKEN" {server.url(host="127.0.0.1")}')
    stand_in_of(only_request(server))


def test_request_with_another_host_header_gets_the_stand_in(run, server):
    run(f'curl -sS -H "Host: evil.example" -H "Authorization: Bearer $TOKEN" {server.url(host="localhost")}')
    stand_in_of(only_request(server))


def test_a_handshake_that_names_another_host_is_refused(run, server):
    output = run(f"printf 'GET / HTTP/1.1\\r\\nHost: localhost:{server.port}\\r\\nX: '\"$TOKEN\"'\\r\\n\\r\\n' | "
                 f"openssl s_client -quiet -proxy 127.0.0.1:61980 -connect localhost:{server.port} "
                 f"-servername evil.example 2>/dev/null")
    assert "421 Misdirected Request" in output and "its TLS handshake names evil.example" in output
    assert server.requests == []


def test_a_request_without_tls_gets_the_stand_in(run, talker):
    with WebStub() as plain:
        run(f'curl -sS -H "Authorization: Bearer $TOKEN" {plain.url(host="localhost")}',
            secrets={"TOKEN": {"secret": "GH", "hosts": [f"localhost:{plain.port}"]}})
        stand_in_of(only_request(plain))


def test_a_tunnel_without_tls_gets_the_stand_in(run, talker):
    with WebStub() as plain:
        run(f'curl -sS -p -H "Authorization: Bearer $TOKEN" {plain.url(host="localhost")}',
            secrets={"TOKEN": {"secret": "GH", "hosts": [f"localhost:{plain.port}"]}})
        stand_in_of(only_request(plain))


def test_pass_through_host_is_not_intercepted(run, server):
    host = f"localhost:{server.port}"
    output = run(f'echo "" | openssl s_client -proxy 127.0.0.1:61980 -connect {host} 2>/dev/null | grep -i issuer; '
                 f'curl -sS -H "Authorization: Bearer $TOKEN" https://{host}/',
                 secrets={"TOKEN": {"secret": "GH", "hosts": [host], "pass_through": [host]}})
    assert "Agent Gateway" not in output
    stand_in_of(only_request(server))


def test_server_with_an_untrusted_certificate_gets_nothing(run, talker, certificates):
    with WebStub(*certificates[1]) as bad:
        output = run(f'curl -sS -H "X: $TOKEN" {bad.url(host="localhost")}',
                     secrets={"TOKEN": {"secret": "GH", "hosts": [f"localhost:{bad.port}"]}})
        assert f"nothing was sent to localhost:{bad.port}: its certificate is not trusted (self-signed certificate)" in output
        assert bad.requests == []


def test_bare_line_feed_in_a_header_is_refused(run, server):
    output = run(f"printf 'GET / HTTP/1.1\\r\\nHost: localhost:{server.port}\\r\\nX: a\\nY: '\"$TOKEN\"'\\r\\n\\r\\n' | "
                 f"openssl s_client -quiet -proxy 127.0.0.1:61980 -connect localhost:{server.port} "
                 f"-servername localhost 2>/dev/null")
    assert "400 Bad Request" in output and server.requests == []


# Apps and MCP servers.


def test_an_app_uses_a_secret_that_it_does_not_hold(talker, new_name, server):
    app = new_name("app")
    make_app(talker.gateway, app, routes=f"""
        from urllib.request import Request, urlopen
        headers = {{"Authorization": "Bearer " + os.environ["TOKEN"]}}
        got = urlopen(Request("{server.url(host='localhost')}", headers=headers)).read().decode()
        self.answer(os.environ["TOKEN"] + " " + got)
        """, hosts=["localhost"], secrets={"TOKEN": {"secret": "GH", "hosts": [f"localhost:{server.port}"]}})
    start(talker.gateway, app)
    text = proxy_request(talker.gateway, app).text
    assert text.startswith("ghp_") and text.endswith(" fine") and SECRET not in text
    assert only_request(server).headers["authorization"] == f"Bearer {SECRET}"
    talker.gateway.http.post(f"/apps/{app}/stop")


def test_an_app_does_not_start_without_its_secret(talker, new_name):
    app = new_name("app")
    make_app(talker.gateway, app, secrets={"TOKEN": {"secret": "NOPE", "hosts": ["api.example.com"]}})
    response = talker.gateway.http.post(f"/apps/{app}/start")
    assert response.status_code == 500
    assert response.json()["error"] == "Failed to start: there is no secret NOPE: set it with `agw secret set NOPE`"


def test_an_mcp_server_uses_a_secret_that_it_does_not_hold(talker, new_name, server):
    """The command sends a request instead of speaking MCP."""
    name = new_name("server")
    request = f'curl -sS -H "Authorization: Bearer $TOKEN$KEY" {server.url(host="localhost")}'
    definition = {"command": f'(echo "$TOKEN$KEY"; {request}) > new 2>&1; mv new said; exec sleep 1000', "hosts": ["localhost"]}
    declared = {"secret": "GH", "hosts": [f"localhost:{server.port}"]}
    new_integration(talker.gateway, name, "mcp-stdio", secrets={"TOKEN": declared}, **definition)
    output = talker.gateway.data / "integrations" / name / "said"
    text = wait_for(lambda: output.exists() and output.read_text())
    assert text.startswith("ghp_") and text.endswith("\nfine") and SECRET not in text
    assert only_request(server).headers["authorization"] == f"Bearer {SECRET}"
    output.unlink()
    accepted(talker.gateway.http.patch(f"/extensions/{name}", json={"definition": {
        "kind": "mcp-stdio", "secrets": {"KEY": declared}, **definition}}))
    assert wait_for(lambda: output.exists() and output.read_text()) != text, "it starts again when its secrets change"
    accepted(talker.gateway.http.patch(f"/extensions/{name}", json={"enabled": False}))


def test_an_mcp_server_does_not_start_without_its_secret(talker, new_name):
    name = new_name("server")
    new_integration(talker.gateway, name, "mcp-stdio", command="sleep 1000",
                    secrets={"TOKEN": {"secret": "NOPE", "hosts": ["api.example.com"]}})
    wait_for(lambda: "there is no secret NOPE: set it with `agw secret set NOPE`" in talker.gateway.stderr)
    accepted(talker.gateway.http.patch(f"/extensions/{name}", json={"enabled": False}))


# Where a secret must not appear.


def test_secret_echoed_in_a_response_is_masked(run, server):
    server.on_request = lambda request: server.answers("/echo", str(request.headers), "text/plain")
    output = run(f'curl -sS -H "X: $TOKEN" {server.url("/echo", host="localhost")}')
    assert "[secret]" in output and SECRET not in output


def test_secrets_are_in_no_record_event_or_log(run, talker, server):
    gateway = talker.gateway
    with gateway.events() as events:
        run(f'env; curl -sS -H "X: $TOKEN" {server.url(host="localhost")}')
        sent = str(events.messages)
    assert only_request(server).headers["x"] == SECRET
    seen = [sent, gateway.stderr, gateway.http.get("/extensions").text, gateway.http.get(f"/runs/{run.id}/changes").text,
            gateway.http.get(f"/threads/{run.thread['id']}").text, gateway.http.get("/secrets").text,
            (gateway.data / "gateway.db").read_bytes().decode("latin-1"),
            *(path.read_text() for path in (gateway.data / "logs").glob("*"))]
    assert not any(SECRET in text for text in seen)


def test_key_of_the_authority_is_private_and_reused(run, talker, server):
    run(f"curl -sS {server.url(host='localhost')}")
    file = talker.gateway.data / "proxy-authority.pem"
    made = file.read_bytes()
    assert file.stat().st_mode & 0o777 == 0o600 and b"PRIVATE KEY" in made
    output = run(f"cat {file} 2>&1; grep -l 'PRIVATE KEY' /run/certificates/* /etc/ssl/certs/ca-certificates.crt; "
                 f"curl -sS {server.url(host='localhost')}")
    assert "No such file" in output and "PRIVATE" not in output and "/run" not in output.replace(str(file), "")
    assert file.read_bytes() == made


def test_programs_without_secrets_use_the_authorities_of_the_host(talker, new_name):
    action = new_action(talker.gateway, new_name("plain"), "shell",
                        command="env | grep -c -e CERT -e CA_BUNDLE; ls /run/certificates 2>&1")
    agent = new_bound_agent(talker.gateway, new_name, hosts=["localhost"])
    output = call_tool(talker, new_thread(talker.gateway, agent), action["name"], {})["output"]
    assert output.startswith("0\n") and "No such file" in output


# Errors.


def test_missing_secret_is_reported_at_the_start(run, server):
    output = run("echo started", secrets={"TOKEN": {"secret": "NOPE", "hosts": ["api.example.com"]}})
    assert output == "there is no secret NOPE: set it with `agw secret set NOPE`"


def test_a_secret_with_a_line_end_is_refused_at_the_start(run, talker):
    store_secret(talker.gateway, "LINES", "a\r\nX: y")
    output = run("echo started", secrets={"TOKEN": {"secret": "LINES", "hosts": ["api.example.com"]}})
    assert output.startswith("the secret LINES contains a line end") and "X: y" not in output


def test_secret_deleted_between_requests_is_reported(run, talker, server):
    server.on_request = lambda request: talker.gateway.http.delete("/secrets/GH")
    url = server.url(host="localhost")
    output = run(f'curl -sS -H "X: $TOKEN" {url}; curl -sS -H "X: $TOKEN" {url}')
    assert only_request(server).headers["x"] == SECRET
    assert "fine" in output
    assert f"nothing was sent to localhost:{server.port}: there is no secret GH: set it with `agw secret set GH`" in output


def test_a_changed_secret_is_used_at_once(run, talker, server):
    server.on_request = lambda request: store_secret(talker.gateway, "GH", "another-value")
    url = server.url(host="localhost")
    run(f'curl -sS -H "X: $TOKEN" {url}; curl -sS -H "X: $TOKEN" {url}')
    assert [request.headers["x"] for request in server.requests] == [SECRET, "another-value"]


def test_programs_with_secrets_need_the_sandbox(make_gateway, new_name, stub):
    gateway = make_gateway(config={**configuration(stub), "sandbox": "none"}).start()
    store_secret(gateway, "GH", SECRET)
    action = new_action(gateway, new_name("use"), "shell", command="echo started",
                        secrets={"TOKEN": {"secret": "GH", "hosts": ["api.example.com"]}})
    thread = new_thread(gateway, new_bound_agent(gateway, new_name, hosts=["localhost"]))
    output = call_tool(Talker(gateway, stub), thread, action["name"], {})["output"]
    assert output.startswith("`secrets` in a definition need the sandbox")


HOSTS = ["api.example.com"]


@pytest.mark.parametrize("secrets, path", [
    ({"A-B": {"secret": "GH", "hosts": HOSTS}}, "definition.secrets.A-B"),
    ({"PATH": {"secret": "GH", "hosts": HOSTS}}, "definition.secrets.PATH"),
    ({"LD_PRELOAD": {"secret": "GH", "hosts": HOSTS}}, "definition.secrets.LD_PRELOAD"),
    ({"TOKEN": "GH"}, "definition.secrets.TOKEN"),
    ({"TOKEN": {"hosts": HOSTS}}, "definition.secrets.TOKEN.secret"),
    ({"TOKEN": {"secret": "GH"}}, "definition.secrets.TOKEN.hosts"),
    ({"TOKEN": {"secret": "a-b", "hosts": HOSTS}}, "definition.secrets.TOKEN.secret"),
    ({"TOKEN": {"secret": "GH", "hosts": []}}, "definition.secrets.TOKEN.hosts"),
    ({"TOKEN": {"secret": "GH", "hosts": "api.example.com"}}, "definition.secrets.TOKEN.hosts"),
    ({"TOKEN": {"secret": "GH", "hosts": ["*"]}}, "definition.secrets.TOKEN.hosts[0]"),
    ({"TOKEN": {"secret": "GH", "hosts": ["https://api.example.com"]}}, "definition.secrets.TOKEN.hosts[0]"),
    ({"TOKEN": {"secret": "GH", "hosts": HOSTS, "pass_through": ["a b"]}}, "definition.secrets.TOKEN.pass_through[0]"),
])
def test_invalid_declarations_are_refused(talker, new_name, secrets, path):
    body = {"type": "action", "name": new_name("bad"), "description": "", "definition": {
        "kind": "shell", "command": "true", "secrets": secrets}}
    details = invalid(talker.gateway.http.post("/extensions", json=body), path)
    assert details


def test_only_programs_may_declare_secrets(talker, new_name):
    for kind, definition in (("action", {"kind": "http", "url": "http://localhost/"}),
                             ("action", {"kind": "prompt", "prompt": "x"}),
                             ("integration", {"kind": "mcp-http", "url": "http://localhost/"})):
        body = {"type": kind, "name": new_name("bad"), "description": "", "definition": {
            **definition, "secrets": {"TOKEN": {"secret": "GH", "hosts": HOSTS}}}}
        invalid(talker.gateway.http.post("/extensions", json=body), "definition.secrets")


def test_definition_with_secrets_by_an_agent_needs_approval(talker, new_name):
    agent = new_bound_agent(talker.gateway, new_name)
    made = new_name("carrier")
    call_tool(talker, new_thread(talker.gateway, agent), "CreateExtension", {
        "type": "action", "name": made, "description": "", "enabled": True, "definition": {
            "kind": "shell", "command": "env", "secrets": {"TOKEN": {"secret": "GH", "hosts": ["evil.example"]}}}})
    assert made not in [each["name"] for each in accepted(talker.gateway.http.get("/extensions", params={"type": "action"}))]
