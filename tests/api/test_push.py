"""Push notifications to browsers in which the page is closed.

See docs/contract/push.md.
"""

import itertools
import time

import pytest

from checks import UNKNOWN_ID, accepted, at_once, is_id, is_timestamp, refused
from jobs import new_job, wait_for
from jobs import run as run_job
from stubs.browser import Browser, decoded, vapid_claims
from stubs.web import WebStub
from talker import configuration
from tools import calls, new_agent, new_thread

KINDS = ["permission-requested", "finish", "proposal-created", "job.failed", "signal"]
MEMBERS = {"id", "service", "kinds", "device", "created_at", "expires_at", "last_sent_at", "last_error"}
numbers = itertools.count()


@pytest.fixture
def service():
    with WebStub() as stub:
        yield stub


@pytest.fixture
def push_gateway(make_gateway, service):
    """A gateway that may send to the push service of this test."""
    environment = {"AGENT_GATEWAY_TEST_PUSH_SERVICE": service.url("").rstrip("/")}
    return make_gateway(environment=environment).start()


def new_browser(service, status=201, headers=(), body=b"", **members):
    path = f"/send/{next(numbers)}"
    service.answers(path, body, status=status, **dict(headers))
    return Browser(service.url(path), **members)


def post(gateway, subscription):
    return gateway.http.post("/push/subscriptions", json=subscription)


def subscribe(gateway, browser):
    return accepted(post(gateway, browser.subscription), 201)


def subscriptions(gateway):
    return accepted(gateway.http.get("/push/subscriptions"))


def send_test(gateway, made):
    return accepted(gateway.http.post(f"/push/subscriptions/{made['id']}/test"))


def raise_signal(gateway, message="Look at this."):
    accepted(gateway.http.post("/signals", json={"kind": "backup-late", "message": message}), 201)


def wait_for_requests(service, count=1):
    wait_for(lambda: len(service.requests) >= count)
    return service.requests


def test_public_key_is_a_point_of_the_curve_and_does_not_change(push_gateway):
    key = accepted(push_gateway.http.get("/push/key"))
    point = decoded(key["public_key"])
    assert len(point) == 65 and point[0] == 4
    assert accepted(push_gateway.http.get("/push/key")) == key
    push_gateway.restart()
    assert accepted(push_gateway.http.get("/push/key")) == key


def test_concurrent_requests_get_the_same_key(push_gateway):
    assert len({accepted(found)["public_key"] for found in at_once(8, lambda _: push_gateway.http.get("/push/key"))}) == 1


def test_private_key_is_a_secret_of_the_gateway(push_gateway):
    assert not (push_gateway.data / "secrets.yaml").exists(), "it is created by the first request"
    accepted(push_gateway.http.get("/push/key"))
    file = push_gateway.data / "secrets.yaml"
    assert "push_key" in file.read_text() and file.stat().st_mode & 0o777 == 0o600
    assert push_gateway.command("secret", "list").stdout.split() == ["push_key"]


def test_subscription_is_returned_without_its_endpoint_and_keys(push_gateway, service):
    browser = new_browser(service, device="phone", kinds=["signal", "finish", "signal"])
    made = subscribe(push_gateway, browser)
    assert set(made) == MEMBERS and is_id(made["id"]) and is_timestamp(made["created_at"])
    assert (made["service"], made["kinds"], made["device"]) == ("127.0.0.1", ["finish", "signal"], "phone")
    assert subscriptions(push_gateway) == [made]
    assert browser.subscription["endpoint"] not in push_gateway.http.get("/push/subscriptions").text


def test_names_of_kinds_are_normalized(push_gateway, service):
    browser = new_browser(service, kinds=["signals", "proposal.created", "signal"])
    assert subscribe(push_gateway, browser)["kinds"] == ["proposal-created", "signal"]


def test_subscription_may_be_nested(push_gateway, service):
    browser = new_browser(service)
    body = {"subscription": browser.subscription, "kinds": ["finish"], "device": "phone"}
    made = accepted(push_gateway.http.post("/push/subscriptions", json=body), 201)
    assert (made["service"], made["kinds"], made["device"]) == ("127.0.0.1", ["finish"], "phone")
    assert subscriptions(push_gateway) == [made]
    refused(push_gateway.http.post("/push/subscriptions", json={"subscription": {}}), 400, "endpoint is required")
    refused(push_gateway.http.post("/push/subscriptions", json={"subscription": "x"}), 400, "endpoint is required")


def test_kinds_default_to_all(push_gateway, service):
    assert subscribe(push_gateway, new_browser(service))["kinds"] == KINDS


def test_browser_decrypts_the_notice(push_gateway, service):
    browser = new_browser(service)
    subscribe(push_gateway, browser)
    raise_signal(push_gateway, "The password is hunter2.")
    request = wait_for_requests(service)[0]
    notice = browser.read(request)
    assert (notice["kind"], notice["body"], notice["url"]) == ("signal", "The gateway has a signal for you.", "/ui/#/inbox")
    assert request.method == "POST" and request.headers["ttl"] == "86400" and request.headers["urgency"] == "normal"
    assert len(request.headers["topic"]) == 32 and request.headers["topic"] == notice["topic"]
    assert "hunter2" not in str(notice)


def hidden_in(notice, request, *words):
    """Returns whether neither the request nor the decrypted notice contains any of the words."""
    wire = f"{request.headers} {request.body!r}"
    return not any(word in wire or word in str(notice) for word in words)


def test_question_reaches_another_device(make_gateway, stub, service):
    """The page is open on one device; the phone gets a push at once, without any details."""
    gateway = make_gateway(config=configuration(stub), environment={
        "AGENT_GATEWAY_TEST_PUSH_SERVICE": service.url("").rstrip("/")}).start()
    browser, desk = new_browser(service, device="phone"), new_browser(service, device="desk")
    subscribe(gateway, browser)
    subscribe(gateway, desk)
    thread = new_thread(gateway, new_agent(gateway, "keeper-of-secrets", "apprentice"))
    stub.script(calls(("Bash", {"command": "cat diary/secret-plan.txt"})), "Done.")
    with gateway.events() as page:
        page.subscribe(thread["id"], approvals=True, device="desk", visible=True)
        turn = accepted(gateway.http.post("/chat", json={"content": "Read my diary.", "threadId": thread["id"]}), 201)
        permission = page.until(lambda event: event["type"] == "permission-requested")[-1]["request"]
        request = wait_for_requests(service)[0]
        notice = browser.read(request)
        assert notice == {"kind": "permission-requested", "body": "An agent asks for permission.",
                          "url": f"/ui/#/t/{thread['id']}", "topic": request.headers["topic"]}
        assert request.headers["urgency"] == "high" and request.headers["ttl"] == "600"
        assert len(request.headers["topic"]) == 32 and thread["id"] not in str(request.headers)
        assert hidden_in(notice, request, "diary", "secret-plan", "cat ", "Bash", "keeper-of-secrets")
        accepted(gateway.http.post(f"/permissions/{permission['id']}", json={"decision": "deny"}))
        page.run(turn["id"])
    assert [sent.path for sent in service.requests] == [service_path(browser)], "a device that shows the page gets no push"


def test_proposal_reaches_a_closed_page(make_gateway, stub, service):
    gateway = make_gateway(config=configuration(stub), environment={
        "AGENT_GATEWAY_TEST_PUSH_SERVICE": service.url("").rstrip("/")}).start()
    browser = new_browser(service, kinds=["proposal-created"])
    subscribe(gateway, browser)
    thread = new_thread(gateway, new_agent(gateway, "learner", "apprentice"))
    stub.script(calls(("Write", {"path": "diary.md", "content": "Dear diary"})), "Done.")
    accepted(gateway.http.post("/chat", json={"content": "Note it.", "threadId": thread["id"]}), 201)
    request = wait_for_requests(service)[0]
    notice = browser.read(request)
    assert (notice["kind"], notice["body"]) == ("proposal-created", "A proposal is waiting for you.")
    assert notice["url"] == "/ui/#/inbox" and request.headers["urgency"] == "normal"
    assert hidden_in(notice, request, "diary", "learner")


def test_failed_job_reaches_a_closed_page(make_gateway, stub, service):
    gateway = make_gateway(config=configuration(stub), environment={
        "AGENT_GATEWAY_TEST_PUSH_SERVICE": service.url("").rstrip("/")}).start()
    browser = new_browser(service, kinds=["job.failed"])
    subscribe(gateway, browser)
    job = new_job(gateway, "count-the-sheep", prompt="Count.", timeout_s=1)
    stub.hold("One")
    run_job(gateway, job)
    request = wait_for_requests(service)[0]
    notice = browser.read(request)
    assert (notice["kind"], notice["body"], notice["url"]) == ("job.failed", "A job has failed.", "/ui/#/inbox")
    assert request.headers["urgency"] == "normal" and request.headers["ttl"] == "86400"
    assert hidden_in(notice, request, "sheep", "Count.")


def test_push_service_gets_the_claims_of_the_sender(push_gateway, service):
    subscribe(push_gateway, new_browser(service))
    raise_signal(push_gateway)
    claims = vapid_claims(wait_for_requests(service)[0], accepted(push_gateway.http.get("/push/key"))["public_key"])
    assert claims["aud"] == service.url("").rstrip("/") and claims["sub"].startswith("https://")
    assert time.time() < claims["exp"] <= time.time() + 24 * 3600, "the longest that push services accept"


def test_test_notice_is_sent_at_once_and_returns_its_result(push_gateway, service):
    browser = new_browser(service)
    made = subscribe(push_gateway, browser)
    assert send_test(push_gateway, made) == {"sent": True, "status": 201, "error": None}
    assert browser.read(service.requests[0])["body"] == "Notifications work."
    assert service.requests[0].headers["urgency"] == "high"
    assert is_timestamp(subscriptions(push_gateway)[0]["last_sent_at"])


@pytest.mark.parametrize("status", [404, 410])
def test_subscription_unknown_to_the_push_service_is_deleted(push_gateway, service, status):
    made = subscribe(push_gateway, new_browser(service, status))
    assert send_test(push_gateway, made) == {
        "sent": False, "status": status,
        "error": "the push service does not know this browser any more: subscribe again"}
    assert subscriptions(push_gateway) == []
    refused(push_gateway.http.post(f"/push/subscriptions/{made['id']}/test"), 404, "push subscription not found")


def test_busy_push_service_is_retried_when_it_asked_for(push_gateway, service):
    browser = new_browser(service, 429, {"retry-after": "1"})
    path, times = browser.subscription["endpoint"].removeprefix(service.url("").rstrip("/")), []

    def is_busy_at_first(_):
        times.append(time.monotonic())
        if len(times) == 2:
            service.answers(path, b"", status=201)
    service.on_request = is_busy_at_first
    subscribe(push_gateway, browser)
    raise_signal(push_gateway)
    first, second = wait_for_requests(service, 2)
    assert times[1] - times[0] > 0.9
    assert browser.read(first)["topic"] == browser.read(second)["topic"]
    wait_for(lambda: subscriptions(push_gateway)[0]["last_sent_at"])


def test_body_of_a_large_response_is_not_read(push_gateway, service):
    made = subscribe(push_gateway, new_browser(service, 201, body=b"x" * 20_000_000))
    assert send_test(push_gateway, made)["sent"]


def test_redirect_is_not_followed(push_gateway, service):
    made = subscribe(push_gateway, new_browser(service, 307, {"location": service.url("/elsewhere")}))
    assert send_test(push_gateway, made) == {"sent": False, "status": 307, "error": "127.0.0.1 answered 307"}
    assert len(service.requests) == 1 and subscriptions(push_gateway)[0]["last_error"] == "127.0.0.1 answered 307"


def test_unreachable_push_service_is_reported(push_gateway, service):
    browser = new_browser(service)
    made = subscribe(push_gateway, browser)
    service.__exit__()
    assert "127.0.0.1 cannot be reached" in send_test(push_gateway, made)["error"]
    assert push_gateway.stop() == 0, "pending retries do not delay shutdown"


@pytest.mark.parametrize("host", ["127.0.0.1", "10.1.2.3", "192.168.0.1", "169.254.169.254", "[::1]", "[fd00::1]",
                                  "[::ffff:10.0.0.1]", "localhost", "x.localhost", "localhost.", "2130706433"])
def test_subscription_at_a_private_address_is_refused(push_gateway, host):
    refused(post(push_gateway, Browser(f"https://{host}/send").subscription), 400,
            f"endpoint must be on the public internet, not at {host.strip('[]')}")


@pytest.mark.parametrize("endpoint", ["http://push.example.net/", "ftp://push.example.net/", "push.example.net", "",
                                      "https://a:b@push.example.net/"])
def test_endpoint_must_be_an_https_url_without_credentials(push_gateway, endpoint):
    refused(post(push_gateway, Browser(endpoint).subscription), 400, "endpoint must be an https URL")


def test_loopback_is_refused_without_the_variable_for_tests(gateway, service):
    refused(post(gateway, new_browser(service).subscription), 400, "endpoint must be an https URL")


@pytest.mark.parametrize("members, error", [
    ({"endpoint": None}, "endpoint is required"), ({"keys": None}, "keys is required"),
    ({"keys": {"auth": "x"}}, "keys.p256dh is required"), ({"keys": {"p256dh": "x"}}, "keys.auth is required"),
    ({"kinds": []}, "kinds must name at least one kind"), ({"kinds": ["noise"]}, "invalid kinds[0]: noise"),
    ({"kinds": "signal"}, "kinds must be a array"), ({"device": ""}, "device must have 1 to 128 bytes"),
    ({"device": "x" * 129}, "device must have 1 to 128 bytes"),
    ({"expirationTime": 1}, "the subscription has expired"),
    ({"keys": {"p256dh": "AAAA", "auth": "AAAA"}}, "keys.p256dh must be a public key of P-256 in base64url")])
def test_invalid_members_are_named(push_gateway, members, error):
    refused(post(push_gateway, {**Browser("https://push.example.net/send").subscription, **members}), 400, error)


def test_there_are_at_most_100_subscriptions(push_gateway):
    browser = Browser("https://push.example.net/send")

    def add(number):
        return post(push_gateway, {**browser.subscription, "endpoint": f"https://push.example.net/send/{number}"})

    made = [response for round in range(20) for response in at_once(50, lambda number: add(50 * round + number))]
    assert sorted(response.status_code for response in made) == [201] * 100 + [409] * 900
    refused(add(1000), 409, "there are 100 push subscriptions: delete one first")
    assert len(subscriptions(push_gateway)) == 100


def test_subscription_of_the_same_device_replaces_the_older_one(push_gateway, service):
    subscribe(push_gateway, new_browser(service, device="phone"))
    newer = subscribe(push_gateway, new_browser(service, device="phone"))
    assert [found["id"] for found in subscriptions(push_gateway)] == [newer["id"]]


def test_deleted_subscription_gets_no_notices(push_gateway, service):
    made, other = subscribe(push_gateway, new_browser(service)), subscribe(push_gateway, new_browser(service))
    assert push_gateway.http.delete(f"/push/subscriptions/{made['id']}").status_code == 204
    refused(push_gateway.http.delete(f"/push/subscriptions/{made['id']}"), 404, "push subscription not found")
    refused(push_gateway.http.delete(f"/push/subscriptions/{UNKNOWN_ID}"), 404, "push subscription not found")
    raise_signal(push_gateway)
    wait_for(lambda: subscriptions(push_gateway)[0]["last_sent_at"])
    assert [found["id"] for found in subscriptions(push_gateway)] == [other["id"]] and len(service.requests) == 1


def test_subscriptions_survive_a_kill(push_gateway, service):
    browser = new_browser(service)
    made = subscribe(push_gateway, browser)
    push_gateway.kill()
    push_gateway.start()
    assert subscriptions(push_gateway) == [made]
    assert send_test(push_gateway, made)["sent"] and browser.read(service.requests[0])


def test_rotating_the_token_deletes_the_subscriptions(push_gateway, service):
    subscribe(push_gateway, new_browser(service))
    assert push_gateway.command("token", "rotate").returncode == 0
    push_gateway._leave()  # its clients have the old token
    wait_for(lambda: push_gateway.http.get("/health").is_success)
    wait_for(lambda: subscriptions(push_gateway) == [])


def test_rotating_the_token_while_stopped_deletes_the_subscriptions(push_gateway, service):
    subscribe(push_gateway, new_browser(service))
    assert push_gateway.stop() == 0
    assert push_gateway.command("token", "rotate").returncode == 0
    push_gateway.start()
    assert subscriptions(push_gateway) == []


def test_device_with_a_visible_page_gets_no_push(push_gateway, service):
    phone, desk = new_browser(service, device="phone"), new_browser(service, device="desk")
    subscribe(push_gateway, phone)
    subscribe(push_gateway, desk)
    with push_gateway.events() as page:
        assert page.ask({"type": "subscribe", "device": "phone", "visible": True})["type"] == "subscribed"
        raise_signal(push_gateway)
        assert desk.read(wait_for_requests(service)[0])
        page.ask({"type": "subscribe", "device": "phone", "visible": False})
        wait_for(lambda: [found["last_sent_at"] is None for found in subscriptions(push_gateway)] == [True, False])
        raise_signal(push_gateway)
        wait_for_requests(service, 3)
    paths = [request.path for request in service.requests]
    assert sorted(paths[1:]) == sorted([service_path(phone), service_path(desk)])


def service_path(browser):
    return "/" + browser.subscription["endpoint"].split("/", 3)[3]


def test_closed_page_does_not_suppress_pushes(push_gateway, service):
    browser = new_browser(service, device="phone")
    subscribe(push_gateway, browser)
    with push_gateway.events() as page:
        page.ask({"type": "subscribe", "device": "phone", "visible": True})
    wait_for(lambda: (raise_signal(push_gateway), service.requests)[1])
    assert browser.read(service.requests[0])["kind"] == "signal"


def test_needs_the_token(push_gateway):
    for method, path in (("GET", "/push/key"), ("GET", "/push/subscriptions"), ("POST", "/push/subscriptions")):
        refused(push_gateway.anonymous.request(method, path), 401, "unauthorized")
