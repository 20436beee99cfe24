"""Iterations of autoresearch: measure, change, check, measure again, keep or restore.

See docs/contract/proposals.md#iterations.
"""

import pytest

from checks import accepted, is_id, refused
from extensions import toggle
from research import BETTER, COUNT_WORDS, OLD, WORSE, Research
from proposals import apply, show
from stubs.provider import Fault, Reply
from talker import MODEL, Talker, configuration
from tools import calls

@pytest.fixture
def research(talker, new_name):
    return Research(talker, new_name)


# Requests.


def test_iteration_starts_in_the_background(research):
    research.measured_by()
    research.talker.answers(BETTER)
    with research.gateway.events() as events:
        started = accepted(research.post(), 202)
        assert set(started) == {"status", "iterationId", "domain"} and is_id(started["iterationId"])
        assert (started["status"], started["domain"]) == ("started", research.domain)
        research.until_ended(events)


@pytest.mark.parametrize("body", [
    {}, {"domain": "d"}, {"asset_path": "/x"}, {"domain": 1, "asset_path": "/x"}, {"domain": "", "asset_path": "/x"},
    {"domain": "d", "asset_path": []}, {"domain": "d", "asset_path": "relative.md"},
    {"domain": "d", "asset_path": "/x", "benchmark_path": 1}, {"domain": "d", "asset_path": "/x", "checks_path": {}},
    {"domain": "d", "asset_path": "/x", "rubric_path": True}, {"domain": "a\nb", "asset_path": "/x"},
    {"domain": "a\x1b[2J", "asset_path": "/x"}, {"domain": "\x00", "asset_path": "/x"},
    {"domain": "d" * 201, "asset_path": "/x"}])
def test_invalid_config_is_refused_with_details(gateway, body):
    details = refused(gateway.http.post("/autoresearch/run", json=body), 400, "invalid domain config")["details"]
    assert details and all(set(detail) == {"path", "message"} for detail in details)


def test_body_is_required(gateway):
    refused(gateway.http.post("/autoresearch/run"), 400, "Request body required")
    refused(gateway.http.post("/autoresearch/run", content=b"{"), 400, "Invalid JSON")
    refused(gateway.http.post("/autoresearch/run", json=[]), 400, "Request body must be an object")


@pytest.mark.parametrize("member", ["asset_path", "benchmark_path", "checks_path", "rubric_path"])
def test_every_path_must_be_in_home(research, member):
    (research.folder / "out").symlink_to("/etc")
    for path in ("/etc/passwd", "/", f"{research.folder}/../../../../etc/passwd", f"{research.folder}/out/passwd"):
        refused(research.post(**{member: path}), 400, f"path must be within home directory: {path}")
    if member != "asset_path":
        refused(research.post(**{member: "relative.sh"}), 400, "path must be within home directory: relative.sh")


@pytest.mark.parametrize("path", [".ssh/id_rsa", "keys/server.pem", ".agent-gateway/.gateway-token",
                                  ".agent-gateway/config.yaml", ".agent-gateway/gateway.db"])
def test_private_files_are_not_shown_to_a_model(research, path):
    for member in ("asset_path", "rubric_path"):
        refused(research.post(**{member: str(research.gateway.home / path)}), 403, "permission denied")


# Outcomes of a change.


def test_work_of_the_agent_is_in_an_archived_thread(research):
    research.measured_by().iterate(BETTER)
    path, query = "/threads", {"agent_id": research.agent["id"]}
    assert accepted(research.gateway.http.get(path, params=query)) == []
    [thread] = accepted(research.gateway.http.get(path, params={**query, "archived": "true"}))
    assert thread["title"] == f"Research: {research.domain}" and thread["turn_count"] == 2


def test_better_text_is_kept(research):
    research.measured_by()
    row = research.iterate(BETTER)
    assert research.asset.read_text() == BETTER
    assert {key: row[key] for key in ("domain", "verdict", "metric", "value", "baseline", "delta", "proposal",
                                      "higher_is_better")} == {
        "domain": research.domain, "verdict": "keep", "metric": "quality", "value": 3, "baseline": 2, "delta": 1,
        "proposal": None, "higher_is_better": True}
    assert is_id(row["iteration_id"]) and row["duration_ms"] > 0 and row["cost_usd"] is not None
    assert research.experiments() == [row]


def test_prompt_has_the_asset_the_metric_the_rubric_and_the_history(research):
    research.measured_by().scored_by("More words are better.")
    research.iterate(WORSE)
    research.iterate(BETTER)
    prompt = research.talker.conversation()[-1][1]
    assert str(research.asset) in prompt and OLD in prompt and "quality" in prompt and "More words are better." in prompt
    assert "discard: not better: quality went from 2 to 1" in prompt


@pytest.mark.parametrize("answer", [WORSE, "two one"])
def test_text_that_is_not_better_is_restored(research, answer):
    research.measured_by()
    research.asset.chmod(0o640)
    row = research.iterate(answer)
    assert row["verdict"] == "discard" and row["value"] == len(answer.split()) and row["baseline"] == 2
    assert research.asset.read_text() == OLD and research.asset.stat().st_mode & 0o777 == 0o640


def test_lower_can_be_better_and_units_are_kept(research):
    research.measured_by('echo "METRIC size=$(wc -w < "$ASSET_PATH")words better=lower"\n')
    row = research.iterate(WORSE)
    assert (row["verdict"], row["metric"], row["unit"], row["higher_is_better"]) == ("keep", "size", "words", False)
    assert row["delta"] == -1 and research.asset.read_text() == WORSE


def test_fenced_answer_is_the_text_between_the_fences(research):
    research.measured_by()
    research.iterate("```markdown\none two three\n```\n")
    assert research.asset.read_text() == BETTER


def test_unchanged_text_is_measured_again_and_discarded(research):
    research.measured_by()
    row = research.iterate(OLD)
    assert row["verdict"] == "discard" and "changed nothing" in row["reason"]
    assert (row["value"], row["baseline"], row["delta"]) == (2, 2, 0)


def test_answer_that_repeats_itself_counts_as_equal_values(research):
    research.measured_by()
    verdicts = [research.iterate(BETTER)["verdict"] for _ in range(3)]
    assert verdicts == ["keep", "discard", "discard"]
    params = {"domain": research.config["domain"]}
    found = accepted(research.gateway.http.get("/autoresearch/confidence", params=params))
    assert found["confidence"] == {"confidence": 9999, "sampleSize": 3, "mad": 0}
    assert found["consecutiveDiscards"] == 2


def test_failing_checks_discard_the_change(research):
    research.measured_by().checked_by('! grep -q three "$1" || { echo "no three!"; exit 1; }\n')
    row = research.iterate(BETTER)
    assert row["verdict"] == "discard" and "no three!" in row["reason"] and research.asset.read_text() == OLD
    assert [step["step"] for step in research.steps] == ["measure", "change", "check", "ended"]


def test_passing_checks_keep_the_change(research):
    research.measured_by().checked_by("exit 0\n")
    assert research.iterate(BETTER)["verdict"] == "keep"
    assert [step["step"] for step in research.steps] == ["measure", "change", "check", "measure-again", "decide", "ended"]


def test_missing_checks_discard_the_change(research):
    research.measured_by().checked_by("exit 0\n")
    (research.folder / "checks.sh").unlink()
    row = research.iterate(BETTER)
    assert row["verdict"] == "discard" and "there is no" in row["reason"] and research.asset.read_text() == OLD


@pytest.mark.parametrize("script, why", [
    ("exit 3\n", "exit status 3"), ("echo hello\n", "no line METRIC"), ('echo "METRIC quality=NaN"\n', "is no number"),
    ('echo "METRIC quality=inf"\n', "is no number"), ('echo "METRIC quality=1e999"\n', "is no number"),
    ("yes noise | head -1000000\n", "no line METRIC"), ("", "no line METRIC"), ("kill -9 $$\n", "exit status 137")])
def test_benchmark_without_a_metric_is_a_crash(research, script, why):
    row = research.measured_by(script).iterate()
    assert row["verdict"] == "crash" and row["value"] is None and why in row["reason"]
    assert research.asset.read_text() == OLD


def test_crash_after_the_change_restores_the_asset(research):
    research.measured_by('grep -q three "$1" && exit 9\necho "METRIC quality=1"\n')
    row = research.iterate(BETTER)
    assert (row["verdict"], row["value"], row["baseline"]) == ("crash", None, 1) and "exit status 9" in row["reason"]
    assert research.asset.read_text() == OLD


def test_metric_among_a_million_lines_is_found(research):
    research.measured_by('yes noise | head -500000\necho "METRIC quality=$(wc -w < "$1")"\nyes noise | head -500000\n')
    assert research.iterate(BETTER)["verdict"] == "keep"


def test_executable_benchmark_is_run_directly(research):
    research.measured_by("#!/usr/bin/env python3\nimport sys\nprint('METRIC quality=%d' % len(open(sys.argv[1]).read()))\n",
                    name="benchmark")
    (research.folder / "benchmark").chmod(0o755)
    assert research.iterate(BETTER)["verdict"] == "keep"


@pytest.mark.parametrize("missing", ["asset_path", "benchmark_path"])
def test_missing_files_are_a_crash(research, missing):
    research.measured_by()
    research.config[missing] = str(research.folder / "nothing")
    assert research.iterate()["verdict"] == "crash"


def test_binary_asset_is_a_crash(research):
    research.measured_by()
    for content in (b"\xff\xfe", b"x" * (2 << 20)):
        research.asset.write_bytes(content)
        assert research.iterate()["verdict"] == "crash" and research.asset.read_bytes() == content


def test_missing_benchmark_and_rubric_are_a_crash(research):
    row = research.iterate()
    assert row["verdict"] == "crash" and "benchmark_path" in row["reason"]


def test_failing_model_is_a_crash(research):
    row = research.measured_by().iterate(Fault(400))
    assert row["verdict"] == "crash" and research.asset.read_text() == OLD


def test_benchmark_reaches_neither_the_network_nor_the_token(research):
    research.measured_by(f'cat "{research.gateway.data}/.gateway-token" && exit 1\n'
                    f'python3 -c "import socket; socket.create_connection((\'127.0.0.1\', {research.gateway.port}), 2)" '
                    f'&& exit 2\n{COUNT_WORDS}')
    assert research.iterate(BETTER)["verdict"] == "keep"


# Scored by a rubric.


def test_without_a_benchmark_the_model_scores_by_the_rubric(research):
    research.scored_by("Praise is good.")
    row = research.iterate("0.25", "Well done!\n", Reply('{"score": 0.75}'))
    assert (row["metric"], row["baseline"], row["value"], row["verdict"]) == ("quality", 0.25, 0.75, "keep")
    messages = research.talker.stub.requests[0].json["messages"]
    assert "Praise is good." in str(messages) and "one two" in str(messages)


@pytest.mark.parametrize("answer", ["excellent", "7", "-1", ""])
def test_invalid_score_is_a_crash(research, answer):
    row = research.scored_by("Praise is good.").iterate(answer or Reply(text="", deltas=0))
    assert row["verdict"] == "crash" and row["value"] is None


# Agents whose improvements become proposals.


@pytest.mark.parametrize("stage", ["apprentice", "operator"])
def test_improvement_by_an_agent_below_trusted_is_staged(talker, new_name, stage):
    research = Research(talker, new_name, stage)
    soul = research.gateway.data / "agents" / research.agent["name"] / "soul.md"
    soul.write_text(OLD)
    research.config["asset_path"] = str(soul)
    row = research.measured_by().iterate(BETTER)
    assert (row["verdict"], row["value"], row["delta"]) == ("keep", 3, 1) and soul.read_text() == OLD
    proposal = show(research.gateway, f"/proposals/{row['proposal']}")
    assert (proposal["type"], proposal["content"], proposal["status"]) == ("soul", BETTER, "pending")
    assert proposal["current_content"] == OLD and proposal["target_changed"] is False

    accepted(apply(research.gateway, f"/proposals/{row['proposal']}"))
    assert soul.read_text() == BETTER
    decision, measured = research.experiments()
    assert measured == row and (decision["metric"], decision["value"]) == (None, None)
    found = accepted(research.gateway.http.get("/autoresearch/confidence", params={"domain": research.domain}))
    assert found["confidence"]["sampleSize"] == 1


def test_improvement_is_staged_anywhere_in_home(talker, new_name):
    research = Research(talker, new_name, "apprentice")
    row = research.measured_by().iterate(BETTER)
    assert row["verdict"] == "keep" and research.asset.read_text() == OLD
    path = f"/proposals/{row['proposal']}"
    assert (show(research.gateway, path)["content"], show(research.gateway, path)["target"]) == (BETTER, str(research.asset))
    refused(apply(research.gateway, path), 403, "path outside home directory")
    research.in_a_project(new_name)
    accepted(apply(research.gateway, path))
    assert research.asset.read_text() == BETTER


def test_confidence_grows_with_measurements(research):
    research.measured_by()
    for words in (3, 4, 1, 9):
        research.iterate("word " * words)
    found = accepted(research.gateway.http.get("/autoresearch/confidence", params={"domain": research.domain}))
    assert found["confidence"] == {"confidence": 4, "sampleSize": 4, "mad": 1.5} and found["consecutiveDiscards"] == 0


def test_agent_may_use_tools_before_answering(research):
    research.measured_by()
    row = research.iterate(calls(("SearchTurns", {"query": "words"}), text="Let me look."), BETTER)
    assert row["verdict"] == "keep" and research.asset.read_text() == BETTER


@pytest.mark.parametrize("stage, tool, why", [
    ("trusted", "Remember", "text"), ("apprentice", "Bash", "permission denied"),
    ("trusted", "Rewrite", "there is no tool Rewrite")])
def test_answer_after_a_failed_change_is_not_taken_for_the_new_text(talker, new_name, stage, tool, why):
    research = Research(talker, new_name, stage).measured_by()
    inputs = {"Bash": {"command": "echo three >> asset.md"}}
    input = inputs.get(tool, {"path": str(research.asset), "content": BETTER})
    row = research.iterate(calls((tool, input)), "I made the file better.")
    assert (row["verdict"], row["value"], row["proposal"]) == ("crash", None, None)
    assert tool in row["reason"] and why in row["reason"] and research.asset.read_text() == OLD
    assert row["notes"] == "I made the file better."


def test_notes_are_truncated_between_characters(research):
    research.measured_by()
    notes = [research.iterate(text)["notes"] for text in ("ü" * 400, "a" + "ü" * 400)]
    assert all(text.startswith("by a new text: ") and text.endswith("ü…") for text in notes)


def test_prompt_says_whether_tools_can_change_the_file(research):
    research.measured_by()
    research.iterate(calls(("Write", {"path": str(research.asset), "content": "one two three four\n"})), "A word more.")
    assert "Change the file with your tools" in str(research.talker.stub.requests[-1].json["messages"])
    assert research.asset.read_text() == "one two three four\n"
    definition = {"mode": "act", "tools": ["Read"]}
    accepted(research.gateway.http.patch(f"/extensions/{research.agent['id']}", json={"definition": definition}))
    research.iterate(BETTER)
    assert "Write and Edit cannot change this file" in research.talker.conversation()[-1][1]


def test_disabled_agent_can_run_iterations(research):
    research.measured_by()
    accepted(toggle(research.gateway, research.agent))
    assert research.iterate(BETTER)["verdict"] == "keep"


def test_agent_may_change_the_asset_with_its_tools(research):
    notes = research.gateway.data / "agents" / research.agent["name"] / "notes.md"
    notes.write_text(OLD)
    research.config["asset_path"] = str(notes)
    research.measured_by()
    row = research.iterate(calls(("Remember", {"text": "three more words"})), "I have added what was missing.")
    assert row["verdict"] == "keep" and row["value"] > row["baseline"] == 2
    assert "three more words" in notes.read_text() and "added what was missing" in row["notes"]

    research.measured_by('echo "METRIC quality=1"\n')
    before = notes.read_text()
    row = research.iterate(calls(("Remember", {"text": "something useless"})), "Done.")
    assert row["verdict"] == "discard" and notes.read_text() == before


# Concurrent edits of the asset.


@pytest.mark.parametrize("answer", [BETTER, OLD])
def test_manual_edit_during_the_iteration_is_kept(research, answer):
    research.measured_by()
    held = research.talker.holds(answer[:4])
    with research.gateway.events() as events:
        accepted(research.post(), 202)
        assert held.was_asked()
        research.asset.write_text("by hand\n")
        held.release(answer[4:])
        row = research.until_ended(events)
    assert research.asset.read_text() == "by hand\n"
    assert (row["verdict"], row["value"]) == ("crash", None) and "somebody else changed the file" in row["reason"]


@pytest.mark.parametrize("stage", ["trusted", "apprentice"])
@pytest.mark.parametrize("answer", ["one two three four\n", "three\n"])
def test_soul_written_during_the_measurement_is_kept(talker, new_name, stage, answer):
    research = Research(talker, new_name, stage)
    soul = f"/agents/{research.agent['name']}/soul"
    accepted(research.gateway.http.put(soul, json={"content": OLD}))
    research.config["asset_path"] = str(research.gateway.data / "agents" / research.agent["name"] / "soul.md")
    research.measured_by(f'grep -q three "$1" && until [ -e go ]; do sleep 0.02; done\n{COUNT_WORDS}')
    research.talker.answers(answer)
    with research.gateway.events() as events:
        accepted(research.post(), 202)
        events.until(lambda event: event.get("step") == "measure-again")
        accepted(research.gateway.http.put(soul, json={"content": "I am as I was put.\n"}))
        research.file("go", "")
        row = research.until_ended(events)
    assert accepted(research.gateway.http.get(soul))["content"] == "I am as I was put.\n"
    assert (row["verdict"], row["value"], row["proposal"]) == ("crash", None, None)
    assert "somebody else changed the file" in row["reason"] and research.experiments() == [row]


def test_restored_asset_leaves_the_change_in_the_trash(research):
    notes = research.gateway.data / "agents" / research.agent["name"] / "notes.md"
    notes.write_text(OLD)
    research.config["asset_path"] = str(notes)
    row = research.measured_by('echo "METRIC quality=1"\n').iterate(calls(("Remember", {"text": "of no use"})), "Done.")
    assert row["verdict"] == "discard" and notes.read_text() == OLD
    assert "of no use" in (research.gateway.data / "trash" / f"asset-{row['iteration_id']}").read_text()


def test_failed_restore_is_reported_and_repeated_at_the_next_start(own_talker, new_name):
    research = Research(own_talker, new_name)
    directory = research.folder / "place"
    directory.mkdir()
    asset = directory / "asset.md"
    asset.write_text(OLD)
    research.config["asset_path"] = str(asset)
    research.measured_by()
    held = research.talker.holds("one two")
    with research.gateway.events() as events:
        accepted(research.post(), 202)
        assert held.was_asked()
        asset.unlink()
        directory.rmdir()
        directory.write_text("a file where the directory was")
        held.release(" three")
        row = research.until_ended(events)
    assert row["verdict"] == "crash" and "could not be put back" in row["reason"] and research.experiments() == [row]
    directory.unlink()
    research.gateway.restart()
    assert asset.read_text() == OLD and research.experiments() == [row]


# Interrupted iterations.


@pytest.fixture
def hanging_research(own_talker, new_name):
    """An iteration that hangs in the benchmark of the changed asset."""
    research = Research(own_talker, new_name)
    research.measured_by('grep -q three "$1" && sleep 600\necho "METRIC quality=2"\n')
    own_talker.answers(BETTER)
    with research.gateway.events() as events:
        accepted(research.post(), 202)
        events.until(lambda event: event.get("step") == "measure-again")
    assert research.asset.read_text() == BETTER
    return research


def test_stop_restores_the_asset(hanging_research):
    assert hanging_research.gateway.stop() == 0
    assert hanging_research.asset.read_text() == OLD
    hanging_research.gateway.start()
    [row] = hanging_research.experiments()
    assert (row["verdict"], row["value"]) == ("crash", None)


def test_start_after_a_kill_restores_the_asset(hanging_research):
    hanging_research.gateway.kill()
    assert hanging_research.asset.read_text() == BETTER
    hanging_research.gateway.start()
    assert hanging_research.asset.read_text() == OLD
    [row] = hanging_research.experiments()
    assert row["verdict"] == "crash" and row["value"] is None and "interrupted" in row["reason"]
    hanging_research.gateway.restart()
    assert len(hanging_research.experiments()) == 1


def test_thread_of_a_killed_iteration_is_archived_by_the_next_start(hanging_research):
    gateway = hanging_research.gateway
    title = f"Research: {hanging_research.domain}"
    assert [row["archived"] for row in accepted(gateway.http.get("/threads")) if row["title"] == title] == [False]
    gateway.kill()
    gateway.start()
    threads = accepted(gateway.http.get("/threads", params={"archived": "true"}))
    assert [row["archived"] for row in threads if row["title"] == title] == [True]


def test_text_written_after_a_kill_is_not_lost(hanging_research):
    hanging_research.gateway.kill()
    hanging_research.asset.write_text("by hand\n")
    hanging_research.gateway.start()
    assert hanging_research.asset.read_text() == OLD
    [kept] = (hanging_research.gateway.data / "trash").glob("asset-*")
    assert kept.read_text() == "by hand\n"


def test_cost_of_a_score_survives_a_kill(own_talker, new_name):
    research = Research(own_talker, new_name)
    research.scored_by("Praise is good.")
    research.talker.answers("0.25")
    held = research.talker.holds("Well")
    accepted(research.post(), 202)
    assert held.was_asked()
    research.gateway.kill()
    held.release(" done!")
    research.gateway.start()
    assert research.talker.model in accepted(research.gateway.http.get("/costs"))["unpriced"]


def test_killed_iteration_has_the_cost_of_its_thread(make_gateway, stub, new_name):
    gateway = make_gateway(config=configuration(stub))
    (gateway.data / "prices.yaml").write_text(f"{MODEL}: {{input: 100000, output: 50000}}\n")
    research = Research(Talker(gateway.start(), stub), new_name)
    research.scored_by("Praise is good.")
    # A score and the first step of the agent, with 10 input and 5 output tokens each; its second step does not end.
    stub.script(Reply("0.25"), calls(("Read", {"path": str(research.asset)})))
    held = research.talker.holds("Well")
    accepted(research.post(), 202)
    assert held.was_asked()
    gateway.kill()
    held.release(" done!")
    gateway.start()
    [row] = research.experiments()
    assert row["verdict"] == "crash" and row["cost_usd"] == accepted(gateway.http.get("/costs"))["today"] == 2.5


def test_missing_asset_is_created_again(hanging_research):
    hanging_research.gateway.kill()
    hanging_research.asset.unlink()
    hanging_research.gateway.start()
    assert hanging_research.asset.read_text() == OLD
