"""Proposals in the data directory, as users and agents write them."""

import itertools

import yaml

from checks import accepted

_dates = itertools.count(1)


def folder(gateway):
    return gateway.data / "autoresearch" / "proposals"


def fresh_date():
    """Returns a date segment that no other test uses."""
    return f"2026-01-02-{next(_dates)}"


def write(gateway, content="new text\n", *, agent="assistant", date=None, name=None, text=None, **head):
    """Writes a proposal file and returns its path in the API. `text`: the whole file instead of head and content."""
    date = date or fresh_date()
    head = {"title": "Greet by name", "type": "file", "agent": agent, "target": f"notes/{date}.md", "status": "pending",
            "created_at": "2026-01-02T03:04:05.678Z", **head}
    head = {member: value for member, value in head.items() if value is not None}
    file = folder(gateway) / agent / (f"{date}/{name}.md" if name else f"{date}.md")
    file.parent.mkdir(parents=True, exist_ok=True)
    whole = text if text is not None else f"---\n{yaml.safe_dump(head, sort_keys=False)}---\n{content}"
    file.write_bytes(whole if isinstance(whole, bytes) else whole.encode())
    return f"/proposals/{agent}/{date}" + (f"/{name}" if name else "")


def file_of(gateway, path):
    return folder(gateway) / (path.removeprefix("/proposals/") + ".md")


def head_of(gateway, path):
    """Returns the YAML front matter of the proposal's file."""
    return yaml.safe_load(file_of(gateway, path).read_text().split("---\n")[1])


def listed(gateway, path):
    """Returns the entry with this path in the list of proposals, or None."""
    agent, date, *name = path.removeprefix("/proposals/").split("/")
    for entry in accepted(gateway.http.get("/proposals")):
        if (entry["agent"], entry["date"], entry["name"]) == (agent, date, name[0] if name else None):
            return entry
    return None


def show(gateway, path):
    return accepted(gateway.http.get(path))


def target_of(gateway, path):
    """Returns the target that `write` uses by default."""
    return gateway.data / "notes" / f"{path.split('/')[3]}.md"


def apply(gateway, path, **body):
    return gateway.http.post(f"{path}/apply", **({"json": body} if body else {}))


def reject(gateway, path, **body):
    return gateway.http.post(f"{path}/reject", **({"json": body} if body else {}))


def experiments_of(gateway, path):
    """Returns the experiments that record decisions on the proposal, newest first."""
    reference = path.removeprefix("/proposals/")
    rows = accepted(gateway.http.get("/autoresearch/experiments", params={"limit": 1000}))
    return [row for row in rows if row["proposal"] == reference]


def next_event(events, kind, agent=None):
    """Waits for the next event of this kind; if `agent` is given, for one of its proposals."""
    def is_wanted(event):
        return event["type"] == kind and (agent is None or event["proposal"]["agent"] == agent)

    return events.until(is_wanted)[-1]
