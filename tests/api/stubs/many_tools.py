#!/usr/bin/python3
"""An MCP server over stdio with 60 typical tools of services, and questions about all of them.

    many_tools.py NUMBER    # the server with this number, 0 to 4; each has different tools
"""

import json
import sys

SERVERS = 5
VERBS = {"create": "makes a new", "list": "shows each", "delete": "removes a", "update": "changes an existing",
         "search": "looks for a"}
THINGS = """invoice customer branch commit pull_request calendar_event contact email_draft spreadsheet document channel
    reaction deployment container secret dashboard alert metric ticket sprint milestone label webhook subscription refund
    coupon product order shipment address flight hotel playlist track photo album recipe note reminder bookmark feed
    article comment review rating survey form token role team project folder file database table query report budget
    expense tag""".split()
FIELDS = {
    "workspace": "The workspace that it belongs to, by its short name as it stands in addresses.",
    "fields": "Which members are returned, separated by commas; all of them when omitted.",
    "idempotency_key": "Repeated requests with the same key are done once. At most 64 characters.",
    "page_size": "How many are returned at once, 1 to 100; 20 when omitted.",
}


def tool(verb, thing):
    spoken = thing.replace("_", " ")
    properties = {f"{thing}_id": {"type": "string", "description": f"The {spoken} by its id."},
                  **{name: {"type": "string", "description": about} for name, about in FIELDS.items()},
                  "sort": {"type": "string", "enum": ["created", "-created", "updated", "-updated", "name"]}}
    return {"name": f"{verb}_{thing}",
            "description": f"This tool {VERBS[verb]} {spoken} in the workspace. It needs the permission {thing}:write. "
                           "Limits of the plan apply; see the documentation of the service about rates and quotas.",
            "inputSchema": {"type": "object", "properties": properties, "required": [f"{thing}_id"]}}


def tools_of(number):
    return [tool(verb, thing) for thing in THINGS[number::SERVERS] for verb in VERBS]


def questions(servers):
    """Returns 200 pairs of a question and the tool for it. `servers`: the names of the integrations, by number."""
    asked = ["{verb} {thing}", "Could you {verb} the {thing} for me?", "a tool that {said} {thing}",
             "I need something which {said} {thing}, please"]
    pairs = [(number, thing, verb) for number in range(len(servers)) for thing in THINGS[number::SERVERS] for verb in VERBS]
    return [(asked[place % len(asked)].format(verb=verb, said=VERBS[verb], thing=thing.replace("_", " ")),
             f"{servers[number]}__{verb}_{thing}")
            for place, (number, thing, verb) in enumerate(pairs[place * len(pairs) // 200] for place in range(200))]


def result_of(method, params, number):
    if method == "initialize":
        return {"protocolVersion": params["protocolVersion"], "capabilities": {"tools": {}},
                "serverInfo": {"name": "many", "version": "1"}}
    if method == "tools/list":
        return {"tools": tools_of(number)}
    if method == "tools/call":
        return {"content": [{"type": "text", "text": f"{params['name']} was called"}]}
    return None


def main():
    number = int(sys.argv[1])
    for line in sys.stdin:
        message = json.loads(line)
        if "id" not in message:
            continue
        result = result_of(message["method"], message.get("params", {}), number)
        answer = {"result": result} if result else {"error": {"code": -32601, "message": "Method not found"}}
        print(json.dumps({"jsonrpc": "2.0", "id": message["id"], **answer}), flush=True)


if __name__ == "__main__":
    main()
