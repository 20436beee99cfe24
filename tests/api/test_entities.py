"""Entities named in the front matter of pages.

See docs/contract/knowledge.md#entities.
"""

import pytest

from checks import accepted, is_id, refused
from knowledge import page


def entities(gateway, **params):
    return accepted(gateway.http.get("/entities", params=params))


def names(listed):
    return [entity["name"] for entity in listed]


def test_entity_lists_its_pages(own_gateway):
    page(own_gateway, "b", title="Beta", entities=["Ada", {"name": "Acme", "type": "company"}])
    page(own_gateway, "a", title="Alpha", entities=[{"name": "Acme", "type": "company"}])
    listed = {entity["name"]: entity for entity in entities(own_gateway)}
    acme = listed["Acme"]
    assert set(acme) == {"id", "name", "type", "pages"} and is_id(acme["id"])
    assert acme["type"] == "company" and listed["Ada"]["type"] is None
    assert acme["pages"] == [{"slug": "a", "title": "Alpha", "scope": "shared"},
                             {"slug": "b", "title": "Beta", "scope": "shared"}]
    assert accepted(own_gateway.http.get(f"/entities/{acme['id']}")) == acme


def test_entities_are_filtered_by_name_and_type(own_gateway):
    page(own_gateway, "a", entities=[{"name": "Ada Lovelace", "type": "person"}, {"name": "Acme", "type": "company"}, "Lace"])
    assert names(entities(own_gateway, q="lace")) == ["Ada Lovelace", "Lace"]
    assert names(entities(own_gateway, q="LACE", type="person")) == ["Ada Lovelace"]
    assert names(entities(own_gateway, type="company")) == ["Acme"]
    assert entities(own_gateway, q="nobody") == [] and entities(own_gateway, type="planet") == []
    assert entities(own_gateway, q="%") == [] and entities(own_gateway, q="_") == []


def test_entities_differ_by_type_but_not_by_case(own_gateway):
    page(own_gateway, "a", entities=[{"name": "Mercury", "type": "planet"}])
    page(own_gateway, "b", entities=[{"name": "mercury", "type": "planet"}])
    page(own_gateway, "c", entities=[{"name": "Mercury", "type": "element"}])
    assert [(e["name"], e["type"], len(e["pages"])) for e in entities(own_gateway)] == [
        ("Mercury", "planet", 2), ("Mercury", "element", 1)]
    page(own_gateway, "d", entities=["Évariste"])
    page(own_gateway, "e", entities=["évariste"])
    assert [(e["name"], len(e["pages"])) for e in entities(own_gateway, q="ÉVARIS")] == [("Évariste", 2)]


def test_name_without_a_type_refers_to_the_known_entity(own_gateway):
    page(own_gateway, "a", entities=["Ada"])
    first = entities(own_gateway)[0]
    page(own_gateway, "b", entities=[{"name": "Ada", "type": "person"}])
    [known] = entities(own_gateway)
    assert (known["id"], known["type"], len(known["pages"])) == (first["id"], "person", 2)


def test_entity_without_pages_is_deleted(own_gateway):
    file = page(own_gateway, "a", entities=["Ada", "Bob"])
    ids = {entity["name"]: entity["id"] for entity in entities(own_gateway)}
    page(own_gateway, "a", entities=["Ada"])
    assert names(entities(own_gateway)) == ["Ada"]
    assert accepted(own_gateway.http.get(f"/entities/{ids['Ada']}"))["id"] == ids["Ada"], "the id stays"
    refused(own_gateway.http.get(f"/entities/{ids['Bob']}"), 404, "entity not found")
    file.unlink()
    refused(own_gateway.http.get(f"/entities/{ids['Ada']}"), 404, "entity not found")


def test_entities_survive_a_restart(own_gateway):
    page(own_gateway, "a", entities=["Ada"])
    before = entities(own_gateway)
    own_gateway.restart()
    assert entities(own_gateway) == before


@pytest.mark.parametrize("id", ["x", "0190b5a0-0000-7000-8000-000000000000", "..%2fa", "Ada"])
def test_unknown_entity_is_not_found(gateway, id):
    refused(gateway.http.get(f"/entities/{id}"), 404, "entity not found")


def test_entities_require_the_token(gateway):
    refused(gateway.anonymous.get("/entities"), 401, "unauthorized")
    refused(gateway.anonymous.get("/entities/x"), 401, "unauthorized")
