"""Pairing devices, and replacing the token (specification, Authentication; decisions, 1, 2 and 10)."""

import json
import os
import re
import signal
from datetime import datetime, timezone

import httpx
import pytest

from checks import PATIENCE, accepted, at_once, is_timestamp, refused
from connection import needs_ipv6
from gateway import BINARY
from terminal import Terminal

WRONG_CODE = "Invalid or expired code"
LOCKED = "Too many attempts. Wait a minute and try again."
OTP_REQUIRED = "otp field required"


def fresh_code(gateway):
    return accepted(gateway.http.get("/pair/refresh"))["code"]


def pair(gateway, otp):
    return gateway.anonymous.post("/pair", json={"otp": otp})


def other_than(code):
    return f"{(int(code) + 1) % 1_000_000:06}"


def fail(gateway, times):
    for _ in range(times):
        refused(pair(gateway, "nonsense"), 401, WRONG_CODE)


# A code, and what it is good for.


def test_a_code_is_six_digits_that_are_valid_for_ten_minutes(gateway):
    answer = accepted(gateway.http.get("/pair/refresh"))
    assert set(answer) == {"code", "expiresAt"}
    assert re.fullmatch(r"\d{6}", answer["code"])
    assert is_timestamp(answer["expiresAt"])
    left = datetime.fromisoformat(answer["expiresAt"].replace("Z", "+00:00")) - datetime.now(timezone.utc)
    assert 580 < left.total_seconds() <= 600


def test_a_code_needs_the_token(gateway):
    refused(gateway.anonymous.get("/pair/refresh"), 401, "unauthorized")


def test_a_new_device_gets_the_token_for_a_code(own):
    assert accepted(pair(own, fresh_code(own))) == {"token": own.token}


def test_a_code_is_used_up_by_one_device(own):
    code = fresh_code(own)
    accepted(pair(own, code))
    refused(pair(own, code), 401, WRONG_CODE)


def test_of_two_devices_at_once_one_gets_in(own):
    code = fresh_code(own)
    assert sorted(answer.status_code for answer in at_once(2, lambda _: pair(own, code))) == [200, 401]


def test_a_new_code_voids_the_one_before(own):
    first, second = fresh_code(own), fresh_code(own)
    if first != second:
        refused(pair(own, first), 401, WRONG_CODE)
    accepted(pair(own, second))


def test_head_makes_no_code(own):
    code = fresh_code(own)
    answer = own.http.head("/pair/refresh")
    assert answer.status_code == 200 and answer.content == b""
    accepted(pair(own, code))


def test_without_a_code_none_is_right(own):
    refused(pair(own, "000000"), 401, WRONG_CODE)


def test_pairing_is_not_repeated_for_an_idempotency_key(own):
    code = fresh_code(own)
    again = {"headers": {"Idempotency-Key": "pairing"}, "json": {"otp": code}}
    accepted(own.anonymous.post("/pair", **again))
    refused(own.anonymous.post("/pair", **again), 401, WRONG_CODE)


def test_the_token_is_not_in_the_database(own):
    accepted(own.anonymous.post("/pair", headers={"Idempotency-Key": "k"}, json={"otp": fresh_code(own)}))
    own.stop()
    assert all(own.token.encode() not in file.read_bytes() for file in own.data.glob("gateway.db*"))


# What is asked wrongly.


@pytest.mark.parametrize("body", [b"", b"{}", b'{"otp": null}', b'{"otp": 123456}', b'{"otp": ["123456"]}',
                                  b'{"otp": true}', b'{"otp": {}}'])
def test_what_holds_no_string_is_asked_for_and_not_counted(own, body):
    for _ in range(6):
        refused(own.anonymous.post("/pair", content=body), 400, OTP_REQUIRED)
    accepted(pair(own, fresh_code(own)))


@pytest.mark.parametrize("otp", ["", "12345", "1234567", "abcdef", " 12345", "123456\n", "１２３４５６", "١٢٣٤٥٦"])
def test_a_string_of_another_shape_is_a_wrong_code(own, otp):
    for _ in range(5):
        refused(pair(own, otp), 401, WRONG_CODE)
    refused(pair(own, otp), 429, LOCKED)


def test_bodies_that_are_no_objects_get_the_general_answers(gateway):
    refused(gateway.anonymous.post("/pair", content=b"{"), 400, "Invalid JSON")
    refused(gateway.anonymous.post("/pair", content=b"[]"), 400, "Request body must be an object")


def test_a_body_is_at_most_one_kibibyte(gateway):
    long = json.dumps({"otp": "x" * 1100}).encode()
    refused(gateway.anonymous.post("/pair", content=long), 413, "request body too large")
    refused(gateway.anonymous.post("/pair", content=iter([long])), 413, "request body too large")
    exactly = b'{"padding": "' + b"x" * (1024 - 15) + b'"}'
    assert len(exactly) == 1024
    refused(gateway.anonymous.post("/pair", content=exactly), 400, OTP_REQUIRED)


def test_other_methods_are_not_allowed(gateway):
    assert gateway.http.get("/pair").headers["allow"] == "POST"
    refused(gateway.http.get("/pair"), 405, "method not allowed")
    refused(gateway.http.post("/pair/refresh"), 405, "method not allowed")


# Guessing.


def test_the_fifth_wrong_code_is_still_judged_and_then_the_right_one_is_refused_too(own):
    code = fresh_code(own)
    for _ in range(5):
        refused(pair(own, other_than(code)), 401, WRONG_CODE)
    answer = pair(own, code)
    refused(answer, 429, LOCKED)
    assert "retry-after" not in answer.headers


def test_a_right_code_clears_the_count(own):
    fail(own, 4)
    accepted(pair(own, fresh_code(own)))
    fail(own, 5)
    refused(pair(own, "nonsense"), 429, LOCKED)


def test_no_more_than_five_of_a_hundred_guesses_at_once_are_judged(own):
    code = fresh_code(own)
    answers = at_once(100, lambda _: pair(own, other_than(code)))
    assert sorted(answer.status_code for answer in answers) == [401] * 5 + [429] * 95


def test_while_it_is_locked_nothing_of_the_body_matters(own):
    fail(own, 5)
    for body in (b"", b"{", b"[]", b"{}"):
        refused(own.anonymous.post("/pair", content=body), 429, LOCKED)
    refused(own.anonymous.post("/pair", content=iter([b"x" * 4096])), 429, LOCKED)
    refused(own.anonymous.post("/pair", content=b"x" * 4096), 413, "request body too large")


def test_the_lock_is_for_new_devices_only(own):
    fail(own, 5)
    assert re.fullmatch(r"\d{6}", fresh_code(own))


# Without a token.


def test_without_a_token_there_is_no_pairing(make_gateway):
    gateway = make_gateway(arguments=["--no-token"]).start()
    for headers in ({}, {"Authorization": "Bearer " + "a" * 64}):
        answer = gateway.anonymous.get("/pair/refresh", headers=headers)
        refused(answer, 501, "Pairing not available — gateway started without token")
    for body in (b"", b"{", b'{"otp": "123456"}'):
        refused(gateway.anonymous.post("/pair", content=body), 501, "Pairing not available")
    refused(gateway.anonymous.post("/pair", content=b"x" * 2000), 413, "request body too large")


def test_without_a_token_the_command_line_says_so(make_gateway):
    gateway = make_gateway(config={"auth": "none"}).start()
    done = gateway.command("pair")
    assert done.returncode == 1
    assert "Pairing not available — gateway started without token" in done.stderr


# agw pair


def test_a_code_is_shown_with_its_link_and_as_a_picture(own):
    done = own.command("pair")
    assert done.returncode == 0, done.stderr
    code = re.search(r"^Code +(\d{6})$", done.stdout, re.M)[1]
    assert f"{own.url}/ui/#code={code}" in done.stdout
    assert "█" in done.stdout and "\x1b" not in done.stdout
    accepted(pair(own, code))


@pytest.mark.parametrize("columns, shown", [(30, False), (120, True)])
def test_a_picture_is_shown_where_it_fits(own, columns, shown):
    environment = own.variables() | {"AGENT_GATEWAY_DATA_DIR": str(own.data)}
    with Terminal(["/bin/sh", "-c", f"stty cols {columns}; exec {BINARY} pair"], environment, own.home) as terminal:
        assert terminal.exit_status() == 0
        assert ("█" in terminal.shown) == shown and ("the terminal has 30" in terminal.shown) != shown
        assert "Code   " in terminal.shown


@pytest.mark.parametrize("public", ["https://gateway.example/agents", "https://gateway.example/agents/"])
def test_the_link_leads_where_the_configuration_says(make_gateway, public):
    gateway = make_gateway(config={"public_url": public}).start()
    shown = json.loads(gateway.command("pair", "--json").stdout)
    assert shown["url"] == f"https://gateway.example/agents/ui/#code={shown['code']}"
    elsewhere = json.loads(gateway.command("pair", "--json", "--url", "http://10.0.0.7:7420").stdout)
    assert elsewhere["url"] == f"http://10.0.0.7:7420/ui/#code={elsewhere['code']}"


@pytest.mark.parametrize("url", ["", "nonsense", "10.0.0.7:7420", "ftp://10.0.0.7", "http://", "http://box:99999",
                                 "https://box/?a=1", "https://box/#a"])
def test_a_link_leads_to_a_web_address_only(gateway, url):
    done = gateway.command("pair", "--url", url)
    assert done.returncode == 2 and done.stdout == ""
    assert f"--url {url}: must be an address that begins with http:// or https://" in done.stderr


@pytest.mark.parametrize("every", ["0.0.0.0", pytest.param("::", marks=needs_ipv6)])
def test_the_link_leads_to_an_address_where_the_gateway_listens_on_all(make_gateway, every):
    gateway = make_gateway(arguments=["--host", every]).start()
    shown = json.loads(gateway.command("pair", "--json").stdout)
    host = httpx.URL(shown["url"]).host
    assert host not in ("0.0.0.0", "::", "")
    assert httpx.get(f"http://{host}:{gateway.port}/health", trust_env=False, timeout=PATIENCE).status_code == 200


# agw token rotate


def rotate(gateway):
    done = gateway.command("token", "rotate")
    assert done.returncode == 0, done.stderr
    return done


def get(gateway, token):
    return httpx.get(gateway.url + "/threads", headers={"Authorization": f"Bearer {token}"}, trust_env=False,
                     timeout=PATIENCE)


def test_a_replaced_token_is_void_at_once(own):
    old = own.token
    printed = rotate(own).stdout
    assert re.fullmatch(r"[0-9a-f]{64}", own.token) and own.token != old
    assert own.token not in printed and old not in printed
    assert (own.data / ".gateway-token").stat().st_mode & 0o777 == 0o600
    refused(get(own, old), 401, "unauthorized")
    accepted(get(own, own.token))


def test_a_replaced_token_voids_pairing_codes(own):
    code = fresh_code(own)
    rotate(own)
    refused(pair(own, code), 401, WRONG_CODE)


def test_a_replaced_token_closes_websockets(own):
    with own.events() as events:
        rotate(own)
        assert events.closed() == 1001


def test_a_replaced_token_leaves_runs_alone(own_talker):
    gateway, held = own_talker.gateway, own_talker.stub.hold("one ")
    with gateway.events() as events:
        turn = accepted(gateway.http.post("/chat", json={"content": "count"}), 201)
        events.until(lambda event: event["type"] == "text-delta")
        rotate(gateway)
    with gateway.events() as events:
        held.release("two")
        assert events.until(lambda event: event["type"] == "finish")[-1]["finishReason"] == "stop"
    turns = httpx.get(f"{gateway.url}/threads/{turn['thread_id']}/turns", headers=gateway.authorization,
                      trust_env=False, timeout=PATIENCE).json()
    assert turns[0]["content"] == "one two"


def test_the_token_is_replaced_without_a_gateway(own):
    old = own.token
    own.stop()
    rotate(own)
    own.start()
    refused(get(own, old), 401, "unauthorized")
    accepted(get(own, own.token))


def test_two_who_replace_the_token_at_once_both_succeed(own):
    old = own.token
    at_once(4, lambda _: rotate(own))
    refused(get(own, old), 401, "unauthorized")
    accepted(get(own, own.token))


def test_where_the_tokens_file_is_gone_the_command_line_says_so(own):
    (own.data / ".gateway-token").unlink()
    for arguments in (["threads"], ["pair"]):
        done = own.command(*arguments)
        assert done.returncode == 1 and f"there is no {own.data}/.gateway-token" in done.stderr
        assert "the file was removed since" in done.stderr
    assert "the file was removed since" in own.command("status").stdout


def test_there_is_nothing_to_replace_before_the_first_start(make_gateway):
    gateway = make_gateway()
    gateway.data.mkdir(mode=0o700)
    done = gateway.command("token", "rotate")
    assert done.returncode == 1 and "there is no token" in done.stderr


def test_a_gateway_without_a_token_takes_no_new_one(own):
    own.stop()
    own.arguments = ["--no-token"]
    own.start()
    assert "started without a token" in rotate(own).stderr
    refused(get(own, own.token), 401, "unauthorized")


def test_the_token_stays_where_its_file_is_broken(own):
    token = own.token
    (own.data / ".gateway-token").write_text("nonsense")
    os.kill(own.process.pid, signal.SIGUSR1)
    while "the token stays as it was" not in own.stderr:
        accepted(get(own, token))
    accepted(get(own, token))
    (own.data / ".gateway-token").write_text(token)
