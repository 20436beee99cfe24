#include "tools/web/markdown.hpp"

#include <chrono>
#include <thread>
#include <utility>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "testing/cpu_time.hpp"
#include "tools/web/html.hpp"

namespace agw {
namespace {

using namespace std::chrono_literals;
using ::testing::HasSubstr;

const auto url = *WebUrl::parse("https://example.org/docs/page.html");

std::string markdown(std::string_view html) { return html_to_markdown(html, url).markdown; }

std::string repeated(std::string_view text, std::size_t count) {
  std::string out;
  for (std::size_t i = 0; i < count; ++i) out += text;
  return out;
}

TEST(Markdown, HasTheTextOfAPageAndItsTitle) {
  const auto page = html_to_markdown(
      "<!doctype html><html><head><title> A &amp; B\n</title><style>p{}</style><script>var a = '<p>no</p>';</script>"
      "</head><body><h1>Top</h1><p>First\n  line.<p>Second &lt;line&gt;.</body></html>",
      url);
  EXPECT_EQ(page.title, "A & B");
  EXPECT_EQ(page.markdown, "# Top\n\nFirst line.\n\nSecond <line>.");
  EXPECT_EQ(page.problem, "");
}

TEST(Markdown, MarksWhatIsMarked) {
  EXPECT_EQ(markdown("<p>a <b>bold </b>and <em>fine</em> <code>x = 1</code><b></b>.</p>"),
            "a **bold** and *fine* `x = 1`.");
  EXPECT_EQ(markdown("<p>one<br>two<hr>three"), "one\ntwo\n\n---\n\nthree");
}

TEST(Markdown, LinksToWholeAddresses) {
  EXPECT_EQ(markdown("<p>See <a href='../a b?c=d'>the <i>page</i></a>, <a href='#x'>here</a> and <a href='/'></a>."),
            "See [the *page*](https://example.org/a%20b?c=d), here and .");
  EXPECT_EQ(markdown("<a href='javascript:alert(1)'>no</a> <a href='data:text/html,x'>no</a>"), "no no");
  EXPECT_EQ(markdown("<base href='https://other.org/x/'><a href='y'>z</a>"), "[z](https://other.org/x/y)");
  EXPECT_EQ(markdown("<img src='a.png' alt='A picture'><img src='pixel.gif'>"),
            "![A picture](https://example.org/docs/a.png)");
}

TEST(Markdown, KeepsListsQuotesAndCode) {
  EXPECT_EQ(markdown("<ul><li>a<li><p>b</p><ol><li>c</li><li>d</li></ol></li></ul>after"),
            "- a\n- b\n\n  1. c\n  2. d\n\nafter");
  EXPECT_EQ(markdown("<blockquote><p>one</p><p>two</p></blockquote>"), "> one\n>\n> two");
  EXPECT_EQ(markdown("<pre><code>int a;\n\n  int *b;\n</code></pre><p>x"), "```\nint a;\n\n  int *b;\n```\n\nx");
  EXPECT_EQ(markdown("<ul><li><pre>a\nb</pre></li></ul>"), "- ```\n  a\n  b\n  ```");
}

TEST(Markdown, KeepsTables) {
  EXPECT_EQ(markdown("<table><tr><th>a</th><th>b</th></tr><tr><td>1|2</td><td><p>x</p><p>y</p></td></tr></table>z"),
            "| a | b |\n| --- | --- |\n| 1\\|2 | x  y |\n\nz");
  EXPECT_EQ(markdown("<table><tr><td>only layout</td></tr></table>"), "only layout");
  EXPECT_EQ(markdown("<table><tr><td><h1>a</h1><p>b|c</p></td></tr><tr><td>d</td></tr></table>"), "# a\n\nb|c\n\nd");
  EXPECT_EQ(
      markdown("<ul><li><table><tr><td><pre>1\n2</pre></td><td><pre>if x:\n    y|z</pre></td></tr></table>e</ul>"),
      "- ```\n  1\n  2\n  ```\n\n  ```\n  if x:\n      y|z\n  ```\n\n  e");
}

TEST(Markdown, LeavesOutWhatNobodyReads) {
  const auto text = markdown(
      "<p>a</p><script>x</script><noscript>x</noscript><svg><text>x</text></svg><iframe>x</iframe>"
      "<template><p>x</p></template><!-- x --><p>b</p>");
  EXPECT_EQ(text, "a\n\nb");
}

TEST(Markdown, ReadsMalformedPages) {
  EXPECT_EQ(markdown("<p>a<b>b</p></i></div>c"), "a**b**\n\nc");
  EXPECT_EQ(markdown(""), "");
  EXPECT_EQ(markdown("just text"), "just text");
  EXPECT_EQ(markdown(std::string_view("a\0b", 3)), "a b");
  EXPECT_EQ(markdown("<p>a</p><unclosed attribute='x"), "a");
}

TEST(Markdown, IsMadeInBoundedTimeWhateverThePage) {
  const std::vector<std::string> pages{
      repeated("<div>", 300'000),
      repeated("<b>", 300'000) + repeated("</i>", 300'000),
      repeated("<table><tr><td>", 100'000),
      repeated("<blockquote>", 300) + repeated("<p>x", 200'000),
      "<a " + repeated("b ", 500'000) + ">",
      repeated("<ul><li>", 100'000),
      repeated("<a href=x>", 100'000),
      repeated("<", 1'000'000),
      repeated("&", 1'000'000),
      repeated("<!--", 250'000),
      repeated("<script>", 120'000),
      repeated("<p><b><i>", 100'000),
      "<img src=\"data:image/png;base64," + std::string(1'000'000, 'A') + "\" alt='inside'>",
  };
  for (const auto& page : pages) {
    const auto begin = testing::cpu_time();
    const auto made = html_to_markdown(page, url);
    EXPECT_LT(testing::cpu_time() - begin, 8s) << page.substr(0, 40);
    EXPECT_LT(made.markdown.size(), 5'000'000u);
  }
  EXPECT_THAT(html_to_markdown(pages[0], url).problem, HasSubstr("nested too deep"));
  EXPECT_EQ(html_to_markdown(pages.back(), url).markdown, "inside");
}

TEST(Html, CountsOnlyTheTimeThatItHasOfTheProcessor) {
  /// Simulates a machine that is busy with other processes.
  class Waiting : public HtmlEvents {
  public:
    void open(std::string_view, const Attributes&) override {
      if (!std::exchange(waited_, true)) std::this_thread::sleep_for(1200ms);
    }
    void close(std::string_view) override {}
    void text(std::string_view) override {}

  private:
    bool waited_ = false;
  };
  Waiting events;
  EXPECT_EQ(read_html("<p>" + repeated("text ", 10'000), events), "");
}

}  // namespace
}  // namespace agw
