"""agw doctor.

See docs/command-line.md#logs-and-doctor.
"""

import contextlib
import json
import os
import socket
import sqlite3
import subprocess

import pytest

from certificates import make_certificate
from checks import accepted
from disks import small_disk
from stubs.provider import Fault
from talker import configuration


# A gateway whose configuration names no port would use the default one, which another program may have.
ANY_PORT = {"AGENT_GATEWAY_PORT": "0"}


def doctor(gateway, status=0):
    """Runs the command and returns its findings by check."""
    done = gateway.command("doctor", "--json", seconds=60)
    assert done.returncode == status, f"exit status {done.returncode}\n{done.stdout}\n{done.stderr}"
    return {finding["check"]: finding for finding in json.loads(done.stdout)}


def test_running_gateway_is_healthy(own_gateway):
    found = doctor(own_gateway)
    for check in ("configuration", "gateway", "token", "database", "disk", "clock"):
        assert found[check]["state"] == "ok", found[check]
    assert own_gateway.url in found["gateway"]["what"] and own_gateway.token not in json.dumps(found)


def test_gateway_that_was_never_started_has_only_warnings(make_gateway):
    gateway = make_gateway(config="port: 0\n")
    found = doctor(gateway)
    assert found["gateway"]["state"] == "warning" and "agw serve" in found["gateway"]["remedy"]


def test_text_output_has_no_escape_sequences(own_gateway):
    done = own_gateway.command("doctor", seconds=60)
    assert done.returncode == 0 and "ok " in done.stdout and "\x1b" not in done.stdout


@pytest.mark.parametrize("what", ["data directory", "token", "secrets"])
def test_open_permissions_are_a_failure_with_a_remedy(own_gateway, what):
    (own_gateway.data / "secrets.yaml").write_text("{}\n")
    (own_gateway.data / "secrets.yaml").chmod(0o600)
    paths = {"data directory": own_gateway.data, "token": own_gateway.data / ".gateway-token",
             "secrets": own_gateway.data / "secrets.yaml"}
    paths[what].chmod(paths[what].stat().st_mode | 0o044)
    found = doctor(own_gateway, status=1)
    assert found[what]["state"] == "failure" and "chmod" in found[what]["remedy"]


@pytest.mark.parametrize(("text", "what"), [
    ("KEY: [open\n", "secrets.yaml:2: this is not valid YAML"), ("KEY: 5\n", "KEY must be a text"),
    ("a key: x\n", "secrets.yaml: the name of a secret"),
])
def test_secrets_that_cannot_be_read_are_a_failure(own_gateway, text, what):
    (own_gateway.data / "secrets.yaml").write_text(text)
    (own_gateway.data / "secrets.yaml").chmod(0o600)
    found = doctor(own_gateway, status=1)["secrets"]
    assert found["state"] == "failure" and what in found["what"] and "fix" in found["remedy"]


def test_remedy_is_a_valid_command_for_any_path(make_gateway, tmp_path):
    gateway = make_gateway(data=tmp_path / "Ann's data", environment=ANY_PORT)
    gateway.data.mkdir(mode=0o755)
    remedy = doctor(gateway, status=1)["data directory"]["remedy"]
    subprocess.run(["sh", "-c", remedy], check=True)
    assert doctor(gateway)["data directory"]["state"] != "failure"


@pytest.mark.parametrize("mode", [0o600, 0o000], ids=oct)
def test_data_directory_that_cannot_be_entered_is_a_failure_with_a_remedy(make_gateway, mode):
    gateway = make_gateway(user=65534 if os.geteuid() == 0 else None, environment=ANY_PORT)
    gateway.data.mkdir()
    if gateway.user:
        os.chown(gateway.data, gateway.user, gateway.user)
    gateway.data.chmod(mode)
    found = doctor(gateway, status=1)["data directory"]
    assert found["state"] == "failure" and "cannot be entered" in found["what"]
    checked = gateway.command("doctor", "--database")
    assert checked.returncode == 1 and found["what"] in checked.stdout and found["remedy"] in checked.stdout
    subprocess.run(["sh", "-c", found["remedy"]], check=True)
    assert doctor(gateway)["data directory"]["state"] == "ok"


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can change owners")
@pytest.mark.parametrize("name", ["", "gateway.db-wal", "gateway.lock", ".gateway-token", "config.yaml", "agents", "logs"])
def test_files_that_sudo_left_are_named_with_their_remedy(make_gateway, name):
    gateway = make_gateway(user=65534, environment=ANY_PORT).start()
    assert gateway.stop() == 0
    foreign = gateway.data / name
    foreign.exists() or foreign.touch()
    foreign.chmod(0o700 if foreign.is_dir() else 0o600)
    os.chown(foreign, 0, 0)
    found = doctor(gateway, status=1)
    what, remedy = f"{foreign} belongs to another user", f"sudo chown -R $USER '{gateway.data}'"
    assert found["data directory"]["what"] == what and remedy in found["data directory"]["remedy"]
    assert not any("restore" in check.get("remedy", "") for check in found.values())
    failed = gateway.fails()
    assert failed.status == 2 and what in failed.stderr and remedy in failed.stderr
    done = gateway.command("status")
    assert done.returncode == 2 and what in done.stderr and remedy in done.stderr
    os.chown(foreign, gateway.user, gateway.user)
    gateway.start()


def test_invalid_configuration_is_a_failure(own_gateway):
    (own_gateway.data / "config.yaml").write_text("port: many\n")
    found = doctor(own_gateway, status=1)
    assert found["configuration"]["state"] == "failure" and "config.yaml:1: port" in found["configuration"]["what"]


@pytest.mark.parametrize("check, name, text", [
    ("prices", "prices.yaml", "gpt-5: 3\n"),
    ("tls", "config.yaml", "port: 0\ntls: {cert: /missing.pem, key: /missing.key}\n"),
    ("address", "config.yaml", "port: 0\nhost: 0.0.0.0\nauth: none\n"),
    ("logs", "logs", ""),
])
def test_problems_that_prevent_a_start_are_failures(make_gateway, check, name, text):
    gateway = make_gateway(config="port: 0\n")
    (gateway.data / name).write_text(text)
    found = doctor(gateway, status=1)[check]
    assert found["state"] == "failure" and found["remedy"]
    reason = gateway.fails().stderr
    assert check == "logs" or found["what"] in reason, reason


@pytest.mark.parametrize("check, name", [("gateway", "gateway.lock"), ("logs", "logs"), ("database", "gateway.db")])
def test_dangling_symlink_is_a_failure(make_gateway, check, name):
    gateway = make_gateway(config="port: 0\n")
    (gateway.data / name).symlink_to("/nonexistent/place")
    assert doctor(gateway, status=1)[check]["state"] == "failure"
    gateway.fails()


@pytest.mark.parametrize("make", [os.mkdir, os.mkfifo])
def test_lock_that_is_not_a_file_is_a_failure(make_gateway, make):
    gateway = make_gateway(config="port: 0\n")
    make(gateway.data / "gateway.lock")
    found = doctor(gateway, status=1)["gateway"]
    assert found["state"] == "failure" and "gateway.lock is no regular file" in found["what"] and "mv" in found["remedy"]
    failed = gateway.fails()
    assert failed.status == 2 and "cannot lock" in failed.stderr


def test_unwritable_database_is_a_failure(make_gateway):
    gateway = make_gateway(environment=ANY_PORT).start()
    assert gateway.stop() == 0
    (gateway.data / "gateway.db").chmod(0o400)
    found = doctor(gateway, status=1)["database"]
    assert found["state"] == "failure" and "not writable" in found["what"] and "chmod u+rw" in found["remedy"]
    (gateway.data / "gateway.db").chmod(0o600)
    assert doctor(gateway)["database"]["state"] == "ok"


def test_read_only_file_system_is_named_with_its_remedy(make_gateway, tmp_path):
    with small_disk(tmp_path / "disk", "size=24m") as disk:
        gateway = make_gateway(data=disk).start()
        assert gateway.stop() == 0
        subprocess.run(["mount", "-o", "remount,ro", disk], check=True)
        found = doctor(gateway, status=1)
        for check in ("data directory", "database"):
            assert f"{disk}" in found[check]["what"] and "is on a read-only file system" in found[check]["what"]
            assert "mount it read-write" in found[check]["remedy"]
        assert "logs" not in found


def test_data_directory_that_cannot_be_created_is_a_failure(make_gateway, tmp_path):
    with small_disk(tmp_path / "disk", "size=1m,ro") as disk:
        found = doctor(make_gateway(data=disk / "a" / "gateway"), status=1)["data directory"]
        assert found["state"] == "failure" and f"{disk} is not writable" in found["what"] and "--data-dir" in found["remedy"]


def test_database_that_is_not_a_file_is_a_failure(make_gateway):
    gateway = make_gateway(config="port: 0\n")
    os.mkfifo(gateway.data / "gateway.db")
    found = doctor(gateway, status=1)["database"]
    assert found["state"] == "failure" and "is no file" in found["what"]


def test_empty_database_is_accepted(make_gateway):
    gateway = make_gateway(config="port: 0\n")
    (gateway.data / "gateway.db").touch(0o600)
    assert doctor(gateway)["database"]["state"] == "skipped"
    gateway.start()


def test_remedy_for_a_directory_in_place_of_the_configuration_is_to_move_it(make_gateway):
    gateway = make_gateway()
    (gateway.data / "config.yaml").unlink(missing_ok=True)
    (gateway.data / "config.yaml").mkdir(parents=True)
    assert "mv " in doctor(gateway, status=1)["configuration"]["remedy"]


@pytest.mark.parametrize("name", ["agents", "jobs"])
def test_file_in_place_of_a_directory_is_a_warning(make_gateway, name):
    gateway = make_gateway(config="port: 0\n")
    (gateway.data / name).write_text("")
    found = doctor(gateway)[name]
    assert found["state"] == "warning" and "mv " in found["remedy"]


def test_default_model_without_a_provider_is_a_warning(make_gateway):
    gateway = make_gateway(config="port: 0\nmodels: {default: nowhere/large}\n")
    found = doctor(gateway)["models.default"]
    assert found["state"] == "warning" and "nowhere/large" in found["what"]
    gateway.configure("port: 0\nmodels: {default: offline/librarian}\n")
    assert "models.default" not in doctor(gateway)


def test_tls_key_readable_by_others_is_a_warning(make_gateway, tmp_path):
    certificate, key = make_certificate(tmp_path)
    gateway = make_gateway(config={"port": 0, "tls": {"cert": str(certificate), "key": str(key)}})
    assert doctor(gateway)["tls"]["state"] == "ok"
    key.chmod(0o644)
    found = doctor(gateway)["tls"]
    assert found["state"] == "warning" and str(key) in found["what"] and "chmod 600" in found["remedy"]
    assert gateway.start().stop() == 0
    assert "others can read" in gateway.stderr


def make_authority(directory, days):
    certificate, key = make_certificate(directory, name="authority", days=days)
    file = directory / "proxy-authority.pem"
    file.write_bytes(key.read_bytes() + certificate.read_bytes())
    file.chmod(0o600)
    return file


def test_certificate_authority_of_the_proxy_is_checked_if_it_exists(make_gateway):
    gateway = make_gateway(config="port: 0\n")
    assert "authority" not in doctor(gateway)
    file = make_authority(gateway.data, days=3650)
    found = doctor(gateway)["authority"]
    assert found["state"] == "ok" and f"{file} is yours alone, and valid until 20" in found["what"]
    file.chmod(0o640)
    found = doctor(gateway, status=1)["authority"]
    assert found["state"] == "failure" and "open to others" in found["what"]
    subprocess.run(["sh", "-c", found["remedy"]], check=True)
    assert doctor(gateway)["authority"]["state"] == "ok"


def test_certificate_authority_of_the_proxy_that_expires_soon_is_a_warning(make_gateway):
    gateway = make_gateway(config="port: 0\n")
    make_authority(gateway.data, days=30)
    found = doctor(gateway)["authority"]
    assert found["state"] == "warning" and " ends on 20" in found["what"]
    assert "restart the apps and MCP servers" in found["remedy"]


def test_remedy_for_an_invalid_certificate_authority_of_the_proxy_is_to_move_it(make_gateway):
    gateway = make_gateway(config="port: 0\n")
    file = gateway.data / "proxy-authority.pem"
    file.write_text("nonsense")
    file.chmod(0o600)
    found = doctor(gateway, status=1)["authority"]
    assert found["state"] == "failure" and "holds no key with its certificate" in found["what"]
    subprocess.run(["sh", "-c", found["remedy"]], check=True)
    assert "authority" not in doctor(gateway)


@pytest.mark.parametrize("token", ["", "abc"])
def test_remedy_for_an_invalid_token_file_is_to_remove_it(make_gateway, token):
    gateway = make_gateway(config="port: 0\n")
    path = gateway.data / ".gateway-token"
    path.write_text(token)
    path.chmod(0o600)
    found = doctor(gateway, status=1)["token"]
    assert found["remedy"].startswith(f"rm '{path}'")
    path.unlink()
    gateway.start()


def test_port_in_use_is_a_failure(make_gateway):
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        gateway = make_gateway(config={"port": taken.getsockname()[1]})
        assert doctor(gateway, status=1)["port"]["state"] == "failure"


def test_damaged_database_is_a_failure_and_left_unchanged(own_gateway):
    assert own_gateway.stop() == 0
    database = own_gateway.data / "gateway.db"
    content = bytearray(database.read_bytes())
    content[8192:16384] = bytes(range(256)) * 32
    database.write_bytes(content)
    found = doctor(own_gateway, status=1)
    assert found["database"]["state"] == "failure" and "restore" in found["database"]["remedy"]
    assert database.read_bytes() == content


def test_newer_database_is_a_failure_whose_remedy_is_the_newer_program(own_gateway):
    own_gateway.stop()
    with contextlib.closing(sqlite3.connect(own_gateway.data / "gateway.db")) as database:
        version = database.execute("PRAGMA user_version").fetchone()[0]
        database.execute(f"PRAGMA user_version = {version + 1}")
        database.commit()
    found = doctor(own_gateway, status=1)["database"]
    assert found["state"] == "failure" and found["remedy"].startswith("install the newer agw again")


def test_search_service_without_an_address_is_a_warning(make_gateway):
    gateway = make_gateway(config="port: 0\ntools: {web_search: {service: searxng}}\n")
    found = doctor(gateway)["web search"]
    assert found["state"] == "warning" and "has no address" in found["what"] and "SEARXNG_URL" in found["what"]
    address = "tools: {web_search: {service: searxng, base_url: http://127.0.0.1:8888}}"
    (gateway.data / "config.yaml").write_text(f"port: 0\n{address}\n")
    assert doctor(gateway)["web search"]["state"] == "ok"


@pytest.mark.parametrize("configured, what, remedy", [
    ("api_key_file: /no/such/file", "its api_key_file /no/such/file cannot be read", None),
    ("api_key_env: OF_MINE", "the environment variable OF_MINE is not set",
     "nothing, if OF_MINE is set in the gateway's own environment")])
def test_search_service_without_its_key_is_a_warning_about_what_is_configured(make_gateway, configured, what, remedy):
    gateway = make_gateway(config=f"port: 0\ntools: {{web_search: {{service: brave, {configured}}}}}\n")
    found = doctor(gateway)["web search"]
    assert found["state"] == "warning" and what in found["what"] and "BRAVE_API_KEY" not in found["what"]
    assert found.get("remedy") == remedy


def test_gateway_without_a_token_is_a_failure(make_gateway):
    gateway = make_gateway(arguments=["--no-token"]).start()
    assert doctor(gateway, status=1)["gateway"]["state"] == "failure"


def test_missing_model_is_a_warning_with_advice(own_gateway):
    found = doctor(own_gateway)["models"]
    assert found["state"] == "warning" and "ANTHROPIC_API_KEY" in found["remedy"]


def test_model_service_is_checked_with_its_key(own_gateway, stub):
    stub.models = ["m1"]
    assert own_gateway.command("secret", "set", "MINE", typed="the-key").returncode == 0
    body = {"type": "integration", "name": "mine", "description": "", "enabled": True,
            "definition": {"kind": "model", "api": "openai-chat", "base_url": stub.openai_url, "api_key": "${secret:MINE}"}}
    accepted(own_gateway.http.post("/extensions", json=body), 201)
    found = doctor(own_gateway)
    assert found["model mine"]["state"] == "ok" and "models" not in found
    assert stub.list_requests[-1].headers["authorization"] == "Bearer the-key"
    stub.models = Fault(401)
    found = doctor(own_gateway)["model mine"]
    assert found["state"] == "warning" and "refused the key" in found["what"]


def test_model_in_the_environment_of_the_gateway_is_found(make_gateway, stub):
    gateway = make_gateway(config="port: 0\n", environment={"OLLAMA_HOST": stub.base_url}).start()
    del gateway.environment["OLLAMA_HOST"]
    assert doctor(gateway)["models"]["state"] == "ok"


def test_responding_model_is_healthy(own_talker):
    assert doctor(own_talker.gateway)["model stub"]["state"] == "ok"


def test_unresponsive_model_is_a_warning(make_gateway, stub):
    gateway = make_gateway(config=configuration(stub) | {"port": 0})
    text = (gateway.data / "config.yaml").read_text()
    (gateway.data / "config.yaml").write_text(text.replace(stub.openai_url, "http://ann:hunter2@127.0.0.1:9/v1?key=hunter2"))
    found = doctor(gateway)["model stub"]
    assert found["state"] == "warning" and "http://127.0.0.1:9/v1 does not answer" in found["what"]
    assert "hunter2" not in str(found)


def test_unset_key_is_a_warning(make_gateway):
    gateway = make_gateway(config={"port": 0, "models": {"default": "mine/large"},
                                   "providers": {"mine": {"kind": "openai", "api_key_env": "NOT_SET"}}})
    done = gateway.command("doctor", "--json", seconds=60)
    why = "provider mine is not configured: the environment variable NOT_SET is not set"
    found = {finding["check"]: finding for finding in json.loads(done.stdout)}
    assert found["model mine"]["what"] == why and found["models.default"]["state"] == "warning"
    assert done.stderr.count(why) == 1


def test_disabled_sandbox_is_a_warning(make_gateway):
    assert doctor(make_gateway(config={"sandbox": "none", "port": 0}))["sandbox"]["state"] == "warning"


def test_requirements_of_apps_are_checked(own_gateway):
    body = {"type": "app", "name": "site", "description": "", "enabled": True,
            "definition": {"type": "node", "path": str(own_gateway.home)}}
    assert own_gateway.http.post("/extensions", json=body).status_code == 201
    own_gateway.environment["PATH"] = "/nonexistent"
    found = doctor(own_gateway)["apps"]
    assert found["state"] == "warning" and "node" in found["what"] and "apt-get" in found["remedy"]
