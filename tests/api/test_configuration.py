"""config.yaml, the environment and flags: precedence, and errors for invalid values.

See docs/contract/process.md#configuration.
"""

import re

import pytest

from connection import Connection


def test_first_start_writes_a_commented_example(own_gateway):
    text = (own_gateway.data / "config.yaml").read_text()
    assert text.strip() and all(line.startswith("#") or not line.strip() for line in text.splitlines())
    own_gateway.restart()
    assert (own_gateway.data / "config.yaml").read_text() == text


def test_existing_configuration_is_not_changed(make_gateway):
    gateway = make_gateway(config="# mine\nlimits:\n  body_mib: 3\n").start()
    assert (gateway.data / "config.yaml").read_text() == "# mine\nlimits:\n  body_mib: 3\n"


@pytest.mark.parametrize("text, line, key", [
    ("limits:\n  body_mib: many\n", 2, "body_mib"), ("limits:\n  body_mib: -1\n", 2, "body_mib"),
    ("\n\nlimits:\n  connections: []\n", 4, "connections"), ("limits: 5\n", 1, "limits"), ("auth: maybe\n", 1, "auth"),
    ("hosts: 5\n", 1, "hosts"), ("host: no.such.host\n", 1, "host"), ("# c\norigins:\n  a: b\n", 2, "origins"),
    ("providers:\n  mine:\n    kind: telepathy\n", 3, "kind"), ("models: yes\n", 1, "models"),
])
def test_invalid_value_is_reported_with_file_line_key_and_reason(make_gateway, text, line, key):
    gateway = make_gateway(config=text)
    failed = gateway.fails()
    assert failed.status == 2
    file = re.escape(str(gateway.data / "config.yaml"))
    assert re.search(rf"{file}:{line}: [\w.\-\[\]]*{key}[\w.\-\[\]]*: \S+", failed.stderr), failed.stderr


@pytest.mark.parametrize("text", ["limits: [\n", "a: b: c\n", "\tlimits: 5\n", "- 1\n- 2\n", "just text\n", "\xff\n", ", b\n",
                                  "[] ,\n", "port: 1\n--- , b\n"])
def test_invalid_yaml_is_reported_with_its_line(make_gateway, text):
    gateway = make_gateway(config="")
    (gateway.data / "config.yaml").write_bytes(text.encode("latin-1"))
    failed = gateway.fails()
    assert failed.status == 2 and re.search(r"config\.yaml:\d+: ", failed.stderr)


@pytest.mark.parametrize("text", ["", "# nothing\n", "---\n", "{}\n"])
def test_empty_configuration_is_valid(make_gateway, text):
    make_gateway(config=text).start()


def test_dangling_configuration_symlink_is_an_error(make_gateway):
    gateway = make_gateway(config="")
    (gateway.data / "config.yaml").unlink()
    (gateway.data / "config.yaml").symlink_to("nowhere")
    failed = gateway.fails()
    assert failed.status == 2
    assert f"{gateway.data / 'config.yaml'}: cannot be read: No such file or directory" in failed.stderr


def test_another_file_can_be_given(make_gateway, tmp_path):
    other = tmp_path / "other.yaml"
    other.write_text("hosts: [other.example]\n")
    gateway = make_gateway(config={"hosts": ["default.example"]}, arguments=["--config", str(other)]).start()
    for host, status in (("other.example", 200), ("default.example", 403)):
        with Connection(gateway) as connection:
            connection.request("GET /health HTTP/1.1", f"Host: {host}", host=False)
            assert connection.response().status == status
    failed = make_gateway(arguments=["--config", str(tmp_path / "missing.yaml")]).fails()
    assert failed.status == 2 and "missing.yaml" in failed.stderr
    failed = make_gateway(arguments=["--config", ""]).fails()
    assert failed.status == 2 and "--config must name a file" in failed.stderr


def test_flag_overrides_the_file(make_gateway):
    gateway = make_gateway(config={"host": "127.0.0.2", "port": 1}).start()
    assert gateway.port != 1


def test_flag_overrides_the_environment_which_overrides_the_file(make_gateway):
    def is_quiet(**options):
        gateway = make_gateway(**options).start()
        assert gateway.stop() == 0
        return gateway.stderr == ""

    file, variable = {"log_level": "info"}, {"AGENT_GATEWAY_LOG_LEVEL": "off"}
    assert not is_quiet(config=file)
    assert is_quiet(config=file, environment=variable)
    assert not is_quiet(config=file, environment=variable, arguments=["--log-level", "info"])


@pytest.mark.parametrize("text, why", [
    ("hosts:\n  - gateway.example.org\n  - '*.example.org'\n", "3: hosts: must be a list of host names"),
    ("origins:\n  - https://example.org:443\n", "2: origins: must be a list of origins"),
    ("origins: [https://user@example.org]\n", "1: origins: must be a list of origins"),
    ("public_url: https://example.org:99999\n", "1: public_url: must be an address"),
    ("providers: {box: {kind: openai, base_url: 'http://box:port/v1'}}\n", "1: providers.box.base_url: must be an address"),
])
def test_value_that_can_never_match_is_reported(make_gateway, text, why):
    failed = make_gateway(config=text).fails()
    assert failed.status == 2 and f"config.yaml:{why}" in failed.stderr


def test_invalid_provider_address_in_the_environment_is_reported(make_gateway):
    gateway = make_gateway(environment={"OPENAI_BASE_URL": "localhost:8000"}).start()
    why = "provider openai is not configured: the environment variable OPENAI_BASE_URL must be an address"
    assert why in gateway.stderr
    done = gateway.command("chat", "hello")
    assert done.returncode == 1 and why in done.stderr


def test_invalid_value_in_the_environment_is_reported(make_gateway):
    failed = make_gateway(environment={"AGENT_GATEWAY_LOG_LEVEL": "loud"}).fails()
    assert failed.status == 2 and "AGENT_GATEWAY_LOG_LEVEL" in failed.stderr
