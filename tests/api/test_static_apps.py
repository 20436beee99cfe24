"""Static apps: complete and partial responses.

See docs/contract/apps.md#the-proxy.
"""

import os
from urllib.parse import quote, urljoin

import pytest

from apps import make_app, make_static, proxy_request, show, start
from checks import refused
from connection import Connection
from jobs import wait_for

CONTENT_SECURITY_POLICY = "sandbox allow-scripts allow-forms allow-popups"


@pytest.fixture(scope="module")
def site(gateway, new_name):
    app = new_name("site")
    directory = make_static(gateway, app, {
        "index.html": "<p>home", "style.css": "p {}", "sub/index.html": "<p>sub", "sub/a file.txt": "text",
        ".env": "SECRET=1", ".git/config": "secret", "server.pem": "key", "empty.txt": "", "PHOTO.JPG": b"\xff\xd8",
        "large.bin": b"x" * 3_000_000})
    outside = gateway.home / "outside.txt"
    outside.write_text("outside")
    (directory / "leads-out").symlink_to(outside)
    (directory / "leads-to-key").symlink_to(directory / "server.pem")
    (directory / "leads-in").symlink_to("style.css")
    os.mkfifo(directory / "pipe")
    return app


@pytest.mark.parametrize("path, kind, content", [
    ("/", "text/html; charset=utf-8", b"<p>home"), ("/index.html", "text/html; charset=utf-8", b"<p>home"),
    ("/style.css", "text/css; charset=utf-8", b"p {}"), ("/sub/", "text/html; charset=utf-8", b"<p>sub"),
    ("/sub/a%20file.txt", "text/plain; charset=utf-8", b"text"), ("/empty.txt", "text/plain; charset=utf-8", b""),
    ("/PHOTO.JPG", "image/jpeg", b"\xff\xd8"), ("/large.bin", "application/octet-stream", b"x" * 3_000_000),
    ("/leads-in", "application/octet-stream", b"p {}"),
])
def test_files_are_served(gateway, site, path, kind, content):
    response = proxy_request(gateway, site, path)
    assert response.status_code == 200 and response.content == content
    assert response.headers["content-type"] == kind and response.headers["content-security-policy"] == CONTENT_SECURITY_POLICY
    assert proxy_request(gateway, site, path, headers={"If-None-Match": response.headers["etag"]}).status_code == 304
    head = proxy_request(gateway, site, path, "HEAD")
    assert head.content == b"" and head.headers["content-length"] == str(len(content))


def test_version_that_the_client_has_is_not_sent_again(gateway, site):
    tag = proxy_request(gateway, site, "/index.html").headers["etag"]
    for known in (tag, f"W/{tag}", f'"other", {tag}', f'"other" ,W/{tag},"third"', "*"):
        for method in ("GET", "HEAD"):
            response = proxy_request(gateway, site, "/index.html", method, headers={"If-None-Match": known})
            assert response.status_code == 304 and response.content == b"" and response.headers["etag"] == tag, known
            assert response.headers.get("content-length") in (None, str(len("<p>home")))
    for other in ('"other"', tag.strip('"'), ""):
        response = proxy_request(gateway, site, "/index.html", headers={"If-None-Match": other})
        assert response.status_code == 200 and response.text == "<p>home", other


@pytest.mark.parametrize("path", [
    "/missing", "/.env", "/.git/config", "/server.pem", "/leads-out", "/leads-to-key", "/pipe", "/../outside.txt",
    "/sub/../../outside.txt", "/%2e%2e/outside.txt", "/..%2foutside.txt", "//etc/passwd", "/sub//index.html",
    "/%2fetc%2fpasswd", "/style.css/", "/sub%2findex.html", "/sub%2f",
])
def test_hidden_files_and_other_paths_are_not_found(gateway, site, path):
    with Connection(gateway) as connection:
        response = connection.request(f"GET /apps/{site}/proxy{path} HTTP/1.1").response()
    assert (response.status, response.error) == (404, "file not found")


def test_directory_without_a_slash_redirects(gateway, site):
    response = proxy_request(gateway, site, "/sub")
    assert response.status_code == 301 and response.headers["location"] == "sub/"


@pytest.mark.parametrize("folder", ["x?y", "a b", "h#h", "ünï", "c:d", "100%25", "http:"])
def test_directory_of_any_name_redirects_to_itself(gateway, new_name, folder):
    app = new_name("site")
    make_static(gateway, app, {f"{folder}/index.html": "<p>here"})
    path = f"/{quote(folder, safe='')}"
    location = proxy_request(gateway, app, path).headers["location"]
    base = f"{gateway.url}/apps/{app}/proxy"
    assert location.isascii() and urljoin(base + path, location) == f"{base}{path}/"
    assert proxy_request(gateway, app, path + "/").content == b"<p>here"


def test_redirect_keeps_the_query(gateway, site):
    assert proxy_request(gateway, site, "/sub?a=b&c=%20d").headers["location"] == "sub/?a=b&c=%20d"


def test_directory_named_like_an_index_is_not_found(gateway, new_name):
    app = new_name("site")
    make_static(gateway, app, {"idx/index.html/inner.txt": "inner"})
    response = proxy_request(gateway, app, "/idx/")
    assert response.status_code == 404 and response.json() == {"error": "file not found"}


def test_static_app_is_read_only(gateway, site):
    response = proxy_request(gateway, site, "/", "POST")
    assert response.status_code == 405 and response.json() == {"error": "method not allowed"}
    assert response.headers["allow"] == "GET, HEAD"


@pytest.mark.parametrize("requested, content, content_range", [
    ("bytes=0-3", b"<p>h", "bytes 0-3/7"), ("bytes=3-", b"home", "bytes 3-6/7"), ("bytes=-2", b"me", "bytes 5-6/7"),
    ("bytes=6-999", b"e", "bytes 6-6/7"),
])
def test_range_of_a_file_is_served(gateway, site, requested, content, content_range):
    response = proxy_request(gateway, site, "/index.html", headers={"Range": requested})
    assert response.status_code == 206 and response.content == content
    assert response.headers["content-range"] == content_range and response.headers["accept-ranges"] == "bytes"
    assert response.headers["content-type"] == "text/html; charset=utf-8"
    assert response.headers["content-security-policy"] == CONTENT_SECURITY_POLICY


def test_media_player_seeking(gateway, site):
    response = proxy_request(gateway, site, "/large.bin", headers={"Range": "bytes=2000000-"})
    assert response.status_code == 206 and response.content == b"x" * 1_000_000


def test_unsatisfiable_range_is_416(gateway, site):
    response = proxy_request(gateway, site, "/index.html", headers={"Range": "bytes=7-"})
    assert response.status_code == 416 and response.json() == {"error": "range not satisfiable"}
    assert response.headers["content-range"] == "bytes */7"


@pytest.mark.parametrize("requested", ["bytes=0-1,3-4", "bytes=x-y", "lines=1-2", "bytes=5-2"])
def test_unknown_range_is_ignored(gateway, site, requested):
    response = proxy_request(gateway, site, "/index.html", headers={"Range": requested})
    assert response.status_code == 200 and response.content == b"<p>home" and "content-range" not in response.headers


def test_range_of_another_version_gets_the_complete_file(gateway, site):
    tag = proxy_request(gateway, site, "/index.html").headers["etag"]
    partial = proxy_request(gateway, site, "/index.html", headers={"Range": "bytes=3-", "If-Range": tag})
    assert partial.status_code == 206 and partial.content == b"home"
    for other in '"another"', "W/" + tag, "Wed, 21 Oct 2015 07:28:00 GMT":
        complete = proxy_request(gateway, site, "/index.html", headers={"Range": "bytes=3-", "If-Range": other})
        assert complete.status_code == 200 and complete.content == b"<p>home"


def test_range_is_ignored_for_head(gateway, site):
    response = proxy_request(gateway, site, "/index.html", "HEAD", headers={"Range": "bytes=0-1"})
    assert response.status_code == 200 and response.headers["content-length"] == "7"


def test_static_app_without_a_path_is_refused(gateway, new_name):
    app = new_name("site")
    gateway.http.post("/extensions", json={"type": "app", "name": app, "description": "", "enabled": True,
                                           "definition": {"type": "static"}})
    details = refused(proxy_request(gateway, app), 500, "invalid app definition")["details"]
    assert details == [{"path": "definition.path", "message": "definition.path is required"}]
    assert f"/apps/{app}/proxy/: invalid app definition" in gateway.stderr


def test_app_changed_to_static_stops_and_serves_its_files(gateway, new_name):
    extension = make_app(gateway, new_name("app"))
    app = extension["name"]
    running = start(gateway, app)
    (gateway.home / "apps" / app / "index.html").write_text("<p>files")
    definition = {**extension["definition"], "type": "static"}
    assert gateway.http.patch(f"/extensions/{extension['id']}", json={"definition": definition}).status_code == 200
    wait_for(lambda: not os.path.exists(f"/proc/{running['pid']}"))
    assert show(gateway, app) == {"name": app, "type": "static", "status": "running", "port": None, "pid": None,
                                  "url": None, "started_at": None, "restarts": 0}
    assert proxy_request(gateway, app, "/").content == b"<p>files"
    stopped = gateway.http.post(f"/apps/{app}/stop")
    assert stopped.status_code == 400 and stopped.json() == {"error": "static apps do not use a dev server"}
