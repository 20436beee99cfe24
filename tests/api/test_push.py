"""Notices to browsers whose page is closed.

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
def pushing(make_gateway, service):
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


def test(gateway, made):
    return accepted(gateway.http.post(f"/push/subscriptions/{made['id']}/test"))


test.__test__ = False


def raise_signal(gateway, message="Look at this."):
    accepted(gateway.http.post("/signals", json={"kind": "backup-late", "message": message}), 201)


def received(service, count=1):
    wait_for(lambda: len(service.requests) >= count)
    return service.requests


def test_key_is_a_point_of_the_curve_and_stays_the_same(pushing):
    key = accepted(pushing.http.get("/push/key"))
    point = decoded(key["public_key"])
    assert len(point) == 65 and point[0] == 4
    assert accepted(pushing.http.get("/push/key")) == key
    pushing.restart()
    assert accepted(pushing.http.get("/push/key")) == key


def test_key_asked_for_at_once_is_one(pushing):
    assert len({accepted(found)["public_key"] for found in at_once(8, lambda _: pushing.http.get("/push/key"))}) == 1


def test_secret_half_of_the_key_is_a_secret_of_the_gateway(pushing):
    assert not (pushing.data / "secrets.yaml").exists(), "it is made when it is first asked for"
    accepted(pushing.http.get("/push/key"))
    file = pushing.data / "secrets.yaml"
    assert "push_key" in file.read_text() and file.stat().st_mode & 0o777 == 0o600
    assert pushing.command("secret", "list").stdout.split() == ["push_key"]


def test_subscription_is_returned_without_what_would_let_others_send(pushing, service):
    browser = new_browser(service, device="phone", kinds=["signal", "finish", "signal"])
    made = subscribe(pushing, browser)
    assert set(made) == MEMBERS and is_id(made["id"]) and is_timestamp(made["created_at"])
    assert (made["service"], made["kinds"], made["device"]) == ("127.0.0.1", ["finish", "signal"], "phone")
    assert subscriptions(pushing) == [made]
    assert browser.subscription["endpoint"] not in pushing.http.get("/push/subscriptions").text


def test_kinds_have_one_name_however_they_were_written(pushing, service):
    browser = new_browser(service, kinds=["signals", "proposal.created", "signal"])
    assert subscribe(pushing, browser)["kinds"] == ["proposal-created", "signal"]


def test_subscription_may_be_a_member_of_its_own(pushing, service):
    browser = new_browser(service)
    body = {"subscription": browser.subscription, "kinds": ["finish"], "device": "phone"}
    made = accepted(pushing.http.post("/push/subscriptions", json=body), 201)
    assert (made["service"], made["kinds"], made["device"]) == ("127.0.0.1", ["finish"], "phone")
    assert subscriptions(pushing) == [made]
    refused(pushing.http.post("/push/subscriptions", json={"subscription": {}}), 400, "endpoint is required")
    refused(pushing.http.post("/push/subscriptions", json={"subscription": "x"}), 400, "endpoint is required")


def test_all_kinds_are_sent_unless_some_are_chosen(pushing, service):
    assert subscribe(pushing, new_browser(service))["kinds"] == KINDS


def test_notice_is_what_the_browser_decrypts(pushing, service):
    browser = new_browser(service)
    subscribe(pushing, browser)
    raise_signal(pushing, "The password is hunter2.")
    request = received(service)[0]
    notice = browser.read(request)
    assert (notice["kind"], notice["body"], notice["url"]) == ("signal", "The gateway has a signal for you.", "/ui/#/inbox")
    assert request.method == "POST" and request.headers["ttl"] == "86400" and request.headers["urgency"] == "normal"
    assert len(request.headers["topic"]) == 32 and request.headers["topic"] == notice["topic"]
    assert "hunter2" not in str(notice)


def hidden_in(notice, request, *words):
    """Whether nobody on the way, nor the notice itself, has any of the words."""
    wire = f"{request.headers} {request.body!r}"
    return not any(word in wire or word in str(notice) for word in words)


def test_question_reaches_another_device(make_gateway, stub, service):
    """The page is open on one device. The phone gets a push at once, in general words."""
    gateway = make_gateway(config=configuration(stub), environment={
        "AGENT_GATEWAY_TEST_PUSH_SERVICE": service.url("").rstrip("/")}).start()
    browser, near = new_browser(service, device="phone"), new_browser(service, device="desk")
    subscribe(gateway, browser)
    subscribe(gateway, near)
    thread = new_thread(gateway, new_agent(gateway, "keeper-of-secrets", "apprentice"))
    stub.script(calls(("Bash", {"command": "cat diary/secret-plan.txt"})), "Done.")
    with gateway.events() as page:
        page.subscribe(thread["id"], approvals=True, device="desk", visible=True)
        turn = accepted(gateway.http.post("/chat", json={"content": "Read my diary.", "threadId": thread["id"]}), 201)
        asked = page.until(lambda event: event["type"] == "permission-requested")[-1]["request"]
        request = received(service)[0]
        notice = browser.read(request)
        assert notice == {"kind": "permission-requested", "body": "An agent asks for permission.",
                          "url": f"/ui/#/t/{thread['id']}", "topic": request.headers["topic"]}
        assert request.headers["urgency"] == "high" and request.headers["ttl"] == "600"
        assert len(request.headers["topic"]) == 32 and thread["id"] not in str(request.headers)
        assert hidden_in(notice, request, "diary", "secret-plan", "cat ", "Bash", "keeper-of-secrets")
        accepted(gateway.http.post(f"/permissions/{asked['id']}", json={"decision": "deny"}))
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
    request = received(service)[0]
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
    request = received(service)[0]
    notice = browser.read(request)
    assert (notice["kind"], notice["body"], notice["url"]) == ("job.failed", "A job has failed.", "/ui/#/inbox")
    assert request.headers["urgency"] == "normal" and request.headers["ttl"] == "86400"
    assert hidden_in(notice, request, "sheep", "Count.")


def test_push_service_learns_who_sends(pushing, service):
    subscribe(pushing, new_browser(service))
    raise_signal(pushing)
    claims = vapid_claims(received(service)[0], accepted(pushing.http.get("/push/key"))["public_key"])
    assert claims["aud"] == service.url("").rstrip("/") and claims["sub"].startswith("https://")
    assert time.time() < claims["exp"] <= time.time() + 24 * 3600, "the longest that push services accept"


def test_test_is_sent_at_once_and_says_how_it_went(pushing, service):
    browser = new_browser(service)
    made = subscribe(pushing, browser)
    assert test(pushing, made) == {"sent": True, "status": 201, "error": None}
    assert browser.read(service.requests[0])["body"] == "Notifications work."
    assert service.requests[0].headers["urgency"] == "high"
    assert is_timestamp(subscriptions(pushing)[0]["last_sent_at"])


@pytest.mark.parametrize("status", [404, 410])
def test_subscription_that_the_push_service_forgot_is_deleted(pushing, service, status):
    made = subscribe(pushing, new_browser(service, status))
    assert test(pushing, made) == {
        "sent": False, "status": status,
        "error": "the push service does not know this browser any more: subscribe again"}
    assert subscriptions(pushing) == []
    refused(pushing.http.post(f"/push/subscriptions/{made['id']}/test"), 404, "push subscription not found")


def test_busy_push_service_is_asked_again_when_it_said(pushing, service):
    browser = new_browser(service, 429, {"retry-after": "1"})
    path, times = browser.subscription["endpoint"].removeprefix(service.url("").rstrip("/")), []

    def is_busy_at_first(_):
        times.append(time.monotonic())
        if len(times) == 2:
            service.answers(path, b"", status=201)
    service.on_request = is_busy_at_first
    subscribe(pushing, browser)
    raise_signal(pushing)
    first, second = received(service, 2)
    assert times[1] - times[0] > 0.9
    assert browser.read(first)["topic"] == browser.read(second)["topic"]
    wait_for(lambda: subscriptions(pushing)[0]["last_sent_at"])


def test_huge_answer_is_not_read(pushing, service):
    made = subscribe(pushing, new_browser(service, 201, body=b"x" * 20_000_000))
    assert test(pushing, made)["sent"]


def test_redirect_is_not_followed(pushing, service):
    made = subscribe(pushing, new_browser(service, 307, {"location": service.url("/elsewhere")}))
    assert test(pushing, made) == {"sent": False, "status": 307, "error": "127.0.0.1 answered 307"}
    assert len(service.requests) == 1 and subscriptions(pushing)[0]["last_error"] == "127.0.0.1 answered 307"


def test_push_service_that_is_away_is_told(pushing, service):
    browser = new_browser(service)
    made = subscribe(pushing, browser)
    service.__exit__()
    assert "127.0.0.1 cannot be reached" in test(pushing, made)["error"]
    assert pushing.stop() == 0, "nothing that waits for another attempt keeps it from ending"


@pytest.mark.parametrize("host", ["127.0.0.1", "10.1.2.3", "192.168.0.1", "169.254.169.254", "[::1]", "[fd00::1]",
                                  "[::ffff:10.0.0.1]", "localhost", "x.localhost", "2130706433"])
def test_subscription_at_a_private_address_is_refused(pushing, host):
    refused(post(pushing, Browser(f"https://{host}/send").subscription), 400,
            f"endpoint must be on the public internet, not at {host.strip('[]')}")


@pytest.mark.parametrize("endpoint", ["http://push.example.net/", "ftp://push.example.net/", "push.example.net", "",
                                      "https://a:b@push.example.net/"])
def test_endpoint_must_be_encrypted_and_plain(pushing, endpoint):
    refused(post(pushing, Browser(endpoint).subscription), 400, "endpoint must be an https URL")


def test_loopback_is_private_without_the_option_of_tests(gateway, service):
    refused(post(gateway, new_browser(service).subscription), 400, "endpoint must be an https URL")


@pytest.mark.parametrize("members, error", [
    ({"endpoint": None}, "endpoint is required"), ({"keys": None}, "keys is required"),
    ({"keys": {"auth": "x"}}, "keys.p256dh is required"), ({"keys": {"p256dh": "x"}}, "keys.auth is required"),
    ({"kinds": []}, "kinds must name at least one kind"), ({"kinds": ["noise"]}, "invalid kinds[0]: noise"),
    ({"kinds": "signal"}, "kinds must be a array"), ({"device": ""}, "device must have 1 to 128 bytes"),
    ({"device": "x" * 129}, "device must have 1 to 128 bytes"),
    ({"expirationTime": 1}, "the subscription has expired"),
    ({"keys": {"p256dh": "AAAA", "auth": "AAAA"}}, "keys.p256dh must be a public key of P-256 in base64url")])
def test_invalid_members_are_named(pushing, members, error):
    refused(post(pushing, {**Browser("https://push.example.net/send").subscription, **members}), 400, error)


def test_a_thousand_subscriptions_are_bounded(pushing):
    browser = Browser("https://push.example.net/send")

    def add(number):
        return post(pushing, {**browser.subscription, "endpoint": f"https://push.example.net/send/{number}"})

    made = [response for round in range(20) for response in at_once(50, lambda number: add(50 * round + number))]
    assert sorted(response.status_code for response in made) == [201] * 100 + [409] * 900
    refused(add(1000), 409, "there are 100 push subscriptions: delete one first")
    assert len(subscriptions(pushing)) == 100


def test_subscription_of_the_same_device_replaces_the_older_one(pushing, service):
    subscribe(pushing, new_browser(service, device="phone"))
    newer = subscribe(pushing, new_browser(service, device="phone"))
    assert [found["id"] for found in subscriptions(pushing)] == [newer["id"]]


def test_deleted_subscription_is_sent_nothing_more(pushing, service):
    made, other = subscribe(pushing, new_browser(service)), subscribe(pushing, new_browser(service))
    assert pushing.http.delete(f"/push/subscriptions/{made['id']}").status_code == 204
    refused(pushing.http.delete(f"/push/subscriptions/{made['id']}"), 404, "push subscription not found")
    refused(pushing.http.delete(f"/push/subscriptions/{UNKNOWN_ID}"), 404, "push subscription not found")
    raise_signal(pushing)
    wait_for(lambda: subscriptions(pushing)[0]["last_sent_at"])
    assert [found["id"] for found in subscriptions(pushing)] == [other["id"]] and len(service.requests) == 1


def test_subscriptions_outlive_the_gateway(pushing, service):
    browser = new_browser(service)
    made = subscribe(pushing, browser)
    pushing.kill()
    pushing.start()
    assert subscriptions(pushing) == [made]
    assert test(pushing, made)["sent"] and browser.read(service.requests[0])


def test_another_token_ends_the_subscriptions(pushing, service):
    subscribe(pushing, new_browser(service))
    assert pushing.command("token", "rotate").returncode == 0
    pushing._leave()  # its clients have the old token
    wait_for(lambda: pushing.http.get("/health").is_success)
    wait_for(lambda: subscriptions(pushing) == [])


def test_token_that_was_replaced_meanwhile_ends_them_too(pushing, service):
    subscribe(pushing, new_browser(service))
    assert pushing.stop() == 0
    assert pushing.command("token", "rotate").returncode == 0
    pushing.start()
    assert subscriptions(pushing) == []


def test_nothing_is_pushed_to_a_device_whose_page_is_seen(pushing, service):
    seen, away = new_browser(service, device="phone"), new_browser(service, device="desk")
    subscribe(pushing, seen)
    subscribe(pushing, away)
    with pushing.events() as page:
        assert page.ask({"type": "subscribe", "device": "phone", "visible": True})["type"] == "subscribed"
        raise_signal(pushing)
        assert away.read(received(service)[0])
        page.ask({"type": "subscribe", "device": "phone", "visible": False})
        wait_for(lambda: [found["last_sent_at"] is None for found in subscriptions(pushing)] == [True, False])
        raise_signal(pushing)
        received(service, 3)
    paths = [request.path for request in service.requests]
    assert sorted(paths[1:]) == sorted([service_path(seen), service_path(away)])


def service_path(browser):
    return "/" + browser.subscription["endpoint"].split("/", 3)[3]


def test_page_that_has_left_is_not_seen(pushing, service):
    browser = new_browser(service, device="phone")
    subscribe(pushing, browser)
    with pushing.events() as page:
        page.ask({"type": "subscribe", "device": "phone", "visible": True})
    wait_for(lambda: (raise_signal(pushing), service.requests)[1])
    assert browser.read(service.requests[0])["kind"] == "signal"


def test_needs_the_token(pushing):
    for method, path in (("GET", "/push/key"), ("GET", "/push/subscriptions"), ("POST", "/push/subscriptions")):
        refused(pushing.anonymous.request(method, path), 401, "unauthorized")
