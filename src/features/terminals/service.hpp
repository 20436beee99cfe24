#pragma once

#include <filesystem>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "api/message_socket.hpp"
#include "base/async/task_group.hpp"
#include "base/json/json.hpp"
#include "features/terminals/types.hpp"
#include "tools/place.hpp"

namespace agw {

struct Route;
class BlockingPool;
class Extensions;
class Projects;
class Sandbox;
class Terminal;
class TerminalClient;
struct DataDirectory;
struct Settings;

/// Terminals for people, in the directory of a project or an agent's workspace. Their shells run in the sandbox, with
/// exactly the rights of a command of an agent at the highest stage: only that directory is writable, and only public
/// hosts are reachable. Agents cannot use terminals. Used on the loop.
class Terminals {
public:
  struct Options {
    bool allowed = true;  ///< false: `terminals: deny` of config.yaml
    std::filesystem::path home;
    std::filesystem::path data_directory;
    TerminalLimits limits{};
  };
  Terminals(Loop& loop, BlockingPool& blocking, const Sandbox& sandbox, const Projects& projects,
            const Extensions& extensions, Options options);
  ~Terminals();
  Terminals(const Terminals&) = delete;
  Terminals& operator=(const Terminals&) = delete;

  /// Serves the socket of a person who opens a terminal or reconnects to one.
  Task<> serve(Request& request, MessageSocket& socket);

  /// Ends all terminals, and waits until all their processes have ended.
  Task<> stop();

private:
  using Pointer = std::shared_ptr<Terminal>;
  struct Place {
    FileRoots roots;
    std::function<bool()> exists;
  };
  Task<Pointer> open(const json::object& wanted, TerminalClient& client);
  Task<Pointer> start(const json::object& wanted, const std::string& id);
  void require_possible() const;
  Place place_for(const json::object& wanted) const;
  Task<> run(std::string id, Pointer terminal);

  Loop& loop_;
  BlockingPool& blocking_;
  const Sandbox& sandbox_;
  const Projects& projects_;
  const Extensions& extensions_;
  const Options options_;
  std::map<std::string, Pointer> terminals_;  ///< by id
  std::size_t starting_ = 0;
  bool is_ending_ = false;
  TaskGroup life_;
};

/// The WebSocket `/terminals`.
std::vector<Route> terminal_routes(Terminals& terminals);

/// The options in the configuration.
Terminals::Options terminal_options(const Settings& settings, const DataDirectory& directory);

}  // namespace agw
