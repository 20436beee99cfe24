"""Viewing the files of a project.

See docs/contract/apps.md#files-of-a-project.
"""

import os
import socket

import pytest

from checks import UNKNOWN_ID, accepted, is_timestamp, refused

TRAVERSAL = "path traversal not allowed"


@pytest.fixture
def folder(gateway, new_name):
    """A directory for this test in the home of the shared gateway."""
    made = gateway.home / new_name("project")
    made.mkdir()
    return made


@pytest.fixture
def project(gateway, folder):
    return accepted(gateway.http.post("/projects", json={"name": "Atlas", "path": str(folder)}), 201)


def list_files(gateway, project, path=None, **options):
    params = options if path is None else {"path": path, **options}
    return gateway.http.get(f"/projects/{project['id']}/files", params=params)


def names(gateway, project, path=None):
    return [entry["name"] for entry in accepted(list_files(gateway, project, path))["entries"]]


def get_file(gateway, project, path, **range):
    return gateway.http.get(f"/projects/{project['id']}/file", params={"path": path, **range})


def read(gateway, project, path, **range):
    return accepted(get_file(gateway, project, path, **range))


def read_whole(gateway, project, path, length):
    """Reads a file range by range."""
    text, offset = "", 0
    while offset is not None:
        part = read(gateway, project, path, offset=offset, length=length)
        assert part["offset"] == offset
        text, offset = text + part["content"], part["next"]
    return text


# Directories.


def test_directory_lists_directories_first(gateway, folder, project):
    (folder / "src").mkdir()
    (folder / "a.md").write_text("text")
    (folder / "link").symlink_to("a.md")
    with socket.socket(socket.AF_UNIX) as listening:
        previous = os.getcwd()
        os.chdir(folder)
        listening.bind("wire")
        os.chdir(previous)
    assert accepted(list_files(gateway, project)) == {
        "path": "", "complete": True, "entries": [
            {"name": "src", "type": "directory"}, {"name": "a.md", "type": "file"},
            {"name": "link", "type": "symlink"}, {"name": "wire", "type": "other"}]}


def test_limit_returns_the_first_entries(gateway, folder, project):
    (folder / "z").mkdir()
    for name in ("b", "c", "a"):
        (folder / name).touch()
    for limit, shown, complete in [(1, ["z"], False), (3, ["z", "a", "b"], False), (4, ["z", "a", "b", "c"], True)]:
        listed = accepted(list_files(gateway, project, limit=limit))
        assert ([entry["name"] for entry in listed["entries"]], listed["complete"]) == (shown, complete)
    assert len(accepted(list_files(gateway, project, limit=1_000_000))["entries"]) == 4
    for limit in (0, -1, "x", "1.5"):
        refused(list_files(gateway, project, limit=limit), 400, "limit must be a positive integer")


def test_subdirectory_is_listed_by_its_path(gateway, folder, project):
    (folder / "src" / "deep").mkdir(parents=True)
    (folder / "src" / "deep" / "ä b").write_text("text")
    (folder / "way").symlink_to("src")
    for path in ("src/deep", "src/deep/", "src/../src/./deep", "way/deep"):
        listed = accepted(list_files(gateway, project, path))
        assert listed == {"path": "src/deep", "entries": [{"name": "ä b", "type": "file"}], "complete": True}


def test_git_private_and_temporary_files_are_left_out(gateway, folder, project):
    for name in (".git", ".ssh", ".config"):
        (folder / name).mkdir()
    for name in (".env", ".config/gcloud", "server.pem", "id_rsa", "tls.key", ".netrc", "shown"):
        (folder / name).write_text("text")
    assert names(gateway, project) == [".config", ".env", "shown"]
    assert names(gateway, project, ".config") == []


def test_names_that_are_not_utf8_are_listed_but_cannot_be_opened(gateway, folder, project):
    with open(os.fsencode(folder) + b"/caf\xe9", "w") as file:
        file.write("text")
    assert accepted(list_files(gateway, project))["entries"] == [{"name": "caf\ufffd", "type": "other"}]
    refused(get_file(gateway, project, "caf\ufffd"), 404, "file not found")


def test_directory_of_more_than_50000_entries_is_truncated(gateway, folder, project):
    for number in range(50_001):
        os.close(os.open(folder / f"{number:05}", os.O_CREAT | os.O_WRONLY))
    listed = accepted(list_files(gateway, project))
    assert not listed["complete"] and len(listed["entries"]) == 50_000
    assert listed["entries"][-1] == {"name": "49999", "type": "file"}


def test_missing_directory_and_file_are_distinguished(gateway, folder, project):
    (folder / "a.md").write_text("text")
    refused(list_files(gateway, project, "nothing"), 404, "path not found")
    refused(list_files(gateway, project, "a.md"), 400, "path is not a directory")
    folder.rename(f"{folder}-moved")
    refused(list_files(gateway, project), 404, "path not found")


# Files.


def test_file_is_read_with_its_size_and_time(gateway, folder, project):
    (folder / "a.md").write_text("Grüße\n")
    found = read(gateway, project, "a.md")
    assert is_timestamp(found.pop("modified_at"))
    assert found == {"path": "a.md", "size": 8, "offset": 0, "content": "Grüße\n", "next": None}


def test_empty_file_is_empty_text(gateway, folder, project):
    (folder / "empty").touch()
    found = read(gateway, project, "empty")
    assert (found["content"], found["size"], found["next"]) == ("", 0, None)
    assert read(gateway, project, "empty", offset=10)["offset"] == 0


@pytest.mark.parametrize("length", [1, 2, 3, 5, 7, 1000])
def test_ranges_never_split_a_character(gateway, folder, project, length):
    text = "aé€😀" * 9 + "\r\n\tend"
    (folder / "mixed").write_bytes(text.encode())
    assert read_whole(gateway, project, "mixed", length) == text


def test_range_that_begins_inside_a_character_begins_after_it(gateway, folder, project):
    (folder / "mixed").write_text("😀tail")
    for offset in (1, 2, 3, 4):
        found = read(gateway, project, "mixed", offset=offset)
        assert (found["offset"], found["content"]) == (4, "tail")


def test_file_of_one_line_of_50_mb_is_read_in_bounded_ranges(gateway, folder, project):
    size = 50 << 20
    (folder / "line").write_bytes(b"x" * size)
    first = read(gateway, project, "line")
    assert (first["content"], first["size"], first["next"]) == ("x" * 262_144, size, 262_144)
    assert len(read(gateway, project, "line", length=1 << 40)["content"]) == 5 << 20
    last = read(gateway, project, "line", offset=size - 10)
    assert (last["content"], last["next"]) == ("x" * 10, None)


@pytest.mark.parametrize("content", [b"a\0b", b"\xff\xfe", b"caf\xe9 "])
def test_binary_files_are_only_available_as_raw_bytes(gateway, folder, project, content):
    (folder / "data").write_bytes(content)
    assert read(gateway, project, "data")["content"] is None
    raw = get_file(gateway, project, "data", raw=True)
    assert raw.content == content and raw.headers["Content-Type"] == "application/octet-stream"
    assert raw.headers["Content-Security-Policy"] == "sandbox" and raw.headers["X-Content-Type-Options"] == "nosniff"


def test_raw_range_has_exactly_its_bytes(gateway, folder, project):
    (folder / "data").write_bytes(bytes(range(256)))
    assert get_file(gateway, project, "data", raw=True, offset=10, length=5).content == bytes(range(10, 15))
    assert get_file(gateway, project, "data", raw=True, offset=250, length=50).content == bytes(range(250, 256))
    assert get_file(gateway, project, "data", raw=True, offset=(1 << 63) - 1).content == b""


@pytest.mark.parametrize("range, error", [
    ({"offset": -1}, "offset must not be negative"), ({"length": 0}, "length must be a positive integer"),
    ({"offset": "x"}, "offset must be a number"), ({"raw": "x"}, "raw must be true or false")])
def test_impossible_ranges_are_refused(gateway, folder, project, range, error):
    (folder / "a.md").write_text("text")
    refused(get_file(gateway, project, "a.md", **range), 400, error)


def test_path_of_a_file_is_required(gateway, project):
    refused(gateway.http.get(f"/projects/{project['id']}/file"), 400, "path query param required")


# Hidden files and other types of files.


@pytest.mark.parametrize("path", ["../", "..", "src/../../", "/etc", "out", "out/passwd", "up"])
def test_no_path_leads_out_of_the_project(gateway, folder, project, path):
    (folder / "src").mkdir()
    (folder / "out").symlink_to("/etc")
    (folder / "up").symlink_to("..")
    refused(list_files(gateway, project, path), 400, TRAVERSAL)
    refused(get_file(gateway, project, path + "/hosts"), 400, TRAVERSAL)


def test_private_files_are_not_found_under_any_name(gateway, folder, project):
    (folder / ".ssh").mkdir()
    for name in (".ssh/config", "server.pem"):
        (folder / name).write_text("secret")
    (folder / "notes.md").symlink_to("server.pem")
    (folder / "shown").symlink_to(".ssh")
    for path in (".ssh/config", "server.pem", "notes.md", "shown/config"):
        refused(get_file(gateway, project, path), 404, "file not found")
        refused(get_file(gateway, project, path, raw=True), 404, "file not found")
    for path in (".ssh", "shown"):
        refused(list_files(gateway, project, path), 404, "path not found")


def test_private_file_of_home_is_not_shown_by_a_hard_link(gateway, folder, project):
    (gateway.home / ".ssh").mkdir(exist_ok=True)
    secret = gateway.home / ".ssh" / f"key-of-{folder.name}"
    secret.write_text("secret")
    os.link(secret, folder / "notes.md")
    refused(get_file(gateway, project, "notes.md"), 404, "file not found")


def test_only_regular_files_are_found(gateway, folder, project):
    (folder / "src").mkdir()
    os.mkfifo(folder / "pipe")
    (folder / "loop").symlink_to("loop")
    for path in ("src", "pipe", "loop", "nothing", "nothing/below", "n" * 300):
        refused(get_file(gateway, project, path), 404, "file not found")


def test_project_whose_directory_became_a_symlink_shows_nothing(gateway, folder, project):
    folder.rename(f"{folder}-moved")
    folder.symlink_to("/etc")
    refused(list_files(gateway, project), 400, TRAVERSAL)
    refused(get_file(gateway, project, "hosts"), 400, TRAVERSAL)


def test_unknown_project_is_not_found(gateway):
    refused(list_files(gateway, {"id": UNKNOWN_ID}), 404, "project not found")
    refused(gateway.http.get(f"/projects/{UNKNOWN_ID}/file"), 404, "project not found")
