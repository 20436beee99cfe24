"""PDFs in requests of programs."""

import base64
import json

import pytest

from checks import accepted
from stubs.provider import Fault
from test_client_members import PICTURE, PIXEL, chat, gateway, message, respond, user  # noqa: F401 (a fixture)

PDF = base64.b64encode(b"%PDF-1.7 ...").decode()
PDF_URL = f"data:application/pdf;base64,{PDF}"


@pytest.mark.parametrize("ask, part", [
    (chat, {"type": "file", "file": {"filename": "a.pdf", "file_data": PDF_URL}}),
    (respond, {"type": "input_file", "filename": "a.pdf", "file_data": PDF_URL}),
    (message, {"type": "document", "source": {"type": "base64", "media_type": "application/pdf", "data": PDF}})])
def test_pdf_is_forwarded(gateway, ask, part):  # noqa: F811
    content = [user({"type": "input_text" if ask is respond else "text", "text": "Read"}, part)]
    asked = {"input": content} if ask is respond else {"messages": content}
    assert ask(gateway, "chat", **asked)["messages"][-1]["content"] == [
        {"type": "text", "text": "Read"}, {"type": "file", "file": {"filename": "document.pdf", "file_data": PDF_URL}}]
    assert ask(gateway, "responses", **asked)["input"][-1]["content"][1] == {
        "type": "input_file", "filename": "document.pdf", "file_data": PDF_URL}
    document = ask(gateway, "anthropic", **asked)["messages"][-1]["content"][1]
    assert (document["type"], document["source"]["data"]) == ("document", PDF)
    assert ask(gateway, "gemini", **asked)["contents"][-1]["parts"][1]["inlineData"] == {
        "mimeType": "application/pdf", "data": PDF}


@pytest.mark.parametrize("model", ["ollama/gpt-5", "assistant"])
def test_text_replaces_a_pdf_where_it_is_not_possible(gateway, model):  # noqa: F811
    """Programs repeat it with each request, so an error would end their conversations."""
    content = [{"type": "text", "text": "Read"}, {"type": "file", "file": {"file_data": PDF_URL}},
               {"type": "image_url", "image_url": {"url": PICTURE}}, {"type": "text", "text": "it"}]
    accepted(gateway.http.post("/v1/chat/completions", json={"model": model, "messages": [user(*content)]}))
    asked = json.dumps(gateway.stub.requests[-1].json)
    assert "Read\\n(A PDF is left out" in asked and PDF not in asked and PIXEL in asked


@pytest.mark.parametrize("ask, service, refusal", [
    (chat, "chat", "Unknown part type: file"),
    (chat, "chat", "'content' objects must have a 'type' field that is either 'text' or 'image_url'."),
    (message, "anthropic", "messages.0.content.1: document blocks are not supported"),
    (respond, "responses", "Invalid value: 'input_file'. Supported values are: 'input_text'")])
def test_text_replaces_a_pdf_that_the_service_refuses(gateway, ask, service, refusal):  # noqa: F811
    gateway.stub.script(Fault(400, refusal))
    part = {chat: {"type": "file", "file": {"file_data": PDF_URL}},
            respond: {"type": "input_file", "filename": "a.pdf", "file_data": PDF_URL},
            message: {"type": "document", "source": {"type": "base64", "media_type": "application/pdf", "data": PDF}}}
    text = {"type": "input_text" if ask is respond else "text", "text": "Read"}
    asked = ask(gateway, service, **{"input" if ask is respond else "messages": [user(text, part[ask])]})
    content = asked["input" if ask is respond else "messages"][-1]["content"]
    assert content[1]["type"] == text["type"] and content[1]["text"].startswith("(A PDF is left out")


def test_other_file_than_a_pdf_is_refused_by_name(gateway):  # noqa: F811
    part = {"type": "file", "file": {"file_data": PICTURE}}
    response = gateway.http.post("/v1/chat/completions", json={"model": "chat/gpt-5", "messages": [user(part)]})
    assert response.status_code == 400 and response.json()["error"]["param"] == "messages[0].content[0].file.file_data"


def test_pdf_that_a_tool_returned_is_forwarded(gateway):  # noqa: F811
    """As Claude Code reads one."""
    part = {"type": "document", "source": {"type": "base64", "media_type": "application/pdf", "data": PDF}}
    use = {"type": "tool_use", "id": "c1", "name": "Read", "input": {}}
    messages = [user({"type": "text", "text": "Hi"}), {"role": "assistant", "content": [use]},
                user({"type": "tool_result", "tool_use_id": "c1", "content": [part]})]
    sent = message(gateway, messages=messages)["messages"][-1]["content"]
    assert [block["type"] for block in sent] == ["tool_result", "document", "text"]
