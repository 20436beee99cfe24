"""Helpers for the knowledge tests: files edited by hand, and requests."""

import textwrap

import yaml

from checks import accepted
from jobs import ended, rows, run, turns


def write(gateway, path, text):
    """Writes a file below the data directory, as a user would."""
    file = gateway.data / path
    file.parent.mkdir(parents=True, exist_ok=True)
    content = text if isinstance(text, bytes) else textwrap.dedent(text).encode()
    file.write_bytes(content)
    return file


def page(gateway, slug, body="Some text.\n", directory="knowledge/wiki", **head):
    """Writes a page file, with `head` as front matter if given."""
    text = f"---\n{yaml.safe_dump(head)}---\n\n{body}" if head else body
    return write(gateway, f"{directory}/{slug}.md", text)


def raw(gateway, name, text):
    return write(gateway, f"knowledge/raw/{name}", text)


def fetch(gateway, path="", **params):
    return accepted(gateway.http.get(f"/knowledge{path}", params=params))


def search(gateway, q, **params):
    """Returns the slugs of the search hits, best first."""
    return [hit["slug"] for hit in fetch(gateway, "/search", q=q, **params)]


def article(gateway, slug, **params):
    return fetch(gateway, f"/article/{slug}", **params)


def slugs(pages):
    return [page["slug"] for page in pages]


def compile_sources(gateway, **params):
    """Compiles the raw sources and returns the report."""
    job = {"name": "compile-knowledge"}
    count = len(rows(gateway, job, limit=1000))
    run(gateway, job, **params)
    row = ended(gateway, job, count=count + 1)[0]
    assert row["status"] == "completed", row
    return turns(gateway, row["thread_id"])[0]["content"]
