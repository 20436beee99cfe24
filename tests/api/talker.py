"""A gateway whose model is a stub: tests script its answers and inspect its requests."""

from checks import accepted

PROVIDER = "stub"
MODEL = f"{PROVIDER}/talker-1"


def configuration(stub):
    """Returns the config.yaml of a gateway whose only provider is the stub, as an OpenAI-compatible server."""
    return {"providers": {PROVIDER: {"kind": "openai", "base_url": stub.openai_url, "default_model": "talker-1"}}}


class Talker:
    def __init__(self, gateway, stub):
        self.gateway = gateway
        self.stub = stub
        self.provider = PROVIDER
        self.model = MODEL

    def holds(self, *pieces):
        """Answers the next request with these pieces and pauses before the end until `release`."""
        return self.stub.hold(*pieces)

    def answers(self, *pieces):
        """Answers the next request with these pieces."""
        self.stub.hold(*pieces).release()

    def says(self, thread, content, *, answer, **members):
        """Sends a message and waits for the end of the answer. Returns the user's turn."""
        self.answers(answer)
        with self.gateway.events(thread["id"]) as events:
            body = {"content": content, "threadId": thread["id"], **members}
            turn = accepted(self.gateway.http.post("/chat", json=body), 201)
            run = events.run(turn["id"])
        assert run[-1]["type"] == "finish" and run[-1]["finishReason"] == "stop", run
        return turn

    # The last request to the model.

    def conversation(self):
        """Returns role and text of each message except system messages."""
        return [(message["role"], text_of(message)) for message in self._messages() if message["role"] != "system"]

    def system(self):
        return "\n".join(text_of(message) for message in self._messages() if message["role"] == "system")

    def asked_model(self):
        return self.stub.requests[-1].json["model"]

    def request_count(self):
        return len(self.stub.requests)

    def _messages(self):
        return self.stub.requests[-1].json["messages"]


def text_of(message):
    """Returns the text of a message, whose content is a string or a list of parts."""
    content = message["content"]
    return content if isinstance(content, str) else "".join(part.get("text", "") for part in content)
