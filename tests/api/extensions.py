"""Requests of the extension tests."""

from checks import accepted

MEMBERS = {"id", "type", "name", "description", "definition", "trigger_def", "source", "enabled", "owner_agent_id",
           "created_at", "updated_at", "essential"}


def get(gateway, extension):
    return accepted(gateway.http.get(f"/extensions/{extension['id']}"))


def patch(gateway, extension, **members):
    return gateway.http.patch(f"/extensions/{extension['id']}", json=members)


def toggle(gateway, extension):
    return gateway.http.post(f"/extensions/{extension['id']}/toggle")


def named(gateway, wanted):
    return next((found for found in accepted(gateway.http.get("/extensions")) if found["name"] == wanted), None)
