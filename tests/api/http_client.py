"""HTTP clients that take little processor time: tests send tens of thousands of requests."""

import functools
import http.client
import json as json_module
import re
import select
import ssl
import time
from types import SimpleNamespace

import httpx

from checks import PATIENCE

# Without an SSL context, httpx loads all certificate authorities for every client and every single request, which takes
# 45 ms of CPU.
WITHOUT_AUTHORITIES = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
OPTIONS = {"verify": WITHOUT_AUTHORITIES, "trust_env": False, "timeout": PATIENCE}

PLAIN_TARGET = re.compile(r"/[\w/-]*(\.\w[\w/-]*)*(\?[\w=&-]*)?", re.ASCII)  # httpx sends it unchanged
UNUSED_LIMIT = 5  # seconds, as in httpx
ERRORS = ((TimeoutError, httpx.ReadTimeout), (ConnectionRefusedError, httpx.ConnectError), (OSError, httpx.ReadError),
          (http.client.HTTPException, httpx.RemoteProtocolError))
url_of = functools.lru_cache(httpx.URL)


class Client(httpx.Client):
    """Sends plain requests with http.client, in a quarter of the time, and all others with httpx. The responses and
    errors are those of httpx; the request of a response has only `method`, and `url` without the host."""

    def __init__(self, **options):
        super().__init__(**OPTIONS, **options)
        self._unused = []  # connections

    def request(self, method, url, *, content=None, params=None, json=None, headers=None, **others):
        is_plain = (is_plain_text(headers) and isinstance(content, (bytes, str, type(None)))
                    and isinstance(url, str) and PLAIN_TARGET.fullmatch(url) and not (params and "?" in url)
                    and all(other in (None, httpx.USE_CLIENT_DEFAULT) for other in others.values()))
        if not is_plain or self.is_closed:
            return super().request(method, url, content=content, params=params, json=json, headers=headers, **others)
        fields = dict(self.headers)
        if json is not None:
            content = json_module.dumps(json)
            fields["content-type"] = "application/json"
        fields.update((name.lower(), value) for name, value in (headers or {}).items())
        target = f"{url}?{httpx.QueryParams(params)}" if params else url
        response = self._send(method.upper(), target, content.encode() if isinstance(content, str) else content, fields)
        for hook in self.event_hooks["response"]:
            hook(response)
        return response

    def _send(self, method, target, content, fields):
        connection = self._connection()
        try:
            connection.request(method, target, content, fields)
            answered = connection.getresponse()
            body = answered.read()
        except (OSError, http.client.HTTPException) as error:
            connection.close()
            raise next(ours for theirs, ours in ERRORS if isinstance(error, theirs))(str(error)) from error
        if not answered.will_close:
            self._unused.append((connection, time.monotonic()))
        headers = [(name.encode(), value.encode("latin-1")) for name, value in answered.getheaders()]
        return httpx.Response(answered.status, headers=headers, content=body,
                              request=SimpleNamespace(method=method, url=url_of(target)))

    def _connection(self):
        while self._unused:
            connection, used_at = self._unused.pop()
            poll = select.poll()
            poll.register(connection.sock, select.POLLIN)
            if time.monotonic() - used_at < UNUSED_LIMIT and not poll.poll(0):
                return connection
            connection.close()  # the gateway has closed it, or may do so while the next request is on its way
        return http.client.HTTPConnection(self.base_url.host, self.base_url.port, timeout=PATIENCE)

    def close(self):
        while self._unused:
            self._unused.pop()[0].close()
        super().close()


def is_plain_text(headers):
    return headers is None or isinstance(headers, dict) and all(
        isinstance(value, str) and value.isascii() for value in headers.values())


def new_client(**options):
    return Client(**options)


def request(method, url, **options):
    """Sends one request on its own connection."""
    return httpx.request(method, url, **OPTIONS, **options)


def get(url, **options):
    return request("GET", url, **options)
