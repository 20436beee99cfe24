"""The command or the gateway is killed at each step of an import. Repeating the import gives the same result.

See docs/contract/transfer.md.
"""

import os
import random
import shutil
import signal
import subprocess

import pytest

from checks import accepted
from gateway import BINARY
from kill_steps import Steps
from transfer import ChatGPT, created, imported, program, threads, transcript_of, write_lines, write_zip

UNFINISHED = ".agw-"  # prefix of the names of partially written files
SAMPLES = int(os.environ.get("AGW_IMPORT_STEPS", 4))  # 0 means every step


def chatgpt(folder):
    chats = [ChatGPT(f"Chat {number}", f"c{number}") for number in range(3)]
    for chat in chats:
        question = chat.say("user", "Hello")
        chat.say("assistant", "One.")
        chat.say("assistant", "Two.", parent=question)
        chat.say("user", "See", metadata={"attachments": [{"id": "file-a1", "name": "a.txt"}]})
    return write_zip(folder / "export.zip", conversations_json=[chat.conversation for chat in chats],
                     **{"file-a1-a.txt": "the text"})


def claude(folder):
    messages = [{"uuid": f"m{number}", "sender": sender, "text": f"Text {number}", "created_at": "2024-05-01T10:00:00Z",
                 "attachments": [{"file_name": "a.txt", "extracted_content": "the text"}], "files": []}
                for number, sender in enumerate(("human", "assistant", "human"))]
    project = {"uuid": "p", "name": "Garden", "prompt_template": "Be green.", "docs": [{"filename": "a.md", "content": "Soil"}]}
    return write_zip(folder / "export.zip", projects_json=[project], conversations_json=[
        {"uuid": "k", "name": "Plan", "created_at": "2024-05-01T10:00:00Z", "updated_at": "2024-05-01T10:00:00Z",
         "chat_messages": messages}])


def own_export(folder):
    thread, turn, file = (f"01890000-0000-7000-8000-00000000000{number}" for number in (1, 2, 3))
    texts = {
        f"files/{file}": "the text",
        "extensions/guide/agent.yaml": "type: agent\nname: guide\ndescription: Guides\ndefinition: {systemPrompt: Be kind.}\n",
        "extensions/guide/soul.md": "I am calm.", "extensions/guide/skills/lift/SKILL.md": "Heave.",
        "extensions/nightly/job.yaml": "type: job\ndescription: ''\ndefinition: {agent_id: guide, prompt: Go.}\n",
        "extensions/dusk.yaml": "type: theme\nname: dusk\ndescription: ''\ndefinition: {colors: {text: '#000'}}\n",
        "data/agents/assistant/knowledge/tea.md": "# Tea"}
    for name, text in texts.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)
    attached = {"id": file, "name": "a.txt", "mime": "text/plain", "size": 8}
    write_lines(folder / "threads.jsonl", [
        {"record": "export", "format": 1},
        {"record": "thread", "id": thread, "title": "T", "agent": "guide", "job": "nightly", "pinned": True},
        {"record": "turn", "thread_id": thread, "id": turn, "role": "user", "content": "See", "metadata": {"attachments": [attached]},
         "created_at": "2024-01-01T00:00:00.000Z"}])
    return folder


SOURCES = {
    "agent-gateway": own_export,
    "chatgpt": chatgpt,
    "claude": claude,
    "claude-code": lambda folder: program("claude-code", folder) / ".claude",
    "codex": lambda folder: program("codex", folder) / ".codex",
    "hermes": lambda folder: program("hermes", folder),
    "openclaw": lambda folder: program("openclaw", folder) / ".openclaw",
    "opencode": lambda folder: program("opencode", folder) / ".config" / "opencode",
}


def started_import(gateway, source_name, path, environment):
    variables = {name: value for name, value in gateway.variables().items() if name not in ("LD_PRELOAD", "KILL_STEPS")}
    return subprocess.Popen([str(BINARY), "import", source_name, str(path)], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                            cwd=gateway.home, env={**variables, **environment})


def imported_data(gateway):
    """Returns everything that an import creates, without the ids and times that each gateway assigns."""
    extensions = {one["name"]: (one["type"], one["enabled"], one["definition"])
                  for one in accepted(gateway.http.get("/extensions")) if one["source"] != "built-in"}
    conversations = {one["id"]: (one["title"], one.get("pinned"), [(turn["id"], turn["content"], turn["metadata"], turn["created_at"])
                                                for turn in transcript_of(gateway, one["id"])])
                     for one in threads(gateway).values()}
    files = {str(path.relative_to(gateway.data)): path.read_bytes() for folder in ("agents", "attachments")
             for path in (gateway.data / folder).rglob("*")
             if path.is_file() and path.name != "agent.yaml" and not path.name.startswith(UNFINISHED)}
    return extensions, conversations, files


@pytest.mark.slow
@pytest.mark.parametrize("victim", ["the command", "the gateway"])
@pytest.mark.parametrize("source_name", SOURCES)
def test_import_repeated_after_a_kill_creates_the_same_data(make_gateway, kill_at, tmp_path, source_name, victim):
    (tmp_path / "source").mkdir()
    source, steps = SOURCES[source_name](tmp_path / "source"), Steps(kill_at, tmp_path)
    is_gateway = victim == "the gateway"

    def started_gateway():
        gateway = make_gateway()
        if is_gateway:
            gateway.environment.update(steps.environment)
        return gateway.start()

    def import_and_kill_at(gateway, step):
        """Imports, kills the victim at the step unless that is 0, and returns the number of steps that it took."""
        before = steps.count
        steps.arm(step)
        process = started_import(gateway, source_name, source, {} if is_gateway else steps.environment)
        status = process.wait()
        if is_gateway and steps.disarm(gateway.process):
            assert gateway.wait() == -signal.SIGKILL, gateway.stderr
        steps.arm(0)
        assert step or status == 0
        return steps.count - before

    undisturbed = started_gateway()
    all_steps = range(1, import_and_kill_at(undisturbed, 0) + 1)
    expected_data = imported_data(undisturbed)
    undisturbed.close()
    rng = random.Random(len(all_steps))
    for step in sorted(rng.sample(all_steps, SAMPLES)) if 0 < SAMPLES < len(all_steps) else all_steps:
        gateway = started_gateway()
        import_and_kill_at(gateway, step)
        if not gateway.running:
            gateway.restart()
        assert started_import(gateway, source_name, source, {}).wait() == 0, gateway.stderr
        assert imported_data(gateway) == expected_data, f"killed at step {step} of {len(all_steps)}"
        assert created(imported(gateway, source_name, source)) == {}
        gateway.close()
        shutil.rmtree(gateway.root, ignore_errors=True)
