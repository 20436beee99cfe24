"""Many extensions: reading, toggling, starting."""

from bench.harness import Gateway, Row, folder, load, median, milliseconds

EXTENSIONS = 10_000
STARTS = 10


def seconds_for(gateway, line, count=200):
    """Returns the median of this many requests, one after the other."""
    return load(gateway, [line], gateway.token, connections=1, count=count)["times"]["p50"]


def extensions():
    """10,000 extensions: list, lookup, toggle, start"""
    with folder() as home:
        with Gateway(home) as gateway:
            for number in range(EXTENSIONS):
                gateway.request("POST", "/extensions", {
                    "type": "command", "name": f"command-{number}", "description": "a command", "enabled": True,
                    "definition": {"prompt": "Say $ARGUMENTS in other words, as short as can be."}})
            gateway.wait_until_quiet()
            whole = seconds_for(gateway, "GET /extensions", 50)
            yield Row("list 10,000 extensions", milliseconds(whole), "-", "-", "< 20 ms", whole < 0.020)
            found = seconds_for(gateway, f"GET /extensions/command-{EXTENSIONS // 2}")
            yield Row("look up one of 10,000", milliseconds(found), "-", "-", "< 1 ms", found < 0.001)
            # A durable write costs a sync. The floor is a signal: a small record with one sync.
            disk = seconds_for(gateway, 'POST /signals {"kind":"bench","message":"a sync"}')
            toggled = seconds_for(gateway, f"POST /extensions/command-{EXTENSIONS // 2}/toggle")
            yield Row("toggle one of 10,000, apart from the disk", milliseconds(toggled), milliseconds(disk),
                      f"{toggled / disk:.2f}", "< 1 ms over floor", toggled - disk < 0.001)
        starts = []
        for _ in range(STARTS):
            with Gateway(home) as gateway:
                starts.append(gateway.seconds_to_ready)
        yield Row("start with 10,000 extensions", milliseconds(median(starts)), "-", "-", "< 150 ms",
                  median(starts) < 0.150)
