"""The web page in Debian's Chromium: a first visit, long chats, and streams."""

import functools
import json
import shutil
import subprocess
import sys

from bench import peers
from bench.harness import ROOT, Gateway, Row, Upstream, folder, load
from bench.models import listed_models

sys.path.insert(0, str(ROOT / "tests/api"))

from stubs.provider import ProviderStub  # noqa: E402

MODELS = 5_000
FILES = 50_000

NODE = ROOT / "web/node_modules/.bin/node"


def run(script, *arguments, given=None):
    """Returns the JSON printed by a script in bench/browser."""
    ran = subprocess.run([NODE, ROOT / "bench/browser" / script, *arguments], capture_output=True, text=True, check=False,
                         input=None if given is None else json.dumps(given))
    if ran.returncode:
        raise SystemExit(f"bench/browser/{script} failed: {ran.stderr}")
    return json.loads(ran.stdout)


def kilobytes(size):
    return f"{size / 1024:.0f} KB"


def first_visit_rows(label, figures, max_kilobytes, max_requests, max_milliseconds):
    """Returns the rows of a first visit."""
    yield Row(f"{label}, bytes transferred", kilobytes(figures["bytes"]), "-", "-", "-", None)
    without_font = figures["bytes"] - figures["font"]
    yield Row(f"{label}, bytes without the font", kilobytes(without_font), "-", "-", f"<= {max_kilobytes} KB",
              without_font <= max_kilobytes * 1024)
    yield Row(f"{label}, requests", str(figures["requests"]), "-", "-", f"<= {max_requests}",
              figures["requests"] <= max_requests)
    yield text_row(label, figures, max_milliseconds)


def text_row(label, figures, max_milliseconds):
    return Row(f"{label}, text on screen", f"{figures['shown']:.0f} ms", f"{figures['painted']:.0f} ms", "-",
               f"<= {max_milliseconds} ms", figures["shown"] <= max_milliseconds)


def filled_thread(gateway, count):
    thread, = gateway.new_threads(1)
    turns = [json.dumps({"role": role, "content": f"Turn of **{role}** with some text."}) for role in ("user", "assistant")]
    load(gateway, [f"POST /threads/{thread}/turns {turn}" for turn in turns], gateway.token, connections=1, count=count)
    return thread


def require_browser():
    if not NODE.exists() or not shutil.which("chromium"):
        raise SystemExit("the page is measured with Node and Chromium: script/bootstrap, then script/page_modules")


def page():
    """Bytes, requests and times of a first visit (floor: the first paint), long chats, frames during streams; peers"""
    require_browser()
    with folder() as home, Upstream() as upstream, Gateway(home, upstream.port) as gateway:
        url = f"http://127.0.0.1:{gateway.port}"
        storage = json.dumps({"agw.token": json.dumps(gateway.token)})

        def visit(route, text):
            return run("visit.mjs", f"{url}/ui/#/{route}", text, storage)

        pairing = run("visit.mjs", f"{url}/ui/", "Pair this browser")
        yield from first_visit_rows("pairing", pairing, 40, 6, 250)
        yield Row("pairing, longest task", f"{pairing['longest']:.0f} ms", "-", "-", "-", None)
        yield Row("pairing, JS heap", f"{pairing['heap'] / 2**20:.1f} MiB", "-", "-", "-", None)
        chats = {count: filled_thread(gateway, count) for count in (2, 1000, 10_000)}
        gateway.wait_until_quiet()
        chat = visit(f"t/{chats[2]}", "with some text")
        yield from first_visit_rows("chat", chat, 90, 12, 250)
        yield Row("chat, JS heap", f"{chat['heap'] / 2**20:.1f} MiB", "-", "-", "<= 15 MiB", chat["heap"] <= 15 * 2**20)
        yield Row("chat, elements", str(chat["elements"]), "-", "-", "<= 600", chat["elements"] <= 600)
        for count in (1000, 10_000):
            long = visit(f"t/{chats[count]}", "with some text")
            yield text_row(f"chat of {count:,} turns", long, 400)
            yield Row(f"chat of {count:,} turns, longest task", f"{long['longest']:.0f} ms", "-", "-", "< 200 ms",
                      long["longest"] < 200)
        # The gateway has closed this connection, because it was idle during the visits. The next request opens another.
        gateway.connection.close()
        sent = run("send.mjs", url, gateway.token, gateway.new_threads(1)[0])
        yield Row("Send to Thinking, answers 1.5 s later", f"{sent['took']:.1f} ms", "16.7 ms", "-",
                  "<= 17 ms", sent["took"] <= 17)
        for streams in (1, 20):
            yield from streaming(url, gateway, streams)
    yield from peers.rows(functools.partial(run, "visit.mjs"))


def picker():
    """The picker with 5,000 models: from the click to the frame that shows it, and the longest task"""
    require_browser()
    with folder() as home, ProviderStub() as stub, Gateway(home) as gateway:
        stub.models = listed_models(MODELS)
        gateway.request("POST", "/extensions", {
            "type": "integration", "name": "many", "description": "", "enabled": True,
            "definition": {"kind": "model", "api": "openai-chat", "base_url": stub.openai_url}})
        count = len(gateway.request("GET", "/models"))
        figures = run("picker.mjs", f"http://127.0.0.1:{gateway.port}", gateway.token, str(count))
    for which in ("first", "later"):
        figure = figures[which]
        yield Row(f"picker of {count:,} models, {which} time", f"{figure['took']:.0f} ms", "-", "-", "< 50 ms",
                  figure["took"] < 50)
        yield Row(f"picker of {count:,} models, {which} time, longest task", f"{figure['longest']:.0f} ms", "-", "-",
                  "no long task", figure["longest"] == 0)


def tree():
    """A directory of 50,000 files in the tree of a project: from the click to the frame with its first names, and with all"""
    require_browser()
    with folder() as home, Gateway(home) as gateway:
        many = home / "atlas" / "many"
        many.mkdir(parents=True)
        for number in range(FILES):
            (many / f"file-{number:05}").touch()
        project = gateway.request("POST", "/projects", {"name": "atlas", "path": str(home.resolve() / "atlas")})["id"]
        figure = run("tree.mjs", f"http://127.0.0.1:{gateway.port}", gateway.token, project, str(FILES))
    yield Row(f"tree of {FILES:,} files, first names", f"{figure['took']:.0f} ms", "-", "-", "< 100 ms",
              figure["took"] < 100)
    yield Row(f"tree of {FILES:,} files, all of them", f"{figure['whole']:.0f} ms", "-", "-", "-", None)
    yield Row(f"tree of {FILES:,} files, longest task", f"{figure['longest']:.0f} ms", "-", "-", "no long task",
              figure["longest"] == 0)


def streaming(url, gateway, streams):
    gateway.connection.close()  # see page()
    figures = run("stream.mjs", given={"url": url, "token": gateway.token, "model": "bench/100x600", "deltas": 600,
                                       "threads": gateway.new_threads(streams)})
    label = f"600 deltas at 100/s, {streams} at once" if streams > 1 else "600 deltas at 100/s"
    yield Row(f"{label}, long tasks", str(figures["longTasks"]), "-", "-", "0", figures["longTasks"] == 0)
    yield Row(f"{label}, frame p99", f"{figures['p99']:.1f} ms", "16.7 ms", "-", "<= 17 ms", figures["p99"] <= 17)
    yield Row(f"{label}, not shown", str(figures["missing"]), "-", "-", "0", figures["missing"] == 0)
