"""Files attached to messages.

See docs/contract/chat.md#attachments.
"""

import base64
import uuid

import pytest

from checks import UNKNOWN_ID, accepted, at_once, is_id, refused
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
def vision_talker(make_gateway, stub):
    """A gateway whose stub model supports vision, which the gateway concludes from the model's name."""
    gateway = make_gateway(config=configuration(stub)).start()
    talker = Talker(gateway, stub)
    talker.model = f"{PROVIDER}/vision-1"
    return talker


def last_message(talker):
    return [message for message in talker.stub.requests[-1].json["messages"] if message["role"] == "user"][-1]


def test_upload_returns_its_metadata(gateway):
    made = uploaded(gateway, b"hello", name="notes.txt", mime="text/plain")
    assert is_id(made.pop("id")) and made == {"name": "notes.txt", "mime": "text/plain", "size": 5}


def test_bytes_are_stored_in_the_data_directory(gateway):
    content = bytes(range(256))
    made = uploaded(gateway, content)
    assert (gateway.data / "attachments" / made["id"]).read_bytes() == content
    assert made["name"] == "file" and made["mime"] == "application/octet-stream" and made["size"] == 256


def test_upload_is_limited_to_20_mib(gateway):
    assert uploaded(gateway, b"x" * (20 * MEBIBYTE))["size"] == 20 * MEBIBYTE
    refused(upload(gateway, b"x" * (20 * MEBIBYTE + 1)), 413, "request body too large")


def test_an_upload_with_a_chosen_id_may_be_repeated(gateway):
    chosen_id = "01890000-0000-7000-8000-00000000f11e"

    def send(content, key=chosen_id):
        return gateway.http.post("/files", params={"name": "a.txt", "id": key}, content=content)

    first = accepted(send(b"first"), 201)
    assert first["id"] == chosen_id and accepted(send(b"second"), 201) == first
    assert (gateway.data / "attachments" / chosen_id).read_bytes() == b"first"
    for wrong in ("../../config.yaml", chosen_id.upper()):
        refused(send(b"x", wrong), 400, f"invalid id: {wrong}")


def test_uploads_with_the_same_id_at_once_store_one_of_them(gateway):
    for _ in range(40):
        params = {"id": str(uuid.uuid4())}
        sent = [bytes([number]) * (number + 1) * 1000 for number in range(4)]
        made = at_once(4, lambda number: accepted(gateway.http.post(
            "/files", params={"name": str(number), **params}, content=sent[number]), 201))
        stored = sent[int(made[0]["name"])]
        assert all(each == made[0] for each in made) and made[0]["size"] == len(stored)
        assert gateway.http.get(f"/files/{params['id']}").content == stored


def test_upload_needs_a_body_and_the_token(gateway):
    refused(upload(gateway, b""), 400, "Request body required")
    refused(gateway.anonymous.post("/files", content=b"x"), 401, "unauthorized")


def test_json_is_accepted_as_a_file(gateway):
    assert uploaded(gateway, b"{", mime="application/json")["mime"] == "application/json"


def test_unknown_files_are_not_found(gateway):
    before = len(accepted(gateway.http.get("/threads")))
    refused(chat(gateway, content="read", attachments=[UNKNOWN_ID]), 404, "file not found")
    assert len(accepted(gateway.http.get("/threads"))) == before


def test_attachments_must_be_an_array(gateway):
    refused(chat(gateway, content="read", attachments="a"), 400, "attachments must be a array")


def test_text_file_is_sent_as_text(talker, thread_of_talker):
    made = uploaded(talker.gateway, "Tom is a cat ✓".encode(), name="notes.txt", mime="text/plain")
    turn = talker.says(thread_of_talker, "who is Tom?", answer="a cat", attachments=[made["id"]])
    assert turn["content"] == "who is Tom?"
    content = talker.conversation()[-1][1]
    assert content.startswith("who is Tom?") and "Tom is a cat ✓" in content and "notes.txt" in content
    listed = accepted(talker.gateway.http.get(f"/threads/{thread_of_talker['id']}/turns"))[-1]
    assert listed["metadata"]["attachments"] == [made]


@pytest.mark.parametrize("charset, mime", [
    ("iso-8859-1", "text/plain; charset=ISO-8859-1"), ("cp1252", "text/csv"), ("utf-16", "application/octet-stream"),
    ("shift_jis", "Text/Plain;charset=\"Shift_JIS\""), ("utf-16-be", "text/plain; charset=utf-16be")])
def test_text_in_another_charset_is_converted(talker, thread_of_talker, charset, mime):
    text = "日本の猫" if charset == "shift_jis" else "Tom säuft Öl"
    made = uploaded(talker.gateway, text.encode(charset), name="notes.txt", mime=mime)
    assert made["size"] == len(text.encode(charset))
    talker.says(thread_of_talker, "who is it?", answer="Tom", attachments=[made["id"]])
    assert f"---\n{text}\n---" in talker.conversation()[-1][1]


def test_html_with_a_meta_charset_is_converted(talker, thread_of_talker):
    page = '<meta charset="shift_jis"><p>日本の猫</p>'
    made = uploaded(talker.gateway, page.encode("shift_jis"), name="page.html", mime="text/html")
    talker.says(thread_of_talker, "who is it?", answer="a cat", attachments=[made["id"]])
    assert f"---\n{page}\n---" in talker.conversation()[-1][1]


@pytest.mark.parametrize("content, mime", [
    (b"%PDF-1.4 \xe2\xe3\xcf\xd3", "application/pdf; charset=utf-8"), (b"\x89\x00\x01", "text/plain; charset=iso-8859-1")])
def test_invalid_text_in_its_charset_is_not_shown(talker, thread_of_talker, content, mime):
    made = uploaded(talker.gateway, content, name="notes.bin", mime=mime)
    talker.says(thread_of_talker, "who is it?", answer="Nobody", attachments=[made["id"]])
    assert "[The file notes.bin" in talker.conversation()[-1][1] and "cannot be shown" in talker.conversation()[-1][1]
    assert (talker.gateway.data / "attachments" / made["id"]).read_bytes() == content


def test_a_thread_that_begins_with_a_file_alone_is_named_after_it(talker, thread_of_talker):
    thread, name = thread_of_talker["id"], "Minutes of the long meeting about which of the two roofs leaks more.txt"
    files = [uploaded(talker.gateway, b"x", name=one)["id"] for one in (name, "second.txt")]
    talker.says(thread_of_talker, "", answer="read", attachments=files)
    assert accepted(talker.gateway.http.get(f"/threads/{thread}"))["title"] == "Minutes of the long meeting about which of…"
    talker.says(thread_of_talker, "And?", answer="that is all")
    assert talker.request_count() == 2, "the model is not asked for a title: there are no words to make it from"


def test_later_question_still_includes_the_file(talker, thread_of_talker):
    made = uploaded(talker.gateway, b"Tom is a cat", name="notes.txt", mime="text/plain")
    talker.says(thread_of_talker, "read", answer="done", attachments=[made["id"]])
    talker.says(thread_of_talker, "who is Tom?", answer="a cat")
    assert "Tom is a cat" in talker.conversation()[0][1]


def test_repeated_attachment_is_sent_once(talker, thread_of_talker):
    made = uploaded(talker.gateway, b"Tom is a cat", name="notes.txt", mime="text/plain")
    turn = talker.says(thread_of_talker, "who is Tom?", answer="a cat", attachments=[made["id"]] * 100)
    assert turn["metadata"]["attachments"] == [made]
    assert talker.conversation()[-1][1].count("Tom is a cat") == 1


def test_images_are_sent_to_vision_models(vision_talker):
    made = uploaded(vision_talker.gateway, PNG, name="dot.png", mime="image/png")
    thread = accepted(vision_talker.gateway.http.post("/threads", json={}), 201)
    vision_talker.says(thread, "what is it?", answer="a dot", attachments=[made["id"]], model=vision_talker.model)
    parts = last_message(vision_talker)["content"]
    urls = [part["image_url"]["url"] for part in parts if part["type"] == "image_url"]
    assert urls == ["data:image/png;base64," + base64.b64encode(PNG).decode()]


def test_invalid_image_is_not_sent(vision_talker):
    made = uploaded(vision_talker.gateway, b"<!doctype html>", name="dot.png", mime="image/png")
    thread = accepted(vision_talker.gateway.http.post("/threads", json={}), 201)
    vision_talker.says(thread, "what is it?", answer="nothing", attachments=[made["id"]], model=vision_talker.model)
    content = str(last_message(vision_talker)["content"])
    assert "image_url" not in content
    assert "[The file dot.png (image/png) is attached, but cannot be shown to you.]" in content


def test_image_jpg_means_image_jpeg(vision_talker):
    made = uploaded(vision_talker.gateway, b"\xff\xd8\xff\xe0 and so on", name="dot.jpg", mime="image/jpg")
    thread = accepted(vision_talker.gateway.http.post("/threads", json={}), 201)
    vision_talker.says(thread, "what is it?", answer="a dot", attachments=[made["id"]], model=vision_talker.model)
    assert "data:image/jpeg;base64," in str(last_message(vision_talker)["content"])


def test_model_without_vision_refuses_images(talker, thread_of_talker):
    made = uploaded(talker.gateway, PNG, name="dot.png", mime="image/png")
    body = {"content": "what is it?", "threadId": thread_of_talker["id"], "attachments": [made["id"]]}
    refused(chat(talker.gateway, **body), 400, "model does not accept images")
    assert accepted(talker.gateway.http.get(f"/threads/{thread_of_talker['id']}/turns")) == []


@pytest.fixture
def thread_of_talker(talker):
    return accepted(talker.gateway.http.post("/threads", json={}), 201)
