"""The web page as it is served: without a token, with the fields that fence it in (decisions, 10 and 14)."""

import re

import httpx
import pytest

from checks import PATIENCE

POLICY = ("default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data: blob:; font-src 'self'; "
          "connect-src 'self'; frame-src 'self'; manifest-src 'self'; base-uri 'none'; form-action 'none'; "
          "frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types svelte-trusted-html agw-highlight")
FRAME_POLICY = ("sandbox allow-scripts; default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; "
                "img-src data: blob:; font-src data:; form-action 'none'; base-uri 'none'; frame-ancestors 'self'")
GENERAL = {
    "referrer-policy": "no-referrer",
    "x-content-type-options": "nosniff",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "permissions-policy": "camera=(), microphone=(), geolocation=(), clipboard-write=(self)",
}


def ask(gateway, path, method="GET", **headers):
    headers = {name.replace("_", "-"): value for name, value in headers.items()}
    return httpx.request(method, gateway.url + path, headers=headers, trust_env=False, follow_redirects=False,
                         timeout=PATIENCE)


@pytest.fixture
def index(gateway):
    return ask(gateway, "/ui/")


@pytest.fixture
def assets(index):
    """The paths of what the page loads first."""
    if "left out of this build" in index.text:
        pytest.skip("this build has no page")
    found = re.findall(r'(?:src|href)="(?:\./|/ui/)?(assets/[^"]+)"', index.text)
    assert found, index.text
    return ["/ui/" + path for path in found]


def hold(answer, policy=POLICY):
    fields = dict(answer.headers)
    assert fields.get("content-security-policy") == policy
    assert {name: fields.get(name) for name in GENERAL} == GENERAL
    assert "set-cookie" not in fields


def test_the_page_needs_no_token(gateway, index):
    assert index.status_code == 200
    assert index.headers["content-type"] == "text/html; charset=utf-8"
    hold(index)


def test_the_page_is_served_to_a_wrong_token_too(gateway):
    assert ask(gateway, "/ui/", authorization="Bearer wrong").status_code == 200


@pytest.mark.parametrize("path", ["/ui/nothing", "/ui/assets/nothing.js", "/ui//", "/ui/..%2fopenapi.json",
                                  "/ui/../openapi.json", "/ui/frame/", "/ui/assets/"])
def test_what_is_not_there_is_a_404_with_the_same_fields(gateway, path):
    with gateway.connect() as connection:
        answer = connection.request(f"GET {path} HTTP/1.1", token=False).answer()
    assert (answer.status, answer.error) == (404, "not found")
    assert answer.headers["content-security-policy"] == POLICY


def test_other_methods_are_a_405_with_the_same_fields(gateway):
    answer = ask(gateway, "/ui/", "POST", authorization=f"Bearer {gateway.token}")
    assert answer.status_code == 405 and answer.json() == {"error": "method not allowed"}
    assert answer.headers["allow"] == "GET, HEAD"
    hold(answer)


def test_head_has_the_fields_and_no_body(gateway, index):
    answer = ask(gateway, "/ui/", "HEAD")
    assert answer.content == b"" and answer.headers["content-length"] == str(len(ask(
        gateway, "/ui/", accept_encoding="identity").content)) or "content-encoding" in answer.headers
    hold(answer)


def test_a_browser_that_asks_for_the_gateway_is_led_to_the_page(gateway):
    accept = "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8"
    answer = ask(gateway, "/", accept=accept)
    assert answer.status_code in (302, 303, 307) and answer.headers["location"] == "/ui/"
    assert ask(gateway, "/", "HEAD", accept=accept).headers["location"] == "/ui/"
    answer = ask(gateway, "/ui", accept=accept)
    assert answer.status_code == 302 and answer.headers["location"] == "/ui/"


def test_other_clients_are_not(gateway):
    assert ask(gateway, "/", accept="*/*").status_code == 401
    with_token = ask(gateway, "/", accept="application/json", authorization=f"Bearer {gateway.token}")
    assert with_token.status_code == 404 and with_token.json() == {"error": "not found"}


def test_the_page_is_asked_for_anew_each_time(gateway, assets, index):
    assert index.headers["cache-control"] == "no-cache"
    again = ask(gateway, "/ui/", if_none_match=index.headers["etag"])
    assert again.status_code == 304 and again.content == b""
    hold(again)
    assert ask(gateway, "/ui/", if_none_match='"other"').status_code == 200


def test_assets_are_kept_for_ever_and_come_compressed(gateway, assets):
    for path in assets:
        plain = ask(gateway, path, accept_encoding="identity")
        assert plain.status_code == 200
        assert plain.headers["cache-control"] == "public, max-age=31536000, immutable"
        hold(plain)
        for coding in ("br", "gzip"):
            answer = ask(gateway, path, accept_encoding=coding)
            assert answer.headers["vary"] == "Accept-Encoding"
            assert answer.headers.get("content-encoding") == coding or len(plain.content) < 512
            assert int(answer.headers["content-length"]) <= len(plain.content)
            if coding == "gzip":
                assert answer.content == plain.content


def test_the_frame_is_fenced_in_more_tightly(gateway, assets):
    answer = ask(gateway, "/ui/frame")
    assert answer.status_code == 200 and answer.headers["content-type"] == "text/html; charset=utf-8"
    hold(answer, FRAME_POLICY)
    assert ask(gateway, "/ui/frame.html").status_code == 404


def test_a_foreign_host_or_origin_gets_no_page(gateway):
    assert ask(gateway, "/ui/", host="evil.example").status_code == 403
    assert ask(gateway, "/ui/", origin="http://evil.example").status_code == 403


def test_the_page_is_no_part_of_the_api(gateway):
    document = gateway.http.get("/openapi.json").json()
    assert not [path for path in document["paths"] if path.startswith("/ui")]
    tools = gateway.http.get("/utcp").json()["tools"]
    assert not [tool["name"] for tool in tools if "ui" in tool["name"].split("_")]
