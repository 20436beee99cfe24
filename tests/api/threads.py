"""Creates threads and turns."""

import contextlib
import threading
import uuid
from concurrent.futures import ThreadPoolExecutor

import http_client
from checks import accepted


def new_thread(gateway):
    """Creates a thread and returns its id."""
    return accepted(gateway.http.post("/threads", json={}), 201)["id"]


def add_turn(gateway, thread, content="hello"):
    return accepted(gateway.http.post(f"/threads/{thread}/turns", json={"content": content, "role": "user"}), 201)


@contextlib.contextmanager
def slow_writes(gateway):
    """Imports threads in the background, so that other writes wait for the imports."""
    over = threading.Event()
    turns = [{"key": str(number), "role": "user", "content": "a turn " * 60} for number in range(5000)]

    def imports(_):
        with http_client.new_client(base_url=gateway.url, headers=gateway.authorization) as http:
            while not over.is_set():
                batch = {"source": "test", "threads": [{"key": str(uuid.uuid4()), "title": "a title", "turns": turns}]}
                accepted(http.post("/import", json=batch))

    with ThreadPoolExecutor(4) as pool:
        ends = [pool.submit(imports, number) for number in range(4)]
        try:
            yield
        finally:
            over.set()
    for end in ends:
        end.result()
