"""Values in requests and responses: ids, times, JSON bodies, queries, sizes.

See docs/contract/requests.md#values and docs/contract/requests.md#bodies.
"""

import json

import pytest

from checks import UNKNOWN_ID, accepted, is_id, is_timestamp, refused
from connection import Connection

JSON = {"Content-Type": "application/json"}


def nested_text(depth, opening="[", closing="]"):
    """Returns JSON text with `depth` levels, including the outermost value."""
    return opening * depth + closing * depth


def post_turn(gateway, thread, raw, headers=JSON):
    body = raw.encode() if isinstance(raw, str) else raw
    return gateway.http.post(f"/threads/{thread['id']}/turns", content=body, headers=headers)


# Ids and timestamps.


def test_ids_are_uuid_version_7_in_lower_case(gateway, thread):
    turn = accepted(post_turn(gateway, thread, '{"content": "a", "role": "user"}'), 201)
    assert is_id(thread["id"]) and is_id(turn["id"])


def test_timestamps_are_utc_with_milliseconds(gateway, thread):
    assert is_timestamp(thread["created_at"]) and is_timestamp(thread["updated_at"])


def test_ids_increase_with_time(gateway, thread):
    made = [accepted(post_turn(gateway, thread, '{"content": "a", "role": "user"}'), 201)["id"] for _ in range(20)]
    milliseconds = [id[:13] for id in made]
    assert milliseconds == sorted(milliseconds)


@pytest.mark.parametrize("value", [
    "2020-01-02", "2020-01-02T03:04:05Z", "2020-01-02T03:04:05.678Z", "2020-01-02T03:04:05.678901Z",
    "2020-01-02T03:04:05", "2020-01-02T03:04:05+02:00", "2020-01-02T03:04:05.5-11:30", "2020-01-02T03:04Z",
    "20200102", "20200102T030405Z", "2020-01-02T03", "2020-W01-4", "2020-002", "2020-01-02T24:00:00Z",
    "2020-01-02T03.5", "2020-01-02T03:04,5Z",
])
def test_any_iso_8601_date_or_date_time_is_accepted(gateway, value):
    accepted(gateway.http.get("/threads", params={"since": value}))


@pytest.mark.parametrize("value", [
    "yesterday", "2020-13-01", "2020-02-30", "2020-01-02T25:00:00Z", "2020-01-02T03:61:00Z", "1577934245",
    "2020-01-02T03:04:05Zulu", "2020-01-02 and more", "02.01.2020", "2020-1-2",
])
def test_invalid_timestamp_is_named(gateway, thread, value):
    refused(gateway.http.get("/threads", params={"since": value}), 400, "since must be an ISO 8601 timestamp")
    turns = f"/threads/{thread['id']}/turns"
    refused(gateway.http.get(turns, params={"since": value}), 400, "since must be an ISO 8601 timestamp")


def test_timestamp_without_a_zone_is_utc(gateway):
    created = accepted(gateway.http.post("/threads", json={"agent_id": "zones"}), 201)
    updated_at = created["updated_at"].removesuffix("Z")
    hour = f"{int(updated_at[11:13]) - 1:02d}" if int(updated_at[11:13]) else "00"
    before = updated_at[:11] + hour + ":00:00"
    listed = accepted(gateway.http.get("/threads", params={"since": before, "agent_id": "zones"}))
    assert [found["id"] for found in listed] == [created["id"]]


# Bodies that are not JSON.

LONE_SURROGATES = [
    r'"\ud800"', r'"\udfff"', r'"\ud800x"', r'"\ud800\u0041"', r'"\udc00\ud800"', r'{"\ud800": 1}', r'"\uD83D"',
]
INVALID_UTF8 = [
    b'"\xff"', b'"\xc0\xaf"', b'"\xe0\x80\xaf"', b'"\xed\xa0\x80"', b'"\xf4\x90\x80\x80"', b'"\xc3"', b'"\x80"',
    b'{"\xff": 1}', b'"\xf8\x88\x80\x80\x80"',
]
NOT_JSON = [
    "{", "}", "[1,]", '{"a":1,}', "{a: 1}", "{'a': 1}", '{"a" 1}', '{"a": 1} x', '{"a": 1}{"a": 2}', "nul", "True",
    "NaN", "Infinity", "-Infinity", "01", "+1", ".5", "1.", "1e", "0x10", "-", '"', '"a', '"\t"', '"\n"', r'"\x41"',
    r'"\u12g4"', r'"\u12"', '{"a": /* no */ 1}', '// no\n{"a": 1}', "undefined", "[1 2]", '{"a": 1', "hello",
    '{"a": 1}\x00', "\x00", "<a/>", "a=1&b=2", '[1,,2]', '{,}', '{"a":}', '{1: 2}',
]


@pytest.mark.parametrize("raw", NOT_JSON)
def test_malformed_json_is_refused(gateway, thread, raw):
    refused(post_turn(gateway, thread, raw), 400, "Invalid JSON")


@pytest.mark.parametrize("raw", ["1e400", "-1e400", "1e99999", "1" + "0" * 400, "-" + "9" * 400 + ".5"])
def test_number_out_of_range_is_refused(gateway, thread, raw):
    body = f'{{"content": "a", "role": "user", "metadata": {{"n": {raw}}}}}'
    refused(post_turn(gateway, thread, body), 400, "Invalid JSON")


@pytest.mark.parametrize("raw", LONE_SURROGATES)
def test_lone_surrogate_is_refused(gateway, thread, raw):
    body = f'{{"content": "a", "role": "user", "metadata": {{"m": {raw}}}}}'
    refused(post_turn(gateway, thread, body), 400, "Invalid JSON")


@pytest.mark.parametrize("raw", INVALID_UTF8)
def test_invalid_utf8_is_refused(gateway, thread, raw):
    body = b'{"content": "a", "role": "user", "metadata": {"m": ' + raw + b"}}"
    refused(post_turn(gateway, thread, body), 400, "Invalid JSON")


@pytest.mark.parametrize("raw", [
    b'\xef\xbb\xbf{"content": "a", "role": "user"}', '{"content": "a", "role": "user"}'.encode("utf-16"),
    '{"content": "a", "role": "user"}'.encode("utf-16-le"), '{"content": "a", "role": "user"}'.encode("utf-32"),
])
def test_byte_order_mark_or_another_encoding_is_refused(gateway, thread, raw):
    refused(post_turn(gateway, thread, raw), 400, "Invalid JSON")


@pytest.mark.parametrize("opening, closing", [("[", "]"), ('{"a":', "}")])
def test_body_has_at_most_64_levels(gateway, thread, opening, closing):
    def body(depth):
        innermost = opening[0] + closing
        inner = opening * (depth - 3) + innermost + closing * (depth - 3)
        return f'{{"content": "a", "role": "user", "metadata": {{"m": {inner}}}}}'

    accepted(post_turn(gateway, thread, body(64)), 201)
    refused(post_turn(gateway, thread, body(65)), 400, "Invalid JSON")


@pytest.mark.parametrize("depth", [65, 1000, 100_000])
def test_too_deep_body_is_refused_first(gateway, thread, depth):
    refused(post_turn(gateway, thread, nested_text(depth)), 400, "Invalid JSON")
    refused(post_turn(gateway, thread, nested_text(depth, '{"a":', "}")), 400, "Invalid JSON")
    refused(post_turn(gateway, thread, "[" * depth), 400, "Invalid JSON")


@pytest.mark.parametrize("path", ["/chat", "/chat/stop", "/extensions", "/threads/:id/turns"])
def test_empty_body_is_refused_if_one_is_required(gateway, thread, path):
    refused(gateway.http.post(path.replace(":id", thread["id"])), 400, "Request body required")


@pytest.mark.parametrize("raw", ["[]", "[1]", '"text"', "1", "-1.5", "true", "false", "null"])
@pytest.mark.parametrize("method, path", [
    ("POST", "/chat"), ("POST", "/chat/stop"), ("POST", "/extensions"), ("POST", "/threads"),
    ("POST", "/threads/:id/turns"), ("PATCH", "/threads/:id"), ("POST", "/threads/:id/fork"),
])
def test_body_must_be_an_object(gateway, thread, method, path, raw):
    response = gateway.http.request(method, path.replace(":id", thread["id"]), content=raw, headers=JSON)
    refused(response, 400, "Request body must be an object")


# JSON bodies.


def test_last_of_duplicate_members_wins(gateway, thread):
    turn = accepted(post_turn(gateway, thread, '{"content": "a", "role": "user", "content": "b"}'), 201)
    assert turn["content"] == "b"
    refused(post_turn(gateway, thread, '{"content": "a", "role": "user", "content": 1}'), 400,
            "content must be a string")


@pytest.mark.parametrize("content_type",
                         ["text/plain", "application/x-www-form-urlencoded", "application/xml", "", "x"])
def test_any_content_type_is_read_as_json(gateway, thread, content_type):
    raw = '{"content": "a", "role": "user"}'
    accepted(post_turn(gateway, thread, raw, {"Content-Type": content_type}), 201)


def test_missing_content_type_is_read_as_json(gateway, thread):
    accepted(post_turn(gateway, thread, '{"content": "a", "role": "user"}', {}), 201)


def test_unknown_members_are_ignored(gateway, thread):
    raw = '{"content": "a", "role": "user", "colour": [1, {"deep": null}], "id": "mine", "created_at": 5}'
    turn = accepted(post_turn(gateway, thread, raw), 201)
    assert "colour" not in turn and is_id(turn["id"])


def test_white_space_around_the_body_is_ignored(gateway, thread):
    accepted(post_turn(gateway, thread, ' \r\n\t{"content": "a", "role": "user"}\n \n'), 201)


@pytest.mark.parametrize("text", [
    "", "a\u0000b", "\U0001f600 \u00e9 \u6f22", "\u2028\u2029", "\u202e", "a\r\nb\tc", "\\ \" /",
    "\u007f\u0080\ufffe\uffff",
    "\U0010ffff", "x" * 100_000, "e\u0301",
])
def test_text_is_returned_as_sent(gateway, thread, text):
    sent = {"content": "x" + text, "role": "user", "metadata": {text or "empty": text}}
    turn = accepted(post_turn(gateway, thread, json.dumps(sent)), 201)
    assert turn["content"] == sent["content"] and turn["metadata"] == sent["metadata"]
    listed = accepted(gateway.http.get(f"/threads/{thread['id']}/turns"))[0]
    assert listed["content"] == sent["content"] and listed["metadata"] == sent["metadata"]


def test_surrogate_pair_is_one_character(gateway, thread):
    turn = accepted(post_turn(gateway, thread, r'{"content": "\ud83d\ude00", "role": "user"}'), 201)
    assert turn["content"] == "\U0001f600"


@pytest.mark.parametrize("number", ["0", "-1", "9007199254740993", "9223372036854775807", "-9223372036854775808", "1.5",
                                    "1e300", "5e-324", "0.1", "123456789.123"])
def test_numbers_are_returned_as_sent(gateway, thread, number):
    body = f'{{"content": "a", "role": "user", "metadata": {{"n": {number}}}}}'
    returned = accepted(post_turn(gateway, thread, body), 201)["metadata"]["n"]
    assert returned == json.loads(number)


def test_null_counts_as_omitted(gateway, thread):
    created = accepted(gateway.http.post("/threads", json={"agent_id": None, "title": None, "project_id": None}), 201)
    assert created["title"] == "New thread"
    turn = accepted(post_turn(gateway, thread, '{"content": "a", "role": "user", "metadata": null}'), 201)
    assert turn["metadata"] is None
    changed = accepted(gateway.http.patch(f"/threads/{thread['id']}", json={"title": None, "archived": None}))
    assert changed["title"] == thread["title"] and changed["archived"] is False
    refused(post_turn(gateway, thread, '{"content": null, "role": "user"}'), 400, "content is required")


# Invalid and missing members, per route.

WRONG_VALUES = {
    "string": [5, 1.5, True, ["a"], {"a": 1}],
    "boolean": [0, 1, "true", [], {}],
    "object": [5, "{}", True, []],
}
MEMBERS = [
    ("POST", "/chat", {"content": "hello"}, "content", "string"),
    ("POST", "/chat", {"content": "hello"}, "threadId", "string"),
    ("POST", "/chat", {"content": "hello"}, "agentId", "string"),
    ("POST", "/chat", {"content": "hello"}, "model", "string"),
    ("POST", "/chat/stop", {}, "threadId", "string"),
    ("POST", "/threads", {}, "agent_id", "string"),
    ("POST", "/threads", {}, "title", "string"),
    ("POST", "/threads", {}, "project_id", "string"),
    ("PATCH", "/threads/:id", {}, "title", "string"),
    ("PATCH", "/threads/:id", {}, "archived", "boolean"),
    ("PATCH", "/threads/:id", {}, "pinned", "boolean"),
    ("PATCH", "/threads/:id", {}, "mode", "string"),
    ("POST", "/threads/:id/turns", {"content": "a", "role": "user"}, "content", "string"),
    ("POST", "/threads/:id/turns", {"content": "a", "role": "user"}, "role", "string"),
    ("POST", "/threads/:id/turns", {"content": "a", "role": "user"}, "metadata", "object"),
    ("POST", "/threads/:id/fork", {}, "turnId", "string"),
]


@pytest.mark.parametrize("method, path, body, member, kind", MEMBERS)
def test_member_of_the_wrong_type_is_named(gateway, thread, method, path, body, member, kind):
    for value in WRONG_VALUES[kind]:
        response = gateway.http.request(method, path.replace(":id", thread["id"]), json={**body, member: value})
        refused(response, 400, f"{member} must be a {kind}")


@pytest.mark.parametrize("path, body, member", [
    ("/chat", {}, "content"),
    ("/chat/stop", {}, "threadId"),
    ("/threads/:id/turns", {"role": "user"}, "content"),
    ("/threads/:id/turns", {"content": "a"}, "role"),
    ("/extensions", {"name": "a", "description": "", "definition": {}}, "type"),
    ("/extensions", {"type": "theme", "description": "", "definition": {}}, "name"),
    ("/extensions", {"type": "theme", "name": "a", "definition": {}}, "description"),
    ("/extensions", {"type": "theme", "name": "a", "description": ""}, "definition"),
])
def test_missing_member_is_named(gateway, thread, path, body, member):
    path = path.replace(":id", thread["id"])
    refused(gateway.http.post(path, json=body), 400, f"{member} is required")
    refused(gateway.http.post(path, json={**body, member: None}), 400, f"{member} is required")


# Queries.


@pytest.mark.parametrize("value", ["0", "-1", "1.5", "ten", "1e2", "0x10", " 5", "5 ", "+5", "5;", "１", "NaN", "-0"])
def test_limit_is_a_positive_integer(gateway, thread, value):
    for path, params in [("/threads", {}), (f"/threads/{thread['id']}/turns", {}),
                         ("/turns/search", {"q": "a", "agent_id": "assistant"})]:
        response = gateway.http.get(path, params={**params, "limit": value})
        refused(response, 400, "limit must be a positive integer")


@pytest.mark.parametrize("value", ["1", "1000", "1001", "4294967297", "99999999999999999999999999"])
def test_limit_above_1000_is_1000(gateway, thread, value):
    accepted(gateway.http.get(f"/threads/{thread['id']}/turns", params={"limit": value}))


@pytest.mark.parametrize("value", ["true", "false", "1", "0"])
def test_boolean_query_values(gateway, value):
    accepted(gateway.http.get("/threads", params={"archived": value, "agent_id": "nobody"}))
    accepted(gateway.http.get("/extensions", params={"enabled": value}))


@pytest.mark.parametrize("value", ["True", "FALSE", "yes", "no", "2", "-1", "null", "on", "01", " true"])
def test_invalid_boolean_query_value(gateway, value):
    refused(gateway.http.get("/threads", params={"archived": value}), 400, "archived must be true or false")
    refused(gateway.http.get("/extensions", params={"enabled": value}), 400, "enabled must be true or false")


@pytest.mark.parametrize("path, name, value", [
    ("/extensions", "type", "plugin"), ("/extensions", "type", "Agent"), ("/extensions", "source", "builtin"),
    ("/extensions", "source", "all"), ("/threads/:id/turns", "role", "robot"), ("/threads/:id/turns", "role", "User"),
    ("/threads/:id/turns", "role", "tool"), ("/threads/:id/turns", "role", "system"),
    ("/extensions", "type", "a&b=c d/\u00e9"),
])
def test_value_outside_an_enumeration_is_named(gateway, thread, path, name, value):
    response = gateway.http.get(path.replace(":id", thread["id"]), params={name: value})
    refused(response, 400, f"invalid {name}: {value}")


def test_empty_query_value_counts_as_missing(gateway, thread):
    accepted(gateway.http.get("/threads?archived=&limit=&since=&agent_id="))
    accepted(gateway.http.get("/extensions?type=&enabled=&source=&owner_agent_id="))
    accepted(gateway.http.get(f"/threads/{thread['id']}/turns?limit=&before=&role=&since="))
    refused(gateway.http.get("/turns/search?q=&agent_id=assistant"), 400, "q is required")
    refused(gateway.http.get("/turns/search?q=a&agent_id="), 400, "agent_id is required")


def test_first_of_duplicate_query_values_wins(gateway):
    accepted(gateway.http.get("/threads?limit=1&limit=none"))
    refused(gateway.http.get("/threads?limit=none&limit=1"), 400, "limit must be a positive integer")


def test_plus_is_a_space_in_queries_and_percent_2b_a_plus(gateway):
    refused(gateway.http.get("/extensions?type=a+b"), 400, "invalid type: a b")
    refused(gateway.http.get("/extensions?type=a%2Bb"), 400, "invalid type: a+b")
    refused(gateway.http.get("/extensions?ty%70e=a%20b"), 400, "invalid type: a b")


def test_unknown_query_members_are_ignored(gateway):
    accepted(gateway.http.get("/threads?agent_id=nobody&colour=red&&=&x"))


def test_nul_in_a_query_is_refused(gateway):
    assert gateway.http.get("/threads?agent_id=a%00b").status_code == 400
    refused(gateway.http.get("/?x=%00", headers={"Accept": "text/html"}), 400, "invalid query")
    counted = {"model": "assistant", "messages": [{"role": "user", "content": "Hi"}]}
    streamed = gateway.http.post("/v1/messages/count_tokens?x=%00", json=counted)
    assert streamed.status_code == 400 and streamed.json()["error"]["message"] == "invalid query"


# Sizes.

TOO_LARGE = 10 * 1024 * 1024 + 1


def test_declared_body_over_10_mib_is_refused_before_it_is_sent(gateway):
    with gateway.connect() as connection:
        connection.request("POST /threads HTTP/1.1", f"Content-Length: {TOO_LARGE}")
        response = connection.response()
    assert (response.status, response.error) == (413, "request body too large")


def test_body_of_10_mib_is_accepted(gateway, thread):
    template = '{"content": "a", "role": "user", "x": "%s"}'
    accepted(post_turn(gateway, thread, template % ("y" * (TOO_LARGE - 1 - len(template) + 2))), 201)


def test_chunked_body_over_10_mib_is_refused_while_it_arrives(gateway):
    chunk = b"10000\r\n" + b" " * 0x10000 + b"\r\n"
    with gateway.connect() as connection:
        connection.request("POST /threads HTTP/1.1", "Transfer-Encoding: chunked")
        for _ in range(TOO_LARGE // 0x10000 + 1):
            connection.send(chunk)
        response = connection.response()
    assert (response.status, response.error) == (413, "request body too large")


def test_oversized_body_sent_anyway_gets_its_response(gateway):
    with gateway.connect() as connection:
        connection.request("POST /threads HTTP/1.1", f"Content-Length: {TOO_LARGE}", body=b" " * TOO_LARGE)
        response = connection.response()
    assert (response.status, response.error) == (413, "request body too large")


def test_body_limit_is_configurable(make_gateway):
    small = make_gateway(config={"limits": {"body_mib": 1}}).start()
    with small.connect() as connection:
        connection.request("POST /threads HTTP/1.1", f"Content-Length: {1024 * 1024 + 1}")
        assert connection.response().error == "request body too large"
    accepted(small.http.post("/threads", content=b"{}" + b" " * (1024 * 1024 - 2)), 201)


@pytest.mark.parametrize(("body", "error"), [
    ('{"content": "a"', "Invalid JSON"), ('["content"]', "Request body must be an object"), ("{}", "content is required"),
])
def test_large_body_has_the_same_validation_errors(gateway, thread, body, error):
    refused(post_turn(gateway, thread, body + " " * 1024 * 1024), 400, error)
    refused(post_turn(gateway, {"id": UNKNOWN_ID}, body + " " * 1024 * 1024), 404, "thread not found")


def test_large_body_is_executed_once_per_idempotency_key(gateway, thread):
    def post(suffix):
        body = json.dumps({"content": "a" * 1024 * 1024 + suffix, "role": "user"})
        return post_turn(gateway, thread, body, {"Idempotency-Key": f"large-{thread['id']}"})

    assert accepted(post(""), 201) == accepted(post(""), 201)
    refused(post("b"), 409, "idempotency key reused")


def test_body_with_many_values_is_parsed_off_the_loop(own_gateway):
    loop_before, blocking_before = own_gateway.cpu_of("agw"), own_gateway.cpu_of("agw-blocking")
    refused(own_gateway.http.post("/threads", content='{"values": [' + "1," * 2_000_000), 400, "Invalid JSON")
    assert own_gateway.cpu_of("agw") - loop_before < (own_gateway.cpu_of("agw-blocking") - blocking_before) / 2


def test_aborted_body_is_harmless(gateway):
    Connection(gateway).request("POST /threads HTTP/1.1", "Content-Length: 1000", body=b"{").close()
    accepted(gateway.http.get("/health"))
