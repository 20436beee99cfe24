"""Browsing the directories of the host.

See docs/contract/system.md#directories-of-the-host.
"""

import os

import pytest

from checks import accepted, refused
from gateway import Gateway

OUTSIDE = "path outside home directory"
TOO_SHORT = "query too short (min 2 chars)"


@pytest.fixture
def home(gateway, new_name):
    """A directory for this test in the home directory of the shared gateway."""
    made = gateway.home / new_name("place")
    made.mkdir()
    return made


def ls(gateway, path=None):
    return gateway.http.get("/filesystem/ls", params={} if path is None else {"path": str(path)})


def search(gateway, q, path=None):
    return gateway.http.get("/filesystem/search", params={"q": q} if path is None else {"q": q, "path": str(path)})


def listed(gateway, path):
    return [entry["name"] for entry in accepted(ls(gateway, path))["entries"]]


def found(gateway, q, path):
    return [entry["name"] for entry in accepted(search(gateway, q, path))["results"]]


def tree(root, *paths):
    """Creates files, and directories for paths that end with a slash."""
    for path in paths:
        target = root / path
        if path.endswith("/"):
            target.mkdir(parents=True, exist_ok=True)
        else:
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_text("text")


# Both endpoints need the token and have the same path errors.

BOTH = pytest.mark.parametrize("fetch", [ls, lambda gateway, path: search(gateway, "note", path)], ids=["ls", "search"])


def test_both_need_the_token(gateway):
    for path in ("/filesystem/ls", "/filesystem/search?q=note"):
        refused(gateway.anonymous.get(path), 401, "unauthorized")


@BOTH
@pytest.mark.parametrize("path", ["/", "/etc", "/etc/passwd", "/nowhere/at/all", "/etc/../nowhere", "relative", ".",
                                  "..", "~", "~/x", "//", "/proc/self/root"])
def test_path_outside_home_is_forbidden_whether_it_exists_or_not(gateway, fetch, path):
    refused(fetch(gateway, path), 403, OUTSIDE)


@BOTH
def test_parent_segments_out_of_home_are_forbidden(gateway, home, fetch):
    for path in (f"{home}/../../..", f"{gateway.home}/..", f"{gateway.home}/../nowhere", f"{home}/none/../../../.."):
        refused(fetch(gateway, path), 403, OUTSIDE)


@BOTH
def test_sibling_with_the_prefix_of_home_is_outside(gateway, fetch):
    (gateway.home.parent / "home-of-another").mkdir(exist_ok=True)
    refused(fetch(gateway, gateway.home.parent / "home-of-another"), 403, OUTSIDE)


@BOTH
def test_symlinks_out_of_home_are_forbidden_whether_the_target_exists_or_not(gateway, home, fetch):
    (home / "etc").symlink_to("/etc")
    (home / "nowhere").symlink_to("/nowhere/at/all")
    (home / "up").symlink_to("../../..")
    for path in ("etc", "etc/nothing", "nowhere", "nowhere/x", "up"):
        refused(fetch(gateway, home / path), 403, OUTSIDE)


@BOTH
def test_missing_path_is_not_found(gateway, home, fetch):
    tree(home, "file")
    (home / "circle").symlink_to("circle")
    (home / "dangling").symlink_to("nothing")
    for path in ("none", "none/deeper", "file/x", "circle", "circle/x", "dangling", "x" * 300):
        refused(fetch(gateway, home / path), 404, "path not found")


@BOTH
def test_file_is_not_a_directory(gateway, home, fetch):
    tree(home, "file")
    (home / "link").symlink_to("file")
    for path in ("file", "link"):
        refused(fetch(gateway, home / path), 400, "path is not a directory")
    refused(fetch(gateway, f"{home}/file/"), 400, "path is not a directory")


@BOTH
def test_parents_and_symlinks_within_home_are_allowed(gateway, home, fetch):
    tree(home, "real/notes/")
    (home / "relative").symlink_to("real")
    (home / "absolute").symlink_to(home / "real")
    for path in (f"{home}/real/../real", f"{home}/relative", f"{home}/absolute", f"{home}//real/./",
                 f"{gateway.home}/../{gateway.home.name}/{home.name}/real"):
        response = accepted(fetch(gateway, path))
        assert response.get("path", response.get("root")) == str(home / "real")
        entries = response.get("entries", response.get("results"))
        assert entries == [{"name": "notes", "path": str(home / "real/notes"), "isDirectory": True}]


@pytest.mark.parametrize("path", ["%00", "/tmp%00", "%ff"])
def test_path_that_is_not_utf8_is_refused(gateway, path):
    for endpoint in ("ls", "search"):
        assert gateway.http.get(f"/filesystem/{endpoint}?q=note&path={path}").status_code == 400


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can run the gateway as another user")
@BOTH
def test_unreadable_directory_is_denied(make_gateway, tmp_path, fetch):
    gateway = make_gateway(user=65534)
    for directory in (gateway.root, gateway.home):
        os.chown(directory, 65534, 65534)
    for directory in [tmp_path, *tmp_path.parents][:3]:
        directory.chmod(0o755)
    tree(gateway.home, "closed/notes/")
    (gateway.home / "closed").chmod(0o700)
    gateway.start()
    refused(fetch(gateway, gateway.home / "closed"), 403, "permission denied")
    refused(fetch(gateway, gateway.home / "closed/notes"), 403, "permission denied")
    assert found(gateway, "notes", gateway.home) == []
    assert listed(gateway, gateway.home) == ["closed"]


# ls


def test_home_that_is_not_utf8_is_listed(tmp_path):
    gateway = Gateway(tmp_path / os.fsdecode(b"caf\xe9")).start()
    tree(gateway.home, "below/")
    listing = accepted(gateway.http.get("/filesystem/ls"))
    assert [entry["name"] for entry in listing["entries"]] == ["below"]
    assert listing["entries"][0]["path"] == listing["path"] + "/below"
    assert accepted(gateway.http.get("/filesystem/search", params={"q": "below"}))["results"]
    gateway.close()


def test_home_is_listed_without_a_path(gateway, home):
    for response in (ls(gateway), gateway.http.get("/filesystem/ls?path=")):
        response = accepted(response)
        assert set(response) == {"path", "entries"}
        assert response["path"] == str(gateway.home)
        assert {"name": home.name, "path": str(home), "isDirectory": True} in response["entries"]


def test_only_visible_directories_are_listed_by_name(gateway, home):
    tree(home, "b/", "a/", "Ä/", ".hidden/", "file", "c with space/", "node_modules/")
    assert accepted(ls(gateway, home))["entries"] == [
        {"name": name, "path": str(home / name), "isDirectory": True}
        for name in ("a", "b", "c with space", "node_modules", "Ä")]


def test_requested_hidden_directory_is_listed(gateway, home):
    tree(home, ".config/app/")
    assert listed(gateway, home / ".config") == ["app"]


def test_symlinks_to_directories_in_home_are_listed(gateway, home):
    tree(home, "real/", "file")
    for name, target in (("inside", "real"), ("absolute", home / "real"), ("outside", "/etc"), ("to-file", "file"),
                         ("dangling", "nothing"), ("circle", "circle"), ("up-and-out", "../../..")):
        (home / name).symlink_to(target)
    assert listed(gateway, home) == ["absolute", "inside", "real"]


def test_name_that_is_not_utf8_is_omitted(gateway, home):
    tree(home, "good/")
    os.mkdir(os.fsencode(home) + b"/bad-\xff\xfe")
    assert listed(gateway, home) == ["good"]
    assert found(gateway, "bad-", home) == []


def test_listing_is_complete(gateway, home):
    for number in range(1500):
        (home / f"{number:04}").mkdir()
    assert listed(gateway, home) == [f"{number:04}" for number in range(1500)]


# search


@pytest.mark.parametrize("query", ["", "?q=", "?q=a", "?q=%C3%A9", "?q=%E2%82%AC&path=/etc"])
def test_query_needs_two_characters(gateway, query):
    refused(gateway.http.get("/filesystem/search" + query), 400, TOO_SHORT)


def test_response_names_query_and_root(gateway, home):
    tree(home, "notes.md")
    assert accepted(search(gateway, "note", home)) == {
        "query": "note", "root": str(home),
        "results": [{"name": "notes.md", "path": str(home / "notes.md"), "isDirectory": False}]}
    assert accepted(search(gateway, "zzz-nothing"))["root"] == str(gateway.home)


def test_part_of_a_name_matches_in_either_case(gateway, home):
    tree(home, "My-Notes/", "NOTES", "annotation", "other", "Éléphant", "ΣΊΣΥΦΟΣ")
    assert found(gateway, "nOtE", home) == ["My-Notes", "NOTES"]
    assert found(gateway, "not", home) == ["My-Notes", "NOTES", "annotation"]
    assert found(gateway, "éLÉ", home) == ["Éléphant"]
    assert found(gateway, "σίσ", home) == ["ΣΊΣΥΦΟΣ"]


@pytest.mark.parametrize("q", ["a.c", "a*", "[ab]", "(a", "a\\", "^a", "a|", "%_", "..", "\\d"])
def test_query_is_not_a_pattern(gateway, home, q):
    tree(home, "abc", "aaa", "7")
    assert found(gateway, q, home) == []


def test_pattern_characters_match_literally(gateway, home):
    tree(home, "a[1].c")
    assert found(gateway, "[1].", home) == ["a[1].c"]


def test_three_levels_are_searched(gateway, home):
    tree(home, "1-note", "a/2-note", "a/b/3-note", "a/b/c/4-note")
    assert found(gateway, "note", home) == ["1-note", "2-note", "3-note"]
    assert found(gateway, "note", home / "a") == ["2-note", "3-note", "4-note"]


def test_nearest_matches_come_first(gateway, home):
    tree(home, "a/b/note-3", "a/note-2", "z/note-2", "note-1", "b/note-x")
    assert found(gateway, "note", home) == ["note-1", "note-2", "note-x", "note-2", "note-3"]


def test_at_most_15_results_are_returned(gateway, home):
    tree(home, *(f"note-{number:02}" for number in range(20)), "a/note")
    assert found(gateway, "note", home) == [f"note-{number:02}" for number in range(15)]


def test_dotfiles_and_node_modules_are_skipped(gateway, home):
    tree(home, ".note", ".hidden/note", "node_modules/note", "a/node_modules/note", "a/.x/note", "a/note")
    assert found(gateway, "note", home) == ["note"]
    assert found(gateway, "modules", home) == []


def test_symlinks_out_of_home_are_not_found(gateway, home):
    tree(home, "real/", "file")
    for name, target in (("note-in", "real"), ("note-file", "file"), ("note-out", "/etc"), ("note-gone", "nothing")):
        (home / name).symlink_to(target)
    results = accepted(search(gateway, "note", home))["results"]
    assert [(entry["name"], entry["isDirectory"]) for entry in results] == [("note-file", False), ("note-in", True)]


def test_symlink_cycle_ends(gateway, home):
    tree(home, "a/note")
    (home / "a/again").symlink_to("..")
    assert found(gateway, "note", home) == ["note"]


def test_very_long_query_finds_nothing(gateway, home):
    tree(home, "note")
    assert found(gateway, "note" * 2000, home) == []



def test_programs_with_a_directory_in_home_are_listed(own_gateway):
    own_gateway.home.joinpath(".codex").mkdir()
    own_gateway.home.joinpath(".claude").write_text("a file is none")
    tree(own_gateway.home, ".config/opencode/opencode.json")
    found_programs = accepted(own_gateway.http.get("/filesystem/programs"))
    assert found_programs == [
        {"name": "codex", "title": "Codex", "path": str(own_gateway.home / ".codex")},
        {"name": "opencode", "title": "opencode", "path": str(own_gateway.home / ".config/opencode")},
    ]
    refused(own_gateway.anonymous.get("/filesystem/programs"), 401, "unauthorized")
