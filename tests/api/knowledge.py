"""What tests of knowledge share: files as a person writes them, and what is asked of them."""

import textwrap

import yaml

from checks import accepted
from jobs import ended, rows, run, turns


def write(gateway, path, text):
    """Writes a file beneath the data directory, as a person would."""
    file = gateway.data / path
    file.parent.mkdir(parents=True, exist_ok=True)
    content = text if isinstance(text, bytes) else textwrap.dedent(text).encode()
    file.write_bytes(content)
    return file


def page(gateway, slug, body="Some text.\n", directory="knowledge/wiki", **head):
    """Writes a page by hand, with a head where there is anything in it."""
    text = f"---\n{yaml.safe_dump(head)}---\n\n{body}" if head else body
    return write(gateway, f"{directory}/{slug}.md", text)


def raw(gateway, name, text):
    return write(gateway, f"knowledge/raw/{name}", text)


def asked(gateway, path="", **params):
    return accepted(gateway.http.get(f"/knowledge{path}", params=params))


def found(gateway, q, **params):
    """The slugs of what a search finds, best first."""
    return [hit["slug"] for hit in asked(gateway, "/search", q=q, **params)]


def article(gateway, slug, **params):
    return asked(gateway, f"/article/{slug}", **params)


def slugs(pages):
    return [page["slug"] for page in pages]


def compiled(gateway, **params):
    """Has the raw sources compiled, and answers the report."""
    job = {"name": "compile-knowledge"}
    count = len(rows(gateway, job, limit=1000))
    run(gateway, job, **params)
    row = ended(gateway, job, count=count + 1)[0]
    assert row["status"] == "completed", row
    return turns(gateway, row["thread_id"])[0]["content"]
