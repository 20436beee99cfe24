#pragma once

#include <optional>
#include <span>
#include <string>

#include "base/json/described.hpp"

namespace agw {

/// How an app is served: `statics` (in JSON `static`) means files that the gateway serves itself, all others mean a
/// development server.
enum class AppType { node, vite, python, command, statics };
std::span<const EnumName> names(Tag<AppType>);

/// The state of an app's server.
enum class AppStatus {
  stopped,
  starting,  ///< its server does not respond yet, or will be restarted after a crash
  running,
  failed,  ///< it crashed too often, or never responded
};
std::span<const EnumName> names(Tag<AppStatus>);

/// The current state of an app.
struct App {
  std::string name;
  AppType type{};
  AppStatus status = AppStatus::stopped;
  std::optional<int> port;         ///< on the loopback address
  std::optional<int> pid;          ///< of the leader of its process group
  std::optional<std::string> url;  ///< the address for a browser, while the server is alive
  std::optional<Timestamp> started_at;
  int restarts = 0;  ///< after crashes, since the last explicit start
};
const Description& describe(Tag<App>);

/// The source of a line in an app's log.
enum class AppStream { out, err, gateway };
std::span<const EnumName> names(Tag<AppStream>);

/// A line written by an app's server, or by the gateway about it.
struct AppLogLine {
  Timestamp at{};
  AppStream stream{};
  std::string line;
};
const Description& describe(Tag<AppLogLine>);

/// The query of `GET /apps/:name/logs`.
struct AppLogFilter {
  Limit limit;
};
const Description& describe(Tag<AppLogFilter>);

}  // namespace agw
