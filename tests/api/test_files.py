"""Files that come with messages (decisions, 5)."""

import base64

import pytest

from checks import UNKNOWN_ID, accepted, is_id, refused
from talker import PROVIDER, Talker, configuration

MEBIBYTE = 1024 * 1024
PNG = base64.b64decode("iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==")


def upload(gateway, content, name=None, mime=None):
    params = {} if name is None else {"name": name}
    headers = {} if mime is None else {"Content-Type": mime}
    return gateway.http.post("/files", params=params, headers=headers, content=content)


def uploaded(gateway, *arguments, **options):
    return accepted(upload(gateway, *arguments, **options), 201)


def chat(gateway, **body):
    return gateway.http.post("/chat", json=body)


@pytest.fixture
def seeing(make_gateway, stub):
    """A gateway whose stubbed model sees, by its name."""
    gateway = make_gateway(config=configuration(stub)).start()
    talker = Talker(gateway, stub)
    talker.model = f"{PROVIDER}/vision-1"
    return talker


def last_message(talker):
    return [message for message in talker.stub.requests[-1].json["messages"] if message["role"] == "user"][-1]


def test_an_upload_answers_what_it_is(gateway):
    made = uploaded(gateway, b"hello", name="notes.txt", mime="text/plain")
    assert is_id(made.pop("id")) and made == {"name": "notes.txt", "mime": "text/plain", "size": 5}


def test_the_bytes_are_a_file_of_the_data_directory(gateway):
    content = bytes(range(256))
    made = uploaded(gateway, content)
    assert (gateway.data / "attachments" / made["id"]).read_bytes() == content
    assert made["name"] == "file" and made["mime"] == "application/octet-stream" and made["size"] == 256


def test_an_upload_may_have_twenty_mebibytes(gateway):
    assert uploaded(gateway, b"x" * (20 * MEBIBYTE))["size"] == 20 * MEBIBYTE
    refused(upload(gateway, b"x" * (20 * MEBIBYTE + 1)), 413, "request body too large")


def test_an_upload_needs_a_body_and_the_token(gateway):
    refused(upload(gateway, b""), 400, "Request body required")
    refused(gateway.anonymous.post("/files", content=b"x"), 401, "unauthorized")


def test_json_is_a_file_like_any_other(gateway):
    assert uploaded(gateway, b"{", mime="application/json")["mime"] == "application/json"


def test_unknown_files_are_not_found(gateway):
    before = len(accepted(gateway.http.get("/threads")))
    refused(chat(gateway, content="read", attachments=[UNKNOWN_ID]), 404, "file not found")
    assert len(accepted(gateway.http.get("/threads"))) == before


def test_attachments_are_an_array(gateway):
    refused(chat(gateway, content="read", attachments="a"), 400, "attachments must be a array")


def test_text_goes_to_the_model_as_text(talker, thread_of_talker):
    made = uploaded(talker.gateway, "Tom is a cat ✓".encode(), name="notes.txt", mime="text/plain")
    turn = talker.says(thread_of_talker, "who is Tom?", answer="a cat", attachments=[made["id"]])
    assert turn["content"] == "who is Tom?"
    told = talker.conversation()[-1][1]
    assert told.startswith("who is Tom?") and "Tom is a cat ✓" in told and "notes.txt" in told
    listed = accepted(talker.gateway.http.get(f"/threads/{thread_of_talker['id']}/turns"))[-1]
    assert listed["metadata"]["attachments"] == [made]


@pytest.mark.parametrize("charset, mime", [
    ("iso-8859-1", "text/plain; charset=ISO-8859-1"), ("cp1252", "text/csv"), ("utf-16", "application/octet-stream"),
    ("shift_jis", "Text/Plain;charset=\"Shift_JIS\""), ("utf-16-be", "text/plain; charset=utf-16be")])
def test_text_in_another_charset_reaches_the_model(talker, thread_of_talker, charset, mime):
    text = "日本の猫" if charset == "shift_jis" else "Tom säuft Öl"
    made = uploaded(talker.gateway, text.encode(charset), name="notes.txt", mime=mime)
    assert made["size"] == len(text.encode(charset))
    talker.says(thread_of_talker, "who is it?", answer="Tom", attachments=[made["id"]])
    assert f"---\n{text}\n---" in talker.conversation()[-1][1]


def test_a_page_whose_meta_says_its_charset_reaches_the_model(talker, thread_of_talker):
    page = '<meta charset="shift_jis"><p>日本の猫</p>'
    made = uploaded(talker.gateway, page.encode("shift_jis"), name="page.html", mime="text/html")
    talker.says(thread_of_talker, "who is it?", answer="a cat", attachments=[made["id"]])
    assert f"---\n{page}\n---" in talker.conversation()[-1][1]


@pytest.mark.parametrize("content, mime", [
    (b"%PDF-1.4 \xe2\xe3\xcf\xd3", "application/pdf; charset=utf-8"), (b"\x89\x00\x01", "text/plain; charset=iso-8859-1")])
def test_what_is_no_text_in_its_charset_is_not_shown_as_one(talker, thread_of_talker, content, mime):
    made = uploaded(talker.gateway, content, name="notes.bin", mime=mime)
    talker.says(thread_of_talker, "who is it?", answer="Nobody", attachments=[made["id"]])
    assert "[The file notes.bin" in talker.conversation()[-1][1] and "cannot be shown" in talker.conversation()[-1][1]
    assert (talker.gateway.data / "attachments" / made["id"]).read_bytes() == content


def test_a_later_question_still_has_the_file(talker, thread_of_talker):
    made = uploaded(talker.gateway, b"Tom is a cat", name="notes.txt", mime="text/plain")
    talker.says(thread_of_talker, "read", answer="done", attachments=[made["id"]])
    talker.says(thread_of_talker, "who is Tom?", answer="a cat")
    assert "Tom is a cat" in talker.conversation()[0][1]


def test_a_file_that_is_named_often_is_shown_once(talker, thread_of_talker):
    made = uploaded(talker.gateway, b"Tom is a cat", name="notes.txt", mime="text/plain")
    turn = talker.says(thread_of_talker, "who is Tom?", answer="a cat", attachments=[made["id"]] * 100)
    assert turn["metadata"]["attachments"] == [made]
    assert talker.conversation()[-1][1].count("Tom is a cat") == 1


def test_images_go_to_models_that_see(seeing):
    made = uploaded(seeing.gateway, PNG, name="dot.png", mime="image/png")
    thread = accepted(seeing.gateway.http.post("/threads", json={}), 201)
    seeing.says(thread, "what is it?", answer="a dot", attachments=[made["id"]], model=seeing.model)
    parts = last_message(seeing)["content"]
    urls = [part["image_url"]["url"] for part in parts if part["type"] == "image_url"]
    assert urls == ["data:image/png;base64," + base64.b64encode(PNG).decode()]


def test_an_image_that_is_none_does_not_reach_the_model(seeing):
    made = uploaded(seeing.gateway, b"<!doctype html>", name="dot.png", mime="image/png")
    thread = accepted(seeing.gateway.http.post("/threads", json={}), 201)
    seeing.says(thread, "what is it?", answer="nothing", attachments=[made["id"]], model=seeing.model)
    told = str(last_message(seeing)["content"])
    assert "image_url" not in told
    assert "[The file dot.png (image/png) is attached, but cannot be shown to you.]" in told


def test_image_jpg_is_a_name_of_jpeg(seeing):
    made = uploaded(seeing.gateway, b"\xff\xd8\xff\xe0 and so on", name="dot.jpg", mime="image/jpg")
    thread = accepted(seeing.gateway.http.post("/threads", json={}), 201)
    seeing.says(thread, "what is it?", answer="a dot", attachments=[made["id"]], model=seeing.model)
    assert "data:image/jpeg;base64," in str(last_message(seeing)["content"])


def test_a_model_that_does_not_see_refuses_images(talker, thread_of_talker):
    made = uploaded(talker.gateway, PNG, name="dot.png", mime="image/png")
    body = {"content": "what is it?", "threadId": thread_of_talker["id"], "attachments": [made["id"]]}
    refused(chat(talker.gateway, **body), 400, "model does not accept images")
    assert accepted(talker.gateway.http.get(f"/threads/{thread_of_talker['id']}/turns")) == []


@pytest.fixture
def thread_of_talker(talker):
    return accepted(talker.gateway.http.post("/threads", json={}), 201)
