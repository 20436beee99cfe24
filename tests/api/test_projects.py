"""Projects.

See docs/contract/apps.md#projects.
"""

import pytest

from checks import UNKNOWN_ID, accepted, ids, is_id, is_timestamp, refused

MEMBERS = {"id", "name", "path", "description", "trusted", "created_at", "updated_at"}
BOTH_REQUIRED = "name and path are required"
OUTSIDE = "path outside home directory"


@pytest.fixture
def project_folder(gateway, new_name):
    """A directory for this test in the home of the shared gateway."""
    made = gateway.home / new_name("project")
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


def test_creating_returns_201_with_the_project(gateway, project_folder):
    made = create(gateway, project_folder, description="maps")
    assert set(made) == MEMBERS
    assert is_id(made["id"]) and is_timestamp(made["created_at"]) and made["updated_at"] == made["created_at"]
    assert (made["name"], made["path"], made["description"], made["trusted"]) == ("Atlas", str(project_folder), "maps", False)
    assert accepted(get(gateway, made)) == made


def test_omitted_members_are_null_or_false(gateway, project_folder):
    made = create(gateway, project_folder, description=None, trusted=None, unknown=1)
    assert made["description"] is None and made["trusted"] is False


def test_project_can_be_trusted_from_the_start(gateway, project_folder):
    assert create(gateway, project_folder, trusted=True)["trusted"] is True


@pytest.mark.parametrize("members", [{}, {"name": "Atlas"}, {"path": "/"}, {"name": None, "path": None},
                                     {"name": "", "path": "/"}, {"name": "Atlas", "path": ""}])
def test_name_and_path_are_required(gateway, members):
    refused(post(gateway, **members), 400, BOTH_REQUIRED)


def test_body_is_required(gateway):
    refused(gateway.http.post("/projects"), 400, "Request body required")
    refused(gateway.http.post("/projects", content=b"[]"), 400, "Request body must be an object")


@pytest.mark.parametrize("member, value, error", [
    ("name", 1, "name must be a string"), ("path", [], "path must be a string"),
    ("description", {}, "description must be a string"), ("trusted", "yes", "trusted must be a boolean")])
def test_wrong_types_are_named(gateway, project_folder, member, value, error):
    members = {"name": "Atlas", "path": str(project_folder), member: value}
    refused(post(gateway, **members), 400, error)


# Locations of projects.


@pytest.mark.parametrize("path", ["/", "/etc", "/nowhere", "relative", "~/atlas", ".", "/tmp/../etc"])
def test_project_must_be_in_home(gateway, path):
    refused(post(gateway, name="Atlas", path=path), 403, OUTSIDE)


def test_home_itself_is_not_a_project(gateway, project_folder):
    for path in (gateway.home, f"{gateway.home}/", f"{project_folder}/.."):
        refused(post(gateway, name="Atlas", path=str(path)), 403, OUTSIDE)


def test_project_may_not_contain_or_be_in_the_data_directory(make_gateway, tmp_path):
    data = tmp_path / "gateway-0" / "home" / "state" / "agw"
    data.parent.mkdir(parents=True)
    gateway = make_gateway(data=data).start()
    (gateway.home / "state" / "beside").mkdir()
    (gateway.home / "link").symlink_to(data)
    for path in (data, data / "logs", data / "nothing", data.parent, gateway.home / "link"):
        refused(post(gateway, name="Atlas", path=str(path)), 403, OUTSIDE)
    create(gateway, gateway.home / "state" / "beside")


def test_symlink_out_of_home_is_refused(gateway, project_folder):
    (project_folder / "etc").symlink_to("/etc")
    refused(post(gateway, name="Atlas", path=str(project_folder / "etc")), 403, OUTSIDE)


def test_missing_directory_is_not_found(gateway, project_folder):
    refused(post(gateway, name="Atlas", path=str(project_folder / "nothing")), 404, "path not found")


def test_file_is_not_a_project(gateway, project_folder):
    (project_folder / "file").write_text("text")
    refused(post(gateway, name="Atlas", path=str(project_folder / "file")), 400, "path is not a directory")


def test_path_is_stored_resolved(gateway, project_folder):
    (project_folder / "real").mkdir()
    (project_folder / "link").symlink_to("real")
    assert create(gateway, f"{project_folder}/link/../real/.")["path"] == str(project_folder / "real")


# List.


def test_projects_are_listed_newest_first(gateway, project_folder):
    first, second = create(gateway, project_folder), create(gateway, project_folder)
    listed = accepted(gateway.http.get("/projects"))
    assert listed[:2] == [second, first]


def test_projects_survive_a_restart(own_gateway):
    (own_gateway.home / "atlas").mkdir()
    first, second = create(own_gateway, own_gateway.home / "atlas"), create(own_gateway, own_gateway.home / "atlas", name="Bees")
    own_gateway.restart()
    assert accepted(own_gateway.http.get("/projects")) == [second, first]


# Change.


def test_members_can_be_changed_individually(gateway, project_folder):
    (project_folder / "moved").mkdir()
    made = create(gateway, project_folder)
    for member, value in (("name", "Bees"), ("description", "hives"), ("trusted", True),
                          ("path", str(project_folder / "moved"))):
        changed = accepted(patch(gateway, made, **{member: value}))
        assert changed[member] == value
        assert {key: changed[key] for key in MEMBERS - {member, "updated_at"}} == {
            key: made[key] for key in MEMBERS - {member, "updated_at"}}
        assert changed["updated_at"] >= made["updated_at"]
        made = changed
    assert accepted(get(gateway, made)) == made


def test_empty_change_changes_nothing(gateway, project_folder):
    made = create(gateway, project_folder, description="maps")
    assert accepted(patch(gateway, made)) == made
    assert accepted(patch(gateway, made, name=None, path=None, description=None, trusted=None)) == made


def test_change_to_the_same_values_keeps_the_time(gateway, project_folder):
    made = create(gateway, project_folder, description="maps")
    same = {member: made[member] for member in ("name", "path", "description", "trusted")}
    assert accepted(patch(gateway, made, **same)) == made == accepted(get(gateway, made))
    assert accepted(patch(gateway, made, **{**same, "name": "Bees"}))["updated_at"] > made["updated_at"]


def test_changed_path_follows_the_same_rules(gateway, project_folder):
    made = create(gateway, project_folder)
    (project_folder / "file").write_text("text")
    refused(patch(gateway, made, path="/etc"), 403, OUTSIDE)
    refused(patch(gateway, made, path=str(gateway.home)), 403, OUTSIDE)
    refused(patch(gateway, made, path=str(project_folder / "nothing")), 404, "path not found")
    refused(patch(gateway, made, path=str(project_folder / "file")), 400, "path is not a directory")
    refused(patch(gateway, made, name=""), 400, BOTH_REQUIRED)
    refused(patch(gateway, made, trusted="yes"), 400, "trusted must be a boolean")
    assert accepted(get(gateway, made)) == made


# Delete.


def test_deleting_removes_the_record_and_leaves_the_directory(gateway, project_folder):
    (project_folder / "notes.md").write_text("text")
    made = create(gateway, project_folder)
    response = gateway.http.delete(f"/projects/{made['id']}")
    assert response.status_code == 204 and response.content == b""
    refused(get(gateway, made), 404, "project not found")
    assert made["id"] not in ids(accepted(gateway.http.get("/projects")))
    assert (project_folder / "notes.md").read_text() == "text"


def test_unknown_project_is_not_found(gateway):
    path = f"/projects/{UNKNOWN_ID}"
    refused(gateway.http.get(path), 404, "project not found")
    refused(gateway.http.delete(path), 404, "project not found")
    for body in (b"{}", b"", b"{", b'{"trusted": "yes"}'):
        refused(gateway.http.patch(path, content=body), 404, "project not found")


# Threads of a project.


def test_thread_may_belong_to_an_existing_project(gateway, project_folder):
    made = create(gateway, project_folder)
    thread = accepted(gateway.http.post("/threads", json={"project_id": made["id"]}), 201)
    assert thread["project_id"] == made["id"]
    assert ids(accepted(gateway.http.get("/threads", params={"project_id": made["id"]}))) == [thread["id"]]
    gateway.http.delete(f"/projects/{made['id']}")
    refused(gateway.http.post("/threads", json={"project_id": made["id"]}), 404, "project not found")


def test_project_is_created_once_per_idempotency_key(gateway, project_folder):
    request = {"headers": {"Idempotency-Key": project_folder.name}, "json": {"name": "Atlas", "path": str(project_folder)}}
    first = accepted(gateway.http.post("/projects", **request), 201)
    assert accepted(gateway.http.post("/projects", **request), 201) == first
    assert sum(found["path"] == str(project_folder) for found in accepted(gateway.http.get("/projects"))) == 1
