"""A gateway whose model is a stub: tests choose its answers and look at its requests."""

from checks import accepted

PROVIDER = "stub"
MODEL = f"{PROVIDER}/talker-1"


def configuration(stub):
    """The config.yaml of a gateway whose only provider is the stub, as an OpenAI-compatible server."""
    return {"providers": {PROVIDER: {"kind": "openai", "base_url": stub.openai_url, "default_model": "talker-1"}}}


class Talker:
    def __init__(self, gateway, stub):
        self.gateway = gateway
        self.stub = stub
        self.provider = PROVIDER
        self.model = MODEL

    def holds(self, *pieces):
        """Answers the next question with these pieces and holds the rest back until `release`."""
        return self.stub.hold(*pieces)

    def answers(self, *pieces):
        """Answers the next question with these pieces."""
        self.stub.hold(*pieces).release()

    def says(self, thread, content, *, answer, **members):
        """Sends a message and waits until it is answered. Returns the user turn."""
        self.answers(answer)
        with self.gateway.events(thread["id"]) as events:
            body = {"content": content, "threadId": thread["id"], **members}
            turn = accepted(self.gateway.http.post("/chat", json=body), 201)
            run = events.run(turn["id"])
        assert run[-1]["type"] == "finish" and run[-1]["finishReason"] == "stop", run
        return turn

    # The last request to the model.

    def conversation(self):
        """Role and text of each message except the system's."""
        return [(message["role"], text_of(message)) for message in self._told() if message["role"] != "system"]

    def system(self):
        return "\n".join(text_of(message) for message in self._told() if message["role"] == "system")

    def asked_model(self):
        return self.stub.requests[-1].json["model"]

    def request_count(self):
        return len(self.stub.requests)

    def _told(self):
        return self.stub.requests[-1].json["messages"]


def text_of(message):
    """The content is a text or a list of parts."""
    content = message["content"]
    return content if isinstance(content, str) else "".join(part.get("text", "") for part in content)
