"""The HTML of articles is safe whoever wrote the page: OWASP's list of filter evasions, and more.

See docs/contract/knowledge.md#endpoints.
"""

import html.parser
import re

import pytest

from knowledge import article, page

TAGS = {"p", "a", "h1", "h2", "h3", "h4", "h5", "h6", "ul", "ol", "li", "em", "strong", "code", "pre", "blockquote", "hr",
        "br", "del", "table", "thead", "tbody", "tr", "th", "td", "input"}
ATTRIBUTES = {"href", "title", "class", "align", "start", "type", "checked", "disabled"}


class Elements(html.parser.HTMLParser):
    """The elements that a browser would see, with their attributes."""

    def __init__(self, text):
        super().__init__()
        self.found, self.others = [], []
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        self.found.append((tag, dict(attributes)))

    def handle_comment(self, text):
        self.others.append(text)

    handle_decl = handle_pi = unknown_decl = handle_comment


def rendered(gateway, text):
    page(gateway, "hostile", text)
    html = article(gateway, "hostile")["html"]
    elements = Elements(html)
    assert elements.others == []
    for tag, attributes in elements.found:
        assert tag in TAGS and set(attributes) <= ATTRIBUTES, (tag, attributes)
        assert re.match(r"(https?://|mailto:|#/knowledge/)", attributes.get("href", "https://"), re.I), attributes
        assert re.fullmatch(r"language-[^\s]*", attributes.get("class", "language-")), attributes
    return html


RAW = [
    "<script>alert(1)</script>", "<SCRIPT SRC=https://evil.example/x.js></SCRIPT>", "<scr<script>ipt>alert(1)</script>",
    "<img src=x onerror=alert(1)>", '<IMG SRC="javascript:alert(1);">', "<img/src=x/onerror=alert(1)>",
    "<IMG \"\"\"><SCRIPT>alert(1)</SCRIPT>\"\\>", "<svg onload=alert(1)>", "<svg/onload=alert(1)>",
    "<svg><script>alert&#40;1)</script></svg>", "<math><mtext><img src=x onerror=alert(1)></mtext></math>",
    "<body onload=alert(1)>", "<iframe src=javascript:alert(1)></iframe>", "<iframe srcdoc='<script>alert(1)</script>'>",
    "<object data=data:text/html,<script>alert(1)</script>>", "<embed src=//evil.example/x.swf>",
    "<a href=javascript:alert(1)>x</a>", "<a onclick=alert(1)>x</a>", "<div style=background:url(javascript:alert(1))>",
    "<style>@import 'https://evil.example/x.css';</style>", "<link rel=stylesheet href=//evil.example/x.css>",
    "<meta http-equiv=refresh content='0;url=javascript:alert(1)'>", "<base href=//evil.example/>",
    "<form action=//evil.example><input type=submit></form>", "<button formaction=javascript:alert(1)>x</button>",
    "<details open ontoggle=alert(1)>", "<video><source onerror=alert(1)></video>", "<marquee onstart=alert(1)>",
    "<!--<img src='--><img src=x onerror=alert(1)//'>", "<!-- --!><script>alert(1)</script> -->",
    "<![CDATA[<script>alert(1)</script>]]>", "<?xml version='1.0'?><script>alert(1)</script>", "<!DOCTYPE x [<!ENTITY y 'z'>]>",
    "<template><script>alert(1)</script></template>", "<noscript><p title='</noscript><img src=x onerror=alert(1)>'>",
    "<xss id=x tabindex=1 onfocus=alert(1)>", "<custom-element onclick=alert(1)>x</custom-element>",
    "<textarea autofocus onfocus=alert(1)>", "<title></title><script>alert(1)</script>", "<x/onclick=alert(1)>y",
    "<a\nhref=javascript:alert(1)\n>x</a>", "<\x00script>alert(1)</script>", "<script\x0c>alert(1)</script>",
    "\u2028<script>alert(1)</script>", "<ſcript>alert(1)</ſcript>", "<plaintext>", "<xmp><script>alert(1)</script></xmp>",
    "<p onmouseover=alert(1)>\n\ntext\n\n</p>", "> <script>alert(1)</script>", "- <img src=x onerror=alert(1)>",
    "| a |\n|---|\n| <img src=x onerror=alert(1)> |", "**<b onclick=alert(1)>x</b>**", "# <script>alert(1)</script>",
    "[[<script>alert(1)</script>]]", "[[a|<img src=x onerror=alert(1)>]]", "[<img src=x onerror=alert(1)>](https://a.b)",
]


@pytest.mark.parametrize("text", RAW, ids=range(len(RAW)))
def test_raw_markup_is_removed(gateway, text):
    html = rendered(gateway, f"Before.\n\n{text}\n\nAfter, inline {text}\n")
    assert "Before." in html
    assert not re.search(r"<\s*(script|img|svg|iframe|object|style|link|meta|base|form|body)", html, re.I)


ADDRESSES = [
    "javascript:alert(1)", "JaVaScRiPt:alert(1)", "javascript&colon;alert(1)", "java&#115;cript:alert(1)",
    "&#106;&#97;&#118;&#97;script:alert(1)", "&#x6A&#x61&#x76&#x61&#x73cript:alert(1)", "java&Tab;script:alert(1)",
    "java&NewLine;script:alert(1)", "&#1;javascript:alert(1)", "&#32;javascript:alert(1)", "%6Aavascript:alert(1)",
    "javascript\\:alert(1)", "vbscript:msgbox(1)", "data:text/html,<script>alert(1)</script>",
    "data:text/html;base64,PHNjcmlwdD5hbGVydCgxKTwvc2NyaXB0Pg==", "data:image/svg+xml;base64,PHN2Zz4=",
    "data:image/png;base64,iVBORw0KGgo=", "file:///etc/passwd", "blob:https://a.b/c", "about:blank", "ftp://a.b/c",
    "view-source:https://a.b", "feed:javascript:alert(1)", "jar:https://a.b!/c", "ws://a.b", "chrome://settings", "x:y",
    "/daemon/stop", "//evil.example/x", "../../etc/passwd", "#fragment", "?q=1", "\\\\evil\\x", "", "http:evil",
    "livescript:x", "mocha:x", "tel:123", "&#x0A;javascript:alert(1)", "\u00a0javascript:alert(1)",
]


@pytest.mark.parametrize("address", ADDRESSES, ids=range(len(ADDRESSES)))
def test_unsafe_addresses_are_not_links(gateway, address):
    forms = [f"[text]({address})", f"[text](<{address}>)", f"![text]({address})", f"[text][r]\n\n[r]: {address}",
             f"<{address}>", f"[![text]({address})](https://a.b/c)", f"[text]({address} \"title\")"]
    for form in forms:
        html = rendered(gateway, f"{form}\n")
        assert not re.search(r"href=\"(?!https://a\.b/c\")", html), (form, html)


def test_safe_addresses_are_links(gateway):
    html = rendered(gateway, "[a](https://a.example/x?y=1&z=2) [b](HTTP://b.example) [c](mailto:c@d.e) <https://e.example> "
                            "www.f.example g@h.example\n")
    for address in ("https://a.example/x?y=1&amp;z=2", "HTTP://b.example", "mailto:c@d.e", "https://e.example",
                    "http://www.f.example", "mailto:g@h.example"):
        assert f'href="{address}"' in html


def test_images_are_links(gateway):
    assert rendered(gateway, "![a *cat*](https://a.example/cat.png)\n") == \
        '<p><a href="https://a.example/cat.png">a <em>cat</em></a></p>\n'
    assert rendered(gateway, "[![a cat](https://a.example/cat.png)](https://b.example)\n") == \
        '<p><a href="https://b.example">a cat</a></p>\n'


def test_quotes_cannot_leave_an_attribute(gateway):
    html = rendered(gateway, '[x](https://a.b/"onclick="alert(1)) [y](https://a.b \'" onclick="alert(1)\')\n\n'
                            '```js"onclick="alert(1)\ncode\n```\n')
    for tag, attributes in Elements(html).found:
        assert "onclick" not in attributes


def test_placeholders_in_angle_brackets_are_text(gateway):
    assert "git rebase &lt;upstream&gt; &lt;your-name&gt;" in rendered(gateway, "git rebase <upstream> <your-name>\n")


def test_tables_lists_code_and_tasks_are_rendered(gateway):
    html = rendered(gateway, "| a | b |\n|---|:-:|\n| 1 | `2` |\n\n- [x] done\n- [ ] open\n\n~~old~~\n\n```python\nx < 1\n```\n")
    assert '<td align="center"><code>2</code></td>' in html and "<del>old</del>" in html
    assert '<code class="language-python">x &lt; 1\n</code>' in html


REPETITIVE = ["[" * 50_000, "[[" * 30_000, "*a " * 40_000, "> " * 20_000, "`" * 50_000, "![" * 40_000,
              "<" * 60_000, "[a](" * 30_000, "| a " * 30_000, "- " * 20_000, "_*" * 30_000,
              "[x]: y\n" * 10_000, "&" * 90_000, "\\[" * 40_000, "[![a](b)](c) " * 8_000,
              "[[a]] " * 20_000, "a|b\n-|-\n" * 8_000, "~~~" * 30_000, "<!--" * 20_000, "http://" * 12_000]


@pytest.mark.parametrize("text", REPETITIVE, ids=range(len(REPETITIVE)))
def test_repetitive_input_does_not_hang_the_renderer(gateway, text):
    page(gateway, "hostile", text)
    assert gateway.http.get("/knowledge/article/hostile").status_code == 200


@pytest.mark.parametrize("text", ["|-|\n|-|-|\n" * 3_000, "|a" * 15_000 + "\n" + "|-" * 15_000 + "\n"],
                         ids=["beginnings-of-tables", "wide-table"])
def test_text_that_would_take_long_to_parse_is_shown_as_code(gateway, text):
    assert rendered(gateway, text).startswith("<pre><code>|")
