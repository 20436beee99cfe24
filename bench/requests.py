"""Request throughput and CPU per request."""

import socket
import subprocess

from bench.harness import PROGRAMS, ROOT, EpollFloor, Gateway, Row, folder, load, median

ROUNDS, SECONDS = 5, 2
CLIENTS = 64
CONTENT = "x" * 200


def health_bytes(port):
    """Returns the gateway's response to /health, so that the floor sends exactly as many bytes."""
    with socket.create_connection(("127.0.0.1", port)) as connection:
        connection.sendall(f"GET /health HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\n\r\n".encode())
        answer = b""
        while b"}" not in answer:
            answer += connection.recv(65536)
    return answer


def load_and_cost(process, lines):
    """Returns requests per second, and CPU seconds of the process per request."""
    before = process.cpu_seconds()
    figures = load(process, lines, seconds=SECONDS)
    return figures["rate"], (process.cpu_seconds() - before) / figures["times"]["count"]


def compare(rounds):
    """Returns the medians of both columns and of their ratio: other load on the machine affects both columns of a round."""
    return (*(median(column) for column in zip(*rounds)), median(figure / floor for figure, floor in rounds))


def sqlite_floor(home, records):
    """Returns inserts per second of a plain loop into the gateway's tables, with as many per commit as there are
    clients."""
    migrations = sorted((ROOT / "src/features/threads/migrations").glob("*.sql"))
    command = [PROGRAMS / "sqlite_floor", home, SECONDS, CLIENTS, records, *migrations]
    return float(subprocess.run([str(part) for part in command], capture_output=True, text=True, check=True).stdout)


def against_sqlite(records, gateway, lines, home):
    rounds = [(load(gateway, lines, gateway.token, CLIENTS, SECONDS)["rate"], sqlite_floor(home, records))
              for _ in range(ROUNDS)]
    rate, floor, ratio = compare(rounds)
    return Row(f"{records} created, durable, {CLIENTS} clients", f"{rate:,.0f}/s", f"{floor:,.0f}/s", f"{ratio:.2f}",
               ">= 0.5, aim 0.7", ratio >= 0.5)


def inserts():
    """Durable turns, 64 clients, against a plain SQLite loop with the same tables and group commits"""
    with folder() as home, Gateway(home) as gateway:
        lines = [f'POST /threads/{thread}/turns {{"role":"user","content":"{CONTENT}"}}'
                 for thread in gateway.new_threads(CLIENTS)]
        yield against_sqlite("turns", gateway, lines, home)


def threads():
    """POST /threads, 64 clients, against the same floor"""
    with folder() as home, Gateway(home) as gateway:
        yield against_sqlite("threads", gateway, ['POST /threads {"title":"bench","agent_id":"assistant"}'], home)


def health():
    """/health with 64 connections against a plain epoll server: throughput and CPU"""
    with folder() as home, Gateway(home) as gateway, EpollFloor(health_bytes(gateway.port)) as floor:
        lines = ["GET /health"]
        rounds = [(load_and_cost(gateway, lines), load_and_cost(floor, lines)) for _ in range(ROUNDS)]
    rate, floor_rate, ratio = compare([(figures[0], floor_figures[0]) for figures, floor_figures in rounds])
    yield Row("/health, 64 connections", f"{rate:,.0f}/s", f"{floor_rate:,.0f}/s", f"{ratio:.2f}", ">= 0.85",
              ratio >= 0.85)
    cost, floor_cost, ratio = compare([(figures[1], floor_figures[1]) for figures, floor_figures in rounds])
    yield Row("/health, CPU of a request", f"{cost * 1e6:.2f} us", f"{floor_cost * 1e6:.2f} us", f"{ratio:.2f}",
              "<= 1.3", ratio <= 1.3)
