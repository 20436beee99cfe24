"""Rooms of a Matrix homeserver, which is a stub: invitations, encryption, replacements.

See docs/contract/channels.md.
"""

import pytest

from channels import channel, connect, threads
from jobs import wait_for
from stubs.matrix import ACCOUNT, TOKEN, MatrixStub
from tools import turns_of

ANN, EVE = "@ann:example.org", "@eve:example.org"
ROOM = "!room:example.org"


@pytest.fixture
def matrix():
    with MatrixStub() as stub:
        yield stub


@pytest.fixture
def connected(talking, matrix):
    """A talker with a Matrix channel."""
    talking.gateway.http.put("/secrets/MATRIX", json={"value": TOKEN})
    connect(talking.gateway, matrix, service="matrix", token="${secret:MATRIX}", allow=[ANN])
    wait_for(lambda: channel(talking.gateway)["state"] == "connected")
    return talking


def test_room_is_joined_only_on_invitation_of_an_allowed_person(connected, matrix):
    matrix.invites(EVE, "!eve:example.org")
    matrix.invites(ANN, "!ann:example.org")
    matrix.until(lambda: matrix.joined)
    matrix.says(ANN, "/help", room="!ann:example.org")
    matrix.message("Commands:")
    assert matrix.joined == ["!ann:example.org"]


def test_messages_from_before_the_invitation_are_not_answered(connected, matrix):
    room = "!old:example.org"
    matrix.closes(room)
    for _ in range(3):
        matrix.says(ANN, "/help", room=room)
    matrix.invites(ANN, room)
    matrix.says(ANN, "/status", room=room)
    matrix.message("Agent:")
    matrix.until(lambda: matrix.joined)
    matrix.says(ANN, "/stop", room=room)
    matrix.message("Nothing is running.")
    assert len(matrix.messages) == 2


def test_room_that_replaces_another_one_has_its_thread(connected, matrix):
    connected.answers("Four.")
    matrix.says(ANN, "What is two and two?")
    matrix.message("Four.")
    new = "!new:example.org"
    matrix.replaces(ANN, ROOM, new)
    matrix.until(lambda: matrix.joined == [new])
    connected.answers("Eight.")
    matrix.says(ANN, "And twice that?", room=new)
    assert matrix.message("Eight.")["room"] == new
    (thread,) = threads(connected.gateway)
    questions = turns_of(connected.gateway, thread, "user")
    assert sorted(turn["content"] for turn in questions) == ["And twice that?", "What is two and two?"]


def test_thread_does_not_move_to_a_room_that_only_claims_to_replace_another_one(connected, matrix):
    connected.answers("Four.")
    matrix.says(ANN, "What is two and two?")
    matrix.message("Four.")
    new = "!new:example.org"
    matrix.state[new, "m.room.create"] = {"predecessor": {"room_id": ROOM}}
    matrix.invites(ANN, new)
    matrix.until(lambda: matrix.joined == [new])
    for number, room in enumerate([new, ROOM]):
        connected.answers(f"Answer {number}.")
        matrix.says(ANN, f"Question {number}?", room=room)
        matrix.message(f"Answer {number}.")
    asked = [sorted(turn["content"] for turn in turns_of(connected.gateway, thread, "user")) for thread in threads(connected.gateway)]
    assert sorted(asked) == [["Question 0?"], ["Question 1?", "What is two and two?"]]


def test_person_learns_that_encrypted_messages_cannot_be_read(connected, matrix):
    encrypted = {"algorithm": "m.megolm.v1.aes-sha2", "ciphertext": "…"}
    group = "!group:example.org"
    matrix.members[group] = [ANN, EVE, ACCOUNT]
    for room in (group, ROOM, ROOM):
        matrix.event(ANN, encrypted, room=room, kind="m.room.encrypted")
    matrix.message("cannot read encrypted messages")
    matrix.event(EVE, encrypted, kind="m.room.encrypted")
    matrix.says(ANN, "/status")
    matrix.message("Agent:")
    assert [message["room"] for message in matrix.messages] == [ROOM, ROOM] and connected.request_count() == 0
