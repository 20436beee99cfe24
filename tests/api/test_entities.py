"""What the heads of pages name (decisions, 9)."""

import pytest

from checks import accepted, is_id, refused
from knowledge import page


def entities(gateway, **params):
    return accepted(gateway.http.get("/entities", params=params))


def names(listed):
    return [entity["name"] for entity in listed]


def test_an_entity_is_answered_with_its_pages(own):
    page(own, "b", title="Beta", entities=["Ada", {"name": "Acme", "type": "company"}])
    page(own, "a", title="Alpha", entities=[{"name": "Acme", "type": "company"}])
    listed = {entity["name"]: entity for entity in entities(own)}
    acme = listed["Acme"]
    assert set(acme) == {"id", "name", "type", "pages"} and is_id(acme["id"])
    assert acme["type"] == "company" and listed["Ada"]["type"] is None
    assert acme["pages"] == [{"slug": "a", "title": "Alpha", "scope": "shared"},
                             {"slug": "b", "title": "Beta", "scope": "shared"}]
    assert accepted(own.http.get(f"/entities/{acme['id']}")) == acme


def test_entities_are_narrowed_by_name_and_type(own):
    page(own, "a", entities=[{"name": "Ada Lovelace", "type": "person"}, {"name": "Acme", "type": "company"}, "Lace"])
    assert names(entities(own, q="lace")) == ["Ada Lovelace", "Lace"]
    assert names(entities(own, q="LACE", type="person")) == ["Ada Lovelace"]
    assert names(entities(own, type="company")) == ["Acme"]
    assert entities(own, q="nobody") == [] and entities(own, type="planet") == []
    assert entities(own, q="%") == [] and entities(own, q="_") == []


def test_case_does_not_tell_entities_apart_but_types_do(own):
    page(own, "a", entities=[{"name": "Mercury", "type": "planet"}])
    page(own, "b", entities=[{"name": "mercury", "type": "planet"}])
    page(own, "c", entities=[{"name": "Mercury", "type": "element"}])
    assert [(e["name"], e["type"], len(e["pages"])) for e in entities(own)] == [
        ("Mercury", "planet", 2), ("Mercury", "element", 1)]
    page(own, "d", entities=["Évariste"])
    page(own, "e", entities=["évariste"])
    assert [(e["name"], len(e["pages"])) for e in entities(own, q="ÉVARIS")] == [("Évariste", 2)]


def test_a_name_without_a_type_is_the_thing_that_is_known(own):
    page(own, "a", entities=["Ada"])
    first = entities(own)[0]
    page(own, "b", entities=[{"name": "Ada", "type": "person"}])
    [known] = entities(own)
    assert (known["id"], known["type"], len(known["pages"])) == (first["id"], "person", 2)


def test_an_entity_that_no_page_names_any_more_is_gone(own):
    file = page(own, "a", entities=["Ada", "Bob"])
    ids = {entity["name"]: entity["id"] for entity in entities(own)}
    page(own, "a", entities=["Ada"])
    assert names(entities(own)) == ["Ada"]
    assert accepted(own.http.get(f"/entities/{ids['Ada']}"))["id"] == ids["Ada"], "the id stays"
    refused(own.http.get(f"/entities/{ids['Bob']}"), 404, "entity not found")
    file.unlink()
    refused(own.http.get(f"/entities/{ids['Ada']}"), 404, "entity not found")


def test_entities_outlive_a_restart(own):
    page(own, "a", entities=["Ada"])
    before = entities(own)
    own.restart()
    assert entities(own) == before


@pytest.mark.parametrize("id", ["x", "0190b5a0-0000-7000-8000-000000000000", "..%2fa", "Ada"])
def test_an_unknown_entity_is_not_found(gateway, id):
    refused(gateway.http.get(f"/entities/{id}"), 404, "entity not found")


def test_entities_need_the_token(gateway):
    refused(gateway.anonymous.get("/entities"), 401, "unauthorized")
    refused(gateway.anonymous.get("/entities/x"), 401, "unauthorized")
