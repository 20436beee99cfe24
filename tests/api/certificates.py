"""Certificates for the TLS tests."""

import subprocess


def make_certificate(directory, name="gateway", days=30, passphrase=None):
    """Creates a self-signed certificate and its key, and returns both paths."""
    certificate, key = directory / f"{name}.pem", directory / f"{name}.key"
    encryption = ["-passout", f"pass:{passphrase}"] if passphrase else ["-nodes"]
    subprocess.run(
        ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-keyout", str(key),
         "-out", str(certificate), "-days", str(days), "-subj", "/CN=localhost", "-addext",
         "subjectAltName=DNS:localhost,IP:127.0.0.1", *encryption], check=True, capture_output=True)
    key.chmod(0o600)
    return certificate, key
