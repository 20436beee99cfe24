"""Apps that are files: what is served of them, whole and in parts."""

import os
from urllib.parse import quote, urljoin

import pytest

from apps import make_app, make_static, proxied, show, start
from checks import refused
from connection import Connection
from jobs import wait_for

FENCE = "sandbox allow-scripts allow-forms allow-popups"


@pytest.fixture(scope="module")
def site(gateway, name):
    app = name("site")
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
def test_files_of_a_static_app(gateway, site, path, kind, content):
    answer = proxied(gateway, site, path)
    assert answer.status_code == 200 and answer.content == content
    assert answer.headers["content-type"] == kind and answer.headers["content-security-policy"] == FENCE
    assert proxied(gateway, site, path, headers={"If-None-Match": answer.headers["etag"]}).status_code == 304
    head = proxied(gateway, site, path, "HEAD")
    assert head.content == b"" and head.headers["content-length"] == str(len(content))


@pytest.mark.parametrize("path", [
    "/missing", "/.env", "/.git/config", "/server.pem", "/leads-out", "/leads-to-key", "/pipe", "/../outside.txt",
    "/sub/../../outside.txt", "/%2e%2e/outside.txt", "/..%2foutside.txt", "//etc/passwd", "/sub//index.html",
    "/%2fetc%2fpasswd", "/style.css/", "/sub%2findex.html", "/sub%2f",
])
def test_what_a_static_app_does_not_serve(gateway, site, path):
    with Connection(gateway) as connection:
        answer = connection.request(f"GET /apps/{site}/proxy{path} HTTP/1.1").answer()
    assert (answer.status, answer.error) == (404, "file not found")


def test_a_directory_without_its_slash_leads_there(gateway, site):
    answer = proxied(gateway, site, "/sub")
    assert answer.status_code == 301 and answer.headers["location"] == "sub/"


@pytest.mark.parametrize("folder", ["x?y", "a b", "h#h", "ünï", "c:d", "100%25", "http:"])
def test_a_directory_of_any_name_leads_to_itself(gateway, name, folder):
    app = name("site")
    make_static(gateway, app, {f"{folder}/index.html": "<p>here"})
    asked = f"/{quote(folder, safe='')}"
    location = proxied(gateway, app, asked).headers["location"]
    base = f"{gateway.url}/apps/{app}/proxy"
    assert location.isascii() and urljoin(base + asked, location) == f"{base}{asked}/"
    assert proxied(gateway, app, asked + "/").content == b"<p>here"


def test_the_query_stays_where_a_directory_leads(gateway, site):
    assert proxied(gateway, site, "/sub?a=b&c=%20d").headers["location"] == "sub/?a=b&c=%20d"


def test_a_directory_in_the_place_of_its_index(gateway, name):
    app = name("site")
    make_static(gateway, app, {"idx/index.html/inner.txt": "inner"})
    answer = proxied(gateway, app, "/idx/")
    assert answer.status_code == 404 and answer.json() == {"error": "file not found"}


def test_a_static_app_is_only_read(gateway, site):
    answer = proxied(gateway, site, "/", "POST")
    assert answer.status_code == 405 and answer.json() == {"error": "method not allowed"}
    assert answer.headers["allow"] == "GET, HEAD"


@pytest.mark.parametrize("asked, content, said", [
    ("bytes=0-3", b"<p>h", "bytes 0-3/7"), ("bytes=3-", b"home", "bytes 3-6/7"), ("bytes=-2", b"me", "bytes 5-6/7"),
    ("bytes=6-999", b"e", "bytes 6-6/7"),
])
def test_a_part_of_a_file(gateway, site, asked, content, said):
    answer = proxied(gateway, site, "/index.html", headers={"Range": asked})
    assert answer.status_code == 206 and answer.content == content
    assert answer.headers["content-range"] == said and answer.headers["accept-ranges"] == "bytes"
    assert answer.headers["content-type"] == "text/html; charset=utf-8"
    assert answer.headers["content-security-policy"] == FENCE


def test_a_player_that_seeks(gateway, site):
    answer = proxied(gateway, site, "/large.bin", headers={"Range": "bytes=2000000-"})
    assert answer.status_code == 206 and answer.content == b"x" * 1_000_000


def test_a_part_that_the_file_does_not_have(gateway, site):
    answer = proxied(gateway, site, "/index.html", headers={"Range": "bytes=7-"})
    assert answer.status_code == 416 and answer.json() == {"error": "range not satisfiable"}
    assert answer.headers["content-range"] == "bytes */7"


@pytest.mark.parametrize("asked", ["bytes=0-1,3-4", "bytes=x-y", "lines=1-2", "bytes=5-2"])
def test_what_is_not_understood_of_a_range_is_ignored(gateway, site, asked):
    answer = proxied(gateway, site, "/index.html", headers={"Range": asked})
    assert answer.status_code == 200 and answer.content == b"<p>home" and "content-range" not in answer.headers


def test_a_part_of_what_the_client_has_already(gateway, site):
    tag = proxied(gateway, site, "/index.html").headers["etag"]
    of_the_same = proxied(gateway, site, "/index.html", headers={"Range": "bytes=3-", "If-Range": tag})
    assert of_the_same.status_code == 206 and of_the_same.content == b"home"
    for other in '"another"', "W/" + tag, "Wed, 21 Oct 2015 07:28:00 GMT":
        whole = proxied(gateway, site, "/index.html", headers={"Range": "bytes=3-", "If-Range": other})
        assert whole.status_code == 200 and whole.content == b"<p>home"


def test_only_a_get_is_for_a_part(gateway, site):
    answer = proxied(gateway, site, "/index.html", "HEAD", headers={"Range": "bytes=0-1"})
    assert answer.status_code == 200 and answer.headers["content-length"] == "7"


def test_a_static_app_without_a_path(gateway, name):
    app = name("site")
    gateway.http.post("/extensions", json={"type": "app", "name": app, "description": "", "enabled": True,
                                           "definition": {"type": "static"}})
    details = refused(proxied(gateway, app), 500, "invalid app definition")["details"]
    assert details == [{"path": "definition.path", "message": "definition.path is required"}]
    assert f"/apps/{app}/proxy/: invalid app definition" in gateway.stderr


def test_an_app_that_becomes_static_ends_and_is_served_from_its_files(gateway, name):
    extension = make_app(gateway, name("app"))
    app = extension["name"]
    running = start(gateway, app)
    (gateway.home / "apps" / app / "index.html").write_text("<p>files")
    definition = {**extension["definition"], "type": "static"}
    assert gateway.http.patch(f"/extensions/{extension['id']}", json={"definition": definition}).status_code == 200
    wait_for(lambda: not os.path.exists(f"/proc/{running['pid']}"))
    assert show(gateway, app) == {"name": app, "type": "static", "status": "running", "port": None, "pid": None,
                                  "url": None, "started_at": None, "restarts": 0}
    assert proxied(gateway, app, "/").content == b"<p>files"
    stopped = gateway.http.post(f"/apps/{app}/stop")
    assert stopped.status_code == 400 and stopped.json() == {"error": "static apps do not use a dev server"}
