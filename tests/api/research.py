"""An agent with a stubbed model, a file for it to improve, and a metric of that file."""

from checks import accepted
from tools import new_agent

COUNT_WORDS = 'echo "some noise"\necho "METRIC quality=$(wc -w < "$1")"\n'
OLD, BETTER, WORSE = "one two\n", "one two three\n", "one\n"


class Research:
    """An agent on the talker's gateway and the file that it improves."""

    def __init__(self, talker, new_name, stage="trusted"):
        self.talker, self.gateway = talker, talker.gateway
        self.agent = new_agent(self.gateway, new_name("researcher"), stage=stage)
        self.domain = f"agent:{self.agent['name']}"
        self.folder = self.gateway.home / new_name("research")
        self.folder.mkdir()
        self.asset = self.file("asset.md", OLD)
        self.config = {"domain": self.domain, "asset_path": str(self.asset)}

    def file(self, name, text):
        path = self.folder / name
        path.write_text(text)
        return path

    def measured_by(self, script=COUNT_WORDS, name="benchmark.sh"):
        self.config["benchmark_path"] = str(self.file(name, script))
        return self

    def checked_by(self, script):
        self.config["checks_path"] = str(self.file("checks.sh", script))
        return self

    def scored_by(self, text):
        self.config["rubric_path"] = str(self.file("rubric.md", text))
        return self

    def post(self, **members):
        return self.gateway.http.post("/autoresearch/run", json={**self.config, **members})

    def iterate(self, *replies):
        """Runs an iteration in which the model gives these replies, and returns its experiment."""
        self.talker.stub.script(*replies)
        with self.gateway.events() as events:
            started = accepted(self.post(), 202)
            experiment = self.until_ended(events)
        assert {step["iterationId"] for step in self.steps} == {started["iterationId"]}
        return experiment

    def until_ended(self, events):
        """Waits for the end of the active iteration and returns its experiment."""
        def is_own(event):
            return event["type"] == "iteration-step" and event["domain"] == self.config["domain"]

        seen = events.until(lambda event: is_own(event) and event["step"] == "ended")
        self.steps = [event for event in seen if is_own(event)]
        return self.steps[-1]["experiment"]

    def in_a_project(self, new_name):
        """Turns the folder into a project."""
        accepted(self.gateway.http.post("/projects", json={"name": new_name("project"), "path": str(self.folder)}), 201)
        return self

    def experiments(self):
        return accepted(self.gateway.http.get("/autoresearch/experiments", params={"domain": self.domain}))
