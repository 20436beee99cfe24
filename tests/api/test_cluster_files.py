"""The files in packaging/ that start several gateways, checked against published schemas and the options of agw.

These tests need neither Kubernetes nor a container engine: they check the contents of the files and do not deploy them.
HAProxy itself is tested in tests/cluster/test_balancer.py. See docs/run-a-cluster.md#files-to-begin-with.
"""

import copy
import json
import os
import re
import shutil
import subprocess

import jsonschema
import pytest
import yaml

from certificates import make_certificate
from gateway import BINARY, REPOSITORY

PACKAGING = REPOSITORY / "packaging"
SCHEMAS = REPOSITORY / "tests" / "api" / "schemas"
NODES = ("a", "b", "c")
API_GROUPS = {"StatefulSet": "io.k8s.api.apps.v1", "Service": "io.k8s.api.core.v1", "Secret": "io.k8s.api.core.v1",
              "PodDisruptionBudget": "io.k8s.api.policy.v1"}


def compose():
    return yaml.safe_load((PACKAGING / "compose.yaml").read_text())


def resources():
    return list(yaml.safe_load_all((PACKAGING / "kubernetes.yaml").read_text()))


def pod():
    return next(one for one in resources() if one["kind"] == "StatefulSet")["spec"]["template"]["spec"]


def help_of(*command):
    return subprocess.run([BINARY, *command, "--help"], capture_output=True, text=True, check=True).stdout


def scripts():
    """Yields the shell scripts in the files, with the escapes of Compose removed."""
    for name, service in compose()["services"].items():
        if service.get("entrypoint") == ["sh", "-ec"]:
            yield f"compose {name}", service["command"][0].replace("$$", "$")
    for container in pod()["containers"]:
        yield f"kubernetes {container['name']}", container["args"][0]


def strict(schema):
    """Returns the schema with unknown members as errors, as in `kubectl --validate=strict`."""
    schema = copy.deepcopy(schema)
    for definition in schema["definitions"].values():
        if "properties" in definition:
            definition["additionalProperties"] = False
    return schema


def test_the_compose_file_is_valid():
    jsonschema.Draft7Validator(json.loads((SCHEMAS / "compose.json").read_text())).validate(compose())


@pytest.mark.parametrize("number", range(len(resources())))
def test_the_kubernetes_resources_are_valid(number):
    resource = resources()[number]
    schema = strict(json.loads((SCHEMAS / "kubernetes-1.22.json").read_text()))
    schema["$ref"] = f"#/definitions/{API_GROUPS[resource['kind']]}.{resource['kind']}"
    jsonschema.Draft7Validator(schema).validate(resource)


def test_a_misspelled_member_of_a_resource_is_detected():
    schema = strict(json.loads((SCHEMAS / "kubernetes-1.22.json").read_text()))
    schema["$ref"] = "#/definitions/io.k8s.api.apps.v1.StatefulSet"
    resource = next(one for one in resources() if one["kind"] == "StatefulSet")
    resource["spec"]["template"]["spec"]["containers"][0]["readynessProbe"] = {}
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.Draft7Validator(schema).validate(resource)


def test_variables_flags_and_paths_are_those_of_agw(gateway):
    text = "\n".join((PACKAGING / name).read_text() for name in ("compose.yaml", "kubernetes.yaml", "haproxy.cfg"))
    known = (REPOSITORY / "docs" / "configuration.md").read_text()
    for variable in set(re.findall(r"AGENT_GATEWAY_\w+", text)):
        assert f"`{variable}`" in known, variable
    for command, flag in set(re.findall(r"agw,? (serve|status),? (--\w+)", text.replace('"', ""))):
        assert re.search(rf"{flag}\b", help_of(command)), (command, flag)
    paths = set(re.findall(r"(?:uri|path:) (/[a-z]+)", text))
    assert paths == {"/health", "/ready"} and paths <= set(gateway.http.get("/openapi.json").json()["paths"])


def test_the_nodes_have_separate_names_and_data():
    services = compose()["services"]
    assert {services[name]["environment"]["AGENT_GATEWAY_CLUSTER_NODE"] for name in NODES} == set(NODES)
    assert len({services[name]["volumes"][0] for name in NODES}) == len(NODES)
    balanced = re.findall(r"^    server (\w+) (\w+):7420$", (PACKAGING / "haproxy.cfg").read_text(), re.M)
    assert balanced == [(name, name) for name in NODES]


def test_the_grace_period_is_longer_than_a_drain():
    drain = int(re.search(r"`cluster.drain_seconds` .* (\d+) \|$", (REPOSITORY / "docs" / "configuration.md").read_text(),
                          re.M)[1])
    assert pod()["terminationGracePeriodSeconds"] >= drain + 10
    assert all(int(compose()["services"][name]["stop_grace_period"].removesuffix("s")) >= drain + 10 for name in NODES)


def test_mounts_are_defined_and_secrets_are_placeholders():
    container, = pod()["containers"]
    secret = next(one for one in resources() if one["kind"] == "Secret")["stringData"]
    keys = {one["valueFrom"]["secretKeyRef"]["key"] for one in container["env"] if "secretKeyRef" in one.get("valueFrom", {})}
    read = set(re.findall(r"/run/agw/([\w.-]+)", container["args"][0] + secret["database"]))
    assert keys | read == set(secret)
    assert all("REPLACE" in secret[name] for name in ("token", "database-password", "events", "node.key"))
    made = compose()
    for service in made["services"].values():
        assert set(service.get("secrets", [])) <= set(made["secrets"])
        for volume in service.get("volumes", []):
            assert volume.startswith("./") or volume.split(":")[0] in made["volumes"]


def test_ports_are_named_after_their_protocol():
    """Service meshes and ingress controllers derive the protocol from the name of a port."""
    container, = pod()["containers"]
    port, = container["ports"]
    for probe in "startupProbe", "livenessProbe":
        asked = container[probe]["httpGet"]
        assert asked["port"] == port["name"] == asked["scheme"].lower() == "https", probe
    services = [one["spec"]["ports"] for one in resources() if one["kind"] == "Service"]
    assert [[one["name"] for one in ports] for ports in services] == [["https"], ["https"]]
    assert all(one.get("targetPort", port["name"]) == port["name"] for ports in services for one in ports)


def test_the_documented_tls_settings_are_those_of_the_files():
    page = (REPOSITORY / "docs" / "run-a-cluster.md").read_text()
    named = re.findall(r"^tls: \{cert: (\S+), key: (\S+)\}  # (\w+);", page, re.M)
    written = {name: dict(scripts())[name] for name in ("compose a", "kubernetes agw")}
    for cert, key, kind in named:
        script = written["compose a" if kind == "Compose" else "kubernetes agw"]
        line = f"tls: {{cert: {cert}, key: {key}}}"
        assert line in script.replace("$AGENT_GATEWAY_CLUSTER_NODE", "a"), kind
    assert [kind for _, _, kind in named] == ["Compose", "Kubernetes"]


@pytest.mark.parametrize("script", [text for _, text in scripts()], ids=[name for name, _ in scripts()])
def test_the_scripts_are_valid_shell(script):
    assert subprocess.run(["sh", "-n"], input=script, text=True).returncode == 0


def test_the_nodes_have_addresses_in_the_cluster_network(gateway, make_gateway, tmp_path):
    """Other nodes reach the apps of a node at its address. Runs each start script up to the start of the gateway."""
    certificate, key = make_certificate(tmp_path, name="a")
    container, = pod()["containers"]
    of_pod = next(one for one in container["env"] if one["name"] == "AGENT_GATEWAY_CLUSTER_ADDRESS")["value"]
    found = {}
    for name, script, node in (("compose", dict(scripts())["compose a"], "a"), ("pod", container["args"][0], "agw-0")):
        made = make_gateway()
        made.data.mkdir(mode=0o700, parents=True, exist_ok=True)
        (tmp_path / "token").write_text(gateway.token)
        for file in ("database", "events", "authority.pem", "node.crt", "node.key"):
            shutil.copy(key if file == "node.key" else certificate, tmp_path / file)
        script = re.sub(r"/(run/secrets|run/agw|certificates|tmp)/", f"{tmp_path}/", script)
        script = script.replace("exec agw serve --host 0.0.0.0", 'echo "$AGENT_GATEWAY_CLUSTER_ADDRESS"')
        address = of_pod.replace("$(AGENT_GATEWAY_CLUSTER_NODE)", node) if name == "pod" else ""
        environment = {"AGENT_GATEWAY_DATA_DIR": str(made.data), "AGENT_GATEWAY_CLUSTER_NODE": node,
                       "AGENT_GATEWAY_CLUSTER_ADDRESS": address}
        done = subprocess.run(["sh", "-ec", script], env={**os.environ, **environment}, capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
        found[name] = done.stdout.strip()
        assert made.start().url.startswith("https://"), "a certificate is configured"
        made.stop()
    assert found == {"compose": "https://a:7420", "pod": "https://agw-0.agw-nodes:7420"}
    names = re.search(r"subjectAltName=(\S+)", (PACKAGING / "kubernetes.yaml").read_text())[1]
    assert "DNS:agw-0.agw-nodes" in names.split(",")
    nodes = next(one for one in resources() if one["metadata"]["name"] == "agw-nodes")
    assert nodes["kind"] == "Service" and nodes["spec"]["publishNotReadyAddresses"]


def test_the_certificates_are_valid_for_their_servers(tmp_path):
    if not shutil.which("openssl"):
        pytest.skip("openssl is not installed")
    script = dict(scripts())["compose certificates"]
    script = re.sub(r"chown \d+", "true", script.replace("/certificates", str(tmp_path)))
    for _ in range(2):  # The second run must keep the files of the first.
        subprocess.run(["sh", "-ec", script], check=True, capture_output=True)
    for name in ("database", "events", *NODES):
        certificate = tmp_path / f"{name}.pem"
        done = subprocess.run(["openssl", "verify", "-CAfile", tmp_path / "ca.pem", "-verify_hostname", name, certificate],
                              capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
        assert (tmp_path / f"{name}.key").stat().st_mode & 0o777 == 0o600
    assert not (tmp_path / "ca.key").exists()
