"""What holds up the event loop.

See docs/troubleshoot.md and docs/contract/process.md#starting.
"""

import re

from checks import accepted


def test_callbacks_that_hold_the_loop_are_logged(make_gateway):
    gateway = make_gateway(arguments=["--trace-loop"]).start()
    variables = {f"NAME_{number}": "value" for number in range(200_000)}
    accepted(gateway.http.post("/extensions", json={
        "type": "integration", "name": "large", "description": "", "definition": {
            "kind": "mcp-stdio", "command": "true", "env": variables}}), 201)
    assert gateway.stop() == 0
    assert re.search(r"a callback held the loop for \d+\.\d ms: \S+\+0x[0-9a-f]+ ", gateway.stderr)
