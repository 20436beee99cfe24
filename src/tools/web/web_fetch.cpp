#include "tools/web/web_fetch.hpp"

#include <algorithm>
#include <cctype>
#include <memory>
#include <utility>

#include <fmt/format.h>
#include <boost/algorithm/string/case_conv.hpp>

#include "base/json/json_values.hpp"
#include "io/http/web_request.hpp"
#include "tools/charset.hpp"
#include "tools/tool.hpp"
#include "tools/web/markdown.hpp"

namespace agw {

namespace {

constexpr double default_bytes = 1024 * 1024;
constexpr double max_bytes = 5 * 1024 * 1024;

constexpr std::size_t max_address_length = 8192;
constexpr int max_checked_ends = 64;  // limits the occurrences of one address that are checked

constexpr auto fetch_schema = R"({
  "type": "object",
  "required": ["url"],
  "properties": {
    "url": {"type": "string", "description": "An http or https address"},
    "max_bytes": {"type": "integer", "minimum": 1, "description": "How much of the page to load: default 1 MiB, at most 5 MiB"}
  },
  "additionalProperties": false
})";

std::string content_type(const WebResponse& response) {
  return boost::to_lower_copy(std::string(response.head.header("content-type").value_or("")));
}

bool is_html(const WebResponse& response) {
  const auto type = content_type(response);
  return type.starts_with("text/html") || type.starts_with("application/xhtml") ||
         (type.empty() && response.body.starts_with('<'));
}

bool is_text_type(std::string_view type) {
  if (type.empty() || type.starts_with("text/")) return true;
  const auto kind = type.substr(0, type.find(';'));
  return kind.ends_with("json") || kind.ends_with("xml") || kind.ends_with("yaml") || kind.ends_with("javascript") ||
         kind.ends_with("x-sh") || kind.ends_with("x-www-form-urlencoded") || kind.ends_with("toml");
}

/// Formats the result for the model. Blocks, because it parses HTML.
ToolOutcome readable(const WebResponse& response) {
  const auto type = content_type(response);
  std::string head = "URL: " + response.url.text() + "\n";
  std::string text;
  std::string problem = response.truncated ? "the page is longer than max_bytes" : "";
  if (is_html(response)) {
    auto page = html_to_markdown(html_to_utf8(response.body, type), response.url);
    if (!page.title.empty()) head += "Title: " + page.title + "\n";
    text = std::move(page.markdown);
    if (!page.problem.empty()) problem = page.problem;
    if (text.empty()) text = "(The page has no text. It may need JavaScript, which is not run here.)";
    // Servers name many texts as something else, such as a script application/octet-stream or TypeScript video/mp2t.
  } else if (is_text_type(type) || is_text(response.body)) {
    text = text_to_utf8(response.body, type);
  } else {
    return failed(fmt::format("{} is {}, which is no text", response.url.text(), to_utf8(type)));
  }
  const bool is_error = response.head.status >= 400;
  if (is_error) head += fmt::format("The server answered with status {}.\n", response.head.status);
  if (!problem.empty()) text += fmt::format("\n\n(The rest is missing: {}.)", problem);
  return {.output = truncate_middle(head + "\n" + text), .is_error = is_error};
}

/// One call of the tool.
class PageFetch {
public:
  PageFetch(const WebFetchOptions& options, const ToolCall& call) : options_(options), call_(call) {}

  /// Called with the URL that is about to be requested.
  Permission permission(const WebUrl& url) const {
    return call_.authorize({.host = url.host(), .url_was_named = named_ || is_allowed(url)});
  }

  bool is_allowed(const WebUrl& url) const {
    return std::ranges::any_of(options_.allow_hosts,
                               [&](const auto& host) { return boost::to_lower_copy(host) == url.host(); });
  }

  /// Searches the thread only if the result matters, and asks a person only after that.
  Task<Permission> authorize(const WebUrl& url) {
    auto found = permission(url);
    if (found.verdict == Permission::Verdict::allowed || !options_.was_named) co_return found;
    named_ = co_await options_.was_named(call_.run, url);
    co_return co_await call_.permit({.host = url.host(), .url_was_named = named_});
  }

  WebRequest request(WebUrl url) const {
    const auto* wanted = call_.input.if_contains("max_bytes");
    const auto bytes = std::min(wanted ? wanted->to_number<double>() : default_bytes, max_bytes);
    return {.url = std::move(url),
            .headers = {{"Accept", "text/html, text/markdown;q=0.9, text/plain;q=0.8, */*;q=0.5"}},
            .max_body_bytes = static_cast<std::size_t>(bytes),
            .truncate_body = true,
            .may_be_private = [this](const WebUrl& next) { return is_allowed(next); },
            .refusal = [this](const WebUrl& next) { return permission(next).reason; }};
  }

private:
  const WebFetchOptions& options_;
  const ToolCall& call_;
  bool named_ = false;
};

Task<ToolOutcome> web_fetch(HttpClient& http, BlockingPool& blocking, const WebFetchOptions& options,
                            const ToolCall& call) {
  const auto url = WebUrl::parse(string_member(call.input, "url").value_or(""));
  if (!url) co_return failed("url must be an http or https address without a name or password");
  PageFetch fetching(options, call);
  if (const auto found = co_await fetching.authorize(*url); found.verdict != Permission::Verdict::allowed) {
    co_return failed(found.reason);
  }
  auto response = co_await send_web_request(http, fetching.request(*url), call.stop);
  if (!response.refused_address.empty()) {
    co_return failed(
        fmt::format("permission denied: {} has the address {}, which is not one of the public internet; "
                    "a person allows a host in config.yaml: tools.web_fetch.allow_hosts",
                    response.url.host(), response.refused_address));
  }
  if (!response.problem.empty()) co_return failed(response.problem);
  co_return co_await blocking.run([response = std::move(response)] { return readable(response); });
}

bool ends_address(char c) {
  return static_cast<unsigned char>(c) <= ' ' || std::string_view("<>\"`{}|\\^").find(c) != std::string_view::npos;
}

/// Removes punctuation that often follows an address and is rarely part of it.
std::string_view without_punctuation(std::string_view word) {
  while (!word.empty() && std::string_view(".,;:!?'*_)]").find(word.back()) != std::string_view::npos) {
    const bool closes =
        (word.back() == ')' && word.find('(') != word.npos) || (word.back() == ']' && word.find('[') != word.npos);
    if (closes) break;
    word.remove_suffix(1);
  }
  return word;
}

/// Whether the word is exactly that address, with or without its scheme.
bool is_address(std::string_view word, const WebUrl& url) {
  const bool has_scheme = word.find("://") != word.npos;
  const std::string scheme = has_scheme ? "" : url.text().substr(0, url.text().find("://") + 3);
  const auto parsed = WebUrl::parse(scheme + std::string(word));
  return parsed && parsed->text() == url.text();
}

/// Compares the word with and without trailing punctuation.
bool means(std::string_view word, const WebUrl& url) {
  if (is_address(word, url)) return true;
  const auto bare = without_punctuation(word);
  return bare.size() < word.size() && is_address(bare, url);
}

/// Whether an address ends before the character at `at`, which could be a part of one: an unbalanced closing bracket,
/// or a character that addresses do not contain, such as a quotation mark or a full stop of another script.
bool may_end_at(std::string_view word, std::size_t at) {
  const auto c = word[at];
  if (static_cast<unsigned char>(c) >= 0xc0) return true;
  if (c != ')' && c != ']') return false;
  const auto before = word.substr(0, at);
  return std::ranges::count(before, c) == std::ranges::count(before, c == ')' ? '(' : '[');
}

/// Whether a text that starts with an address and continues refers to this address.
bool begins_with_address(std::string_view word, const WebUrl& url) {
  if (means(word, url)) return true;
  int ends = 0;
  for (std::size_t at = 1; at < word.size() && ends < max_checked_ends; ++at) {
    if (!may_end_at(word, at)) continue;
    ++ends;
    if (means(word.substr(0, at), url)) return true;
  }
  return false;
}

/// Whether the address that follows this character is only part of a longer one.
bool continues_word(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) ||
         std::string_view("-_.@/:%=&?#+").find(c) != std::string_view::npos;
}

/// The start of the address whose host is at `host`.
std::size_t begin_of_address(std::string_view lower, std::size_t host) {
  for (const std::string_view scheme : {"https://", "http://"}) {
    if (lower.substr(0, host).ends_with(scheme)) return host - scheme.size();
  }
  return host;
}

}  // namespace

bool mentions_url(std::string_view text, const WebUrl& url) {
  const auto lower = boost::to_lower_copy(std::string(text));
  const auto host = url.host().find(':') == std::string::npos ? url.host() : "[" + url.host() + "]";
  for (auto at = lower.find(host); at != std::string::npos; at = lower.find(host, at + 1)) {
    const auto begin = begin_of_address(lower, at);
    if (begin > 0 && continues_word(text[begin - 1])) continue;
    const auto rest = text.substr(begin);
    const auto end = static_cast<std::size_t>(std::ranges::find_if(rest, ends_address) - rest.begin());
    if (begins_with_address(rest.substr(0, std::min(end, max_address_length)), url)) return true;
  }
  return false;
}

Tool web_fetch_tool(HttpClient& http, BlockingPool& blocking, WebFetchOptions options) {
  auto kept = std::make_shared<const WebFetchOptions>(std::move(options));
  return {.description = {.name = "WebFetch",
                          .description = "Loads a web page and returns it as Markdown. Private addresses are refused.",
                          .input_schema = *parse_json(fetch_schema)},
          .effect = ToolEffect::fetches,
          .authorizes_itself = true,
          .limit = std::chrono::seconds(60),
          .call = [&http, &blocking, kept](const ToolCall& call) { return web_fetch(http, blocking, *kept, call); }};
}

}  // namespace agw
