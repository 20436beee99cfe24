"""Threads and their turns, for the tests of what is told of them."""

from checks import accepted


def new_thread(gateway):
    """Answers its id."""
    return accepted(gateway.http.post("/threads", json={}), 201)["id"]


def add_turn(gateway, thread, content="hello"):
    return accepted(gateway.http.post(f"/threads/{thread}/turns", json={"content": content, "role": "user"}), 201)
