"""Extension records: list, create, change, toggle, delete.

See docs/contract/extensions.md#records.
"""

import pytest

from checks import UNKNOWN_ID, accepted, at_once, ids, invalid, is_id, is_timestamp, refused
from extensions import MEMBERS, get, named, patch, toggle

TYPES = ["command", "agent", "job", "app", "theme", "renderer", "integration", "action", "widget", "artifact",
         "capability", "control"]
MINIMAL_DEFINITIONS = {
    "command": {"prompt": "do $ARGUMENTS"}, "agent": {"systemPrompt": "You help."},
    "job": {"agent_id": "assistant", "prompt": "work"}, "app": {"type": "static"}, "theme": {"dark": True},
    "renderer": {"template": "{{content}}"}, "integration": {"kind": "http", "url": "http://127.0.0.1/"},
    "action": {"kind": "prompt", "prompt": "think"}, "widget": {"html": "<p>"}, "artifact": {"mime": "text/plain"},
    "capability": {"tools": ["Read"]}, "control": {"controls": []},
}
KEBAB = "name must be kebab-case (a-z, 0-9, hyphens)"


@pytest.fixture
def create_extension(gateway, new_name):
    """Creates an extension on the shared gateway: by default a theme with a unique name."""
    def create_extension(**members):
        return gateway.http.post("/extensions", json={
            "type": "theme", "name": new_name(), "description": "for a test", "definition": {}, **members})
    return create_extension


# Names in definitions.


def test_job_of_an_agent_that_does_not_exist_is_refused(gateway, create_extension):
    job = {"agent_id": "asistant", "prompt": "work"}
    details = invalid(create_extension(type="job", definition=job), "definition.agent_id")
    assert details == [{"path": "definition.agent_id", "message": "there is no agent asistant"}]
    invalid(create_extension(type="job", definition={**job, "agent_id": "light"}), "definition.agent_id")
    made = accepted(create_extension(type="job", definition=MINIMAL_DEFINITIONS["job"]), 201)
    invalid(patch(gateway, made, definition=job), "definition.agent_id")
    invalid(gateway.http.patch(f"/extensions/{made['id']}/disk-config", json=job), "agent_id")
    assert get(gateway, made) == made


def test_job_whose_agent_was_deleted_can_be_edited(gateway, create_extension):
    agent = accepted(create_extension(type="agent"), 201)
    job = accepted(create_extension(type="job", definition={"agent_id": agent["id"], "prompt": "work"}), 201)
    assert gateway.http.delete(f"/extensions/{agent['id']}").status_code == 204
    changed = accepted(patch(gateway, job, definition={**job["definition"], "prompt": "rest"}))
    assert changed["definition"]["prompt"] == "rest"
    assert [found["path"] for found in changed["warnings"]] == ["definition.agent_id"]
    invalid(patch(gateway, job, definition={**job["definition"], "agent_id": agent["name"]}), "definition.agent_id")


@pytest.mark.parametrize("kind, definition, paths", [
    ("agent", {"tools": ["Read", "Reed"], "capabilities": ["read-only", "fly"], "skills": ["knitting"],
               "model": "mistrall/large", "fallback_models": ["librarian", "nowhere/x"]},
     ["model", "fallback_models[1]", "tools[1]", "capabilities[1]", "skills[0]"]),
    ("capability", {"tools": ["Reed", "Grep"]}, ["tools[0]"]),
    ("command", {"prompt": "do", "agent_id": "asistant", "model": "x/y"}, ["agent_id", "model"]),
    ("job", {"agent_id": "assistant", "prompt": "do", "owner_agent_id": "asistant"}, ["owner_agent_id"]),
])
def test_unknown_names_cause_warnings(gateway, create_extension, kind, definition, paths):
    saved = accepted(create_extension(type=kind, definition=definition), 201)
    warnings = saved.pop("warnings")
    assert [found["path"] for found in warnings] == [f"definition.{path}" for path in paths]
    assert all(set(found) == {"path", "message"} and found["message"] for found in warnings)
    assert get(gateway, saved) == saved and saved["definition"] == definition
    assert accepted(patch(gateway, saved, description="another"))["warnings"] == warnings
    assert "warnings" not in accepted(patch(gateway, saved, definition=MINIMAL_DEFINITIONS[kind]))


def test_repeated_request_gets_the_same_warnings(gateway, new_name):
    body = {"type": "agent", "name": new_name(), "description": "d", "definition": {"tools": ["Reed"]}}
    first, again = (accepted(gateway.http.post("/extensions", json=body, headers={"Idempotency-Key": body["name"]}), 201)
                    for _ in range(2))
    assert first == again and first["warnings"][0]["path"] == "definition.tools[0]"


@pytest.mark.parametrize("name", ["../../..", "a/b", "/etc", ""])
def test_no_skills_are_looked_up_for_an_invalid_name(create_extension, name):
    refused(create_extension(type="agent", name=name, definition={"skills": ["x"]}), 400, KEBAB)


# Create.


def test_creating_returns_201_with_the_record(gateway, create_extension, new_name):
    wanted = new_name("whole")
    made = accepted(create_extension(name=wanted, description="What it is", definition={"dark": True}), 201)
    assert set(made) == MEMBERS
    assert is_id(made["id"]) and is_timestamp(made["created_at"]) and made["updated_at"] == made["created_at"]
    assert {member: made[member] for member in MEMBERS - {"id", "created_at", "updated_at"}} == {
        "type": "theme", "name": wanted, "description": "What it is", "definition": {"dark": True},
        "trigger_def": None, "source": "user", "enabled": False, "owner_agent_id": None, "essential": False}
    assert get(gateway, made) == made


@pytest.mark.parametrize("kind", TYPES)
def test_each_of_the_twelve_types_can_be_created(gateway, create_extension, kind):
    made = accepted(create_extension(type=kind, definition=MINIMAL_DEFINITIONS[kind]), 201)
    assert made["type"] == kind and get(gateway, made) == made


def test_enabled_is_stored_as_sent(create_extension):
    assert accepted(create_extension(enabled=True), 201)["enabled"] is True
    assert accepted(create_extension(enabled=False), 201)["enabled"] is False
    assert accepted(create_extension(enabled=None), 201)["enabled"] is False


@pytest.mark.parametrize("source", ["user", "agent", "community"])
def test_source_is_stored_as_sent(create_extension, source):
    assert accepted(create_extension(source=source), 201)["source"] == source


def test_owner_is_stored_for_source_agent_only(create_extension):
    assert accepted(create_extension(source="agent", owner_agent_id="builder"), 201)["owner_agent_id"] == "builder"
    assert accepted(create_extension(source="agent"), 201)["owner_agent_id"] is None
    assert accepted(create_extension(source="user", owner_agent_id="builder"), 201)["owner_agent_id"] is None
    assert accepted(create_extension(source="community", owner_agent_id="builder"), 201)["owner_agent_id"] is None
    assert accepted(create_extension(owner_agent_id="builder"), 201)["owner_agent_id"] is None


def test_unknown_definition_members_are_kept(gateway, create_extension):
    definition = {"dark": False, "mine": [1, 2.5, None, {"\u00e9": "\U0001f600", "": {}}], "z": True, "a": "no",
                  "n": 10**15}
    made = accepted(create_extension(definition=definition), 201)
    assert made["definition"] == definition and get(gateway, made)["definition"] == definition


def test_trigger_is_kept_on_every_type(gateway, create_extension):
    trigger = {"type": "cron", "expression": "0 9 * * 1-5", "timezone": "Europe/Berlin"}
    made = accepted(create_extension(trigger_def=trigger), 201)
    assert made["trigger_def"] == trigger and get(gateway, made)["trigger_def"] == trigger


def test_unknown_body_members_are_ignored(create_extension):
    made = accepted(create_extension(essential=True, id=UNKNOWN_ID, created_at="2000-01-01T00:00:00.000Z", colour="red"), 201)
    assert set(made) == MEMBERS and made["essential"] is False
    assert made["id"] != UNKNOWN_ID and not made["created_at"].startswith("2000")


# Names.


@pytest.mark.parametrize("stem", ["a", "a1", "1", "a-b", "0-0", "a-b-c-d", "agw", "x" * 40])
def test_kebab_case_name_is_accepted(create_extension, new_name, stem):
    wanted = new_name(stem)
    assert accepted(create_extension(name=wanted), 201)["name"] == wanted


def test_name_has_at_most_64_characters(create_extension, new_name):
    wanted = new_name("n") + "-"
    wanted += "x" * (64 - len(wanted))
    assert accepted(create_extension(name=wanted), 201)["name"] == wanted
    refused(create_extension(name=wanted + "x"), 400, KEBAB)


@pytest.mark.parametrize("bad", [
    "", "A", "aB", "-a", "a-", "a--b", "a_b", "a.b", "a b", " a", "a ", "a\n", "\u00e9", "a/b", "../a", "a\u0000",
    "-", "--",
    "x" * 65, "x" * 10_000, "\u0061\u0301", "\uff41", "a:b", "01890000-0000-7000-8000-000000000000",
    "f47ac10b-58cc-4372-a567-0e02b2c3d479", "00000000-0000-0000-0000-000000000000",
    "aaaaaaaa-aaaa-aaaa-aaaa-aaaaaaaaaaaa",
])
def test_invalid_name_is_refused(create_extension, bad):
    refused(create_extension(name=bad), 400, KEBAB)


@pytest.mark.parametrize("bad", [5, True, ["a"], {"a": 1}, 1.5])
def test_name_that_is_not_a_string_is_invalid(create_extension, bad):
    refused(create_extension(name=bad), 400, KEBAB)


def test_name_is_checked_first(gateway):
    refused(gateway.http.post("/extensions", json={"name": "Bad Name"}), 400, KEBAB)
    refused(gateway.http.post("/extensions", json={"name": "Bad", "type": 5, "definition": 5}), 400, KEBAB)
    refused(gateway.http.post("/extensions", json={}), 400, "name is required")


def test_name_is_unique_across_types(create_extension, new_name):
    taken = new_name("taken")
    accepted(create_extension(name=taken), 201)
    refused(create_extension(name=taken), 409, "extension name already exists", name=taken)
    refused(create_extension(name=taken, type="agent"), 409, "extension name already exists", name=taken)
    refused(create_extension(name="assistant"), 409, "extension name already exists", name="assistant")


def test_invalid_body_takes_precedence_over_a_taken_name(create_extension):
    invalid(create_extension(name="assistant", type="plugin"))


def test_simultaneous_creations_of_one_name_succeed_once(gateway, create_extension, new_name):
    wanted = new_name("wanted")
    responses = at_once(16, lambda _: create_extension(name=wanted))
    assert sorted(response.status_code for response in responses) == [201] + [409] * 15
    assert len([found for found in accepted(gateway.http.get("/extensions")) if found["name"] == wanted]) == 1


# Invalid bodies.


@pytest.mark.parametrize("member, value", [
    ("type", "plugin"), ("type", "Agent"), ("type", ""), ("type", 5), ("type", ["agent"]),
    ("description", 5), ("description", ["a"]), ("description", {}), ("description", True),
    ("definition", []), ("definition", "{}"), ("definition", 5), ("definition", True),
    ("trigger_def", []), ("trigger_def", "cron"), ("trigger_def", 5),
    ("source", "built-in"), ("source", "everyone"), ("source", 5), ("source", ""),
    ("enabled", "true"), ("enabled", 1), ("enabled", []),
])
def test_invalid_member_is_named(create_extension, member, value):
    invalid(create_extension(**{member: value}), member)


def test_owner_of_the_wrong_type_is_invalid(create_extension):
    invalid(create_extension(source="agent", owner_agent_id=5), "owner_agent_id")


def test_all_problems_are_reported_at_once(create_extension):
    details = invalid(create_extension(type="plugin", enabled="yes", source="built-in"))
    paths = " ".join(entry["path"] for entry in details)
    assert all(member in paths for member in ("type", "enabled", "source"))


def test_refused_extension_does_not_exist(gateway, create_extension, new_name):
    wanted = new_name("refused")
    invalid(create_extension(name=wanted, enabled="yes"))
    assert named(gateway, wanted) is None
    accepted(create_extension(name=wanted), 201)


# Read and list.


def test_unknown_extension_is_not_found(gateway):
    refused(gateway.http.get(f"/extensions/{UNKNOWN_ID}"), 404, "extension not found")


def test_list_is_newest_created_first(gateway, create_extension):
    made = [accepted(create_extension(), 201)["id"] for _ in range(5)]
    listed = [found for found in ids(accepted(gateway.http.get("/extensions"))) if found in made]
    assert listed == made[::-1]


def test_change_does_not_reorder_the_list(gateway, create_extension):
    first, second = accepted(create_extension(), 201), accepted(create_extension(), 201)
    accepted(patch(gateway, first, description="changed"))
    listed = ids(accepted(gateway.http.get("/extensions")))
    assert listed.index(second["id"]) < listed.index(first["id"])


def test_list_holds_whole_records(gateway, create_extension):
    made = accepted(create_extension(definition={"radius": 4}), 201)
    assert next(found for found in accepted(gateway.http.get("/extensions")) if found["id"] == made["id"]) == made


def test_filter_by_type(gateway, create_extension):
    made = accepted(create_extension(type="widget", definition=MINIMAL_DEFINITIONS["widget"]), 201)
    listed = accepted(gateway.http.get("/extensions", params={"type": "widget"}))
    assert made["id"] in ids(listed) and {found["type"] for found in listed} == {"widget"}


def test_filter_by_enabled(gateway, create_extension):
    on, off = accepted(create_extension(enabled=True), 201)["id"], accepted(create_extension(), 201)["id"]
    for value, holds, lacks in [("true", on, off), ("1", on, off), ("false", off, on), ("0", off, on)]:
        listed = ids(accepted(gateway.http.get("/extensions", params={"enabled": value})))
        assert holds in listed and lacks not in listed
    both = ids(accepted(gateway.http.get("/extensions")))
    assert on in both and off in both


@pytest.mark.parametrize("source", ["built-in", "user", "agent", "community"])
def test_filter_by_source(gateway, create_extension, source):
    if source != "built-in":
        accepted(create_extension(source=source), 201)
    listed = accepted(gateway.http.get("/extensions", params={"source": source}))
    assert listed and {found["source"] for found in listed} == {source}


def test_filter_by_owner(gateway, create_extension, new_name):
    owner = new_name("owner")
    made = accepted(create_extension(source="agent", owner_agent_id=owner), 201)
    accepted(create_extension(source="agent", owner_agent_id=owner + "x"), 201)
    assert accepted(gateway.http.get("/extensions", params={"owner_agent_id": owner})) == [made]
    assert accepted(gateway.http.get("/extensions", params={"owner_agent_id": UNKNOWN_ID})) == []


def test_owner_filter_takes_name_or_id(gateway, create_extension):
    assistant = named(gateway, "assistant")
    made = accepted(create_extension(source="agent", owner_agent_id="assistant"), 201)
    for given in ("assistant", assistant["id"]):
        assert made["id"] in ids(accepted(gateway.http.get("/extensions", params={"owner_agent_id": given})))


def test_filters_are_combined(gateway, create_extension):
    made = accepted(create_extension(type="artifact", definition={}, enabled=True, source="community"), 201)
    accepted(create_extension(type="artifact", definition={}, source="community"), 201)
    params = {"type": "artifact", "enabled": "true", "source": "community"}
    assert ids(accepted(gateway.http.get("/extensions", params=params))) == [made["id"]]


# Change.


def test_change_touches_only_sent_members(gateway, create_extension):
    made = accepted(create_extension(definition={"dark": True}, trigger_def={"type": "webhook"}), 201)
    changed = accepted(patch(gateway, made, description="new words"))
    assert changed["updated_at"] > made["updated_at"]
    assert changed == {**made, "description": "new words", "updated_at": changed["updated_at"]}
    assert get(gateway, made) == changed


def test_empty_change_changes_nothing(gateway, create_extension):
    made = accepted(create_extension(), 201)
    assert accepted(patch(gateway, made)) == made
    assert accepted(patch(gateway, made, colour="unknown", description=None, definition=None, enabled=None)) == made
    assert get(gateway, made) == made


def test_change_to_the_same_values_changes_nothing(gateway, create_extension):
    made = accepted(create_extension(trigger_def=(trigger := {"type": "webhook"})), 201)
    same = {member: made[member] for member in ("name", "description", "definition", "enabled")}
    with gateway.events() as events:
        assert accepted(patch(gateway, made, trigger=trigger, **same)) == made
        assert [found for found in events.drain() if found.get("id") == made["id"]] == []


def test_definition_is_replaced_as_a_whole(gateway, create_extension):
    made = accepted(create_extension(definition={"dark": True, "font": "serif", "colors": {"text": "black"}}), 201)
    assert accepted(patch(gateway, made, definition={"dark": False}))["definition"] == {"dark": False}
    assert accepted(patch(gateway, made, definition={}))["definition"] == {}


@pytest.mark.parametrize("type, whole, part", [
    ("command", {"prompt": "Say hello", "agent_id": "assistant"}, {"agent_id": "assistant"}),
    ("job", {"agent_id": "assistant", "prompt": "Say hello"}, {"prompt": "Say goodbye"}),
])
def test_partial_definition_is_accepted(gateway, create_extension, type, whole, part):
    made = accepted(create_extension(type=type, definition=whole), 201)
    assert accepted(patch(gateway, made, definition=part))["definition"] == part
    assert get(gateway, made)["definition"] == part
    refused(patch(gateway, made, definition={"prompt": 5}), 400, "validation failed")


def test_trigger_is_replaced_by_member_trigger_and_removed_by_null(gateway, create_extension):
    made = accepted(create_extension(trigger_def={"type": "event", "event": "turn.created"}), 201)
    other = {"type": "cron", "expression": "*/5 * * * *"}
    assert accepted(patch(gateway, made, trigger=other))["trigger_def"] == other
    assert accepted(patch(gateway, made, description="no trigger here"))["trigger_def"] == other
    assert accepted(patch(gateway, made, trigger_def=None))["trigger_def"] == other
    assert accepted(patch(gateway, made, trigger=None))["trigger_def"] is None
    assert get(gateway, made)["trigger_def"] is None


def test_enabled_is_set(gateway, create_extension):
    made = accepted(create_extension(), 201)
    assert [accepted(patch(gateway, made, enabled=value))["enabled"] for value in (True, True, False)] == [
        True, True, False]


def test_changed_name_frees_the_old_one(gateway, create_extension, new_name):
    old, new = new_name("old"), new_name("new")
    made = accepted(create_extension(name=old), 201)
    assert accepted(patch(gateway, made, name=new))["name"] == new
    assert accepted(patch(gateway, made, name=new))["name"] == new
    accepted(create_extension(name=old), 201)
    refused(patch(gateway, made, name=old), 409, "extension name already exists", name=old)
    refused(create_extension(name=new), 409, "extension name already exists", name=new)


@pytest.mark.parametrize("bad", ["", "A", "a--b", UNKNOWN_ID, 5, True, ["a"], "x" * 65])
def test_change_to_an_invalid_name_is_refused(gateway, create_extension, bad):
    made = accepted(create_extension(), 201)
    refused(patch(gateway, made, name=bad, description=5), 400, KEBAB)
    assert get(gateway, made) == made


@pytest.mark.parametrize("member, value", [
    ("description", 5), ("definition", []), ("definition", "x"), ("trigger", 5), ("trigger", []), ("enabled", "true"),
    ("enabled", 1),
])
def test_change_of_the_wrong_type_is_invalid_and_changes_nothing(gateway, create_extension, member, value):
    made = accepted(create_extension(), 201)
    invalid(patch(gateway, made, **{"name": made["name"] + "-x", member: value}), member)
    assert get(gateway, made) == made


def test_type_source_and_owner_cannot_be_changed(gateway, create_extension):
    made = accepted(create_extension(), 201)
    assert accepted(patch(gateway, made, type="agent", source="agent", owner_agent_id="a", id=UNKNOWN_ID)) == made


def test_change_based_on_an_old_revision_is_refused(gateway, create_extension):
    made = accepted(create_extension(), 201)
    changed = accepted(patch(gateway, made, description="first", if_updated_at=made["updated_at"]))
    refused(patch(gateway, made, description="second", if_updated_at=made["updated_at"]), 409, "changed meanwhile")
    assert get(gateway, made) == changed
    accepted(patch(gateway, made, description="third", if_updated_at=changed["updated_at"]))


def test_one_of_many_simultaneous_changes_is_made(gateway, create_extension):
    made = accepted(create_extension(), 201)
    responses = at_once(10,
                      lambda number: patch(gateway, made, description=str(number), if_updated_at=made["updated_at"]))
    assert sorted(response.status_code for response in responses) == [200] + [409] * 9


def test_each_change_has_a_later_time(gateway, create_extension):
    made = accepted(create_extension(), 201)
    times = [accepted(patch(gateway, made, description=str(number)))["updated_at"] for number in range(10)]
    assert times == sorted(set(times)) and times[0] > made["updated_at"]


# Toggle and delete.


def test_toggle_flips_and_returns_the_record(gateway, create_extension):
    made = accepted(create_extension(), 201)
    on = accepted(toggle(gateway, made))
    assert on == {**made, "enabled": True, "updated_at": on["updated_at"]}
    assert accepted(toggle(gateway, made))["enabled"] is False


def test_simultaneous_toggles_all_count(gateway, create_extension):
    made = accepted(create_extension(), 201)
    responses = [accepted(response)["enabled"] for response in at_once(21, lambda _: toggle(gateway, made))]
    assert responses.count(True) == 11 and get(gateway, made)["enabled"] is True


def test_deleted_record_is_gone(gateway, create_extension, new_name):
    wanted = new_name("gone")
    made = accepted(create_extension(name=wanted), 201)
    path = f"/extensions/{made['id']}"
    response = gateway.http.delete(path)
    assert response.status_code == 204 and response.content == b""
    for later in (gateway.http.get(path), gateway.http.delete(path), patch(gateway, made), toggle(gateway, made)):
        refused(later, 404, "extension not found")
    assert named(gateway, wanted) is None
    assert accepted(create_extension(name=wanted), 201)["id"] != made["id"]


def test_records_survive_a_restart(own_gateway):
    for number in range(5):
        accepted(own_gateway.http.post("/extensions", json={
            "type": "theme", "name": f"kept-{number}", "description": "\u00e9", "definition": {"n": [number, 0.1]},
            "trigger_def": {"type": "webhook"}, "source": "agent", "owner_agent_id": "x",
            "enabled": bool(number % 2)}), 201)
    before = accepted(own_gateway.http.get("/extensions"))
    own_gateway.restart()
    assert accepted(own_gateway.http.get("/extensions")) == before


# Every change is announced and takes effect immediately.


def test_changes_are_announced(gateway, create_extension):
    with gateway.events() as events:
        made = accepted(create_extension(enabled=True), 201)
        accepted(patch(gateway, made, description="other"))
        accepted(toggle(gateway, made))
        gateway.http.delete(f"/extensions/{made['id']}")
        changes = [found for found in events.drain() if found["type"] == "extension-changed" and found["id"] == made["id"]]
    assert [(found["action"], found["enabled"]) for found in changes][:3] == [
        ("created", True), ("updated", True), ("updated", False)]
    assert changes[3]["action"] == "deleted" and len(changes) == 4
    for found in changes:
        assert found["name"] == made["name"] and found["extensionType"] == "theme" and "threadId" not in found


def test_change_is_announced_to_connections_with_subscriptions(gateway, create_extension, thread):
    with gateway.events(thread["id"]) as events:
        made = accepted(create_extension(), 201)
        assert made["id"] in [found.get("id") for found in events.drain()]


def test_unchanged_record_is_not_announced(gateway, create_extension):
    made = accepted(create_extension(), 201)
    with gateway.events() as events:
        accepted(patch(gateway, made))
        refused(patch(gateway, made, name="assistant"), 409, "extension name already exists")
        assert [found for found in events.drain() if found.get("id") == made["id"]] == []


def test_agent_answers_once_enabled(gateway, create_extension):
    agent = accepted(create_extension(type="agent", definition=MINIMAL_DEFINITIONS["agent"]), 201)
    chat = {"content": "hello", "agentId": agent["name"]}
    refused(gateway.http.post("/chat", json=chat), 400, "agent is disabled", agent_id=agent["name"])
    accepted(toggle(gateway, agent))
    accepted(gateway.http.post("/chat", json=chat), 201)
    accepted(toggle(gateway, agent))
    refused(gateway.http.post("/chat", json=chat), 400, "agent is disabled", agent_id=agent["name"])
    gateway.http.delete(f"/extensions/{agent['id']}")
    refused(gateway.http.post("/chat", json=chat), 400, "agent not found", agent_id=agent["name"])


def test_change_needs_a_body(gateway, create_extension):
    made = accepted(create_extension(), 201)
    refused(gateway.http.patch(f"/extensions/{made['id']}"), 400, "Request body required")
    assert get(gateway, made) == made
