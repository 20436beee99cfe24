"""MCP's conformance suite: the gateway as a server, by revision, and as a client, by scenario. Run by
script/mcp-conformance."""

import os
import re
import subprocess
from pathlib import Path

import pytest

from authorizing_proxy import AuthorizingProxy
from gateway import Gateway
from stubs.mcp_fixture import McpFixture

HERE = Path(__file__).resolve().parent

MODULES = Path(os.environ["MCP_NODE_MODULES"])

# The options of each revision, and how many of its scenarios pass.
REVISIONS = {
    "2026-07-28": (["--requirements", "2026-07-28"], 39),
    "2025-11-25": (["--spec-version", "2025-11-25", "--suite", "all"], 33),
    "2025-06-18": (["--spec-version", "2025-06-18", "--suite", "all"], 27),
}
# Not counted by the requirements of 2026-07-28, and not offered by the gateway. See docs/contract/mcp.md.
NOT_OFFERED = re.compile(r"tasks-|http-custom-header-server-validation$")

# Without the extensions for programs that log in without a person (auth/client-credentials-*, auth/cross-app-access-*).
CLIENT_SCENARIOS = """initialize tools_call sse-retry elicitation-sep1034-client-defaults
    auth/metadata-default auth/metadata-var1 auth/metadata-var2 auth/metadata-var3
    auth/2025-03-26-oauth-metadata-backcompat auth/2025-03-26-oauth-endpoint-fallback auth/resource-mismatch
    auth/basic-cimd auth/pre-registration
    auth/token-endpoint-auth-basic auth/token-endpoint-auth-post auth/token-endpoint-auth-none
    auth/scope-from-www-authenticate auth/scope-from-scopes-supported auth/scope-omitted-when-undefined
    auth/scope-step-up auth/scope-retry-limit auth/offline-access-scope auth/offline-access-not-supported""".split()


def run_suite(package, *arguments):
    """Runs the suite of the package, which must succeed, and returns its output."""
    result = subprocess.run([MODULES / "node" / "bin" / "node", MODULES / package / "dist" / "index.js", *arguments],
                            capture_output=True, text=True, timeout=300)
    assert result.returncode == 0, result.stdout + result.stderr
    return result.stdout


@pytest.mark.parametrize("revision", REVISIONS)
def test_gateway_is_a_server_of_the_revision(tmp_path, revision):
    options, count = REVISIONS[revision]
    with McpFixture() as fixture:
        gateway = Gateway(tmp_path / "gateway", environment=fixture.environment).start()
        with AuthorizingProxy(gateway.url, gateway.token) as proxy:
            printed = run_suite("conformance-of-servers", "server", "--url", proxy.url + "/mcp", *options,
                                "-o", tmp_path / "results")
        gateway.close()
    summary = printed.partition("=== SUMMARY ===")[2].partition("Total:")[0]
    results = [(mark, name) for mark, name in re.findall(r"^([✓✗]) (\S+):", summary, re.M)
               if not NOT_OFFERED.match(name)]
    assert {mark for mark, _ in results} == {"✓"} and len(results) == count, printed


@pytest.mark.parametrize("scenario", CLIENT_SCENARIOS)
def test_gateway_is_a_client(tmp_path, scenario):
    run_suite("@modelcontextprotocol/conformance", "client", "--command", f"/usr/bin/python3 {HERE / 'client.py'}",
              "--scenario", scenario, "--timeout", "60000", "-o", tmp_path / "results")
