"""Bad and good samples for each rule of script/lint. Without them, nobody would notice a rule that catches nothing."""

import json
import pathlib
import subprocess
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
CONFIGURATION = ROOT / ".clang-tidy"
ARCHITECTURE = (ROOT / "docs/architecture.md").read_text()

# For each rule: files that it must reject, and files that it must accept.
SAMPLES = {
    "formatting": ({"src/base/a.cpp": "int  a ;\n"}, {"src/base/a.cpp": "int a;\n"}),
    "page_formatting": ({"web/src/a.ts": "let a  = 1\n", "tests/browser/a.mjs": 'let a = "b";\n'},
                        {"web/src/a.ts": "let a = 1;\n", "web/src/api/openapi.d.ts": "let a  = 1\n"}),
    "includes": (
        {"src/base/a.hpp": '#include "storage/database.hpp"\n',
         "src/features/threads/a.cpp": '#include "features/engine/service.hpp"\n',
         "src/features/engine/a.cpp": '#include "features/threads/store.hpp"\n',
         "src/storage/a.cpp": '#include "attic/a.hpp"\n',
         "src/io/a.cpp": '#include "testing/run.hpp"\n',
         "src/io/b.cpp": "# include <storage/database.hpp>\n"},
        {"src/features/engine/a.cpp": '#include "features/threads/service.hpp"\n#include "features/engine/run.hpp"\n',
         "src/gateway/gateway.cpp": '#include <vector>\n#include "features/threads/routes.hpp"\n',
         "src/io/a_test.cpp": '#include "testing/run.hpp"\n'}),
    "rooms": (
        {"docs/architecture.md": ARCHITECTURE.replace("  storage/", "  cellar/")},
        {"docs/architecture.md": ARCHITECTURE}),
    "banned_code": (
        {"src/io/a.cpp": "auto a = asio::detached;\n", "src/io/b.cpp": "using namespace awaitable_operators;\n",
         "src/io/c.cpp": "void f() { asio::co_spawn(g); }\n", "src/io/d.cpp": 'auto a = R"(SELECT 1)";\n',
         "src/cli/commands/restore.cpp": 'auto a = "REPLACE INTO turns";\n', "src/io/e.cpp": 'auto a = "delete from turns";\n'},
        {"src/io/a.cpp": '// Never detached, no SELECT.\nauto a = "detached";\n', "src/base/b.cpp": "co_spawn(a);\n",
         "src/features/threads/store.cpp": 'auto a = "DELETE FROM turns";\n'}),
    "todo_comments": ({"src/io/a.cpp": "// TO" + "DO: later\n", "script/a": "# FIX" + "ME\n",
                       "web/src/a.ts": "// TO" + "DO\n"},
                      {"src/io/a.cpp": 'auto a = "grep TO' + 'DO in src";\n'}),
    "citations": ({"tests/api/a.py": "# decisions, 3\n", "bench/a.py": "# docs/contract/absent.md\n"},
                  {"tests/api/a.py": "# docs/contract/a.md#anchor\n", "docs/contract/a.md": "# A\n"}),
    "examples": (
        {"src/io/a.hpp": "/// Example: src/io/absent_test.cpp: A.Works\n",
         "src/io/b.hpp": "/// Example: src/io/b.cpp: A.Works\n", "src/io/c.hpp": "/// Example:\n",
         "src/io/d_test.cpp": "/// Example: src/io/d_test.cpp: A.Works\n// TEST(A, Works) {}\nTEST(A, WorksToo) {}\n"},
        {"src/io/a.hpp": "/// Example: src/io/a_test.cpp: ATest.Works\nclass A;\n  /// Example: src/io/a_test.cpp: B.Works\n",
         "src/io/a_test.cpp": "TEST_F(ATest, Works) {}\nTYPED_TEST(B, Works) {}\n"}),
    "members": (
        {"docs/architecture.md": "`Gate::judge` checks.\n", "docs/design/a.md": "`Gate::admit`\n(`io/b.cpp`) checks.\n"},
        {"docs/design/a.md": "`Gate::admit` (`io/a.hpp`), `Gate::admit` (`io`) and `std::find`.\n",
         "src/io/a.hpp": "class Gate {\n  void admit();\n};\n", "src/io/b.cpp": "void judge();\n"}),
    "all_tidy": ({"src/io/a.cpp": "struct bad_name {};\n"}, {"src/io/a.cpp": "struct Good {};\n"}),
    "commits": (  # each problem must contain the title of its message
        ["Add a rule\n\nWithout an area.", "lint: add a rule\n\nIn lower case.", "Lint: Add a rule\n\nThe area is not.",
         "lint: Add a rule.\n\nIt ends with a dot.", "lint: Add a rule", "lint: Add a rule\nThe body is not apart.",
         "lint: Add" + " a" * 32 + "\n\nIt has 73 columns.", "Merge branch 'topic'\n\nA merge commit, too."],
        ["lint: Add a rule\n\nIt says why.", "web/src, api: Add" + " a" * 27 + "\n\nIt has 71 columns.",
         "lint: Merge the new rule\n\nA merge commit, too."]),
    "file_length": ({"src/io/a.cpp": "\n" * 501}, {"src/io/a.cpp": "\n" * 299}),
}


def prepare_for_tidy(folder, files):
    (folder / "build/alone").mkdir(parents=True)
    (folder / ".clang-tidy").write_text(CONFIGURATION.read_text())
    (folder / ".gitignore").write_text("/build/\n")
    commands = [{"directory": str(folder), "file": str(folder / path), "command": f"clang++ -std=c++20 -c {path}"}
                for path in files if path.endswith(".cpp")]
    (folder / "build/alone/compile_commands.json").write_text(json.dumps(commands))


def problems_in(rule, tree, files):
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run(["git", "init", "--quiet"], cwd=folder, check=True)
        for path, text in files.items():
            (pathlib.Path(folder) / path).parent.mkdir(parents=True, exist_ok=True)
            (pathlib.Path(folder) / path).write_text(text)
        prepare_for_tidy(pathlib.Path(folder), files)
        return list(rule(tree(folder)))


def commit_with(folder, message):
    """Commits to the repository in `folder`, as a merge if `message` mentions one; returns the commit's id."""
    def git(*arguments, **options):
        author = ["-c", "user.name=Author", "-c", "user.email=author@example.org"]
        return subprocess.run(["git", *author, *arguments], cwd=folder, check=True, capture_output=True, text=True,
                              **options).stdout.strip()

    tree = git("write-tree")
    head = subprocess.run(["git", "rev-parse", "--verify", "--quiet", "HEAD"], cwd=folder, capture_output=True, text=True)
    parents = [head.stdout.strip()] if head.returncode == 0 else []
    if "merge commit" in message:
        parents.append(git("commit-tree", tree, "-p", parents[0], "-m", "lint: Add a branch\n\nTo be merged."))
    commit = git("commit-tree", tree, *[word for parent in parents for word in ("-p", parent)], input=message)
    git("update-ref", "HEAD", commit)
    return commit


def try_commits(rule, tree):
    bad, good = SAMPLES["commits"]
    for messages, caught in [(bad, True), (good, False)]:
        for message in messages:
            with tempfile.TemporaryDirectory() as folder:
                subprocess.run(["git", "init", "--quiet"], cwd=folder, check=True)
                since = commit_with(folder, "An old commit is exempt.")
                commit_with(folder, message)
                problems = list(rule(tree(folder), since))
            if bool(problems) != caught or any(message.split("\n")[0] not in problem for problem in problems):
                yield f"reported {problems} for {message!r}"
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run(["git", "init", "--quiet"], cwd=folder, check=True)
        commit_with(folder, "A shallow clone has no base commit.")
        yield from (f"rejected a shallow clone: {problem}" for problem in rule(tree(folder)))


def try_rule(rule, tree):
    """The wrong results of `rule` for its samples. `tree` creates a rule's argument from a folder."""
    if rule.__name__ == "commits":
        yield from try_commits(rule, tree)
        return
    bad, good = SAMPLES[rule.__name__]
    for path in bad:
        if not any(problem.startswith(path) for problem in problems_in(rule, tree, {path: bad[path]})):
            yield f"did not catch {path}: {bad[path]!r}"
    yield from (f"rejected a good sample: {problem}" for problem in problems_in(rule, tree, good))
