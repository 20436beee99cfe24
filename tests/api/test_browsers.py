"""/browsers: the web browser of a chat. See docs/contract/browsers.md."""

import base64
import os

import pytest

from browsers import HEIGHT, IS_INSTALLED, PROGRAMS, WIDTH, Browser, Website, kill, processes_of
from checks import wait_until
from disks import small_disk
from integrations import new_integration

pytestmark = pytest.mark.skipif(not IS_INSTALLED, reason="no Chromium is installed: run script/bootstrap")

MAX_BROWSERS, MAX_TABS, MAX_INPUTS = 4, 20, 256
CTRL = 2

# The titles say what the pages notice.
PAGES = {
    "field": """<title>field</title><body style="margin: 0"><input id=field style="width: 400px; height: 40px">
        <script>field.oninput = () => document.title = 'typed ' + field.value</script>""",
    "button": """<title>button</title><body style="margin: 0"><button style="width: 200px; height: 100px"
        onclick="document.title = 'clicked ' + event.detail + ' ' + event.isTrusted">Press</button>""",
    "opener": """<title>opener</title><body style="margin: 0"><a href="/button" target=_blank
        style="display: block; width: 200px; height: 100px">open</a>""",
    "dialog": """<title>dialog</title><body style="margin: 0"><button style="width: 200px; height: 100px"
        onclick="document.title = 'answer ' + prompt('Your name?', 'Ann')">Ask</button>""",
    "cookie": "<title>cookie</title>",
    "loop": """<title>loop</title><body style="margin: 0"><button style="width: 200px; height: 100px"
        onclick="for (;;);">Hang</button>""",
    "burst": """<title>burst</title><body style="margin: 0; height: 100vh"><script>let n = 0
        const timer = setInterval(() => {
          document.body.style.background = `rgb(255, ${++n * 5}, 255)`
          if (n < 40) return
          document.body.style.background = 'repeating-linear-gradient(45deg, red 0 3px, blue 3px 6px)'
          clearInterval(timer); document.title = 'end' }, 20)</script>""",
    "scroll": """<title>scroll</title><body style="height: 9000px"><script>
        onscroll = () => document.title = 'scrolled'; onresize = () => document.title = `${innerWidth}x${innerHeight}`
        </script>""",
    "rights": """<title>rights</title><script>navigator.permissions.query({name: 'geolocation'}).then(
        found => document.title = found.state + ' ' + Notification.permission)</script>""",
    "forbidden": """<title>forbidden</title><body style="margin: 0"><a href="file:///etc/passwd"
        style="display: block; width: 200px; height: 100px">a file</a><a href="/file" download style="display: block;
        height: 100px">a download</a><input type=file style="display: block; height: 100px">""",
    "bomb": """<title>bomb</title><body style="margin: 0"><button style="width: 200px; height: 100px"
        onclick="for (let i = 0; i < 40; ++i) window.open('/button'); document.title = 'opened'">Open</button>""",
    "surrogate": """<title>surrogate</title><script>document.title = 'half \\ud83d of it' + 'x'.repeat(1000)</script>""",
    "elements": """<title>elements</title><style>body {margin: 0} .box {position: absolute; left: 0; width: 200px;
        height: 40px; overflow: hidden}</style>
        <button class=box id=save style="top: 0"><b>Save</b> it</button>
        <p><i>one</i></p><p><i class=box style="top: 50px">two</i></p>
        <form><input name=id value=7 hidden><div><input type=password class=box style="top: 0" id=secret
        value=hunter2 data-copy=hunter2 title=hunter2></div></form>
        <div class=box id=long style="top: 150px"></div>
        <script>long.textContent = 'x\\ud83d'.repeat(50000)
        document.forms[0].className = 'box'; document.forms[0].style = 'top: 100px; width: 300px'</script>""",
    "identity": """<title>identity</title><script>
        new SharedWorker(`data:text/javascript,fetch("${origin}/of-worker", {mode: "no-cors"})`)
        navigator.userAgentData.getHighEntropyValues(['fullVersionList']).then(
          found => document.title = JSON.stringify(found.fullVersionList))</script>""",
    "file": "downloaded",
}


@pytest.fixture
def site():
    with Website(**PAGES) as website:
        yield website


@pytest.fixture
def browser(gateway):
    with Browser(gateway) as opened:
        yield opened


def test_person_sees_and_uses_a_site(browser, site):
    tab = browser.open_site(site, "button", title="button")
    assert tab["url"] == site.url("button")
    frame = browser.until_frame()
    assert base64.b64decode(frame["data"]).startswith(b"\xff\xd8") and (frame["width"], frame["height"]) == (WIDTH, HEIGHT)
    browser.click(100, 50)
    browser.until_tab(title="clicked 1 true")


def test_letters_arrive_in_order(browser, site):
    browser.open_site(site, "field", title="field")
    browser.click(100, 20)
    text = "thequickbrownfoxjumpsoverthelazydog" * 3  # fewer than the inputs that may wait
    browser.type(text)
    browser.until_tab(title=f"typed {text}")


def test_text_is_pasted_and_copied(browser, site):
    browser.open_site(site, "field", title="field")
    browser.click(100, 20)
    browser.send("text", text="grün 日本 🙂")
    browser.until_tab(title="typed grün 日本 🙂")
    browser.key("a", "KeyA", 65, modifiers=CTRL)
    browser.send("copy")
    assert browser.until("copied")["text"] == "grün 日本 🙂"


def test_element_is_named_to_the_one_who_asks(browser, site, gateway):
    def element_at(x, y):
        browser.send("inspect", x=x, y=y)
        return browser.until("inspected", "error")

    browser.open_site(site, "elements", title="elements")
    browser.until_frame()
    with Browser(gateway, thread=browser.thread) as other:
        assert element_at(150, 20) == {
            "type": "inspected", "selector": "#save", "tag": "button", "text": "Save it",
            "html": '<button class="box" id="save" style="top: 0"><b>Save</b> it</button>',
            "x": 0, "y": 0, "width": 200, "height": 40}
        assert element_at(100, 70)["selector"] == "p:nth-of-type(2) > i"
        password = element_at(100, 120)
        assert (password["selector"], password["text"], "hunter2" in str(password)) == ("#secret", "", False)
        form = element_at(250, 120)
        assert (form["tag"], form["selector"], "hunter2" in str(form)) == ("form", "form", False)
        long = element_at(100, 170)
        assert len(long["text"]) <= 200 and len(long["html"]) == 2000
        assert long["html"].startswith('<div class="box" id="long"') and long["html"].endswith("…")
        assert element_at(-1, 20) == {"type": "error", "status": 404, "error": "no element there"}
        assert element_at("1", 20)["error"] == "x must be a number from -100000 to 100000"
        other.send("inspect", x=5000, y=5000)
        assert other.until("inspected", "error")["error"] == "no element there"


def test_wheel_and_size_reach_the_site(browser, site):
    browser.open_site(site, "scroll", title="scroll")
    browser.until_frame()  # before its first picture, a page takes no input
    browser.send("mouse", action="wheel", x=100, y=100, deltaX=0, deltaY=200)
    browser.until_tab(title="scrolled")
    browser.until_frame(scrollX=0, scrollY=200)
    browser.send("resize", width=500, height=400)
    browser.until_tab(title="500x400")
    browser.until_frame(width=500, height=400)


def test_history_and_reload(browser, site):
    browser.open_site(site, "field", title="field")
    browser.go(site.url("button"))
    browser.until_tab(title="button", isLoading=False)
    browser.until_tabs(canGoBack=True, canGoForward=False)
    browser.go("back")
    browser.until_tab(title="field")
    browser.until_tabs(canGoForward=True)
    browser.go("forward")
    browser.until_tab(title="button")
    before = len(site.requests)
    browser.go("reload")
    wait_until(lambda: "/button" in site.requests[before:])


def test_tabs_are_opened_selected_and_closed(browser, site):
    browser.open_site(site, "button", title="button")
    first = browser.tab["id"]
    browser.send("tab", action="new")
    browser.until_tab(url="about:blank")
    second = browser.tab["id"]
    browser.send("tab", action="select", id=first)
    browser.until_tab(title="button")
    browser.until_frame()
    browser.send("tab", action="close", id=first)
    assert browser.until_tab(id=second)["url"] == "about:blank"
    browser.send("tab", action="close", id=second)
    assert browser.until_tabs(lambda tabs: tabs["activeId"] not in ("", first, second))
    assert len(browser.tabs["tabs"]) == 1
    browser.send("tab", action="close", id=first)
    assert browser.until("error") == {"type": "error", "status": 404, "error": "tab not found"}


def test_window_of_a_site_becomes_a_tab(browser, site):
    browser.open_site(site, "opener", title="opener")
    browser.click(100, 50)
    browser.until_tab(title="button")
    assert [tab["title"] for tab in browser.tabs["tabs"]] == ["opener", "button"]


def test_number_of_windows_is_limited(browser, site):
    browser.open_site(site, "bomb", title="bomb")
    first = browser.tab["id"]
    browser.click(100, 50)
    browser.until_tabs(lambda tabs: len(tabs["tabs"]) == MAX_TABS)
    browser.send("tab", action="select", id=first)
    browser.until_tab(title="opened")
    assert len(browser.tabs["tabs"]) == MAX_TABS


def test_titles_are_text_and_shortened(browser, site):
    browser.open_site(site, "surrogate")
    browser.until_tabs(lambda _: browser.tab["title"].startswith("half \ufffd of it") and len(browser.tab["title"]) < 310)


def test_dialog_is_answered(browser, site, gateway):
    browser.open_site(site, "dialog", title="dialog")
    browser.click(100, 50)
    asked = {"type": "dialog", "kind": "prompt", "message": "Your name?", "default": "Ann"}
    assert browser.until("dialog") == asked
    other = Browser(gateway, browser.thread)
    assert other.until("dialog") == asked
    other.send("dialog", accept=True, text="Bea")
    browser.until("dialogClosed")
    browser.until_tab(title="answer Bea")
    other.socket.close()


def test_hosts_of_this_machine_are_refused_until_allowed(browser, gateway):
    browser.go(f"127.0.0.1:{gateway.port}/health")
    refused = browser.until("refused")
    assert refused["host"] == f"127.0.0.1:{gateway.port}" and refused["canAllow"] and "no public address" in refused["reason"]
    browser.send("allow", host="127.0.0.1:1")
    assert browser.until("error")["error"] == "this host was not refused"


def test_hosts_of_an_integration_are_allowed(browser, site, gateway, new_name):
    integration = new_integration(gateway, new_name("web"), "browser", hosts=[site.host])
    browser.go(site.url("button"))
    browser.until_tab(title="button")
    assert gateway.http.delete(f"/extensions/{integration['id']}").status_code == 204
    browser.go(site.url("field"))
    assert browser.until("refused")["host"] == site.host


def test_only_addresses_of_the_web_are_opened(browser):
    for address in ("file:///etc/passwd", "chrome://version", "javascript:alert(1)", "data:text/html,x"):
        browser.go(address)
        assert browser.until("error") == {
            "type": "error", "status": 400, "error": "only addresses that begin with http:// or https:// can be opened"}


def test_failed_address_is_reported(browser):
    browser.go("nowhere.invalid")
    assert browser.until("refused")["canAllow"] is False
    assert browser.until("error") == {"type": "error", "status": 502,
                                      "error": "nowhere.invalid: net::ERR_TUNNEL_CONNECTION_FAILED"}


def test_sites_get_no_files_downloads_and_rights(browser, site, gateway):
    browser.open_site(site, "rights")
    browser.until_tab(title="denied denied")
    browser.go(site.url("forbidden"))
    browser.until_tab(title="forbidden", isLoading=False)
    for y in (50, 150, 250):
        browser.click(50, y)
    wait_until(lambda: "/file" in site.requests)
    browser.send("mouse", action="move", x=1, y=1)
    profile = gateway.data / "browsers" / browser.thread
    assert profile.is_dir() and not [path for path in profile.rglob("*") if path.name == "file"]
    assert browser.tab["url"] == site.url("forbidden")


def test_browser_names_itself_as_an_ordinary_one(browser, site):
    browser.open_site(site, "identity")
    browser.until_tabs(lambda _: "Brand" in browser.tab["title"])
    assert "Chromium" in browser.tab["title"] and "Headless" not in browser.tab["title"]
    wait_until(lambda: "/of-worker" in site.requests)
    agents = dict(zip(site.requests, site.agents))
    name, brands = agents["/identity"]
    assert "Chrome/" in name and name == agents["/of-worker"][0] and '"Chromium"' in brands
    assert "Headless" not in str(site.agents)


def test_several_clients_share_a_browser(browser, site, gateway):
    browser.open_site(site, "button", title="button")
    other = Browser(gateway, browser.thread)
    assert other.first == {"type": "opened", "isNew": False}
    other.until_tab(title="button")
    other.until_frame()
    other.click(100, 50)
    browser.until_tab(title="clicked 1 true")
    other.send("close")
    assert browser.until("closed")["reason"] == other.until("closed")["reason"] == "closed"
    assert other.socket.closed() == 1000


def test_slow_client_sees_the_last_picture(gateway, site):
    with Browser(gateway, shows=False) as browser:
        browser.until_frame()
        browser.open_site(site, "burst", title="end")
        assert browser.frames == 1
        # A picture of the stripes has many times the size of one of a colour.
        wait_until(lambda: len(browser.show_next()["data"]) > 5 * len(browser.first_frame["data"]))


def test_page_that_hangs_takes_no_more_input(browser, site):
    browser.open_site(site, "loop", title="loop")
    browser.click(100, 50)
    for _ in range(2 * MAX_INPUTS):
        browser.send("mouse", action="move", x=1, y=1)
    for _ in range(MAX_INPUTS // 2 + 1):
        browser.key("a", "KeyA", 65, "a")
    assert browser.until("error") == {"type": "error", "status": 429, "error": "the page does not take so much input"}
    browser.go(site.url("field"))
    browser.until_tab(title="field")
    browser.click(100, 20)
    browser.type("a")
    # Input that waited for the other page may come too.
    browser.until_tabs(lambda _: browser.tab["title"].startswith("typed a"))


def test_crashed_page_can_be_loaded_again(browser, site):
    browser.open_site(site, "button", title="button")
    kill(processes_of(browser.thread, "--type=renderer"))
    browser.until_tab(title="This page has crashed: reload it")
    browser.go("reload")
    browser.until_tab(title="button", isLoading=False)
    browser.click(100, 50)
    browser.until_tab(title="clicked 1 true")


def test_killed_browser_is_reported_and_can_be_opened_again(gateway):
    browser = Browser(gateway)
    kill(processes_of(browser.thread, "--remote-debugging-pipe"))
    assert browser.until("closed")["reason"] == "crashed"
    with Browser(gateway, browser.thread) as again:
        assert again.first["isNew"]


def test_full_disk_ends_the_browser(make_gateway):
    gateway = make_gateway()
    gateway.data.mkdir(mode=0o700, parents=True, exist_ok=True)
    with small_disk(gateway.data / "browsers", "size=64m") as disk:
        gateway.start()
        browser = Browser(gateway)
        (disk / "large").write_bytes(bytes(40 * 1024 * 1024))
        assert browser.until("closed")["reason"] == "disk"
        gateway.stop()


def test_logins_stay_in_their_chat(gateway, site):
    site.headers["/cookie"] = {"set-cookie": "login=ann; max-age=3600"}
    with Browser(gateway) as browser:
        browser.open_site(site, "cookie", title="cookie")
    with Browser(gateway, browser.thread) as again:
        again.open_site(site, "button", title="button")
    with Browser(gateway) as other:
        other.open_site(site, "field", title="field")
    cookies = dict(zip(site.requests, site.cookies))
    assert (cookies["/cookie"], cookies["/button"], cookies["/field"]) == (None, "login=ann", None)


def test_deleting_the_chat_ends_its_browser_and_deletes_the_profile(gateway):
    browser = Browser(gateway)
    profile = gateway.data / "browsers" / browser.thread
    assert profile.is_dir()
    assert gateway.http.delete(f"/threads/{browser.thread}").status_code == 204
    assert browser.until("closed")["reason"] == "deleted"
    wait_until(lambda: not profile.exists() and not processes_of(browser.thread))


def test_profile_of_a_closed_browser_is_deleted_with_its_chat(gateway):
    with Browser(gateway) as browser:
        pass
    profile = gateway.data / "browsers" / browser.thread
    wait_until(lambda: not processes_of(browser.thread))
    assert profile.is_dir()
    assert gateway.http.delete(f"/threads/{browser.thread}").status_code == 204
    wait_until(lambda: not profile.exists())


def test_stopping_the_gateway_ends_browsers(make_gateway):
    gateway = make_gateway().start()
    browser = Browser(gateway)
    lost = gateway.data / "browsers" / "01900000-0000-7000-8000-000000000000"
    lost.mkdir()
    gateway.stop()
    assert browser.until("closed")["reason"] == "stopped"
    wait_until(lambda: not processes_of(browser.thread))
    gateway.start()
    wait_until(lambda: not lost.exists())
    assert (gateway.data / "browsers" / browser.thread).is_dir()


def test_number_of_browsers_is_limited(make_gateway):
    gateway = make_gateway().start()
    browsers = [Browser(gateway) for _ in range(MAX_BROWSERS)]
    assert {browser.first["type"] for browser in browsers} == {"opened"}
    assert Browser(gateway).first == {"type": "error", "status": 429,
                                      "error": "at most 4 browsers are open at the same time: close one"}
    with browsers[0]:
        pass
    wait_until(lambda: Browser(gateway).first["type"] == "opened")


def test_whole_chromium_runs_too(make_gateway, site):
    program = next((program for program in PROGRAMS if not program.endswith("shell") and os.path.exists(program)), None)
    if not program:
        pytest.skip("only the headless shell is installed")
    with Browser(make_gateway(config={"browser": program}).start()) as browser:
        browser.open_site(site, "button", title="button")
        browser.until_frame()
        browser.click(100, 50)
        browser.until_tab(title="clicked 1 true")


def test_unknown_chat_is_not_found(gateway):
    for thread in ("none", "..", "a/b"):
        assert Browser(gateway, thread).first == {"type": "error", "status": 404, "error": "thread not found"}


def test_invalid_messages_leave_the_browser_open(browser):
    for message, error in [
        ("{", "a message must be a JSON object"),
        ({"type": "dance"}, "unknown message type"),
        ({"type": "resize", "width": 5000, "height": 100}, "width must be a whole number from 100 to 4096"),
        ({"type": "mouse", "action": "jump"}, "action must be one of move, down, up, wheel"),
        ({"type": "key", "action": "down"}, "key and code must be the values of a KeyboardEvent"),
        ({"type": "tab", "action": "burn"}, "action must be one of new, select, close"),
    ]:
        browser.socket.send(message)
        assert browser.until("error") == {"type": "error", "status": 400, "error": error}


@pytest.mark.parametrize("config, status, error", [
    ({"browser": "deny"}, 403, "there are no browsers: config.yaml has `browser: deny`"),
    ({"sandbox": "none"}, 403, "browsers need the sandbox: remove `sandbox: none` from config.yaml"),
    ({"browser": "/nowhere"}, 503,
     "no browser is installed: `browser` in config.yaml is /nowhere, which is no program"),
    ({"browser": "/bin/true"}, 503, "no browser can be opened: Chromium has ended"),
])
def test_browsers_can_be_impossible(make_gateway, config, status, error):
    gateway = make_gateway(config=config).start()
    assert Browser(gateway).first == {"type": "error", "status": status, "error": error}
