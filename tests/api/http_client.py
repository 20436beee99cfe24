"""HTTP clients without TLS.

Without an SSL context, httpx loads all certificate authorities for every client and every single request, which takes
45 ms of CPU.
"""

import ssl

import httpx

from checks import PATIENCE

WITHOUT_AUTHORITIES = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
OPTIONS = {"verify": WITHOUT_AUTHORITIES, "trust_env": False, "timeout": PATIENCE}


def new_client(**options):
    return httpx.Client(**OPTIONS, **options)


def request(method, url, **options):
    """Sends one request on its own connection."""
    return httpx.request(method, url, **OPTIONS, **options)


def get(url, **options):
    return request("GET", url, **options)
