"""Requests a second, and what one costs."""

import socket

from bench.harness import PROGRAMS, EpollFloor, Gateway, Row, folder, load, median

ROUNDS = 3


def health_bytes(port):
    """The gateway's own answer to /health, so that the floor sends exactly as much."""
    with socket.create_connection(("127.0.0.1", port)) as connection:
        connection.sendall(f"GET /health HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\n\r\n".encode())
        answer = b""
        while b"}" not in answer:
            answer += connection.recv(65536)
    return answer


def load_and_cost(process, lines):
    """Requests a second, and CPU seconds of the process for each."""
    before = process.cpu_seconds()
    figures = load(process, lines, seconds=3)
    return figures["rate"], (process.cpu_seconds() - before) / figures["times"]["count"]


def inserts():
    """Durable turns, 64 clients, against a bare SQLite loop with the same tables and group commits"""
    with folder() as home, Gateway(home) as gateway:
        lines = [f'POST /threads/{thread}/turns {{"role":"user","content":"{CONTENT}"}}'
                 for thread in gateway.new_threads(64)]
        yield against_sqlite("turns", gateway, lines, home)


def threads():
    """POST /threads, 64 clients, against the same floor"""
    with folder() as home, Gateway(home) as gateway:
        yield against_sqlite("threads", gateway, ['POST /threads {"title":"bench","agent_id":"assistant"}'], home)


def health():
    """/health with 64 connections against a bare epoll responder: throughput and CPU"""
    with folder() as home, Gateway(home) as gateway, EpollFloor(health_bytes(gateway.port)) as floor:
        lines = ["GET /health"]
        rounds = [(load_and_cost(gateway, lines), load_and_cost(floor, lines)) for _ in range(ROUNDS)]
    (rate, cost), (floor_rate, floor_cost) = ([median(column) for column in zip(*figures)] for figures in zip(*rounds))
    yield Row("/health, 64 connections", f"{rate:,.0f}/s", f"{floor_rate:,.0f}/s", f"{rate / floor_rate:.2f}",
              ">= 0.85", rate >= 0.85 * floor_rate)
    yield Row("/health, CPU of a request", f"{cost * 1e6:.2f} us", f"{floor_cost * 1e6:.2f} us",
              f"{cost / floor_cost:.2f}", "<= 1.3", cost <= 1.3 * floor_cost)
