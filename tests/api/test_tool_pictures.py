"""Pictures that tools return, kept for people.

See docs/contract/chat.md#pictures-of-tools.
"""

import base64
import json
from pathlib import Path

import pytest

from checks import accepted, is_id, refused
from integrations import new_integration
from jobs import wait_for
from stubs.mcp_server import PIXEL
from talker import Talker, configuration
from tools import call_tool, new_agent, new_thread, turns_of
from transfer import imported

SERVER = str(Path(__file__).parent / "stubs" / "mcp_server.py")
PNG = base64.b64decode(PIXEL)
JPEG = b"\xff\xd8\xff\xe0" + b"j" * 20
GIF = b"GIF89a" + b"g" * 20
WEBP = b"RIFF\x10\0\0\0WEBPVP8 " + b"w" * 20
SVG = b"<svg xmlns='http://www.w3.org/2000/svg'><script>alert(1)</script></svg>"


@pytest.fixture
def camera(make_gateway, stub, new_name):
    """Has an agent call a tool that returns the given `(claimed type, bytes)`. Returns the end of the call."""
    talker = Talker(make_gateway(config=configuration(stub)).start(), stub)
    server = new_integration(talker.gateway, new_name("camera"), "mcp-stdio", command="/usr/bin/python3", args=[SERVER])
    thread = new_thread(talker.gateway, new_agent(talker.gateway, new_name("user"), "trusted"))

    def take(*pictures, padding=0, **members):
        given = [[mime, base64.b64encode(content).decode()] for mime, content in pictures]
        return call_tool(talker, thread, take.tool, {"pictures": given, "padding": padding}, **members)

    take.tool, take.thread, take.gateway, take.talker = f"{server['name']}__pictures", thread, talker.gateway, talker
    return take


def download(gateway, picture):
    return gateway.http.get(f"/files/{picture['id']}")


def stored(gateway, picture):
    return gateway.data / "attachments" / picture["id"]


def remove(gateway, thread):
    assert gateway.http.delete(f"/threads/{thread['id']}").status_code == 204


def until_gone(gateway, picture):
    refused(download(gateway, picture), 404, "file not found")
    wait_for(lambda: not stored(gateway, picture).exists())


def test_pictures_are_named_by_the_event_and_the_turn(camera):
    end = camera(("image/png", PNG), ("image/jpeg", JPEG))
    png, jpeg = end["pictures"]
    assert is_id(png["id"]) and png == {"id": png["id"], "name": f"{camera.tool}.png", "mime": "image/png", "size": len(PNG)}
    assert (jpeg["name"], jpeg["mime"], jpeg["size"]) == (f"{camera.tool}.jpeg", "image/jpeg", len(JPEG))
    [turn] = turns_of(camera.gateway, camera.thread, "tool")
    assert turn["metadata"]["pictures"] == [png, jpeg]
    assert stored(camera.gateway, png).read_bytes() == PNG


def test_pictures_are_kept_whether_or_not_the_model_sees_them(camera):
    assert len(camera(("image/png", PNG))["pictures"]) == 1
    assert "image_url" not in str(camera.talker.stub.requests[-1].json["messages"])
    assert len(camera(("image/png", PNG), model=f"{camera.talker.provider}/vision-1")["pictures"]) == 1
    assert "image_url" in str(camera.talker.stub.requests[-1].json["messages"])


def test_a_call_without_pictures_lists_none(camera):
    assert "pictures" not in camera()
    [turn] = turns_of(camera.gateway, camera.thread, "tool")
    assert "pictures" not in turn["metadata"]


def test_the_type_is_that_of_the_bytes(camera):
    end = camera(("image/svg+xml", PNG), ("text/html", GIF), ("", WEBP), ("image/png", SVG), ("image/png", b""),
                 ("image/svg+xml", SVG))
    assert [picture["mime"] for picture in end["pictures"]] == ["image/png", "image/gif", "image/webp"]


def test_number_and_size_are_limited(camera):
    end = camera(*[("image/png", PNG + bytes([number])) for number in range(10)], padding=5 * 1024 * 1024)
    assert [download(camera.gateway, picture).content[-1] for picture in end["pictures"]] == list(range(1, 9))


def test_a_picture_is_served_so_that_a_browser_runs_nothing_of_it(camera):
    gateway = camera.gateway
    [picture] = camera(("image/png", PNG))["pictures"]
    response = download(gateway, picture)
    assert (response.status_code, response.content) == (200, PNG)
    headers = {name: response.headers[name] for name in (
        "content-type", "content-disposition", "content-security-policy", "x-content-type-options", "cache-control")}
    assert headers == {"content-type": "image/png", "content-disposition": "inline", "content-security-policy": "sandbox",
                       "x-content-type-options": "nosniff", "cache-control": "no-store"}
    refused(gateway.anonymous.get(f"/files/{picture['id']}"), 401, "unauthorized")


@pytest.mark.parametrize("mime,content", [("text/html", b"<script>alert(1)</script>"), ("image/svg+xml", SVG),
                                          ("image/png", SVG), ("text/plain", b"hello")])
def test_other_files_are_served_as_downloads(gateway, mime, content):
    made = accepted(gateway.http.post("/files", headers={"Content-Type": mime}, content=content), 201)
    response = download(gateway, made)
    assert (response.status_code, response.content) == (200, content)
    assert (response.headers["content-type"], response.headers["content-disposition"]) == ("application/octet-stream", "attachment")


@pytest.mark.parametrize("name", ["01890000-0000-7000-8000-00000000dead", "..%2f..%2fconfig.yaml", "x"])
def test_an_unknown_file_is_not_found(gateway, name):
    refused(gateway.http.get(f"/files/{name}"), 404, "file not found")


def test_pictures_are_deleted_with_their_chat(camera):
    [kept] = camera(("image/png", PNG))["pictures"]
    upload = accepted(camera.gateway.http.post("/files", content=b"x"), 201)
    remove(camera.gateway, camera.thread)
    until_gone(camera.gateway, kept)
    assert download(camera.gateway, upload).status_code == 200, "uploads stay"


def test_a_fork_keeps_the_pictures_of_a_deleted_chat(camera):
    [picture] = camera(("image/png", PNG))["pictures"]
    fork = accepted(camera.gateway.http.post(f"/threads/{camera.thread['id']}/fork"), 201)
    [turn] = turns_of(camera.gateway, fork, "tool")
    assert turn["metadata"]["pictures"] == [picture]
    remove(camera.gateway, camera.thread)
    assert download(camera.gateway, picture).content == PNG
    remove(camera.gateway, fork)
    until_gone(camera.gateway, picture)


def test_a_file_that_a_kill_left_is_deleted_at_the_next_start(camera):
    gateway = camera.gateway
    [picture] = camera(("image/png", PNG))["pictures"]
    path = stored(gateway, picture)
    # As if the kill had come between the deletion of the record and that of the file: a folder cannot be unlinked.
    path.unlink()
    path.mkdir()
    remove(gateway, camera.thread)
    gateway.kill()
    path.rmdir()
    path.write_bytes(PNG)
    gateway.start()
    wait_for(lambda: not path.exists())


def test_a_picture_that_cannot_be_stored_does_not_fail_the_call(camera):
    folder = camera.gateway.data / "attachments"
    if folder.exists():
        folder.rmdir()
    folder.write_text("no folder")
    end = camera(("image/png", PNG))
    assert not end["isError"] and "pictures" not in end
    folder.unlink()
    assert len(camera(("image/png", PNG))["pictures"]) == 1


def test_shared_chats_show_no_pictures(camera):
    camera(("image/png", PNG))
    shared = accepted(camera.gateway.http.get(f"/threads/{camera.thread['id']}/transcript", params={"shared": "true"}))
    assert '"pictures"' not in json.dumps(shared)


def test_exports_have_the_pictures(camera, make_gateway):
    [picture] = camera(("image/png", PNG))["pictures"]
    gateway = camera.gateway
    done = gateway.command("export", "out", "--html")
    assert done.returncode == 0, done.stderr
    folder = gateway.home / "out"
    assert (folder / "files" / picture["id"]).read_bytes() == PNG
    [markdown] = (folder / "threads").glob("*.md")
    assert f"(../files/{picture['id']})" in markdown.read_text()
    other = make_gateway().start()
    imported(other, "agent-gateway", folder)
    assert download(other, picture).content == PNG
