"""Projects (decisions, 11)."""

import pytest

from checks import UNKNOWN_ID, accepted, ids, is_id, is_timestamp, refused

MEMBERS = {"id", "name", "path", "description", "trusted", "created_at", "updated_at"}
BOTH_REQUIRED = "name and path are required"
OUTSIDE = "path outside home directory"


@pytest.fixture
def place(gateway, name):
    """A directory of this test's own in the home of the shared gateway."""
    made = gateway.home / name("project")
    made.mkdir()
    return made


def post(gateway, **members):
    return gateway.http.post("/projects", json=members)


def create(gateway, path, **members):
    return accepted(post(gateway, **{"name": "Atlas", "path": str(path), **members}), 201)


def get(gateway, project):
    return gateway.http.get(f"/projects/{project['id']}")


def patch(gateway, project, **members):
    return gateway.http.patch(f"/projects/{project['id']}", json=members)


# Create and read.


def test_creating_answers_201_with_the_whole_project(gateway, place):
    made = create(gateway, place, description="maps")
    assert set(made) == MEMBERS
    assert is_id(made["id"]) and is_timestamp(made["created_at"]) and made["updated_at"] == made["created_at"]
    assert (made["name"], made["path"], made["description"], made["trusted"]) == ("Atlas", str(place), "maps", False)
    assert accepted(get(gateway, made)) == made


def test_what_is_omitted_is_null_or_false(gateway, place):
    made = create(gateway, place, description=None, trusted=None, unknown=1)
    assert made["description"] is None and made["trusted"] is False


def test_a_project_can_be_trusted_from_the_start(gateway, place):
    assert create(gateway, place, trusted=True)["trusted"] is True


@pytest.mark.parametrize("members", [{}, {"name": "Atlas"}, {"path": "/"}, {"name": None, "path": None},
                                     {"name": "", "path": "/"}, {"name": "Atlas", "path": ""}])
def test_name_and_path_are_required(gateway, members):
    refused(post(gateway, **members), 400, BOTH_REQUIRED)


def test_a_body_is_required(gateway):
    refused(gateway.http.post("/projects"), 400, "Request body required")
    refused(gateway.http.post("/projects", content=b"[]"), 400, "Request body must be an object")


@pytest.mark.parametrize("member, value, error", [
    ("name", 1, "name must be a string"), ("path", [], "path must be a string"),
    ("description", {}, "description must be a string"), ("trusted", "yes", "trusted must be a boolean")])
def test_wrong_types_are_named(gateway, place, member, value, error):
    members = {"name": "Atlas", "path": str(place), member: value}
    refused(post(gateway, **members), 400, error)


# Where a project may be.


@pytest.mark.parametrize("path", ["/", "/etc", "/nowhere", "relative", "~/atlas", ".", "/tmp/../etc"])
def test_a_project_lies_in_home(gateway, path):
    refused(post(gateway, name="Atlas", path=path), 403, OUTSIDE)


def test_home_itself_is_no_project(gateway, place):
    for path in (gateway.home, f"{gateway.home}/", f"{place}/.."):
        refused(post(gateway, name="Atlas", path=str(path)), 403, OUTSIDE)


def test_a_project_lies_neither_in_nor_around_the_data_directory(make_gateway, tmp_path):
    data = tmp_path / "gateway-0" / "home" / "state" / "agw"
    data.parent.mkdir(parents=True)
    gateway = make_gateway(data=data).start()
    (gateway.home / "state" / "beside").mkdir()
    (gateway.home / "link").symlink_to(data)
    for path in (data, data / "logs", data / "nothing", data.parent, gateway.home / "link"):
        refused(post(gateway, name="Atlas", path=str(path)), 403, OUTSIDE)
    create(gateway, gateway.home / "state" / "beside")


def test_a_link_that_leads_outside_is_no_project(gateway, place):
    (place / "etc").symlink_to("/etc")
    refused(post(gateway, name="Atlas", path=str(place / "etc")), 403, OUTSIDE)


def test_what_is_not_there_is_not_found(gateway, place):
    refused(post(gateway, name="Atlas", path=str(place / "nothing")), 404, "path not found")


def test_a_file_is_no_project(gateway, place):
    (place / "file").write_text("text")
    refused(post(gateway, name="Atlas", path=str(place / "file")), 400, "path is not a directory")


def test_a_path_is_kept_as_it_is_resolved(gateway, place):
    (place / "real").mkdir()
    (place / "link").symlink_to("real")
    assert create(gateway, f"{place}/link/../real/.")["path"] == str(place / "real")


# List.


def test_projects_are_listed_newest_first(gateway, place):
    first, second = create(gateway, place), create(gateway, place)
    listed = accepted(gateway.http.get("/projects"))
    assert listed[:2] == [second, first]


def test_projects_outlive_a_restart(own):
    (own.home / "atlas").mkdir()
    first, second = create(own, own.home / "atlas"), create(own, own.home / "atlas", name="Bees")
    own.restart()
    assert accepted(own.http.get("/projects")) == [second, first]


# Change.


def test_members_can_be_changed_one_by_one(gateway, place):
    (place / "moved").mkdir()
    made = create(gateway, place)
    for member, value in (("name", "Bees"), ("description", "hives"), ("trusted", True),
                          ("path", str(place / "moved"))):
        changed = accepted(patch(gateway, made, **{member: value}))
        assert changed[member] == value
        assert {key: changed[key] for key in MEMBERS - {member, "updated_at"}} == {
            key: made[key] for key in MEMBERS - {member, "updated_at"}}
        assert changed["updated_at"] >= made["updated_at"]
        made = changed
    assert accepted(get(gateway, made)) == made


def test_changing_nothing_changes_nothing(gateway, place):
    made = create(gateway, place, description="maps")
    assert accepted(patch(gateway, made)) == made
    assert accepted(patch(gateway, made, name=None, path=None, description=None, trusted=None)) == made


def test_a_changed_path_is_held_to_the_same_rules(gateway, place):
    made = create(gateway, place)
    (place / "file").write_text("text")
    refused(patch(gateway, made, path="/etc"), 403, OUTSIDE)
    refused(patch(gateway, made, path=str(gateway.home)), 403, OUTSIDE)
    refused(patch(gateway, made, path=str(place / "nothing")), 404, "path not found")
    refused(patch(gateway, made, path=str(place / "file")), 400, "path is not a directory")
    refused(patch(gateway, made, name=""), 400, BOTH_REQUIRED)
    refused(patch(gateway, made, trusted="yes"), 400, "trusted must be a boolean")
    assert accepted(get(gateway, made)) == made


# Delete.


def test_deleting_removes_the_record_and_leaves_the_directory(gateway, place):
    (place / "notes.md").write_text("text")
    made = create(gateway, place)
    answer = gateway.http.delete(f"/projects/{made['id']}")
    assert answer.status_code == 204 and answer.content == b""
    refused(get(gateway, made), 404, "project not found")
    assert made["id"] not in ids(accepted(gateway.http.get("/projects")))
    assert (place / "notes.md").read_text() == "text"


def test_an_unknown_project_is_not_found(gateway):
    path = f"/projects/{UNKNOWN_ID}"
    refused(gateway.http.get(path), 404, "project not found")
    refused(gateway.http.delete(path), 404, "project not found")
    for body in (b"{}", b"", b"{", b'{"trusted": "yes"}'):
        refused(gateway.http.patch(path, content=body), 404, "project not found")


# Threads of a project.


def test_a_thread_may_belong_to_a_project_that_there_is(gateway, place):
    made = create(gateway, place)
    thread = accepted(gateway.http.post("/threads", json={"project_id": made["id"]}), 201)
    assert thread["project_id"] == made["id"]
    assert ids(accepted(gateway.http.get("/threads", params={"project_id": made["id"]}))) == [thread["id"]]
    gateway.http.delete(f"/projects/{made['id']}")
    refused(gateway.http.post("/threads", json={"project_id": made["id"]}), 404, "project not found")


def test_a_project_is_made_once_for_an_idempotency_key(gateway, place):
    again = {"headers": {"Idempotency-Key": place.name}, "json": {"name": "Atlas", "path": str(place)}}
    first = accepted(gateway.http.post("/projects", **again), 201)
    assert accepted(gateway.http.post("/projects", **again), 201) == first
    assert sum(found["path"] == str(place) for found in accepted(gateway.http.get("/projects"))) == 1
