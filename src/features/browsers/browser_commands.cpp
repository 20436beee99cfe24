// What clients and agents do in a browser.

#include <algorithm>
#include <array>
#include <utility>

#include <fmt/format.h>
#include <boost/asio/ip/address.hpp>

#include "api/error.hpp"
#include "base/async/assert.hpp"
#include "base/containers.hpp"
#include "base/json/json_values.hpp"
#include "base/text/ascii.hpp"
#include "base/text/utf8.hpp"
#include "features/browsers/browser.hpp"
#include "features/browsers/page_element.hpp"

namespace agw {

using namespace std::chrono_literals;

namespace {

constexpr std::size_t max_inputs = 256;
constexpr std::size_t max_copied = 100'000;  // characters
constexpr std::chrono::milliseconds hang_patience = 2s;
constexpr std::array<std::string_view, 4> moves{"back", "forward", "reload", "stop"};
constexpr auto empty_page = "about:blank";
constexpr auto isolated_world = "agent-gateway";

/// The selected text of the page, or of the field that has the focus. Passwords are not copied, as in any browser.
constexpr auto selection = R"js((() => {
  let field = document.activeElement;
  for (;;) {
    const inner = field?.shadowRoot?.activeElement ?? field?.contentDocument?.activeElement;
    if (!inner) break;
    field = inner;
  }
  if (field?.type !== 'password' && typeof field?.selectionStart === 'number')
    return field.value.slice(field.selectionStart, field.selectionEnd);
  return String((field?.ownerDocument ?? document).getSelection());
})())js";

std::string error_in(const json::object& response) {
  const auto* error = object_member(response, "error");
  return error ? string_or_empty(*error, "message") : std::string();
}

json::object result_in(json::object response, std::string_view method) {
  if (const auto error = error_in(response); !error.empty()) throw BadGateway(fmt::format("{}: {}", method, error));
  return object_or_empty(response, "result");
}

/// The text of an exception in the page's script.
std::string exception_in(const json::object& details) {
  const auto* exception = object_member(details, "exception");
  auto text = exception ? string_or_empty(*exception, "description") : std::string();
  return text.empty() ? string_or_empty(details, "text") : text;
}

bool is_local(std::string_view host) {
  boost::system::error_code no_address;
  const std::string inner(host.starts_with('[') ? host.substr(1, host.find(']') - 1) : host);
  asio::ip::make_address(inner, no_address);
  return host == "localhost" || host.ends_with(".localhost") || !no_address;
}

/// The length of the scheme before `:`; 0 if there is none. What follows is no port.
std::size_t scheme_length(std::string_view text) {
  const auto colon = text.find(':');
  if (colon == text.npos || colon == 0 || text.substr(0, colon).find_first_of("/.?#[") != text.npos) return 0;
  const bool is_port = colon + 1 < text.size() && text[colon + 1] >= '0' && text[colon + 1] <= '9';
  return is_port ? 0 : colon;
}

/// The id of the entry `steps` after the current one in a tab's history; null if there is none.
const json::value* history_entry(const json::object& history, int steps) {
  const auto* entries = array_member(history, "entries");
  const auto* current = history.if_contains("currentIndex");
  if (!entries || !current || !current->is_int64()) return nullptr;
  const auto wanted = current->get_int64() + steps;
  if (wanted < 0 || wanted >= static_cast<std::int64_t>(entries->size())) return nullptr;
  const auto* entry = (*entries)[static_cast<std::size_t>(wanted)].if_object();
  return entry ? entry->if_contains("id") : nullptr;
}

json::object copied_message(const json::value& text) {
  return {{"type", "copied"},
          {"text", text.is_string() ? first_characters(text.get_string(), max_copied) : std::string_view()}};
}

}  // namespace

std::string web_address(std::string_view text) {
  text.remove_prefix(std::min(text.find_first_not_of(white_space), text.size()));
  text = text.substr(0, text.find_last_not_of(white_space) + 1);
  if (text == empty_page) return std::string(text);
  const auto length = scheme_length(text);
  const auto scheme = lower_case(text.substr(0, length));
  if (text.empty() || (length > 0 && scheme != "http" && scheme != "https"))
    throw BadRequest("only addresses that begin with http:// or https:// can be opened");
  if (length > 0) return std::string(text);
  const auto rest = text.find_first_of("/?#");
  auto host = text.substr(0, rest);
  if (const auto colon = host.rfind(':'); colon != host.npos && !host.ends_with(']')) host = host.substr(0, colon);
  return (is_local(host) ? "http://" : "https://") + std::string(text);
}

Browser::Tab* Browser::find(const std::string& id) {
  const auto found = std::ranges::find(tabs_, id, [](const Tab& tab) -> const std::string& { return tab.shown.id; });
  return found == tabs_.end() ? nullptr : &*found;
}

Browser::Tab* Browser::find_session(const std::string& session) {
  const auto found = std::ranges::find(tabs_, session, &Tab::session);
  return found == tabs_.end() ? nullptr : &*found;
}

Browser::Tab& Browser::require(const std::string& id) {
  auto* tab = find(id);
  if (!tab) throw NotFound("tab not found");
  return *tab;
}

Browser::Tab& Browser::active() {
  auto* tab = find(active_);
  if (!tab || end_) throw ApiError(503, end_ ? "the browser has ended" : "the browser has no tab yet");
  return *tab;
}

void Browser::post(const Tab& tab, std::string_view method, json::object params, DevTools::Answered answered) {
  devtools_.post(tab.session, method, std::move(params), std::move(answered));
}

Task<> Browser::fetch(std::string session, std::string method, json::object params, json::object& response) {
  response = co_await devtools_.call(std::move(session), std::move(method), std::move(params));
}

Task<json::object> Browser::request(std::string session, std::string method, json::object params, StopSource& stop) {
  note_use();
  json::object response;
  const auto name = method;
  const auto waited = co_await with_timeout(stop, command_timeout,
                                            fetch(std::move(session), std::move(method), std::move(params), response));
  if (waited != WaitResult::done)
    throw ApiError(504, "the page does not answer: it may be busy, or wait for the answer to a dialog");
  co_return result_in(std::move(response), name);
}

/// A script that does not end by itself would keep its tab from opening another page.
Task<> Browser::free_page(std::string id) {
  const auto* tab = find(id);
  if (!tab || tab->dialog || tab->has_crashed) co_return;
  const auto session = tab->session;
  json::object response;
  for (const bool is_last : {false, true}) {
    const auto probed = co_await with_timeout(stop_, hang_patience,
                                              fetch(session, "Runtime.evaluate", {{"expression", "1"}}, response));
    if (probed != WaitResult::timed_out || is_last) co_return;
    devtools_.post(session, "Runtime.terminateExecution");
  }
}

Task<json::object> Browser::command(std::string method, json::object params, StopSource& stop) {
  co_return co_await request(active().session, std::move(method), std::move(params), stop);
}

Task<json::value> Browser::evaluate(std::string expression, StopSource& stop) {
  if (active().has_crashed) throw BadGateway("the page has crashed: open its address again");
  const auto session = active().session;
  // Returns the same world until another document is loaded.
  const auto world = co_await request(session, "Page.createIsolatedWorld",
                                      {{"frameId", active_}, {"worldName", isolated_world}}, stop);
  const auto* context = world.if_contains("executionContextId");
  if (!context) throw BadGateway("the page has no world for scripts");
  auto result = co_await request(
      session, "Runtime.evaluate",
      {{"expression", expression}, {"contextId", *context}, {"returnByValue", true}, {"awaitPromise", true}}, stop);
  if (const auto* details = object_member(result, "exceptionDetails")) throw BadGateway(exception_in(*details));
  const auto* object = object_member(result, "result");
  const auto* value = object ? object->if_contains("value") : nullptr;
  co_return value ? *value : json::value();
}

Task<> Browser::navigate(std::string address, StopSource& stop) {
  const auto url = web_address(address);
  co_await free_page(active_);
  const auto result = co_await command("Page.navigate", {{"url", url}}, stop);
  const auto error = string_or_empty(result, "errorText");
  if (!error.empty()) throw BadGateway(fmt::format("{} cannot be opened: {}", url, error));
}

Task<bool> Browser::go_in_history(int steps, StopSource& stop) {
  co_await free_page(active_);
  const auto history = co_await command("Page.getNavigationHistory", {}, stop);
  const auto* id = history_entry(history, steps);
  if (!id) co_return false;
  co_await command("Page.navigateToHistoryEntry", {{"entryId", *id}}, stop);
  co_return true;
}

Task<bool> Browser::wait_for_load(std::chrono::milliseconds limit, StopSource& stop) {
  const auto loaded = [](Browser& self) -> Task<> {
    for (;;) {
      const auto* tab = self.find(self.active_);
      if (self.end_ || (tab && (!tab->shown.is_loading || tab->dialog))) co_return;
      co_await self.changed_.wait();
    }
  };
  note_use();
  co_await with_timeout(stop, limit, loaded(*this));
  const auto* tab = find(active_);
  co_return tab && !tab->shown.is_loading && !tab->dialog;
}

std::vector<BrowserTab> Browser::tabs() const {
  std::vector<BrowserTab> out;
  out.reserve(tabs_.size());
  for (const auto& tab : tabs_) out.push_back(tab.shown);
  return out;
}

Task<> Browser::open_tab(StopSource& stop) {
  const auto result = co_await request({}, "Target.createTarget", {{"url", empty_page}}, stop);
  // Chromium reports the tab before it answers.
  select_tab(string_or_empty(result, "targetId"));
  // As when the first tab is set up.
  co_await command("Runtime.evaluate", {{"expression", "1"}}, stop);
}

void Browser::open_tab() {
  devtools_.post({}, "Target.createTarget", {{"url", empty_page}}, [this](const json::object& response) {
    const auto* result = object_member(response, "result");
    const auto id = result ? string_or_empty(*result, "targetId") : std::string();
    if (find(id)) select_tab(id);
  });
}

void Browser::select_tab(const std::string& id) {
  auto& tab = require(id);
  if (id != active_) stop_pictures();
  active_ = id;
  post(tab, "Page.bringToFront");
  resize(size_);
  start_pictures();
  if (tab.dialog) announce_dialog();
  note_change();
}

void Browser::close_tab(const std::string& id) {
  require(id);
  devtools_.post({}, "Target.closeTarget", {{"targetId", id}});
}

const BrowserDialog* Browser::dialog() const {
  const auto found =
      std::ranges::find(tabs_, active_, [](const Tab& tab) -> const std::string& { return tab.shown.id; });
  return found != tabs_.end() && found->dialog ? &*found->dialog : nullptr;
}

json::object Browser::dialog_message() const {
  const auto* asked = dialog();
  if (!asked) return {{"type", "dialogClosed"}};
  return {{"type", "dialog"}, {"kind", asked->kind}, {"message", asked->message}, {"default", asked->default_text}};
}

void Browser::answer_dialog(bool accept, std::string_view text) {
  note_use();
  answer(active(), accept, text);
}

void Browser::answer(Tab& tab, bool accept, std::string_view text) {
  if (!std::exchange(tab.dialog, {})) return;
  post(tab, "Page.handleJavaScriptDialog", {{"accept", accept}, {"promptText", text}});
}

std::optional<BrowserDialog> Browser::take_dismissed_dialog() { return std::exchange(dismissed_, {}); }

void Browser::resize(ViewSize size) {
  size_ = size;
  if (auto* tab = find(active_))
    post(*tab, "Emulation.setDeviceMetricsOverride",
         {{"width", size.width}, {"height", size.height}, {"deviceScaleFactor", 1}, {"mobile", false}});
}

void Browser::send_input(std::string method, json::object params, bool droppable) {
  auto& tab = active();
  note_use();
  if (tab.inputs >= max_inputs || devtools_.is_full()) {
    if (droppable) return;
    throw TooManyRequests("the page does not take so much input");
  }
  ++tab.inputs;
  post(tab, method, std::move(params), [this, id = tab.shown.id](const json::object&) {
    auto* answered = find(id);
    if (answered) --answered->inputs;
  });
}

void Browser::go(std::string to) {
  note_use();
  const auto id = active().shown.id;
  if (!contains(moves, to)) web_address(to);
  if (!stop_.requested()) working_.spawn(leave_page(id, std::move(to)));
}

Task<> Browser::leave_page(std::string id, std::string to) {
  co_await free_page(id);
  const auto* tab = find(id);
  if (!tab) co_return;
  const auto report = [this, to](const json::object& response) { report_failure(response, to); };
  if (to == "back" || to == "forward") co_return go_to_entry(id, to == "back" ? -1 : 1);
  if (to == "reload") co_return post(*tab, "Page.reload", {}, report);
  if (to == "stop") co_return post(*tab, "Page.stopLoading", {}, report);
  post(*tab, "Page.navigate", {{"url", web_address(to)}}, report);
}

void Browser::go_to_entry(const std::string& id, int steps) {
  post(require(id), "Page.getNavigationHistory", {}, [this, id, steps](const json::object& response) {
    auto* tab = find(id);
    const auto* history = object_member(response, "result");
    const auto* entry = tab && history ? history_entry(*history, steps) : nullptr;
    if (entry) post(*tab, "Page.navigateToHistoryEntry", {{"entryId", *entry}});
  });
}

void Browser::copy(BrowserClient& client) { ask_page(client, selection, copied_message); }

void Browser::inspect(BrowserClient& client, double x, double y) {
  ask_page(client, element_at(x, y), inspected_message);
}

void Browser::ask_page(BrowserClient& client, std::string expression, MessageOf message_of) {
  if (!stop_.requested()) working_.spawn(answer_from_page(&client, std::move(expression), message_of));
}

Task<> Browser::answer_from_page(BrowserClient* client, std::string expression, MessageOf message_of) {
  json::object message;
  try {
    message = message_of(co_await evaluate(std::move(expression), stop_));
  } catch (const ApiError& error) {
    message = {{"type", "error"}, {"status", error.status()}, {"error", error.error()}};
  }
  // It may have left in the meantime.
  if (contains(clients_, client)) client->send(message);
}

}  // namespace agw
