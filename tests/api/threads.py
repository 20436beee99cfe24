"""Creates threads and turns."""

from checks import accepted


def new_thread(gateway):
    """Creates a thread and returns its id."""
    return accepted(gateway.http.post("/threads", json={}), 201)["id"]


def add_turn(gateway, thread, content="hello"):
    return accepted(gateway.http.post(f"/threads/{thread}/turns", json={"content": content, "role": "user"}), 201)
