"""What every answer must be: the general rules of the specification, and the shape that its route declares.

The shapes come from the gateway's own /openapi.json, which is made from its route table. So a route whose answers
differ from its declaration fails whichever test calls it.
"""

import re
import warnings

import httpx
import jsonschema

from checks import PATIENCE

METHODS = ("get", "post", "put", "patch", "delete")

_document = None
_asked = False


def hold(gateway, response):
    """Raises AssertionError where the response breaks a general rule or is not of its route's declared shape."""
    where = f"{response.request.method} {response.request.url.path} -> {response.status_code}"
    raw = response.status_code == 200 and "raw=true" in response.request.url.query.decode()
    hold_headers(where, response.status_code, response.headers, raw)
    if raw or is_text(where, response.status_code):
        return
    if response.status_code >= 400 and response.request.method != "HEAD":
        hold_error(where, response)
    elif 200 <= response.status_code < 300 and response.request.method != "HEAD":
        hold_shape(where, gateway, response)


def is_text(where, status):
    """The one answer that is neither JSON nor bytes."""
    return where.startswith("GET /metrics ") and status == 200


def hold_headers(where, status, headers, raw=False):
    assert headers.get("cache-control") == "no-store", f"{where}: Cache-Control is {headers.get('cache-control')}"
    assert headers.get("x-content-type-options") == "nosniff", f"{where}: no X-Content-Type-Options: nosniff"
    if raw:
        assert headers.get("content-security-policy") == "sandbox", f"{where}: raw bytes without a sandbox"
        return
    expected = None if status == 204 else "application/json; charset=utf-8"
    if is_text(where, status):
        expected = "text/plain; version=0.0.4"
    assert headers.get("content-type") == expected, f"{where}: Content-Type is {headers.get('content-type')}"


def hold_error(where, response):
    body = response.json()
    assert isinstance(body, dict) and isinstance(body.get("error"), str), f"{where}: no string error in {body}"
    assert body["error"], f"{where}: error is empty"


def hold_shape(where, gateway, response):
    document = _declared(gateway)
    if document is None:
        return
    operation = _operation(document, response.request.method.lower(), response.request.url.path)
    assert operation, f"{where}: /openapi.json does not declare this route"
    declared = operation["responses"].get(str(response.status_code))
    assert declared, f"{where}: only {sorted(operation['responses'])} are declared"
    if response.status_code == 204:
        assert response.content == b"", f"{where}: 204 with a body"
        return
    content = declared["content"]["application/json"] if "application/json" in declared["content"] \
        else declared["content"]["application/json; charset=utf-8"]
    resolver = jsonschema.RefResolver.from_schema(document)
    validator = jsonschema.Draft202012Validator(content["schema"], resolver=resolver)
    found = [f"{'/'.join(map(str, error.absolute_path))}: {error.message}" for error in
             validator.iter_errors(response.json())]
    assert not found, f"{where}: not of its declared shape: {found}"


def _operation(document, method, path):
    """The operation whose template matches the path; a literal segment is preferred to a parameter."""
    matching = [template for template in document["paths"]
                if re.fullmatch(re.sub(r"\\{[^}]+\\}", "[^/]+", re.escape(template)), path)
                and method in document["paths"][template]]
    return document["paths"][min(matching, key=lambda found: found.count("{"))][method] if matching else None


def _declared(gateway):
    """The document, fetched once: all gateways of a session are the same binary. None where it is not served."""
    global _document, _asked
    if not _asked and (gateway.data / ".gateway-token").exists():
        response = httpx.get(gateway.url + "/openapi.json", headers=gateway.authorization, trust_env=False, timeout=PATIENCE)
        _asked = True
        if response.status_code == 404:
            warnings.warn("answers are not held against their declared shapes: GET /openapi.json answers 404")
        else:
            assert response.status_code == 200, f"GET /openapi.json -> {response.status_code} {response.text}"
            _document = response.json()
    return _document
