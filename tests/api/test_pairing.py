"""Pairing devices, and rotating the token.

See docs/contract/access.md#pairing and docs/contract/process.md#the-token.
"""

import json
import os
import re
import signal
from datetime import datetime, timezone

import httpx
import pytest

import http_client
from checks import accepted, at_once, is_timestamp, refused
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


# Codes.


def test_code_has_six_digits_and_is_valid_for_ten_minutes(gateway):
    response = accepted(gateway.http.get("/pair/refresh"))
    assert set(response) == {"code", "expiresAt"}
    assert re.fullmatch(r"\d{6}", response["code"])
    assert is_timestamp(response["expiresAt"])
    left = datetime.fromisoformat(response["expiresAt"].replace("Z", "+00:00")) - datetime.now(timezone.utc)
    assert 580 < left.total_seconds() <= 600


def test_code_needs_the_token(gateway):
    refused(gateway.anonymous.get("/pair/refresh"), 401, "unauthorized")


def test_new_device_exchanges_a_code_for_the_token(own_gateway):
    assert accepted(pair(own_gateway, fresh_code(own_gateway))) == {"token": own_gateway.token}


def test_code_works_once(own_gateway):
    code = fresh_code(own_gateway)
    accepted(pair(own_gateway, code))
    response = pair(own_gateway, code)
    refused(response, 401, WRONG_CODE)
    assert response.headers["www-authenticate"] == 'Bearer realm="agent-gateway"'


def test_code_works_for_one_of_two_simultaneous_devices(own_gateway):
    code = fresh_code(own_gateway)
    assert sorted(answer.status_code for answer in at_once(2, lambda _: pair(own_gateway, code))) == [200, 401]


def test_new_code_invalidates_the_previous_one(own_gateway):
    first, second = fresh_code(own_gateway), fresh_code(own_gateway)
    if first != second:
        refused(pair(own_gateway, first), 401, WRONG_CODE)
    accepted(pair(own_gateway, second))


def test_head_does_not_create_a_code(own_gateway):
    code = fresh_code(own_gateway)
    response = own_gateway.http.head("/pair/refresh")
    assert response.status_code == 200 and response.content == b""
    accepted(pair(own_gateway, code))


def test_without_a_code_every_guess_is_wrong(own_gateway):
    refused(pair(own_gateway, "000000"), 401, WRONG_CODE)


def test_pairing_ignores_the_idempotency_key(own_gateway):
    code = fresh_code(own_gateway)
    request = {"headers": {"Idempotency-Key": "pairing"}, "json": {"otp": code}}
    accepted(own_gateway.anonymous.post("/pair", **request))
    refused(own_gateway.anonymous.post("/pair", **request), 401, WRONG_CODE)


def test_token_is_not_in_the_database(own_gateway):
    accepted(own_gateway.anonymous.post("/pair", headers={"Idempotency-Key": "k"}, json={"otp": fresh_code(own_gateway)}))
    own_gateway.stop()
    assert all(own_gateway.token.encode() not in file.read_bytes() for file in own_gateway.data.glob("gateway.db*"))


# Invalid requests.


@pytest.mark.parametrize("body", [b"", b"{}", b'{"otp": null}', b'{"otp": 123456}', b'{"otp": ["123456"]}',
                                  b'{"otp": true}', b'{"otp": {}}'])
def test_missing_code_is_refused_and_not_counted(own_gateway, body):
    for _ in range(6):
        refused(own_gateway.anonymous.post("/pair", content=body), 400, OTP_REQUIRED)
    accepted(pair(own_gateway, fresh_code(own_gateway)))


@pytest.mark.parametrize("otp", ["", "12345", "1234567", "abcdef", " 12345", "123456\n", "１２３４５６", "١٢٣٤٥٦"])
def test_malformed_code_is_a_wrong_code(own_gateway, otp):
    for _ in range(5):
        refused(pair(own_gateway, otp), 401, WRONG_CODE)
    refused(pair(own_gateway, otp), 429, LOCKED)


def test_body_that_is_not_an_object_is_refused(gateway):
    refused(gateway.anonymous.post("/pair", content=b"{"), 400, "Invalid JSON")
    refused(gateway.anonymous.post("/pair", content=b"[]"), 400, "Request body must be an object")


def test_body_has_at_most_one_kibibyte(gateway):
    long = json.dumps({"otp": "x" * 1100}).encode()
    refused(gateway.anonymous.post("/pair", content=long), 413, "request body too large")
    refused(gateway.anonymous.post("/pair", content=iter([long])), 413, "request body too large")
    largest = b'{"padding": "' + b"x" * (1024 - 15) + b'"}'
    assert len(largest) == 1024
    refused(gateway.anonymous.post("/pair", content=largest), 400, OTP_REQUIRED)


def test_other_methods_are_not_allowed(gateway):
    assert gateway.http.get("/pair").headers["allow"] == "POST"
    refused(gateway.http.get("/pair"), 405, "method not allowed")
    refused(gateway.http.post("/pair/refresh"), 405, "method not allowed")


# Guessing.


def test_fifth_wrong_code_locks_out_even_the_right_one(own_gateway):
    code = fresh_code(own_gateway)
    for _ in range(5):
        refused(pair(own_gateway, other_than(code)), 401, WRONG_CODE)
    answer = pair(own_gateway, code)
    refused(answer, 429, LOCKED)
    assert "retry-after" not in answer.headers


def test_right_code_clears_the_count(own_gateway):
    fail(own_gateway, 4)
    accepted(pair(own_gateway, fresh_code(own_gateway)))
    fail(own_gateway, 5)
    refused(pair(own_gateway, "nonsense"), 429, LOCKED)


def test_at_most_five_of_a_hundred_simultaneous_guesses_count(own_gateway):
    code = fresh_code(own_gateway)
    responses = at_once(100, lambda _: pair(own_gateway, other_than(code)))
    assert sorted(response.status_code for response in responses) == [401] * 5 + [429] * 95


def test_locked_pairing_ignores_the_body(own_gateway):
    fail(own_gateway, 5)
    for body in (b"", b"{", b"[]", b"{}"):
        refused(own_gateway.anonymous.post("/pair", content=body), 429, LOCKED)
    refused(own_gateway.anonymous.post("/pair", content=iter([b"x" * 4096])), 429, LOCKED)
    refused(own_gateway.anonymous.post("/pair", content=b"x" * 4096), 413, "request body too large")


def test_lock_applies_to_new_devices_only(own_gateway):
    fail(own_gateway, 5)
    assert re.fullmatch(r"\d{6}", fresh_code(own_gateway))


# Without a token.


def test_pairing_needs_a_configured_token(make_gateway):
    gateway = make_gateway(arguments=["--no-token"]).start()
    for headers in ({}, {"Authorization": "Bearer " + "a" * 64}):
        response = gateway.anonymous.get("/pair/refresh", headers=headers)
        refused(response, 501, "Pairing not available — gateway started without token")
    for body in (b"", b"{", b'{"otp": "123456"}'):
        refused(gateway.anonymous.post("/pair", content=body), 501, "Pairing not available")
    refused(gateway.anonymous.post("/pair", content=b"x" * 2000), 413, "request body too large")


def test_command_line_reports_a_gateway_without_a_token(make_gateway):
    gateway = make_gateway(config={"auth": "none"}).start()
    done = gateway.command("pair")
    assert done.returncode == 1
    assert "Pairing not available — gateway started without token" in done.stderr


# agw pair


def test_code_is_printed_with_its_link_and_a_qr_code(own_gateway):
    done = own_gateway.command("pair")
    assert done.returncode == 0, done.stderr
    code = re.search(r"^Code +(\d{6})$", done.stdout, re.M)[1]
    assert f"{own_gateway.url}/ui/#code={code}" in done.stdout
    assert "█" in done.stdout and "\x1b" not in done.stdout
    accepted(pair(own_gateway, code))


@pytest.mark.parametrize("columns, shown", [(30, False), (120, True)])
def test_qr_code_is_printed_if_it_fits(own_gateway, columns, shown):
    environment = own_gateway.variables() | {"AGENT_GATEWAY_DATA_DIR": str(own_gateway.data)}
    with Terminal(["/bin/sh", "-c", f"stty cols {columns}; exec {BINARY} pair"], environment, own_gateway.home) as terminal:
        assert terminal.exit_status() == 0
        assert ("█" in terminal.shown) == shown and ("the terminal has 30" in terminal.shown) != shown
        assert "Code   " in terminal.shown


@pytest.mark.parametrize("public", ["https://gateway.example/agents", "https://gateway.example/agents/"])
def test_link_uses_the_configured_public_url(make_gateway, public):
    gateway = make_gateway(config={"public_url": public}).start()
    shown = json.loads(gateway.command("pair", "--json").stdout)
    assert shown["url"] == f"https://gateway.example/agents/ui/#code={shown['code']}"
    elsewhere = json.loads(gateway.command("pair", "--json", "--url", "http://10.0.0.7:7420").stdout)
    assert elsewhere["url"] == f"http://10.0.0.7:7420/ui/#code={elsewhere['code']}"


@pytest.mark.parametrize("url", ["", "nonsense", "10.0.0.7:7420", "ftp://10.0.0.7", "http://", "http://box:99999",
                                 "https://box/?a=1", "https://box/#a"])
def test_public_url_must_be_a_web_address(gateway, url):
    done = gateway.command("pair", "--url", url)
    assert done.returncode == 2 and done.stdout == ""
    assert f"--url {url}: must be an address that begins with http:// or https://" in done.stderr


@pytest.mark.parametrize("wildcard", ["0.0.0.0", pytest.param("::", marks=needs_ipv6)])
def test_link_uses_a_reachable_address_of_a_wildcard_listener(make_gateway, wildcard):
    gateway = make_gateway(arguments=["--host", wildcard]).start()
    shown = json.loads(gateway.command("pair", "--json").stdout)
    host = httpx.URL(shown["url"]).host
    assert host not in ("0.0.0.0", "::", "")
    assert http_client.get(f"http://{host}:{gateway.port}/health").status_code == 200


# agw token rotate


def rotate(gateway):
    done = gateway.command("token", "rotate")
    assert done.returncode == 0, done.stderr
    return done


def get(gateway, token):
    return http_client.get(gateway.url + "/threads", headers={"Authorization": f"Bearer {token}"})


def test_rotated_token_is_invalid_at_once(own_gateway):
    old = own_gateway.token
    printed = rotate(own_gateway).stdout
    assert re.fullmatch(r"[0-9a-f]{64}", own_gateway.token) and own_gateway.token != old
    assert own_gateway.token not in printed and old not in printed
    assert (own_gateway.data / ".gateway-token").stat().st_mode & 0o777 == 0o600
    refused(get(own_gateway, old), 401, "unauthorized")
    accepted(get(own_gateway, own_gateway.token))


def test_rotation_invalidates_pairing_codes(own_gateway):
    code = fresh_code(own_gateway)
    rotate(own_gateway)
    refused(pair(own_gateway, code), 401, WRONG_CODE)


def test_rotation_closes_websockets(own_gateway):
    with own_gateway.events() as events:
        rotate(own_gateway)
        assert events.closed() == 1001


def test_rotation_does_not_interrupt_runs(own_talker):
    gateway, held = own_talker.gateway, own_talker.stub.hold("one ")
    with gateway.events() as events:
        turn = accepted(gateway.http.post("/chat", json={"content": "count"}), 201)
        events.until(lambda event: event["type"] == "text-delta")
        rotate(gateway)
    with gateway.events() as events:
        held.release("two")
        assert events.until(lambda event: event["type"] == "finish")[-1]["finishReason"] == "stop"
    turns = http_client.get(f"{gateway.url}/threads/{turn['thread_id']}/turns", headers=gateway.authorization).json()
    assert turns[0]["content"] == "one two"


def test_token_can_be_rotated_while_the_gateway_is_stopped(own_gateway):
    old = own_gateway.token
    own_gateway.stop()
    rotate(own_gateway)
    own_gateway.start()
    refused(get(own_gateway, old), 401, "unauthorized")
    accepted(get(own_gateway, own_gateway.token))


def test_simultaneous_rotations_both_succeed(own_gateway):
    old = own_gateway.token
    at_once(4, lambda _: rotate(own_gateway))
    refused(get(own_gateway, old), 401, "unauthorized")
    accepted(get(own_gateway, own_gateway.token))


def test_missing_token_file_is_reported(own_gateway):
    (own_gateway.data / ".gateway-token").unlink()
    for arguments in (["threads"], ["pair"]):
        done = own_gateway.command(*arguments)
        assert done.returncode == 1 and f"there is no {own_gateway.data}/.gateway-token" in done.stderr
        assert "the file was removed later" in done.stderr
    assert "the file was removed later" in own_gateway.command("status").stdout


def test_rotation_before_the_first_start_is_refused(make_gateway):
    gateway = make_gateway()
    gateway.data.mkdir(mode=0o700)
    done = gateway.command("token", "rotate")
    assert done.returncode == 1 and "there is no token" in done.stderr


def test_gateway_without_a_token_cannot_rotate(own_gateway):
    own_gateway.stop()
    own_gateway.arguments = ["--no-token"]
    own_gateway.start()
    assert "started without a token" in rotate(own_gateway).stderr
    refused(get(own_gateway, own_gateway.token), 401, "unauthorized")


def test_invalid_token_file_keeps_the_current_token(own_gateway):
    token = own_gateway.token
    (own_gateway.data / ".gateway-token").write_text("nonsense")
    os.kill(own_gateway.process.pid, signal.SIGUSR1)
    while "the token is unchanged" not in own_gateway.stderr:
        accepted(get(own_gateway, token))
    accepted(get(own_gateway, token))
    (own_gateway.data / ".gateway-token").write_text(token)
