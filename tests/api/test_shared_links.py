"""Links by which people without a token read a chat.

See docs/contract/shared-links.md. The content is encrypted by the web page; here it is any bytes.
"""

import re
import sqlite3
from datetime import datetime

import pytest

from checks import UNKNOWN_ID, accepted, ids, is_timestamp, refused
from jobs import wait_for

MEBIBYTE = 1024 * 1024
MEMBERS = {"id", "thread_id", "created_at", "expires_at", "size"}
UNKNOWN_LINK = "0123456789abcdef0123456789abcdef"


def new_thread(gateway):
    return accepted(gateway.http.post("/threads", json={}), 201)


@pytest.fixture
def thread(gateway):
    return new_thread(gateway)["id"]


def share(gateway, thread, content=b"sealed", **query):
    return gateway.http.post(f"/threads/{thread}/links", params=query, content=content)


def shared(gateway, thread, *arguments, **query):
    return accepted(share(gateway, thread, *arguments, **query), 201)


def read(gateway, link_id):
    """Asks as its reader does, without a token."""
    return gateway.anonymous.get(f"/ui/shared/{link_id}")


def links(gateway, thread=None):
    return accepted(gateway.http.get(f"/threads/{thread}/links" if thread else "/links"))


def take_back_all(gateway):
    for link in links(gateway):
        gateway.http.delete(f"/links/{link['id']}")


def change(gateway, sql, *values):
    with sqlite3.connect(gateway.data / "gateway.db", timeout=60) as database:
        database.execute(sql, values)
    database.close()


def expire(gateway, link_id):
    change(gateway, "UPDATE shared_links SET expires_at = created_at + 1 WHERE id = ?", link_id)


def rows(gateway):
    database = sqlite3.connect(gateway.data / "gateway.db", timeout=60)
    try:
        return [link_id for (link_id,) in database.execute("SELECT id FROM shared_links")]
    finally:
        database.close()


def test_a_link_is_read_without_a_token_until_it_is_taken_back(gateway, thread):
    content = bytes(range(256))
    made = shared(gateway, thread, content)
    assert set(made) == MEMBERS and made["thread_id"] == thread and made["size"] == 256
    assert re.fullmatch("[0-9a-f]{32}", made["id"])
    assert is_timestamp(made["created_at"]) and is_timestamp(made["expires_at"])
    found = read(gateway, made["id"])
    assert found.status_code == 200 and found.content == content
    assert found.headers["x-expires-at"] == made["expires_at"]
    assert links(gateway, thread) == [made] and made in links(gateway)

    taken = gateway.http.delete(f"/links/{made['id']}")
    assert taken.status_code == 204 and not taken.content
    refused(read(gateway, made["id"]), 404, "link not found")
    refused(gateway.http.delete(f"/links/{made['id']}"), 404, "link not found")
    assert links(gateway, thread) == []


def test_content_has_the_headers_of_the_page(gateway, thread):
    page = gateway.anonymous.get("/ui/nothing").headers
    made = shared(gateway, thread)
    found, missing = read(gateway, made["id"]), read(gateway, UNKNOWN_LINK)
    assert found.headers["content-type"] == "application/octet-stream"
    for response in (found, missing):
        for name in ("content-security-policy", "referrer-policy", "cross-origin-resource-policy", "permissions-policy"):
            assert response.headers[name] == page[name]
        assert response.headers["cache-control"] == "no-store"
        assert response.headers["x-content-type-options"] == "nosniff"


def test_only_reading_needs_no_token(gateway, thread):
    made = shared(gateway, thread)
    for method, path in (("POST", f"/threads/{thread}/links"), ("GET", f"/threads/{thread}/links"), ("GET", "/links"),
                         ("DELETE", f"/links/{made['id']}")):
        refused(gateway.anonymous.request(method, path), 401, "unauthorized")
    head = gateway.anonymous.head(f"/ui/shared/{made['id']}")
    assert head.status_code == 200 and head.headers["content-length"] == "6" and not head.content
    for method in ("POST", "PUT", "PATCH", "DELETE"):
        refused(gateway.anonymous.request(method, f"/ui/shared/{made['id']}"), 401, "unauthorized")
        answer = gateway.http.request(method, f"/ui/shared/{made['id']}")
        assert answer.status_code == 405 and answer.headers["allow"] == "GET, HEAD"
    assert read(gateway, made["id"]).content == b"sealed"


@pytest.mark.parametrize("path", ["", "/", "..%2f..%2fgateway.db", "%2e%2e/config.yaml", UNKNOWN_LINK, UNKNOWN_LINK.upper(),
                                  UNKNOWN_LINK[:-1], "%00", "'%20OR%201=1", f"{UNKNOWN_LINK}/more", UNKNOWN_ID])
def test_anything_else_is_not_found(gateway, path):
    assert gateway.anonymous.get(f"/ui/shared/{path}").status_code in (400, 404)


def test_the_days_are_1_to_365_and_30_if_omitted(gateway, thread):
    def days(link):
        begin, end = (re.sub("Z$", "+00:00", link[name]) for name in ("created_at", "expires_at"))
        return (datetime.fromisoformat(end) - datetime.fromisoformat(begin)).total_seconds() / 86400

    assert days(shared(gateway, thread)) == 30
    for chosen in (1, 365):
        assert days(shared(gateway, thread, days=chosen)) == chosen
    for wrong in (0, -1, 366, 10**18):
        refused(share(gateway, thread, days=wrong), 400, "days must be 1 to 365")
    for wrong in ("soon", "1.5", "9" * 30):
        refused(share(gateway, thread, days=wrong), 400, "days must be a number")


def test_the_thread_is_checked_first_then_the_query_then_the_body(gateway, thread):
    refused(share(gateway, UNKNOWN_ID, b"", days=0), 404, "thread not found")
    refused(gateway.http.get(f"/threads/{UNKNOWN_ID}/links"), 404, "thread not found")
    refused(share(gateway, thread, b"", days="x"), 400, "days must be a number")
    refused(share(gateway, thread, b""), 400, "Request body required")


def test_a_link_has_at_most_8_mib_and_all_together_64(gateway, thread):
    take_back_all(gateway)
    refused(share(gateway, thread, b"x" * (8 * MEBIBYTE + 1)), 413, "request body too large")
    whole = b"\xff\x00" * (4 * MEBIBYTE)
    made = [shared(gateway, thread, whole) for _ in range(8)]
    assert read(gateway, made[0]["id"]).content == whole
    refused(share(gateway, thread, b"x"), 409, "all shared links together may have 64 MiB: take one back first")
    assert gateway.http.delete(f"/links/{made[0]['id']}").status_code == 204
    shared(gateway, thread, b"x")
    take_back_all(gateway)


def test_there_are_at_most_1000_links(own_gateway):
    thread = new_thread(own_gateway)["id"]
    first = shared(own_gateway, thread)
    change(own_gateway, """
        INSERT INTO shared_links WITH RECURSIVE numbers (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM numbers WHERE n < 999)
        SELECT printf('%032x', n), thread_id, created_at, expires_at, size, content FROM shared_links, numbers""")
    assert len(links(own_gateway)) == 1000
    refused(share(own_gateway, thread), 409, "there are 1000 shared links: take one back first")
    expire(own_gateway, first["id"])
    shared(own_gateway, thread)


def test_a_link_ends_by_itself(own_gateway):
    thread = new_thread(own_gateway)["id"]
    made, kept = shared(own_gateway, thread), shared(own_gateway, thread)
    expire(own_gateway, made["id"])
    refused(read(own_gateway, made["id"]), 404, "link not found")
    refused(own_gateway.http.delete(f"/links/{made['id']}"), 404, "link not found")
    assert ids(links(own_gateway)) == ids(links(own_gateway, thread)) == [kept["id"]]
    another = shared(own_gateway, thread)
    assert sorted(rows(own_gateway)) == sorted([kept["id"], another["id"]])


def test_expired_links_are_deleted_at_the_start_and_others_survive(own_gateway):
    thread = new_thread(own_gateway)["id"]
    made, kept = shared(own_gateway, thread), shared(own_gateway, thread, b"still there")
    expire(own_gateway, made["id"])
    own_gateway.stop()
    own_gateway.start()
    assert read(own_gateway, kept["id"]).content == b"still there"
    wait_for(lambda: rows(own_gateway) == [kept["id"]])


def test_links_are_deleted_with_their_thread_and_not_with_its_archive(gateway):
    thread = new_thread(gateway)["id"]
    made = shared(gateway, thread)
    accepted(gateway.http.patch(f"/threads/{thread}", json={"archived": True}))
    assert read(gateway, made["id"]).content == b"sealed"
    assert gateway.http.delete(f"/threads/{thread}").status_code == 204
    refused(read(gateway, made["id"]), 404, "link not found")
    assert made["id"] not in ids(links(gateway))


def test_a_repeated_request_makes_one_link(gateway, thread):
    def send(content):
        return gateway.http.post(f"/threads/{thread}/links", content=content, headers={"Idempotency-Key": f"share {thread}"})

    first = accepted(send(b"sealed"), 201)
    assert accepted(send(b"sealed"), 201) == first and links(gateway, thread) == [first]
    refused(send(b"other"), 409, "idempotency key reused")


def test_no_tool_shares_a_thread(gateway):
    """What agents and MCP clients are offered never takes the bytes of a link."""
    names = {tool["name"] for tool in accepted(gateway.http.get("/utcp"))["tools"]}
    assert "get_links" in names and "post_threads_id_links" not in names
    assert not [name for name in names if name.startswith("get_ui")]


def test_a_backup_has_the_links(own_gateway, make_gateway, tmp_path):
    made = shared(own_gateway, new_thread(own_gateway)["id"], b"in the backup")
    archive = str(tmp_path / "backup.tar.zst")
    restored = make_gateway()
    for gateway, command in ((own_gateway, "backup"), (restored, "restore")):
        done = gateway.command(command, archive, seconds=120)
        assert done.returncode == 0, done.stderr
    restored.start()
    assert read(restored, made["id"]).content == b"in the backup"
