#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/async/async_event.hpp"
#include "base/async/cancellation.hpp"
#include "base/async/task_group.hpp"
#include "base/json/json.hpp"
#include "features/browsers/client.hpp"
#include "features/browsers/devtools.hpp"
#include "features/browsers/types.hpp"
#include "io/process/blocking.hpp"
#include "io/process/process.hpp"
#include "io/proxy/proxied_network.hpp"
#include "tools/shell/disk_space_monitor.hpp"
#include "tools/shell/process_count_monitor.hpp"

namespace agw {

/// A Chromium in the sandbox, which persons (`BrowserClient`) and agents share. All act on the active tab and see the
/// same. Used on the loop; hold the shared pointer during a call, because the browser may end at any time: calls then
/// throw ApiError.
/// Example: src/features/browsers/browser_test.cpp: BrowserTest.HasATabOnceItIsReady
class Browser {
public:
  struct Parts {
    ProcessOptions process;  ///< Chromium, whose standard input and output are the pipes of the DevTools protocol
    std::shared_ptr<ProxiedNetwork> network{};             ///< of its sandbox; may be null
    std::function<void(const std::string& host)> allow{};  ///< lets it reach `host:port`
  };
  /// Starts Chromium. Throws ProcessError, std::system_error.
  Browser(Loop& loop, BlockingPool& blocking, BrowserLimits limits, Parts parts, DiskSpaceMonitor disks);
  ~Browser();
  Browser(const Browser&) = delete;
  Browser& operator=(const Browser&) = delete;

  // Its life.

  /// Returns when Chromium and everything that it started has ended. Call it once, immediately after construction.
  Task<> live();
  /// Waits until the first tab can be used. Throws ApiError if Chromium does not start.
  Task<> wait_until_ready();
  void end(BrowserEnd why);
  /// Why it has ended or is about to end; nullopt while it is running.
  std::optional<BrowserEnd> reason() const { return end_; }

  // What agents use. Every call throws ApiError: 502 with what Chromium answered, 504 if it or the page does not answer
  // in time (`stop` or `command_timeout`), 503 if the browser has ended.

  static constexpr std::chrono::seconds command_timeout{30};

  /// Shows the clients what an agent does: one sentence. Keeps the browser from ending as idle.
  void note_agent(std::string_view action);
  /// A command of the DevTools protocol to the active tab. Returns its `result`.
  Task<json::object> command(std::string method, json::object params, StopSource& stop);
  /// The value of a JavaScript expression (a promise is awaited) in an isolated world of the active tab's page: it sees
  /// the DOM, but no variable or replaced function of the site. Its globals last as long as the document. Throws 502
  /// with the exception's text.
  Task<json::value> evaluate(std::string expression, StopSource& stop);
  /// Opens the address (see `web_address`) in the active tab, and returns once the site has answered. Throws BadRequest
  /// for an address that is not of the web, 502 with Chromium's reason if it cannot be opened.
  Task<> navigate(std::string address, StopSource& stop);
  /// One page back or forward in the active tab; false if there is none.
  Task<bool> go_in_history(int steps, StopSource& stop);
  /// Waits until the active tab has loaded; false if it still loads after `limit`, or shows a dialog, or `stop`.
  Task<bool> wait_for_load(std::chrono::milliseconds limit, StopSource& stop);

  // Tabs. Throw NotFound `tab not found`.

  std::vector<BrowserTab> tabs() const;
  std::string active_tab() const { return active_; }
  /// Opens an empty tab and selects it.
  Task<> open_tab(StopSource& stop);
  void select_tab(const std::string& id);
  void close_tab(const std::string& id);

  /// The dialog of the active tab; null if there is none. Without a client it is dismissed at once, and stays
  /// readable in `dismissed_dialog` until the next call of it.
  const BrowserDialog* dialog() const;
  void answer_dialog(bool accept, std::string_view text = {});
  /// The last dialog that was dismissed because no client was there; forgets it.
  std::optional<BrowserDialog> take_dismissed_dialog();

  // What clients use.

  bool has_clients() const { return !clients_.empty(); }
  /// `client` must exist until `detach`.
  void attach(BrowserClient& client);
  void detach(BrowserClient& client);
  /// The client has shown its last picture.
  void note_shown();
  void resize(ViewSize size);
  /// Sends a command to the active tab in the order of the calls, without waiting for its response. Throws
  /// TooManyRequests if the page does not answer; a `droppable` one is dropped then.
  void send_input(std::string method, json::object params, bool droppable);
  /// To an address, or `back`, `forward`, `reload`, `stop`. Failures are reported to the clients.
  void go(std::string to);
  void open_tab();
  /// Sends the selected text to the client once the page has answered.
  void copy(BrowserClient& client);
  /// Sends the element at that place of the view, in CSS pixels, in the same way.
  void inspect(BrowserClient& client, double x, double y);
  /// Lets it reach a host that was refused.
  void allow(const std::string& host);
  /// Tells the clients about a refused connection.
  void report_refusal(const std::string& host, std::string_view reason, bool can_allow);

private:
  struct Tab {
    BrowserTab shown;
    std::string session;
    std::size_t inputs = 0;  ///< without a response
    bool can_go_back = false;
    bool can_go_forward = false;
    bool has_crashed = false;
    std::optional<BrowserDialog> dialog{};
  };
  using Event = void (Browser::*)(Tab& tab, const json::object& params);

  // browser.cpp: its life and its clients.
  void set_up();
  Task<> read_messages();
  Task<> read_errors();
  Task<> announce_tabs();
  Task<> follow_page();
  Task<> watch_limits();
  std::optional<BrowserEnd> reached_limit() const;
  void note_use() { last_use_ = std::chrono::steady_clock::now(); }
  void send(const json::object& message) const;
  json::object tabs_message() const;
  void report_failure(const json::object& response, std::string_view what) const;
  void pass_picture();
  void start_pictures();
  void stop_pictures();
  Task<> renew_pictures();

  // browser_events.cpp: what Chromium reports.
  static Event event_named(std::string_view method);
  void handle_event(const std::string& session, std::string_view method, const json::object& params);
  void add_tab(const json::object& params);
  void set_up_tab(const std::string& session);
  void remove_tab(const std::string& session);
  void note_target(const json::object& info);
  void note_crash(const std::string& id);
  void read_title(const std::string& id);
  void read_history(const std::string& id);
  void on_loading(Tab& tab, const json::object& params);
  void on_loaded(Tab& tab, const json::object& params);
  void on_navigated(Tab& tab, const json::object& params);
  void on_moved(Tab& tab, const json::object& params);
  void on_dialog(Tab& tab, const json::object& params);
  void on_dialog_closed(Tab& tab, const json::object& params);
  void on_picture(Tab& tab, const json::object& params);
  void note_change();

  // browser_commands.cpp: what clients and agents do.
  Task<> fetch(std::string session, std::string method, json::object params, json::object& response);
  Task<json::object> request(std::string session, std::string method, json::object params, StopSource& stop);
  void post(const Tab& tab, std::string_view method, json::object params = {}, DevTools::Answered answered = {});
  using MessageOf = json::object (*)(const json::value& answer);  // throws ApiError
  void ask_page(BrowserClient& client, std::string expression, MessageOf message_of);
  Task<> answer_from_page(BrowserClient* client, std::string expression, MessageOf message_of);
  json::object dialog_message() const;
  void announce_dialog() const { send(dialog_message()); }
  Task<> free_page(std::string id);
  Task<> leave_page(std::string id, std::string to);
  void go_to_entry(const std::string& id, int steps);
  Tab* find(const std::string& id);
  Tab* find_session(const std::string& session);
  Tab& require(const std::string& id);
  Tab& active();
  void answer(Tab& tab, bool accept, std::string_view text);

  using TimePoint = std::chrono::steady_clock::time_point;

  BlockingPool& blocking_;
  const BrowserLimits limits_;
  std::shared_ptr<ProxiedNetwork> network_;
  std::function<void(const std::string&)> allow_;
  std::shared_ptr<void> held_;  ///< keeps resources of the sandbox alive
  Process process_;
  DevTools devtools_;
  DiskSpaceMonitor disks_;
  ProcessCountMonitor processes_;
  TaskGroup working_;
  AsyncEvent changed_;       ///< pulsed when tabs, dialogs or the end have changed
  AsyncEvent tabs_changed_;  ///< the clients do not know yet
  AsyncEvent pipe_closed_;
  StopSource stop_;
  std::optional<BrowserEnd> end_;
  bool is_ready_ = false;   ///< a tab answers
  bool has_ended_ = false;  ///< all its processes
  std::string errors_;      ///< the end of what Chromium has printed
  json::object identity_;   ///< by which tabs introduce themselves to sites

  std::vector<Tab> tabs_;
  std::string active_;  ///< the id of a tab; empty only while there is none
  ViewSize size_;
  std::optional<BrowserDialog> dismissed_;
  std::map<std::string, TimePoint> refused_;  ///< when each host was reported
  TimePoint began_ = std::chrono::steady_clock::now();
  TimePoint last_use_ = began_;

  std::vector<BrowserClient*> clients_;
  BrowserPicture picture_;
  std::vector<std::int64_t> unconfirmed_;  ///< the pictures that Chromium may not follow up yet, by its numbers
  std::chrono::system_clock::time_point started_at_;  ///< when the pictures were started, by the clock of Chromium
  std::int64_t first_picture_ = 1;                    ///< the number of the first one since then
  bool is_renewed_ = false;                           ///< they were started by `renew_pictures`
};

using BrowserPointer = std::shared_ptr<Browser>;

/// The address that a person or an agent means: without a scheme `https://` is added, or `http://` for `localhost` and
/// IP addresses. Throws BadRequest for other schemes than http, https and `about:blank`.
std::string web_address(std::string_view text);

}  // namespace agw
