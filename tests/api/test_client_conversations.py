"""What programs send to agents with results of tools, and the pictures of their conversations. See
docs/contract/clients.md, "Agents".
"""

import base64
import struct
import zlib

import pytest

from checks import accepted
from talker import PROVIDER, Talker, configuration
from tools import calls


def png(*colour):
    def chunk(kind, data):
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    header = struct.pack(">IIBBBBB", 1, 1, 8, 2, 0, 0, 0)
    return base64.b64encode(b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(
        b"IDAT", zlib.compress(b"\0" + bytes(colour))) + chunk(b"IEND", b"")).decode()


RED, BLUE = png(255, 0, 0), png(0, 0, 255)
SCHEMA = {"type": "object", "properties": {"what": {"type": "string"}}}


def url_of(picture):
    return f"data:image/png;base64,{picture}"


class Chat:
    """A program with a conversation, which it sends as a whole. A method of each protocol makes items of it."""

    path, settings = "/v1/chat/completions", {
        "tools": [{"type": "function", "function": {"name": "look", "parameters": SCHEMA}}]}

    def __init__(self, talker):
        self.talker = talker
        self.items = []

    def ask(self, *items, answer="Well.", status=200, **members):
        """Sends the conversation with these items, and adds the answer. Returns the id of the thread."""
        self.talker.stub.script(answer)
        self.items += items
        response = self.talker.gateway.http.post(self.path, json={
            "model": "assistant", **self.settings, **self.body(self.items), **members})
        self.response = accepted(response, status)
        if status == 200:
            self.items += self.answer(self.response)
            return response.headers["x-thread-id"]

    def body(self, items):
        return {"messages": items}

    def part(self, picture):
        return {"type": "image_url", "image_url": {"url": url_of(picture)}}

    def parts(self, text, pictures):
        return [*[self.part(picture) for picture in pictures], *([{"type": "text", "text": text}] if text else [])]

    def user(self, text, *pictures):
        return {"role": "user", "content": self.parts(text, pictures)}

    def assistant(self, text):
        return {"role": "assistant", "content": text}

    def called(self, call_id):
        return {"role": "assistant", "content": None, "tool_calls": [
            {"id": call_id, "type": "function", "function": {"name": "look", "arguments": "{}"}}]}

    def result(self, call_id, text, *pictures):
        return {"role": "tool", "tool_call_id": call_id, "content": self.parts(text, pictures)}

    def answer(self, response):
        return [response["choices"][0]["message"]]

    def call_id(self):
        return self.items[-1]["tool_calls"][0]["id"]


class Responses(Chat):
    path, settings = "/v1/responses", {"tools": [{"type": "function", "name": "look", "parameters": SCHEMA}]}

    def body(self, items):
        return {"input": items}

    def part(self, picture):
        return {"type": "input_image", "image_url": url_of(picture)}

    def parts(self, text, pictures):
        return [*[self.part(picture) for picture in pictures], *([{"type": "input_text", "text": text}] if text else [])]

    def called(self, call_id):
        return {"type": "function_call", "call_id": call_id, "name": "look", "arguments": "{}"}

    def result(self, call_id, text, *pictures):
        return {"type": "function_call_output", "call_id": call_id, "output": self.parts(text, pictures)}

    def answer(self, response):
        return response["output"]

    def call_id(self):
        return self.items[-1]["call_id"]


class Messages(Chat):
    path, settings = "/v1/messages", {"max_tokens": 4000, "tools": [{"name": "look", "input_schema": SCHEMA}]}

    def body(self, items):
        """Results and what the user says with them are blocks of one message."""
        messages = []
        for item in items:
            if messages and messages[-1]["role"] == item["role"] == "user":
                messages[-1] = {"role": "user", "content": messages[-1]["content"] + item["content"]}
            else:
                messages.append(item)
        return {"messages": messages}

    def part(self, picture):
        return {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": picture}}

    def called(self, call_id):
        return {"role": "assistant", "content": [{"type": "tool_use", "id": call_id, "name": "look", "input": {}}]}

    def result(self, call_id, text, *pictures):
        return {"role": "user", "content": [
            {"type": "tool_result", "tool_use_id": call_id, "content": self.parts(text, pictures)}]}

    def answer(self, response):
        return [{"role": "assistant", "content": response["content"]}]

    def call_id(self):
        return self.items[-1]["content"][-1]["id"]


@pytest.fixture
def seeing_talker(make_gateway, stub):
    """A gateway whose model sees pictures, which the gateway concludes from the model's name."""
    config = configuration(stub)
    config["providers"][PROVIDER]["default_model"] = "vision-1"
    return Talker(make_gateway(config=config).start(), stub)


@pytest.fixture(params=[Chat, Responses, Messages], ids=lambda protocol: protocol.__name__)
def program(request, seeing_talker):
    return request.param(seeing_talker)


def another(program):
    return type(program)(program.talker)


def sent(program):
    """What the model got in its last request except system messages: role, text, and pictures as R and B."""
    messages = []
    for message in program.talker.stub.requests[-1].json["messages"]:
        parts = message["content"] or ""
        parts = [{"type": "text", "text": parts}] if isinstance(parts, str) else parts
        text = "".join(part["text"] for part in parts if part["type"] == "text")
        urls = [part["image_url"]["url"] for part in parts if part["type"] == "image_url"]
        pictures = "".join({url_of(RED): "R", url_of(BLUE): "B"}[url] for url in urls)
        if message["role"] != "system":
            messages.append((message["role"], text, pictures))
    return messages


def turns(program, thread):
    return accepted(program.talker.gateway.http.get(f"/threads/{thread}/turns"))[::-1]


def said(program, thread):
    return [(turn["role"], turn["content"]) for turn in turns(program, thread)]


def begin(program, question, text="Let me look."):
    """Asks the question, which the model answers with a call of the program's tool."""
    return program.ask(program.user(question), answer=calls(("look", {"what": "x"}), text=text))


@pytest.mark.parametrize("text", ["Let me look.", ""], ids=["with a text", "without a text"])
@pytest.mark.parametrize("first", [False, True], ids=["after", "before"])
def test_text_beside_a_result_is_a_message_of_the_user(program, first, text):
    thread = begin(program, "Where am I?", text)
    items = [program.result(program.call_id(), "A room."), program.user("And hurry.")]
    assert program.ask(*(reversed(items) if first else items), answer="It is a room.") == thread
    assert sent(program)[-2:] == [("tool", "A room.", ""), ("user", "And hurry.", "")]
    assert said(program, thread) == [("user", "Where am I?"), ("user", "And hurry."), ("tool", "A room."),
                                     ("assistant", f"{text}\n\nIt is a room.".lstrip())]
    for question in ("Next?", "And then?"):
        assert program.ask(program.user(question)) == thread
    assert ("user", "And hurry.", "") in sent(program)


def test_text_is_beside_each_of_several_results(program):
    thread = begin(program, "What is there?")
    for number in range(3):
        result = program.result(program.call_id(), f"Result {number}.")
        more = calls(("look", {"what": str(number)}), text=f"Step {number}.") if number < 2 else "The end."
        assert program.ask(program.user(f"Before {number}."), result, program.user(f"After {number}."),
                           answer=more) == thread
        assert sent(program)[-2:] == [
            ("tool", f"Result {number}.", ""), ("user", f"Before {number}.\n\nAfter {number}.", "")]
    assert program.ask(program.user("Next?")) == thread
    # Its last answer is to a person, so the thread is found by its turns.
    program.talker.says({"id": thread}, "By a person.", answer="To a person.")
    program.items += [program.user("By a person."), program.assistant("To a person.")]
    for number in range(6):
        assert program.ask(program.user(f"Later {number}")) == thread


def test_other_text_beside_a_result_is_another_conversation(program):
    thread = begin(program, "Where am I?")
    program.ask(program.result(program.call_id(), "A room."), program.user("And hurry."), answer="It is a room.")
    other = another(program)
    other.items = [*program.items[:-2], other.user("And wait."), program.items[-1]]
    assert other.ask(other.user("Next?")) != thread
    assert ("user", "And wait.") in said(other, other.ask(other.user("And then?")))


def test_pictures_with_a_result_reach_the_model(program):
    thread = begin(program, "Where am I?")
    assert program.ask(program.result(program.call_id(), "A room.", RED), program.user("And this?", BLUE)) == thread
    result, shown, beside = sent(program)[-3:]
    assert result == ("tool", "A room.", "") and (shown[0], shown[2]) == ("user", "R")
    assert beside == ("user", "And this?", "B")
    question, beside, result, answer = turns(program, thread)
    assert beside["content"] == "And this?"
    for files, picture in ((beside["metadata"]["attachments"], BLUE), (result["metadata"]["pictures"], RED)):
        file, = files
        assert program.talker.gateway.http.get(f"/files/{file['id']}").content == base64.b64decode(picture)
    assert program.ask(program.user("Next?")) == thread
    assert ("user", "And this?", "B") in sent(program)


def test_picture_alone_is_a_result_and_another_the_message_beside_it(program):
    thread = begin(program, "Where am I?")
    assert program.ask(program.result(program.call_id(), "", RED), program.user("", BLUE)) == thread
    assert [pictures for _, _, pictures in sent(program)[-3:]] == ["", "R", "B"]
    assert program.ask(program.user("Next?")) == thread


def test_refused_picture_beside_a_result_can_be_left_out(talker):
    program = Chat(talker)
    thread = begin(program, "A model without vision")
    result = program.result(program.call_id(), "A room.")
    begun = list(program.items)
    program.ask(result, program.user("See?", RED), status=400)
    assert "does not accept images" in program.response["error"]["message"]
    talker.stub.reset()
    program.items = begun
    assert program.ask(result, program.user("See?"), answer="It is a room.") == thread
    assert sent(program)[-2:] == [("tool", "A room.", ""), ("user", "See?", "")]


def test_new_thread_has_the_pictures_of_earlier_messages(program):
    program.items = [program.user("What is it?", BLUE), program.assistant("A square."), program.user("Look again."),
                     program.called("call_earlier"), program.result("call_earlier", "A room.", RED),
                     program.assistant("A room.")]
    thread = program.ask(program.user("Well?"))
    assert [(role, pictures) for role, _, pictures in sent(program) if pictures] == [("user", "B"), ("user", "R")]
    assert ("user", "What is it?", "B") in sent(program)
    listed = [turn["metadata"]["attachments"] for turn in turns(program, thread)
              if "attachments" in (turn["metadata"] or {})]
    assert [len(files) for files in listed] == [1, 1]
    for question in ("Next?", "And then?"):
        assert program.ask(program.user(question)) == thread


def test_pictures_of_late_results_are_part_of_the_question(program):
    program.items = [program.user("Where am I?"), program.called("call_late")]
    thread = program.ask(program.result("call_late", "A room.", RED), program.user("And this?", BLUE))
    assert sent(program)[-1] == ("user", "[look returned]\nA room.\n\nAnd this?", "RB")
    assert program.ask(program.user("Next?")) == thread


def test_conversation_with_another_picture_is_another_one(program):
    thread = program.ask(program.user("What is it?", RED), answer="A square.")
    other = another(program)
    other.items = [other.user("What is it?", BLUE), *program.items[1:]]
    assert other.ask(other.user("Which colour?")) != thread
    assert [pictures for _, _, pictures in sent(other)] == ["B", "", ""]
    without = another(program)
    without.items = [without.user("What is it?"), *program.items[1:]]
    assert without.ask(without.user("Which colour?")) != thread
    for question in ("Which colour?", "Really?"):
        assert program.ask(program.user(question)) == thread
    assert sent(program)[0] == ("user", "What is it?", "R")


def test_pictures_without_text_are_compared_too(program):
    items = [program.user("", RED), program.user("Two of them.", BLUE, RED)]
    thread = program.ask(*items, answer="Three.")
    assert program.ask(program.user("Next?")) == thread
    other = another(program)
    other.items = [other.user("", BLUE), *program.items[1:-2]]
    assert other.ask(other.user("Next?")) != thread
    assert program.ask(program.user("", BLUE)) == thread
    assert program.ask(program.user("And then?")) == thread


def test_agent_sees_the_pictures_of_a_models_stored_response(seeing_talker):
    program = Responses(seeing_talker)
    first = accepted(seeing_talker.gateway.http.post("/v1/responses", json={
        "model": f"{PROVIDER}/vision-1", "input": [program.user("Stored", RED)]}))
    program.ask(program.user("And now?"), previous_response_id=first["id"])
    assert sent(program)[0] == ("user", "Stored", "R")
