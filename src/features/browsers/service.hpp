#pragma once

#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "api/message_socket.hpp"
#include "base/async/async_event.hpp"
#include "base/async/task_group.hpp"
#include "base/json/json.hpp"
#include "features/browsers/types.hpp"

namespace agw {

struct Route;
class BlockingPool;
class Browser;
class Extensions;
class Sandbox;
class Threads;
struct DataDirectory;
struct Settings;

/// One web browser per thread, which persons and agents share (features/browsers/browser.hpp). It runs in the sandbox
/// without any directory of the person's; its profile is `browsers/<thread id>/` in the data directory and is deleted
/// with the thread. Used on the loop.
class Browsers {
public:
  struct Options {
    bool allowed = true;                ///< false: `browser: deny` of config.yaml
    std::string program{};              ///< the path of Chromium; empty: the first one in PATH
    std::filesystem::path directory{};  ///< for profiles
    BrowserLimits limits{};
  };
  Browsers(Loop& loop, BlockingPool& blocking, const Sandbox& sandbox, Threads& threads, const Extensions& extensions,
           Options options);
  ~Browsers();
  Browsers(const Browsers&) = delete;
  Browsers& operator=(const Browsers&) = delete;

  /// Removes profiles of threads that no longer exist, in the background.
  void start();
  /// Ends all browsers, and waits until all their processes have ended.
  Task<> stop();

  /// Why no browser can be opened at all (`browser: deny`, no sandbox, no Chromium), for people; nullopt if one can.
  std::optional<std::string> problem() const;

  /// The browser of the thread, which is started if necessary. Throws ApiError: 403, 404 `thread not found`, 429, 503.
  Task<std::shared_ptr<Browser>> open(std::string thread_id);

  /// Serves the socket of a person who opens a browser or joins it.
  Task<> serve(Request& request, MessageSocket& socket);

private:
  using Pointer = std::shared_ptr<Browser>;
  struct Reach;
  struct ScopedStart;
  void require_possible() const;
  Task<std::pair<Pointer, bool>> join(std::string thread_id);
  Task<Pointer> start(std::string thread_id);
  Task<> run(std::string thread_id, Pointer browser);
  std::filesystem::path profile(const std::string& thread_id) const;
  Task<> forget(std::string thread_id);
  Task<> remove_profile(std::string thread_id);
  Task<> remove_old_profiles();

  Loop& loop_;
  BlockingPool& blocking_;
  const Sandbox& sandbox_;
  Threads& threads_;
  const Extensions& extensions_;
  const Options options_;
  std::map<std::string, Pointer> browsers_;  ///< by the id of the thread
  std::set<std::string> starting_;           ///< threads whose browser is not yet in `browsers_`
  std::set<std::string> forgotten_;          ///< threads that were deleted, whose browser has not ended
  AsyncEvent ended_;                         ///< pulsed when one has ended or was started
  bool is_ending_ = false;
  TaskGroup life_;
};

/// The WebSocket `/browsers`.
std::vector<Route> browser_routes(Browsers& browsers);

/// The options in the configuration.
Browsers::Options browser_options(const Settings& settings, const DataDirectory& directory);

}  // namespace agw
