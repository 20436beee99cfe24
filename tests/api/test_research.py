"""Iterations of autoresearch: measured, changed, checked, measured again, kept or put back (decisions, 8)."""

import pytest

from checks import accepted, is_id, refused
from extensions import toggle
from lab import BETTER, COUNT_WORDS, OLD, WORSE, Lab
from proposals import apply, show
from stubs.provider import Fault, Reply
from talker import MODEL, Talker, configuration
from tools import calls

@pytest.fixture
def lab(talker, name):
    return Lab(talker, name)


# What is asked for.


def test_an_iteration_is_started_in_the_background(lab):
    lab.measured_by()
    lab.talker.answers(BETTER)
    with lab.gateway.events() as events:
        started = accepted(lab.post(), 202)
        assert set(started) == {"status", "iterationId", "domain"} and is_id(started["iterationId"])
        assert (started["status"], started["domain"]) == ("started", lab.domain)
        lab.until_ended(events)


@pytest.mark.parametrize("body", [
    {}, {"domain": "d"}, {"asset_path": "/x"}, {"domain": 1, "asset_path": "/x"}, {"domain": "", "asset_path": "/x"},
    {"domain": "d", "asset_path": []}, {"domain": "d", "asset_path": "relative.md"},
    {"domain": "d", "asset_path": "/x", "benchmark_path": 1}, {"domain": "d", "asset_path": "/x", "checks_path": {}},
    {"domain": "d", "asset_path": "/x", "rubric_path": True}, {"domain": "a\nb", "asset_path": "/x"},
    {"domain": "a\x1b[2J", "asset_path": "/x"}, {"domain": "\x00", "asset_path": "/x"},
    {"domain": "d" * 201, "asset_path": "/x"}])
def test_a_config_that_is_none_is_refused_with_details(gateway, body):
    details = refused(gateway.http.post("/autoresearch/run", json=body), 400, "invalid domain config")["details"]
    assert details and all(set(detail) == {"path", "message"} for detail in details)


def test_a_body_is_required(gateway):
    refused(gateway.http.post("/autoresearch/run"), 400, "Request body required")
    refused(gateway.http.post("/autoresearch/run", content=b"{"), 400, "Invalid JSON")
    refused(gateway.http.post("/autoresearch/run", json=[]), 400, "Request body must be an object")


@pytest.mark.parametrize("member", ["asset_path", "benchmark_path", "checks_path", "rubric_path"])
def test_every_path_lies_in_home(lab, member):
    (lab.folder / "out").symlink_to("/etc")
    for path in ("/etc/passwd", "/", f"{lab.folder}/../../../../etc/passwd", f"{lab.folder}/out/passwd"):
        refused(lab.post(**{member: path}), 400, f"path must be within home directory: {path}")
    if member != "asset_path":
        refused(lab.post(**{member: "relative.sh"}), 400, "path must be within home directory: relative.sh")


@pytest.mark.parametrize("path", [".ssh/id_rsa", "keys/server.pem", ".agent-gateway/.gateway-token",
                                  ".agent-gateway/config.yaml", ".agent-gateway/gateway.db"])
def test_keys_and_the_gateways_own_files_are_not_shown_to_a_model(lab, path):
    for member in ("asset_path", "rubric_path"):
        refused(lab.post(**{member: str(lab.gateway.home / path)}), 403, "permission denied")


def test_one_iteration_of_a_domain_runs_at_a_time(lab):
    lab.measured_by()
    held = lab.talker.holds("one two")
    with lab.gateway.events() as events:
        accepted(lab.post(), 202)
        assert held.was_asked()
        refused(lab.post(), 409, "iteration is already running")
        refused(lab.post(domain="another"), 409, "iteration is already running")
        held.release(" three")
        lab.until_ended(events)
    assert lab.iterate("one two three four")["verdict"] == "keep"


# What becomes of a change.


def test_the_agents_work_is_in_an_archived_thread(lab):
    lab.measured_by().iterate(BETTER)
    path, query = "/threads", {"agent_id": lab.agent["id"]}
    assert accepted(lab.gateway.http.get(path, params=query)) == []
    [thread] = accepted(lab.gateway.http.get(path, params={**query, "archived": "true"}))
    assert thread["title"] == f"Research: {lab.domain}" and thread["turn_count"] == 2


def test_a_better_text_is_kept(lab):
    lab.measured_by()
    row = lab.iterate(BETTER)
    assert lab.asset.read_text() == BETTER
    assert {key: row[key] for key in ("domain", "verdict", "metric", "value", "baseline", "delta", "proposal",
                                      "higher_is_better")} == {
        "domain": lab.domain, "verdict": "keep", "metric": "quality", "value": 3, "baseline": 2, "delta": 1,
        "proposal": None, "higher_is_better": True}
    assert is_id(row["iteration_id"]) and row["duration_ms"] > 0 and row["cost_usd"] is not None
    assert lab.experiments() == [row]


def test_the_agent_is_told_what_it_needs(lab):
    lab.measured_by().scored_by("More words are better.")
    lab.iterate(WORSE)
    lab.iterate(BETTER)
    told = lab.talker.conversation()[-1][1]
    assert str(lab.asset) in told and OLD in told and "quality" in told and "More words are better." in told
    assert "discard: not better: quality went from 2 to 1" in told


@pytest.mark.parametrize("answer", [WORSE, "two one"])
def test_a_text_that_is_not_better_is_put_back(lab, answer):
    lab.measured_by()
    lab.asset.chmod(0o640)
    row = lab.iterate(answer)
    assert row["verdict"] == "discard" and row["value"] == len(answer.split()) and row["baseline"] == 2
    assert lab.asset.read_text() == OLD and lab.asset.stat().st_mode & 0o777 == 0o640


def test_lower_may_be_better_and_units_are_kept(lab):
    lab.measured_by('echo "METRIC size=$(wc -w < "$ASSET_PATH")words better=lower"\n')
    row = lab.iterate(WORSE)
    assert (row["verdict"], row["metric"], row["unit"], row["higher_is_better"]) == ("keep", "size", "words", False)
    assert row["delta"] == -1 and lab.asset.read_text() == WORSE


def test_an_answer_between_fences_is_the_text_in_them(lab):
    lab.measured_by()
    lab.iterate("```markdown\none two three\n```\n")
    assert lab.asset.read_text() == BETTER


def test_an_unchanged_text_is_discarded(lab):
    lab.measured_by()
    row = lab.iterate(OLD)
    assert row["verdict"] == "discard" and row["value"] is None and "changed nothing" in row["reason"]


def test_failing_checks_discard_it(lab):
    lab.measured_by().checked_by('! grep -q three "$1" || { echo "no three!"; exit 1; }\n')
    row = lab.iterate(BETTER)
    assert row["verdict"] == "discard" and "no three!" in row["reason"] and lab.asset.read_text() == OLD
    assert [step["step"] for step in lab.steps] == ["measure", "change", "check", "ended"]


def test_passing_checks_do_not_stand_in_the_way(lab):
    lab.measured_by().checked_by("exit 0\n")
    assert lab.iterate(BETTER)["verdict"] == "keep"
    assert [step["step"] for step in lab.steps] == ["measure", "change", "check", "measure-again", "decide", "ended"]


def test_checks_that_are_missing_discard_it(lab):
    lab.measured_by().checked_by("exit 0\n")
    (lab.folder / "checks.sh").unlink()
    row = lab.iterate(BETTER)
    assert row["verdict"] == "discard" and "there is no" in row["reason"] and lab.asset.read_text() == OLD


@pytest.mark.parametrize("script, why", [
    ("exit 3\n", "exit status 3"), ("echo hello\n", "no line METRIC"), ('echo "METRIC quality=NaN"\n', "is no number"),
    ('echo "METRIC quality=inf"\n', "is no number"), ('echo "METRIC quality=1e999"\n', "is no number"),
    ("yes noise | head -1000000\n", "no line METRIC"), ("", "no line METRIC"), ("kill -9 $$\n", "exit status 137")])
def test_a_benchmark_that_measures_nothing_is_a_crash(lab, script, why):
    row = lab.measured_by(script).iterate()
    assert row["verdict"] == "crash" and row["value"] is None and why in row["reason"]
    assert lab.asset.read_text() == OLD


def test_a_crash_after_the_change_puts_the_asset_back(lab):
    lab.measured_by('grep -q three "$1" && exit 9\necho "METRIC quality=1"\n')
    row = lab.iterate(BETTER)
    assert (row["verdict"], row["value"], row["baseline"]) == ("crash", None, 1) and "exit status 9" in row["reason"]
    assert lab.asset.read_text() == OLD


def test_a_metric_among_a_million_lines_is_found(lab):
    lab.measured_by('yes noise | head -500000\necho "METRIC quality=$(wc -w < "$1")"\nyes noise | head -500000\n')
    assert lab.iterate(BETTER)["verdict"] == "keep"


def test_an_executable_benchmark_is_started_as_it_is(lab):
    lab.measured_by("#!/usr/bin/env python3\nimport sys\nprint('METRIC quality=%d' % len(open(sys.argv[1]).read()))\n",
                    name="benchmark")
    (lab.folder / "benchmark").chmod(0o755)
    assert lab.iterate(BETTER)["verdict"] == "keep"


@pytest.mark.parametrize("missing", ["asset_path", "benchmark_path"])
def test_files_that_are_not_there_are_a_crash(lab, missing):
    lab.measured_by()
    lab.config[missing] = str(lab.folder / "nothing")
    assert lab.iterate()["verdict"] == "crash"


def test_an_asset_that_is_no_text_is_a_crash(lab):
    lab.measured_by()
    for content in (b"\xff\xfe", b"x" * (2 << 20)):
        lab.asset.write_bytes(content)
        assert lab.iterate()["verdict"] == "crash" and lab.asset.read_bytes() == content


def test_without_any_measure_it_is_a_crash(lab):
    row = lab.iterate()
    assert row["verdict"] == "crash" and "benchmark_path" in row["reason"]


def test_a_model_that_fails_is_a_crash(lab):
    row = lab.measured_by().iterate(Fault(400))
    assert row["verdict"] == "crash" and lab.asset.read_text() == OLD


def test_a_benchmark_reaches_neither_the_network_nor_the_token(lab):
    lab.measured_by(f'cat "{lab.gateway.data}/.gateway-token" && exit 1\n'
                    f'python3 -c "import socket; socket.create_connection((\'127.0.0.1\', {lab.gateway.port}), 2)" '
                    f'&& exit 2\n{COUNT_WORDS}')
    assert lab.iterate(BETTER)["verdict"] == "keep"


# Scored by a rubric.


def test_without_a_benchmark_the_model_scores_by_the_rubric(lab):
    lab.scored_by("Praise is good.")
    row = lab.iterate("0.25", "Well done!\n", Reply('{"score": 0.75}'))
    assert (row["metric"], row["baseline"], row["value"], row["verdict"]) == ("quality", 0.25, 0.75, "keep")
    asked = lab.talker.stub.requests[0].json["messages"]
    assert "Praise is good." in str(asked) and "one two" in str(asked)


@pytest.mark.parametrize("answer", ["excellent", "7", "-1", ""])
def test_a_score_that_is_none_is_a_crash(lab, answer):
    row = lab.scored_by("Praise is good.").iterate(answer or Reply(text="", deltas=0))
    assert row["verdict"] == "crash" and row["value"] is None


# Agents that may not keep it themselves.


@pytest.mark.parametrize("stage", ["apprentice", "operator"])
def test_below_trusted_an_improvement_is_staged(talker, name, stage):
    lab = Lab(talker, name, stage)
    soul = lab.gateway.data / "agents" / lab.agent["name"] / "soul.md"
    soul.write_text(OLD)
    lab.config["asset_path"] = str(soul)
    row = lab.measured_by().iterate(BETTER)
    assert (row["verdict"], row["value"], row["delta"]) == ("keep", 3, 1) and soul.read_text() == OLD
    proposal = show(lab.gateway, f"/proposals/{row['proposal']}")
    assert (proposal["type"], proposal["content"], proposal["status"]) == ("soul", BETTER, "pending")
    assert proposal["current_content"] == OLD and proposal["target_changed"] is False

    accepted(apply(lab.gateway, f"/proposals/{row['proposal']}"))
    assert soul.read_text() == BETTER
    decision, measured = lab.experiments()
    assert measured == row and (decision["metric"], decision["value"]) == (None, None)
    found = accepted(lab.gateway.http.get("/autoresearch/confidence", params={"domain": lab.domain}))
    assert found["confidence"]["sampleSize"] == 1


def test_it_is_staged_wherever_the_asset_lies(talker, name):
    lab = Lab(talker, name, "apprentice")
    row = lab.measured_by().iterate(BETTER)
    assert row["verdict"] == "keep" and lab.asset.read_text() == OLD
    path = f"/proposals/{row['proposal']}"
    assert (show(lab.gateway, path)["content"], show(lab.gateway, path)["target"]) == (BETTER, str(lab.asset))
    refused(apply(lab.gateway, path), 403, "path outside home directory")
    lab.in_a_project(name)
    accepted(apply(lab.gateway, path))
    assert lab.asset.read_text() == BETTER


def test_confidence_grows_with_what_is_measured(lab):
    lab.measured_by()
    for words in (3, 4, 1, 9):
        lab.iterate("word " * words)
    found = accepted(lab.gateway.http.get("/autoresearch/confidence", params={"domain": lab.domain}))
    assert found["confidence"] == {"confidence": 4, "sampleSize": 4, "mad": 1.5} and found["consecutiveDiscards"] == 0


def test_an_agent_may_look_before_it_answers(lab):
    lab.measured_by()
    row = lab.iterate(calls(("SearchTurns", {"query": "words"}), text="Let me look."), BETTER)
    assert row["verdict"] == "keep" and lab.asset.read_text() == BETTER


@pytest.mark.parametrize("stage, tool, why", [
    ("trusted", "Write", "permission denied"), ("apprentice", "Write", "permission denied"),
    ("apprentice", "Bash", "permission denied"), ("trusted", "Rewrite", "there is no tool Rewrite")])
def test_what_an_agent_says_of_a_change_that_was_not_made_is_not_taken_for_the_file(talker, name, stage, tool, why):
    lab = Lab(talker, name, stage).measured_by()
    inputs = {"Bash": {"command": "echo three >> asset.md"}}
    given = inputs.get(tool, {"path": str(lab.asset), "content": BETTER})
    row = lab.iterate(calls((tool, given)), "I made the file better.")
    assert (row["verdict"], row["value"], row["proposal"]) == ("crash", None, None)
    assert tool in row["reason"] and why in row["reason"] and lab.asset.read_text() == OLD
    assert row["notes"] == "I made the file better."


def test_notes_are_cut_between_characters(lab):
    lab.measured_by()
    notes = [lab.iterate(text)["notes"] for text in ("ü" * 400, "a" + "ü" * 400)]
    assert all(text.startswith("by a new text: ") and text.endswith("ü…") for text in notes)


def test_a_change_that_was_staged_and_never_measured_is_a_crash(talker, name):
    lab = Lab(talker, name, "apprentice").measured_by().in_a_project(name)
    row = lab.iterate(calls(("Write", {"path": str(lab.asset), "content": BETTER})), "I made the file better.")
    assert (row["verdict"], row["value"], row["proposal"]) == ("crash", None, None)
    assert "the agent used Write" in row["reason"] and lab.asset.read_text() == OLD


def test_the_agent_is_told_whether_its_tools_can_change_the_file(lab, name):
    lab.measured_by()
    lab.iterate(BETTER)
    assert "Write and Edit cannot change this file" in lab.talker.conversation()[-1][1]
    lab.in_a_project(name)
    lab.iterate(calls(("Write", {"path": str(lab.asset), "content": "one two three four\n"})), "A word more.")
    assert "Change the file with your tools" in str(lab.talker.stub.requests[-1].json["messages"])
    assert lab.asset.read_text() == "one two three four\n"


def test_a_disabled_agent_improves_files_too(lab):
    lab.measured_by()
    accepted(toggle(lab.gateway, lab.agent))
    assert lab.iterate(BETTER)["verdict"] == "keep"


def test_an_agent_may_change_the_asset_by_its_tools(lab):
    notes = lab.gateway.data / "agents" / lab.agent["name"] / "notes.md"
    notes.write_text(OLD)
    lab.config["asset_path"] = str(notes)
    lab.measured_by()
    row = lab.iterate(calls(("Remember", {"text": "three more words"})), "I have added what was missing.")
    assert row["verdict"] == "keep" and row["value"] > row["baseline"] == 2
    assert "three more words" in notes.read_text() and "added what was missing" in row["notes"]

    lab.measured_by('echo "METRIC quality=1"\n')
    kept = notes.read_text()
    row = lab.iterate(calls(("Remember", {"text": "something useless"})), "Done.")
    assert row["verdict"] == "discard" and notes.read_text() == kept


# Somebody else writes to the asset meanwhile.


@pytest.mark.parametrize("answer", [BETTER, OLD])
def test_what_is_written_by_hand_while_the_agent_works_stays(lab, answer):
    lab.measured_by()
    held = lab.talker.holds(answer[:4])
    with lab.gateway.events() as events:
        accepted(lab.post(), 202)
        assert held.was_asked()
        lab.asset.write_text("by hand\n")
        held.release(answer[4:])
        row = lab.until_ended(events)
    assert lab.asset.read_text() == "by hand\n"
    assert (row["verdict"], row["value"]) == ("crash", None) and "somebody else changed the file" in row["reason"]


@pytest.mark.parametrize("stage", ["trusted", "apprentice"])
@pytest.mark.parametrize("answer", ["one two three four\n", "three\n"])
def test_a_soul_that_is_put_while_it_is_measured_stays(talker, name, stage, answer):
    lab = Lab(talker, name, stage)
    soul = f"/agents/{lab.agent['name']}/soul"
    accepted(lab.gateway.http.put(soul, json={"content": OLD}))
    lab.config["asset_path"] = str(lab.gateway.data / "agents" / lab.agent["name"] / "soul.md")
    lab.measured_by(f'grep -q three "$1" && until [ -e go ]; do sleep 0.02; done\n{COUNT_WORDS}')
    lab.talker.answers(answer)
    with lab.gateway.events() as events:
        accepted(lab.post(), 202)
        events.until(lambda event: event.get("step") == "measure-again")
        accepted(lab.gateway.http.put(soul, json={"content": "I am as I was put.\n"}))
        lab.file("go", "")
        row = lab.until_ended(events)
    assert accepted(lab.gateway.http.get(soul))["content"] == "I am as I was put.\n"
    assert (row["verdict"], row["value"], row["proposal"]) == ("crash", None, None)
    assert "somebody else changed the file" in row["reason"] and lab.experiments() == [row]


def test_what_is_put_back_after_work_with_tools_is_in_the_trash(lab):
    notes = lab.gateway.data / "agents" / lab.agent["name"] / "notes.md"
    notes.write_text(OLD)
    lab.config["asset_path"] = str(notes)
    row = lab.measured_by('echo "METRIC quality=1"\n').iterate(calls(("Remember", {"text": "of no use"})), "Done.")
    assert row["verdict"] == "discard" and notes.read_text() == OLD
    assert "of no use" in (lab.gateway.data / "trash" / f"asset-{row['iteration_id']}").read_text()


def test_an_asset_that_cannot_be_put_back_is_told_and_put_back_by_the_next_start(own_talker, name):
    lab = Lab(own_talker, name)
    place = lab.folder / "place"
    place.mkdir()
    asset = place / "asset.md"
    asset.write_text(OLD)
    lab.config["asset_path"] = str(asset)
    lab.measured_by()
    held = lab.talker.holds("one two")
    with lab.gateway.events() as events:
        accepted(lab.post(), 202)
        assert held.was_asked()
        asset.unlink()
        place.rmdir()
        place.write_text("a file where the directory was")
        held.release(" three")
        row = lab.until_ended(events)
    assert row["verdict"] == "crash" and "could not be put back" in row["reason"] and lab.experiments() == [row]
    place.unlink()
    lab.gateway.restart()
    assert asset.read_text() == OLD and lab.experiments() == [row]


# Ends in the middle.


@pytest.fixture
def hanging(own_talker, name):
    """A lab whose benchmark never ends once the asset was changed, and is just about to."""
    lab = Lab(own_talker, name)
    lab.measured_by('grep -q three "$1" && sleep 600\necho "METRIC quality=2"\n')
    own_talker.answers(BETTER)
    with lab.gateway.events() as events:
        accepted(lab.post(), 202)
        events.until(lambda event: event.get("step") == "measure-again")
    assert lab.asset.read_text() == BETTER
    return lab


def test_a_stop_puts_the_asset_back(hanging):
    assert hanging.gateway.stop() == 0
    assert hanging.asset.read_text() == OLD
    hanging.gateway.start()
    [row] = hanging.experiments()
    assert (row["verdict"], row["value"]) == ("crash", None)


def test_a_kill_puts_the_asset_back_with_the_next_start(hanging):
    hanging.gateway.kill()
    assert hanging.asset.read_text() == BETTER
    hanging.gateway.start()
    assert hanging.asset.read_text() == OLD
    [row] = hanging.experiments()
    assert row["verdict"] == "crash" and row["value"] is None and "interrupted" in row["reason"]
    hanging.gateway.restart()
    assert len(hanging.experiments()) == 1


def test_what_was_written_after_a_kill_is_not_lost(hanging):
    hanging.gateway.kill()
    hanging.asset.write_text("by hand\n")
    hanging.gateway.start()
    assert hanging.asset.read_text() == OLD
    [kept] = (hanging.gateway.data / "trash").glob("asset-*")
    assert kept.read_text() == "by hand\n"


def test_what_a_score_has_cost_outlives_a_kill(own_talker, name):
    lab = Lab(own_talker, name)
    lab.scored_by("Praise is good.")
    lab.talker.answers("0.25")
    held = lab.talker.holds("Well")
    accepted(lab.post(), 202)
    assert held.was_asked()
    lab.gateway.kill()
    held.release(" done!")
    lab.gateway.start()
    assert lab.talker.model in accepted(lab.gateway.http.get("/costs"))["unpriced"]


def test_a_killed_iteration_has_cost_what_its_thread_has(make_gateway, stub, name):
    gateway = make_gateway(config=configuration(stub))
    (gateway.data / "prices.yaml").write_text(f"{MODEL}: {{input: 100000, output: 50000}}\n")
    lab = Lab(Talker(gateway.start(), stub), name)
    lab.scored_by("Praise is good.")
    # A score and the first step of the agent, of 10 tokens in and 5 out each; its second step does not end.
    stub.script(Reply("0.25"), calls(("Read", {"path": str(lab.asset)})))
    held = lab.talker.holds("Well")
    accepted(lab.post(), 202)
    assert held.was_asked()
    gateway.kill()
    held.release(" done!")
    gateway.start()
    [row] = lab.experiments()
    assert row["verdict"] == "crash" and row["cost_usd"] == accepted(gateway.http.get("/costs"))["today"] == 2.5


def test_an_asset_that_is_gone_is_made_again(hanging):
    hanging.gateway.kill()
    hanging.asset.unlink()
    hanging.gateway.start()
    assert hanging.asset.read_text() == OLD
