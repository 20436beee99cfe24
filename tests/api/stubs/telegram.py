"""A stub of Telegram's Bot API (https://core.telegram.org/bots/api, version 10.3): updates that are kept until a later
offset confirms them, long polls, drafts, buttons, and its errors."""

import email
import itertools
import json
import re
import time

from .messenger import MessengerHandler, MessengerStub

TOKEN = "1234567:the-token-of-the-bot"
PATIENCE = 20
TAGS = {"b", "i", "s", "u", "code", "pre", "a", "blockquote"}


def visible(text):
    """Returns the text without its markup, as Telegram measures it."""
    for entity, character in (("&lt;", "<"), ("&gt;", ">"), ("&quot;", '"'), ("&amp;", "&")):
        text = re.sub(r"</?\w[^<>]*>", "", text).replace(entity, character)
    return text


def markup_problem(text):
    """Returns Telegram's error message for invalid HTML, or None."""
    open_tags = []
    for end, name, rest in re.findall(r"<(/?)([a-z0-9]*)([^<>]*)>", text):
        if name not in TAGS:
            return f'Bad Request: can\'t parse entities: Unsupported start tag "{name}"'
        if not end:
            open_tags.append(name)
        elif not open_tags or open_tags.pop() != name:
            return "Bad Request: can't parse entities: Unmatched end tag"
    if open_tags or re.search(r"<(?!/?[a-z])", text):
        return "Bad Request: can't parse entities: Can't find end tag"
    return None


def parameters_in(body, content_type):
    """Returns the parameters of a call; a file in a form is `(name, type, bytes)`."""
    if not content_type.startswith("multipart/form-data"):
        return json.loads(body or b"{}")
    form = email.message_from_bytes(b"Content-Type: " + content_type.encode() + b"\r\n\r\n" + body)
    parameters = {}
    for part in form.get_payload():
        name = part.get_param("name", header="content-disposition")
        content = part.get_payload(decode=True)
        # The module reads headers as ASCII, and the service as UTF-8.
        file_name = re.search(rb'filename="([^"]*)"', body)[1].decode() if part.get_filename() is not None else None
        parameters[name] = content.decode() if file_name is None else (file_name, part.get_content_type(), content)
    return {**parameters, "chat_id": int(parameters["chat_id"])}


class Refused(Exception):
    def __init__(self, status, description, **parameters):
        super().__init__(description)
        self.status = status
        self.answer = {"ok": False, "error_code": status, "description": description}
        if parameters:
            self.answer["parameters"] = parameters


class TelegramStub(MessengerStub):
    """`messages` has the bot's messages in their latest version, as people see them; `calls` has all its calls, as
    `(method, parameters)`, except polls; `polls` has the parameters of polls."""

    def __init__(self):
        super().__init__()
        self.calls = []
        self.polls = []
        self.messages = []
        self.times = []
        self.files = {}
        self.is_polled_elsewhere = False
        self.on_step = lambda: None  # called before and after each response, except those of polls without updates
        self._updates = []
        self._failures = []
        self._numbers = itertools.count(500)
        stub = self

        class Handler(MessengerHandler):
            def do_POST(self):
                body = self.rfile.read(int(self.headers.get("content-length", 0)))
                prefix = f"/bot{TOKEN}/"
                if not self.path.startswith(prefix):
                    return self.respond(401, {"ok": False, "error_code": 401, "description": "Unauthorized"})
                method = self.path[len(prefix) :]
                try:
                    result = stub._obey(method, parameters_in(body, self.headers.get("content-type", "")), self)
                except Refused as refused:
                    return self.respond(refused.status, refused.answer)
                if result is None:
                    return None
                has_news = method != "getUpdates" or result
                if has_news:
                    stub.on_step()
                self.respond(200, {"ok": True, "result": result})
                if has_news:
                    stub.on_step()
                return None

            def do_GET(self):
                content = stub.files.get(self.path.removeprefix(f"/file/bot{TOKEN}/"))
                if content is None:
                    return self.respond(404, {"ok": False, "error_code": 404, "description": "Not Found"})
                self.send(200, content, "application/octet-stream")

            def respond(self, status, answer):
                self.send(status, json.dumps(answer).encode())

        self._serve(Handler, "telegram")

    # Actions of people.

    def says(self, sender, text=None, *, chat=None, kind=None, **members):
        """Sends a message to the bot, in private or in a group. Returns the update's id."""
        chat = sender if chat is None else chat
        message = {
            "message_id": next(self._numbers),
            "from": {"id": sender, "is_bot": False, "first_name": f"Person {sender}"},
            "chat": {"id": chat, "type": kind or ("private" if chat > 0 else "supergroup")},
            "date": 1_790_000_000,
            **members,
        }
        if text is not None:
            message["text"] = text
        return self.update(message=message)

    def presses(self, sender, message, label):
        """Presses a button of a message."""
        data = next(data for shown, data in message["buttons"] if shown == label)
        press = {
            "id": str(next(self._numbers)),
            "from": {"id": sender, "is_bot": False, "first_name": f"Person {sender}"},
            "message": {"message_id": message["id"], "chat": {"id": message["chat"], "type": "private"}},
            "data": data,
        }
        self.update(callback_query=press)
        return press["id"]

    def update(self, **members):
        with self._changed:
            number = next(self._numbers)
            self._updates.append({"update_id": number, **members})
            self._changed.notify_all()
        return number

    def sends_again(self, count=1):
        """Sends the last updates again, although they were confirmed."""
        with self._changed:
            self._updates = list(self._seen[-count:]) + self._updates
            self._changed.notify_all()

    _seen = ()

    # Faults.

    def fails(self, method, status, description, **parameters):
        """Makes the next call of this method fail. With status 0, it takes effect but the response is lost."""
        self._failures.append((method, Refused(status, description, **parameters)))

    # Inspection by tests.

    def until(self, condition, seconds=PATIENCE):
        """Waits until the condition is true, which is checked after each call, and returns its value."""
        deadline = time.monotonic() + seconds
        with self._changed:
            while not (found := condition()):
                left = deadline - time.monotonic()
                assert left > 0, f"it did not happen: {self.messages}"
                self._changed.wait(left)
            return found

    def message(self, part, count=1, seconds=PATIENCE):
        """Waits for `count` messages of the bot that contain the text and returns the last of them."""

        def found():
            messages = [message for message in self.messages if part in message["text"]]
            return messages if len(messages) >= count else None

        return self.until(found, seconds)[-1]

    def texts(self, chat=None):
        return [visible(message["text"]) for message in self.messages if chat is None or message["chat"] == chat]

    def of(self, method):
        return [parameters for called, parameters in self.calls if called == method]

    def wait_until_confirmed(self, update):
        """Waits until a poll of the bot has confirmed the update."""
        self.until(lambda: any(seen["update_id"] == update for seen in self._seen))

    # Calls of the bot.

    def _obey(self, method, parameters, handler):
        if method == "getUpdates":
            return self._poll(parameters)
        obey = getattr(self, f"_{method}", None)
        with self._changed:
            self.calls.append((method, parameters))
            self.times.append((time.monotonic(), method, parameters.get("chat_id")))
            try:
                failure = next((one for one in self._failures if one[0] == method), None)
                if failure:
                    self._failures.remove(failure)
                    if failure[1].status:
                        raise failure[1]
                if not obey:
                    raise Refused(404, "Not Found: method not found")
                result = obey(parameters)
                if failure:
                    handler.close_connection = True
                    handler.connection.shutdown(2)
                    return None
                return result
            finally:
                self._changed.notify_all()

    def _poll(self, parameters):
        self.polls.append(parameters)
        if self.is_polled_elsewhere:
            raise Refused(409, "Conflict: terminated by other getUpdates request")
        with self._changed:
            failure = next((one for one in self._failures if one[0] == "getUpdates"), None)
            if failure:
                self._failures.remove(failure)
                raise failure[1]
            offset = parameters.get("offset", 0)
            self._seen = (*self._seen, *[u for u in self._updates if u["update_id"] < offset])
            self._updates = [one for one in self._updates if one["update_id"] >= offset]
            self._changed.notify_all()
            wanted = set(parameters.get("allowed_updates", [])) | {"update_id"}
            deadline = time.monotonic() + parameters.get("timeout", 0)
            while True:
                news = [one for one in self._updates if set(one) <= wanted and one["update_id"] >= offset]
                left = deadline - time.monotonic()
                if news or left <= 0 or self._is_closing:
                    return news[: parameters.get("limit", 100)]
                self._changed.wait(left)

    def _checked(self, parameters):
        text = parameters.get("text", "")
        if parameters.get("parse_mode") == "HTML":
            if problem := markup_problem(text):
                raise Refused(400, problem)
            text = visible(text)
        if not text.strip():
            raise Refused(400, "Bad Request: message text is empty")
        if len(text.encode("utf-16-le")) // 2 > 4096:
            raise Refused(400, "Bad Request: message is too long")
        rows = parameters.get("reply_markup", {}).get("inline_keyboard", [])
        buttons = [(button["text"], button["callback_data"]) for row in rows for button in row]
        if any(len(data.encode()) > 64 for _, data in buttons):
            raise Refused(400, "Bad Request: BUTTON_DATA_INVALID")
        return text, buttons

    def _getMe(self, _):
        return {"id": int(TOKEN.partition(":")[0]), "is_bot": True, "first_name": "The bot", "username": "the_bot"}

    def _sendMessage(self, parameters):
        text, buttons = self._checked(parameters)
        number = next(self._numbers)
        self.messages.append(
            {
                "id": number,
                "chat": parameters["chat_id"],
                "topic": parameters.get("message_thread_id"),
                "text": text,
                "html": parameters["text"] if "parse_mode" in parameters else None,
                "buttons": buttons,
                "edits": 0,
                "at": time.time(),
            }
        )
        return {"message_id": number, "chat": {"id": parameters["chat_id"]}, "text": text}

    def _sendDocument(self, parameters, member="document"):
        name, kind, content = parameters[member]
        number = next(self._numbers)
        self.messages.append(
            {
                "id": number,
                "chat": parameters["chat_id"],
                "topic": parameters.get("message_thread_id"),
                "text": parameters.get("caption", ""),
                "file": (member, name, kind, content),
                "buttons": [],
                "edits": 0,
            }
        )
        return {"message_id": number, "chat": {"id": parameters["chat_id"]}}

    def _sendPhoto(self, parameters):
        return self._sendDocument(parameters, "photo")

    def _editMessageText(self, parameters):
        text, buttons = self._checked(parameters)
        message = next((one for one in self.messages if one["id"] == parameters["message_id"]), None)
        if not message:
            raise Refused(400, "Bad Request: message to edit not found")
        if (message["text"], message["buttons"]) == (text, buttons):
            raise Refused(400, "Bad Request: message is not modified")
        message.update(text=text, buttons=buttons, edits=message["edits"] + 1)
        return {"message_id": message["id"], "text": text}

    def _sendMessageDraft(self, parameters):
        if parameters["chat_id"] < 0 or not parameters["draft_id"]:
            raise Refused(400, "Bad Request: drafts can be sent to private chats only")
        self._checked(parameters)
        return True

    def _sendChatAction(self, parameters):
        assert parameters["action"] == "typing"
        return True

    def _answerCallbackQuery(self, _):
        return True

    def _getFile(self, parameters):
        path = f"files/{parameters['file_id']}"
        if path not in self.files:
            raise Refused(400, "Bad Request: wrong file_id")
        return {"file_id": parameters["file_id"], "file_path": path}
