"""PDFs in requests of programs."""

import base64

import pytest

from test_client_members import PICTURE, chat, gateway, message, respond, user  # noqa: F401 (a fixture)

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


def test_pdf_is_refused_by_name_where_it_is_not_possible(gateway):  # noqa: F811
    def asked(model, url=PDF_URL):
        part = {"type": "file", "file": {"file_data": url}}
        response = gateway.http.post("/v1/chat/completions", json={"model": model, "messages": [user(part)]})
        assert response.status_code == 400, response.text
        return response.json()["error"]["param"]

    assert asked("ollama/gpt-5") == asked("assistant") == "messages[].content[].file"
    assert asked("chat/gpt-5", PICTURE) == "messages[0].content[0].file.file_data"


def test_pdf_that_a_tool_returned_is_forwarded(gateway):  # noqa: F811
    """As Claude Code reads one."""
    part = {"type": "document", "source": {"type": "base64", "media_type": "application/pdf", "data": PDF}}
    use = {"type": "tool_use", "id": "c1", "name": "Read", "input": {}}
    messages = [user({"type": "text", "text": "Hi"}), {"role": "assistant", "content": [use]},
                user({"type": "tool_result", "tool_use_id": "c1", "content": [part]})]
    sent = message(gateway, messages=messages)["messages"][-1]["content"]
    assert [block["type"] for block in sent] == ["tool_result", "document", "text"]
