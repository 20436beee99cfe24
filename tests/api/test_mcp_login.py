"""Logins of a person at the services of integrations, by OAuth (docs/connect-mcp.md)."""

import os
import re
import subprocess

import httpx
import pytest

from checks import PATIENCE, accepted, refused
from gateway import BINARY
from jobs import wait_for
from stubs.oauth import OAuthStub, asked_for, sent_back
from tools import called, new_agent, new_thread

REDIRECT = "http://127.0.0.1:4818/callback"


@pytest.fixture
def service():
    stub = OAuthStub()
    yield stub
    stub.stop()


@pytest.fixture
def tickets(own_talker, service):
    """A gateway with the integration `tickets`, and a thread of an agent that may use it."""
    body = {"type": "integration", "name": "tickets", "description": "", "enabled": True,
            "definition": {"kind": "mcp-http", "url": service.url}}
    accepted(own_talker.gateway.http.post("/extensions", json=body), 201)
    own_talker.thread = new_thread(own_talker.gateway, new_agent(own_talker.gateway, "user", "trusted"))
    return own_talker


def begin(gateway, **wish):
    return accepted(gateway.http.post("/integrations/tickets/login", json={"redirect_uri": REDIRECT, **wish}))


def finish(gateway, redirected_to):
    return gateway.http.post("/integrations/tickets/login/finish", json={"redirected_to": redirected_to})


def log_in(gateway):
    assert accepted(finish(gateway, sent_back(begin(gateway)["authorization_url"]))) == {"status": "ok"}


def whoami(talker):
    return called(talker, talker.thread, "tickets__whoami", {})


def logs(gateway):
    return gateway.stderr + "".join(path.read_text() for path in (gateway.data / "logs").iterdir())


def test_without_a_login_the_log_says_how_to_get_one(tickets):
    called(tickets, tickets.thread, "tickets__whoami", {})
    assert "run `agw ext login tickets`" in tickets.gateway.stderr


def test_a_person_logs_in_and_the_agent_uses_the_service(tickets, service):
    started = begin(tickets.gateway)
    asked = asked_for(started["authorization_url"])
    assert asked["response_type"] == "code" and asked["code_challenge_method"] == "S256"
    assert asked["resource"] == service.url and asked["scope"] == "read" and asked["redirect_uri"] == REDIRECT
    assert asked["state"] == started["state"] and len(started["state"]) >= 32
    accepted(finish(tickets.gateway, sent_back(started["authorization_url"])))
    assert whoami(tickets)["output"] == "known by access-1"


def test_a_login_is_kept_as_a_secret_and_shown_nowhere(tickets, service):
    log_in(tickets.gateway)
    whoami(tickets)
    assert "access-1" in (tickets.gateway.data / "secrets.yaml").read_text()
    assert (tickets.gateway.data / "secrets.yaml").stat().st_mode & 0o777 == 0o600
    record = tickets.gateway.http.get("/extensions/tickets").text
    shown = logs(tickets.gateway) + record
    for secret in ("refresh-1", service.grants[0]["code"], service.grants[0]["code_verifier"], "Bearer access"):
        assert secret not in shown


def test_a_login_is_there_after_a_restart(tickets):
    log_in(tickets.gateway)
    tickets.gateway.restart()
    assert whoami(tickets)["output"] == "known by access-1"


def test_a_token_is_renewed_before_it_ends(tickets, service):
    service.lifetime = 1
    log_in(tickets.gateway)
    assert whoami(tickets)["output"].startswith("known by access-")
    assert [grant["grant_type"] for grant in service.grants][:2] == ["authorization_code", "refresh_token"]
    assert service.grants[1]["refresh_token"] == "refresh-1"


def test_a_token_that_the_service_forgot_is_renewed(tickets, service):
    log_in(tickets.gateway)
    whoami(tickets)
    service.valid = "something else"
    assert whoami(tickets)["output"] == "known by access-2"
    assert [grant["grant_type"] for grant in service.grants] == ["authorization_code", "refresh_token"]


def test_a_login_that_is_void_is_asked_for_anew(tickets, service):
    log_in(tickets.gateway)
    whoami(tickets)
    service.valid, service.tokens = None, 7
    end = whoami(tickets)
    assert end["isError"] and "agw ext login tickets" in end["output"]
    assert "invalid_grant" in tickets.gateway.stderr
    log_in(tickets.gateway)
    assert whoami(tickets)["output"] == "known by access-8"


def test_a_token_goes_to_no_other_address(tickets, service):
    log_in(tickets.gateway)
    whoami(tickets)
    other = OAuthStub()
    try:
        definition = {"kind": "mcp-http", "url": other.url}
        accepted(tickets.gateway.http.patch("/extensions/tickets", json={"definition": definition}))
        whoami(tickets)
        assert other.requests and all("authorization" not in headers for _, _, headers, _ in other.requests)
    finally:
        other.stop()


def test_own_credentials_come_first(tickets, service):
    log_in(tickets.gateway)
    assert not whoami(tickets)["isError"]
    definition = {"kind": "mcp-http", "url": service.url, "headers": {"authorization": "Bearer mine"}}

    def credentials():
        # The old session is taken leave of with what it was begun with.
        return {headers.get("authorization") for method, path, headers, _ in service.requests
                if path == "/mcp" and method == "POST"}

    service.requests.clear()
    accepted(tickets.gateway.http.patch("/extensions/tickets", json={"definition": definition}))
    assert wait_for(credentials) == {"Bearer mine"}  # The new session begins after the answer.


def test_a_forgotten_login_is_gone(tickets, service):
    log_in(tickets.gateway)
    assert tickets.gateway.http.delete("/integrations/tickets/login").status_code == 204
    assert "access-1" not in (tickets.gateway.data / "secrets.yaml").read_text()
    assert whoami(tickets)["isError"]
    assert tickets.gateway.http.delete("/integrations/tickets/login").status_code == 204


@pytest.mark.parametrize("change", [("state=", "state=0"), ("code=", "c0de="), ("iss=", "iss=https%3A%2F%2Fevil.example"),
                                    ("iss=", "i=")])
def test_an_answer_that_is_not_the_services_is_refused(tickets, service, change):
    back = sent_back(begin(tickets.gateway)["authorization_url"])
    assert finish(tickets.gateway, back.replace(*change)).status_code == 400
    assert service.grants == []


def test_an_answer_counts_once(tickets):
    back = sent_back(begin(tickets.gateway)["authorization_url"])
    accepted(finish(tickets.gateway, back))
    refused(finish(tickets.gateway, back), 400, "no login waits for this answer: begin anew")


def test_a_service_that_refuses(tickets):
    state = begin(tickets.gateway)["state"]
    answer = finish(tickets.gateway, f"{REDIRECT}?error=access_denied&state={state}")
    assert answer.status_code == 400 and "iss" not in answer.text


def test_an_authorization_server_that_is_another_is_refused(tickets, service):
    service.said_issuer = "https://login.example"
    answer = tickets.gateway.http.post("/integrations/tickets/login", json={"redirect_uri": REDIRECT})
    assert answer.status_code == 502 and "another one" in answer.json()["error"]


@pytest.mark.parametrize("redirect", ["http://evil.example/callback", "javascript:alert(1)", "", "x", "ftp://127.0.0.1/"])
def test_codes_are_sent_to_this_machine_only(tickets, redirect):
    answer = tickets.gateway.http.post("/integrations/tickets/login", json={"redirect_uri": redirect})
    refused(answer, 400, "redirect_uri must be an http address of this machine or an https address")


@pytest.mark.parametrize("path", ["login", "login/finish"])
def test_what_is_not_there_is_said_before_what_is_wrong_with_the_body(tickets, path):
    refused(tickets.gateway.http.post(f"/integrations/nobody/{path}", json={}), 404, "extension not found")


def test_what_is_wrong_is_said(tickets):
    http = tickets.gateway.http
    refused(http.post("/integrations/nobody/login", json={"redirect_uri": REDIRECT}), 404, "extension not found")
    refused(http.post("/integrations/assistant/login", json={"redirect_uri": REDIRECT}), 404, "extension not found")
    refused(http.post("/integrations/tickets/login", json={}), 400, "redirect_uri is required")
    refused(http.post("/integrations/tickets/login/finish", json={"redirected_to": 1}), 400,
            "redirected_to must be a string")
    assert finish(tickets.gateway, "%%%").status_code == 400
    body = {"type": "integration", "name": "plain", "description": "", "definition": {"kind": "http", "url": "http://a"}}
    accepted(http.post("/extensions", json=body), 201)
    refused(http.post("/integrations/plain/login", json={"redirect_uri": REDIRECT}), 400,
            "only integrations of the kind mcp-http have logins")


def test_an_agents_integration_reaches_no_private_address_by_a_login(tickets, service):
    body = {"type": "integration", "name": "theirs", "description": "", "source": "agent", "owner_agent_id": "user",
            "definition": {"kind": "mcp-http", "url": service.url}}
    accepted(tickets.gateway.http.post("/extensions", json=body), 201)
    service.requests.clear()
    answer = tickets.gateway.http.post("/integrations/theirs/login", json={"redirect_uri": REDIRECT})
    assert answer.status_code == 502 and "cannot log in" in answer.json()["error"]
    assert service.requests == []


def test_the_command_line_logs_in_and_out(tickets, service):
    gateway = tickets.gateway
    environment = {**os.environ, **gateway.variables(), "AGENT_GATEWAY_DATA_DIR": str(gateway.data)}
    command = subprocess.Popen([str(BINARY), "ext", "login", "tickets", "--no-browser"], env=environment,
                               stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    link = command.stdout.readline().strip()
    back = sent_back(link)
    assert re.match(r"http://127\.0\.0\.1:\d+/callback\?", back)
    page = httpx.get(back, timeout=PATIENCE)
    assert page.status_code == 200 and "close this page" in page.text
    _, said = command.communicate(timeout=PATIENCE)
    assert command.returncode == 0 and "tickets is logged in." in said, said
    assert whoami(tickets)["output"] == "known by access-1"
    done = gateway.command("ext", "logout", "tickets")
    assert done.returncode == 0 and whoami(tickets)["isError"]


def test_a_browser_elsewhere_is_served_by_pasting(tickets):
    gateway = tickets.gateway
    environment = {**os.environ, **gateway.variables(), "AGENT_GATEWAY_DATA_DIR": str(gateway.data)}
    command = subprocess.Popen([str(BINARY), "ext", "login", "tickets", "--paste"], env=environment, text=True,
                               stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    back = sent_back(command.stdout.readline().strip())
    _, said = command.communicate(back + "\n", timeout=PATIENCE)
    assert command.returncode == 0 and "tickets is logged in." in said, said
    assert whoami(tickets)["output"] == "known by access-1"
