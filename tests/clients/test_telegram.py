"""Channels with telegram-test-api, a third-party emulation of Telegram.

It supports getUpdates, sendMessage, editMessageText, editMessageReplyMarkup and answerCallbackQuery in a private chat. It
does not support long polling (getUpdates returns at once), offsets (each update is returned once), drafts, files, groups
and topics, errors, rates and retry_after, HTML and its errors, and a second program that polls.
tests/api/stubs/telegram.py does.
"""

import subprocess
import time

import httpx
import pytest

from checks import accepted
from conftest import HERE, MODULES, PATH
from tools import calls

TOKEN = "1234:the-bot's-token"
ANN = 41
PATIENCE = 30


class Telegram:
    """The server, and the client of Ann."""

    def __init__(self, home):
        script = home / "telegram.mjs"
        script.write_text((HERE / "telegram.mjs").read_text())
        (home / "node_modules").symlink_to(MODULES)
        self.process = subprocess.Popen(["node", str(script)], env={"PATH": PATH, "HOME": str(home)}, text=True,
                                        stdout=subprocess.PIPE)
        self.url = self.process.stdout.readline().strip()
        self.http = httpx.Client(base_url=self.url)

    def close(self):
        self.http.close()
        self.process.kill()
        self.process.wait()
        self.process.stdout.close()

    def _person(self):
        return {"from": {"id": ANN, "first_name": "Ann", "is_bot": False}, "chat": {"id": ANN, "type": "private"},
                "date": int(time.time()), "botToken": TOKEN}

    def says(self, text):
        accepted(self.http.post("/sendMessage", json={**self._person(), "text": text}))

    def presses(self, message, label):
        (data,) = [button["callback_data"] for row in message["message"]["reply_markup"]["inline_keyboard"]
                   for button in row if button["text"] == label]
        shown = {"message_id": message["messageId"], "text": message["message"]["text"], "chat": self._person()["chat"]}
        accepted(self.http.post("/sendCallback", json={**self._person(), "message": shown, "data": data}))

    def messages(self):
        sent = accepted(self.http.post("/getUpdatesHistory", json={"token": TOKEN}))["result"]
        return [each for each in sent if "chat_id" in each.get("message", {})]

    def texts(self):
        return [each["message"]["text"] for each in self.messages()]

    def message(self, part):
        deadline = time.monotonic() + PATIENCE
        while not (found := [each for each in self.messages() if part in each["message"]["text"]]):
            assert time.monotonic() < deadline, self.texts()
            time.sleep(0.05)  # the server sends no notification
        return found[-1]


@pytest.fixture
def telegram(tmp_path):
    home = tmp_path / "telegram"
    home.mkdir()
    running = Telegram(home)
    yield running
    running.close()


@pytest.fixture
def talker(programs, telegram):
    talker = programs.talker
    assert talker.gateway.http.put("/secrets/TELEGRAM", json={"value": TOKEN}).is_success
    definition = {"kind": "channel", "service": "telegram", "token": "${secret:TELEGRAM}", "address": telegram.url,
                  "allow": [str(ANN)], "stream": "edit"}
    body = {"name": "telegram", "type": "integration", "description": "A", "definition": definition, "enabled": True}
    accepted(talker.gateway.http.post("/extensions", json=body), 201)
    return talker


def test_each_question_is_answered_once(talker, telegram):
    for number in range(3):
        talker.answers(f"Answer {number}.")
        telegram.says(f"Question {number}?")
        telegram.message(f"Answer {number}.")
    assert telegram.texts() == [f"Answer {number}." for number in range(3)]


def test_unfinished_answer_is_edited(talker, telegram):
    held = talker.holds("The beginning")
    telegram.says("Tell me.")
    telegram.message("The beginning")
    held.release(" and the end.")
    telegram.message("The beginning and the end.")
    assert len(telegram.messages()) == 1


def test_permission_is_denied_by_a_button(talker, telegram):
    talker.stub.script(calls(("Write", {"path": "note.txt", "content": "hello"})), "It is done.")
    telegram.says("Write it.")
    asked = telegram.message("write a file")
    telegram.presses(asked, "Deny")
    telegram.message("It is done.")
    assert "denied" in telegram.message("write a file")["message"]["text"]


def test_commands_are_executed(talker, telegram):
    telegram.says("/status")
    assert "Agent: assistant" in telegram.message("Agent:")["message"]["text"]
