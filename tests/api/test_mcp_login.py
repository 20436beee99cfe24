"""OAuth logins of a user at integrations (docs/connect-mcp.md)."""

import os
import re
import subprocess

import pytest

import http_client
from checks import PATIENCE, accepted, refused
from gateway import BINARY
from jobs import wait_for
from stubs.oauth import OAuthStub, asked_for, sent_back
from tools import call_tool, new_agent, new_thread

REDIRECT = "http://127.0.0.1:4818/callback"


@pytest.fixture
def oauth_service():
    stub = OAuthStub()
    yield stub
    stub.stop()


def with_tickets(own_talker, oauth_service):
    """Adds the integration `tickets`, and a thread of an agent that may use it."""
    body = {"type": "integration", "name": "tickets", "description": "", "enabled": True,
            "definition": {"kind": "mcp-http", "url": oauth_service.url}}
    accepted(own_talker.gateway.http.post("/extensions", json=body), 201)
    own_talker.thread = new_thread(own_talker.gateway, new_agent(own_talker.gateway, "user", "trusted"))
    return own_talker


@pytest.fixture
def tickets_talker(own_talker, oauth_service):
    return with_tickets(own_talker, oauth_service)


def begin(gateway, **members):
    return accepted(gateway.http.post("/integrations/tickets/login", json={"redirect_uri": REDIRECT, **members}))


def finish(gateway, redirected_to):
    return gateway.http.post("/integrations/tickets/login/finish", json={"redirected_to": redirected_to})


def log_in(gateway):
    assert accepted(finish(gateway, sent_back(begin(gateway)["authorization_url"]))) == {"status": "ok"}


def whoami(talker):
    return call_tool(talker, talker.thread, "tickets__whoami", {})


def logs(gateway):
    return gateway.stderr + "".join(path.read_text() for path in (gateway.data / "logs").iterdir())


def test_log_says_how_to_log_in(tickets_talker):
    call_tool(tickets_talker, tickets_talker.thread, "tickets__whoami", {})
    assert "run `agw ext login tickets`" in tickets_talker.gateway.stderr


def test_user_logs_in_and_the_agent_uses_the_service(tickets_talker, oauth_service):
    started = begin(tickets_talker.gateway)
    query = asked_for(started["authorization_url"])
    assert query["response_type"] == "code" and query["code_challenge_method"] == "S256"
    assert query["resource"] == oauth_service.url and query["scope"] == "read" and query["redirect_uri"] == REDIRECT
    assert query["state"] == started["state"] and len(started["state"]) >= 32
    accepted(finish(tickets_talker.gateway, sent_back(started["authorization_url"])))
    assert whoami(tickets_talker)["output"] == "known by access-1"


def test_login_is_stored_as_a_secret_and_never_shown(tickets_talker, oauth_service):
    log_in(tickets_talker.gateway)
    whoami(tickets_talker)
    assert "access-1" in (tickets_talker.gateway.data / "secrets.yaml").read_text()
    assert (tickets_talker.gateway.data / "secrets.yaml").stat().st_mode & 0o777 == 0o600
    record = tickets_talker.gateway.http.get("/extensions/tickets").text
    shown = logs(tickets_talker.gateway) + record
    for secret in ("refresh-1", oauth_service.grants[0]["code"], oauth_service.grants[0]["code_verifier"], "Bearer access"):
        assert secret not in shown


def test_login_survives_a_restart(tickets_talker):
    log_in(tickets_talker.gateway)
    tickets_talker.gateway.restart()
    assert whoami(tickets_talker)["output"] == "known by access-1"


def test_token_is_renewed_before_it_expires(tickets_talker, oauth_service):
    oauth_service.lifetime = 1
    log_in(tickets_talker.gateway)
    assert whoami(tickets_talker)["output"].startswith("known by access-")
    assert [grant["grant_type"] for grant in oauth_service.grants][:2] == ["authorization_code", "refresh_token"]
    assert oauth_service.grants[1]["refresh_token"] == "refresh-1"


def test_token_rejected_by_the_service_is_renewed(tickets_talker, oauth_service):
    log_in(tickets_talker.gateway)
    whoami(tickets_talker)
    oauth_service.valid = "something else"
    assert whoami(tickets_talker)["output"] == "known by access-2"
    assert [grant["grant_type"] for grant in oauth_service.grants] == ["authorization_code", "refresh_token"]


@pytest.mark.parametrize("disturbance", [(403, {"content-type": "text/html"}, b"<h1>Checking your browser</h1>"),
                                         (503, {}, b"")])
def test_login_outlasts_a_disturbance_of_its_server(tickets_talker, oauth_service, disturbance):
    log_in(tickets_talker.gateway)
    whoami(tickets_talker)
    oauth_service.valid, oauth_service.disturbance = "something else", disturbance
    assert whoami(tickets_talker)["isError"]
    oauth_service.disturbance = None
    assert whoami(tickets_talker)["output"] == "known by access-2"


def test_expired_login_is_requested_again(tickets_talker, oauth_service):
    log_in(tickets_talker.gateway)
    whoami(tickets_talker)
    oauth_service.valid, oauth_service.tokens = None, 7
    end = whoami(tickets_talker)
    assert end["isError"] and "agw ext login tickets" in end["output"]
    assert "invalid_grant" in tickets_talker.gateway.stderr
    log_in(tickets_talker.gateway)
    assert whoami(tickets_talker)["output"] == "known by access-8"


def test_token_is_sent_to_no_other_address(tickets_talker, oauth_service):
    log_in(tickets_talker.gateway)
    whoami(tickets_talker)
    other = OAuthStub()
    try:
        definition = {"kind": "mcp-http", "url": other.url}
        accepted(tickets_talker.gateway.http.patch("/extensions/tickets", json={"definition": definition}))
        whoami(tickets_talker)
        assert other.requests and all("authorization" not in headers for _, _, headers, _ in other.requests)
    finally:
        other.stop()


def test_configured_credentials_take_precedence(tickets_talker, oauth_service):
    log_in(tickets_talker.gateway)
    assert not whoami(tickets_talker)["isError"]
    definition = {"kind": "mcp-http", "url": oauth_service.url, "headers": {"authorization": "Bearer mine"}}

    def credentials():
        # Only POST: the old session is closed with the credentials it was opened with.
        return {headers.get("authorization") for method, path, headers, _ in oauth_service.requests
                if path == "/mcp" and method == "POST"}

    oauth_service.requests.clear()
    accepted(tickets_talker.gateway.http.patch("/extensions/tickets", json={"definition": definition}))
    assert wait_for(credentials) == {"Bearer mine"}  # the new session starts after the response


def test_deleted_login_is_no_longer_used(tickets_talker, oauth_service):
    log_in(tickets_talker.gateway)
    assert tickets_talker.gateway.http.delete("/integrations/tickets/login").status_code == 204
    assert "access-1" not in (tickets_talker.gateway.data / "secrets.yaml").read_text()
    assert whoami(tickets_talker)["isError"]
    assert tickets_talker.gateway.http.delete("/integrations/tickets/login").status_code == 204


@pytest.mark.parametrize("change", [("state=", "state=0"), ("code=", "c0de="), ("iss=", "iss=https%3A%2F%2Fevil.example"),
                                    ("iss=", "i=")])
def test_response_of_another_issuer_is_refused(tickets_talker, oauth_service, change):
    callback_url = sent_back(begin(tickets_talker.gateway)["authorization_url"])
    assert finish(tickets_talker.gateway, callback_url.replace(*change)).status_code == 400
    assert oauth_service.grants == []


def test_response_is_accepted_once(tickets_talker):
    callback_url = sent_back(begin(tickets_talker.gateway)["authorization_url"])
    accepted(finish(tickets_talker.gateway, callback_url))
    refused(finish(tickets_talker.gateway, callback_url), 400, "no login expects this response: start again")


def test_refused_login_is_reported(tickets_talker):
    state = begin(tickets_talker.gateway)["state"]
    response = finish(tickets_talker.gateway, f"{REDIRECT}?error=access_denied&state={state}")
    assert response.status_code == 400 and "iss" not in response.text


@pytest.mark.parametrize("issuer", ["http://localhost:{}", "http://localhost:{}/tenant", "http://auth.localhost:{}"])
def test_another_issuer_of_the_same_host_is_accepted(own_talker, oauth_service, issuer):
    """As Atlassian's."""
    oauth_service.call_itself("localhost")
    said = issuer.format(oauth_service.origin.rpartition(":")[2])
    oauth_service.said_issuer = oauth_service.answered_issuer = said
    talker = with_tickets(own_talker, oauth_service)
    log_in(talker.gateway)
    assert whoami(talker)["output"] == "known by access-1"


def test_changed_authorization_server_is_refused(tickets_talker, oauth_service):
    oauth_service.said_issuer = "https://login.example"
    response = tickets_talker.gateway.http.post("/integrations/tickets/login", json={"redirect_uri": REDIRECT})
    assert response.status_code == 502 and "another one" in response.json()["error"]


@pytest.mark.parametrize("redirect", ["http://evil.example/callback", "javascript:alert(1)", "", "x", "ftp://127.0.0.1/"])
def test_redirect_uri_must_be_local(tickets_talker, redirect):
    response = tickets_talker.gateway.http.post("/integrations/tickets/login", json={"redirect_uri": redirect})
    refused(response, 400, "redirect_uri must be an http address of this machine or an https address")


@pytest.mark.parametrize("path", ["login", "login/finish"])
def test_missing_integration_is_reported_before_an_invalid_body(tickets_talker, path):
    refused(tickets_talker.gateway.http.post(f"/integrations/nobody/{path}", json={}), 404, "extension not found")


def test_invalid_body_is_reported(tickets_talker):
    http = tickets_talker.gateway.http
    refused(http.post("/integrations/nobody/login", json={"redirect_uri": REDIRECT}), 404, "extension not found")
    refused(http.post("/integrations/assistant/login", json={"redirect_uri": REDIRECT}), 404, "extension not found")
    refused(http.post("/integrations/tickets/login", json={}), 400, "redirect_uri is required")
    refused(http.post("/integrations/tickets/login/finish", json={"redirected_to": 1}), 400,
            "redirected_to must be a string")
    assert finish(tickets_talker.gateway, "%%%").status_code == 400
    body = {"type": "integration", "name": "plain", "description": "", "definition": {"kind": "http", "url": "http://a"}}
    accepted(http.post("/extensions", json=body), 201)
    refused(http.post("/integrations/plain/login", json={"redirect_uri": REDIRECT}), 400,
            "only integrations of the kind mcp-http have logins")


def test_agents_integration_reaches_no_private_address_by_a_login(own_talker, oauth_service):
    new_agent(own_talker.gateway, "user", "trusted")
    body = {"type": "integration", "name": "theirs", "description": "", "source": "agent", "owner_agent_id": "user",
            "definition": {"kind": "mcp-http", "url": oauth_service.url}}
    accepted(own_talker.gateway.http.post("/extensions", json=body), 201)
    response = own_talker.gateway.http.post("/integrations/theirs/login", json={"redirect_uri": REDIRECT})
    assert response.status_code == 502 and "cannot log in" in response.json()["error"]
    assert oauth_service.requests == []


def test_command_line_logs_in_and_out(tickets_talker, oauth_service):
    gateway = tickets_talker.gateway
    environment = {**os.environ, **gateway.variables(), "AGENT_GATEWAY_DATA_DIR": str(gateway.data)}
    command = subprocess.Popen([str(BINARY), "ext", "login", "tickets", "--no-browser"], env=environment,
                               stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    link = command.stdout.readline().strip()
    callback_url = sent_back(link)
    assert re.match(r"http://127\.0\.0\.1:\d+/callback\?", callback_url)
    page = http_client.get(callback_url)
    assert page.status_code == 200 and "close this page" in page.text
    _, output = command.communicate(timeout=PATIENCE)
    assert command.returncode == 0 and "tickets is logged in." in output, output
    assert whoami(tickets_talker)["output"] == "known by access-1"
    done = gateway.command("ext", "logout", "tickets")
    assert done.returncode == 0 and whoami(tickets_talker)["isError"]


def test_login_with_a_browser_elsewhere_by_pasting(tickets_talker):
    gateway = tickets_talker.gateway
    environment = {**os.environ, **gateway.variables(), "AGENT_GATEWAY_DATA_DIR": str(gateway.data)}
    command = subprocess.Popen([str(BINARY), "ext", "login", "tickets", "--paste"], env=environment, text=True,
                               stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    callback_url = sent_back(command.stdout.readline().strip())
    _, output = command.communicate(callback_url + "\n", timeout=PATIENCE)
    assert command.returncode == 0 and "tickets is logged in." in output, output
    assert whoami(tickets_talker)["output"] == "known by access-1"
