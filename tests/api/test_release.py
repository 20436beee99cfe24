"""The checks of script/release before it builds anything."""

import shutil
import subprocess

from gateway import REPOSITORY


def tag(folder, changelog):
    """Tries to release and tag version 1.2.3 with that CHANGELOG.md. Returns the error."""
    repository = folder / "repository"
    (repository / "script").mkdir(parents=True)
    shutil.copy(REPOSITORY / "script/release", repository / "script")
    (repository / "CMakeLists.txt").write_text("project(example VERSION 1.2.3 LANGUAGES C)\n")
    (repository / "CHANGELOG.md").write_text(changelog)
    for command in ("init", "add --all", "-c user.name=n -c user.email=n@example.org commit --message=Begin"):
        subprocess.run(["git", *command.split()], cwd=repository, check=True, capture_output=True)
    result = subprocess.run([repository / "script/release", "--tag"], capture_output=True, text=True)
    assert result.returncode == 1 and not (repository / "build").exists()
    return result.stderr


def test_version_without_notes_is_not_released(tmp_path):
    assert 'has no section "## [1.2.3]"' in tag(tmp_path, "# Changelog\n\n## [Unreleased]\n\n- News.\n")


def test_tag_is_refused_while_notes_are_unreleased(tmp_path):
    error = tag(tmp_path, "# Changelog\n\n## [Unreleased]\n\n- Newer.\n\n## [1.2.3] - 2026-01-01\n\n- News.\n")
    assert 'move it to "## [1.2.3]"' in error
