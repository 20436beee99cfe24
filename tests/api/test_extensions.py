"""Extensions as records: list, create, change, toggle, delete (decisions, 3)."""

import pytest

from checks import UNKNOWN_ID, accepted, at_once, ids, invalid, is_id, is_timestamp, refused
from extensions import MEMBERS, get, named, patch, toggle

TYPES = ["command", "agent", "job", "app", "theme", "renderer", "integration", "action", "widget", "artifact",
         "capability", "control"]
ENOUGH = {
    "command": {"prompt": "do $ARGUMENTS"}, "agent": {"systemPrompt": "You help."},
    "job": {"agent_id": "assistant", "prompt": "work"}, "app": {"type": "static"}, "theme": {"dark": True},
    "renderer": {"template": "{{content}}"}, "integration": {"kind": "http", "url": "http://127.0.0.1/"},
    "action": {"kind": "prompt", "prompt": "think"}, "widget": {"html": "<p>"}, "artifact": {"mime": "text/plain"},
    "capability": {"tools": ["Read"]}, "control": {"controls": []},
}
KEBAB = "name must be kebab-case (a-z, 0-9, hyphens)"


@pytest.fixture
def create(gateway, name):
    """Creates an extension on the shared gateway, a theme with a name of its own unless told otherwise."""
    def create(**members):
        return gateway.http.post("/extensions", json={
            "type": "theme", "name": name(), "description": "for a test", "definition": {}, **members})
    return create


# Create.


def test_creating_answers_201_with_the_whole_record(gateway, create, name):
    wanted = name("whole")
    made = accepted(create(name=wanted, description="What it is", definition={"dark": True}), 201)
    assert set(made) == MEMBERS
    assert is_id(made["id"]) and is_timestamp(made["created_at"]) and made["updated_at"] == made["created_at"]
    assert {member: made[member] for member in MEMBERS - {"id", "created_at", "updated_at"}} == {
        "type": "theme", "name": wanted, "description": "What it is", "definition": {"dark": True},
        "trigger_def": None, "source": "user", "enabled": False, "owner_agent_id": None, "essential": False}
    assert get(gateway, made) == made


@pytest.mark.parametrize("kind", TYPES)
def test_each_of_the_twelve_types_can_be_created(gateway, create, kind):
    made = accepted(create(type=kind, definition=ENOUGH[kind]), 201)
    assert made["type"] == kind and get(gateway, made) == made


def test_enabled_is_taken_as_sent(create):
    assert accepted(create(enabled=True), 201)["enabled"] is True
    assert accepted(create(enabled=False), 201)["enabled"] is False
    assert accepted(create(enabled=None), 201)["enabled"] is False


@pytest.mark.parametrize("source", ["user", "agent", "community"])
def test_a_source_is_taken_as_sent(create, source):
    assert accepted(create(source=source), 201)["source"] == source


def test_an_owner_is_taken_with_source_agent_and_else_ignored(create):
    assert accepted(create(source="agent", owner_agent_id="builder"), 201)["owner_agent_id"] == "builder"
    assert accepted(create(source="agent"), 201)["owner_agent_id"] is None
    assert accepted(create(source="user", owner_agent_id="builder"), 201)["owner_agent_id"] is None
    assert accepted(create(source="community", owner_agent_id="builder"), 201)["owner_agent_id"] is None
    assert accepted(create(owner_agent_id="builder"), 201)["owner_agent_id"] is None


def test_a_definition_is_kept_with_its_unknown_members(gateway, create):
    definition = {"dark": False, "mine": [1, 2.5, None, {"\u00e9": "\U0001f600", "": {}}], "z": True, "a": "no",
                  "n": 10**15}
    made = accepted(create(definition=definition), 201)
    assert made["definition"] == definition and get(gateway, made)["definition"] == definition


def test_a_trigger_is_kept_on_every_type(gateway, create):
    trigger = {"type": "cron", "expression": "0 9 * * 1-5", "timezone": "Europe/Berlin"}
    made = accepted(create(trigger_def=trigger), 201)
    assert made["trigger_def"] == trigger and get(gateway, made)["trigger_def"] == trigger


def test_unknown_members_of_the_body_are_ignored(create):
    made = accepted(create(essential=True, id=UNKNOWN_ID, created_at="2000-01-01T00:00:00.000Z", colour="red"), 201)
    assert set(made) == MEMBERS and made["essential"] is False
    assert made["id"] != UNKNOWN_ID and not made["created_at"].startswith("2000")


# Names.


@pytest.mark.parametrize("stem", ["a", "a1", "1", "a-b", "0-0", "a-b-c-d", "agw", "x" * 40])
def test_a_kebab_case_name_is_taken(create, name, stem):
    wanted = name(stem)
    assert accepted(create(name=wanted), 201)["name"] == wanted


def test_a_name_may_have_64_characters_and_no_more(create, name):
    wanted = name("n") + "-"
    wanted += "x" * (64 - len(wanted))
    assert accepted(create(name=wanted), 201)["name"] == wanted
    refused(create(name=wanted + "x"), 400, KEBAB)


@pytest.mark.parametrize("bad", [
    "", "A", "aB", "-a", "a-", "a--b", "a_b", "a.b", "a b", " a", "a ", "a\n", "\u00e9", "a/b", "../a", "a\u0000",
    "-", "--",
    "x" * 65, "x" * 10_000, "\u0061\u0301", "\uff41", "a:b", "01890000-0000-7000-8000-000000000000",
    "f47ac10b-58cc-4372-a567-0e02b2c3d479", "00000000-0000-0000-0000-000000000000",
    "aaaaaaaa-aaaa-aaaa-aaaa-aaaaaaaaaaaa",
])
def test_a_bad_name_is_refused(create, bad):
    refused(create(name=bad), 400, KEBAB)


@pytest.mark.parametrize("bad", [5, True, ["a"], {"a": 1}, 1.5])
def test_a_name_that_is_no_string_is_a_bad_name(create, bad):
    refused(create(name=bad), 400, KEBAB)


def test_the_name_is_checked_before_all_else_of_the_body(gateway):
    refused(gateway.http.post("/extensions", json={"name": "Bad Name"}), 400, KEBAB)
    refused(gateway.http.post("/extensions", json={"name": "Bad", "type": 5, "definition": 5}), 400, KEBAB)
    refused(gateway.http.post("/extensions", json={}), 400, "name is required")


def test_a_name_is_unique_over_all_types(create, name):
    taken = name("taken")
    accepted(create(name=taken), 201)
    refused(create(name=taken), 409, "extension name already exists", name=taken)
    refused(create(name=taken, type="agent"), 409, "extension name already exists", name=taken)
    refused(create(name="assistant"), 409, "extension name already exists", name="assistant")


def test_a_bad_body_is_answered_before_a_taken_name(create):
    invalid(create(name="assistant", type="plugin"))


def test_of_many_who_want_a_name_at_once_one_gets_it(gateway, create, name):
    wanted = name("wanted")
    answers = at_once(16, lambda _: create(name=wanted))
    assert sorted(answer.status_code for answer in answers) == [201] + [409] * 15
    assert len([found for found in accepted(gateway.http.get("/extensions")) if found["name"] == wanted]) == 1


# What is wrong with a body.


@pytest.mark.parametrize("member, value", [
    ("type", "plugin"), ("type", "Agent"), ("type", ""), ("type", 5), ("type", ["agent"]),
    ("description", 5), ("description", ["a"]), ("description", {}), ("description", True),
    ("definition", []), ("definition", "{}"), ("definition", 5), ("definition", True),
    ("trigger_def", []), ("trigger_def", "cron"), ("trigger_def", 5),
    ("source", "built-in"), ("source", "everyone"), ("source", 5), ("source", ""),
    ("enabled", "true"), ("enabled", 1), ("enabled", []),
])
def test_what_is_wrong_with_a_member_fails_validation_and_is_named(create, member, value):
    invalid(create(**{member: value}), member)


def test_an_owner_of_the_wrong_type_fails_validation(create):
    invalid(create(source="agent", owner_agent_id=5), "owner_agent_id")


def test_all_that_is_wrong_is_told_at_once(create):
    details = invalid(create(type="plugin", enabled="yes", source="built-in"))
    told = " ".join(entry["path"] for entry in details)
    assert all(member in told for member in ("type", "enabled", "source"))


def test_an_extension_that_was_refused_does_not_exist(gateway, create, name):
    wanted = name("refused")
    invalid(create(name=wanted, enabled="yes"))
    assert named(gateway, wanted) is None
    accepted(create(name=wanted), 201)


# Read and list.


def test_an_unknown_extension_is_not_found(gateway):
    refused(gateway.http.get(f"/extensions/{UNKNOWN_ID}"), 404, "extension not found")


def test_a_list_is_newest_created_first(gateway, create):
    made = [accepted(create(), 201)["id"] for _ in range(5)]
    listed = [found for found in ids(accepted(gateway.http.get("/extensions"))) if found in made]
    assert listed == made[::-1]


def test_a_change_does_not_move_an_extension_in_the_list(gateway, create):
    first, second = accepted(create(), 201), accepted(create(), 201)
    accepted(patch(gateway, first, description="changed"))
    listed = ids(accepted(gateway.http.get("/extensions")))
    assert listed.index(second["id"]) < listed.index(first["id"])


def test_the_list_holds_whole_records(gateway, create):
    made = accepted(create(definition={"radius": 4}), 201)
    assert next(found for found in accepted(gateway.http.get("/extensions")) if found["id"] == made["id"]) == made


def test_filter_by_type(gateway, create):
    made = accepted(create(type="widget", definition=ENOUGH["widget"]), 201)
    listed = accepted(gateway.http.get("/extensions", params={"type": "widget"}))
    assert made["id"] in ids(listed) and {found["type"] for found in listed} == {"widget"}


def test_filter_by_enabled(gateway, create):
    on, off = accepted(create(enabled=True), 201)["id"], accepted(create(), 201)["id"]
    for value, holds, lacks in [("true", on, off), ("1", on, off), ("false", off, on), ("0", off, on)]:
        listed = ids(accepted(gateway.http.get("/extensions", params={"enabled": value})))
        assert holds in listed and lacks not in listed
    both = ids(accepted(gateway.http.get("/extensions")))
    assert on in both and off in both


@pytest.mark.parametrize("source", ["built-in", "user", "agent", "community"])
def test_filter_by_source(gateway, create, source):
    if source != "built-in":
        accepted(create(source=source), 201)
    listed = accepted(gateway.http.get("/extensions", params={"source": source}))
    assert listed and {found["source"] for found in listed} == {source}


def test_filter_by_owner(gateway, create, name):
    owner = name("owner")
    made = accepted(create(source="agent", owner_agent_id=owner), 201)
    accepted(create(source="agent", owner_agent_id=owner + "x"), 201)
    assert accepted(gateway.http.get("/extensions", params={"owner_agent_id": owner})) == [made]
    assert accepted(gateway.http.get("/extensions", params={"owner_agent_id": UNKNOWN_ID})) == []


def test_an_owner_can_be_named_by_name_or_by_id(gateway, create):
    assistant = named(gateway, "assistant")
    made = accepted(create(source="agent", owner_agent_id="assistant"), 201)
    for given in ("assistant", assistant["id"]):
        assert made["id"] in ids(accepted(gateway.http.get("/extensions", params={"owner_agent_id": given})))


def test_filters_are_combined(gateway, create):
    made = accepted(create(type="artifact", definition={}, enabled=True, source="community"), 201)
    accepted(create(type="artifact", definition={}, source="community"), 201)
    params = {"type": "artifact", "enabled": "true", "source": "community"}
    assert ids(accepted(gateway.http.get("/extensions", params=params))) == [made["id"]]


# Change.


def test_a_change_touches_only_what_is_sent(gateway, create):
    made = accepted(create(definition={"dark": True}, trigger_def={"type": "webhook"}), 201)
    changed = accepted(patch(gateway, made, description="new words"))
    assert changed["updated_at"] > made["updated_at"]
    assert changed == {**made, "description": "new words", "updated_at": changed["updated_at"]}
    assert get(gateway, made) == changed


def test_an_empty_change_leaves_all_as_it_was(gateway, create):
    made = accepted(create(), 201)
    assert accepted(patch(gateway, made)) == made
    assert accepted(patch(gateway, made, colour="unknown", description=None, definition=None, enabled=None)) == made
    assert get(gateway, made) == made


def test_a_definition_is_replaced_whole(gateway, create):
    made = accepted(create(definition={"dark": True, "font": "serif", "colors": {"text": "black"}}), 201)
    assert accepted(patch(gateway, made, definition={"dark": False}))["definition"] == {"dark": False}
    assert accepted(patch(gateway, made, definition={}))["definition"] == {}


@pytest.mark.parametrize("type, whole, part", [
    ("command", {"prompt": "Say hello", "agent_id": "assistant"}, {"agent_id": "assistant"}),
    ("job", {"agent_id": "assistant", "prompt": "Say hello"}, {"prompt": "Say goodbye"}),
])
def test_a_partial_definition_does_not_fail(gateway, create, type, whole, part):
    made = accepted(create(type=type, definition=whole), 201)
    assert accepted(patch(gateway, made, definition=part))["definition"] == part
    assert get(gateway, made)["definition"] == part
    refused(patch(gateway, made, definition={"prompt": 5}), 400, "validation failed")


def test_a_trigger_is_replaced_by_the_member_trigger_and_removed_by_null(gateway, create):
    made = accepted(create(trigger_def={"type": "event", "event": "turn.created"}), 201)
    other = {"type": "cron", "expression": "*/5 * * * *"}
    assert accepted(patch(gateway, made, trigger=other))["trigger_def"] == other
    assert accepted(patch(gateway, made, description="no trigger here"))["trigger_def"] == other
    assert accepted(patch(gateway, made, trigger_def=None))["trigger_def"] == other
    assert accepted(patch(gateway, made, trigger=None))["trigger_def"] is None
    assert get(gateway, made)["trigger_def"] is None


def test_enabled_is_set_to_the_given_value(gateway, create):
    made = accepted(create(), 201)
    assert [accepted(patch(gateway, made, enabled=value))["enabled"] for value in (True, True, False)] == [
        True, True, False]


def test_a_name_can_be_changed_and_frees_the_old_one(gateway, create, name):
    old, new = name("old"), name("new")
    made = accepted(create(name=old), 201)
    assert accepted(patch(gateway, made, name=new))["name"] == new
    assert accepted(patch(gateway, made, name=new))["name"] == new
    accepted(create(name=old), 201)
    refused(patch(gateway, made, name=old), 409, "extension name already exists", name=old)
    refused(create(name=new), 409, "extension name already exists", name=new)


@pytest.mark.parametrize("bad", ["", "A", "a--b", UNKNOWN_ID, 5, True, ["a"], "x" * 65])
def test_a_change_to_a_bad_name_is_refused(gateway, create, bad):
    made = accepted(create(), 201)
    refused(patch(gateway, made, name=bad, description=5), 400, KEBAB)
    assert get(gateway, made) == made


@pytest.mark.parametrize("member, value", [
    ("description", 5), ("definition", []), ("definition", "x"), ("trigger", 5), ("trigger", []), ("enabled", "true"),
    ("enabled", 1),
])
def test_a_change_of_the_wrong_type_fails_validation_and_changes_nothing(gateway, create, member, value):
    made = accepted(create(), 201)
    invalid(patch(gateway, made, **{"name": made["name"] + "-x", member: value}), member)
    assert get(gateway, made) == made


def test_type_source_and_owner_cannot_be_changed(gateway, create):
    made = accepted(create(), 201)
    assert accepted(patch(gateway, made, type="agent", source="agent", owner_agent_id="a", id=UNKNOWN_ID)) == made


def test_a_change_based_on_what_is_not_the_latest_is_refused(gateway, create):
    made = accepted(create(), 201)
    changed = accepted(patch(gateway, made, description="first", if_updated_at=made["updated_at"]))
    refused(patch(gateway, made, description="second", if_updated_at=made["updated_at"]), 409, "changed meanwhile")
    assert get(gateway, made) == changed
    accepted(patch(gateway, made, description="third", if_updated_at=changed["updated_at"]))


def test_of_many_changes_based_on_the_same_record_one_is_made(gateway, create):
    made = accepted(create(), 201)
    answers = at_once(10,
                      lambda number: patch(gateway, made, description=str(number), if_updated_at=made["updated_at"]))
    assert sorted(answer.status_code for answer in answers) == [200] + [409] * 9


def test_each_change_has_a_later_time(gateway, create):
    made = accepted(create(), 201)
    times = [accepted(patch(gateway, made, description=str(number)))["updated_at"] for number in range(10)]
    assert times == sorted(set(times)) and times[0] > made["updated_at"]


# Toggle and delete.


def test_toggle_flips_and_answers_the_whole_record(gateway, create):
    made = accepted(create(), 201)
    on = accepted(toggle(gateway, made))
    assert on == {**made, "enabled": True, "updated_at": on["updated_at"]}
    assert accepted(toggle(gateway, made))["enabled"] is False


def test_toggles_at_once_all_count(gateway, create):
    made = accepted(create(), 201)
    answers = [accepted(answer)["enabled"] for answer in at_once(21, lambda _: toggle(gateway, made))]
    assert answers.count(True) == 11 and get(gateway, made)["enabled"] is True


def test_delete_removes_the_record_for_good(gateway, create, name):
    wanted = name("gone")
    made = accepted(create(name=wanted), 201)
    path = f"/extensions/{made['id']}"
    response = gateway.http.delete(path)
    assert response.status_code == 204 and response.content == b""
    for answer in (gateway.http.get(path), gateway.http.delete(path), patch(gateway, made), toggle(gateway, made)):
        refused(answer, 404, "extension not found")
    assert named(gateway, wanted) is None
    assert accepted(create(name=wanted), 201)["id"] != made["id"]


def test_records_are_the_same_after_a_restart(own):
    for number in range(5):
        accepted(own.http.post("/extensions", json={
            "type": "theme", "name": f"kept-{number}", "description": "\u00e9", "definition": {"n": [number, 0.1]},
            "trigger_def": {"type": "webhook"}, "source": "agent", "owner_agent_id": "x",
            "enabled": bool(number % 2)}), 201)
    before = accepted(own.http.get("/extensions"))
    own.restart()
    assert accepted(own.http.get("/extensions")) == before


# Every change is announced and takes effect at once.


def test_every_change_is_announced(gateway, create):
    with gateway.events() as events:
        made = accepted(create(enabled=True), 201)
        accepted(patch(gateway, made, description="other"))
        accepted(toggle(gateway, made))
        gateway.http.delete(f"/extensions/{made['id']}")
        told = [found for found in events.drain() if found["type"] == "extension-changed" and found["id"] == made["id"]]
    assert [(found["action"], found["enabled"]) for found in told][:3] == [
        ("created", True), ("updated", True), ("updated", False)]
    assert told[3]["action"] == "deleted" and len(told) == 4
    for found in told:
        assert found["name"] == made["name"] and found["extensionType"] == "theme" and "threadId" not in found


def test_a_change_reaches_connections_that_subscribed_to_threads(gateway, create, thread):
    with gateway.events(thread["id"]) as events:
        made = accepted(create(), 201)
        assert made["id"] in [found.get("id") for found in events.drain()]


def test_what_changes_nothing_is_not_announced(gateway, create):
    made = accepted(create(), 201)
    with gateway.events() as events:
        accepted(patch(gateway, made))
        refused(patch(gateway, made, name="assistant"), 409, "extension name already exists")
        assert [found for found in events.drain() if found.get("id") == made["id"]] == []


def test_an_agent_answers_as_soon_as_it_is_enabled(gateway, create):
    agent = accepted(create(type="agent", definition=ENOUGH["agent"]), 201)
    chat = {"content": "hello", "agentId": agent["name"]}
    refused(gateway.http.post("/chat", json=chat), 400, "agent is disabled", agent_id=agent["name"])
    accepted(toggle(gateway, agent))
    accepted(gateway.http.post("/chat", json=chat), 201)
    accepted(toggle(gateway, agent))
    refused(gateway.http.post("/chat", json=chat), 400, "agent is disabled", agent_id=agent["name"])
    gateway.http.delete(f"/extensions/{agent['id']}")
    refused(gateway.http.post("/chat", json=chat), 400, "agent not found", agent_id=agent["name"])


def test_a_change_needs_a_body(gateway, create):
    made = accepted(create(), 201)
    refused(gateway.http.patch(f"/extensions/{made['id']}"), 400, "Request body required")
    assert get(gateway, made) == made
