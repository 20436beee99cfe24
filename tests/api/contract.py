"""Checks every response against the general rules of the API and the shape that its route declares.

The shapes are from the gateway's /openapi.json, which is generated from its route table. So a route whose responses
differ from its declaration fails any test that calls it.

See docs/contract/requests.md#response-headers.
"""

import functools
import re
import threading
import warnings

import jsonschema

import http_client

METHODS = ("get", "post", "put", "patch", "delete")
TYPES = {"null": {type(None)}, "boolean": {bool}, "integer": {int}, "number": {int, float}, "string": {str},
         "array": {list}, "object": {dict}}

_shapes = None
_fetched = False


def check(gateway, response):
    """Raises AssertionError if the response breaks a general rule or does not have its route's declared shape."""
    where = f"{response.request.method} {response.request.url.path} -> {response.status_code}"
    raw = response.status_code == 200 and is_raw(response.request)
    check_headers(where, response.status_code, response.headers, raw)
    if raw or is_text(where, response.status_code) or is_stream(where, response.headers):
        return
    if response.status_code >= 400 and response.request.method != "HEAD":
        check_error(where, response)
    elif 200 <= response.status_code < 300 and response.request.method != "HEAD":
        check_shape(where, gateway, response)


def is_raw(request):
    """Whether a success is the bytes of a file."""
    path = request.url.path
    return ("raw=true" in request.url.query.decode() or is_shared(path) or
            (request.method == "GET" and path.startswith("/files/")))


def is_shared(path):
    """Whether this is the encrypted content of a link, which only the web page can read."""
    return path.startswith("/ui/shared/")


def is_text(where, status):
    """Whether this is a response of /metrics, the only one that is plain text."""
    return where.startswith("GET /metrics ") and status == 200


def is_stream(where, headers):
    """Whether this is a stream of one of the compatible APIs below /v1."""
    return " /v1/" in where and headers.get("content-type", "").startswith("text/event-stream")


def check_headers(where, status, headers, raw=False):
    assert headers.get("cache-control") == "no-store", f"{where}: Cache-Control is {headers.get('cache-control')}"
    assert headers.get("x-content-type-options") == "nosniff", f"{where}: no X-Content-Type-Options: nosniff"
    if raw:
        policy = headers.get("content-security-policy", "")
        assert policy == "sandbox" or " /ui/shared/" in where and policy.startswith("default-src 'none'; "), f"{where}: raw bytes without a sandbox"
        return
    expected = None if status == 204 else "application/json; charset=utf-8"
    if is_text(where, status):
        expected = "text/plain; version=0.0.4"
    if is_stream(where, headers):
        expected = "text/event-stream; charset=utf-8"
    assert headers.get("content-type") == expected, f"{where}: Content-Type is {headers.get('content-type')}"


def check_error(where, response):
    body = response.json()
    if " /v1" in where or " /mcp" in where:  # in the shape of the protocol
        assert isinstance(body.get("error"), dict) and body["error"]["message"], f"{where}: no error in {body}"
        return
    assert isinstance(body, dict) and isinstance(body.get("error"), str), f"{where}: no string error in {body}"
    assert body["error"], f"{where}: error is empty"


def check_shape(where, gateway, response):
    shapes = _declared(gateway)
    if shapes is None:
        return
    operation = shapes.operation(response.request.method.lower(), response.request.url.path)
    assert operation, f"{where}: /openapi.json does not declare this route"
    declared = operation["responses"].get(str(response.status_code))
    assert declared, f"{where}: only {sorted(operation['responses'])} are declared"
    if response.status_code == 204:
        assert response.content == b"", f"{where}: 204 with a body"
        return
    content = declared["content"]["application/json"] if "application/json" in declared["content"] \
        else declared["content"]["application/json; charset=utf-8"]
    found = shapes.problems(content["schema"], response.json())
    assert not found, f"{where}: not of its declared shape: {found}"


class Shapes:
    """The operations of an OpenAPI document. Anything that depends only on the document is computed once, because
    nearly every request of a test is checked."""

    def __init__(self, document):
        self._document = document
        self._paths = document["paths"]
        self._patterns = [(re.compile(re.sub(r"\\{[^}]+\\}", "[^/]+", re.escape(template))), template)
                          for template in sorted(self._paths, key=lambda template: template.count("{"))]
        self._resolver = jsonschema.RefResolver.from_schema(document)
        self._lock = threading.Lock()  # the resolver is stateful, and tests send requests from several threads
        self._quick_checks = {}  # by the identity of their schema

    def operation(self, method, path):
        """Returns the operation that matches the path; literal segments take precedence over parameters."""
        for pattern, template in self._patterns:
            if method in self._paths[template] and pattern.fullmatch(path):
                return self._paths[template][method]
        return None

    def problems(self, schema, value):
        if self._quick_check(schema)(value):
            return []
        validator = jsonschema.Draft202012Validator(schema, resolver=self._resolver)
        with self._lock:
            return [f"{'/'.join(map(str, error.absolute_path))}: {error.message}" for error in validator.iter_errors(value)]

    def _quick_check(self, schema):
        """Returns a function that is true only of values of this shape. jsonschema, which takes many times as long and
        names the problem, has to check only the others."""
        found = self._quick_checks.get(id(schema))
        if not found:
            self._quick_checks[id(schema)] = lambda value: self._quick_checks[id(schema)](value)  # for shapes within themselves
            checks = [self._quick_check_of(keyword, wanted) for keyword, wanted in schema.items()
                      if keyword not in ("description", "format")]  # which require nothing
            found = self._quick_checks[id(schema)] = lambda value: all(check(value) for check in checks)
        return found

    def _quick_check_of(self, keyword, wanted):
        if keyword == "$ref":
            return self._quick_check(functools.reduce(dict.get, wanted.removeprefix("#/").split("/"), self._document))
        if keyword == "type":
            types = set().union(*(TYPES[name] for name in ([wanted] if isinstance(wanted, str) else wanted)))
            return lambda value: type(value) in types
        if keyword in ("const", "enum"):
            values = [wanted] if keyword == "const" else wanted
            return lambda value: type(value) is str and value in values
        if keyword == "required":
            return lambda value: type(value) is dict and all(name in value for name in wanted)
        if keyword == "properties":
            checks = {name: self._quick_check(schema) for name, schema in wanted.items()}
            return lambda value: type(value) is dict and all(
                name not in checks or checks[name](member) for name, member in value.items())
        if keyword == "items":
            check = self._quick_check(wanted)
            return lambda value: type(value) is not list or all(map(check, value))
        if keyword == "anyOf":
            checks = [self._quick_check(schema) for schema in wanted]
            return lambda value: any(check(value) for check in checks)
        return lambda value: False


def _declared(gateway):
    """Returns the shapes, fetched once because all gateways of a session run the same binary. None if the gateway does
    not serve them."""
    global _shapes, _fetched
    if not _fetched and (gateway.data / ".gateway-token").exists():
        response = http_client.get(gateway.url + "/openapi.json", headers=gateway.authorization)
        _fetched = True
        if response.status_code == 404:
            warnings.warn("responses are not checked against their declared shapes: GET /openapi.json returns 404")
        else:
            assert response.status_code == 200, f"GET /openapi.json -> {response.status_code} {response.text}"
            _shapes = Shapes(response.json())
    return _shapes
