"""Email channels, and the users who write to them."""

from channels import channel, connect
from jobs import wait_for
from stubs.mail import AUTHSERV, PASSWORD

ANN, BOB, EVE = "ann@example.net", "bob@example.net", "eve@evil.example"


def connect_email(talking, dovecot, box, smtp, **members):
    """Creates an email channel and waits until it has skipped the messages that were there before it."""
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
