"""A real gateway with a scripted model, which a browser test controls through lines of JSON on stdin and stdout.

Each line is `{"do": <name of a method of Backend>, ...its arguments}`; each response `{"result": ...}` or `{"error": ...}`.
"""

import base64
import json
import shutil
import sys
import tempfile
import traceback
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "api"))

from connection import free_port  # noqa: E402
from gateway import Gateway  # noqa: E402
from stubs.provider import Fault, ProviderStub, Reply, ToolCall  # noqa: E402
from stubs.telegram import TOKEN, TelegramStub  # noqa: E402
from talker import configuration  # noqa: E402


class Backend:
    def __init__(self, root):
        self.root = root
        self.stub = ProviderStub().start()
        self.gateway = None
        self.telegram = None
        self.held = []

    def start(self, model="stub", origins=(), environment=None):
        config = configuration(self.stub) if model == "stub" else {}
        # The system gives this port to no other program while the gateway restarts.
        arguments = ["--port", str(free_port())]
        self.gateway = Gateway(self.root, config={**config, "origins": list(origins)}, arguments=arguments,
                               environment=environment)
        self.gateway.start()
        return self.addresses()

    def addresses(self):
        return {"url": self.gateway.url, "token": self.gateway.token, "home": str(self.gateway.home),
                "data": str(self.gateway.data), "service": self.stub.openai_url}

    def restart(self):
        """Restarts the gateway on the same port, as a service manager would."""
        self.gateway.stop()
        self.gateway.start()
        return self.addresses()

    def kill(self):
        self.gateway.kill()

    def reply(self, **members):
        members["tool_calls"] = [ToolCall(**call) for call in members.get("tool_calls", [])]
        self.stub.script(Reply(**members))

    def fail(self, **members):
        self.stub.script(Fault(**members))

    def always(self, **members):
        self.stub.always(Reply(**members))

    def list_models(self, models):
        """Sets the models that the service lists. A number is the status of an error response instead."""
        self.stub.models = Fault(models) if isinstance(models, int) else models

    def hold(self, pieces, tool_calls=()):
        self.held.append(self.stub.hold(*pieces, tool_calls=[ToolCall(**call) for call in tool_calls]))
        return len(self.held) - 1

    def asked(self, held):
        return self.held[held].was_asked()

    def release(self, held, pieces):
        self.held[held].release(*pieces)

    def rotate(self):
        completed = self.gateway.command("token", "rotate")
        return completed.returncode

    def command(self, arguments):
        completed = self.gateway.command(*arguments)
        return {"status": completed.returncode, "printed": completed.stdout + completed.stderr}

    def write(self, path, text):
        """Writes a file in the home directory."""
        target = self.gateway.home / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(text)
        return str(target)

    def write_bytes(self, path, content):
        """Writes a file in the home directory, from base64."""
        Path(self.write(path, "")).write_bytes(base64.b64decode(content))

    def remove(self, path):
        (self.gateway.home / path).unlink()

    def write_line(self, path, length):
        """Writes a file that is one line of this length."""
        self.write(path, "x" * length)

    def write_many(self, path, count):
        """Creates that many empty files in a directory."""
        for number in range(count):
            self.write(f"{path}/file-{number:05}", "")

    def start_telegram(self):
        self.telegram = TelegramStub().__enter__()
        return {"url": self.telegram.url, "token": TOKEN}

    def say_in_telegram(self, sender, text):
        self.telegram.says(sender, text)

    def text_in_telegram(self, part):
        """Waits for a message of the bot that contains `part`, and returns its text."""
        return self.telegram.message(part)["text"]

    def end(self):
        for held in self.held:
            held.release()
        if self.telegram:
            self.telegram.__exit__(None, None, None)
        if self.gateway:
            self.gateway.close()
        self.stub.stop()


def main():
    root = Path(tempfile.mkdtemp(prefix="agw-browser-"))
    backend = Backend(root)
    try:
        for line in sys.stdin:
            call = json.loads(line)
            try:
                response = {"result": getattr(backend, call.pop("do"))(**call)}
            except Exception:
                response = {"error": traceback.format_exc()}
            print(json.dumps(response), flush=True)
    finally:
        backend.end()
        shutil.rmtree(root, ignore_errors=True)


if __name__ == "__main__":
    main()
