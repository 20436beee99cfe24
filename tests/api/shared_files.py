"""The data that is compiled into the binary."""

import json
import re

from gateway import REPOSITORY


def shared_json(name):
    """Returns the value in a file of share/, in JSON with comments."""
    text = (REPOSITORY / "share" / name).read_text()
    return json.loads(re.sub(r"(^|\s)//.*", "", text))
