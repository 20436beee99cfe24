// What Chromium reports about its tabs.

#include <algorithm>
#include <array>
#include <utility>

#include "base/async/assert.hpp"
#include "base/json/json_values.hpp"
#include "base/text/utf8.hpp"
#include "features/browsers/browser.hpp"

namespace agw {

namespace {

/// More would be a site that opens windows without end.
constexpr std::size_t max_tabs = 20;
// In bytes.
constexpr std::size_t max_title = 300;
constexpr std::size_t max_url_length = 4096;
constexpr std::size_t max_dialog_text = 4096;
constexpr auto crash_title = "This page has crashed: reload it";

std::string text_of(const json::object& object, std::string_view name, std::size_t max) {
  return shortened(string_member(object, name).value_or(""), max);
}

}  // namespace

Browser::Event Browser::event_named(std::string_view method) {
  static constexpr std::array<std::pair<std::string_view, Event>, 7> events{
      {{"Page.frameStartedLoading", &Browser::on_loading},
       {"Page.frameStoppedLoading", &Browser::on_loaded},
       {"Page.frameNavigated", &Browser::on_navigated},
       {"Page.navigatedWithinDocument", &Browser::on_moved},
       {"Page.javascriptDialogOpening", &Browser::on_dialog},
       {"Page.javascriptDialogClosed", &Browser::on_dialog_closed},
       {"Page.screencastFrame", &Browser::on_picture}}};
  const auto* found = std::ranges::find(events, method, &std::pair<std::string_view, Event>::first);
  return found == events.end() ? nullptr : found->second;
}

void Browser::handle_event(const std::string& session, std::string_view method, const json::object& params) {
  if (method == "Target.attachedToTarget") return add_tab(params);
  if (method == "Target.detachedFromTarget") return remove_tab(string_or_empty(params, "sessionId"));
  if (method == "Target.targetInfoChanged") return note_target(object_or_empty(params, "targetInfo"));
  if (method == "Target.targetCrashed") return note_crash(string_or_empty(params, "targetId"));
  auto* tab = find_session(session);
  const auto event = event_named(method);
  if (tab && event) (this->*event)(*tab, params);
}

void Browser::add_tab(const json::object& params) {
  const auto session = string_or_empty(params, "sessionId");
  const auto info = object_or_empty(params, "targetInfo");
  const auto id = string_or_empty(info, "targetId");
  if (session.empty() || id.empty() || find(id)) return;
  if (tabs_.size() >= max_tabs) {
    // The site that opened it waits for it, and so do all tabs of that site.
    devtools_.post(session, "Runtime.runIfWaitingForDebugger");
    return devtools_.post({}, "Target.closeTarget", {{"targetId", id}});
  }
  tabs_.push_back({.shown = {.id = id}, .session = session});
  note_target(info);
  set_up_tab(session);
  // A window that the active tab has opened.
  if (active_.empty() || string_or_empty(info, "openerId") == active_) select_tab(id);
  note_change();
}

void Browser::set_up_tab(const std::string& session) {
  devtools_.post(session, "Page.enable");
  devtools_.post(session, "Page.setInterceptFileChooserDialog", {{"enabled", true}});
  devtools_.post(session, "Emulation.setFocusEmulationEnabled", {{"enabled", true}});
  if (!identity_.empty()) devtools_.post(session, "Emulation.setUserAgentOverride", identity_);
  devtools_.post(session, "Runtime.runIfWaitingForDebugger");
  // Its renderer answers. One that is asked for something earlier may crash.
  devtools_.post(session, "Runtime.evaluate", {{"expression", "1"}}, [this](const json::object&) {
    is_ready_ = true;
    changed_.pulse();
  });
}

void Browser::remove_tab(const std::string& session) {
  const auto found = std::ranges::find(tabs_, session, &Tab::session);
  if (found == tabs_.end()) return;
  const bool was_active = found->shown.id == active_;
  const auto place = static_cast<std::size_t>(found - tabs_.begin());
  tabs_.erase(found);
  devtools_.drop(session);
  note_change();
  if (!was_active) return;
  active_.clear();
  if (tabs_.empty()) return open_tab();
  select_tab(tabs_[std::min(place, tabs_.size() - 1)].shown.id);
}

void Browser::note_target(const json::object& info) {
  auto* tab = find(string_or_empty(info, "targetId"));
  if (!tab) return;
  const auto before = tab->shown;
  // It is empty while another page is being opened.
  if (auto url = text_of(info, "url", max_url_length); !url.empty()) tab->shown.url = std::move(url);
  tab->shown.title = tab->has_crashed ? crash_title : text_of(info, "title", max_title);
  if (tab->shown.title != before.title || tab->shown.url != before.url) note_change();
}

/// Chromium does not report that a script has changed a title.
void Browser::read_title(const std::string& id) {
  devtools_.post({}, "Target.getTargetInfo", {{"targetId", id}}, [this](const json::object& response) {
    if (const auto* result = object_member(response, "result")) note_target(object_or_empty(*result, "targetInfo"));
  });
}

/// The tab of a renderer that has crashed shows nothing more until it is loaded again.
void Browser::note_crash(const std::string& id) {
  auto* tab = find(id);
  if (!tab) return;
  tab->has_crashed = true;
  tab->shown.title = crash_title;
  tab->shown.is_loading = false;
  tab->dialog.reset();
  note_change();
}

void Browser::on_loading(Tab& tab, const json::object& params) {
  if (string_or_empty(params, "frameId") != tab.shown.id) return;
  tab.shown.is_loading = true;
  tab.has_crashed = false;
  note_change();
}

void Browser::on_loaded(Tab& tab, const json::object& params) {
  if (string_or_empty(params, "frameId") != tab.shown.id) return;
  tab.shown.is_loading = false;
  read_title(tab.shown.id);
  read_history(tab.shown.id);
  note_change();
}

void Browser::on_navigated(Tab& tab, const json::object& params) {
  const auto frame = object_or_empty(params, "frame");
  if (string_or_empty(frame, "id") != tab.shown.id) return;
  tab.shown.url = text_of(frame, "url", max_url_length);
  read_history(tab.shown.id);
  note_change();
}

void Browser::on_moved(Tab& tab, const json::object& params) {
  if (string_or_empty(params, "frameId") != tab.shown.id) return;
  tab.shown.url = text_of(params, "url", max_url_length);
  read_history(tab.shown.id);
  note_change();
}

void Browser::read_history(const std::string& id) {
  post(require(id), "Page.getNavigationHistory", {}, [this, id](const json::object& response) {
    auto* tab = find(id);
    const auto* result = object_member(response, "result");
    const auto* entries = result ? array_member(*result, "entries") : nullptr;
    if (!tab || !entries) return;
    const auto current = number_or_zero(*result, "currentIndex");
    const bool can_go_back = current > 0;
    const bool can_go_forward = current + 1 < static_cast<double>(entries->size());
    if (can_go_back == tab->can_go_back && can_go_forward == tab->can_go_forward) return;
    tab->can_go_back = can_go_back;
    tab->can_go_forward = can_go_forward;
    note_change();
  });
}

void Browser::on_dialog(Tab& tab, const json::object& params) {
  tab.dialog = BrowserDialog{.kind = string_or_empty(params, "type"),
                             .message = text_of(params, "message", max_dialog_text),
                             .default_text = text_of(params, "defaultPrompt", max_dialog_text)};
  if (!has_clients()) {
    dismissed_ = tab.dialog;
    answer(tab, tab.dialog->kind == "beforeunload", {});
  } else if (tab.shown.id == active_) {
    announce_dialog();
  }
  changed_.pulse();
}

void Browser::on_dialog_closed(Tab& tab, const json::object& /*params*/) {
  tab.dialog.reset();
  if (tab.shown.id == active_) announce_dialog();
  changed_.pulse();
}

void Browser::on_picture(Tab& tab, const json::object& params) {
  const auto data = string_member(params, "data").value_or("");
  const auto* number = params.if_contains("sessionId");
  // Whatever is no Base64 would end the string that it is sent in.
  if (tab.shown.id != active_ || !number || !number->is_int64() || data.find_first_of("\"\\") != data.npos) return;
  const auto about = object_or_empty(params, "metadata");
  ++picture_.number;
  const std::chrono::duration<double> taken_at(number_or_zero(about, "timestamp"));
  if (taken_at < started_at_.time_since_epoch()) first_picture_ = picture_.number + 1;
  picture_.data = data;
  picture_.width = number_or_zero(about, "deviceWidth");
  picture_.height = number_or_zero(about, "deviceHeight");
  picture_.scroll_x = number_or_zero(about, "scrollOffsetX");
  picture_.scroll_y = number_or_zero(about, "scrollOffsetY");
  unconfirmed_.push_back(number->get_int64());
  pass_picture();
}

void Browser::note_change() {
  tabs_changed_.notify();
  changed_.pulse();
}

}  // namespace agw
