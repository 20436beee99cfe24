#pragma once

#include <filesystem>
#include <map>
#include <optional>
#include <string>

#include "features/apps/types.hpp"
#include "features/extensions/types.hpp"

namespace agw {

/// How an app is served, according to its definition.
struct AppPlan {
  AppType type = AppType::command;
  std::filesystem::path path;  ///< empty if the definition has none
  std::string command;         ///< likewise
  std::optional<int> port;
  std::string health_path;  ///< empty: the server is up when it takes connections
};

/// Reads the definition. Without a `type` an app that has a path and no command is static.
AppPlan app_plan(const Extension& extension);

/// Its own variables, with `${secret:NAME}` as it was written. They can be hundreds of thousands: not for the loop.
std::map<std::string, std::string> app_environment(const Extension& extension);

/// Throws ApiError 500 `invalid app definition` with `details` if the path is missing or not absolute, or if a
/// development server has no command or an invalid health path.
void require_complete(const AppPlan& plan);

}  // namespace agw
