"""A browser with a push subscription: it decrypts requests to its push service (RFC 8291) and checks their VAPID tokens
(RFC 8292). It uses Python's `cryptography`, so that no code of the gateway checks itself."""

import base64
import json
import os

from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.asymmetric.utils import encode_dss_signature
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from cryptography.hazmat.primitives.kdf.hkdf import HKDF
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

CURVE = ec.SECP256R1()


def encoded(data):
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()


def decoded(text):
    return base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))


def derived(salt, secret, info, length):
    return HKDF(algorithm=hashes.SHA256(), length=length, salt=salt, info=info).derive(secret)


class Browser:
    def __init__(self, endpoint, **members):
        self._key = ec.generate_private_key(CURVE)
        self._point = self._key.public_key().public_bytes(Encoding.X962, PublicFormat.UncompressedPoint)
        self._auth = os.urandom(16)
        self.subscription = {
            "endpoint": endpoint, "expirationTime": None,
            "keys": {"p256dh": encoded(self._point), "auth": encoded(self._auth)}, **members}

    def read(self, request):
        """Returns the notice in a request to the push service."""
        assert request.headers["content-encoding"] == "aes128gcm"
        body = request.body
        salt, record_size, id_length = body[:16], int.from_bytes(body[16:20], "big"), body[20]
        sender, record = body[21:21 + id_length], body[21 + id_length:]
        assert len(record) <= record_size and len(body) <= 4096
        shared = self._key.exchange(ec.ECDH(), ec.EllipticCurvePublicKey.from_encoded_point(CURVE, sender))
        secret = derived(self._auth, shared, b"WebPush: info\0" + self._point + sender, 32)
        key = derived(salt, secret, b"Content-Encoding: aes128gcm\0", 16)
        nonce = derived(salt, secret, b"Content-Encoding: nonce\0", 12)
        text = AESGCM(key).decrypt(nonce, record, None).rstrip(b"\0")
        assert text.endswith(b"\2"), "the last record"
        return json.loads(text[:-1])


def vapid_claims(request, public_key):
    """Returns the claims of the token in a request, after checking that the gateway's key signed it."""
    scheme, _, parameters = request.headers["authorization"].partition(" ")
    assert scheme == "vapid"
    values = dict(part.strip().split("=", 1) for part in parameters.split(","))
    assert values["k"] == public_key
    signed, _, signature = values["t"].rpartition(".")
    raw = decoded(signature)
    assert len(raw) == 64
    pair = encode_dss_signature(int.from_bytes(raw[:32], "big"), int.from_bytes(raw[32:], "big"))
    point = ec.EllipticCurvePublicKey.from_encoded_point(CURVE, decoded(public_key))
    point.verify(pair, signed.encode(), ec.ECDSA(hashes.SHA256()))
    header, claims = (json.loads(decoded(part)) for part in signed.split("."))
    assert header == {"typ": "JWT", "alg": "ES256"}
    return claims
