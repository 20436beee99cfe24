"""Devices are paired, and browsers subscribe to notices, at any node."""

import shutil

import pytest

from checks import accepted, refused
from stubs.browser import Browser
from stubs.web import WebStub
from test_changes import eventually

LOCKED = "Too many attempts. Wait a minute and try again."


@pytest.fixture
def service():
    with WebStub() as stub:
        stub.answers("/send", b"", status=201)
        yield stub


@pytest.fixture
def twin_nodes(make_node, service):
    """Two nodes with the same token and secrets."""
    environment = {"AGENT_GATEWAY_TEST_PUSH_SERVICE": service.url("").rstrip("/")}
    a, b = (make_node(name, environment=environment) for name in ("a", "b"))
    a.start()
    accepted(a.http.get("/push/key"))
    for name in (".gateway-token", "secrets.yaml"):
        shutil.copy(a.data / name, b.data / name)
    return a, b.start()


def pair(node, code):
    return node.anonymous.post("/pair", json={"otp": code})


def code_of(node):
    return accepted(node.http.get("/pair/refresh"))["code"]


def other_than(code):
    return "000000" if code != "000000" else "000001"


def test_a_code_of_one_node_is_accepted_once_by_any(twin_nodes):
    a, b = twin_nodes
    code = code_of(a)
    assert accepted(pair(b, code))["token"] == a.token
    for node in twin_nodes:
        refused(pair(node, code), 401, "Invalid or expired code")
    old, new = code_of(b), code_of(a)
    refused(pair(b, other_than(new) if old == new else old), 401, "Invalid or expired code")
    accepted(pair(b, new))


def test_wrong_codes_count_at_all_nodes(twin_nodes):
    a, b = twin_nodes
    code = code_of(a)
    for node in (a, b, a, b, a):
        refused(pair(node, other_than(code)), 401, "Invalid or expired code")
    for node in (b, a):
        refused(pair(node, code), 429, LOCKED)


def test_subscriptions_are_shared_by_all_nodes(twin_nodes, service):
    a, b = twin_nodes
    made = accepted(a.http.post("/push/subscriptions", json=Browser(service.url("/send")).subscription), 201)

    def subscription_ids(node):
        return [each["id"] for each in accepted(node.http.get("/push/subscriptions"))]
    eventually(lambda: subscription_ids(b), [made["id"]])
    accepted(b.http.post("/signals", json={"kind": "backup-late", "message": "Look at this."}), 201)
    eventually(lambda: len(service.requests), 1)
    assert b.http.delete(f"/push/subscriptions/{made['id']}").status_code == 204
    eventually(lambda: subscription_ids(a), [])


def test_nodes_use_a_token_that_is_copied_to_their_directories(twin_nodes):
    a, b = twin_nodes
    old = b.authorization
    done = a.command("token", "rotate")
    assert f"copy {a.data / '.gateway-token'} to their data directories" in done.stdout, done.stderr
    shutil.copy(a.data / ".gateway-token", b.data / ".gateway-token")
    eventually(lambda: b.anonymous.get("/threads", headers=old).status_code, 401)
    accepted(b.anonymous.get("/threads", headers=a.authorization))
