"""The built-in extensions and the changes to them that are allowed.

See docs/contract/extensions.md#built-in-extensions.
"""

import pytest

from checks import accepted, is_id, refused
from extensions import MEMBERS, get, named, patch, toggle

BUILT_INS = {
    "agent": {"assistant"}, "job": {"compile-knowledge", "self-reflect"},
    "command": {"help", "new", "plan", "act", "stop", "search", "remember", "jobs", "proposals"},
    "action": {"current-time", "calculate"}, "theme": {"light", "dark"},
    "renderer": {"markdown", "code", "diff", "json"}, "control": {"mode-switch", "stop-button"},
    "capability": {"read-only", "workspace", "network"},
}


def built_ins(gateway):
    return accepted(gateway.http.get("/extensions", params={"source": "built-in"}))


def test_new_gateway_has_exactly_the_built_ins(make_gateway):
    found = accepted(make_gateway().start().http.get("/extensions"))
    by_type = {}
    for extension in found:
        by_type.setdefault(extension["type"], set()).add(extension["name"])
    assert by_type == BUILT_INS and len(found) == 25
    assert {extension["source"] for extension in found} == {"built-in"}
    assert [extension["name"] for extension in found if not extension["enabled"]] == ["self-reflect"]


def test_assistant_commands_and_actions_are_essential(gateway):
    for extension in built_ins(gateway):
        assert extension["essential"] is (extension["type"] in ("agent", "command", "action")), extension["name"]


def test_built_ins_are_valid_records(gateway):
    for extension in built_ins(gateway):
        assert set(extension) == MEMBERS and extension["description"] and is_id(extension["id"])
        assert extension["definition"], extension["name"]


@pytest.mark.parametrize("wanted", ["assistant", "help", "calculate"])
def test_essential_extension_cannot_be_deleted_or_disabled(gateway, wanted):
    extension = named(gateway, wanted)
    refused(toggle(gateway, extension), 403, "cannot disable essential extensions")
    refused(patch(gateway, extension, enabled=False), 403, "cannot disable essential extensions")
    refused(gateway.http.delete(f"/extensions/{extension['id']}"), 403, "cannot delete essential extensions")
    assert accepted(patch(gateway, extension, enabled=True))["enabled"] is True
    assert get(gateway, extension)["enabled"] is True


def test_non_essential_built_in_can_be_toggled(own_gateway):
    theme = named(own_gateway, "dark")
    assert accepted(toggle(own_gateway, theme))["enabled"] is False
    assert accepted(patch(own_gateway, theme, enabled=True))["enabled"] is True
    assert accepted(toggle(own_gateway, named(own_gateway, "self-reflect")))["enabled"] is True


@pytest.mark.parametrize("members", [
    {"description": "mine"}, {"name": "mine"}, {"definition": {}}, {"trigger": None},
    {"trigger": {"type": "webhook"}}, {"enabled": True, "description": "mine"},
])
def test_any_other_change_to_a_built_in_is_refused(gateway, members):
    for wanted in ("dark", "assistant"):
        extension = named(gateway, wanted)
        refused(patch(gateway, extension, **members), 403, "built-in extensions are not editable")
        assert get(gateway, extension) == extension


def test_empty_change_to_a_built_in_is_accepted(gateway):
    extension = named(gateway, "dark")
    assert accepted(patch(gateway, extension)) == extension


def test_changes_to_built_ins_survive_restarts(own_gateway):
    off, gone = named(own_gateway, "dark"), named(own_gateway, "light")
    accepted(toggle(own_gateway, off))
    assert own_gateway.http.delete(f"/extensions/{gone['id']}").status_code == 204
    for restart in (own_gateway.restart, lambda: (own_gateway.kill(), own_gateway.start())):
        restart()
        assert named(own_gateway, "light") is None
        assert named(own_gateway, "dark")["enabled"] is False and named(own_gateway, "dark")["id"] == off["id"]
        assert len(built_ins(own_gateway)) == 24
    refused(own_gateway.http.get(f"/extensions/{gone['id']}"), 404, "extension not found")
