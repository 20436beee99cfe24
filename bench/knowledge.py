"""Knowledge: search quality on real documentation, and compiling and searching ten thousand pages."""

import itertools
import pathlib
import random
import re
import shutil
import subprocess
import time
import urllib.parse

from bench.harness import Gateway, Row, folder, median_and_p99
from bench.search import one_at_a_time
from bench.streams import idle_connections

PAGES, PAGE_BYTES, WORDS, QUERIES = 10_000, 3_000, 30_000, 1_000

# The documentation that the questions are about: its Debian package, folder, and the suffix of its files.
DOCUMENTS = {
    "git": ("git-doc", pathlib.Path("/usr/share/doc/git/html"), ".txt"),
    "python": ("python3.11-doc", pathlib.Path("/usr/share/doc/python3.11/html/_sources"), ".rst.txt"),
}
QUESTIONS = pathlib.Path(__file__).parent / "knowledge/questions.tsv"
MIN_RECALL = 0.85


def questions():
    """Returns `(documents, question, pages that answer it)` of each line."""
    for line in QUESTIONS.read_text(encoding="utf-8").splitlines():
        if line and not line.startswith("#"):
            documents, question, pages = line.split("\t")
            yield documents, question, {slug(page) for page in pages.split()}


def slug(name):
    spaced = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "-", name)
    return re.sub(r"[^a-z0-9]+", "-", spaced.lower()).strip("-")


def copy_documents(name, target):
    package, root, ending = DOCUMENTS[name]
    if not root.is_dir():
        subprocess.run(["apt-get", "install", "-y", "--no-install-recommends", package], check=True, capture_output=True)
    target.mkdir(parents=True, exist_ok=True)
    for file in sorted(root.rglob(f"*{ending}")):
        page = slug(str(file.relative_to(root)).removesuffix(ending))
        shutil.copyfile(file, target / f"{page}.txt")


def compile_all(gateway):
    """Runs the job compile-knowledge, and returns its duration in seconds."""
    known = len(gateway.request("GET", "/jobs/compile-knowledge/runs?limit=1000"))
    gateway.request("POST", "/run/compile-knowledge")
    while True:
        rows = gateway.request("GET", "/jobs/compile-knowledge/runs?limit=1000")
        if len(rows) > known and rows[0]["finished_at"]:
            assert rows[0]["status"] == "completed", rows[0]
            return rows[0]["duration_ms"] / 1000
        time.sleep(0.01)


def search_path(question, limit=5):
    return f"/knowledge/search?q={urllib.parse.quote(question)}&limit={limit}"


def misses(gateway, name):
    """Returns the questions without a right page among the first five, and the number of all questions."""
    asked = [(question, pages) for documents, question, pages in questions() if documents == name]
    found = [[hit["slug"] for hit in gateway.request("GET", search_path(question))] for question, _ in asked]
    return [(question, pages, hits) for (question, pages), hits in zip(asked, found) if not pages & set(hits)], len(asked)


def recall():
    """Questions about the documentation of git and Python with a right page among the first five"""
    with folder() as home, Gateway(home) as gateway:
        for name in DOCUMENTS:
            copy_documents(name, home / ".agent-gateway/knowledge/raw" / name)
        compile_all(gateway)
        missed, asked = 0, 0
        for name in DOCUMENTS:
            failed, count = misses(gateway, name)
            missed, asked = missed + len(failed), asked + count
            yield Row(f"knowledge, recall at 5, {name}, {count} questions", f"{1 - len(failed) / count:.3f}", "-", "-", "-", None)
        found = 1 - missed / asked
        yield Row(f"knowledge, recall at 5, all {asked} questions", f"{found:.3f}", "-", "-", f">= {MIN_RECALL}",
                  found >= MIN_RECALL)


class Text:
    """Text with the word frequencies of a language: the n-th word is n times less frequent than the first."""

    def __init__(self, seed):
        self.numbers = random.Random(seed)
        letters = "bdfgklmnprstvz"
        syllables = [a + b for a in letters for b in "aeiou"]
        self.words = ["".join(parts) for parts in itertools.islice(itertools.product(syllables, repeat=3), WORDS)]
        self.numbers.shuffle(self.words)
        self.weights = list(itertools.accumulate(1 / (rank + 10) for rank in range(WORDS)))

    def take(self, count):
        return self.numbers.choices(self.words, cum_weights=self.weights, k=count)

    def page(self, number):
        parts = [f"# {' '.join(self.take(4))} {number}"]
        while sum(map(len, parts)) < PAGE_BYTES:
            parts.append(f"## {' '.join(self.take(3))}\n\n{' '.join(self.take(80))}. See [[page-{self.numbers.randrange(PAGES)}]].")
        return "\n\n".join(parts) + "\n"


def knowledge():
    """Ten thousand pages of 3 KB: compiled from raw sources, compiled after one change, searched"""
    text = Text(1)
    # Without a connected client, each run requested by hand waits a while for one.
    with folder() as home, Gateway(home) as gateway, idle_connections(gateway, [gateway.token], 1):
        raw = home / ".agent-gateway/knowledge/raw"
        for number in range(PAGES):
            (raw / f"page-{number}.md").write_text(text.page(number), encoding="utf-8")
        cold = compile_all(gateway)
        yield Row(f"knowledge, {PAGES:,} pages compiled", f"{cold:.2f} s", "-", "-", "< 20 s", cold < 20)
        changes = []
        for number in range(5):
            (raw / f"page-{number}.md").write_text(text.page(number), encoding="utf-8")
            changes.append(compile_all(gateway))
        yield Row("knowledge, compiled again after one change", f"{max(changes):.3f} s", "-", "-", "< 0.3 s", max(changes) < 0.3)
        floor = one_at_a_time(gateway, ["GET /health"] * QUERIES)
        for words in 1, 3, 8:
            lines = [f"GET {search_path(' '.join(text.take(words)), limit=10)}" for _ in range(QUERIES)]
            times = one_at_a_time(gateway, lines)
            yield Row(f"knowledge, search, {words} words, p50 / p99", median_and_p99(times), median_and_p99(floor),
                      f"{times['p99'] / floor['p99']:.1f}", "p99 < 10 ms", times["p99"] < 0.010)
