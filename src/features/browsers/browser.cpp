// A browser's life, and what its clients see. browser_events.cpp has what Chromium reports, browser_commands.cpp what
// clients and agents do.
//
// Pictures: Chromium sends a picture of the active tab after each change, until two are not confirmed. They are
// confirmed when a client takes the newest one; a client takes one once it has shown the one before. So Chromium makes
// as many as the fastest client shows, and none without a client. Pictures that it could not send while two were not
// confirmed are lost, also the last one of an animation, and on a busy machine a start may bring none at all.
// Therefore, when none follows, the pictures are started anew, until that has brought exactly one.

#include "features/browsers/browser.hpp"

#include <utility>

#include <fmt/format.h>

#include "api/error.hpp"
#include "base/async/assert.hpp"
#include "base/containers.hpp"
#include "base/error.hpp"
#include "base/json/json_values.hpp"
#include "base/log.hpp"
#include "base/text/utf8.hpp"
#include "features/browsers/identity.hpp"

namespace agw {

using namespace std::chrono_literals;

namespace {

constexpr auto check_interval = 1s;
constexpr std::chrono::milliseconds stopping_grace{1'000};
/// Sites change titles as often as they like.
constexpr auto announcement_interval = 50ms;
constexpr auto page_interval = 500ms;
constexpr auto picture_patience = 100ms;
constexpr auto picture_start_patience = 1s;
constexpr auto refusal_interval = 1min;
constexpr std::size_t max_refused_hosts = 1000;
constexpr std::size_t max_errors = 4096;
constexpr int picture_quality = 80;

}  // namespace

Browser::Browser(Loop& loop, BlockingPool& blocking, BrowserLimits limits, Parts parts, DiskSpaceMonitor disks)
    : blocking_(blocking),
      limits_(limits),
      network_(std::move(parts.network)),
      allow_(std::move(parts.allow)),
      held_(parts.process.kept),
      process_(loop, std::move(parts.process)),
      devtools_(loop, process_,
                [this](const std::string& session, std::string_view method, const json::object& params) {
                  handle_event(session, method, params);
                }),
      disks_(std::move(disks)),
      processes_(limits.processes),
      working_(loop),
      changed_(loop),
      tabs_changed_(loop),
      pipe_closed_(loop) {
  working_.on_failure([this](const std::exception_ptr& failure) {
    log::error("a browser ends: {}", message_of(failure));
    end(BrowserEnd::crashed);
  });
}

Browser::~Browser() { AGW_ASSERT(clients_.empty()); }

Task<> Browser::live() {
  AGW_ASSERT(!stop_.requested() || end_);
  working_.spawn(devtools_.write_all());
  working_.spawn(read_messages());
  working_.spawn(read_errors());
  working_.spawn(announce_tabs());
  working_.spawn(follow_page());
  working_.spawn(renew_pictures());
  working_.spawn(watch_limits());
  working_.spawn(disks_.watch(blocking_, stop_));
  working_.spawn(processes_.watch(stop_));
  set_up();
  if (co_await with_timeout(stop_, no_limit, pipe_closed_.wait()) == WaitResult::done && !end_) {
    end(BrowserEnd::crashed);
    log::warn("a browser has ended by itself: {}", errors_);
  }
  stop_.request();
  if (disks_.is_disk_low()) end_ = BrowserEnd::disk;
  if (processes_.has_too_many()) end_ = BrowserEnd::processes;
  for (auto* client : std::exchange(clients_, {})) client->leave(end_.value_or(BrowserEnd::stopped));
  // So that it writes cookies and the like.
  devtools_.post({}, "Browser.close");
  StopSource never;
  co_await with_timeout(never, end_ == BrowserEnd::stopped ? stopping_grace : limits_.closing_grace,
                        pipe_closed_.wait());
  co_await process_.end(0ms);
  working_.cancel();
  co_await working_.join();
  devtools_.end();
  if (network_) co_await network_->close();
  // A mount point is removed only after the unmount, which must not block the loop.
  co_await blocking_.run([held = std::move(held_)] {});
  has_ended_ = true;
  changed_.pulse();
}

/// The commands for Chromium as a whole.
void Browser::set_up() {
  devtools_.post({}, "Browser.setDownloadBehavior", {{"behavior", "deny"}});
  // Rejects all that are not in the list.
  devtools_.post({}, "Browser.grantPermissions", {{"permissions", json::array()}});
  // Chromium answers in order, so this is known before the first tab.
  devtools_.post({}, "Browser.getVersion", {}, [this](const json::object& response) {
    if (const auto* version = object_member(response, "result"))
      identity_ = ordinary_identity(string_or_empty(*version, "product"));
  });
  const json::array pages{json::object{{"type", "page"}}};
  devtools_.post({}, "Target.setDiscoverTargets", {{"discover", true}, {"filter", pages}});
  devtools_.post({}, "Target.setAutoAttach",
                 {{"autoAttach", true}, {"waitForDebuggerOnStart", true}, {"flatten", true}, {"filter", pages}});
}

Task<> Browser::read_messages() {
  co_await devtools_.read_all();
  pipe_closed_.notify();
}

Task<> Browser::read_errors() {
  for (;;) {
    const auto bytes = co_await process_.read(ProcessStream::error);
    if (bytes.empty()) co_return;
    errors_ += to_utf8(bytes);
    if (errors_.size() > max_errors) errors_ = to_utf8(errors_.substr(errors_.size() - max_errors / 2));
  }
}

Task<> Browser::wait_until_ready() {
  const auto started = [](Browser& self) -> Task<> {
    while (!self.is_ready_ && !self.has_ended_) co_await self.changed_.wait();
  };
  StopSource never;
  if (co_await with_timeout(never, limits_.start, started(*this)) != WaitResult::done) end(BrowserEnd::crashed);
  if (end_ == BrowserEnd::stopped) throw ApiError(503, "the gateway stops");
  if (end_)
    throw ApiError(503, fmt::format("no browser can be opened: {}", errors_.empty() ? "Chromium has ended" : errors_));
}

void Browser::end(BrowserEnd why) {
  if (!end_) end_ = why;
  stop_.request();
  changed_.pulse();
}

Task<> Browser::watch_limits() {
  while (co_await pause(stop_, check_interval) == WaitResult::done) {
    if (has_clients()) note_use();
    if (const auto reached = reached_limit()) end(*reached);
  }
}

std::optional<BrowserEnd> Browser::reached_limit() const {
  const auto now = std::chrono::steady_clock::now();
  if (now - began_ > limits_.lifetime) return BrowserEnd::lifetime;
  if (now - last_use_ > limits_.idle) return BrowserEnd::idle;
  return std::nullopt;
}

void Browser::send(const json::object& message) const {
  for (auto* client : clients_) client->send(message);
}

void Browser::attach(BrowserClient& client) {
  AGW_ASSERT(!contains(clients_, &client));
  if (end_) return client.leave(*end_);
  clients_.push_back(&client);
  note_use();
  client.send(tabs_message());
  if (dialog()) client.send(dialog_message());
  if (clients_.size() == 1) return start_pictures();
  pass_picture();
}

void Browser::detach(BrowserClient& client) {
  if (std::erase(clients_, &client) == 0) return;
  if (clients_.empty() && !end_) stop_pictures();
}

Task<> Browser::announce_tabs() {
  for (;;) {
    co_await tabs_changed_.wait();
    tabs_changed_.reset();
    send(tabs_message());
    co_await pause(stop_, announcement_interval);
  }
}

Task<> Browser::follow_page() {
  while (co_await pause(stop_, page_interval) == WaitResult::done) {
    if (!has_clients() || !find(active_)) continue;
    read_title(active_);
    // The page may report a navigation before Chromium has added it to the history.
    read_history(active_);
  }
}

json::object Browser::tabs_message() const {
  json::array list;
  json::object message{{"type", "tabs"}, {"activeId", active_}, {"canGoBack", false}, {"canGoForward", false}};
  for (const auto& tab : tabs_) {
    const auto& shown = tab.shown;
    list.push_back(
        json::object{{"id", shown.id}, {"title", shown.title}, {"url", shown.url}, {"isLoading", shown.is_loading}});
    if (shown.id != active_) continue;
    message["canGoBack"] = tab.can_go_back;
    message["canGoForward"] = tab.can_go_forward;
  }
  message["tabs"] = std::move(list);
  return message;
}

void Browser::note_agent(std::string_view action) {
  note_use();
  send({{"type", "agent"}, {"action", action}});
}

void Browser::report_refusal(const std::string& host, std::string_view reason, bool can_allow) {
  const auto now = std::chrono::steady_clock::now();
  if (refused_.size() >= max_refused_hosts) refused_.clear();
  const auto [at, is_first] = refused_.try_emplace(host, now);
  if (!is_first && now - at->second < refusal_interval) return;
  at->second = now;
  send({{"type", "refused"}, {"host", host}, {"reason", reason}, {"canAllow", can_allow}});
}

void Browser::allow(const std::string& host) {
  if (!refused_.contains(host)) throw NotFound("this host was not refused");
  refused_.erase(host);
  if (allow_) allow_(host);
}

/// Tells the clients about a command that failed.
void Browser::report_failure(const json::object& response, std::string_view what) const {
  std::string why;
  if (const auto* error = object_member(response, "error")) why = string_or_empty(*error, "message");
  if (const auto* result = object_member(response, "result")) why = string_or_empty(*result, "errorText");
  // Another navigation has taken its place.
  if (why.empty() || why == "net::ERR_ABORTED") return;
  send({{"type", "error"}, {"status", 502}, {"error", fmt::format("{}: {}", what, why)}});
}

void Browser::note_shown() { pass_picture(); }

void Browser::pass_picture() {
  bool is_taken = false;
  for (auto* client : clients_) is_taken = client->offer(picture_) || is_taken;
  auto* tab = find(active_);  // null while the last one was closed
  if (!is_taken || !tab) return;
  for (const auto number : std::exchange(unconfirmed_, {}))
    post(*tab, "Page.screencastFrameAck", {{"sessionId", number}});
}

/// Starts the pictures anew if none follows and the last one may be lost.
Task<> Browser::renew_pictures() {
  auto last = picture_.number;
  while (co_await pause(stop_, picture_patience) == WaitResult::done) {
    const bool has_followed = std::exchange(last, picture_.number) != picture_.number;
    if (has_followed || !has_clients() || !unconfirmed_.empty()) continue;
    const bool may_be_lost = picture_.number < first_picture_
                                 ? std::chrono::system_clock::now() - started_at_ > picture_start_patience
                                 : !is_renewed_ || picture_.number > first_picture_;
    if (!may_be_lost) continue;
    start_pictures();
    is_renewed_ = true;
  }
}

void Browser::start_pictures() {
  auto* tab = find(active_);
  if (!tab || !has_clients()) return;
  unconfirmed_.clear();
  picture_.data.clear();
  started_at_ = std::chrono::system_clock::now();
  first_picture_ = picture_.number + 1;
  is_renewed_ = false;
  post(*tab, "Page.stopScreencast");
  post(*tab, "Page.startScreencast", {{"format", "jpeg"}, {"quality", picture_quality}});
}

void Browser::stop_pictures() {
  unconfirmed_.clear();
  picture_.data.clear();
  if (auto* tab = find(active_)) post(*tab, "Page.stopScreencast");
}

}  // namespace agw
