// The browser tools. A script (share/browser/page.js) does what needs the page: it makes the outline, finds the element
// with a number, and decides which mouse and key events a call means. It runs in a world of its own, which the site
// cannot change. This file opens the browser, sends those events to Chromium, and waits until the page is quiet.
//
// What the script returns is as untrusted as the page: an exploited renderer could forge it. So it chooses only among
// the commands of the domain `Input`, and its texts are only quoted.
//
//   1. Check that the agent may reach the host of the active tab (or, to open an address, of that address).
//   2. Act. The script's answer is a sentence for the people who watch, and the inputs.
//   3. Wait until the page has loaded and its text no longer changes, for a limited time.
//   4. Return the outline, unless the page now shows a host that the agent may not reach.
//
// A site's dialog blocks its page. The people who watch may answer it; if nobody does before a command times out, it is
// dismissed. The outcome says so. Without watchers, `Browser` dismisses it at once.

#include "features/integrations/browser_integration.hpp"

#include <algorithm>
#include <chrono>

#include <fmt/format.h>

#include "api/error.hpp"
#include "base/async/assert.hpp"
#include "base/containers.hpp"
#include "base/embedded.hpp"
#include "base/json/json_values.hpp"
#include "base/text/utf8.hpp"
#include "features/browsers/browser.hpp"
#include "features/integrations/results.hpp"
#include "io/http/web_request.hpp"

namespace agw {

namespace {

using namespace std::chrono_literals;
using std::chrono::milliseconds;

constexpr auto max_load_time = 10'000ms;
constexpr auto quiet_time = 250ms;
/// For text that changes all the time, such as a clock's.
constexpr int max_quiet_attempts = 8;
constexpr auto close_time = 50ms;
constexpr int max_close_attempts = 40;
constexpr double default_wait_seconds = 10;
constexpr std::size_t max_message_length = 200;
constexpr std::int64_t max_ref = 1'000'000'000;

std::vector<OfferedTool> browser_tools() {
  std::vector<OfferedTool> tools;
  const auto listed = embedded_json("share/browser/tools.json");
  for (const auto& each : listed.as_array()) {
    const auto& tool = each.as_object();
    tools.push_back({.name = string_or_empty(tool, "name"),
                     .description = string_or_empty(tool, "description"),
                     .input_schema = object_or_empty(tool, "inputSchema")});
  }
  return tools;
}

std::string told(const BrowserDialog& dialog) {
  return fmt::format("(A dialog of the site was dismissed, because nobody answered it: {} \"{}\".)\n", dialog.kind,
                     shortened(dialog.message, max_message_length));
}

/// One call of a tool.
class BrowserCall {
public:
  BrowserCall(std::shared_ptr<Browser> browser, const ToolCall& call, std::int64_t& next_ref)
      : browser_(std::move(browser)), call_(call), next_ref_(next_ref) {}

  Task<ToolOutcome> run(std::string tool) {
    if (tool == "tabs") co_return co_await tabs();
    if (tool == "open") co_return co_await open();
    require_host(active_url());
    if (tool == "screenshot") co_return co_await screenshot();
    if (tool == "wait") {
      co_await wait();
    } else if (tool == "back") {
      note("goes one page back");
      if (!co_await browser_->go_in_history(-1, call_.stop)) throw BadRequest("there is no earlier page in this tab");
    } else if (tool == "read") {
      note("reads the page");
    } else {
      co_await act(tool);
    }
    co_return co_await outline();
  }

private:
  void note(std::string_view action) { browser_->note_agent(fmt::format("{} {}", call_.run.agent_name, action)); }

  void require_host(const std::string& url) const {
    if (const auto why = refusal_of(call_, WebUrl::host_of(url)); !why.empty()) throw Forbidden(why);
  }

  std::string active_url() const {
    for (const auto& tab : browser_->tabs()) {
      if (tab.id == browser_->active_tab()) return tab.url;
    }
    return "";
  }

  Task<ToolOutcome> open() {
    const auto address = web_address(string_member(call_.input, "url").value_or(""));
    require_host(address);
    note("opens " + address);
    try {
      co_return co_await open(address);
    } catch (const ApiError& error) {
      if (error.status() != 504) throw;
    }
    // A script that never ends keeps its tab busy, even for another page of the site.
    notes_ += "(The tab did not answer and was replaced.)\n";
    const auto busy = browser_->active_tab();
    co_await browser_->open_tab(call_.stop);
    browser_->close_tab(busy);
    co_return co_await open(address);
  }

  Task<ToolOutcome> open(std::string address) {
    try {
      co_await browser_->navigate(std::move(address), call_.stop);
    } catch (const ApiError& error) {
      // What the proxy says is not shown for HTTPS.
      if (!error.error().ends_with("ERR_TUNNEL_CONNECTION_FAILED")) throw;
      throw BadGateway(error.error() +
                       "; the host cannot be reached, or is not public: then a person names it in `hosts` of an "
                       "integration of the kind `browser`");
    }
    co_return co_await outline();
  }

  Task<> act(std::string_view tool) {
    const auto plan = co_await ask_page(tool);
    if (const auto error = string_member(plan, "error")) throw BadRequest(std::string(*error));
    note(string_or_empty(plan, "did"));
    const auto* inputs = array_member(plan, "inputs");
    if (!inputs) co_return;
    for (const auto& input : *inputs) {
      const auto& pair = input.as_array();
      co_await send("Input." + std::string(pair.at(0).as_string()), pair.at(1).as_object());
    }
  }

  /// Sends an input. Chromium answers once the page has handled it, unless that shows a dialog.
  Task<> send(std::string method, json::object params) {
    try {
      co_await browser_->command(std::move(method), std::move(params), call_.stop);
    } catch (const ApiError&) {
      if (!dismiss_dialog()) throw;
    }
  }

  /// What the script returns for the tool.
  Task<json::object> ask_page(std::string_view tool) {
    const auto request = to_json(json::object{{"tool", tool}, {"input", call_.input}, {"first", next_ref_}});
    const auto expression = fmt::format("{}askPage({})", embedded_file("share/browser/page.js"), request);
    for (bool is_last = false;; is_last = true) {
      try {
        auto value = co_await browser_->evaluate(expression, call_.stop);
        co_return value.is_object() ? std::move(value.get_object()) : json::object();
      } catch (const ApiError&) {
        if (is_last || !dismiss_dialog()) throw;
      }
    }
  }

  bool dismiss_dialog() {
    const auto* open = browser_->dialog();
    if (!open) return false;
    notes_ += told(*open);
    browser_->answer_dialog(false);
    return true;
  }

  /// Waits until the page has loaded and its text does not change.
  Task<> settle() {
    const auto until = std::chrono::steady_clock::now() + max_load_time;
    std::string before;
    for (int attempt = 0; attempt < max_quiet_attempts && !call_.stop.requested(); ++attempt) {
      // First, because the navigation that a click causes begins after the response to the click.
      co_await pause(call_.stop, quiet_time);
      const auto left = std::chrono::ceil<milliseconds>(until - std::chrono::steady_clock::now());
      if (left <= 0ms || !co_await browser_->wait_for_load(left, call_.stop)) co_return;
      auto state = co_await state_of_page("settle", "state");
      if (state == before) co_return;
      before = std::move(state);
    }
  }

  /// A member of what the script returns; empty while the page is replaced by another one.
  Task<std::string> state_of_page(std::string_view tool, std::string_view member) {
    try {
      co_return text_or_json(co_await ask_page(tool), member);
    } catch (const ApiError& error) {
      if (error.status() != 502) throw;
    }
    co_return "";
  }

  Task<> wait() {
    const auto* wanted = call_.input.if_contains("seconds");
    const auto limit = std::chrono::ceil<milliseconds>(
        std::chrono::duration<double>(wanted ? wanted->to_number<double>() : default_wait_seconds));
    note("waits");
    if (!call_.input.contains("text")) {
      co_await pause(call_.stop, limit);
      co_return;
    }
    const auto until = std::chrono::steady_clock::now() + limit;
    while (co_await state_of_page("wait", "found") != "true") {
      if (call_.stop.requested() || std::chrono::steady_clock::now() >= until) {
        notes_ += "(The text is not on the page.)\n";
        co_return;
      }
      co_await pause(call_.stop, quiet_time);
    }
  }

  /// Waits until the page is quiet.
  Task<ToolOutcome> outline() {
    co_await settle();
    const auto page = co_await ask_page("read");
    require_host(string_or_empty(page, "url"));
    if (const auto* next = page.if_contains("next"); next && next->is_int64() && next->get_int64() < max_ref) {
      next_ref_ = std::max(next_ref_, next->get_int64());
    }
    if (const auto dialog = browser_->take_dismissed_dialog()) notes_ += told(*dialog);
    co_return ToolOutcome{.output = truncate_middle(notes_ + string_or_empty(page, "text"))};
  }

  Task<ToolOutcome> screenshot() {
    note("takes a screenshot");
    const auto taken =
        co_await browser_->command("Page.captureScreenshot", {{"format", "jpeg"}, {"quality", 80}}, call_.stop);
    json::object picture{{"type", "image"}, {"mimeType", "image/jpeg"}, {"data", string_or_empty(taken, "data")}};
    co_return tool_outcome({{"content", json::array{std::move(picture)}}});
  }

  Task<ToolOutcome> tabs() {
    const auto action = string_or_empty(call_.input, "action");
    if (action == "new") {
      note("opens a tab");
      co_await browser_->open_tab(call_.stop);
    } else if (action == "select") {
      note("selects a tab");
      browser_->select_tab(wanted_tab());
    } else if (action == "close") {
      note("closes a tab");
      const auto count = browser_->tabs().size();
      browser_->close_tab(wanted_tab());
      // A tab may stay until its page has answered.
      for (int attempt = 0; attempt < max_close_attempts && browser_->tabs().size() == count; ++attempt)
        co_await pause(call_.stop, close_time);
    }
    std::string list;
    int number = 0;
    for (const auto& tab : browser_->tabs()) {
      const bool may_see = refusal_of(call_, WebUrl::host_of(tab.url)).empty();
      list += fmt::format("{}. {}{}\n", ++number,
                          may_see ? fmt::format("\"{}\" {}", tab.title, tab.url.empty() ? "about:blank" : tab.url)
                                  : "(of a host that you may not reach)",
                          tab.id == browser_->active_tab() ? " (active)" : "");
    }
    co_return ToolOutcome{.output = std::move(list)};
  }

  std::string wanted_tab() const {
    const auto tabs = browser_->tabs();
    const auto* id = call_.input.if_contains("id");
    const auto number = id && id->is_int64() ? id->get_int64() : 0;
    if (number < 1 || number > std::ssize(tabs)) throw NotFound("tab not found");
    return tabs[static_cast<std::size_t>(number - 1)].id;
  }

  const std::shared_ptr<Browser> browser_;
  const ToolCall& call_;
  std::int64_t& next_ref_;
  std::string notes_;  ///< for the model, before the outline
};

}  // namespace

BrowserIntegration::BrowserIntegration(Browsers& browsers, IntegrationSettings settings)
    : Integration(std::move(settings)), browsers_(browsers) {}

Task<> BrowserIntegration::run(StopSource& stop) {
  offer(browser_tools());
  co_await pause(stop, until_stopped);
}

Task<ToolOutcome> BrowserIntegration::call(std::string tool, const ToolCall& call) {
  if (!contains(tools(), tool, &OfferedTool::name))
    co_return failed(fmt::format("{} has no tool {}", settings().name, tool));
  if (auto why = refusal_of(call, ""); !why.empty()) co_return failed(std::move(why));
  if (call.run.thread_id.empty()) co_return failed("a browser belongs to a chat: call it from one");
  BrowserCall one(co_await browsers_.open(call.run.thread_id), call, next_ref_);
  co_return co_await one.run(std::move(tool));
}

}  // namespace agw
