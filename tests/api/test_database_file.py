"""A database or disk that cannot be used: clear errors and no loss of acknowledged writes.

See docs/contract/process.md#the-database.
"""

import contextlib
import json
import os
import shutil
import sqlite3
import subprocess

import pytest

from approvals import call_asked, person
from channels import EVE, connect
from checks import accepted, refused
from client_streams import read_response
from disks import fill, fill_with_the_log, small_disk
from jobs import new_job, rows, run, wait_for
from stubs.provider import ToolCall
from stubs.telegram import TOKEN
from talker import MODEL, Talker, configuration
from tools import call_tool, calls, new_agent, new_thread


def change_database(gateway, change):
    """Runs a gateway, stops it, changes its database file and returns the new content of the file."""
    gateway.start()
    accepted(gateway.http.post("/threads", json={}), 201)
    assert gateway.stop() == 0
    file = gateway.data / "gateway.db"
    change(file)
    return file.read_bytes()


@pytest.mark.parametrize("change", [
    lambda file: file.write_bytes(b"this is no database, but some text that is long enough" * 100),
    lambda file: file.write_bytes(file.read_bytes()[:5000]),
    lambda file: file.write_bytes(file.read_bytes()[:100] + os.urandom(len(file.read_bytes()) - 100)),
], ids=["text", "cut off", "overwritten"])
def test_corrupt_database_is_reported_and_not_changed(make_gateway, change):
    gateway = make_gateway()
    content = change_database(gateway, change)
    failed = gateway.fails()
    assert failed.status == 5 and str(gateway.data / "gateway.db") in failed.stderr
    assert (gateway.data / "gateway.db").read_bytes() == content


def test_corruption_found_while_reading_is_reported(own_gateway):
    """A start does not read all of a large database."""
    for number in range(300):
        theme = {"type": "theme", "name": f"theme-{number}", "description": f"needle {number} " * 250, "definition": {}}
        accepted(own_gateway.http.post("/extensions", json=theme), 201)
    assert own_gateway.stop() == 0
    file, page_size = own_gateway.data / "gateway.db", 4096
    damaged = bytearray(file.read_bytes())
    for start in range(0, len(damaged), page_size):
        if b"needle 150 " in damaged[start:start + page_size]:
            damaged[start:start + page_size] = os.urandom(page_size)
    file.write_bytes(damaged)
    failed = own_gateway.fails()
    assert failed.status == 5 and str(file) in failed.stderr
    assert file.read_bytes() == damaged


def damage_turns(gateway):
    """Stops the gateway and overwrites a page of the table `turns` that a start does not read."""
    thread = accepted(gateway.http.post("/threads", json={}), 201)
    for number in range(300):
        body = {"role": "user", "content": f"needle {number} " * 250}
        accepted(gateway.http.post(f"/threads/{thread['id']}/turns", json=body), 201)
    assert gateway.stop() == 0
    file, page_size = gateway.data / "gateway.db", 4096
    content = bytearray(file.read_bytes())
    for start in range(0, len(content), page_size):
        # Leaf pages of a table begin with 13, overflow pages of long texts with a page number.
        if content[start] == 13 and b"needle 150 " in content[start:start + page_size]:
            content[start:start + page_size] = os.urandom(page_size)
    file.write_bytes(content)


def test_damage_that_a_start_does_not_read_is_found_by_the_daily_check(make_gateway):
    gateway = make_gateway(environment={"AGENT_GATEWAY_TEST_DATABASE_CHECK": "0"}).start()
    assert accepted(gateway.http.get("/signals", params={"kind": "database-damaged"})) == []
    damage_turns(gateway)
    gateway.start()
    signal, = wait_for(lambda: accepted(gateway.http.get("/signals", params={"kind": "database-damaged"})))
    assert signal["severity"] == "critical" and "gateway.db is damaged: turns" in signal["message"]
    assert "Stop the gateway and restore a backup" in signal["message"]


@pytest.mark.parametrize("replaced", [False, True])
def test_data_directory_that_was_moved_meanwhile_causes_a_signal(make_gateway, replaced):
    gateway = make_gateway(environment={"AGENT_GATEWAY_TEST_DATABASE_CHECK": "1"}).start()
    elsewhere = gateway.data.with_name("elsewhere")
    gateway.data.rename(elsewhere)
    if replaced:
        gateway.data.mkdir(mode=0o700)
    wait_for(lambda: f"{gateway.data} was moved or deleted" in gateway.stderr)
    if replaced:
        shutil.rmtree(gateway.data)
    elsewhere.rename(gateway.data)
    signal, = wait_for(lambda: accepted(gateway.http.get("/signals", params={"kind": "data-directory-gone"})))
    assert signal["severity"] == "critical" and "put the directory back" in signal["message"]


def test_damaged_database_is_not_backed_up_and_causes_a_signal(own_gateway, tmp_path):
    damage_turns(own_gateway)
    own_gateway.start()
    done = own_gateway.command("backup", str(tmp_path / "b.tar.zst"))
    assert done.returncode == 1 and "is damaged: turns" in done.stderr and "nothing was backed up" in done.stderr
    signal, = accepted(own_gateway.http.get("/signals", params={"kind": "database-damaged"}))
    assert signal["severity"] == "critical" and not (tmp_path / "b.tar.zst").exists()


def test_newer_database_is_reported_and_not_changed(make_gateway):
    def raise_version(file):
        with sqlite3.connect(file) as database:
            version = database.execute("PRAGMA user_version").fetchone()[0]
            assert version > 0, "the schema's version is the database's user_version"
            database.execute(f"PRAGMA user_version = {version + 1000}")
        database.close()

    gateway = make_gateway()
    content = change_database(gateway, raise_version)
    failed = gateway.fails()
    assert failed.status == 5 and str(gateway.data / "gateway.db") in failed.stderr and "newer" in failed.stderr
    assert (gateway.data / "gateway.db").read_bytes() == content


def test_unwritable_database_is_a_clear_error(make_gateway):
    gateway = make_gateway(user=65534 if os.geteuid() == 0 else None)
    content = change_database(gateway, lambda file: file.chmod(0o400))
    failed = gateway.fails()
    assert failed.status not in (0, 75) and str(gateway.data / "gateway.db") in failed.stderr
    assert (gateway.data / "gateway.db").read_bytes() == content


# Full disks.


@pytest.fixture
def gateway_on_small_disk(make_gateway, tmp_path):
    with small_disk(tmp_path / "small", "size=24m") as small:
        gateway = make_gateway(data=small)
        try:
            yield gateway
            gateway.close()
        finally:
            if gateway.running:
                gateway.kill()


def test_full_disk_is_507_and_loses_no_acknowledged_write(gateway_on_small_disk):
    fill_and_free(gateway_on_small_disk.start())


def test_message_on_a_full_disk_leaves_no_thread(gateway_on_small_disk):
    gateway = gateway_on_small_disk.start()
    made = accepted(gateway.http.post("/threads", json={}), 201)
    fill(gateway)
    filling = gateway.data / "filling"
    os.truncate(filling, filling.stat().st_size - 1024 * 1024)
    refused(gateway.http.post("/chat", json={"content": "word " * 800_000}), 507, "disk full")
    assert [thread["id"] for thread in accepted(gateway.http.get("/threads"))] == [made["id"]]


def test_stop_on_a_full_disk_is_507_until_space_is_freed(make_gateway, stub, tmp_path):
    with small_disk(tmp_path / "small", "size=24m") as small:
        gateway = make_gateway(data=small, config=configuration(stub)).start()
        try:
            answer = stub.hold("Half of it")
            turn = accepted(gateway.http.post("/chat", json={"content": "a question"}), 201)
            assert answer.was_asked()
            with gateway.events(turn["thread_id"]) as events:
                fill_with_the_log(gateway)
                refused(gateway.http.post("/chat/stop", json={"threadId": turn["thread_id"]}), 507, "disk full")
                (gateway.data / "filling").unlink()
                assert events.run(turn["id"])[-1]["type"] == "stopped"
            answer.release()
        finally:
            gateway.kill()


@pytest.mark.parametrize("is_queued", [False, True], ids=["active", "queued"])
def test_job_stop_on_a_full_disk_is_507_until_space_is_freed(
        make_gateway, stub, tmp_path, is_queued):
    with small_disk(tmp_path / "small", "size=24m") as small:
        gateway = make_gateway(data=small, config=configuration(stub)).start()
        try:
            answer = stub.hold("Half of it")
            job = new_job(gateway, "patient", concurrency="queue")
            run(gateway, job)
            assert answer.was_asked()
            if is_queued:
                run(gateway, job)
            newest = rows(gateway, job)[0]
            fill_with_the_log(gateway)
            refused(gateway.http.post(f"/runs/{newest['id']}/stop"), 507, "disk full")
            (gateway.data / "filling").unlink()
            wait_for(lambda: rows(gateway, job)[0]["status"] == "stopped")
            answer.release()
        finally:
            gateway.kill()


def test_deleting_a_queued_turn_on_a_full_disk_is_507_until_space_is_freed(
        make_gateway, stub, tmp_path):
    with small_disk(tmp_path / "small", "size=24m") as small:
        gateway = make_gateway(data=small, config=configuration(stub)).start()
        try:
            answer = stub.hold("Half of it")
            first = accepted(gateway.http.post("/chat", json={"content": "a question"}), 201)
            body = {"content": "another", "threadId": first["thread_id"]}
            second = accepted(gateway.http.post("/chat", json=body), 201)
            assert answer.was_asked()
            fill_with_the_log(gateway)
            refused(gateway.http.delete(f"/turns/{second['id']}"), 507, "disk full")
            (gateway.data / "filling").unlink()
            wait_for(lambda: gateway.http.delete(f"/turns/{second['id']}").status_code == 204)
            answer.release()
        finally:
            gateway.kill()


def test_revoking_a_grant_on_a_full_disk_is_507_and_leaves_it_in_force(make_gateway, stub, tmp_path):
    with small_disk(tmp_path / "small", "size=24m") as small:
        gateway = make_gateway(data=small, config=configuration(stub)).start()
        try:
            thread = new_thread(gateway, new_agent(gateway, "learner", "apprentice"))
            call_asked(Talker(gateway, stub), thread, "Remember", {"text": "x"}, scope="agent")
            grant, = accepted(gateway.http.get("/agents/learner/grants"))
            fill_with_the_log(gateway)
            refused(gateway.http.delete(f"/agents/learner/grants/{grant['id']}"), 507, "disk full")
            assert accepted(gateway.http.get("/agents/learner/grants")) == [grant]
            (gateway.data / "filling").unlink()
            wait_for(lambda: gateway.http.delete(f"/agents/learner/grants/{grant['id']}").status_code == 204)
            gateway.restart()
            assert accepted(gateway.http.get("/agents/learner/grants")) == []
        finally:
            gateway.kill()


def test_run_that_ends_because_of_a_full_disk_says_so(make_gateway, stub, tmp_path):
    with small_disk(tmp_path / "small", "size=24m") as small:
        gateway = make_gateway(data=small, config=configuration(stub)).start()
        try:
            answer = stub.hold(tool_calls=[ToolCall("Read", {"path": "a.txt"})])
            turn = accepted(gateway.http.post("/chat", json={"content": "a question"}), 201)
            assert answer.was_asked()
            with gateway.events(turn["thread_id"]) as events:
                fill_with_the_log(gateway)
                answer.release()
                failed = events.until(lambda event: event["type"] == "error")[-1]
                (gateway.data / "filling").unlink()
                assert failed["error"] == "disk full" and events.run(turn["id"])[-1]["finishReason"] == "error"
            answered = accepted(gateway.http.get(f"/threads/{turn['thread_id']}/turns"))[0]
            assert answered["metadata"]["error"] == "disk full"
        finally:
            gateway.kill()


def test_cost_of_a_step_that_a_full_disk_refused_is_counted(make_gateway, stub, tmp_path):
    with small_disk(tmp_path / "small", "size=24m") as small:
        (small / "prices.yaml").write_text(f"{MODEL}: {{input: 100000, output: 50000}}\n")
        gateway = make_gateway(data=small, config=configuration(stub)).start()
        try:
            answer = stub.hold(tool_calls=[ToolCall("Read", {"path": "a.txt"})])
            turn = accepted(gateway.http.post("/chat", json={"content": "a question"}), 201)
            assert answer.was_asked()
            with gateway.events(turn["thread_id"]) as events:
                fill_with_the_log(gateway)
                answer.release()
                events.until(lambda event: event["type"] == "error")
                (gateway.data / "filling").unlink()
                finish = events.run(turn["id"])[-1]
            assert finish["costUsd"] > 0 and accepted(gateway.http.get("/costs"))["today"] == finish["costUsd"]
        finally:
            gateway.kill()


def test_tool_that_fails_because_of_a_full_disk_says_so(make_gateway, stub):
    gateway = make_gateway(config=configuration(stub))
    gateway.data.mkdir(mode=0o700, exist_ok=True)
    with small_disk(gateway.data / "agents", "size=256k") as agents:
        gateway.start()
        thread = new_thread(gateway, new_agent(gateway, "writer"))
        with (agents / "filling").open("wb", buffering=0) as file, contextlib.suppress(OSError):
            while True:
                file.write(bytes(4096))
        result = call_tool(Talker(gateway, stub), thread, "Remember", {"text": "word " * 400})
        assert result["isError"] and result["output"] == "disk full"
        assert gateway.stop() == 0


def test_pairing_code_that_a_full_disk_cannot_store_stays_valid(make_gateway, stub, telegram, tmp_path):
    with small_disk(tmp_path / "small", "size=24m") as small:
        gateway = make_gateway(data=small, config=configuration(stub)).start()
        try:
            gateway.http.put("/secrets/TELEGRAM", json={"value": TOKEN})
            connect(gateway, telegram, allow=[], pairing=True)
            telegram.says(EVE, "Hello?")
            code = {"code": telegram.message("does not know you")["text"].partition("agw pair ")[2]}
            fill_with_the_log(gateway)
            refused(gateway.http.post("/channels/pair", json=code), 507, "disk full")
            (gateway.data / "filling").unlink()
            wait_for(lambda: gateway.http.post("/channels/pair", json=code).status_code == 200)
            telegram.message("You are known now")
            refused(gateway.http.post("/channels/pair", json=code), 404, "code not found")
        finally:
            gateway.kill()


def test_export_to_a_full_disk_says_why_it_fails(own_gateway):
    thread = accepted(own_gateway.http.post("/threads", json={}), 201)
    body = {"role": "user", "content": "word " * 20_000}
    accepted(own_gateway.http.post(f"/threads/{thread['id']}/turns", json=body), 201)
    with small_disk(own_gateway.home / "small", "size=16k"):
        done = own_gateway.command("export", "small/out")
    assert done.returncode == 1 and "No space left on device" in done.stderr, done


def test_decision_on_a_full_disk_is_507_and_can_be_repeated(make_gateway, stub, tmp_path):
    with small_disk(tmp_path / "small", "size=24m") as small:
        gateway = make_gateway(data=small, config=configuration(stub)).start()
        try:
            thread = new_thread(gateway, new_agent(gateway, "learner", "apprentice"))
            with person(Talker(gateway, stub), thread, calls(("Remember", {"text": "x"})), "Done.") as user:
                asked = user.asked()
                fill_with_the_log(gateway)
                decision = {"decision": "allow"}
                refused(gateway.http.post(f"/permissions/{asked['id']}", json=decision), 507, "disk full")
                assert [request["id"] for request in accepted(gateway.http.get("/permissions"))] == [asked["id"]]
                (gateway.data / "filling").unlink()
                wait_for(lambda: gateway.http.post(f"/permissions/{asked['id']}", json=decision).status_code == 200)
                assert not user.result()["isError"]
        finally:
            gateway.kill()


def test_response_that_a_full_disk_cannot_store_is_a_failed_one(gateway_on_small_disk, stub):
    gateway = gateway_on_small_disk
    gateway.configure(configuration(stub))
    gateway.start()
    fill_with_the_log(gateway)
    response = gateway.http.post("/v1/responses", json={"model": MODEL, "input": "Hi", "stream": True})
    assert read_response(response.text).stop is None and '"message":"disk full"' in response.text
    with gateway.events(path="/v1/responses") as socket:
        socket.send({"type": "response.create", "model": MODEL, "input": "Hi"})
        failed = socket.until(lambda event: event["type"] == "response.failed")[-1]
        assert failed["response"]["error"]["message"] == "disk full"
        socket.send({"type": "response.create", "model": "assistant", "input": "Hi"})
        error = socket.until(lambda event: event["type"] == "error")[-1]
        assert (error["status"], error["message"]) == (507, "disk full")


def test_killed_gateway_starts_on_a_full_disk_and_serves_reads(gateway_on_small_disk):
    gateway = gateway_on_small_disk.start()
    made = accepted(gateway.http.post("/threads", json={"title": "kept"}), 201)
    fill(gateway)
    gateway.kill()
    gateway.start()
    assert [thread["id"] for thread in accepted(gateway.http.get("/threads"))] == [made["id"]]
    # This is longer than the free space in a restarted log.
    refused(gateway.http.post("/chat", json={"content": "word " * 800_000}), 507, "disk full")
    (gateway.data / "filling").unlink()
    accepted(gateway.http.post("/threads", json={}), 201)


def test_failed_start_on_a_full_disk_names_the_directory(gateway_on_small_disk):
    gateway = gateway_on_small_disk.start()
    accepted(gateway.http.post("/threads", json={}), 201)
    assert gateway.stop() == 0
    fill(gateway)
    failed = gateway.fails()
    assert failed.status == 1 and str(gateway.data) in failed.stderr and "ake room on that disk" in failed.stderr
    assert "SQLite" not in failed.stderr


def test_failed_start_without_free_inodes_says_so(make_gateway, tmp_path):
    with small_disk(tmp_path / "small", "nr_inodes=12") as folder:
        gateway = make_gateway(data=folder)
        assert f"the disk that holds the data directory {folder} is full, or has no free inodes" in gateway.fails().stderr
        with contextlib.suppress(OSError):
            while True:
                (folder / f"more-{len(os.listdir(folder))}").touch()
        checks = {check["check"]: check for check in json.loads(gateway.command("doctor", "--json").stdout)}
        assert checks["disk"]["state"] == "failure" and "no inode is free" in checks["disk"]["what"]
        assert "df -i" in checks["disk"]["remedy"]


def test_answers_are_durable_after_space_is_freed(gateway_on_small_disk, stub):
    gateway = gateway_on_small_disk
    gateway.configure(configuration(stub))
    gateway.start()
    thread = accepted(gateway.http.post("/threads", json={}), 201)
    answer = stub.hold()
    accepted(gateway.http.post("/chat", json={"content": "Go", "threadId": thread["id"]}), 201)
    assert answer.was_asked()
    fill(gateway)
    text = "long " * 400_000
    answer.say(text)
    wait_for(lambda: "background work" in gateway.stderr or "cannot store the active answers yet" in gateway.stderr)
    (gateway.data / "filling").unlink()

    def bytes_kept():
        with contextlib.closing(sqlite3.connect(gateway.data / "gateway.db")) as database:
            return database.execute("SELECT total(length(text)) FROM run_pieces").fetchone()[0]

    wait_for(lambda: bytes_kept() == len(text))
    gateway.kill()
    answer.release()
    gateway.start()
    turn = accepted(gateway.http.get(f"/threads/{thread['id']}/turns"))[0]
    assert turn["role"] == "assistant" and turn["content"] == text and turn["metadata"]["partial"]


def fill_and_free(gateway):
    """Writes until the disk is full, reads, enlarges the disk and writes again."""
    made = accepted(gateway.http.post("/threads", json={}), 201)
    path, body = f"/threads/{made['id']}/turns", {"content": "x" * 200_000, "role": "user"}
    kept = []
    for _ in range(300):
        response = gateway.http.post(path, json=body)
        if response.status_code != 201:
            break
        kept.append(response.json()["id"])
    refused(response, 507, "disk full")
    accepted(gateway.http.get("/health"))
    assert [turn["id"] for turn in accepted(gateway.http.get(path, params={"limit": 1000}))] == kept[::-1]
    refused(gateway.http.post(path, json=body), 507, "disk full")
    subprocess.run(["mount", "-o", "remount,size=64m", gateway.data], check=True)
    after = accepted(gateway.http.post(path, json=body), 201)["id"]
    gateway.restart()
    found = [turn["id"] for turn in accepted(gateway.http.get(path, params={"limit": 1000}))]
    assert found == [after, *kept[::-1]]
