"""Channels by mail, and the people who write to them."""

from channels import channel, connect
from jobs import wait_for
from stubs.mail import AUTHSERV, PASSWORD

ANN, BOB, EVE = "ann@example.net", "bob@example.net", "eve@evil.example"


def listens(talking, dovecot, box, smtp, **members):
    """A channel that has read what was sent before it existed."""
    talking.gateway.http.put("/secrets/MAIL", json={"value": PASSWORD})
    wanted = {
        "service": "email",
        "token": "${secret:MAIL}",
        "smtp": smtp.url,
        "user": box.address,
        "authserv_id": AUTHSERV,
        "allow": ["Ann@Example.net"],
        "stream": "draft",
        **members,
    }
    made = connect(talking.gateway, dovecot, **wanted)
    wait_for(lambda: channel(talking.gateway)["state"] == "connected")
    return made
