"""The web page as it is served: without a token, with its security headers.

See docs/contract/access.md#headers-of-the-web-page.
"""

import hashlib
import re

import pytest

import http_client

POLICY = ("default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data: blob:; font-src 'self'; "
          "connect-src 'self'; frame-src 'self'; manifest-src 'self'; base-uri 'none'; form-action 'none'; "
          "frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types svelte-trusted-html "
          "agw-highlight")
FRAME_POLICY = ("sandbox allow-scripts; default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; "
                "img-src data: blob:; font-src data:; form-action 'none'; base-uri 'none'; frame-ancestors 'self'")
GENERAL_HEADERS = {
    "referrer-policy": "no-referrer",
    "x-content-type-options": "nosniff",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "origin-agent-cluster": "?1",
    "permissions-policy": "camera=(), microphone=(), geolocation=(), clipboard-write=(self)",
}


def fetch(gateway, path, method="GET", **headers):
    headers = {name.replace("_", "-"): value for name, value in headers.items()}
    return http_client.request(method, gateway.url + path, headers=headers, follow_redirects=False)


@pytest.fixture
def index(gateway):
    return fetch(gateway, "/ui/")


@pytest.fixture
def assets(index):
    """The paths of the assets that the page loads first."""
    if "left out of this build" in index.text:
        pytest.skip("this build has no page")
    found = re.findall(r'(?:src|href)="(?:\./|/ui/)?(assets/[^"]+)"', index.text)
    assert found, index.text
    return ["/ui/" + path for path in found]


def assert_headers(response, policy=POLICY):
    fields = dict(response.headers)
    assert fields.get("content-security-policy") == policy
    assert {name: fields.get(name) for name in GENERAL_HEADERS} == GENERAL_HEADERS
    assert "set-cookie" not in fields


def test_page_needs_no_token(gateway, index):
    assert index.status_code == 200
    assert index.headers["content-type"] == "text/html; charset=utf-8"
    assert_headers(index)


def test_only_a_document_shown_by_a_browser_may_use_the_microphone(gateway, assets):
    granted = [GENERAL_HEADERS["permissions-policy"].replace("microphone=()", "microphone=(self)")]
    tag = fetch(gateway, "/ui/").headers["etag"]
    for path, headers in ("/ui/", {}), ("/ui/index.html", {}), ("/ui/", {"if_none_match": tag}):
        shown = fetch(gateway, path, sec_fetch_dest="document", **headers)
        assert shown.headers.get_list("permissions-policy") == granted, path
    for path, destination in ("/ui/", "empty"), ("/ui/", "iframe"), (assets[0], "document"), ("/ui/frame", "document"):
        response = fetch(gateway, path, sec_fetch_dest=destination)
        assert response.headers.get_list("permissions-policy") == [GENERAL_HEADERS["permissions-policy"]], path


def test_page_is_served_despite_a_wrong_token(gateway):
    assert fetch(gateway, "/ui/", authorization="Bearer wrong").status_code == 200


@pytest.mark.parametrize("path", ["/ui/nothing", "/ui/assets/nothing.js", "/ui//", "/ui/..%2fopenapi.json",
                                  "/ui/../openapi.json", "/ui/frame/", "/ui/assets/"])
def test_missing_asset_is_404_with_the_same_headers(gateway, path):
    with gateway.connect() as connection:
        response = connection.request(f"GET {path} HTTP/1.1", token=False).response()
    assert (response.status, response.error) == (404, "not found")
    assert response.headers["content-security-policy"] == POLICY


def test_other_methods_are_405_with_the_same_headers(gateway):
    response = fetch(gateway, "/ui/", "POST", authorization=f"Bearer {gateway.token}")
    assert response.status_code == 405 and response.json() == {"error": "method not allowed"}
    assert response.headers["allow"] == "GET, HEAD"
    assert_headers(response)


def test_head_has_headers_and_no_body(gateway, index):
    response = fetch(gateway, "/ui/", "HEAD")
    assert response.content == b"" and response.headers["content-length"] == str(len(fetch(
        gateway, "/ui/", accept_encoding="identity").content)) or "content-encoding" in response.headers
    assert_headers(response)


def test_browser_is_redirected_to_the_page(gateway):
    accept = "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8"
    response = fetch(gateway, "/", accept=accept)
    assert response.status_code in (302, 303, 307) and response.headers["location"] == "/ui/"
    assert fetch(gateway, "/", "HEAD", accept=accept).headers["location"] == "/ui/"
    response = fetch(gateway, "/ui", accept=accept)
    assert response.status_code == 302 and response.headers["location"] == "/ui/"


def test_other_clients_are_not_redirected(gateway):
    assert fetch(gateway, "/", accept="*/*").status_code == 401
    with_token = fetch(gateway, "/", accept="application/json", authorization=f"Bearer {gateway.token}")
    assert with_token.status_code == 404 and with_token.json() == {"error": "not found"}


def test_page_is_revalidated_each_time(gateway, assets, index):
    assert index.headers["cache-control"] == "no-cache"
    revalidated = fetch(gateway, "/ui/", if_none_match=index.headers["etag"])
    assert revalidated.status_code == 304 and revalidated.content == b""
    assert_headers(revalidated)
    assert fetch(gateway, "/ui/", if_none_match='"other"').status_code == 200


def test_assets_are_immutable_and_compressed(gateway, assets):
    for path in assets:
        plain = fetch(gateway, path, accept_encoding="identity")
        assert plain.status_code == 200
        assert plain.headers["cache-control"] == "public, max-age=31536000, immutable"
        assert_headers(plain)
        for coding in ("br", "gzip"):
            response = fetch(gateway, path, accept_encoding=coding)
            assert response.headers["vary"] == "Accept-Encoding"
            is_incompressible = len(plain.content) < 512 or path.endswith(".woff2")
            assert response.headers.get("content-encoding") == coding or is_incompressible
            assert int(response.headers["content-length"]) <= len(plain.content)
            if coding == "gzip":
                assert response.content == plain.content


def test_assets_of_other_views_are_the_same_in_each_encoding(gateway, assets):
    code = "".join(fetch(gateway, path).text for path in assets if path.endswith(".js"))
    more = [path for path in re.findall(r"assets/[\w-]+\.(?:json|js)", code) if "/ui/" + path not in assets]
    more += re.findall(r"assets/[\w-]+\.js", "".join(fetch(gateway, "/ui/" + path).text for path in more))
    assert more
    for path in more:
        forms = [fetch(gateway, "/ui/" + path, accept_encoding=coding) for coding in ("br", "gzip", "identity")]
        assert [form.headers.get("content-encoding") for form in forms] in (["br", "gzip", None], [None] * 3)
        for form in forms[1:]:
            assert hashlib.sha256(form.content).hexdigest()[:16] in form.headers["etag"]


def test_frame_has_a_stricter_policy(gateway, assets):
    response = fetch(gateway, "/ui/frame")
    assert response.status_code == 200 and response.headers["content-type"] == "text/html; charset=utf-8"
    assert_headers(response, FRAME_POLICY)
    assert fetch(gateway, "/ui/frame.html").status_code == 404


def test_foreign_host_or_origin_gets_no_page(gateway):
    assert fetch(gateway, "/ui/", host="evil.example").status_code == 403
    assert fetch(gateway, "/ui/", origin="http://evil.example").status_code == 403


def test_page_is_not_part_of_the_api(gateway):
    document = gateway.http.get("/openapi.json").json()
    assert not [path for path in document["paths"] if path.startswith("/ui")]
    tools = gateway.http.get("/utcp").json()["tools"]
    assert not [tool["name"] for tool in tools if "ui" in tool["name"].split("_")]
