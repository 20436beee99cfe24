"""agw import codex: sessions in several files, names, and what a person took back.

See docs/contract/transfer.md#agw-import.
"""

import subprocess

import pytest

from transfer import created, imported, moved, reasons, texts, threads, write_lines

AGENT = {"source": {"subagent": {"thread_spawn": {"parent_thread_id": "s1", "depth": 1}}}, "thread_source": "subagent"}


@pytest.fixture
def sessions(own_gateway):
    """Returns a function that stores rollouts by name. Each is the members of its first line, and what follows: `user: text`,
    `assistant: text`, a payload of an event, or a line."""
    def store(**rollouts):
        for name, (meta, *rest) in rollouts.items():
            lines = [{"type": "session_meta", "payload": {"id": name, "cwd": "/gone", "source": "cli", **meta}}]
            for each in rest:
                if isinstance(each, str):
                    role, text = each.split(": ")
                    kind = "input_text" if role == "user" else "output_text"
                    each = {"type": "response_item", "payload": {
                        "type": "message", "role": role, "content": [{"type": kind, "text": text}]}}
                elif "payload" not in each:
                    each = {"type": "event_msg", "payload": each}
                lines.append(each)
            first = meta.get("history_base", {}).get("end_ordinal_exclusive", 0)
            write_lines(own_gateway.home / ".codex" / "sessions" / "2026" / "01" / "02" / f"rollout-{name}.jsonl", [
                {"timestamp": f"2026-01-02T10:00:{number:02}.000Z", "ordinal": first + number, **line}
                for number, line in enumerate(lines)])
    return store


def imported_texts(gateway):
    """Imports, and returns the texts of all threads by title, without roles."""
    moved(gateway, "import", "codex")
    return {title: [text for _, text in texts(gateway, title)] for title in threads(gateway)}


def based_on(rollout, ordinal):
    return {"history_mode": "paginated",
            "history_base": {"thread_id": rollout, "end_ordinal_exclusive": ordinal, "end_byte_offset": 1}}


def compress(file, keeps=False):
    subprocess.run(["zstd", "-q", *([] if keeps else ["--rm"]), str(file)], check=True)
    return file.with_name(file.name + ".zst")


def test_compressed_sessions_are_imported_once(own_gateway, sessions):
    sessions(s1=({}, "user: Saw it.", "assistant: Sawn."), s2=({}, "user: Sand it.", "assistant: Sanded."))
    first, second = sorted((own_gateway.home / ".codex" / "sessions").rglob("*.jsonl"))
    compress(first)
    compress(second, keeps=True)  # as while the program compresses it
    assert imported_texts(own_gateway) == {"Saw it.": ["Saw it.", "Sawn."], "Sand it.": ["Sand it.", "Sanded."]}


def test_damaged_compressed_session_is_reported(own_gateway, sessions):
    sessions(s1=({}, "user: Saw it.", "assistant: Sawn."), s2=({}, "user: Sand it.", "assistant: Sanded."))
    first, _ = sorted((own_gateway.home / ".codex" / "sessions").rglob("*.jsonl"))
    packed = compress(first)
    packed.write_bytes(packed.read_bytes()[:-20])
    result = moved(own_gateway, "import", "codex")
    assert list(threads(own_gateway)) == ["Sand it."] and str(packed) in reasons(result)


def test_a_session_has_the_name_that_it_was_given_last(own_gateway, sessions):
    sessions(s1=({}, "user: Saw it."), s2=({}, "user: Sand it."))
    write_lines(own_gateway.home / ".codex" / "session_index.jsonl", [
        {"id": "s1", "thread_name": name, "updated_at": "2026-01-02T10:00:00Z"} for name in ("Boards", "Planks", "")])
    result = moved(own_gateway, "import", "codex")
    assert set(threads(own_gateway)) == {"Planks", "Sand it."}
    assert not any("session_index" in what for what in reasons(result))


def test_sessions_of_agents_are_archived_without_what_they_inherit(own_gateway, sessions):
    sessions(s1=({}, "user: Saw it.", "assistant: Sawn."),
             s2=({**AGENT, "subagent_history_start_ordinal": 3}, "user: Saw it.", "assistant: Sawn.", "user: Look at it.",
                 "assistant: Good."),
             s3=({**AGENT, **based_on("s1", 2)}, "user: And the other?"))
    assert imported_texts(own_gateway) == {"Saw it.": ["Saw it.", "Sawn."], "Look at it.": ["Look at it.", "Good."],
                                           "And the other?": ["And the other?"]}
    assert [title for title, thread in threads(own_gateway).items() if not thread["archived"]] == ["Saw it."]


def test_what_was_taken_back_becomes_a_fork(own_gateway, sessions):
    command = "<user_shell_command>\n<command>\nls\n</command>\n</user_shell_command>"
    typed = {"type": "response_item", "payload": {
        "type": "message", "role": "user", "content": [{"type": "input_text", "text": command}]}}
    sessions(s1=({}, "user: Saw it.", "assistant: Sawn.", "user: Paint it.", "assistant: Red.", typed, "user: No, blue.",
                 "assistant: Blue.", {"type": "thread_rolled_back", "num_turns": 2}, "user: Sand it.", "assistant: Sanded."))
    assert imported_texts(own_gateway) == {
        "Saw it.": ["Saw it.", "Sawn.", "Sand it.", "Sanded."],
        "Saw it. (fork 1)": ["Paint it.", "Red.", "!ls", "No, blue.", "Blue."]}
    assert created(moved(own_gateway, "import", "codex")) == {}


def test_a_fork_has_what_it_refers_to(own_gateway, sessions):
    sessions(s1=({}, "user: Saw it.", "assistant: Sawn.", "user: Paint it."),
             s2=(based_on("s1", 3), "user: Sand it.", "assistant: Sanded.", "user: Oil it."),
             s3=(based_on("s2", 6), "user: Wax it."))
    write_lines(own_gateway.home / ".codex" / "session_index.jsonl",
                [{"id": name, "thread_name": name} for name in ("s1", "s2", "s3")])
    assert imported_texts(own_gateway) == {"s1": ["Saw it.", "Sawn.", "Paint it."],
                                           "s2": ["Saw it.", "Sawn.", "Sand it.", "Sanded.", "Oil it."],
                                           "s3": ["Saw it.", "Sawn.", "Sand it.", "Sanded.", "Wax it."]}
    assert created(moved(own_gateway, "import", "codex")) == {}


def test_the_files_of_one_session_become_one_thread(own_gateway, sessions):
    """The third one continues the first one before its last question, so what the second one has was taken back."""
    sessions(s1=({}, "user: Saw it.", "assistant: Sawn.", "user: Paint it."),
             s1_r2=({**based_on("s1", 4), "id": "s1"}, "assistant: Red.", "user: And the other?"),
             s1_r3=({**based_on("s1", 3), "id": "s1"}, "user: Sand it.", "assistant: Sanded."))
    assert imported_texts(own_gateway) == {"Saw it.": ["Saw it.", "Sawn.", "Sand it.", "Sanded."],
                                           "Saw it. (fork 1)": ["Paint it.", "Red.", "And the other?"]}
    assert created(moved(own_gateway, "import", "codex")) == {}


def test_a_session_that_went_on_in_another_file_goes_on(own_gateway, sessions):
    sessions(s1=({}, "user: Saw it.", "assistant: Sawn."))
    imported_texts(own_gateway)
    sessions(s1_r2=({**based_on("s1", 3), "id": "s1"}, "user: Sand it.", "assistant: Sanded."))
    assert imported_texts(own_gateway) == {"Saw it.": ["Saw it.", "Sawn.", "Sand it.", "Sanded."]}


@pytest.mark.parametrize("base", ["gone", "s1"], ids=["missing", "itself"])
def test_a_beginning_that_cannot_be_found_is_reported(own_gateway, sessions, base):
    sessions(s1=(based_on(base, 4), "user: Sand it.", "assistant: Sanded."))
    result = imported(own_gateway, "codex", own_gateway.home / ".codex")
    [why] = [why for what, why in reasons(result).items() if what.startswith("the beginning of")]
    assert why == f"is in a file that is not there: {base}"
    assert texts(own_gateway, "Sand it.") == [("user", "Sand it."), ("assistant", "Sanded.")]
