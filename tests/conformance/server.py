#!/usr/bin/python3
"""Runs the conformance suite's server scenarios of one revision against the gateway's MCP server. Arguments: the
revision, then the suite's own. See script/mcp-conformance."""

import os
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
os.environ.setdefault("AGW", str(ROOT / "build" / "dev" / "agw"))
sys.dont_write_bytecode = True
sys.path[:0] = [str(ROOT / "tests" / "api"), str(ROOT / "tests" / "conformance")]

from authorizing_proxy import AuthorizingProxy  # noqa: E402
from gateway import Gateway  # noqa: E402
from stubs.mcp_fixture import McpFixture  # noqa: E402

MODULES = Path(os.environ["MCP_NODE_MODULES"])


def main():
    with tempfile.TemporaryDirectory() as directory, McpFixture() as fixture:
        gateway = Gateway(Path(directory) / "gateway", environment=fixture.environment).start()
        try:
            with AuthorizingProxy(gateway.url, gateway.token) as proxy:
                suite = [str(MODULES / "node" / "bin" / "node"),
                         str(MODULES / "conformance-of-servers" / "dist" / "index.js")]
                run = subprocess.run([*suite, "server", "--url", proxy.url + "/mcp", *sys.argv[1:]], check=False)
            return run.returncode
        finally:
            gateway.stop()
            print(gateway.stderr, file=sys.stderr)


if __name__ == "__main__":
    sys.exit(main())
