"""GET and PATCH /configuration: the settings of config.yaml.

See docs/contract/process.md#changing-settings.
"""

import pytest
import yaml

from checks import accepted, at_once, refused
from mcp_client import Client

EXAMPLES = {"log_level": "debug", "log.format": "json", "limits.body_mib": 12, "approvals.timeout_minutes": 0.5,
            "budget_usd_per_day": 2.5, "retention.days": 30, "retention.turns_per_job_thread": 100,
            "checkpoints.file_mib": 3, "checkpoints.total_mib": 50, "checkpoints.days": 7}
AT_ONCE = {"approvals.timeout_minutes", "budget_usd_per_day"}
MINE = "# mine\nretention: # why\n  # long\n  days: 60 # two months\nhosts: [a.example.org]\n"


def settings(gateway):
    return {each["key"]: each for each in accepted(gateway.http.get("/configuration"))["settings"]}


def changed(gateway, values):
    report = accepted(gateway.http.patch("/configuration", json=values))
    return {each["key"]: each for each in report["settings"]}


def written(gateway):
    return (gateway.data / "config.yaml").read_text()


def at(document, key):
    for part in key.split("."):
        document = document[part]
    return document


def test_every_setting_is_shown_with_what_determines_it(make_gateway):
    gateway = make_gateway(config=MINE, arguments=["--log-level", "info"],
                           environment={"AGENT_GATEWAY_LOG_FORMAT": "text"}).start()
    shown = settings(gateway)
    assert shown["retention.days"] == {
        "key": "retention.days", "form": "whole-number", "min": 1, "max": 36500, "default_value": 90, "value": 60,
        "given": True, "source": "file", "line": 4, "editable": True, "about": shown["retention.days"]["about"],
        "must_be": "a whole number from 1 to 36500"}
    assert (shown["hosts"]["value"], shown["hosts"]["line"]) == (["a.example.org"], 5)
    assert (shown["log_level"]["source"], shown["log_level"]["name"]) == ("flag", "--log-level")
    assert (shown["log.format"]["source"], shown["log.format"]["name"]) == ("variable", "AGENT_GATEWAY_LOG_FORMAT")
    assert shown["budget_usd_per_day"]["source"] == "built-in" and shown["budget_usd_per_day"]["value"] is None
    assert not shown["log_level"]["editable"] and not shown["log.format"]["editable"]
    assert accepted(gateway.http.get("/configuration"))["file"] == str(gateway.data / "config.yaml")


def test_only_settings_that_protect_nothing_can_be_changed(own_gateway):
    """Whoever adds one here says that somebody who has the token, and nothing else, may change it."""
    shown = settings(own_gateway)
    assert {key for key, each in shown.items() if each["editable"]} == set(EXAMPLES)
    assert {key for key, each in shown.items() if each.get("at_once")} == AT_ONCE
    before = written(own_gateway)
    for key, each in shown.items():
        if not each["editable"]:
            for value in (each["default_value"], each.get("choices", ["x"])[-1]):
                refused(own_gateway.http.patch("/configuration", json={"retention.days": 30, key: value}), 409,
                        f"{key} can only be set in {own_gateway.data / 'config.yaml'}")
    assert written(own_gateway) == before


def test_passwords_are_not_shown(make_gateway):
    address = "http://agw:hunter2@127.0.0.1:9/"
    gateway = make_gateway(config={"tools": {"web_search": {"service": "searxng", "base_url": address}}}).start()
    report = gateway.http.get("/configuration")
    assert "hunter2" not in report.text
    shown = settings(gateway)["tools.web_search.base_url"]
    assert (shown["value"], shown["given"], shown["secret"]) == (None, True, True)
    for key in ("cluster.database", "cluster.events"):
        assert settings(gateway)[key]["secret"]


def test_change_keeps_the_rest_of_the_file(make_gateway):
    gateway = make_gateway(config=MINE)
    (gateway.data / "config.yaml").chmod(0o640)
    gateway.start()
    shown = changed(gateway, {"retention.days": 30})["retention.days"]
    assert (shown["value"], shown["waits_for_restart"], shown["next_value"]) == (60, True, 30)
    assert written(gateway) == MINE.replace("days: 60", "days: 30")
    assert (gateway.data / "config.yaml").stat().st_mode & 0o777 == 0o640
    gateway.restart()
    shown = settings(gateway)["retention.days"]
    assert shown["value"] == 30 and "waits_for_restart" not in shown
    changed(gateway, {"retention.days": None})
    assert written(gateway) == MINE.replace("days: 60 ", "")
    gateway.restart()
    assert settings(gateway)["retention.days"]["value"] == 90


def test_every_editable_setting_is_changed_and_survives_a_restart(own_gateway):
    example = written(own_gateway)
    shown = changed(own_gateway, EXAMPLES)
    for key, value in EXAMPLES.items():
        assert ("waits_for_restart" in shown[key]) == (key not in AT_ONCE)
        assert shown[key].get("next_value", shown[key]["value"]) == value
        assert at(yaml.safe_load(written(own_gateway)), key) == value
    assert written(own_gateway).startswith(example)
    own_gateway.restart()
    assert {key: settings(own_gateway)[key]["value"] for key in EXAMPLES} == EXAMPLES
    changed(own_gateway, dict.fromkeys(EXAMPLES))
    own_gateway.restart()
    for key in EXAMPLES:
        assert settings(own_gateway)[key]["source"] == "built-in"


def test_budget_applies_at_once(own_gateway):
    changed(own_gateway, {"budget_usd_per_day": 2.5})
    assert accepted(own_gateway.http.get("/costs"))["budget"] == 2.5
    changed(own_gateway, {"budget_usd_per_day": None})
    assert "budget" not in accepted(own_gateway.http.get("/costs"))


def test_invalid_values_are_refused_in_the_words_of_the_file_reader(own_gateway):
    before = written(own_gateway)
    problems = {"retention.days": "must be a whole number from 1 to 36500", "budget_usd_per_day": "must be a number from 0 up",
                "log_level": "must be one of trace, debug, info, warn, error, off", "no.such": "unknown key"}
    body = {"retention.days": "30", "budget_usd_per_day": -1, "log_level": ["info"], "no.such": 1, "checkpoints.days": 7}
    response = own_gateway.http.patch("/configuration", json=body)
    refused(response, 400, "validation failed",
            details=[{"path": path, "message": message} for path, message in problems.items()])
    assert written(own_gateway) == before


@pytest.mark.parametrize("key, values", [
    ("retention.days", [0, 1.5, 36501, True, "", {}, [], 1e300]), ("limits.body_mib", [0, 1025, "10"]),
    ("approvals.timeout_minutes", [0, -1, 1441, "1"]), ("log_level", ["INFO", 1, True, "info\nsandbox: none"]),
])
def test_value_of_another_kind_is_refused(own_gateway, key, values):
    for value in values:
        refused(own_gateway.http.patch("/configuration", json={key: value}), 400, "validation failed",
                details=[{"path": key, "message": f"must be {settings(own_gateway)[key]['must_be']}"}])


def test_what_a_flag_or_variable_sets_cannot_be_changed(make_gateway):
    gateway = make_gateway(arguments=["--log-level", "warn"], environment={"AGENT_GATEWAY_LOG_FORMAT": "json"}).start()
    for key, value, name in (("log_level", "info", "--log-level"), ("log.format", "text", "AGENT_GATEWAY_LOG_FORMAT")):
        refused(gateway.http.patch("/configuration", json={key: value}), 409,
                f"{key} is set by {name}, which overrides config.yaml")


@pytest.mark.parametrize("text, place", [
    ("retention: {days: 60}\n", ":1"), ("port: 0\nretention: &r\n  days: 60\n", ":2"),
    ("{port: 0}\n", ":1"),
])
def test_file_that_cannot_be_edited_safely_stays(make_gateway, text, place):
    gateway = make_gateway(config=text).start()
    response = gateway.http.patch("/configuration", json={"retention.days": 30})
    assert response.status_code == 409
    assert response.json()["error"].endswith(f"edit {gateway.data / 'config.yaml'}{place} instead")
    assert written(gateway) == text


def test_file_elsewhere_or_read_only_stays(make_gateway, tmp_path):
    gateway = make_gateway(config="port: 0\n")
    file = gateway.data / "config.yaml"
    gateway.start()
    file.chmod(0o444)
    assert "read-only" in refused_change(gateway)
    file.rename(tmp_path / "config.yaml")
    file.symlink_to(tmp_path / "config.yaml")
    assert "symbolic link" in refused_change(gateway)
    assert file.is_symlink() and (tmp_path / "config.yaml").read_text() == "port: 0\n"


def refused_change(gateway):
    response = gateway.http.patch("/configuration", json={"retention.days": 30})
    assert response.status_code == 409, response.text
    return response.json()["error"]


def test_file_given_as_an_argument_is_changed(make_gateway, tmp_path):
    file = tmp_path / "my.yaml"
    file.write_text("port: 0\n")
    gateway = make_gateway(arguments=["--config", str(file)]).start()
    changed(gateway, {"retention.days": 30})
    assert file.read_text() == "port: 0\nretention:\n  days: 30\n"


def test_edits_by_hand_are_shown_and_kept(own_gateway):
    file = own_gateway.data / "config.yaml"
    file.write_text("retention:\n  days: 45\n")
    shown = settings(own_gateway)["retention.days"]
    assert (shown["value"], shown["next_value"], shown["line"]) == (90, 45, 2)
    file.write_text("retention:\n  dayz: 45\n")
    problem = f"{file}:2: retention.dayz: unknown key; did you mean retention.days?"
    assert accepted(own_gateway.http.get("/configuration"))["problem"] == problem
    assert refused_change(own_gateway) == f"fix config.yaml first: {problem}"
    assert file.read_text() == "retention:\n  dayz: 45\n"


def test_missing_file_is_created(own_gateway):
    (own_gateway.data / "config.yaml").unlink()
    changed(own_gateway, {"retention.days": 30})
    assert written(own_gateway) == "retention:\n  days: 30\n"
    assert (own_gateway.data / "config.yaml").stat().st_mode & 0o777 == 0o600


def test_simultaneous_changes_are_all_made(own_gateway):
    keys = [key for key in EXAMPLES if isinstance(EXAMPLES[key], int)]
    responses = at_once(len(keys), lambda i: own_gateway.http.patch("/configuration", json={keys[i]: EXAMPLES[keys[i]]}))
    assert [response.status_code for response in responses] == [200] * len(keys)
    assert {key: at(yaml.safe_load(written(own_gateway)), key) for key in keys} == {key: EXAMPLES[key] for key in keys}


def test_needs_the_token(own_gateway):
    refused(own_gateway.anonymous.get("/configuration"), 401, "unauthorized")
    refused(own_gateway.anonymous.patch("/configuration", json={"retention.days": 30}), 401, "unauthorized")


def test_no_tool_of_the_mcp_server_changes_it(own_gateway):
    with Client(own_gateway, path="/mcp?tools=all") as everything:
        assert "patch_configuration" not in {tool["name"] for tool in everything.result("tools/list")["tools"]}
        body = {"retention.days": 30}
        assert everything.error("tools/call", name="patch_configuration", arguments={"body": body})["code"] == -32602
    assert "waits_for_restart" not in settings(own_gateway)["retention.days"]
